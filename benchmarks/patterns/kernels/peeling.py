"""First and last iterations that are not as the others."""

import affdsl as af
from benchmarks.patterns.pattern import Category, N

patterns = Category("peeling")


@patterns.add(lambda s: s.peel("i", first=1))
def the_first_element_is_read_by_all(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        a[i] = a[0] + b[i]


@patterns.add(lambda s: s.peel("i", last=1))
def the_last_element_is_read_by_all(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        a[i] = a[N - 1] * b[i]


@patterns.add(lambda s: s.peel("i", first=1))
def the_first_iteration_sets_what_others_change(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        with af.if_(i == 0):
            a[i] = b[i]
        with af.else_():
            a[i] = b[i] - b[i - 1]


@patterns.add(lambda s: s.peel("i", last=1))
def the_last_iteration_is_another(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        with af.if_(i == N - 1):
            a[i] = b[i] * 0.5
        with af.else_():
            a[i] = b[i] + b[i + 1]


@patterns.add()
def the_number_of_the_element_before(a: af.f32[N], b: af.f32[N]):
    with af.for_(N, iter_args=af.i64(N - 1)) as (i, before):
        b[i] = (a[i] + a[before]) * 0.5
        af.yield_(af.i64(i))


@patterns.add()
def the_numbers_of_the_two_elements_before(a: af.f32[N], b: af.f32[N]):
    af.assume(N >= 2)
    with af.for_(N, iter_args=(af.i64(N - 1), af.i64(N - 2))) as (i, before, older):
        b[i] = (a[i] + a[before] + a[older]) * 0.25
        af.yield_(af.i64(i), before)


@patterns.add(lambda s: s.peel("i", first=1))
def the_element_before_on_a_ring(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        b[i] = a[i] + a[(i + N - 1) % N]


@patterns.add(lambda s: s.peel("i", first=2, last=2))
def five_points_at_the_borders(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        with af.if_((i >= 2) & (i < N - 2)):
            b[i] = (a[i - 2] + a[i - 1] + a[i] + a[i + 1] + a[i + 2]) * 0.2
        with af.else_():
            b[i] = a[i]


@patterns.add(lambda s: s.peel("i", first=1).distribute("i"))
def the_difference_to_the_first(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        b[i] = a[i] - a[0]
        a[i] = b[i] * 0.5
