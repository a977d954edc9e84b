"""Elements that are chosen and put side by side, or taken apart."""

import affdsl as af
from benchmarks.patterns.pattern import Category, N

patterns = Category("packing")


@patterns.add()
def the_positive_ones(a: af.f32[N], b: af.f32[N], out: af.i64[1]):
    with af.for_(N, iter_args=af.i64(0)) as (i, k):
        with af.if_(a[i] > 0.0):
            b[k] = a[i] * 2.0
        af.yield_(k + af.select(a[i] > 0.0, af.i64(1), af.i64(0)))
    out[0] = k


@patterns.add(lambda s: s.scalar_replace("i"))
def the_positive_ones_counted_in_the_branch(a: af.f32[N], b: af.f32[N]):
    k = af.var(af.i64(0))
    with af.for_(N) as i:
        with af.if_(a[i] > 0.0):
            b[k] = a[i] * a[i]
            k += 1


@patterns.add()
def the_numbers_of_the_positive_ones(a: af.f32[N], b: af.i64[N], out: af.i64[1]):
    with af.for_(N, iter_args=af.i64(0)) as (i, k):
        is_positive = a[i] > 0.0
        with af.if_(is_positive):
            b[k] = af.i64(i)
        af.yield_(k + af.select(is_positive, af.i64(1), af.i64(0)))
    out[0] = k


@patterns.add()
def pairs_of_which_the_first_is_larger(a: af.f32[N], b: af.f32[N], c: af.f32[N], d: af.f32[N]):
    with af.for_(N, iter_args=af.i64(0)) as (i, k):
        chosen = a[i] > b[i]
        with af.if_(chosen):
            c[k] = a[i]
            d[k] = b[i] * 0.5
        af.yield_(k + af.select(chosen, af.i64(1), af.i64(0)))


@patterns.add()
def positive_ones_to_the_left_and_others_to_the_right(a: af.f32[N], b: af.f32[N], c: af.f32[N]):
    with af.for_(N, iter_args=(af.i64(0), af.i64(0))) as (i, k, rest):
        is_positive = a[i] > 0.0
        with af.if_(is_positive):
            b[k] = a[i] * 2.0
        with af.else_():
            c[rest] = a[i] * 0.5
        step = af.select(is_positive, af.i64(1), af.i64(0))
        af.yield_(k + step, rest + (1 - step))


@patterns.add()
def packed_ones_put_back(a: af.f32[N], b: af.f32[N], c: af.f32[N]):
    with af.for_(N, iter_args=af.i64(0)) as (i, k):
        with af.if_(a[i] > 0.0):
            c[i] = b[k] * 2.0
        af.yield_(k + af.select(a[i] > 0.0, af.i64(1), af.i64(0)))


@patterns.add()
def two_arrays_side_by_side(a: af.f32[N], b: af.f32[N], c: af.f32[2 * N]):
    with af.for_(N, iter_args=af.i64(0)) as (i, k):
        c[k] = a[i] * 2.0
        c[k + 1] = b[i] * 0.5
        af.yield_(k + 2)


@patterns.add()
def two_arrays_taken_apart(a: af.f32[N], b: af.f32[N], c: af.f32[2 * N]):
    with af.for_(N, iter_args=af.i64(0)) as (i, k):
        a[i] = c[k] * 2.0
        b[i] = c[k + 1] + 1.0
        af.yield_(k + 2)
