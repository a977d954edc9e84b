"""Chains of stencils, fused by a schedule of a few lines, beside the text's order, clang with Polly, and Halide.

    python -m benchmarks.fusion
    python -m benchmarks.fusion --only harris --sizes 2048 4096

One thread, one run. Each kernel: by its schedule (fused); as it is written, its loops vectorized (unfused); by
`kernel.fuse()`, vectorized; as it is written, by clang with Polly; and in Halide, by its autoschedulers and by hand.
All round as they are written, and each result is compared with NumPy's. They take turns; a ratio is the median over
the rounds of how many times longer one takes than the fused kernel, in time of the processor. Polly and Halide are
left out where they are not installed.
"""

from __future__ import annotations

import argparse
import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from shutil import which
from statistics import median
from time import process_time
from typing import Literal

import numpy as np

import affdsl as af

try:
    from benchmarks import halide_stencils
except ImportError:  # the package halide is an extra
    halide_stencils = None

N, M = af.symbols("N M")
LANES = af.native_target().lanes(32)
ROUNDS = 15
POLLY = "-mllvm -polly"
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, PAGES, MOST = -1, -3, 2**20, 2**31 - 1
Call = Callable[[np.ndarray, np.ndarray], object]
"""What computes the second array of the first."""


def vectorized(kernel: af.Kernel, tail: Literal["masked", "folded"] = "masked") -> af.Kernel:
    """A kernel with each of its innermost loops on vectors."""
    s = af.Schedule(kernel)
    for row, below in pairwise([*s.loops(), None]):
        if below is None or below.depth <= row.depth:
            s.vectorize(row.names[0], LANES, tail=tail)
    return s.kernel()


@af.kernel
def blur(image: af.f32[N, M], out: af.f32[N, M]):
    """The mean of nine pixels: of three in a row, then of three rows."""
    rows = af.alloc(af.f32[N, M])
    with af.for_(N) as i, af.for_(1, M - 1) as j:
        rows[i, j] = (image[i, j - 1] + image[i, j] + image[i, j + 1]) * (1 / 3)
    with af.for_(1, N - 1) as k, af.for_(1, M - 1) as m:
        out[k, m] = (rows[k - 1, m] + rows[k, m] + rows[k + 1, m]) * (1 / 3)


def fused_blur() -> af.Kernel:
    """Three rows that roll; three in each turn, so that it is known where each one is."""
    s = af.Schedule(blur).fuse("i", "k", shift=1).fuse("j", "m")
    s.fold("rows", 0, 3).unroll_jam("i", 3)
    return vectorized(s.kernel().apply("affine-scalrep"))


def numpy_blur(image: np.ndarray, out: np.ndarray) -> None:
    """The same by slices."""
    third = np.float32(1 / 3)
    rows = (image[:, :-2] + image[:, 1:-1] + image[:, 2:]) * third
    out[1:-1, 1:-1] = (rows[:-2] + rows[1:-1] + rows[2:]) * third


@af.kernel
def unsharp(image: af.f32[N, M], out: af.f32[N, M]):
    """An image less its blur, where they differ by much."""
    rows = af.alloc(af.f32[N, M])
    both = af.alloc(af.f32[N, M])
    sharp = af.alloc(af.f32[N, M])
    with af.for_(2, N - 2) as i, af.for_(M) as j:
        rows[i, j] = (
            image[i - 2, j] + image[i - 1, j] * 4 + image[i, j] * 6 + image[i + 1, j] * 4 + image[i + 2, j]
        ) * 0.0625
    with af.for_(2, N - 2) as i, af.for_(2, M - 2) as j:
        both[i, j] = (
            rows[i, j - 2] + rows[i, j - 1] * 4 + rows[i, j] * 6 + rows[i, j + 1] * 4 + rows[i, j + 2]
        ) * 0.0625
    with af.for_(2, N - 2) as i, af.for_(2, M - 2) as j:
        sharp[i, j] = image[i, j] * 4 - both[i, j] * 3
    with af.for_(2, N - 2) as i, af.for_(2, M - 2) as j:
        out[i, j] = af.select(af.abs(image[i, j] - both[i, j]) < 0.01, image[i, j], sharp[i, j])


