"""A matrix product by a schedule beside NumPy's library, on one thread: f32 and f64, by gcc and by clang.

    python -m benchmarks.matmul
    python -m benchmarks.matmul --sizes 512,512,512 1000,700,300 --repeats 15

Calls of both take turns, and the ratio is the median over pairs: above 1 the schedule is faster. `first` is the
median time from the start of a process with an empty cache to the first result in f32: it imports, defines the kernel,
schedules it, compiles it and calls it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from shutil import which
from statistics import median

import numpy as np

import affdsl as af
from examples.packed_matmul import scheduled

SIZES = ("512,512,512", "1024,1024,1024", "2048,2048,2048", "1000,700,300")
SECONDS = 3.0
"""How long the pairs of one size run at least."""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
FIRST = """
import sys, time
import numpy as np
from examples.packed_matmul import packed_matmul
packed_matmul(*(np.ones((64, 64), np.float32) for _ in "ABC"))
print(time.time() - float(sys.argv[1]))
"""
STARTS = 5
TYPES = {"f32": (af.f32, np.float32, 32), "f64": (af.f64, np.float64, 64)}


def main() -> None:
    """Measure with each compiler, in a process of its own with one thread."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", default=SIZES, help="rows, columns and the length of the sums")
    parser.add_argument("--repeats", type=int, default=9, help="pairs of each size, at least")
    parser.add_argument("--here", choices=TYPES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        measure(options.here, options.sizes, options.repeats)
        return
    again = [sys.executable, "-m", "benchmarks.matmul", "--repeats", str(options.repeats), "--here"]
    for compiler in filter(which, ("gcc", "clang-22", "clang")):
        print(f"{compiler}: first result after {median(first(compiler) for _ in range(STARTS)):.2f} s", flush=True)
        for type in TYPES:
            with tempfile.TemporaryDirectory() as cache:
                environment = {**os.environ, **ONE_THREAD, "AFFDSL_CC": compiler, "AFFDSL_CACHE_DIR": cache}
                print(f"{compiler}, {type}", flush=True)
                subprocess.run([*again, type, "--sizes", *options.sizes], env=environment, check=True)


def first(compiler: str) -> float:
    """Seconds from the start of a process to its first product, with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, **ONE_THREAD, "AFFDSL_CC": compiler, "AFFDSL_CACHE_DIR": cache}
        command = [sys.executable, "-c", FIRST, str(time.time())]
        return float(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)


def measure(type: str, sizes: list[str], repeats: int) -> None:
    """Print a line for each size."""
    fast = product(type)
    given = arrays(type, 64, 64, 64)
    fast(*given)
    for size in sizes:
        m, n, k = map(int, size.split(","))
        compare(fast, *arrays(type, m, n, k), repeats)


def product(type: str) -> af.Kernel:
    """The scheduled product of matrices of a type."""
    kind, _, bits = TYPES[type]
    rows, columns, length = af.symbols("M N K")

    @af.kernel
    def matmul(A: kind[rows, length], B: kind[length, columns], C: kind[rows, columns]):
        with af.for_(rows) as i, af.for_(columns) as j, af.for_(length) as k:
            C[i, j] += A[i, k] * B[k, j]

    return scheduled(matmul, bits).kernel()


def arrays(type: str, m: int, n: int, k: int) -> list[np.ndarray]:
    """Two factors, and zeros for the product."""
    random, dtype = np.random.default_rng(0), TYPES[type][1]
    return [*(random.uniform(-1, 1, shape).astype(dtype) for shape in ((m, k), (k, n))), np.zeros((m, n), dtype)]


def compare(fast: af.Kernel, a: np.ndarray, b: np.ndarray, c: np.ndarray, repeats: int) -> None:
    """Check one product, then time pairs of calls."""
    theirs = a @ b
    fast(a, b, c)
    np.testing.assert_allclose(c, theirs, atol=4 * (a.shape[1] + 1) * np.finfo(a.dtype).eps, rtol=0)
    mine, other = [], []
    began = time.perf_counter()
    while len(mine) < repeats or time.perf_counter() - began < SECONDS:
        start = time.perf_counter()
        fast(a, b, c)
        middle = time.perf_counter()
        np.matmul(a, b, out=theirs)
        mine.append(middle - start)
        other.append(time.perf_counter() - middle)
    ratio = median(y / x for x, y in zip(mine, other, strict=True))
    speed = 2e-9 * a.size * b.shape[1] / median(mine)
    shape = f"{a.shape[0]} x {b.shape[1]} x {a.shape[1]}"
    print(f"    {shape}: {ratio:.2f} of NumPy ({speed:.0f} GFLOP/s, {len(mine)} pairs)", flush=True)


if __name__ == "__main__":
    main()
