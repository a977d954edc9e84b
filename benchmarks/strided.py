"""What it costs that an argument takes any strides: kernels with `affdsl.strided` beside those without.

    python -m benchmarks.strided [--seconds 0.001] [--pairs 15]

Both are given the same contiguous arrays, in bursts that alternate. Of five bursts the best counts, and the medians of
such pairs are compared: the machine may be busy, the ratio holds. They run as they are written, and as
`optimize(threads=1)` makes them, which is where vectors are. Last come the times of a warm call that computes next to
nothing.
"""

from __future__ import annotations

import argparse
import timeit
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

import numpy as np

import affdsl as af
from affdsl.lang.annotations import ArrayType

K, M, N = af.symbols("K M N")
Annotation = Callable[[ArrayType], ArrayType]


@dataclass(frozen=True)
class Pair:
    """One kernel twice: with contiguous arguments, and with such that take any strides."""

    contiguous: af.Kernel
    strided: af.Kernel
    shapes: Callable[[int], tuple[tuple[int, ...], ...]]
    """Of its arrays, for a number of elements of the largest one."""

    def ratio(self, elements: int, *, optimized: bool, pairs: int, seconds: float) -> tuple[float, float]:
        """How many times as long the strided one takes, and how long the other one takes, in seconds."""
        arrays = [np.random.default_rng(1).random(shape) for shape in self.shapes(elements)]
        kernels = [k.optimize(threads=1) if optimized else k for k in (self.contiguous, self.strided)]
        return compared([lambda k=k: k(*arrays) for k in kernels], pairs, seconds)  # type: ignore[misc]


def compared(calls: Sequence[Callable[[], object]], pairs: int, seconds: float) -> tuple[float, float]:
    """The median of how many times as long the second call takes, and of how long the first one takes."""
    for call in calls:
        call()
    number = max(1, round(seconds / max(min(timeit.repeat(calls[0], number=1, repeat=5)), 1e-9)))
    times: list[list[float]] = []
    for _ in range(pairs):
        # The best of some bursts in turn: one that was interrupted says nothing.
        bursts = [[timeit.timeit(call, number=number) / number for call in calls] for _ in range(BURSTS)]
        times.append([min(of_call) for of_call in zip(*bursts, strict=True)])
    return median(b / a for a, b in times), median(a for a, _ in times)


BURSTS = 5


def kernels(of: Annotation) -> list[tuple[af.Kernel, Callable[[int], tuple[tuple[int, ...], ...]]]]:
    """The kernels, with arguments as `of` makes them."""

    @af.kernel
    def axpy(x: of(af.f64[N]), y: of(af.f64[N])):
        with af.for_(N) as i:
            y[i] += 2.5 * x[i]

    @af.kernel
    def matmul(A: of(af.f64[M, K]), B: of(af.f64[K, N]), C: of(af.f64[M, N])):
        with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j]

    @af.kernel
    def heat(A: of(af.f64[M, N]), B: of(af.f64[M, N])):
        with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
            B[i, j] = A[i, j] + 0.1 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1] - 4 * A[i, j])

    @af.kernel
    def row_sums(A: of(af.f64[M, N]), s: of(af.f64[M])):
        with af.for_(M) as i, af.for_(N) as j:
            s[i] += A[i, j]

    @af.kernel
    def transpose(A: of(af.f64[M, N]), B: of(af.f64[N, M])):
        with af.for_(M) as i, af.for_(N) as j:
            B[j, i] = A[i, j]

    @af.kernel
    def roots(A: of(af.f64[M, N]), B: of(af.f64[M, N])):
        with af.for_(M) as i, af.for_(N) as j:
            B[i, j] = af.sqrt(A[i, j])

    @af.kernel
    def prefix(x: of(af.f64[N])):
        with af.for_(1, N) as i:
            x[i] = 0.5 * x[i] + 0.25 * x[i - 1]

    def side(n: int) -> int:
        return int(n**0.5)

    return [
        (axpy, lambda n: ((n,), (n,))),
        (matmul, lambda n: ((side(n), side(n)),) * 3),
        (heat, lambda n: ((side(n), side(n)),) * 2),
        (row_sums, lambda n: ((side(n), side(n)), (side(n),))),
        (transpose, lambda n: ((side(n), side(n) + 8), (side(n) + 8, side(n)))),
        (roots, lambda n: ((side(n), side(n)),) * 2),
        (prefix, lambda n: ((n,),)),
    ]


def pairs() -> list[Pair]:
    """Each kernel twice."""
    both = zip(kernels(lambda type: type), kernels(af.strided), strict=True)
    return [Pair(a, b, shapes) for (a, shapes), (b, _) in both]


SIZES = {"in the first cache": 1_000, "in the second": 40_000, "in memory": 2_000_000}
"""How many elements the largest array has; products of matrices stop before memory."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--seconds", type=float, default=0.001, help="how long a burst lasts, about")
    asked.add_argument("--pairs", type=int, default=15, help="how many comparisons")
    asked.add_argument("--largest", type=int, default=max(SIZES.values()), help="leave out larger arrays than this")
    asked.add_argument("--kernels", nargs="*", default=[], help="these alone")
    chosen = asked.parse_args(arguments)
    ratios = []
    for pair in pairs():
        if chosen.kernels and pair.contiguous.name not in chosen.kernels:
            continue
        for where, elements in SIZES.items():
            if elements > min(chosen.largest, 40_000 if pair.contiguous.name == "matmul" else chosen.largest):
                continue
            for optimized in (False, True):
                ratio, time = pair.ratio(elements, optimized=optimized, pairs=chosen.pairs, seconds=chosen.seconds)
                ratios.append(ratio)
                how = "optimized" if optimized else "as written"
                print(f"{pair.contiguous.name:10} {where:18} {how:10} {time * 1e6:9.1f} us, strided {ratio:5.2f}x")
    print(f"all: {geometric_mean(ratios):.2f}x, at most {max(ratios):.2f}x")
    one = pairs()[0]
    arrays = np.ones(1), np.ones(1)
    ratio, time = compared(
        [lambda: one.contiguous(*arrays), lambda: one.strided(*arrays)], chosen.pairs, chosen.seconds
    )
    print(f"a warm call of one element: {time * 1e9:.0f} ns, strided {ratio:.2f}x")


if __name__ == "__main__":
    main()
