"""Runs one kernel of PolyBench: prints its size, its time and what came out, and keeps that in a file.

python -m benchmarks.polybench gemm --size LARGE
python -m benchmarks.polybench 2mm --size SMALL --run interpreter --dump 2mm.npz
python -m benchmarks.polybench --race --size LARGE
python -m benchmarks.polybench --list
"""

import argparse
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np

from affdsl.errors import AffdslError
from benchmarks.polybench.benchmark import SIZE_NAMES, Array, Benchmark, Sizes
from benchmarks.polybench.race import race
from benchmarks.polybench.suite import SUITE, named


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; the exit status: 0, 1 where the run failed, 2 where the command means nothing."""
    parser = argparse.ArgumentParser("python -m benchmarks.polybench", description="Runs one kernel of PolyBench.")
    parser.add_argument("kernel", nargs="?", help="its name, as --list prints it")
    parser.add_argument("--size", choices=SIZE_NAMES, default="SMALL", help="the data set (default: %(default)s)")
    parser.add_argument("--run", choices=("interpreter", "c"), default="c", help="what runs it (default: %(default)s)")
    parser.add_argument("--dump", type=Path, metavar="OUT.npz", help="write the live-out arrays to a NumPy file")
    parser.add_argument("--race", action="store_true", help="time it, or all, optimized, beside gcc, clang and Polly")
    parser.add_argument("--threads", type=int, default=1, help="how many threads there are in a race (default: 1)")
    parser.add_argument("--constant", action="store_true", help="ours knows the sizes in a race, too, as the peers do")
    parser.add_argument("--list", action="store_true", help="print all kernels with their sizes, and exit")
    line = parser.parse_args(words)
    if line.list:
        print_list()
        return 0
    if line.race:
        race(SUITE if line.kernel is None else [named(line.kernel)], line.size, line.threads, constant=line.constant)
        return 0
    if line.kernel is None:
        parser.error("needs the name of a kernel; --list prints all")
    if line.dump is not None and line.dump.suffix != ".npz":
        parser.error(f"--dump {line.dump}: the name must end in .npz")
    if line.dump is not None and not line.dump.parent.is_dir():
        parser.error(f"--dump {line.dump}: there is no folder {line.dump.parent}")
    try:
        benchmark = named(line.kernel)
    except ValueError as error:
        parser.error(str(error))
    try:
        live_out = run(benchmark, line.size, line.run)
        if line.dump is not None:
            np.savez_compressed(line.dump, **live_out)
    except (AffdslError, MemoryError, OSError) as error:
        print(f"{benchmark.name} at {line.size}: {str(error) or 'out of memory'}", file=sys.stderr)
        return 1
    return 0


def run(benchmark: Benchmark, size: str, how: str) -> dict[str, Array]:
    """Run a kernel on PolyBench's input, print size, time and outcome; the live-out arrays as PolyBench dumps them."""
    sizes = benchmark.sizes[size]
    print(f"{benchmark.name} at {size}: {shown(sizes)}", flush=True)
    if how == "c":  # compiled at the first call, which shall not be the one that is timed
        start = perf_counter()
        benchmark.run(benchmark.arrays(benchmark.sizes["MINI"]))
        print(f"  compiled in {perf_counter() - start:.3f} s, or found in the cache", flush=True)
    arguments = benchmark.arrays(sizes)
    start = perf_counter()
    benchmark.run(arguments, how)
    print(f"  {'interpreted' if how == 'interpreter' else 'run'} in {perf_counter() - start:.6f} s")
    live_out = benchmark.dump(arguments)
    for name, array in live_out.items():
        print(f"  {name}: {array.size} elements, sum {array.sum():.12g}, sha256 {checksum(array)}")
    return live_out


def checksum(array: Array) -> str:
    """The first ten digits of the SHA-256 of the elements, little-endian and in order."""
    return hashlib.sha256(array.astype(array.dtype.newbyteorder("<")).tobytes()).hexdigest()[:10]


def print_list() -> None:
    """Print the kernels in PolyBench's order, with all sizes."""
    for benchmark in SUITE:
        print(benchmark.name)
        for size, sizes in benchmark.sizes.items():
            print(f"  {size:10} {shown(sizes)}")


def shown(sizes: Sizes) -> str:
    """Sizes as `M=28, N=32`."""
    return ", ".join(f"{name}={value}" for name, value in sizes.items())


if __name__ == "__main__":
    sys.exit(main())
