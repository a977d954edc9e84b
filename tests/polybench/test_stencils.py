"""Stencils whose sweeps are fused and tiled in time leave what the text leaves, to the bit; adi's sweeps cannot be."""

from __future__ import annotations

from itertools import groupby, product

import numpy as np
import pytest

import affdsl as af
from benchmarks.polybench.suite import named
from benchmarks.stencils import TILED, main, schedules

SIZES = (1, 2, 3, 5, 8, 37)


def lines(schedule: af.Schedule) -> int:
    """How many lines the schedule takes, if what one verb does to several loops stands in one line."""
    verbs = [step.call.verb for step in schedule.steps]
    return len(list(groupby(verbs)))


@pytest.mark.parametrize("name", TILED)
def test_tiles_and_wavefronts_leave_the_same_to_the_bit(name: str):
    benchmark = named(name)
    made = schedules(name)
    assert "parallel t_tile" in str(made["wavefront"].loops())
    assert lines(made["wavefront"]) <= 8
    kernels = [s.kernel() for s in made.values()]
    first, *others = benchmark.sizes["MINI"]
    rng = np.random.default_rng(5)
    for steps, n in product((0, 1, 5, 17), SIZES if name != "heat-3d" else SIZES[:-1]):
        if name == "fdtd-2d" and not steps:
            continue
        sizes = {first: steps, **{other: n + k for k, other in enumerate(others)}}
        given = benchmark.random_arguments(sizes, rng)
        left = []
        for kernel in kernels:
            arguments = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()}
            kernel(**arguments)
            left.append(arguments)
        for each in left[1:]:
            assert all(np.array_equal(left[0][k], each[k]) for k in each), sizes


@pytest.mark.parametrize("pair", [("i#1", "i#2"), ("j#1", "back#1"), ("j#2", "back#2")])
@pytest.mark.parametrize("shift", [0, 1, 100])
def test_no_shift_makes_one_loop_of_the_sweeps_of_adi(pair: tuple[str, str], shift: int):
    """Each row of the second sweep needs all columns of the first, and substitution the end of elimination.

    What sets the borders of the second sweep is another loop behind `distribute`, and can be a part of the first.
    """
    s = af.Schedule(named("adi").kernel)
    with pytest.raises(af.IllegalTransform, match=r"e\.g\. ") as refused:
        s.fuse(*pair, shift=shift)
    assert refused.value.witness is not None
    assert ('legal: s.distribute("i#2") first' in str(refused.value)) == (pair == ("i#1", "i#2"))
    assert str(refused.value).count("legal:") == (pair == ("i#1", "i#2"))
    if pair == ("i#1", "i#2"):
        s.distribute("i#2").fuse(*pair, shift=shift)


def test_the_table(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["stencils", "MINI"])
    main()
    said = capsys.readouterr().out
    assert [line.split()[0] for line in said.splitlines()] == ["MINI", *TILED]
    assert said.count("the same to the bit") == len(TILED)
