"""Iterations that need what earlier ones have made, or values that they hand on."""

import affdsl as af
from benchmarks.patterns.pattern import Category, M, N

patterns = Category("recurrences")


@patterns.add(refused="feeds the load a[i - 1]")
def each_from_the_one_before(a: af.f32[N], b: af.f32[N]):
    with af.for_(1, N) as i:
        a[i] = a[i - 1] * 0.5 + b[i]


@patterns.add(refused="feeds the load a[i - 1]")
def each_from_the_two_before(a: af.f32[N], b: af.f32[N]):
    with af.for_(2, N) as i:
        a[i] = a[i - 1] + a[i - 2] * b[i]


@patterns.add(width=4)
def each_from_four_before(a: af.f32[N], b: af.f32[N]):
    with af.for_(4, N) as i:
        a[i] = a[i - 4] + b[i]


@patterns.add()
def each_from_eight_before(a: af.f32[N], b: af.f32[N]):
    with af.for_(8, N) as i:
        a[i] = a[i - 8] * 0.5 + b[i]


@patterns.add()
def each_from_the_next_one(a: af.f32[N + 1], b: af.f32[N]):
    with af.for_(N) as i:
        a[i] = a[i + 1] * 0.5 + b[i]


@patterns.add()
def running_sums(a: af.f32[N], b: af.f32[N]):
    with af.for_(N, iter_args=af.f32(0)) as (i, s):
        b[i] = s + a[i]
        af.yield_(s + a[i])


@patterns.add()
def a_sum_of_what_a_filter_gives(a: af.f32[N], b: af.f32[N]):
    with af.for_(N, iter_args=af.f32(0)) as (i, y):
        x = a[i] * a[i] + 0.25
        b[i] = y * x
        af.yield_(y * 0.9 + x * 0.1)


@patterns.add()
def the_number_of_the_last_iteration(a: af.f32[N], b: af.f32[N], first: af.f32):
    with af.for_(N, iter_args=first) as (i, last):
        b[i] = (a[i] + last) * 0.5
        af.yield_(a[i])


@patterns.add()
def the_numbers_of_the_last_two_iterations(a: af.f32[N], b: af.f32[N], first: af.f32):
    with af.for_(N, iter_args=(first, first)) as (i, last, older):
        b[i] = (a[i] + last + older) * 0.25
        af.yield_(a[i], last)


@patterns.add(lambda s: s.scalar_replace("i"))
def a_variable_of_the_last_iteration(a: af.f32[N], b: af.f32[N], first: af.f32):
    last = af.var(first)
    with af.for_(N) as i:
        b[i] = a[i] * last
        last.set(a[i] + 1.0)


@patterns.add()
def the_product_of_the_last_iteration(a: af.f32[N], b: af.f32[N], c: af.f32[N], first: af.f32):
    with af.for_(N, iter_args=first) as (i, last):
        s = b[i] * c[i]
        a[i] = s + last
        af.yield_(s)


@patterns.add()
def a_counter_beside_the_loop(a: af.f32[N], b: af.f32[2 * N]):
    with af.for_(N, iter_args=af.i32(0)) as (i, k):
        a[i] = a[i] + b[2 * i + 1] * af.f32(k)
        af.yield_(k + 3)


@patterns.add(loops=("j",))
def rows_from_the_row_before(a: af.f32[N, M], b: af.f32[N, M]):
    with af.for_(1, N) as i, af.for_(M) as j:
        a[i, j] = a[i - 1, j] * 0.5 + b[i, j]


@patterns.add()
def columns_from_the_column_before(a: af.f32[N, M], b: af.f32[N, M]):
    with af.for_(N) as i, af.for_(1, M) as j:
        a[i, j] = a[i, j - 1] * 0.5 + b[i, j]


@patterns.add(lambda s: s.skew("i", "j", 1).interchange("i", "j"), loops=("i",))
def a_front_of_diagonals(a: af.f32[N, M]):
    with af.for_(1, N) as i, af.for_(1, M) as j:
        a[i, j] = (a[i - 1, j] + a[i, j - 1]) * 0.5


@patterns.add(lambda s: s.interchange("i", "j"), loops=("i",))
def polynomials_at_many_places(x: af.f32[N], c: af.f32[M], y: af.f32[N]):
    with af.for_(N) as i, af.for_(M) as j:
        y[i] = y[i] * x[i] + c[j]


@patterns.add(refused="feeds the load")
def two_arrays_that_feed_each_other(a: af.f32[N], b: af.f32[N]):
    with af.for_(1, N) as i:
        a[i] = b[i - 1] * 0.5 + 1.0
        b[i] = a[i - 1] + 2.0
