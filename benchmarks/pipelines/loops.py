"""The same pipelines as loops of plain Python, which numba compiles, and what NumPy makes of their arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import prange

from benchmarks import fusion
from benchmarks.pipelines.kernels import Arrays


@dataclass(frozen=True)
class Peer:
    """The loops of a kernel for numba.

    Attributes
    ----------
    wanted
        What is left in the last argument, by NumPy.
    """

    loops: Callable[..., object]
    wanted: Callable[[Arrays], np.ndarray]


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


def _by_numpy(name: str) -> Callable[[Arrays], np.ndarray]:
    def wanted(given: Arrays) -> np.ndarray:
        out = np.zeros_like(given[1])
        fusion.CHAINS[name].numpy(given[0], out)
        return out

    return wanted


PEERS = {
    "blur": Peer(blur_loops, _by_numpy("blur")),
    "unsharp": Peer(unsharp_loops, _by_numpy("unsharp")),
    "harris": Peer(harris_loops, _by_numpy("harris")),
    "convolution": Peer(convolution_loops, convolution_wanted),
    "softmax": Peer(softmax_loops, softmax_wanted),
    "layer norm": Peer(layer_norm_loops, layer_norm_wanted),
    "attention": Peer(attention_loops, attention_wanted),
    "batched gemm": Peer(products_of_16_loops, lambda given: given[0] @ given[1]),
}
