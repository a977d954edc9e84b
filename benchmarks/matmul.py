"""A matrix product after `optimize()` beside NumPy's library: f32 and f64, by gcc and by clang, on one thread and more.

    python -m benchmarks.matmul
    python -m benchmarks.matmul --sizes 512,512,512 1000,700,300 --threads 1 --compilers gcc --repeats 15
    python -m benchmarks.matmul --by-hand

Calls of both take turns, and the ratio is the median over pairs: above 1 ours is faster. With more than one thread each
turn begins when the threads of the other side sleep, with a call that is not timed. Both rows are of the loops as
they are written: `contract` may make a product and a sum one operation, as the library does; `strict` may not.
`--by-hand` takes the schedule of `examples.packed_matmul` instead. `first` is the median time from the start of a
process with an empty cache to the first result in f32, for so many threads: it imports, defines the kernel, optimizes
it, compiles it and calls it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from shutil import which
from statistics import geometric_mean, median

import numpy as np

import affdsl as af
from examples.packed_matmul import scheduled

SIZES = ("512,512,512", "1024,1024,1024", "2048,2048,2048", "1000,700,300", "4096,64,512", "96,3000,1200")
SECONDS = 3.0
"""How long the pairs of one size run at least."""
REST = 0.15
"""Seconds after which threads sleep: those of NumPy's library wait busily for 0.1 s, on the cores of ours."""
LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Who is told how many threads there are."""
FIRST = """
import sys, time
import numpy as np
import affdsl as af
M, N, K = af.symbols("M N K")
@af.kernel
def matmul(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]
matmul.optimize(contract=True)(*(np.ones((64, 64), np.float32) for _ in "ABC"))
print(time.time() - float(sys.argv[1]))
"""
STARTS = 5
ROWS = ("contract", "strict")
TYPES = {"f32": (af.f32, np.float32, 32), "f64": (af.f64, np.float64, 64)}


def main() -> None:
    """Measure with each compiler and number of threads, in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", default=SIZES, help="rows, columns and the length of the sums")
    parser.add_argument("--repeats", type=int, default=9, help="pairs of each size, at least")
    parser.add_argument("--threads", nargs="*", type=int, default=(1, 2), help="how many (default: 1 2)")
    parser.add_argument("--compilers", nargs="*", default=("gcc", "clang-22", "clang"), help="those that are there")
    parser.add_argument("--rows", nargs="*", choices=ROWS, default=ROWS, help="what is allowed (default: both)")
    parser.add_argument("--by-hand", action="store_true", help="take the schedule of the example")
    parser.add_argument("--here", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        measure(*options.here, options)
        return
    for compiler in filter(which, options.compilers):
        for threads in options.threads:
            if not options.by_hand:
                took = median(first(compiler, threads) for _ in range(STARTS))
                print(
                    f"{compiler}, for {threads} thread{'s' * (threads > 1)}: first result after {took:.2f} s",
                    flush=True,
                )
            for type in TYPES:
                for row in ROWS[:1] if options.by_hand else options.rows:
                    print(f"{compiler}, {type}, {row}, {threads} thread{'s' * (threads > 1)}", flush=True)
                    again = [sys.executable, "-m", "benchmarks.matmul", *sys.argv[1:], "--here", type, row]
                    with tempfile.TemporaryDirectory() as cache:
                        subprocess.run(again, env=environment(compiler, cache, threads), check=True)


def environment(compiler: str, cache: str, threads: int) -> dict[str, str]:
    """The variables of a process that uses a compiler, a cache and so many threads, and keeps compiled modules."""
    given = {**os.environ, **dict.fromkeys(LIBRARIES, str(threads))}
    given.pop("PYTHONDONTWRITEBYTECODE", None)
    return given | {"AFFDSL_CC": compiler, "AFFDSL_CACHE_DIR": cache}


def first(compiler: str, threads: int) -> float:
    """Seconds from the start of a process to its first product, with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-c", FIRST, str(time.time())]
        ran = subprocess.run(command, env=environment(compiler, cache, threads), check=True, stdout=subprocess.PIPE)
        return float(ran.stdout)


def measure(type: str, row: str, options: argparse.Namespace) -> None:
    """Print a line for each size, and the geometric mean of its ratios."""
    fast = product(type, row, by_hand=options.by_hand)
    fast(*arrays(type, 64, 64, 64))
    ratios = []
    for size in options.sizes:
        found = compare(fast, *arrays(type, *map(int, size.split(","))), options.repeats)
        print(f"    {size.replace(',', ' x ')}: {found}", flush=True)
        ratios.append(found.ratio)
    print(f"    geometric mean {geometric_mean(ratios):.2f}, least {min(ratios):.2f}", flush=True)


def product(type: str, row: str, *, by_hand: bool) -> af.Kernel:
    """The product of matrices of a type, optimized or scheduled."""
    kind, _, bits = TYPES[type]
    rows, columns, length = af.symbols("M N K")

    @af.kernel
    def matmul(A: kind[rows, length], B: kind[length, columns], C: kind[rows, columns]):
        with af.for_(rows) as i, af.for_(columns) as j, af.for_(length) as k:
            C[i, j] += A[i, k] * B[k, j]

    return scheduled(matmul, bits).kernel() if by_hand else matmul.optimize(contract=row == "contract")


def arrays(type: str, m: int, n: int, k: int) -> list[np.ndarray]:
    """Two factors, and zeros for the product."""
    random, dtype = np.random.default_rng(0), TYPES[type][1]
    return [*(random.uniform(-1, 1, shape).astype(dtype) for shape in ((m, k), (k, n))), np.zeros((m, n), dtype)]


@dataclass(frozen=True)
class Compared:
    """How a product of ours did beside NumPy's: seconds of ours, and how many times longer NumPy's takes."""

    ratio: float
    seconds: float
    flops: float
    pairs: int

    def __str__(self) -> str:
        return f"{self.ratio:.2f} of NumPy ({1e-9 * self.flops / self.seconds:.0f} GFLOP/s, {self.pairs} pairs)"


def compare(fast: af.Kernel, a: np.ndarray, b: np.ndarray, c: np.ndarray, repeats: int) -> Compared:
    """Check one product, then time pairs of calls."""
    theirs = a @ b
    c[...] = 0
    fast(a, b, c)
    np.testing.assert_allclose(c, theirs, atol=4 * (a.shape[1] + 1) * np.finfo(a.dtype).eps, rtol=0)
    mine, other = [], []
    began = time.perf_counter()
    while len(mine) < repeats or time.perf_counter() - began < SECONDS:
        mine.append(timed(lambda: fast(a, b, c)))
        other.append(timed(lambda: np.matmul(a, b, out=theirs)))
    ratio = median(y / x for x, y in zip(mine, other, strict=True))
    return Compared(ratio, median(mine), 2.0 * a.size * b.shape[1], len(mine))


def timed(call: Callable[[], object]) -> float:
    """Seconds of a call: of the processor on one thread, so that what else runs does not count.

    On several threads, of one after which nothing else runs, and before which another one ran.
    """
    if os.environ.get(LIBRARIES[0]) == "1":
        start = time.process_time()
        call()
        return time.process_time() - start
    time.sleep(REST)
    call()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
