"""The pipelines of `benchmarks.pipelines` by torch's own functions, each result an array of its own.

Importing it raises ImportError where torch is not installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch.nn import functional

Layer = Callable[..., torch.Tensor]


def blur(image: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """The mean of nine pixels."""
    out[1:-1, 1:-1] = functional.avg_pool2d(image[None, None], 3, 1)[0, 0]
    return out


def unsharp(image: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """An image less its blur, where they differ by much."""
    taps = torch.tensor([1.0, 4.0, 6.0, 4.0, 1.0]) * 0.0625
    rows = functional.conv2d(image[None, None], taps.view(1, 1, 5, 1))
    both = functional.conv2d(rows, taps.view(1, 1, 1, 5))[0, 0]
    inner = image[2:-2, 2:-2]
    out[2:-2, 2:-2] = torch.where((inner - both).abs() < 0.01, inner, inner * 4 - both * 3)
    return out


def harris(image: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """How much a pixel looks like a corner; a sum of nine is nine times their mean."""
    smooth, slope = torch.tensor([1.0, 2.0, 1.0]), torch.tensor([-1.0, 0.0, 1.0]) / 12
    both = torch.stack([smooth[:, None] * slope, slope[:, None] * smooth])[:, None]
    ix, iy = functional.conv2d(image[None, None], both)[0]
    sxx, syy, sxy = functional.avg_pool2d(torch.stack([ix * ix, iy * iy, ix * iy])[None], 3, 1)[0] * 9
    trace = sxx + syy
    out[2:-2, 2:-2] = sxx * syy - sxy * sxy - trace * trace * 0.04
    return out


def convolution(x: torch.Tensor, w: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    """A layer of convolutions."""
    return functional.conv2d(x, w)


def softmax(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Exponentials of rows, over their sum."""
    return torch.softmax(x, 1, out=y)


def layer_norm(x: torch.Tensor, gain: torch.Tensor, bias: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    """Each row less its mean, over its deviation, then scaled and shifted."""
    return functional.layer_norm(x, x.shape[1:], gain, bias, 1e-5)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
    """One head."""
    return functional.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None], scale=0.125)[0, 0]


def batched_gemm(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """Many products of small matrices."""
    return torch.bmm(a, b, out=c)


LAYERS: Mapping[str, Layer] = {
    "blur": blur,
    "unsharp": unsharp,
    "harris": harris,
    "convolution": convolution,
    "softmax": softmax,
    "layer norm": layer_norm,
    "attention": attention,
    "batched gemm": batched_gemm,
}


def compiled(name: str, threads: int) -> Callable[..., np.ndarray]:
    """A pipeline on NumPy's arrays, which torch's tensors share; what it gives is the result."""
    torch.set_num_threads(threads)
    layer = LAYERS[name]

    def call(*given: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return layer(*map(torch.from_numpy, given)).numpy()

    return call
