"""Ranks, distances and neighbours in graphs."""

import numpy as np

import affdsl as af
from benchmarks.fields.given import below, row_starts, within
from benchmarks.idioms.idiom import Group, K, N

LOOPS = Group("graphs")


@af.kernel
def page_rank(source: af.i32[K], target: af.i32[K], degree: af.f64[N], rank: af.f64[N], new: af.f64[N]):
    with af.for_(N) as v:
        new[v] = 0.15 / af.f64(N)
    with af.for_(K) as e:
        new[target[e]] += 0.85 * rank[source[e]] / degree[source[e]]


@LOOPS.beside(
    page_rank,
    given={"source": below("N", "K"), "target": below("N", "K"), "degree": within(1, 20, "N")},
    tolerance=1e-11,
    N=5000,
    K=50000,
)
def _(source, target, degree, rank, new):
    new[:] = 0.15 / len(new)
    np.add.at(new, target, 0.85 * rank[source] / degree[source])


@LOOPS.written(
    given={"source": below("N", "K"), "target": below("N", "K"), "w": within(0, 1, "K", dtype="f4")}, N=5000, K=50000
)
def bellman_ford(source: af.i32[K], target: af.i32[K], w: af.f32[K], d: af.f32[N]):
    with af.for_(K) as e:
        far = d[source[e]] + w[e]
        with af.if_(far < d[target[e]]):
            d[target[e]] = far


@LOOPS.written(
    given={
        "first": row_starts("N", "K"),
        "to": below("N", "K"),
        "level": lambda r, s: r.choice(np.array([-1, -1, 2, 2, 3], "i4"), s["N"]),
        "depth": 3,
    },
    N=20000,
    K=200000,
)
def frontier(first: af.i32[N + 1], to: af.i32[K], level: af.i32[N], depth: af.i32):
    with af.for_(N) as v, af.if_(level[v] == depth):
        with af.for_(first[v], first[v + 1]) as e, af.if_(level[to[e]] < 0):
            level[to[e]] = depth + 1


@LOOPS.written(N=256, K=4)
def triangles(a: af.u64[N, K], edge: af.u8[N, N], out: af.i64[1]):
    s = af.var(af.i64(0))
    with af.for_(N) as i, af.for_(i + 1, N) as j, af.if_(edge[i, j] > 127):
        with af.for_(K) as k:
            s += af.i64(af.ctpop(a[i, k] & a[j, k]))
    out[0] = s
