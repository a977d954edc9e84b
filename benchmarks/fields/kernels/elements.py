"""Finite elements, and grids of two widths."""

import numpy as np

import affdsl as af
from benchmarks.fields.given import below
from benchmarks.idioms.idiom import Group, K, L, M, N

LOOPS = Group("elements")


@LOOPS.written(given={"node": below("N", "M", 3)}, M=8000, N=4100)
def elements_times_vector(node: af.i32[M, 3], ke: af.f64[M, 3, 3], x: af.f64[N], y: af.f64[N]):
    with af.for_(M) as e:
        u = [x[node[e, b]] for b in range(3)]
        for a in range(3):
            y[node[e, a]] += sum(ke[e, a, b] * u[b] for b in range(3))


@af.kernel
def mass_matrices(jac: af.f64[M, K], phi: af.f64[K, L], me: af.f64[M, L, L]):
    with af.for_(M) as e, af.for_(L) as a, af.for_(L) as b:
        s = af.var(af.f64(0))
        with af.for_(K) as q:
            s += jac[e, q] * phi[q, a] * phi[q, b]
        me[e, a, b] = s


@LOOPS.beside(mass_matrices, tolerance=1e-11, M=1000, K=9, L=8)
def _(jac, phi, me):
    np.einsum("eq,qa,qb->eab", jac, phi, phi, out=me)


@af.kernel
def interpolated_elements(x: af.f64[M, 5, 5, 5], b: af.f64[6, 5], y: af.f64[M, 6, 6, 6]):
    t = af.alloca(af.f64[5, 5, 6])
    u = af.alloca(af.f64[5, 6, 6])
    with af.for_(M) as e:
        with af.for_(5) as i, af.for_(5) as j, af.for_(6) as q:
            s = af.var(af.f64(0))
            with af.for_(5) as k:
                s += b[q, k] * x[e, i, j, k]
            t[i, j, q] = s
        with af.for_(5) as i, af.for_(6) as p, af.for_(6) as q:
            s = af.var(af.f64(0))
            with af.for_(5) as j:
                s += b[p, j] * t[i, j, q]
            u[i, p, q] = s
        with af.for_(6) as o, af.for_(6) as p, af.for_(6) as q:
            s = af.var(af.f64(0))
            with af.for_(5) as i:
                s += b[o, i] * u[i, p, q]
            y[e, o, p, q] = s


@LOOPS.beside(interpolated_elements, tolerance=1e-10, M=300)
def _(x, b, y):
    np.einsum("qk,pj,oi,eijk->eopq", b, b, b, x, optimize=True, out=y)


@LOOPS.written(M=150, N=150)
def prolonged(c: af.f64[M + 1, N + 1], u: af.f64[2 * M + 1, 2 * N + 1]):
    with af.for_(M) as i, af.for_(N) as j:
        u[2 * i, 2 * j] += c[i, j]
        u[2 * i + 1, 2 * j] += 0.5 * (c[i, j] + c[i + 1, j])
        u[2 * i, 2 * j + 1] += 0.5 * (c[i, j] + c[i, j + 1])
        u[2 * i + 1, 2 * j + 1] += 0.25 * (c[i, j] + c[i + 1, j] + c[i, j + 1] + c[i + 1, j + 1])
