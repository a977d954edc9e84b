"""Loops in loops: which of them runs on vectors, and in what order."""

import affdsl as af
from benchmarks.patterns.pattern import Category, M, N

patterns = Category("nests")


@patterns.add()
def a_matrix_by_a_vector(a: af.f32[N, M], x: af.f32[M], y: af.f32[N]):
    with af.for_(N) as i:
        with af.for_(M, iter_args=af.f32(0)) as (j, s):
            af.yield_(s + a[i, j] * x[j])
        y[i] = s


@patterns.add()
def a_transposed_matrix_by_a_vector(a: af.f32[M, N], x: af.f32[M], y: af.f32[N]):
    with af.for_(N) as i:
        with af.for_(M, iter_args=af.f32(0)) as (j, s):
            af.yield_(s + a[j, i] * x[j])
        y[i] = s


@patterns.add(loops=("j",))
def five_points(a: af.f32[N, M], b: af.f32[N, M]):
    with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
        b[i, j] = (a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) * 0.2


@patterns.add(loops=("i",))
def columns_that_depend_on_rows_above(a: af.f32[M, N], b: af.f32[N]):
    with af.for_(N) as i, af.for_(1, M) as j:
        a[j, i] = a[j - 1, i] * b[i]


@patterns.add(lambda s: s.permute(("i", "k", "j")), loops=("j",))
def a_matrix_product(a: af.f32[N, M], b: af.f32[M, N], c: af.f32[N, N]):
    with af.for_(N) as i, af.for_(N) as j, af.for_(M) as k:
        c[i, j] += a[i, k] * b[k, j]


@patterns.add(loops=("j",))
def an_outer_product(a: af.f32[N, M], x: af.f32[N], y: af.f32[M]):
    with af.for_(N) as i, af.for_(M) as j:
        a[i, j] += x[i] * y[j]


@patterns.add()
def newton_steps(a: af.f32[N], x: af.f32[N]):
    with af.for_(N) as i:
        with af.for_(4, iter_args=x[i] * 0.5 + 1.0) as (_, y):
            af.yield_(y * (1.5 - 0.5 * a[i] * y * y))
        x[i] = y


@patterns.add()
def sums_of_windows(a: af.f32[N + 5], b: af.f32[N]):
    with af.for_(N) as i:
        with af.for_(5, iter_args=af.f32(0)) as (j, s):
            af.yield_(s + a[i + j])
        b[i] = s


@patterns.add(loops=("j",))
def a_sweep_along_rows_from_both_sides(a: af.f32[N, M]):
    with af.for_(1, N - 1) as i, af.for_(M) as j:
        a[i, j] = (a[i - 1, j] + a[i + 1, j]) * 0.5


@patterns.add()
def sums_below_a_diagonal(a: af.f32[N, N], b: af.f32[N]):
    with af.for_(N) as i:
        with af.for_(i, iter_args=af.f32(0)) as (j, s):
            af.yield_(s + a[j, i])
        b[i] = s
