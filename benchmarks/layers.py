"""Layers of networks as kernels, which tests take, too: they need nothing but affdsl."""

import affdsl as af

D, N, T = af.symbols("D N T")


@af.kernel
def attention(q: af.f32[T, D], k: af.f32[T, D], v: af.f32[T, D], s: af.f32[T, T], out: af.f32[T, D]):
    """One head: how much each word looks at each other one, and what it sees then."""
    with af.for_(T) as i, af.for_(T) as j:
        total = af.var(af.f32(0))
        with af.for_(D) as d:
            total += q[i, d] * k[j, d]
        s[i, j] = total * 0.125
    with af.for_(T) as i:
        largest = af.var(s[i, 0])
        with af.for_(T) as j:
            largest.set(af.max(largest, s[i, j]))
        weights = af.var(af.f32(0))
        with af.for_(T) as j:
            s[i, j] = af.exp(s[i, j] - largest)
            weights += s[i, j]
        with af.for_(T) as j:
            s[i, j] = s[i, j] / weights
    with af.for_(T) as i, af.for_(D) as d:
        seen = af.var(af.f32(0))
        with af.for_(T) as j:
            seen += s[i, j] * v[j, d]
        out[i, d] = seen


@af.kernel
def gelu(x: af.f32[N], y: af.f32[N]):
    """Each number times about the share of normal numbers below it, by a hyperbolic tangent."""
    with af.for_(N) as i:
        inner = 0.7978845608 * (x[i] + 0.044715 * x[i] * x[i] * x[i])
        y[i] = 0.5 * x[i] * (1 + af.tanh(inner))
