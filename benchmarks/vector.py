"""Vectorized loops beside what gcc and clang make of the same loops, as they are written: time of theirs over ours.

    python -m benchmarks.vector
    python -m benchmarks.vector --only dot saxpy

Fast: sums may be made in any order and products fused, by both sides (`-ffast-math` there). Strict: neither may. All
are compiled for this machine at `-O3` with registers of full width, each side by each compiler, and called from C in
turns. A ratio is the median over rounds of the time of the better compiler for the loop as it is written over the time
of the better compiler for ours, above 1 where ours is faster.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from statistics import geometric_mean, median

import numpy as np

import affdsl as af
from affdsl.codegen.c.emit import emit
from affdsl.passes.lowering.split_vectors import split_vectors

N, M = af.symbols("N M")
HERE = af.native_target()
LANES = HERE.lanes(32)
WIDE = 4 * LANES
"""Four registers at once: four sums that do not wait for one another."""
ROUNDS, SECONDS = 21, 0.002
FULL_WIDTH = ("-O3", "-march=native", f"-mprefer-vector-width={HERE.width}", "-fno-math-errno", "-fPIC", "-shared")
MINE = ("-std=c11", "-ffp-contract=off", "-fno-trapping-math")
PEERS = {"fast": ("-ffast-math",), "strict": ("-ffp-contract=off",)}


@dataclass(frozen=True)
class Loop:
    """A kernel, how it is scheduled, and the sizes and arrays of a call."""

    kernel: af.Kernel
    schedule: Callable[[af.Schedule, bool], af.Schedule]
    sizes: dict[str, int]
    arrays: Callable[[np.random.Generator], list[np.ndarray]]


@af.kernel
def dot(x: af.f32[N], y: af.f32[N], r: af.f32[1]):
    """A dot product."""
    with af.for_(N) as i:
        r[0] += x[i] * y[i]


@af.kernel
def saxpy(x: af.f32[N], y: af.f32[N], a: af.f32[1]):
    """A multiple of a vector added to another one."""
    with af.for_(N) as i:
        y[i] += a[0] * x[i]


@af.kernel
def squares(x: af.f32[N], r: af.f32[1]):
    """The sum of squares."""
    with af.for_(N) as i:
        r[0] += x[i] * x[i]


@af.kernel
def least(x: af.f32[N], r: af.f32[1]):
    """The smallest number."""
    with af.for_(N, iter_args=r[0]) as (i, best):
        af.yield_(af.select(x[i] < best, x[i], best))
    r[0] = best


@af.kernel
def where_least(x: af.f32[N], r: af.f32[1], at: af.i64[1]):
    """The smallest number, and where it is first."""
    with af.for_(N, iter_args=(r[0], at[0])) as (i, best, place):
        less = x[i] < best
        af.yield_(af.select(less, x[i], best), af.select(less, af.i64(i), place))
    r[0] = best
    at[0] = place


@af.kernel
def stencil(a: af.f32[M, N], b: af.f32[M, N]):
    """The mean of five neighbours."""
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i - 1, j] + a[i + 1, j])


@af.kernel
def softmax(x: af.f32[M, N], y: af.f32[M, N], t: af.f32[M]):
    """Exponentials over their sum, row by row."""
    with af.for_(M) as i:
        t[i] = 0.0
        with af.for_(N) as j:
            y[i, j] = af.exp(x[i, j])
            t[i] += y[i, j]
        with af.for_(N) as k:
            y[i, k] = y[i, k] / t[i]


@af.kernel
def rows(a: af.f32[M, N], x: af.f32[N], y: af.f32[M]):
    """A matrix times a vector."""
    with af.for_(M) as i, af.for_(N) as j:
        y[i] += a[i, j] * x[j]


@af.kernel
def columns(a: af.f32[M, N], x: af.f32[M], y: af.f32[N]):
    """A transposed matrix times a vector."""
    with af.for_(M) as i, af.for_(N) as j:
        y[j] += a[i, j] * x[i]


@af.kernel
def grey(image: af.f32[N, 3], out: af.f32[N]):
    """The brightness of pixels with three colours each."""
    with af.for_(N) as i:
        out[i] = 0.299 * image[i, 0] + 0.587 * image[i, 1] + 0.114 * image[i, 2]


@af.kernel
def masked(x: af.f32[N], m: af.i32[N], r: af.f32[1]):
    """The sum of the numbers that a mask leaves."""
    total = af.var(r[0])
    with af.for_(N) as i, af.if_(m[i] > 0):
        total += x[i]
    r[0] = total


@af.kernel
def bytes_dot(x: af.i8[N], y: af.i8[N], r: af.i32[1]):
    """A dot product of bytes."""
    with af.for_(N) as i:
        r[0] += af.i32(x[i]) * af.i32(y[i])


@af.kernel
def threshold(x: af.f32[N], y: af.f32[N], t: af.f32[1]):
    """Ones where a number is above a threshold."""
    with af.for_(N) as i:
        y[i] = af.select(x[i] > t[0], af.f32(1), af.f32(0))


def of_sum(s: af.Schedule, fast: bool) -> af.Schedule:
    """A sum of all elements."""
    s.scalar_replace("i").vectorize("i", WIDE if fast else LANES, reassociate=fast)
    return s.contract("i") if fast else s


def of_elements(s: af.Schedule, fast: bool) -> af.Schedule:
    """Elements one by one."""
    s.vectorize("i", WIDE)
    return s.contract("i") if fast else s


def floats(*shapes: int | tuple[int, ...]) -> Callable[[np.random.Generator], list[np.ndarray]]:
    """Arrays of numbers between 0 and 1."""
    return lambda random: [random.random(shape, np.float32) for shape in shapes]


LOOPS = {
    "dot": Loop(dot, of_sum, {"N": 4096}, floats(4096, 4096, 1)),
    "saxpy": Loop(saxpy, of_elements, {"N": 4096}, floats(4096, 4096, 1)),
    "sum of squares": Loop(squares, of_sum, {"N": 4096}, floats(4096, 1)),
    "minimum": Loop(
        least, lambda s, fast: s.vectorize("i", WIDE if fast else LANES, reassociate=fast), {"N": 4096},
        floats(4096, 1),
    ),
    "arg-min": Loop(
        where_least, lambda s, fast: s.vectorize("i", LANES), {"N": 4096},
        lambda random: [random.random(4096, np.float32), np.ones(1, np.float32), np.zeros(1, np.int64)],
    ),
    "5-point stencil": Loop(
        stencil, lambda s, fast: s.vectorize("j", LANES, tail="masked"),
        {"M": 128, "N": 128}, floats((128, 128), (128, 128)),
    ),
    "row softmax": Loop(
        softmax, lambda s, fast: of_softmax(s, fast),
        {"M": 64, "N": 128}, floats((64, 128), (64, 128), 64),
    ),
    "matrix times vector": Loop(
        rows, lambda s, fast: of_rows(s, fast), {"M": 128, "N": 128}, floats((128, 128), 128, 128),
    ),
    "transposed matrix times vector": Loop(
        columns, lambda s, fast: of_columns(s, fast), {"M": 128, "N": 128}, floats((128, 128), 128, 128),
    ),
    "RGB to grey": Loop(grey, of_elements, {"N": 4096}, floats((4096, 3), 4096)),
    "sum under a mask": Loop(
        masked,
        lambda s, fast: s.scalar_replace("i").vectorize("i", WIDE, reassociate=True) if fast else s.scalar_replace("i"),
        {"N": 4096},
        lambda random: [
            random.random(4096, np.float32), random.integers(0, 2, 4096).astype("i4"), np.zeros(1, "f4"),
        ],
    ),
    "dot of bytes": Loop(
        bytes_dot, lambda s, fast: s.scalar_replace("i").vectorize("i", 4 * HERE.lanes(8)), {"N": 16384},
        lambda random: [*(random.integers(-9, 9, 16384).astype(np.int8) for _ in "xy"), np.zeros(1, np.int32)],
    ),
    "threshold": Loop(threshold, lambda s, fast: s.vectorize("i", WIDE), {"N": 4096}, floats(4096, 4096, 1)),
}  # fmt: skip


def of_softmax(s: af.Schedule, fast: bool) -> af.Schedule:
    """Exponentials, which C has for one number, or vectors have by a polynomial, and quotients."""
    if not fast:
        return s.scalar_replace("j").vectorize("k", LANES)
    s.approximate("j").scalar_replace("j").vectorize("j", WIDE, reassociate=True).contract("j")
    return s.hoist("k").reciprocal("k").vectorize("k", WIDE)


def of_rows(s: af.Schedule, fast: bool) -> af.Schedule:
    """A sum in each row: some rows at once, or in their order, a row in each lane."""
    if not fast:
        return s.vectorize("i", LANES).scalar_replace("j")
    s.unroll_jam("i", 4).scalar_replace("j").vectorize("j", 2 * LANES, reassociate=True)
    return s.contract("j")


def of_columns(s: af.Schedule, fast: bool) -> af.Schedule:
    """A sum in each column: vectors of columns stay in registers over all rows."""
    s.interchange("i", "j")
    s.vectorize("j", 2 * WIDE).scalar_replace("i")
    return s.contract("i") if fast else s


def main() -> None:
    """Print a line for each loop, and the geometric means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=LOOPS, default=LOOPS)
    chosen = parser.parse_args().only
    compilers = [path for path in map(which, ("gcc", "clang-22", "clang")) if path][:2]
    for mode, flags in PEERS.items():
        names = ", ".join(Path(compiler).name for compiler in compilers)
        print(f"{mode}: ours beside the loop as it is written, each by the better of {names}")
        ratios = []
        with tempfile.TemporaryDirectory() as folder:
            for name in chosen:
                best, each = compared(LOOPS[name], mode == "fast", compilers, flags, Path(folder))
                ratios.append(best)
                print(f"    {name:32} {best:5.2f}   ({each})", flush=True)
        print(f"    geometric mean {geometric_mean(ratios):.2f}, least {min(ratios):.2f}")


