"""Layers of neural networks without convolutions: activations, norms, pooling, losses, steps of training."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import affdsl as af
from benchmarks.fields.given import below
from benchmarks.idioms.idiom import Group, K, M, N

LOOPS = Group("layers")


@af.kernel
def batch_norm(x: af.f32[M, N, K], mean: af.f32[N], var: af.f32[N], g: af.f32[N], b: af.f32[N], y: af.f32[M, N, K]):
    with af.for_(M) as n, af.for_(N) as c, af.for_(K) as p:
        y[n, c, p] = (x[n, c, p] - mean[c]) / af.sqrt(var[c] * var[c] + 1e-5) * g[c] + b[c]


@LOOPS.beside(batch_norm, tolerance=1e-5, M=16, N=64, K=784)
def _(x, mean, var, g, b, y):
    y[:] = (x - mean[:, None]) / np.sqrt(var * var + 1e-5)[:, None] * g[:, None] + b[:, None]


@af.kernel
def gelu(x: af.f32[N], y: af.f32[N]):
    with af.for_(N) as i:
        y[i] = 0.5 * x[i] * (1.0 + af.tanh(0.7978845608 * (x[i] + 0.044715 * x[i] * x[i] * x[i])))


@LOOPS.beside(gelu, tolerance=1e-5, N=100000)
def _(x, y):
    y[:] = 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


@af.kernel
def leaky(x: af.f32[N], y: af.f32[N]):
    with af.for_(N) as i:
        y[i] = af.select(x[i] > 0, x[i], 0.01 * x[i])


@LOOPS.beside(leaky, tolerance=1e-5, N=200000)
def _(x, y):
    y[:] = np.where(x > 0, x, 0.01 * x)


@af.kernel
def rotary(x: af.f32[M, 2 * N], co: af.f32[M, N], si: af.f32[M, N], y: af.f32[M, 2 * N]):
    with af.for_(M) as t, af.for_(N) as j:
        y[t, 2 * j] = x[t, 2 * j] * co[t, j] - x[t, 2 * j + 1] * si[t, j]
        y[t, 2 * j + 1] = x[t, 2 * j] * si[t, j] + x[t, 2 * j + 1] * co[t, j]


@LOOPS.beside(rotary, tolerance=1e-5, M=512, N=64)
def _(x, co, si, y):
    y[:, ::2] = x[:, ::2] * co - x[:, 1::2] * si
    y[:, 1::2] = x[:, ::2] * si + x[:, 1::2] * co


@af.kernel
def lstm_cell(g: af.f32[M, 4, N], c: af.f32[M, N], h: af.f32[M, N]):
    with af.for_(M) as b, af.for_(N) as j:

        def s(t):
            return 1.0 / (1.0 + af.exp(-t))

        c[b, j] = s(g[b, 0, j]) * c[b, j] + s(g[b, 1, j]) * af.tanh(g[b, 2, j])
        h[b, j] = s(g[b, 3, j]) * af.tanh(c[b, j])


@LOOPS.beside(lstm_cell, tolerance=1e-5, M=64, N=64)
def _(g, c, h):
    i, f, o = (1 / (1 + np.exp(-g[:, k])) for k in (1, 0, 3))
    c[:] = f * c + i * np.tanh(g[:, 2])
    h[:] = o * np.tanh(c)


@af.kernel
def max_pool_nhwc(x: af.f32[2 * N, 2 * N, K], y: af.f32[N, N, K]):
    with af.for_(N) as i, af.for_(N) as j, af.for_(K) as c:
        y[i, j, c] = af.max(
            af.max(x[2 * i, 2 * j, c], x[2 * i, 2 * j + 1, c]),
            af.max(x[2 * i + 1, 2 * j, c], x[2 * i + 1, 2 * j + 1, c]),
        )


@LOOPS.beside(max_pool_nhwc, N=56, K=64)
def _(x, y):
    y[:] = np.maximum(np.maximum(x[::2, ::2], x[::2, 1::2]), np.maximum(x[1::2, ::2], x[1::2, 1::2]))


@af.kernel
def pool_three_by_three(x: af.f32[M, N, N], y: af.f32[M, N - 2, N - 2]):
    with af.for_(M) as c, af.for_(N - 2) as i, af.for_(N - 2) as j:
        m = af.var(x[c, i, j])
        with af.for_(3) as a, af.for_(3) as b:
            m.set(af.max(m, x[c, i + a, j + b]))
        y[c, i, j] = m


@LOOPS.beside(pool_three_by_three, M=64, N=56)
def _(x, y):
    y[:] = sliding_window_view(x, (3, 3), axis=(1, 2)).max(axis=(3, 4))


@af.kernel
def average_pool_backward(g: af.f32[K, M, N], x: af.f32[K, 2 * M, 2 * N]):
    with af.for_(K) as c, af.for_(2 * M) as i, af.for_(2 * N) as j:
        x[c, i, j] = 0.25 * g[c, i // 2, j // 2]


@LOOPS.beside(average_pool_backward, M=28, N=28, K=32)
def _(g, x):
    x[:] = np.repeat(np.repeat(np.float32(0.25) * g, 2, axis=1), 2, axis=2)


@af.kernel
def dropped_out(x: af.f32[N], r: af.u8[N], y: af.f32[N]):
    with af.for_(N) as i:
        y[i] = af.select(r[i] < 205, x[i] * 1.25, af.f32(0))


@LOOPS.beside(dropped_out, tolerance=1e-5, N=100000)
def _(x, r, y):
    y[:] = np.where(r < 205, x * np.float32(1.25), np.float32(0))


@af.kernel
def cross_entropy(x: af.f32[M, N], label: af.i32[M], loss: af.f32[M]):
    with af.for_(M) as i:
        m, s = af.var(x[i, 0]), af.var(af.f32(0))
        with af.for_(1, N) as j:
            m.set(af.max(m, x[i, j]))
        with af.for_(N) as j:
            s += af.exp(x[i, j] - m)
        loss[i] = af.log(s) + m - x[i, label[i]]


@LOOPS.beside(cross_entropy, given={"label": below("N", "M")}, tolerance=1e-5, M=256, N=1000)
def _(x, label, loss):
    m = x.max(axis=1)
    loss[:] = np.log(np.exp(x - m[:, None]).sum(axis=1)) + m - x[np.arange(len(x)), label]


@af.kernel
def huber(x: af.f64[N], y: af.f64[N], out: af.f64[1]):
    s = af.var(af.f64(0))
    with af.for_(N) as i:
        d = af.abs(x[i] - y[i])
        s += af.select(d < 1.0, 0.5 * d * d, d - 0.5)
    out[0] = s


@LOOPS.beside(huber, tolerance=1e-10, N=100000)
def _(x, y, out):
    d = np.abs(x - y)
    out[0] = np.where(d < 1, 0.5 * d * d, d - 0.5).sum()


@af.kernel
def adam(w: af.f32[N], g: af.f32[N], m: af.f32[N], v: af.f32[N]):
    with af.for_(N) as i:
        m[i] = 0.9 * m[i] + 0.1 * g[i]
        v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i]
        w[i] -= 0.001 * m[i] / (af.sqrt(v[i]) + 1e-8)


@LOOPS.beside(adam, given={"v": lambda r, s: r.random(s["N"], "f4")}, tolerance=1e-5, N=100000)
def _(w, g, m, v):
    m[:] = 0.9 * m + 0.1 * g
    v[:] = 0.999 * v + 0.001 * g * g
    w -= 0.001 * m / (np.sqrt(v) + 1e-8)


@af.kernel
def dense_backward(
    dy: af.f32[M, N], x: af.f32[M, K], w: af.f32[K, N], dx: af.f32[M, K], dw: af.f32[K, N], db: af.f32[N]
):
    with af.for_(M) as m, af.for_(K) as k, af.for_(N) as n:
        dx[m, k] += dy[m, n] * w[k, n]
    with af.for_(M) as m, af.for_(K) as k, af.for_(N) as n:
        dw[k, n] += x[m, k] * dy[m, n]
    with af.for_(M) as m, af.for_(N) as n:
        db[n] += dy[m, n]


@LOOPS.beside(dense_backward, tolerance=1e-4, M=64, N=256, K=128)
def _(dy, x, w, dx, dw, db):
    dx += dy @ w.T
    dw += x.T @ dy
    db += dy.sum(axis=0)


@af.kernel
def embedding_gradient(token: af.i32[M], g: af.f32[M, N], w: af.f32[K, N]):
    with af.for_(M) as t, af.for_(N) as j:
        w[token[t], j] += g[t, j]


@LOOPS.beside(embedding_gradient, given={"token": below("K", "M")}, tolerance=1e-5, M=2000, N=64, K=1000)
def _(token, g, w):
    np.add.at(w, token, g)
