"""Image pipelines and layers of networks by `optimize()`, beside numba, and Halide and torch where they are.

    python -m benchmarks.pipelines
    python -m benchmarks.pipelines --threads 2 --wait

Each has two rows. In the first one, strict, ours rounds as the loops are written, numba as it does by itself, and
Halide by `strict_float`; torch, which sums up in orders of its own, has no place in it. In the second one all may
round in another way. A ratio is the median over rounds, in which all take turns, of how many times longer the best
peer takes: above 1 is ours. With one thread, time of the processor is measured; with more, that of the clock, so that
nothing else may run: all is compiled first, `--wait` waits until the machine is quiet, and the timing of all takes a
minute at most. With more, numba has `parallel=True` and `prange`, Halide parallel schedules, and torch threads of its
own. Results are compared with NumPy's. Halide has blur, unsharp and harris: by its autoschedulers, and by hand.
"""

from __future__ import annotations

import argparse
import math
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time

import numba
import numpy as np
from numba import prange

import affdsl as af
from benchmarks import fusion
from benchmarks.everyday.rows import softmax_of_rows
from benchmarks.layers import attention

try:
    from benchmarks import halide_stencils
except ImportError:  # the package halide is an extra
    halide_stencils = None
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as Halide waits: others may need the processor; read by torch
try:
    from benchmarks import torch_layers
except ImportError:  # a large package, which nothing else needs
    torch_layers = None

ALL = dict.fromkeys(("contract", "reassociate", "reciprocal", "approximate"), True)
ROWS = ("strict", "allowed")
SECONDS, ROUNDS, SIZE = 2.0, 2000, 2048
B, C, H, K, M, N, W = af.symbols("B C H K M N W")
Arrays = list[np.ndarray]


@dataclass(frozen=True)
class Pipeline:
    """A kernel, the same loops for numba, and what NumPy makes of the arguments.

    Attributes
    ----------
    wanted
        What is left in the last argument.
    """

    kernel: af.Kernel
    loops: Callable[..., object]
    arguments: Callable[[np.random.Generator], Arrays]
    wanted: Callable[[Arrays], np.ndarray]


@af.kernel
def convolution(x: af.f32[B, C, H + 2, W + 2], w: af.f32[K, C, 3, 3], y: af.f32[B, K, H, W]):
    """A layer of convolutions, 3 x 3, of images of several channels."""
    with af.for_(B) as b, af.for_(K) as k, af.for_(H) as i, af.for_(W) as j:
        total = af.var(af.f32(0))
        with af.for_(C) as c, af.for_(3) as p, af.for_(3) as q:
            total += x[b, c, i + p, j + q] * w[k, c, p, q]
        y[b, k, i, j] = total


def convolution_loops(x, w, y):
    """The loops of the kernel."""
    for task in prange(y.shape[0] * y.shape[1]):
        b, k = task // y.shape[1], task % y.shape[1]
        for i in range(y.shape[2]):
            for j in range(y.shape[3]):
                total = np.float32(0)
                for c in range(x.shape[1]):
                    for p in range(3):
                        for q in range(3):
                            total += x[b, c, i + p, j + q] * w[k, c, p, q]
                y[b, k, i, j] = total


def convolution_wanted(given: Arrays) -> np.ndarray:
    """The result by nine products."""
    x, w, y = given
    found = np.zeros_like(y)
    h, width = y.shape[2:]
    for p in range(3):
        for q in range(3):
            found += np.einsum("bcij,kc->bkij", x[:, :, p : p + h, q : q + width], w[:, :, p, q], optimize=True)
    return found


@af.kernel
def layer_norm(x: af.f32[M, N], gain: af.f32[N], bias: af.f32[N], y: af.f32[M, N]):
    """Each row less its mean, over its deviation, then scaled and shifted."""
    with af.for_(M) as i:
        mean = af.var(af.f32(0))
        with af.for_(N) as j:
            mean += x[i, j]
        mean.set(mean / af.f32(N))
        square = af.var(af.f32(0))
        with af.for_(N) as j:
            square += (x[i, j] - mean) * (x[i, j] - mean)
        scale = 1 / af.sqrt(square / af.f32(N) + 1e-5)
        with af.for_(N) as j:
            y[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]


