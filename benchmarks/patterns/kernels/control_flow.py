"""Iterations that do different things: decided by data, by sizes, or by the number of the iteration."""

import affdsl as af
from benchmarks.patterns.pattern import Category, M, N

patterns = Category("control flow")


@patterns.add()
def a_store_under_a_condition(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        with af.if_(a[i] > 0.0):
            b[i] = a[i] * a[i]


@patterns.add()
def one_of_two_stores(a: af.f32[N], b: af.f32[N], c: af.f32[N]):
    with af.for_(N) as i:
        with af.if_(a[i] > b[i]):
            c[i] = a[i] - b[i]
        with af.else_():
            b[i] = a[i] * 0.5


@patterns.add()
def a_condition_in_a_condition(a: af.f32[N], b: af.f32[N], c: af.f32[N]):
    with af.for_(N) as i:
        with af.if_(a[i] > 0.0):
            c[i] = a[i] + b[i]
            with af.if_(b[i] > 0.0):
                a[i] = b[i] * 2.0


@patterns.add()
def a_chain_of_conditions(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        with af.if_(a[i] > 1.0):
            b[i] = 1.0
        with af.else_():
            with af.if_(a[i] < -1.0):
                b[i] = -1.0
            with af.else_():
                b[i] = a[i] * 0.5


@patterns.add()
def numbers_between_two_limits(a: af.f32[N], low: af.f32, high: af.f32):
    with af.for_(N) as i:
        a[i] = af.min(af.max(a[i], low), high)


@patterns.add()
def a_condition_on_what_was_just_stored(a: af.f32[N], b: af.f32[N], c: af.f32[N]):
    with af.for_(N) as i:
        a[i] = a[i] + b[i]
        with af.if_(a[i] > 0.0):
            c[i] = c[i] + a[i]


@patterns.add()
def a_condition_on_what_the_loop_stores_later(a: af.f32[N], b: af.f32[N + 1], c: af.f32[N]):
    with af.for_(N) as i:
        with af.if_(a[i] > 0.0):
            c[i] = b[i + 1] * 2.0
        b[i] = a[i] - c[i]


@patterns.add()
def a_division_where_it_can_be_done(a: af.i32[N], b: af.i32[N]):
    with af.for_(N) as i:
        with af.if_(b[i] > 0):
            a[i] = a[i] // b[i]


@patterns.add()
def a_load_where_it_may_be_done(a: af.f32[N], b: af.f32[N], k: af.i64[N]):
    with af.for_(N) as i:
        with af.if_(a[i] > 0.0):
            a[i] = b[k[i]] + 1.0


@patterns.add()
def every_second_iteration(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        with af.if_(i % 2 == 0):
            a[i] = b[i] * 2.0
        with af.else_():
            a[i] = b[i] + 1.0


@patterns.add()
def a_condition_that_stays_the_same(a: af.f32[N], b: af.f32[N], x: af.f32):
    with af.for_(N) as i:
        with af.if_(x > 0.0):
            a[i] = a[i] + b[i]
        with af.else_():
            a[i] = a[i] * b[i]


@patterns.add()
def a_sum_under_a_condition(a: af.f32[N], out: af.f32[1]):
    with af.for_(N, iter_args=af.f32(0)) as (i, s):
        af.yield_(s + af.select(a[i] > 0.0, a[i], 0.0))
    out[0] = s


@patterns.add()
def a_sum_in_a_branch(a: af.f32[N], b: af.f32[N], out: af.f32[1]):
    with af.for_(N, iter_args=af.f32(0)) as (i, s):
        with af.if_(a[i] > 0.0, af.f32) as more:
            af.yield_(s + a[i] * b[i])
        with af.else_():
            af.yield_(s)
        af.yield_(more)
    out[0] = s


@patterns.add(lambda s: s.scalar_replace("i"))
def a_variable_that_a_branch_adds_to(a: af.f32[N], b: af.f32[N], out: af.f32[1]):
    s = af.var(af.f32(0))
    with af.for_(N) as i:
        with af.if_(a[i] > 0.0):
            s += a[i] * b[i]
    out[0] = s


@patterns.add()
def a_count(a: af.f32[N], least: af.f32, out: af.i32[1]):
    with af.for_(N, iter_args=af.i32(0)) as (i, n):
        af.yield_(n + af.select(a[i] > least, af.i32(1), af.i32(0)))
    out[0] = n


@patterns.add(lambda s: s.scalar_replace("i"))
def a_count_in_a_branch(a: af.f32[N], least: af.f32, out: af.i32[1]):
    n = af.var(af.i32(0))
    with af.for_(N) as i:
        with af.if_(a[i] > least):
            n += 1
    out[0] = n


@patterns.add(lambda s: s.scalar_replace("i"))
def a_variable_that_two_branches_set(a: af.f32[N], b: af.f32[N], c: af.f32[N]):
    t = af.var(af.f32(0))
    with af.for_(N) as i:
        with af.if_(a[i] > 0.0):
            t.set(a[i] * b[i])
        with af.else_():
            t.set(b[i] + 1.0)
        c[i] = t * t


@patterns.add(refused="feeds the load a[i - 1]")
def a_recurrence_under_a_condition(a: af.f32[N], b: af.f32[N]):
    with af.for_(1, N) as i:
        with af.if_(b[i] > 0.0):
            a[i] = a[i - 1] + b[i]


@patterns.add()
def roots_of_what_is_positive(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        with af.if_(a[i] >= 0.0, af.f32) as root:
            af.yield_(af.sqrt(a[i]))
        with af.else_():
            af.yield_(a[i])
        b[i] = root


@patterns.add()
def a_row_that_some_iterations_add_up(a: af.f32[M, N], w: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        with af.if_(w[i] > 0.0), af.for_(M) as j:
            b[i] += a[j, i] * w[i]
