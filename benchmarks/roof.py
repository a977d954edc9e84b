"""Which loop nests of the suites are measured above the roofline, where nothing can be.

    python -m benchmarks.roof
    python -m benchmarks.roof --sizes SMALL --only gemm "moving average" --all

Each kernel of PolyBench at some sizes, and each everyday loop, as it is written, optimized, and optimized with all that
may round in another way allowed, on one thread. A row is above where its operations and bytes take longer at best than
was measured: then either is counted too high, or the roof was measured too low.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

import affdsl as af
from affdsl.seeing.profile import Profile
from benchmarks.everyday import LOOPS
from benchmarks.polybench.suite import SUITE

ALL = dict.fromkeys(("contract", "reassociate", "reciprocal", "approximate"), True)
SHORTEST = 2e-6
"""Seconds: what is shorter is mostly the clock."""


def calls(sizes: Sequence[str], only: Sequence[str]) -> Iterator[tuple[str, af.Kernel, Sequence[object]]]:
    """The kernels with arguments, and what they are called."""
    rng = np.random.default_rng(1)
    for benchmark in SUITE:
        if not only or benchmark.name in only:
            for size in sizes:
                given = benchmark.random_arguments(benchmark.sizes[size], rng)
                yield f"{benchmark.name} {size}", benchmark.kernel, [*given.values()]
    for loop in LOOPS:
        if not only or loop.name in only:
            yield loop.name, loop.kernel, loop.arguments(rng, loop.size)


def profiles(kernel: af.Kernel, arguments: Sequence[object], repeats: int) -> Iterator[tuple[str, Profile]]:
    """What is measured of the kernel and of what is made of it."""
    yield "as written", kernel.profile(*arguments, repeats=repeats)
    yield "strict", kernel.optimize(threads=1).profile(*arguments, repeats=repeats)
    yield "allowed", kernel.optimize(threads=1, **ALL).profile(*arguments, repeats=repeats)


def main() -> None:
    """Print the rows that are above, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["SMALL", "MEDIUM"], help="of PolyBench")
    parser.add_argument("--only", nargs="+", default=[], help="names of kernels")
    parser.add_argument("--repeats", type=int, default=7, help="how often each is measured")
    parser.add_argument("--all", action="store_true", help="print rows below the roof, too")
    options = parser.parse_args()
    rows = above = 0
    for name, kernel, arguments in calls(options.sizes, options.only):
        for how, found in profiles(kernel, arguments, options.repeats):
            for nest in (*found.nests, found.whole):
                if nest.seconds < SHORTEST or not nest.seconds_at_best:
                    continue
                rows += 1
                above += nest.share > 1
                if options.all or nest.share > 1:
                    print(
                        f"{100 * nest.share:4.0f} %  {name}, {how}: {nest.name}, {nest.bound} {nest.level}", flush=True
                    )
    print(f"{above} of {rows} rows are above the roof")


if __name__ == "__main__":
    main()