def layer_norm_loops(x, gain, bias, y):
    """The loops of the kernel."""
    n = x.shape[1]
    for i in prange(x.shape[0]):
        mean = np.float32(0)
        for j in range(n):
            mean += x[i, j]
        mean = mean / np.float32(n)
        square = np.float32(0)
        for j in range(n):
            square += (x[i, j] - mean) * (x[i, j] - mean)
        scale = np.float32(1) / np.sqrt(square / np.float32(n) + np.float32(1e-5))
        for j in range(n):
            y[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]


def layer_norm_wanted(given: Arrays) -> np.ndarray:
    """The result by NumPy."""
    x, gain, bias, _ = given
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * gain + bias


def attention_loops(q, k, v, s, out):
    """The loops of the kernel, in the order that suits numba: all of a row at once."""
    for i in prange(q.shape[0]):
        largest = np.float32(-np.inf)
        for j in range(q.shape[0]):
            total = np.float32(0)
            for d in range(q.shape[1]):
                total += q[i, d] * k[j, d]
            s[i, j] = total * np.float32(0.125)
            largest = max(largest, s[i, j])
        weights = np.float32(0)
        for j in range(q.shape[0]):
            s[i, j] = math.exp(s[i, j] - largest)
            weights += s[i, j]
        for d in range(q.shape[1]):
            out[i, d] = np.float32(0)
        for j in range(q.shape[0]):
            for d in range(q.shape[1]):
                out[i, d] += s[i, j] / weights * v[j, d]


def attention_wanted(given: Arrays) -> np.ndarray:
    """The result by NumPy."""
    q, k, v, _, _ = given
    s = np.exp(q @ k.T * 0.125)
    return s / s.sum(1, keepdims=True) @ v


@af.kernel
def products_of_16(a: af.f32[B, 16, 16], b: af.f32[B, 16, 16], c: af.f32[B, 16, 16]):
    """Many products of small matrices."""
    with af.for_(B) as n, af.for_(16) as i, af.for_(16) as j:
        total = af.var(af.f32(0))
        with af.for_(16) as k:
            total += a[n, i, k] * b[n, k, j]
        c[n, i, j] = total


def products_of_16_loops(a, b, c):
    """The loops of the kernel, along rows."""
    for n in prange(a.shape[0]):
        for i in range(16):
            for j in range(16):
                c[n, i, j] = np.float32(0)
            for k in range(16):
                for j in range(16):
                    c[n, i, j] += a[n, i, k] * b[n, k, j]


def softmax_loops(x, y):
    """The loops of the kernel."""
    for i in prange(x.shape[0]):
        largest = x[i, 0]
        for j in range(x.shape[1]):
            largest = max(largest, x[i, j])
        total = np.float32(0)
        for j in range(x.shape[1]):
            y[i, j] = math.exp(x[i, j] - largest)
            total += y[i, j]
        for j in range(x.shape[1]):
            y[i, j] = y[i, j] / total


def softmax_wanted(given: Arrays) -> np.ndarray:
    """The result by NumPy."""
    s = np.exp(given[0] - given[0].max(1, keepdims=True))
    return s / s.sum(1, keepdims=True)


def blur_loops(image, out):
    """The loops of the kernel."""
    third = np.float32(1 / 3)
    rows = np.empty_like(image)
    n, m = image.shape
    for i in prange(n):
        for j in range(1, m - 1):
            rows[i, j] = (image[i, j - 1] + image[i, j] + image[i, j + 1]) * third
    for i in prange(1, n - 1):
        for j in range(1, m - 1):
            out[i, j] = (rows[i - 1, j] + rows[i, j] + rows[i + 1, j]) * third


