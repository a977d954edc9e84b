"""Lattices, spins, and molecules."""

import numpy as np

import affdsl as af
from benchmarks.fields.given import below, row_starts, within
from benchmarks.idioms.idiom import Group, K, M, N

LOOPS = Group("physics")


@af.kernel
def links_times_spinors(u: af.c64[N, 3, 3], x: af.c64[N, 3], y: af.c64[N, 3]):
    with af.for_(N) as s:
        for a in range(3):
            y[s, a] = sum(u[s, a, b].conj() * x[s, b] for b in range(3))


@LOOPS.beside(links_times_spinors, tolerance=1e-5, N=4000)
def _(u, x, y):
    np.einsum("sab,sb->sa", u.conj(), x, out=y)


@af.kernel
def plaquettes(t: af.f64[2, M, N], out: af.f64[1]):
    s = af.var(af.f64(0))
    with af.for_(M) as i, af.for_(N) as j:
        s += af.cos(t[0, i, j] + t[1, (i + 1) % M, j] - t[0, i, (j + 1) % N] - t[1, i, j])
    out[0] = s


@LOOPS.beside(plaquettes, tolerance=1e-10, M=128, N=128)
def _(t, out):
    a, b = t
    out[0] = np.cos(a + np.roll(b, -1, axis=0) - np.roll(a, -1, axis=1) - b).sum()


@LOOPS.written(
    given={
        "s": lambda r, s: r.choice(np.array([-1, 1], "i1"), (s["M"], s["N"])),
        "r": within(0, 1, "M", "N", dtype="f4"),
    },
    M=256,
    N=256,
)
def ising(s: af.i8[M, N], r: af.f32[M, N]):
    with af.for_(2) as colour, af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        with af.if_((i + j + colour) % 2 == 0):
            h = s[i - 1, j] + s[i + 1, j] + s[i, j - 1] + s[i, j + 1]
            with af.if_(r[i, j] < af.exp(-0.8 * af.f32(h * s[i, j]))):
                s[i, j] = -s[i, j]


@LOOPS.written(given={"s": below(2, 2, "N", dtype="u1")}, N=5000, K=30)
def rule_110(s: af.u8[2, N], steps: af.u8[K]):
    with af.for_(K) as t, af.for_(1, N - 1) as i:
        a, b, c = s[t % 2, i - 1], s[t % 2, i], s[t % 2, i + 1]
        s[(t + 1) % 2, i] = (b | c) & ((a & b & c) ^ 1)


@LOOPS.written(
    given={"first": row_starts("N", "K"), "near": below("N", "K"), "x": within(0, 10, "N", 3)}, N=2000, K=60000
)
def lennard_jones(first: af.i32[N + 1], near: af.i32[K], x: af.f64[N, 3], f: af.f64[N, 3]):
    with af.for_(N) as i:
        force = [af.var(af.f64(0)) for _ in range(3)]
        with af.for_(first[i], first[i + 1]) as k:
            d = [x[i, c] - x[near[k], c] for c in range(3)]
            r2 = sum(v * v for v in d)
            with af.if_((r2 < 9.0) & (r2 > 0.5)):
                q = 1 / r2
                q3 = q * q * q
                w = 24 * q * q3 * (2 * q3 - 1)
                for c in range(3):
                    force[c] += w * d[c]
        for c in range(3):
            f[i, c] = force[c]


@af.kernel
def velocity_verlet(x: af.f64[N, 3], v: af.f64[N, 3], f: af.f64[N, 3], m: af.f64[N]):
    with af.for_(N) as i, af.for_(3) as c:
        v[i, c] += 0.5 * 0.01 * f[i, c] / m[i]
        x[i, c] += 0.01 * v[i, c]


@LOOPS.beside(velocity_verlet, given={"m": within(1, 2, "N")}, tolerance=1e-11, N=20000)
def _(x, v, f, m):
    v += 0.5 * 0.01 * f / m[:, None]
    x += 0.01 * v


@af.kernel
def cell_counts(x: af.f32[N, 3], count: af.i32[16, 16, 16]):
    with af.for_(N) as i:
        a, b, c = (af.i32(x[i, d] * 16) for d in range(3))
        count[a, b, c] += 1


@LOOPS.beside(cell_counts, given={"x": within(0, 0.999, "N", 3, dtype="f4")}, N=50000)
def _(x, count):
    cells = (x * 16).astype(np.int32)
    np.add.at(count, tuple(cells.T), 1)
