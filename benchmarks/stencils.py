"""Stencils of PolyBench with several sweeps in each time step: fused at a shift, tiled in time, run as a wavefront.

    python -m benchmarks.stencils [SIZE]

prints, for each kernel, the seconds of the text's order, of tiles one after the other, and of tiles as a wavefront, all
on one thread and in one run, interleaved, with the best of some repetitions; and whether the results are the same to
the bit. A time step is written as one sweep after the other. The sweeps become one loop, under conditions; what is late
by the shift makes it legal to tile after a skew.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from time import perf_counter

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Array, Benchmark
from benchmarks.polybench.suite import named

LANES = max(2, af.native_target().lanes(64))
REPETITIONS = 3


def jacobi_1d(s: af.Schedule) -> None:
    """A line fits into the first cache: tiles do not pay here."""
    s.fuse("i#1", "i#2", shift=1, guarded=True)
    s.skew("t", "i#1", 2)
    s.tile(("t", "i#1"), (64, 256), grid=True)


def jacobi_2d(s: af.Schedule) -> None:
    """Tiles of whole rows."""
    s.fuse("i#1", "i#2", shift=1, guarded=True)
    s.skew("t", "i#1", 2)
    s.tile(("t", "i#1"), (8, 32), grid=True)
    s.vectorize("j#1", LANES).vectorize("j#2", LANES)


def heat_3d(s: af.Schedule) -> None:
    """Tiles of whole lines: planes are too large for many of them to stay in a cache."""
    s.fuse("i#1", "i#2", shift=1, guarded=True)
    s.fuse("j#1", "j#2", shift=1, guarded=True)
    s.skew("t", "i#1", 2).skew("t", "j#1", 2)
    s.tile(("t", "i#1", "j#1"), (8, 16, 32), grid=True)
    s.vectorize("k#1", LANES, tail="overlapped").vectorize("k#2", LANES, tail="overlapped")


def fdtd_2d(s: af.Schedule) -> None:
    """Three sweeps and an edge, of which only the last sweep is late."""
    s.fuse("i#1", "i#2", guarded=True).fuse("i#1", "i#3", shift=1, guarded=True)
    s.make_perfect("t", "i#1")
    s.skew("t", "i#1", 1)
    s.tile(("t", "i#1"), (8, 32), grid=True)
    s.vectorize("j#1", LANES).vectorize("j#2", LANES).vectorize("j#3", LANES).vectorize("j#4", LANES)


TILED: Mapping[str, Callable[[af.Schedule], None]] = {
    "jacobi-1d": jacobi_1d,
    "jacobi-2d": jacobi_2d,
    "heat-3d": heat_3d,
    "fdtd-2d": fdtd_2d,
}
"""What takes the schedule of each kernel so far that its tiles run one after the other."""


def wavefront(s: af.Schedule) -> None:
    """Run tiles at once that do not depend on each other."""
    s.skew("t_tile", "i_tile", 1).interchange("t_tile", "i_tile").parallel("t_tile")


def schedules(name: str) -> dict[str, af.Schedule]:
    """The schedules of a kernel, by what they are."""
    found = {}
    for kind in ("text", "tiles", "wavefront"):
        found[kind] = af.Schedule(named(name).kernel)
        if kind != "text":
            TILED[name](found[kind])
    wavefront(found["wavefront"])
    return found


def measured(benchmark: Benchmark, size: str) -> tuple[dict[str, float], bool]:
    """The seconds of each schedule, and whether all leave the same."""
    kernels = {kind: s.kernel() for kind, s in schedules(benchmark.name).items()}
    seconds = dict.fromkeys(kernels, float("inf"))
    same = True
    for _ in range(REPETITIONS):
        left: dict[str, dict[str, Array]] = {}
        for kind, kernel in kernels.items():
            given = benchmark.arrays(benchmark.sizes[size])
            start = perf_counter()
            kernel(**given)
            seconds[kind] = min(seconds[kind], perf_counter() - start)
            left[kind] = benchmark.dump(given)
        same &= all(np.array_equal(left["text"][k], each[k]) for each in left.values() for k in each)
    return seconds, same


def main() -> None:
    """Print the table."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    size = (sys.argv[1:] or ["LARGE"])[0]
    print(f"{size:10} {'text':>8} {'tiles':>8} {'ratio':>6} {'wavefront':>10} {'ratio':>6}")
    for name in TILED:
        seconds, same = measured(named(name), size)
        text, tiles, wave = seconds.values()
        verdict = "the same to the bit" if same else "DIFFERENT"
        print(f"{name:10} {text:8.4f} {tiles:8.4f} {text / tiles:6.2f} {wave:10.4f} {text / wave:6.2f}  {verdict}")


if __name__ == "__main__":
    main()
