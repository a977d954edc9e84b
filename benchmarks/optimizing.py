"""How long `optimize()` takes: for each kernel of PolyBench, and for kernels of more and more nests.

    python -m benchmarks.optimizing [gemm 3mm ...] [--threads 2] [--most 64]

Printed are seconds of processor time, with nothing known from before: for results that are the same to the bit, and for
all that may round in another way. Then kernels of 1, 2, 4 ... nests, of two kinds, with the power of the number of
nests by which the time has grown since the row before: 1 is linear, 2 quadratic.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log2
from statistics import median
from time import process_time

import affdsl as af
from affdsl.passes.analysis.relations import forget
from benchmarks.polybench.suite import SUITE, named

WANTED, LIMIT = 2.0, 8.0
"""Seconds that the kernel in the middle and each kernel may take."""
ALLOWANCES = ("contract", "reassociate", "reciprocal")
N = af.symbols("N")


def seconds(kernel: af.Kernel, threads: int, *, is_strict: bool) -> float:
    """How long it takes to optimize a kernel."""
    allowed = {} if is_strict else dict.fromkeys(ALLOWANCES, True)
    forget()
    start = process_time()
    kernel.optimize(threads=threads, **allowed)
    return process_time() - start


def stencils(nests: int) -> af.Kernel:
    """A chain of smoothed planes, each made of the one before it."""

    @af.kernel
    def chain(A: af.f64[N, N], B: af.f64[N, N]) -> None:
        planes = [A, *(af.alloc(af.f64[N, N]) for _ in range(nests - 1)), B]
        for above, below in pairwise(planes):
            with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
                below[i, j] = (above[i - 1, j] + above[i, j] + above[i + 1, j]) * 0.25

    return chain


def sums(nests: int) -> af.Kernel:
    """Products of one matrix with a vector, each with the result of the one before it."""

    @af.kernel
    def chain(A: af.f64[N, N], x: af.f64[N], y: af.f64[N]) -> None:
        for k in range(nests):
            into, of = (x, y) if k % 2 else (y, x)
            with af.for_(N) as i, af.for_(N) as j:
                into[i] += A[i, j] * of[j]

    return chain


def rows(names: Sequence[str], threads: int) -> Iterator[str]:
    """The times of kernels of PolyBench, and how they keep to what is wanted."""
    yield f"{'kernel':16}{'strict':>8}{'any order':>11}"
    both: list[float] = []
    for name in names:
        times = [seconds(named(name).kernel, threads, is_strict=is_strict) for is_strict in (True, False)]
        both.append(max(times))
        late = f"  more than {LIMIT:g} s" if max(times) > LIMIT else ""
        yield f"{name:16}{times[0]:8.2f}{times[1]:11.2f}{late}"
    late = sum(each > LIMIT for each in both)
    yield f"{median(both):.2f} s in the middle ({WANTED:g} wanted), {late} of {len(both)} above {LIMIT:g} s"


def growth(most: int, threads: int) -> Iterator[str]:
    """The times of kernels of 1, 2, 4 ... nests."""
    for kind in (stencils, sums):
        before, nests = 0.0, 1
        yield f"nests of {kind.__name__}"
        while nests <= most:
            now = seconds(kind(nests), threads, is_strict=True)
            power = f"{log2(now / before):8.1f}" if before else ""
            yield f"{nests:8}{now:8.2f} s{power}"
            before, nests = now, 2 * nests


def main(words: Sequence[str] | None = None) -> None:
    """Time kernels, then nests."""
    parser = argparse.ArgumentParser("python -m benchmarks.optimizing", description=__doc__)
    parser.add_argument(
        "kernels", nargs="*", default=[each.name for each in SUITE], help="names; all if none are given"
    )
    parser.add_argument("--threads", type=int, default=1, help="for how many (default: %(default)s)")
    parser.add_argument("--most", type=int, default=64, help="the most nests (default: %(default)s)")
    line = parser.parse_args(words)
    os.environ["AFFDSL_DECISIONS"] = "0"  # with nothing known from before
    for text in rows(line.kernels, line.threads):
        print(text, flush=True)
    for text in growth(line.most, line.threads):
        print(text, flush=True)


if __name__ == "__main__":
    main()