def compared(loop: Loop, fast: bool, compilers: Sequence[str], flags: Sequence[str], folder: Path) -> tuple[float, str]:
    """How often as long the better peer takes, and each time in microseconds."""
    scheduled = loop.schedule(af.Schedule(loop.kernel), fast).kernel()
    mine = emit(
        split_vectors(scheduled.module, HERE.width), scheduled.module.functions[-1].symbol, sizes=len(loop.sizes)
    )
    plain = emit(loop.kernel.module, loop.kernel.module.functions[-1].symbol, sizes=len(loop.sizes))
    built = {}
    for side, written, given in (("ours", mine, MINE), ("as written", plain, flags)):
        for compiler in compilers:
            name = f"{side} by {Path(compiler).name}"
            path = folder / f"{mine.name}_{fast}_{name.replace(' ', '_')}"
            built[name] = library(written.whole, written.name, loop, compiler, given, path)
    arrays = loop.arrays(np.random.default_rng(0))
    results = {}
    for name, call in built.items():
        given = [a.copy() for a in arrays]
        call(1, given)
        results[name] = given
    first = next(iter(results.values()))
    for name, given in results.items():
        for a, b in zip(given, first, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, err_msg=name)
    work = [a.copy() for a in arrays]
    times: dict[str, list[float]] = {name: [] for name in built}
    for name, call in built.items():
        start = time.perf_counter()
        call(1, work)
        times[name] = [max(time.perf_counter() - start, 1e-7)]
    ours, theirs = ([name for name in built if name.startswith(side)] for side in ("ours", "as written"))
    count = max(1, int(SECONDS / min(times[name][0] for name in ours)))
    times = {name: [] for name in built}
    for _ in range(ROUNDS):
        for name, call in built.items():
            start = time.perf_counter()
            call(count, work)
            times[name].append((time.perf_counter() - start) / count)
    ratios = [min(times[name][k] for name in theirs) / min(times[name][k] for name in ours) for k in range(ROUNDS)]
    return median(ratios), ", ".join(f"{name} {1e6 * median(ts):.2f} us" for name, ts in times.items())


