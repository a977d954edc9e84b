"""The loops of `benchmarks.idioms` do what NumPy does: interpreted, compiled, optimized, and as C by hand."""

import numpy as np
import pytest

from benchmarks.idioms import GROUPS, IDIOMS
from benchmarks.idioms.__main__ import main
from benchmarks.idioms.race import is_right, measured
from tests.effort import TRIES_ALL

MOST = 41
"""No size is larger: vectors have tails, and what is interpreted takes hundredths of a second."""

every_idiom = pytest.mark.parametrize("idiom", IDIOMS, ids=[idiom.name for idiom in IDIOMS])


def small(idiom):
    """Sizes, arguments and what NumPy makes of them."""
    sizes = {name: min(size, MOST) for name, size in idiom.sizes.items()}
    wanted = idiom.arguments(sizes)
    with np.errstate(all="ignore"):
        idiom.reference(*wanted)
    return sizes, wanted


@every_idiom
def test_its_loops_do_what_numpy_does(idiom):
    sizes, wanted = small(idiom)
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


@pytest.mark.parametrize("idiom", IDIOMS if TRIES_ALL else IDIOMS[-1:], ids=lambda idiom: idiom.name)
def test_peers_compute_the_same(idiom):
    found = measured(idiom, "strict", seconds=0.0)
    assert not found.wrong
    assert {"numpy"} < set(found.times)


def test_there_are_enough_of_all_kinds():
    assert len(IDIOMS) >= 80
    assert all(len(group) >= 8 for group in GROUPS)
    assert len({idiom.name for idiom in IDIOMS}) == len(IDIOMS)


def test_the_table_has_both_rows_and_says_what_is_behind(capsys):
    main(["--quick", "scaled sum of few"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[4] for line in lines[1:3]] == ["strict", "fast"]
    assert lines[3].startswith("strict: geometric mean ")


def test_a_name_that_is_none_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["scaled sum of many"])
    assert "there is no idiom or group 'scaled sum of many'; they are " in capsys.readouterr().err