def fused_unsharp() -> af.Kernel:
    """All stages row by row, three rows in each turn; what is made of a row is read 34 columns later."""
    s = af.Schedule(unsharp)
    for stage in (2, 3, 4):
        s.fuse("i#1", f"i#{stage}")
    s.fuse("j#2", "j#3").fuse("j#2", "j#4").fuse("j#1", "j#2", shift=34)
    s.fold("rows", 0, 3).unroll_jam("i#1", 3)
    return vectorized(s.kernel().apply("affine-scalrep"))


def numpy_unsharp(image: np.ndarray, out: np.ndarray) -> None:
    """The same by slices."""
    four, six, sixteenth = np.float32(4), np.float32(6), np.float32(0.0625)

    def blurred(a: np.ndarray) -> np.ndarray:
        return (a[:-4] + a[1:-3] * four + a[2:-2] * six + a[3:-1] * four + a[4:]) * sixteenth

    both, inner = blurred(blurred(image).T).T, image[2:-2, 2:-2]
    sharp = inner * four - both * np.float32(3)
    out[2:-2, 2:-2] = np.where(np.abs(inner - both) < np.float32(0.01), inner, sharp)


def sum_of_nine(a, i, j):
    """The sum of an element and its neighbours, row by row; it is written for arrays of all sides."""
    first, middle, last = (a[i + d, j - 1] + a[i + d, j] + a[i + d, j + 1] for d in (-1, 0, 1))
    return first + middle + last


@af.kernel
def harris(image: af.f32[N, M], out: af.f32[N, M]):
    """How much a pixel looks like a corner: the eleven stages of Harris and Stephens."""
    ix = af.alloc(af.f32[N, M])
    iy = af.alloc(af.f32[N, M])
    ixx = af.alloc(af.f32[N, M])
    iyy = af.alloc(af.f32[N, M])
    ixy = af.alloc(af.f32[N, M])
    sxx = af.alloc(af.f32[N, M])
    syy = af.alloc(af.f32[N, M])
    sxy = af.alloc(af.f32[N, M])
    det = af.alloc(af.f32[N, M])
    trace = af.alloc(af.f32[N, M])
    with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
        ix[i, j] = (
            (image[i - 1, j + 1] - image[i - 1, j - 1])
            + (image[i, j + 1] - image[i, j - 1]) * 2
            + (image[i + 1, j + 1] - image[i + 1, j - 1])
        ) * (1 / 12)
    with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
        iy[i, j] = (
            (image[i + 1, j - 1] - image[i - 1, j - 1])
            + (image[i + 1, j] - image[i - 1, j]) * 2
            + (image[i + 1, j + 1] - image[i - 1, j + 1])
        ) * (1 / 12)
    for product, one, other in ((ixx, ix, ix), (iyy, iy, iy), (ixy, ix, iy)):
        with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
            product[i, j] = one[i, j] * other[i, j]
    for total, product in ((sxx, ixx), (syy, iyy), (sxy, ixy)):
        with af.for_(2, N - 2) as i, af.for_(2, M - 2) as j:
            total[i, j] = sum_of_nine(product, i, j)
    with af.for_(2, N - 2) as i, af.for_(2, M - 2) as j:
        det[i, j] = sxx[i, j] * syy[i, j] - sxy[i, j] * sxy[i, j]
    with af.for_(2, N - 2) as i, af.for_(2, M - 2) as j:
        trace[i, j] = sxx[i, j] + syy[i, j]
    with af.for_(2, N - 2) as i, af.for_(2, M - 2) as j:
        out[i, j] = det[i, j] - trace[i, j] * trace[i, j] * 0.04


def fused_harris() -> af.Kernel:
    """The slopes in one loop, all else in another one, a row late; eight rows of slopes roll, six in each turn.

    So many elements of a column are in use that they must not lie a power of two apart.
    """
    s = af.Schedule(harris).fuse("i#1", "i#2").fuse("j#1", "j#2")
    for product in ("ixx", "iyy", "ixy"):
        s.inline(product)
    for stage in (7, 8, 9, 10, 11):
        s.fuse("i#6", f"i#{stage}").fuse("j#6", f"j#{stage}")
    s.fuse("i#1", "i#6", shift=1)
    for slope in ("ix", "iy"):
        s.fold(slope, 0, 8).pad(slope, 1, 32, 16)
    s.unroll_jam("i#1", 6)
    return vectorized(s.kernel().apply("affine-scalrep").apply("cse"), tail="folded")


