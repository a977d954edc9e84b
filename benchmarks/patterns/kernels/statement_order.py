"""Statements that must change places, or come apart, before each of them can run for several iterations."""

import affdsl as af
from benchmarks.patterns.pattern import Category, N

patterns = Category("statement order")


@patterns.add()
def a_read_one_ahead_of_a_store(a: af.f32[N + 1], b: af.f32[N], c: af.f32[N]):
    with af.for_(N) as i:
        a[i] = b[i] * 2.0
        c[i] = a[i + 1] + b[i]


@patterns.add()
def a_read_one_behind_a_store_below(a: af.f32[N], b: af.f32[N], c: af.f32[N]):
    with af.for_(1, N) as i:
        c[i] = a[i - 1] + b[i]
        a[i] = b[i] * b[i]


@patterns.add()
def two_reads_of_which_one_is_ahead(a: af.f32[N + 1], b: af.f32[N], c: af.f32[N]):
    with af.for_(N) as i:
        a[i] = b[i] + c[i]
        c[i] = (a[i] + a[i + 1]) * 0.5


@patterns.add()
def three_statements_in_the_wrong_order(a: af.f32[N], b: af.f32[N], c: af.f32[N], d: af.f32[N]):
    with af.for_(1, N) as i:
        a[i] = b[i - 1] + d[i]
        b[i] = c[i - 1] * d[i]
        c[i] = d[i] - 1.0


@patterns.add()
def two_stores_of_which_the_first_is_behind(a: af.f32[N + 1], b: af.f32[N], c: af.f32[N]):
    with af.for_(N) as i:
        a[i] = b[i] + 1.0
        a[i + 1] = c[i] * 2.0


@patterns.add()
def two_stores_of_which_the_second_is_behind(a: af.f32[N + 1], b: af.f32[N], c: af.f32[N]):
    with af.for_(N) as i:
        a[i + 1] = b[i] + 1.0
        a[i] = c[i] * 2.0


@patterns.add(lambda s: s.distribute("i"), loops=("i_2",))
def a_recurrence_above_a_map(a: af.f32[N], b: af.f32[N], c: af.f32[N]):
    with af.for_(1, N) as i:
        a[i] = a[i - 1] * b[i]
        c[i] = b[i] * b[i] + c[i]


@patterns.add(lambda s: s.distribute("i"))
def a_map_that_feeds_a_recurrence(a: af.f32[N], b: af.f32[N], c: af.f32[N]):
    with af.for_(1, N) as i:
        c[i] = b[i] * b[i] + 1.0
        a[i] = a[i - 1] * c[i]


@patterns.add(lambda s: s.distribute("i"), loops=("i_2",))
def a_recurrence_that_feeds_a_map(a: af.f32[N], b: af.f32[N], c: af.f32[N]):
    with af.for_(1, N) as i:
        a[i] = a[i - 1] * b[i]
        c[i] = a[i] * a[i] + b[i]


@patterns.add(lambda s: s.expand("t", "i"))
def a_variable_of_each_iteration(a: af.f32[N], b: af.f32[N], c: af.f32[N]):
    t = af.var(af.f32(0))
    with af.for_(N) as i:
        t.set(a[i] + b[i])
        c[i] = t * t


@patterns.add(lambda s: s.expand("t", "i"))
def a_variable_that_is_set_twice(a: af.f32[N], b: af.f32[N], c: af.f32[N]):
    t = af.var(af.f32(0))
    with af.for_(N) as i:
        t.set(a[i] + b[i])
        c[i] = c[i] + t
        t.set(a[i] * b[i])
        b[i] = t * 0.5


@patterns.add(lambda s: s.expand("t", "i"))
def an_exchange_through_a_variable(a: af.f32[N], b: af.f32[N]):
    t = af.var(af.f32(0))
    with af.for_(N) as i:
        t.set(a[i])
        a[i] = b[i] + 1.0
        b[i] = t


@patterns.add(lambda s: s.expand("t", "i"))
def a_variable_and_a_read_ahead(a: af.f32[N + 1], b: af.f32[N], c: af.f32[N]):
    t = af.var(af.f32(0))
    with af.for_(N) as i:
        t.set(b[i] + c[i])
        a[i] = t * t
        c[i] = a[i + 1] + t
