"""Whether reports of slow kernels name why they are slow, and whether what they promise comes when it is done by hand.

    python -m benchmarks.advice

Each kernel is slow for one reason. Its report is made with arguments; then the kernel that a user would write after
reading it runs beside the slow one, and what that gains is compared with what the page said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import affdsl as af
from affdsl.report.report import reported
from affdsl.report.shown import Report

M, N = af.symbols("M N")
PASSES = 7
"""How often the page is made and the kernels are timed: medians count, as where arrays lie decides a part."""
ROUNDS, CALLS = 150, 4
"""How often both kernels are timed in turn, and how many calls at once; the fastest counts."""


@af.kernel
def clamped(x: af.f32[N], y: af.f32[N]):
    """A clamp in a subscript."""
    with af.for_(N) as i:
        y[i] = x[af.max(i - 1, 0)] + x[i] + x[af.min(i + 1, N - 1)]


@af.kernel
def ways(a: af.f64[M, N], c: af.f64[M, N]):
    """`af.min` in a recurrence: the cheapest way through a table."""
    with af.for_(1, M) as i, af.for_(1, N) as j:
        a[i, j] = af.min(af.min(a[i - 1, j], a[i, j - 1]), a[i - 1, j - 1]) + c[i, j]


@af.kernel
def ways_by_select(a: af.f64[M, N], c: af.f64[M, N]):
    """The same with comparisons."""

    def less(x, y):
        return af.select(x < y, x, y)

    with af.for_(1, M) as i, af.for_(1, N) as j:
        a[i, j] = less(less(a[i - 1, j], a[i, j - 1]), a[i - 1, j - 1]) + c[i, j]


@af.kernel
def summed(x: af.f32[M, N], y: af.f32[M]):
    """Sums in the order of the text."""
    with af.for_(M) as i, af.for_(N) as j:
        y[i] += x[i, j]


@af.kernel
def mixed(x: af.f32[N], w: af.f64[N], y: af.f32[N]):
    """Two types in one computation."""
    with af.for_(N) as i:
        y[i] = af.f32(af.f64(x[i]) * w[i] + 1.0)


@af.kernel
def of_one_type(x: af.f32[N], w: af.f32[N], y: af.f32[N]):
    """The same in one of them."""
    with af.for_(N) as i:
        y[i] = x[i] * w[i] + 1.0


@af.kernel
def by_columns(A: af.f64[M, N], B: af.f64[N, M]):
    """An array in the order of its columns."""
    with af.for_(N) as i, af.for_(M) as j:
        B[i, j] = A[j, i] * 2.0


@af.kernel
def by_rows(A: af.f64[N, M], B: af.f64[N, M]):
    """The same with the array transposed."""
    with af.for_(N) as i, af.for_(M) as j:
        B[i, j] = A[i, j] * 2.0


@af.kernel
def divided(x: af.f64[N], d: af.f64, y: af.f64[N]):
    """A division by what stays the same."""
    with af.for_(N) as i:
        y[i] = x[i] / d


@dataclass(frozen=True)
class Case:
    """A slow kernel, the kind of its cause, the title of what is to be tried, and what a user does then."""

    kernel: af.Kernel
    kind: str
    title: str
    arguments: Sequence[object]
    by_hand: Callable[[], af.Kernel]
    converted: Callable[[Sequence[object]], Sequence[object]] = tuple


def cases() -> list[Case]:
    """The kernels with their arguments."""
    random = np.random.default_rng(5)

    def numbers(*shape: int, type: str = "f8") -> NDArray[np.generic]:
        return random.random(shape).astype(type)

    n, small = 20_000, (200, 200)
    x, y = numbers(n, type="f4"), numbers(n, type="f4")
    rows, sums = numbers(300, 1000, type="f4"), numbers(300, type="f4")
    square = numbers(600, 600), numbers(600, 600)
    return [
        Case(clamped, "clamp", "optimize()", (x, y), lambda: clamped.optimize()),
        Case(
            ways,
            "extreme",
            "af.select instead of af.min and af.max",
            (numbers(*small), numbers(*small)),
            lambda: ways_by_select.optimize(),
        ),
        Case(summed, "sum", "allow reassociate", (rows, sums), lambda: summed.optimize(reassociate=True)),
        Case(
            mixed,
            "mixed",
            "only af.f32",
            (x, numbers(n), y),
            lambda: of_one_type.optimize(),
            lambda given: [np.asarray(a, np.float32) for a in given],
        ),
        Case(
            by_columns,
            "columns",
            "keep A transposed",
            square,
            lambda: by_rows.optimize(),
            lambda given: [np.ascontiguousarray(np.asarray(given[0]).T), given[1]],
        ),
        Case(
            divided,
            "division",
            "allow reciprocal",
            (numbers(n), 1.7, numbers(n)),
            lambda: divided.optimize(reciprocal=True),
        ),
    ]


def gain(case: Case) -> float:
    """How many times as fast what is done by hand is."""
    fast, given = case.by_hand(), case.converted(case.arguments)
    pairs = [(case.kernel, tuple(case.arguments)), (fast, tuple(given))]
    best = [float("inf")] * 2
    for _ in range(ROUNDS):
        for k, (kernel, start_from) in enumerate(pairs):
            arguments = [x.copy() if isinstance(x, np.ndarray) else x for x in start_from]
            kernel(*arguments)
            start = perf_counter()
            for _ in range(CALLS):
                kernel(*arguments)
            best[k] = min(best[k], (perf_counter() - start) / CALLS)
    return best[0] / best[1]


def promised(page: Report, title: str) -> float:
    """What a page says that something gains; 0 where it says nothing of it."""
    found = (each for each in (*page.tried, *page.no_gain) if each.title == title and each.gain)
    return next((float(each.gain.split()[0]) for each in found), 0.0)


def main() -> None:
    """Print a row for each kernel."""
    print(f"{'kernel':<12}{'cause':<10}{'named':<7}{'page':>8}{'by hand':>9}{'off':>6}   what was tried")
    for case in cases():
        pages = [reported(case.kernel, case.arguments, {}) for _ in range(PASSES)]
        page = pages[0]
        words = {"clamp": "a clamp", "extreme": "af.min of floats", "sum": "a sum in", "mixed": "in one computation"}
        words |= {"columns": "of its columns", "division": "a division by"}
        is_named = any(words[case.kind] in cause.what for loop in page.loops for cause in loop.causes)
        said = median(promised(each, case.title) for each in pages)
        came = median(gain(case) for _ in range(PASSES))
        off = f"{abs(said / came - 1):.0%}"
        name = "yes" if is_named else "no"
        print(
            f"{case.kernel.name:<12}{case.kind:<10}{name:<7}{said:>8.2f}{came:>9.2f}{off:>6}   {case.title}", flush=True
        )


if __name__ == "__main__":
    main()
