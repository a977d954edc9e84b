"""Sums, products, extremes and counts."""

import affdsl as af
from benchmarks.patterns.pattern import Category, M, N

patterns = Category("reductions")


@patterns.add()
def a_sum(a: af.f32[N], out: af.f32[1]):
    with af.for_(N, iter_args=af.f32(0)) as (i, s):
        af.yield_(s + a[i])
    out[0] = s


@patterns.add()
def a_sum_that_does_not_start_at_zero(a: af.f32[N], out: af.f32[1]):
    with af.for_(N, iter_args=out[0]) as (i, s):
        af.yield_(s + a[i])
    out[0] = s


@patterns.add(lambda s: s.scalar_replace("i"))
def a_sum_in_an_element(a: af.f32[N], b: af.f32[N], out: af.f32[1]):
    with af.for_(N) as i:
        out[0] += a[i] * b[i]


@patterns.add()
def a_dot_product(a: af.f32[N], b: af.f32[N], out: af.f32[1]):
    with af.for_(N, iter_args=af.f32(0)) as (i, s):
        af.yield_(s + a[i] * b[i])
    out[0] = s


@patterns.add()
def a_product(a: af.f32[N], out: af.f32[1]):
    with af.for_(N, iter_args=af.f32(1)) as (i, p):
        af.yield_(p * (a[i] * 0.001 + 1.0))
    out[0] = p


@patterns.add()
def a_maximum(a: af.f32[N], out: af.f32[1]):
    with af.for_(N, iter_args=out[0]) as (i, most):
        af.yield_(af.max(most, a[i]))
    out[0] = most


@patterns.add()
def a_maximum_by_comparison(a: af.f32[N], out: af.f32[1]):
    with af.for_(N, iter_args=out[0]) as (i, most):
        af.yield_(af.select(a[i] > most, a[i], most))
    out[0] = most


@patterns.add()
def a_minimum_of_magnitudes(a: af.f32[N], out: af.f32[1]):
    with af.for_(N, iter_args=out[0]) as (i, least):
        af.yield_(af.min(least, af.abs(a[i])))
    out[0] = least


@patterns.add()
def the_place_of_the_first_maximum(a: af.f32[N], out: af.f32[1], place: af.i64[1]):
    with af.for_(N, iter_args=(a[0], af.i64(0))) as (i, best, at):
        more = a[i] > best
        af.yield_(af.select(more, a[i], best), af.select(more, af.i64(i), at))
    out[0] = best
    place[0] = at


@patterns.add()
def the_place_of_the_last_minimum(a: af.f32[N], out: af.f32[1], place: af.i64[1]):
    with af.for_(N, iter_args=(a[0], af.i64(0))) as (i, best, at):
        less = a[i] <= best
        af.yield_(af.select(less, a[i], best), af.select(less, af.i64(i), at))
    out[0] = best
    place[0] = at


@patterns.add()
def the_place_of_the_largest_magnitude(a: af.f32[N], place: af.i64[1]):
    with af.for_(N, iter_args=(af.f32(-1), af.i64(0))) as (i, best, at):
        size = af.abs(a[i])
        more = size > best
        af.yield_(af.select(more, size, best), af.select(more, af.i64(i), at))
    place[0] = at


@patterns.add()
def the_last_place_of_a_positive_number(a: af.f32[N], place: af.i64[1]):
    with af.for_(N, iter_args=af.i64(-1)) as (i, at):
        af.yield_(af.select(a[i] > 0.0, af.i64(i), at))
    place[0] = at


@patterns.add()
def a_sum_and_a_sum_of_squares(a: af.f32[N], out: af.f32[2]):
    with af.for_(N, iter_args=(af.f32(0), af.f32(0))) as (i, s, q):
        af.yield_(s + a[i], q + a[i] * a[i])
    out[0] = s
    out[1] = q


@patterns.add()
def a_sum_beside_a_map(a: af.f32[N], b: af.f32[N], out: af.f32[1]):
    with af.for_(N, iter_args=af.f32(0)) as (i, s):
        b[i] = a[i] * 2.0 + b[i]
        af.yield_(s + b[i])
    out[0] = s


@patterns.add()
def a_sum_of_bytes(a: af.i8[N], b: af.i8[N], out: af.i32[1]):
    with af.for_(N, iter_args=af.i32(0)) as (i, s):
        af.yield_(s + af.i32(a[i]) * af.i32(b[i]))
    out[0] = s


@patterns.add()
def the_bits_of_all_numbers(a: af.i32[N], out: af.i32[2]):
    with af.for_(N, iter_args=(af.i32(0), af.i32(0))) as (i, any, odd):
        af.yield_(any | a[i], odd ^ a[i])
    out[0] = any
    out[1] = odd


@patterns.add(loops=("j",))
def sums_of_rows(a: af.f32[N, M], out: af.f32[N]):
    with af.for_(N) as i:
        with af.for_(M, iter_args=af.f32(0)) as (j, s):
            af.yield_(s + a[i, j])
        out[i] = s


@patterns.add(lambda s: s.interchange("i", "j"))
def sums_of_columns(a: af.f32[N, M], out: af.f32[M]):
    with af.for_(M) as i, af.for_(N) as j:
        out[i] += a[j, i]


@patterns.add()
def a_sum_of_pairs(a: af.f32[2 * N], out: af.f32[1]):
    with af.for_(N, iter_args=af.f32(0)) as (i, s):
        af.yield_(s + a[2 * i] * a[2 * i + 1])
    out[0] = s


@patterns.add(lambda s: s.scalar_replace("i"))
def the_place_of_a_maximum_kept_by_a_branch(a: af.f32[N], out: af.f32[1], place: af.i64[1]):
    best, at = af.var(a[0]), af.var(af.i64(0))
    with af.for_(N) as i:
        with af.if_(a[i] > best):
            best.set(a[i])
            at.set(af.i64(i))
    out[0] = best
    place[0] = at


@patterns.add(lambda s: s.scalar_replace("i"))
def a_maximum_kept_by_a_branch(a: af.f32[N], out: af.f32[1]):
    with af.for_(N) as i:
        with af.if_(a[i] > out[0]):
            out[0] = a[i]
