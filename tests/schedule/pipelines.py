"""Kernels of several stages at symbolic sizes, each nest by itself."""

from __future__ import annotations

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
    across, both, sharp = (af.alloc(af.f32[N, M]) for _ in range(3))
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
    dx, dy, xx, xy, yy, sxx, sxy, syy, det, trace = (af.alloc(af.f32[N, M]) for _ in range(10))
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
    e, f = af.alloc(af.f32[N, M]), af.alloc(af.f32[M, K])
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
    largest, power, total = af.alloc(af.f32[N]), af.alloc(af.f32[N, M]), af.alloc(af.f32[N])
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
    mean, centred, variance = af.alloc(af.f32[N]), af.alloc(af.f32[N, M]), af.alloc(af.f32[N])
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
