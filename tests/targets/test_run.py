"""A few of the kernels of `python -m tests.targets.run`; what is wrong would be found."""

from dataclasses import replace
from functools import cache

import pytest

from tests.effort import TRIES_ALL
from tests.harness.machines import TRIED, optimized, runnable
from tests.targets.check import WAYS, Report, check, prepared, subjects

FEW = ("cholesky.cholesky", "jacobi2d.jacobi2d", "gemver", "trmm", "nussinov")
"""Triangles, stencils, sums, masks and integers."""
CHOSEN = [
    (name, k)
    for n, (name, ways) in enumerate(WAYS.items())
    for k in range(len(ways))
    if TRIES_ALL or (k == n % 2 and name in ("c11", *TRIED))
]
"""The compilers take turns."""


@cache
def ready():
    """Kernels with their loops on vectors, and what was counted."""
    report = Report()
    return [prepared(s, report) for s in subjects(1) if TRIES_ALL or s.name in FEW], report


def test_most_kernels_run_on_vectors():
    kernels, report = ready()
    assert len(kernels) == (report.kernels if TRIES_ALL else len(FEW))
    assert report.vectorized >= 0.8 * report.innermost
    assert len(report.plain) <= 0.2 * report.kernels


@pytest.mark.parametrize(("name", "which"), CHOSEN)
def test_kernels_on_vectors_do_the_same(name, which):
    runnable("baseline" if name == "c11" else name, WAYS[name][which])
    kernels, _ = ready()
    report = Report()
    check(kernels, name, which, report, level="-O1")
    assert report.wrong == []
    assert report.ran == {name: len(kernels)}


def test_wrong_results_and_warnings_are_found(monkeypatch):
    kernels, _ = ready()
    made, report = kernels[0], Report()
    other = [[bytes(len(buffer)) for buffer in buffers] for buffers in made.wanted]
    check([replace(made, wanted=tuple(other))], "baseline", 0, report, level="-O1")
    way = optimized(WAYS["neon"][0], "-Wdeclaration-after-statement")
    monkeypatch.setitem(WAYS, "neon", (way,))
    check([made], "neon", 0, report)
    (_, first), (_, second) = report.wrong
    assert "instead of" in first
    assert "compiler:" in second
