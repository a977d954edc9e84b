"""Image pipelines and layers of networks: kernels, and arrays to call them with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import affdsl as af
from benchmarks import fusion
from benchmarks.everyday.rows import softmax_of_rows
from benchmarks.layers import attention

SIZE = 2048
"""Of images, both ways."""
B, C, H, K, M, N, W = af.symbols("B C H K M N W")
Arrays = list[np.ndarray]


@dataclass(frozen=True)
class Stage:
    """A kernel, and what it is called with."""

    kernel: af.Kernel
    arguments: Callable[[np.random.Generator], Arrays]


@af.kernel
def convolution(x: af.f32[B, C, H + 2, W + 2], w: af.f32[K, C, 3, 3], y: af.f32[B, K, H, W]):
    """A layer of convolutions, 3 x 3, of images of several channels."""
    with af.for_(B) as b, af.for_(K) as k, af.for_(H) as i, af.for_(W) as j:
        total = af.var(af.f32(0))
        with af.for_(C) as c, af.for_(3) as p, af.for_(3) as q:
            total += x[b, c, i + p, j + q] * w[k, c, p, q]
        y[b, k, i, j] = total


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


@af.kernel
def products_of_16(a: af.f32[B, 16, 16], b: af.f32[B, 16, 16], c: af.f32[B, 16, 16]):
    """Many products of small matrices."""
    with af.for_(B) as n, af.for_(16) as i, af.for_(16) as j:
        total = af.var(af.f32(0))
        with af.for_(16) as k:
            total += a[n, i, k] * b[n, k, j]
        c[n, i, j] = total


def _image(r: np.random.Generator) -> Arrays:
    return [r.random((SIZE, SIZE), np.float32), np.zeros((SIZE, SIZE), np.float32)]


def _random(*shapes: tuple[int, ...]) -> Callable[[np.random.Generator], Arrays]:
    return lambda r: [r.normal(size=shape).astype(np.float32) for shape in shapes]


KERNELS = {
    "blur": Stage(fusion.blur, _image),
    "unsharp": Stage(fusion.unsharp, _image),
    "harris": Stage(fusion.harris, _image),
    "convolution": Stage(convolution, _random((2, 32, 66, 66), (32, 32, 3, 3), (2, 32, 64, 64))),
    "softmax": Stage(softmax_of_rows, _random((1000, 1024), (1000, 1024))),
    "layer norm": Stage(layer_norm, _random((2000, 1024), (1024,), (1024,), (2000, 1024))),
    "attention": Stage(attention, _random(*[(512, 64)] * 3, (512, 512), (512, 64))),
    "batched gemm": Stage(products_of_16, _random(*[(2000, 16, 16)] * 3)),
}
