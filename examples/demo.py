"""What `make demo` shows: a matrix product and a pipeline on a photograph, run, checked, printed and timed.

Run it as `python -m examples.demo [result.png]`.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from skimage import data

from examples import gemm, packed_matmul, unsharp_sobel

SIZE = 768
TURNS, UNTIMED, TIMED = 5, 2, 5
"""How often each side is timed, and of how many calls in a row the first are not and the others are."""
REST = 0.2
"""Seconds before each turn: threads of a library stay awake for a while after a call, in the way of others."""


def main() -> None:
    """Run everything; an AssertionError would say what is wrong."""
    show_text()
    time_gemm()
    time_packed()
    time_photograph()
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "unsharp_sobel.png")
    unsharp_sobel.write_png(path)
    print(f"The photograph, sharpened, and its edges: {path.resolve()}")


def show_text() -> None:
    """Print gemm as MLIR and as C, after checking the kernels on small cases."""
    cases = [*gemm.cases(), *packed_matmul.cases(), *unsharp_sobel.cases()]
    for case in cases:
        case.check()
    print(
        f"{len(cases)} small cases of the matrix products and of the photograph's kernels agree with NumPy and SciPy."
    )
    print(f"\ngemm as MLIR:\n\n{gemm.gemm.mlir()}\n\ngemm as C:\n\n{gemm.gemm.c()}")


def time_gemm() -> None:
    """Time gemm against NumPy's product."""
    rng = np.random.default_rng(0)
    a, b, c = rng.uniform(-1, 1, (3, SIZE, SIZE)).astype(np.float32)
    alpha, beta = np.float32(1.5), np.float32(0.5)
    ours = c.copy()
    gemm.gemm(alpha, beta, a, b, ours)
    np.testing.assert_allclose(ours, gemm.reference(alpha, beta, a, b, c), atol=(SIZE + 2) * 2**-20)
    times = interleaved(lambda: gemm.gemm(alpha, beta, a, b, ours), lambda: alpha * (a @ b) + beta * c)
    report(f"gemm, {SIZE} x {SIZE} x {SIZE}, single precision", times, f"NumPy with {blas()}, on all its threads")


def time_packed() -> None:
    """Time a matrix product that the optimizer has made fast against NumPy's."""
    fast = packed_matmul.matmul.optimize(contract=True)
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-1, 1, (2, SIZE, SIZE)).astype(np.float32)
    ours, theirs = np.zeros_like(a), np.zeros_like(a)
    fast(a, b, ours)
    np.testing.assert_allclose(ours, packed_matmul.reference(a, b, theirs), atol=(SIZE + 2) * 2**-20)
    times = interleaved(lambda: fast(a, b, ours), lambda: np.matmul(a, b, out=theirs))
    what = f"matrix product, {SIZE} x {SIZE} x {SIZE}, single precision"
    report(what, times, f"NumPy with {blas()}, on all its threads", "three loops after optimize()")
    print(f"{fast.explain()}\n")


def time_photograph() -> None:
    """Time the pipeline, as the optimizer has left it, against SciPy's filters."""
    fast = unsharp_sobel.unsharp_sobel.optimize()
    photo = data.coffee()
    for ours, reference in zip(fast(photo), unsharp_sobel.reference(photo), strict=True):
        np.testing.assert_allclose(ours, reference, atol=1)
    times = interleaved(lambda: fast(photo), lambda: unsharp_sobel.reference(photo, np.float32))
    what = "{}: unsharp mask and Sobel, single precision".format(" x ".join(map(str, photo.shape)))
    report(what, times, "NumPy and SciPy, on one thread", "five kernels after optimize()")
    print(f"{fast.explain()}\n")


def interleaved(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """The median times of both in milliseconds; they take turns, so that what else the machine does hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(TURNS):
        for function, record in zip((ours, theirs), times, strict=True):
            time.sleep(REST)
            for _ in range(UNTIMED):
                function()
            record += [timed(function) for _ in range(TIMED)]
    return median(times[0]), median(times[1])


def timed(function: Callable[[], object]) -> float:
    """How many milliseconds a call takes."""
    start = time.perf_counter()
    function()
    return 1000 * (time.perf_counter() - start)


def report(what: str, times: tuple[float, float], theirs: str, how: str = "the loops as written") -> None:
    """Print both times."""
    print(f"{what} (median of {TURNS * TIMED} runs, taking turns):")
    print(f"  {times[0]:8.2f} ms  affdsl: {how}, compiled, {threads()}")
    print(f"  {times[1]:8.2f} ms  {theirs}\n")


def threads() -> str:
    """On how many threads the compiled kernels run."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = int(os.environ.get("OMP_NUM_THREADS", str(available)).split(",")[0])
    return f"on up to {count} threads where the compiler has OpenMP" if count > 1 else "on one thread"


def blas() -> str:
    """The library that NumPy multiplies matrices with."""
    found = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{found['name']} {found['version']}"


if __name__ == "__main__":
    main()
