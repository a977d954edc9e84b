"""Loops as programs have them: what runs on vectors does the same to the bit, and what is refused says why."""

from functools import cache

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.errors import SizeError
from benchmarks.patterns import CATEGORIES, PATTERNS, REWORDED, REWORDED_CATEGORIES, reports
from benchmarks.patterns.__main__ import main, table
from benchmarks.patterns.arguments import arguments
from benchmarks.patterns.pattern import M, N
from tests.harness.judges import copied

SIZES = ((0, 0), (1, 1), (3, 2), (8, 9), (21, 13))
LIBRARY = {"exponentials", "sines_of_degrees"}
"""What the C library computes in C, and NumPy in the interpreter."""

SUMS = ("reductions", "control flow", "nests")

every_pattern = pytest.mark.parametrize("pattern", PATTERNS, ids=[p.kernel.name for p in PATTERNS])


@cache
def on_vectors(pattern):
    return pattern.vectorized()


@cache
def calls(kernel):
    """Sizes and arguments of calls, without those that a kernel refuses, and what it makes of them, interpreted."""
    return tuple(each for n, m in SIZES for each in call(kernel, n, m))


def call(kernel, n, m):
    given = list(arguments(kernel, n, m))
    wanted = copied(given)
    try:
        kernel.interpret(*wanted)
    except SizeError:
        return
    numbers = {N.expr.value: n, M.expr.value: m}
    yield [numbers[v] for v in kernel.program.sizes], given, wanted


@every_pattern
def test_what_is_vectorized_does_the_same(pattern):
    if pattern.refused:
        with pytest.raises(af.IllegalTransform) as refused:
            pattern.vectorized()
        assert pattern.refused in str(refused.value)
        return
    made = on_vectors(pattern)
    ran = 0
    for _, before, wanted in calls(pattern.kernel):
        given = copied(before)
        made.interpret(*given)
        assert all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(given, wanted, strict=True))
        ran += 1
    assert ran >= 2


@pytest.mark.parametrize("pattern", REWORDED, ids=lambda p: p.name)
def test_loops_in_other_words_do_the_same_once_they_are_optimized(pattern):
    made = pattern.vectorized()
    ways = (made.interpret,) if pattern.kernel.name in LIBRARY else (made.interpret, made)
    ran = 0
    for way in ways:
        for _, before, wanted in calls(pattern.kernel):
            given = copied(before)
            way(*given)
            assert all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(given, wanted, strict=True))
            ran += 1
    assert ran >= 2 * len(ways)


@pytest.mark.parametrize("pattern", [p for p in PATTERNS if p.category in SUMS and not p.refused], ids=lambda p: p.name)
def test_sums_in_another_order_are_nearly_the_same(pattern):
    made = pattern.vectorized(reassociate=True)
    for _, before, wanted in calls(pattern.kernel):
        given = copied(before)
        made.interpret(*given)
        for a, b in zip(given, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_there_are_enough_of_each_category():
    assert len(PATTERNS) >= 100
    assert all(len(category) >= 8 for category in CATEGORIES)
    assert len({p.kernel.name for p in PATTERNS}) == len(PATTERNS)
    assert [c.name for c in REWORDED_CATEGORIES] == [c.name for c in CATEGORIES]
    assert all(len(category) >= 5 for category in REWORDED_CATEGORIES)
    assert len({p.kernel.name for p in (*PATTERNS, *REWORDED)}) == len(PATTERNS) + len(REWORDED)


def test_the_table_says_what_is_vectorized(capsys):
    main(["packing", "--suite", "patterns"])
    found = capsys.readouterr().out
    assert "two arrays taken apart" in found
    assert "\nvectorized, of 8" in found
    with pytest.raises(SystemExit):
        main(["parking"])
    assert "there is no category 'parking': there are statement order, " in capsys.readouterr().err


def test_a_race_has_both_rows(capsys):
    main(["--race", "--quick", "volts as whole steps"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[4] for line in lines[1:3]] == ["strict", "fast"]
    assert lines[3].startswith("strict: geometric mean ")


def test_without_clang_it_says_so(monkeypatch):
    monkeypatch.setattr(reports.shutil, "which", lambda name, path=None: None)
    assert table(CATEGORIES[0][:1]).endswith("clang is not on PATH\ngcc is not on PATH")