def numpy_harris(image: np.ndarray, out: np.ndarray) -> None:
    """The same by slices."""
    two, twelfth = np.float32(2), np.float32(1 / 12)

    def at(a: np.ndarray, i: int, j: int) -> np.ndarray:
        rows, columns = a.shape
        return a[1 + i : rows - 1 + i, 1 + j : columns - 1 + j]

    def slope(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        return (a + b * two + c) * twelfth

    def total(a: np.ndarray) -> np.ndarray:
        first, middle, last = (at(a, d, -1) + at(a, d, 0) + at(a, d, 1) for d in (-1, 0, 1))
        return first + middle + last

    ix = slope(*(at(image, d, 1) - at(image, d, -1) for d in (-1, 0, 1)))
    iy = slope(*(at(image, 1, d) - at(image, -1, d) for d in (-1, 0, 1)))
    sxx, syy, sxy = total(ix * ix), total(iy * iy), total(ix * iy)
    trace = sxx + syy
    out[2:-2, 2:-2] = (sxx * syy - sxy * sxy) - trace * trace * np.float32(0.04)


@dataclass(frozen=True)
class Chain:
    """A kernel, what makes the fused one, and the same of NumPy."""

    kernel: af.Kernel
    fused: Callable[[], af.Kernel]
    numpy: Callable[[np.ndarray, np.ndarray], None]


CHAINS = {
    "blur": Chain(blur, fused_blur, numpy_blur),
    "unsharp": Chain(unsharp, fused_unsharp, numpy_unsharp),
    "harris": Chain(harris, fused_harris, numpy_harris),
}


def variants(name: str, size: int) -> Iterator[tuple[str, Call]]:
    """All that compute the same, the fused kernel first."""
    chain = CHAINS[name]
    yield "fused", chain.fused()
    yield "unfused", vectorized(chain.kernel)
    yield "kernel.fuse()", vectorized(chain.kernel.fuse())
    if clang := which("clang-22") or which("clang"):
        yield "fused, by clang", compiled_by(clang, chain.fused())
        yield "clang with Polly", compiled_by(f"{clang} {POLLY}", chain.kernel)
    if halide_stencils is not None:
        yield from halide_stencils.compiled(name, size)


def compiled_by(compiler: str, kernel: af.Kernel) -> af.Kernel:
    """A kernel that a compiler has compiled."""
    before = os.environ.get("AFFDSL_CC", "")
    made = af.Schedule(kernel).kernel()
    os.environ["AFFDSL_CC"] = compiler
    made(*(np.zeros((8, 8), np.float32) for _ in range(2)))
    os.environ["AFFDSL_CC"] = before
    return made


def measured(name: str, size: int, rounds: int = ROUNDS) -> dict[str, list[float]]:
    """The seconds of all variants in each round. Raises AssertionError where a result is not NumPy's to the bit."""
    map_from(PAGES)
    image = np.random.default_rng(0).random((size, size), np.float32)
    out, expected = np.zeros_like(image), np.zeros_like(image)
    map_from(MOST)
    CHAINS[name].numpy(image, expected)
    calls = dict(variants(name, size))
    for label, call in calls.items():
        out[:] = 0
        call(image, out)
        np.testing.assert_array_equal(out, expected, label)
    seconds: dict[str, list[float]] = {label: [] for label in calls}
    turns, random = [*calls.items()], Random(0)
    for _ in range(rounds):
        random.shuffle(turns)  # nobody always comes after the same one, and what that leaves in the caches
        for label, call in turns:
            start = process_time()
            call(image, out)
            seconds[label].append(process_time() - start)
    return seconds


def map_from(count: int) -> None:
    """Let arrays of so many bytes have pages of their own, and smaller ones reuse memory that was freed.

    Who allocates arrays in each call then need not wait for pages each time.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, count)
        mallopt(M_TRIM_THRESHOLD, MOST)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=CHAINS, default=[*CHAINS])
    parser.add_argument("--sizes", nargs="+", type=int, default=[2048, 4096])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = os.environ["HL_NUM_THREADS"] = "1"
    if halide_stencils is None:
        print("no Halide: pip install halide")
    print("milliseconds, and how many times those of the fused kernel that is; all results are NumPy's to the bit")
    for name in given.only:
        for size in given.sizes:
            seconds = measured(name, size, given.rounds)
            print(f"{name}, {size} x {size}")
            for label, times in seconds.items():
                ratio = median(a / b for a, b in zip(times, seconds["fused"], strict=True))
                print(f"    {label:24} {1e3 * median(times):8.2f} {ratio:6.2f}", flush=True)


if __name__ == "__main__":
    main()