def unsharp_loops(image, out):
    """The loops of the kernel, row by row."""
    four, six, sixteenth = np.float32(4), np.float32(6), np.float32(0.0625)
    n, m = image.shape
    rows = np.empty_like(image)
    for i in prange(2, n - 2):
        for j in range(m):
            near = image[i - 2, j] + image[i - 1, j] * four + image[i, j] * six + image[i + 1, j] * four
            rows[i, j] = (near + image[i + 2, j]) * sixteenth
        for j in range(2, m - 2):
            near = rows[i, j - 2] + rows[i, j - 1] * four + rows[i, j] * six + rows[i, j + 1] * four
            both = (near + rows[i, j + 2]) * sixteenth
            sharp = image[i, j] * four - both * np.float32(3)
            out[i, j] = image[i, j] if abs(image[i, j] - both) < np.float32(0.01) else sharp


def harris_loops(image, out):
    """The loops of the kernel, as one would fuse them by hand."""
    two, twelfth = np.float32(2), np.float32(1 / 12)
    n, m = image.shape
    xx, yy, xy = np.empty_like(image), np.empty_like(image), np.empty_like(image)
    for i in prange(1, n - 1):
        for j in range(1, m - 1):
            ix = (
                (image[i - 1, j + 1] - image[i - 1, j - 1]) + (image[i, j + 1] - image[i, j - 1]) * two
                + (image[i + 1, j + 1] - image[i + 1, j - 1])
            ) * twelfth  # fmt: skip
            iy = (
                (image[i + 1, j - 1] - image[i - 1, j - 1]) + (image[i + 1, j] - image[i - 1, j]) * two
                + (image[i + 1, j + 1] - image[i - 1, j + 1])
            ) * twelfth  # fmt: skip
            xx[i, j], yy[i, j], xy[i, j] = ix * ix, iy * iy, ix * iy
    for i in prange(2, n - 2):
        for j in range(2, m - 2):
            sxx = syy = sxy = np.float32(0)
            for p in range(-1, 2):
                for q in range(-1, 2):
                    sxx += xx[i + p, j + q]
                    syy += yy[i + p, j + q]
                    sxy += xy[i + p, j + q]
            trace = sxx + syy
            out[i, j] = sxx * syy - sxy * sxy - trace * trace * np.float32(0.04)


def _image(r: np.random.Generator) -> Arrays:
    return [r.random((SIZE, SIZE), np.float32), np.zeros((SIZE, SIZE), np.float32)]


def _by_numpy(name: str) -> Callable[[Arrays], np.ndarray]:
    def wanted(given: Arrays) -> np.ndarray:
        out = np.zeros_like(given[1])
        fusion.CHAINS[name].numpy(given[0], out)
        return out

    return wanted


def _random(*shapes: tuple[int, ...]) -> Callable[[np.random.Generator], Arrays]:
    return lambda r: [r.normal(size=shape).astype(np.float32) for shape in shapes]


PIPELINES = {
    "blur": Pipeline(fusion.blur, blur_loops, _image, _by_numpy("blur")),
    "unsharp": Pipeline(fusion.unsharp, unsharp_loops, _image, _by_numpy("unsharp")),
    "harris": Pipeline(fusion.harris, harris_loops, _image, _by_numpy("harris")),
    "convolution": Pipeline(
        convolution, convolution_loops, _random((2, 32, 66, 66), (32, 32, 3, 3), (2, 32, 64, 64)), convolution_wanted
    ),
    "softmax": Pipeline(softmax_of_rows, softmax_loops, _random((1000, 1024), (1000, 1024)), softmax_wanted),
    "layer norm": Pipeline(
        layer_norm, layer_norm_loops, _random((2000, 1024), (1024,), (1024,), (2000, 1024)), layer_norm_wanted
    ),
    "attention": Pipeline(
        attention, attention_loops, _random(*[(512, 64)] * 3, (512, 512), (512, 64)), attention_wanted
    ),
    "batched gemm": Pipeline(
        products_of_16, products_of_16_loops, _random(*[(2000, 16, 16)] * 3), lambda given: given[0] @ given[1]
    ),
}


@dataclass(frozen=True)
class Race:
    """One row of a pipeline, compiled and found right.

    Attributes
    ----------
    ours
        The kernel that `optimize()` has made.
    calls
        All that run, by their names; ours is `"ours"`.
    given
        The arguments of each.
    """

    name: str
    row: str
    ours: af.Kernel
    calls: dict[str, Callable[..., object]]
    given: Arrays


