"""Loops of `benchmarks.idioms` and `benchmarks.fields` interpreted, compiled, optimized, beside NumPy and C by hand."""

import numpy as np
import pytest

from affdsl.lang.annotations import ArrayType
from benchmarks.fields import LOOPS
from benchmarks.idioms import GROUPS, IDIOMS
from benchmarks.idioms.__main__ import main
from benchmarks.idioms.race import is_right, measured
from tests.effort import TRIES_ALL

MOST = 41
"""No size is larger: vectors have tails, and what is interpreted takes hundredths of a second."""
FEWER = (MOST, MOST, 21, 13, 9)
"""The same by the most dimensions of an array, where loops are interpreted."""

BOTH = [*IDIOMS, *LOOPS]
every_idiom = pytest.mark.parametrize("idiom", BOTH, ids=[idiom.name for idiom in BOTH])


def small(idiom, most=MOST):
    """Sizes, arguments and what NumPy makes of them."""
    sizes = {name: min(size, most) for name, size in idiom.sizes.items()}
    wanted = idiom.arguments(sizes)
    with np.errstate(all="ignore"):
        idiom.reference(*wanted)
    return sizes, wanted


@every_idiom
def test_its_loops_do_what_numpy_does(idiom):
    dimensions = (len(p.type.shape) for p in idiom.kernel.program.parameters if isinstance(p.type, ArrayType))
    sizes, wanted = small(idiom, FEWER[max(dimensions)])
    found = idiom.arguments(sizes)
    idiom.kernel.interpret(*found)
    assert is_right(found, wanted, idiom.tolerance)


@every_idiom
def test_compiled_and_optimized_it_does_the_same(idiom):
    sizes, wanted = small(idiom)
    written = idiom.arguments(sizes)
    idiom.kernel(*written)
    assert is_right(written, wanted, idiom.tolerance)
    for allowed in ({}, dict.fromkeys(("contract", "reassociate", "reciprocal", "approximate"), True)):
        found = idiom.arguments(sizes)
        idiom.kernel.optimize(threads=1, **allowed)(*found)
        assert is_right(found, written, max(1e-5, idiom.tolerance) if allowed else 0.0)


@pytest.mark.parametrize("idiom", BOTH if TRIES_ALL else IDIOMS[-1:], ids=lambda idiom: idiom.name)
def test_peers_compute_the_same(idiom):
    found = measured(idiom, "strict", seconds=0.0)
    assert not found.wrong
    assert {"numpy"} < set(found.times) or idiom.reference is idiom.kernel


def test_there_are_enough_of_all_kinds():
    assert len(IDIOMS) >= 80
    assert all(len(group) >= 8 for group in GROUPS)
    assert len(LOOPS) >= 120
    assert len({idiom.name for idiom in BOTH}) == len(BOTH)


def test_the_table_has_both_rows_and_says_what_is_behind(capsys):
    main(["--quick", "scaled sum of few"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[4] for line in lines[1:3]] == ["strict", "fast"]
    assert lines[3].startswith("strict: geometric mean ")


def test_a_name_that_is_none_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["scaled sum of many"])
    assert "there is no loop or group 'scaled sum of many'; they are " in capsys.readouterr().err
