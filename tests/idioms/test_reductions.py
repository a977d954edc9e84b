"""The rows of `benchmarks.reductions` do what NumPy and the loops for numba do: interpreted, optimized, on threads."""

import numpy as np
import pytest

from benchmarks.idioms.race import is_right
from benchmarks.reductions import LOOPS, ROWS
from benchmarks.reductions.__main__ import main

MOST = 41

every_row = pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])


def small(row):
    """Small sizes, and what NumPy makes of arguments of these."""
    sizes = {name: min(size, MOST) for name, size in row.sizes.items()}
    wanted = row.arguments(sizes)
    row.reference(*wanted)
    return sizes, wanted


@every_row
def test_its_loops_do_what_numpy_does(row):
    sizes, wanted = small(row)
    loop, _ = LOOPS[row.kernel.name]
    for way in (row.kernel.interpret, loop):
        found = row.arguments(sizes)
        with np.errstate(over="ignore"):
            way(*found)
        assert is_right(found, wanted, max(1e-5, row.tolerance))


@every_row
def test_optimized_it_does_the_same(row):
    """Small sizes, and those of the race, which threads share."""
    made = row.kernel.optimize(threads=2, reassociate=True, contract=True)
    for sizes, wanted in (small(row), (row.sizes, row.arguments(row.sizes))):
        found = row.arguments(sizes)
        if sizes is row.sizes:
            row.reference(*wanted)
        made(*found)
        assert is_right(found, wanted, max(1e-5, row.tolerance))


def test_a_row_that_there_is_not_is_named(capsys):
    with pytest.raises(SystemExit):
        main(["--quick", "nothing"])
    assert "there is no row 'nothing'" in capsys.readouterr().err