def prepared(name: str, row: str, threads: int) -> Race:
    """Ours and the peers, after a call of each. Raises AssertionError where a result is none of NumPy's."""
    pipeline, is_fast = PIPELINES[name], row == "allowed"
    given = pipeline.arguments(np.random.default_rng(0))
    wanted = pipeline.wanted(given)
    ours = pipeline.kernel.optimize(threads=threads, **(ALL if is_fast else {}))
    calls: dict[str, Callable[..., object]] = {
        "ours": ours, "numba": numba.njit(fastmath=is_fast, parallel=threads > 1)(pipeline.loops)
    }  # fmt: skip
    if halide_stencils is not None and name in halide_stencils.PIPELINES:
        target = halide_stencils.FAST if is_fast else halide_stencils.STRICT
        calls |= dict(halide_stencils.compiled(name, SIZE, threads, target))
    if torch_layers is not None and is_fast:
        calls["torch"] = torch_layers.compiled(name, threads)
    for label, call in calls.items():
        found = [*(a.copy() for a in given[:-1]), np.zeros_like(given[-1])]
        made = call(*found)
        result = made if label == "torch" else found[-1]
        np.testing.assert_allclose(result, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max(), err_msg=label)
    return Race(name, row, ours, calls, given)


def timed(race: Race, threads: int, rounds: int) -> tuple[float, dict[str, float]]:
    """Milliseconds of ours, and how many times longer each peer takes. The order is another one in each round.

    What a call leaves in the caches, and threads that do not sleep yet, are those of the call before it: none may
    always follow the same one.
    """
    clock = process_time if threads == 1 else perf_counter
    taken: list[dict[str, float]] = []
    order, shuffle = list(race.calls), random.Random(0).shuffle
    start = perf_counter()
    while len(taken) < rounds and (len(taken) < len(order) or perf_counter() - start < SECONDS):
        times = {}
        shuffle(order)
        for label in order:
            begin = clock()
            race.calls[label](*race.given)
            times[label] = clock() - begin
        taken.append(times)
    ratios = {label: median(times[label] / times["ours"] for times in taken) for label in race.calls if label != "ours"}
    return 1e3 * median(times["ours"] for times in taken), ratios


def main(words: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.pipelines", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=PIPELINES, default=[*PIPELINES])
    parser.add_argument("--threads", type=int, default=1, help="for how many (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="at most (default: %(default)s)")
    parser.add_argument("--wait", action="store_true", help="for the return key, once all is compiled")
    parser.add_argument("--explain", action="store_true", help="all that optimize() says")
    line = parser.parse_args(words)
    os.environ["OMP_NUM_THREADS"] = os.environ["HL_NUM_THREADS"] = str(line.threads)
    numba.set_num_threads(line.threads)
    for label, peer in (("Halide", halide_stencils), ("torch", torch_layers)):
        if peer is None:
            print(f"without {label}: pip install {label.lower()}")
    races = [prepared(name, row, line.threads) for name in line.only for row in ROWS]
    if line.wait:
        input("all is compiled and right; the return key starts the timing: ")
    print(f"{line.threads} thread(s): milliseconds of ours, times that the best peer takes longer, and each of them")
    best: dict[str, list[float]] = {row: [] for row in ROWS}
    for race in races:
        time, ratios = timed(race, line.threads, line.rounds)
        best[race.row].append(min(ratios.values()))
        each = ", ".join(f"{label} {ratio:.2f}" for label, ratio in ratios.items())
        print(f"{race.name:14}{race.row:8}{time:9.2f}{min(ratios.values()):8.2f}  {each}", flush=True)
        if line.explain:
            print(race.ours.explain())
    for row, found in best.items():
        mean = math.exp(sum(map(math.log, found)) / len(found))
        print(f"{row}: geometric mean {mean:.2f}, least {min(found):.2f}; wanted: 1.0 for each")


if __name__ == "__main__":
    main()
