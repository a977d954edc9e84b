"""Kernels of several stages at symbolic sizes, each nest by itself, with what NumPy says they compute."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import affdsl as af

N, M, D, K = af.symbols("N M D K")


@af.kernel
def blur(image: af.f32[N, M], out: af.f32[N, M]):
    rows = af.alloc(af.f32[N, M])
    with af.for_(N) as i, af.for_(1, M - 1) as j:
        rows[i, j] = image[i, j - 1] + image[i, j] + image[i, j + 1]
    with af.for_(1, N - 1) as k, af.for_(1, M - 1) as m:
        out[k, m] = rows[k - 1, m] + rows[k, m] + rows[k + 1, m]


@af.kernel
def unsharp(image: af.f32[N, M], out: af.f32[N, M]):
    across = af.alloc(af.f32[N, M])
    both = af.alloc(af.f32[N, M])
    sharp = af.alloc(af.f32[N, M])
    with af.for_(N) as i, af.for_(1, M - 1) as j:
        across[i, j] = 0.25 * image[i, j - 1] + 0.5 * image[i, j] + 0.25 * image[i, j + 1]
    with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
        both[i, j] = 0.25 * across[i - 1, j] + 0.5 * across[i, j] + 0.25 * across[i + 1, j]
    with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
        sharp[i, j] = image[i, j] * 2.0 - both[i, j]
    with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
        out[i, j] = af.max(sharp[i, j], image[i, j] - both[i, j])


@af.kernel
def harris(image: af.f32[N, M], out: af.f32[N, M]):
    dx = af.alloc(af.f32[N, M])
    dy = af.alloc(af.f32[N, M])
    xx = af.alloc(af.f32[N, M])
    xy = af.alloc(af.f32[N, M])
    yy = af.alloc(af.f32[N, M])
    sxx = af.alloc(af.f32[N, M])
    sxy = af.alloc(af.f32[N, M])
    syy = af.alloc(af.f32[N, M])
    det = af.alloc(af.f32[N, M])
    trace = af.alloc(af.f32[N, M])
    with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
        left = image[i - 1, j - 1] + 2.0 * image[i, j - 1] + image[i + 1, j - 1]
        right = image[i - 1, j + 1] + 2.0 * image[i, j + 1] + image[i + 1, j + 1]
        dx[i, j] = right - left
    with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
        above = image[i - 1, j - 1] + 2.0 * image[i - 1, j] + image[i - 1, j + 1]
        below = image[i + 1, j - 1] + 2.0 * image[i + 1, j] + image[i + 1, j + 1]
        dy[i, j] = below - above
    for product, a, b in ((xx, dx, dx), (xy, dx, dy), (yy, dy, dy)):
        with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
            product[i, j] = a[i, j] * b[i, j]
    for window, product in ((sxx, xx), (sxy, xy), (syy, yy)):
        with af.for_(2, N - 2) as i, af.for_(2, M - 2) as j:
            window[i, j] = (
                product[i - 1, j - 1] + product[i - 1, j] + product[i - 1, j + 1]
                + product[i, j - 1] + product[i, j] + product[i, j + 1]
                + product[i + 1, j - 1] + product[i + 1, j] + product[i + 1, j + 1]
            )  # fmt: skip
    with af.for_(2, N - 2) as i, af.for_(2, M - 2) as j:
        det[i, j] = sxx[i, j] * syy[i, j] - sxy[i, j] * sxy[i, j]
    with af.for_(2, N - 2) as i, af.for_(2, M - 2) as j:
        trace[i, j] = sxx[i, j] + syy[i, j]
    with af.for_(2, N - 2) as i, af.for_(2, M - 2) as j:
        out[i, j] = det[i, j] - 0.04 * trace[i, j] * trace[i, j]


@af.kernel
def sweeps(a: af.f32[N, N], b: af.f32[N, N]):
    between = [af.alloc(af.f32[N, N]) for _ in range(5)]
    for k, (x, y) in enumerate(zip([a, *between], [*between, b], strict=True), 1):
        with af.for_(k, N - k) as i, af.for_(k, N - k) as j:
            y[i, j] = 0.2 * (x[i, j] + x[i, j - 1] + x[i, j + 1] + x[i - 1, j] + x[i + 1, j])


@af.kernel
def two_products(a: af.f32[N, K], b: af.f32[K, M], c: af.f32[M, D], d: af.f32[N, D]):
    t = af.alloc(af.f32[N, M])
    with af.for_(N) as i, af.for_(M) as j:
        t[i, j] = 0.0
        with af.for_(K) as k:
            t[i, j] += a[i, k] * b[k, j]
    with af.for_(N) as i, af.for_(D) as j:
        d[i, j] = d[i, j] * 1.25
        with af.for_(M) as k:
            d[i, j] += t[i, k] * c[k, j]


@af.kernel
def three_products(a: af.f32[N, K], b: af.f32[K, M], c: af.f32[M, D], d: af.f32[D, K], g: af.f32[N, K]):
    e = af.alloc(af.f32[N, M])
    f = af.alloc(af.f32[M, K])
    with af.for_(N) as i, af.for_(M) as j:
        e[i, j] = 0.0
        with af.for_(K) as k:
            e[i, j] += a[i, k] * b[k, j]
    with af.for_(M) as i, af.for_(K) as j:
        f[i, j] = 0.0
        with af.for_(D) as k:
            f[i, j] += c[i, k] * d[k, j]
    with af.for_(N) as i, af.for_(K) as j:
        g[i, j] = 0.0
        with af.for_(M) as k:
            g[i, j] += e[i, k] * f[k, j]


@af.kernel
def softmax(x: af.f32[N, M], out: af.f32[N, M]):
    largest = af.alloc(af.f32[N])
    power = af.alloc(af.f32[N, M])
    total = af.alloc(af.f32[N])
    with af.for_(N) as i:
        largest[i] = -1000.0
        with af.for_(M) as j:
            largest[i] = af.max(largest[i], x[i, j])
    with af.for_(N) as i, af.for_(M) as j:
        power[i, j] = af.exp(x[i, j] - largest[i])
    with af.for_(N) as i:
        total[i] = 0.0
        with af.for_(M) as j:
            total[i] += power[i, j]
    with af.for_(N) as i, af.for_(M) as j:
        out[i, j] = power[i, j] / total[i]


@af.kernel
def layer_norm(x: af.f32[N, M], scale: af.f32[M], bias: af.f32[M], columns: af.f32, out: af.f32[N, M]):
    mean = af.alloc(af.f32[N])
    centred = af.alloc(af.f32[N, M])
    variance = af.alloc(af.f32[N])
    with af.for_(N) as i:
        mean[i] = 0.0
        with af.for_(M) as j:
            mean[i] += x[i, j] / columns
    with af.for_(N) as i, af.for_(M) as j:
        centred[i, j] = x[i, j] - mean[i]
    with af.for_(N) as i:
        variance[i] = 0.0
        with af.for_(M) as j:
            variance[i] += centred[i, j] * centred[i, j] / columns
    with af.for_(N) as i, af.for_(M) as j:
        out[i, j] = centred[i, j] / af.sqrt(variance[i] + 0.00001) * scale[j] + bias[j]


@af.kernel
def attention(q: af.f32[N, D], k: af.f32[N, D], v: af.f32[N, D], out: af.f32[N, D]):
    scores = af.alloc(af.f32[N, N])
    power = af.alloc(af.f32[N, N])
    largest = af.alloc(af.f32[N])
    total = af.alloc(af.f32[N])
    with af.for_(N) as i, af.for_(N) as j:
        scores[i, j] = 0.0
        with af.for_(D) as d:
            scores[i, j] += q[i, d] * k[j, d]
    with af.for_(N) as i:
        largest[i] = -1000.0
        with af.for_(N) as j:
            largest[i] = af.max(largest[i], scores[i, j])
    with af.for_(N) as i, af.for_(N) as j:
        power[i, j] = af.exp(scores[i, j] - largest[i])
    with af.for_(N) as i:
        total[i] = 0.0
        with af.for_(N) as j:
            total[i] += power[i, j]
    with af.for_(N) as i, af.for_(D) as d:
        out[i, d] = 0.0
        with af.for_(N) as j:
            out[i, d] += power[i, j] * v[j, d] / total[i]


Arrays = Mapping[str, np.ndarray]


def _inner(shape: tuple[int, ...], margin: int) -> tuple[slice, ...]:
    return tuple(slice(margin, max(margin, size - margin)) for size in shape)


def _shifted(x: np.ndarray, margin: int, by: tuple[int, int]) -> np.ndarray:
    """What lies so far away from each element that is `margin` away from all edges."""
    cut = (slice(margin + d, max(margin, size - margin) + d) for size, d in zip(x.shape, by, strict=True))
    return x[tuple(cut)]


def _product(a: np.ndarray, b: np.ndarray, start: np.ndarray) -> np.ndarray:
    """start + a @ b, summed up in the order of the text."""
    total = start.copy()
    for k in range(a.shape[1]):
        total += a[:, k, None] * b[None, k]
    return total


def _summed(rows: np.ndarray) -> np.ndarray:
    """The sum of each row, from the left."""
    total = np.zeros(rows.shape[0], rows.dtype)
    for column in rows.T:
        total += column
    return total


def _softmax(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    power = np.exp(x - np.max(x, axis=1, keepdims=True, initial=-1000.0))
    return power, _summed(power)


def _blurred(x: np.ndarray, weights: tuple[float, ...]) -> np.ndarray:
    """The middle of an image with weights for three columns, then for three rows."""
    near, far = np.float32(weights[0]), np.float32(weights[1])
    rows = np.zeros_like(x)
    wide = slice(1, max(1, x.shape[1] - 1))
    count = max(0, x.shape[1] - 2)
    rows[:, wide] = near * x[:, :count] + far * x[:, wide] + near * x[:, 2:]
    return near * _shifted(rows, 1, (-1, 0)) + far * _shifted(rows, 1, (0, 0)) + near * _shifted(rows, 1, (1, 0))


def expected(name: str, given: Arrays) -> Arrays:
    """What NumPy makes of the arrays of a kernel, rounded as the text says, but for sums of products."""
    x = next(iter(given.values()))
    match name:
        case "blur":
            out = given["out"].copy()
            out[_inner(x.shape, 1)] = _blurred(x, (1.0, 1.0))
        case "unsharp":
            out, soft = given["out"].copy(), _blurred(x, (0.25, 0.5))
            middle = x[_inner(x.shape, 1)]
            out[_inner(x.shape, 1)] = np.maximum(middle * 2 - soft, middle - soft)
        case "harris":
            out = given["out"].copy()
            out[_inner(x.shape, 2)] = _corners(x)
        case "sweeps":
            out, last = given["b"].copy(), x
            for k in range(1, 7):
                here = np.zeros_like(x)
                near = sum(
                    (_shifted(last, k, d) for d in ((0, -1), (0, 1), (-1, 0), (1, 0))), _shifted(last, k, (0, 0))
                )
                here[_inner(x.shape, k)] = np.float32(0.2) * near
                last = here
            out[_inner(x.shape, 6)] = last[_inner(x.shape, 6)]
        case "two_products":
            first = _product(given["a"], given["b"], np.zeros((x.shape[0], given["b"].shape[1]), x.dtype))
            out = _product(first, given["c"], given["d"] * np.float32(1.25))
        case "three_products":
            a, b, c, d = (given[each] for each in "abcd")
            first = _product(a, b, np.zeros((a.shape[0], b.shape[1]), x.dtype))
            second = _product(c, d, np.zeros((c.shape[0], d.shape[1]), x.dtype))
            out = _product(first, second, np.zeros_like(given["g"]))
        case "softmax":
            power, total = _softmax(x)
            out = power / total[:, None]
        case "layer_norm":
            columns = np.float32(max(1, x.shape[1]))
            centred = x - _summed(x / columns)[:, None]
            variance = _summed(centred * centred / columns)
            out = centred / np.sqrt(variance + np.float32(0.00001))[:, None] * given["scale"] + given["bias"]
        case "attention":
            q, k, v = (given[each] for each in "qkv")
            power, total = _softmax(_product(q, k.T, np.zeros((x.shape[0], x.shape[0]), x.dtype)))
            out = np.zeros_like(q)
            for j in range(x.shape[0]):
                out += power[:, j, None] * v[None, j] / total[:, None]
        case _:
            raise AssertionError(f"no kernel is called {name}")
    return {**given, list(given)[-1]: out}


def _corners(x: np.ndarray) -> np.ndarray:
    sides = (-1, 0, 1)

    def edge(sign: int, *, across: bool) -> np.ndarray:
        first, *rest = (
            np.float32(2 - abs(d)) * _shifted(x, 1, (d, sign) if across else (sign, d)) for d in sides
        )  # fmt: skip
        return sum(rest, first)

    def window(product: np.ndarray) -> np.ndarray:
        full = np.zeros_like(x)
        full[_inner(x.shape, 1)] = product
        first, *rest = (_shifted(full, 2, (di, dj)) for di in sides for dj in sides)
        return sum(rest, first)

    dx, dy = (edge(1, across=across) - edge(-1, across=across) for across in (True, False))
    sxx, sxy, syy = window(dx * dx), window(dx * dy), window(dy * dy)
    det, trace = sxx * syy - sxy * sxy, sxx + syy
    return det - np.float32(0.04) * trace * trace
