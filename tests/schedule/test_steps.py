"""Steps below schedules: loops are their counters, and each step says which ones it made."""

from itertools import pairwise

import pytest

import affdsl as af
from affdsl.passes.legality.proposals import Step
from affdsl.schedule.loops import counters
from affdsl.schedule.steps import carrying, taken
from tests.effort import some
from tests.schedule.random_schedules import random_schedule

N, M = af.symbols("N M")


@af.kernel
def scaled(A: af.f64[N, M], x: af.f64[M]):
    with af.for_(N) as i, af.for_(M) as j:
        A[i, j] += 2.0 * x[j]


@af.kernel
def summed(A: af.f64[N, M], x: af.f64[N]):
    with af.for_(N) as i, af.for_(M) as j:
        x[i] += A[i, j]


def loops(kernel):
    return dict(zip((iv.hint for iv in counters(kernel.func)), counters(kernel.func), strict=True))


def test_who_holds_a_loop_holds_it_after_the_step():
    i, j = loops(scaled).values()
    tiled = taken(scaled.func, scaled.module, Step("tile", ((i, j), (32, 8)), (("names", ("ii", "jj")),)))
    assert [iv.hint for iv in tiled.made] == ["ii", "jj"]
    assert counters(tiled.function) == (*tiled.made, i, j)
    jammed = taken(tiled.function, scaled.module, Step("unroll_jam", (i, 4)))
    assert {i, j, *tiled.made} <= {*counters(jammed.function)}
    assert [iv.hint for iv in jammed.made] == ["i", "j"]  # what is left of the rows; a schedule gives names to these
    assert not {*jammed.made} & {i, j, *tiled.made}


def test_a_loop_that_runs_once_is_gone():
    i, j = loops(scaled).values()
    strips = taken(scaled.func, scaled.module, Step("strip_mine", (j, 1), (("name", "jj"),)))
    assert strips.gone == {j: "runs once"}
    assert counters(strips.function) == (i, *strips.made)


def test_which_loop_carries_what_may_be_in_the_way():
    i, j = loops(summed).values()
    held = taken(summed.func, summed.module, Step("scalar_replace", (j,))).function
    assert carrying(held, "permute", (i, j)) is j
    assert carrying(held, "permute", (i,)) is j
    assert carrying(held, "unroll", (i, j)) is None
    assert carrying(summed.func, "permute", (i, j)) is None


def test_a_schedule_says_which_loops_its_last_step_made():
    s = af.Schedule(scaled)
    assert s.made == ()
    assert [row.names for row in s.strip_mine("j", 32).made] == [("j_strip",)]
    assert s.interchange("i", "j_strip").made == ()
    assert [row.names for row in s.split("i", 4).made] == [("i_rest",), ("j_2",)]
    s.undo()
    assert s.made == ()


@af.kernel
def parted(A: af.f64[N, M], B: af.f64[N, M]):
    with af.for_(N) as i:
        A[i, 0] = 1.0
        with af.for_(1, M) as j:
            B[i, j] = 2.0


def test_a_copy_stands_for_a_loop_that_was_moved():
    i, j = loops(parted).values()
    apart = taken(parted.func, parted.module, Step("distribute", (i,)))
    assert [iv.hint for iv in apart.made] == ["i"]
    assert apart.of(i) is i
    assert apart.of(j) not in (None, j)
    assert counters(apart.function) == (i, *apart.made, apart.of(j))
    assert [row.names for row in af.Schedule(parted).distribute("i").made] == [("i_2",)]


@pytest.mark.parametrize("kernel", [scaled, summed, parted], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("seed", some(range(40), 4))
def test_what_random_steps_made_has_new_names_and_all_else_its_own(kernel, seed):
    s = random_schedule(kernel, seed, steps=8)
    for before, after in pairwise((s._start, *s._steps)):
        new = [name for name in after.names.values() if name not in before.names.values()]
        assert [after.names[iv] for iv in after.made] == new