def library(
    source: str, name: str, loop: Loop, compiler: str, flags: Sequence[str], path: Path
) -> Callable[[int, list[np.ndarray]], None]:
    """A compiled kernel that is called from C, as often as one says."""
    arrays = loop.arrays(np.random.default_rng(0))
    pointers = ", ".join(["int64_t"] * len(loop.sizes) + ["void *"] * len(arrays))
    arguments = loop.kernel.module.functions[-1].args[: len(loop.sizes)]
    given = ", ".join([*(str(loop.sizes[value.hint]) for value in arguments), *(f"p[{k}]" for k in range(len(arrays)))])
    driver = (
        f"#include <stdint.h>\nvoid {name}({pointers});\n"
        f"void repeat(int64_t times, void **p) {{ for (; times > 0; --times) {name}({given}); }}\n"
    )
    path.mkdir()
    (path / "kernel.c").write_text(source)
    (path / "driver.c").write_text(driver)
    command = [compiler, *FULL_WIDTH, *flags, "kernel.c", "driver.c", "-o", "both.so", "-lm"]
    subprocess.run(command, cwd=path, check=True)
    repeat = ctypes.CDLL(str(path / "both.so")).repeat

    def call(times: int, arrays: list[np.ndarray]) -> None:
        repeat(ctypes.c_int64(times), (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays)))

    return call


if __name__ == "__main__":
    main()
