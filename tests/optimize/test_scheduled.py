"""Nests that no other recipe fits run in the order that isl's scheduler finds, and leave the same to the bit."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

import affdsl as af
from affdsl.optimize.options import Options, targets
from affdsl.optimize.order import polyhedral as recipe
from affdsl.optimize.unfit import UnfitError
from affdsl.passes.analysis import scheduler

M, N = af.symbols("M N")
SIZES = ((0, 0), (1, 1), (2, 3), (3, 2), (7, 9), (13, 6))


@af.kernel
def sheared(A: af.f64[M + 1, N + 2]):
    with af.for_(1, M) as i, af.for_(1, N) as j:
        A[i, j] = (A[i - 1, j + 1] + A[i, j - 1]) * 0.5


@af.kernel
def triangle(A: af.f64[M + 1, N + 2]):
    with af.for_(1, M) as i, af.for_(1, af.min(i + 1, N)) as j:
        A[i, j] = (A[i - 1, j - 1] + A[i, j - 1]) * 0.5


@af.kernel
def columns(A: af.f64[M + 1, N + 2]):
    with af.for_(1, N) as j, af.for_(1, M) as i:
        A[i, j] = A[i, j - 1] * 0.5 + A[i - 1, j] * 0.25


@af.kernel
def from_behind(A: af.f64[M + 1, N + 2]):
    with af.for_(M - 1, -1, -1) as i, af.for_(N - 1, -1, -1) as j:
        A[i, j] = A[i + 1, j] * 0.25 + A[i, j + 1] * 0.5


@af.kernel
def in_steps(A: af.f64[M + 1, N + 3]):
    with af.for_(2, M, 2) as i, af.for_(3, N, 3) as j:
        A[i, j] = (A[i - 2, j + 3] + A[i, j - 3]) * 0.5


@af.kernel
def repeated(x: af.f64[M + 2], y: af.f64[N + 2]):
    with af.for_(N) as _t, af.for_(1, M) as i:
        x[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0


@af.kernel
def two_sweeps(x: af.f64[M + 2], y: af.f64[M + 2], steps: af.index):
    with af.for_(steps) as _t:
        with af.for_(1, M) as i:
            x[i] = (x[i - 1] + x[i] + x[i + 1]) * 0.25
        with af.for_(1, M) as j:
            y[j] = (y[j - 1] + x[j + 1]) * 0.5


@af.kernel
def filtered(x: af.f64[M], y: af.f64[M], z: af.f64[M]):
    with af.for_(1, M) as i:
        y[i] = y[i - 1] * 0.5 + x[i]
        z[i] = af.sqrt(af.abs(y[i])) / (x[i] + 7.0)


@af.kernel
def counted(table: af.i64[M + 1, N + 1], cost: af.i64[M + 1, N + 1]):
    with af.for_(1, M) as i, af.for_(1, N) as j:
        above = af.max(table[i - 1, j], table[i, j - 1])
        table[i, j] = af.max(above, table[i - 1, j - 1] + cost[i, j])


@af.kernel
def with_a_row(A: af.f64[M + 1, N + 2], x: af.f64[M + 1]):
    with af.for_(1, M) as i:
        x[i] = A[i - 1, 0]
        with af.for_(1, N) as j:
            A[i, j] = (A[i - 1, j] + A[i, j - 1]) * x[i]


@af.kernel
def knights(A: af.f32[M + 1, N + 3]):
    with af.for_(1, M) as i, af.for_(2, N) as j:
        A[i, j] = (A[i - 1, j + 2] + A[i, j - 2]) * 0.5


@af.kernel
def lengthy(A: af.f64[M, N]):
    with af.for_(1, M) as i, af.for_(1, N) as j:
        v = A[i - 1, j] + A[i, j - 1]
        for _ in range(35):
            v = v * 0.5 + 1.0
        A[i, j] = v


FOUND = {
    sheared: ("loops i and i + j, which may be tiled: j skewed by i; 4 iterations of i", 'skew("i", "j", 1)'),
    triangle: ("loops i and j, which may be tiled: 4 iterations of i run at once", 'unroll_jam("i", 4)'),
    columns: ("loops j and i, which may be tiled: j runs innermost; 4 iterations of i", 'permute(("i", "j"))'),
    from_behind: ("loops i and j, which may be tiled: 4 iterations of i run at once", 'unroll_jam("i", 4)'),
    in_steps: ("loops i and i + j, which may be tiled: j skewed by i; 4 iterations of i run at once", 'sink("j")'),
    repeated: ("loops _t and _t + i, which may be tiled: i skewed by _t; 4 iterations", 'unroll_jam("_t", 4)'),
    two_sweeps: ("j runs with i, 1 iterations later; i skewed by _t", 'fuse("i", "j", shift=1, guarded=True)'),
    filtered: ("statements apart (loop i; loop i (parallel)): i runs on vectors of 4", 'distribute("i")'),
    with_a_row: ("statements apart (loop i (parallel); loops i and j, which may be tiled)", 'unroll_jam("i_2", 4)'),
    counted: ("loops i and j, which may be tiled: 4 iterations of i run at once", 'unroll_jam("i", 4)'),
    knights: ("loops i and i * 2 + j, which may be tiled: j skewed by 2 * i; 4 iterations of i", 'skew("i", "j", 2)'),
    lengthy: ("loops i and j, which may be tiled: 4 iterations of i run at once", 'unroll_jam("i", 4)'),
}  # fmt: skip


def arguments(kernel: af.Kernel, m: int, n: int) -> list[object]:
    """Arguments of a kernel for sizes, random; the number of steps is n."""
    random, found = np.random.default_rng(m * 31 + n), list[object]()
    for parameter in kernel.program.parameters:
        shape = getattr(parameter.type, "shape", None)
        if shape is None:
            found.append(n)
            continue
        numbers = {v: {"M": m, "N": n}[v.hint] for e in shape for v in e.values()}
        dtype = {"f64": "f8", "f32": "f4", "i64": "i8"}[str(parameter.type.dtype.type)]
        found.append((8 * random.normal(size=[e.evaluate(numbers) for e in shape])).astype(dtype))
    return found


def same_to_the_bit(kernel: af.Kernel, run, m: int, n: int) -> bool:
    """Whether what runs leaves what the interpreter leaves of the kernel as it is written."""
    wanted, found = arguments(kernel, m, n), arguments(kernel, m, n)
    kernel.interpret(*wanted)
    run(*found)
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(wanted, found, strict=True))


@pytest.mark.parametrize("kernel", FOUND, ids=lambda kernel: kernel.name)
def test_the_order_that_isl_finds_is_taken_by_steps(kernel):
    fast = kernel.optimize("avx2", threads=1)
    said, step = FOUND[kernel]
    assert "isl's scheduler finds " in fast.explain()
    assert said in fast.explain()
    assert step in [str(each) for each in fast.schedule.steps]
    assert all(same_to_the_bit(kernel, fast.interpret, m, n) for m, n in SIZES)


def test_tiles_of_quotients_that_do_not_wait_run_on_threads():
    fast = repeated.optimize("avx2", threads=2)
    assert "tiles that do not wait for each other run on threads, and in them 4 iterations of _t" in fast.explain()
    assert 'parallel("_t_tile")' in [str(each) for each in fast.schedule.steps]
    assert all(same_to_the_bit(repeated, fast, m, n) for m, n in ((0, 0), (1, 1), (301, 70), (20, 37)))
    assert " on threads, and in" not in sheared.optimize("avx2", threads=2).explain(), "it does too little in a tile"


@af.kernel
def untold(A: af.f64[M + 1, N + 6, N + 6]):
    with af.for_(1, M) as i, af.for_(1, N) as j, af.for_(1, N) as k:
        sides = A[i - 1, j + 4, k] + A[i, j, k - 1] + A[i - 1, j, k + 1] + A[i, j - 1, k]
        A[i, j, k] = sides * 0.2


@af.kernel
def far(A: af.f64[N + 1]):
    with af.for_(1, N) as i, af.for_(1, N) as j:
        A[i] = A[i - 1] * 0.5 + A[N - j]


@af.kernel
def there_and_back(x: af.f64[N], steps: af.index):
    with af.for_(steps) as _t:
        with af.for_(1, N) as i:
            x[i] = x[i - 1] * 0.5 + x[i]
        with af.for_(N - 2, -1, -1) as j:
            x[j] = x[j + 1] * 0.5 + x[j]


@af.kernel
def corner(A: af.f64[M, N + 6], x: af.f64[M]):
    with af.for_(1, M) as i:
        x[i] = A[i - 1, 5] * 0.5
        with af.for_(1, N) as j:
            A[i, j] = (A[i - 1, j] + A[i, j - 1]) * x[i]


@af.kernel
def uneven(A: af.f64[M, N], B: af.f64[M, N, N]):
    with af.for_(1, M) as i:
        with af.for_(1, N) as j:
            A[i, j] = (A[i - 1, j] + A[i, j - 1]) * 0.5
        with af.for_(1, N) as k, af.for_(1, N) as m:
            B[i, k, m] = af.exp(B[i - 1, k, m] + B[i, k - 1, m] + B[i, k, m - 1] + A[i, k])


@af.kernel
def diagonals(C: af.c128[M + 1, N + 1]):
    with af.for_(1, M) as i, af.for_(1, N) as j:
        C[i, j] = C[i - 1, j + 1] * 0.5 + C[i - 1, j]


@af.kernel
def phases(x: af.c128[N], y: af.c128[N], z: af.c128[N]):
    with af.for_(1, N) as i:
        y[i] = y[i - 1] * 0.5 + x[i]
        z[i] = y[i] * x[i] / (y[i] + 3.0)


@af.kernel
def cheap(x: af.f64[N], y: af.f64[N], z: af.f64[N]):
    with af.for_(1, N) as i:
        x[i] = y[i - 1] * 0.5
        y[i] = x[i] + 1.0
        z[i] = x[i] * y[i]


@af.kernel
def exponentials(A: af.f64[M, N]):
    with af.for_(1, M) as i, af.for_(1, N) as j:
        A[i, j] = af.exp(A[i - 1, j] - A[i, j - 1])


@af.kernel
def many(A: af.f64[M, N], B: af.f64[7, N]):
    with af.for_(1, M) as i, af.for_(1, N) as j:
        A[i, j] = A[i - 1, j] + A[i, j - 1]
        for k in range(7):
            B[k, j] = B[k, j - 1] * 0.5 + B[k, N - j]


REFUSED = {
    untold: "loops i, i * 4 + j + k * 2 and i * 4 + j + k, which may be tiled; these are no skews of its loops",
    far: "isl's scheduler finds loop i, and inside loop j; not all of its loops may change places",
    there_and_back: "loop _t, and inside loop i, N + j; that is more than to run one loop some iterations late",
    cheap: "statements apart (loop i, and inside its statements in turn; loop i (parallel)); that is not expected",
    exponentials: "which may be tiled; its functions of the C library take longer than one iteration waits for another",
    corner: "its statements in turn; statements stand beside the loops in i, which are not moved into them",
    uneven: "loops i, j, k and 0, m, which may be tiled; its statements are not all inside of all loops of i",
    diagonals: "which may be tiled; iterations of j wait for none before them",
    phases: "loop i (parallel)); apart none of them runs on vectors, or several iterations at once",
    many: "isl's scheduler is not asked about 8 statements with",
}


@pytest.mark.parametrize("kernel", REFUSED, ids=lambda kernel: kernel.name)
def test_what_steps_cannot_say_is_told_and_left(kernel):
    fast = kernel.optimize("avx2", threads=1)
    assert REFUSED[kernel] in fast.explain()
    taken = {step.call.verb for step in fast.schedule.steps}
    assert taken.isdisjoint(("distribute", "fuse", "permute", "skew", "tile", "unroll_jam")), (
        "it runs in the same order"
    )


def test_isl_has_a_limit(monkeypatch):
    monkeypatch.setattr(scheduler, "BUDGET", 50)
    fast = sheared.optimize("avx2", threads=1)
    assert "as written: " in fast.explain()
    assert "isl's scheduler finds no order: isl needs more than 50 operations" in fast.explain()


def test_what_data_decides_may_take_longer_and_is_left():
    @af.kernel
    def ragged(A: af.f64[M, N], ends: af.i32[M]):
        with af.for_(1, M) as i, af.for_(1, ends[i]) as j:
            A[i, j] = A[i - 1, j] + A[i, j - 1]

    assert "isl's scheduler" not in ragged.optimize("avx2", threads=1).explain()


@pytest.mark.parametrize(("factor", "is_asked"), [(1, True), (3, False)])
def test_isl_is_not_asked_for_an_order_in_one_loop_with_factors(factor, is_asked, monkeypatch):
    """It looked for one without an end in such a loop, and counts no operations meanwhile."""

    @af.kernel
    def parts(x: af.f64[3 * M + 3], y: af.f64[M + 1]):
        with af.for_(M) as i:
            y[i] = x[i * factor]
            x[i + 2] = y[i + 1]

    asked, ask = [], recipe.schedule_of
    monkeypatch.setattr(recipe, "schedule_of", lambda *given: asked.append(given) or ask(*given))
    with suppress(UnfitError):
        recipe.take_loop(af.Schedule(parts), "i", Options(targets()["baseline"], 1))
    assert bool(asked) == is_asked


@pytest.mark.parametrize(("wraps", "is_asked"), [(False, True), (True, False)])
def test_isl_is_not_asked_for_an_order_of_what_divides(wraps, is_asked, monkeypatch):
    """In a random program with a remainder in a subscript it took 17 s for each of two questions."""

    @af.kernel
    def around(A: af.f64[M + 1, N + 4]):
        with af.for_(1, M) as i, af.for_(1, N) as j:
            A[i, j % 4 if wraps else j] = A[i - 1, j] + A[i, j - 1]

    asked, ask = [], recipe.schedule_of
    monkeypatch.setattr(recipe, "schedule_of", lambda *given: asked.append(given) or ask(*given))
    with suppress(UnfitError):
        recipe.take_loop(af.Schedule(around), "i", Options(targets()["baseline"], 1))
    assert bool(asked) == is_asked
