"""`fuse` in a schedule: names of the loops that come out, refusals in its words, and its text, which replays it."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af

N, M = af.symbols("N M")


@af.kernel
def sweeps(A: af.f64[N, M], B: af.f64[N, M]):
    with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
        B[i, j] = A[i - 1, j] + A[i, j - 1] + A[i + 1, j] + A[i, j + 1]
    with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
        A[i, j] = B[i - 1, j] + B[i, j - 1] + B[i + 1, j] + B[i, j + 1]


def names(schedule: af.Schedule) -> list[str]:
    return [name for row in schedule.loops() for name in row.names]


def assert_right(schedule: af.Schedule) -> None:
    tuned = schedule.kernel()
    for n, m in ((0, 0), (1, 5), (2, 2), (3, 4), (6, 3), (17, 9)):
        given = [np.random.default_rng(n).standard_normal((n, m)) for _ in range(2)]
        wanted, found = ([each.copy() for each in given] for _ in range(2))
        sweeps(*wanted)
        tuned(*found)
        assert all(map(np.array_equal, wanted, found)), (n, m)


def test_the_common_loops_keep_the_names_of_the_first():
    s = af.Schedule(sweeps)
    s.fuse("i#1", "i#2", shift=1)
    assert names(s) == ["i_first", "j_2", "i#1", "j#1", "j#2", "i_last", "j_3"]
    s.fuse("j#1", "j#2", shift=1)
    assert names(s) == ["i_first", "j_2", "i#1", "j_first", "j#1", "j_last", "i_last", "j_3"]
    assert_right(s)


def test_a_nest_under_conditions_stays_perfect():
    s = af.Schedule(sweeps)
    s.fuse("i#1", "i#2", shift=1, guarded=True).fuse("j#1", "j#2", shift=1, guarded=True)
    assert names(s) == ["i#1", "j#1"]
    s.tile(("i#1", "j#1"), (4, 3))
    assert_right(s)


def test_a_refusal_names_the_least_shift_that_is_taken_as_it_is_written():
    s = af.Schedule(sweeps)
    with pytest.raises(af.IllegalTransform) as refused:
        s.fuse("i#1", "i#2")
    assert refused.value.alternative == 's.fuse("i#1", "i#2", shift=1)'
    assert "cannot fuse loops i#1 and i#2 (of sweeps, " in str(refused.value)
    exec(refused.value.alternative, {"s": s})
    assert_right(s)
    with pytest.raises(af.IllegalTransform, match=r'legal: s\.fuse\("j#1", "j#2"\)$'):
        s.fuse("j#1", "j#2", shift=-1)


def test_the_text_of_a_symbolic_shift_replays_it():
    s = af.Schedule(sweeps).fuse("i#1", "i#2", shift=M + 1)
    text = str(s)
    assert 's.fuse("i#1", "i#2", shift=M + 1)' in text
    assert "M = af.symbols" in text
    found: dict[str, object] = {"af": af, "sweeps": sweeps}
    exec("\n".join(line for line in text.splitlines() if "import" not in line and "#" not in line[:1]), found)
    assert str(found["s"].loops()) == str(s.loops())  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shift": 1.5}, "a shift is a whole number, got 1.5"),
        ({"shift": 2**40}, "a shift is below 2"),
        ({"shift": "Q"}, "has no size or loop Q"),
        ({"guarded": 1}, "guarded is True or False, got 1"),
    ],
)
def test_what_is_no_shift_is_said(options: dict[str, object], words: str):
    with pytest.raises(af.ScheduleError, match=words):
        af.Schedule(sweeps).fuse("i#1", "i#2", **options)  # type: ignore[arg-type]


def test_parallel_loops_are_fused_and_loops_bounded_by_data_are_not():
    @af.kernel
    def squares(A: af.f64[N], B: af.f64[N]):
        with af.for_(N) as i:
            A[i] += 1.0
        with af.for_(N) as j:
            B[j] = A[j] * A[j]

    s = af.Schedule(squares).parallel("i").parallel("j").fuse("i", "j")
    assert [row.text for row in s.loops()] == ["parallel i = 0 to N"]

    @af.kernel
    def rows(first: af.index[N], x: af.f64[N]):
        with af.for_(N) as k:
            with af.for_(first[k]) as i:
                x[i] = 0.0
            with af.for_(first[k]) as j:
                x[j] += 1.0

    with pytest.raises(af.IllegalTransform, match="the bounds of the loop i come from data"):
        af.Schedule(rows).fuse("i", "j")
