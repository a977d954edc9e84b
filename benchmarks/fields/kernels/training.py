"""Training and inference of networks: quantization, norms backward, gates."""

import numpy as np

import affdsl as af
from benchmarks.fields.given import within
from benchmarks.idioms.idiom import Group, K, L, M, N

LOOPS = Group("training")


@af.kernel
def quantized_rows(x: af.f32[M, N], q: af.i8[M, N], scale: af.f32[M]):
    with af.for_(M) as i:
        most = af.var(af.f32(0))
        with af.for_(N) as j:
            most.set(af.max(most, af.abs(x[i, j])))
        s = most / 127
        scale[i] = s
        with af.for_(N) as j:
            q[i, j] = af.i8(af.roundeven(x[i, j] / s))


# With everything allowed, a quotient that lies between two integers may become the other one.
@LOOPS.beside(quantized_rows, tolerance=0.01, M=200, N=768)
def _(x, q, scale):
    scale[:] = np.abs(x).max(axis=1) / 127
    q[:] = np.round(x / scale[:, None])


@af.kernel
def group_norm(x: af.f32[M, N, K, L], g: af.f32[N, K], b: af.f32[N, K], y: af.f32[M, N, K, L]):
    with af.for_(M) as n, af.for_(N) as gr:
        s, q = af.var(af.f32(0)), af.var(af.f32(0))
        with af.for_(K) as c, af.for_(L) as p:
            s += x[n, gr, c, p]
            q += x[n, gr, c, p] ** 2
        m = s / af.f32(K * L)
        r = af.rsqrt(q / af.f32(K * L) - m * m + 1e-5)
        with af.for_(K) as c, af.for_(L) as p:
            y[n, gr, c, p] = (x[n, gr, c, p] - m) * r * g[gr, c] + b[gr, c]


@LOOPS.beside(group_norm, tolerance=1e-4, M=8, N=8, K=4, L=196)
def _(x, g, b, y):
    m, v = x.mean(axis=(2, 3), keepdims=True), x.var(axis=(2, 3), keepdims=True)
    y[:] = (x - m) / np.sqrt(v + 1e-5) * g[..., None] + b[..., None]


@af.kernel
def softmax_backward(y: af.f32[M, N], dy: af.f32[M, N], dx: af.f32[M, N]):
    with af.for_(M) as i:
        s = af.var(af.f32(0))
        with af.for_(N) as j:
            s += y[i, j] * dy[i, j]
        with af.for_(N) as j:
            dx[i, j] = y[i, j] * (dy[i, j] - s)


@LOOPS.beside(softmax_backward, tolerance=1e-4, M=300, N=512)
def _(y, dy, dx):
    dx[:] = y * (dy - (y * dy).sum(axis=1)[:, None])


@LOOPS.written(given={"r": within(0.5, 2, "M", dtype="f4")}, M=200, N=512)
def layer_norm_backward(
    x: af.f32[M, N],
    dy: af.f32[M, N],
    mean: af.f32[M],
    r: af.f32[M],
    g: af.f32[N],
    dx: af.f32[M, N],
    dg: af.f32[N],
    db: af.f32[N],
):
    with af.for_(M) as i:
        a, b = af.var(af.f32(0)), af.var(af.f32(0))
        with af.for_(N) as j:
            h = (x[i, j] - mean[i]) * r[i]
            t = dy[i, j] * g[j]
            a += t
            b += t * h
            dg[j] += dy[i, j] * h
            db[j] += dy[i, j]
        with af.for_(N) as j:
            h = (x[i, j] - mean[i]) * r[i]
            dx[i, j] = r[i] * (dy[i, j] * g[j] - a / af.f32(N) - h * (b / af.f32(N)))


@af.kernel
def depth_to_space(x: af.f32[M, N, 2, 2, K], y: af.f32[2 * M, 2 * N, K]):
    with af.for_(2 * M) as i, af.for_(2 * N) as j, af.for_(K) as c:
        y[i, j, c] = x[i // 2, j // 2, i % 2, j % 2, c]


@LOOPS.beside(depth_to_space, M=56, N=56, K=16)
def _(x, y):
    y[:] = x.transpose(0, 2, 1, 3, 4).reshape(y.shape)


@LOOPS.written(M=2000, N=64)
def top_two(x: af.f32[M, N], v: af.f32[M, 2], at: af.i32[M, 2]):
    with af.for_(M) as i:
        a, b = af.var(af.f32(float("-inf"))), af.var(af.f32(float("-inf")))
        p, q = af.var(af.i32(0)), af.var(af.i32(0))
        with af.for_(N) as j:
            with af.if_(x[i, j] > a):
                b.set(a)
                q.set(p)
                a.set(x[i, j])
                p.set(af.i32(j))
            with af.elif_(x[i, j] > b):
                b.set(x[i, j])
                q.set(af.i32(j))
        v[i, 0] = a
        v[i, 1] = b
        at[i, 0] = p
        at[i, 1] = q


@af.kernel
def swiglu(x: af.f32[M, 2 * N], y: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        g = x[i, j]
        y[i, j] = g / (1 + af.exp(-g)) * x[i, N + j]


@LOOPS.beside(swiglu, tolerance=1e-5, M=256, N=512)
def _(x, y):
    g, v = np.split(x, 2, axis=1)
    y[:] = g / (1 + np.exp(-g)) * v
