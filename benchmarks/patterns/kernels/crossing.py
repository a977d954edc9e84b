"""Accesses that meet in the middle, or drift apart, so that dependences change on the way."""

import affdsl as af
from benchmarks.patterns.pattern import Category, N

patterns = Category("crossing thresholds")


@patterns.add(lambda s: s.split("i", N // 2), loops=("i", "i_rest"))
def an_array_added_to_its_mirror_image(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        a[i] = a[N - 1 - i] + b[i]


@patterns.add()
def the_first_half_from_the_second(a: af.f32[2 * N]):
    with af.for_(N) as i:
        a[i] = a[2 * N - 1 - i] * 0.5


@patterns.add(lambda s: s.split("i", N // 2), loops=("i", "i_rest"))
def stores_that_meet_loads(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        a[N - 1 - i] = a[i] * b[i]


@patterns.add(lambda s: s.split("i", 8), loops=("i_rest",))
def stores_twice_as_far_as_loads(a: af.f32[2 * N], b: af.f32[N]):
    with af.for_(N) as i:
        a[2 * i] = a[i] * 0.5 + b[i]


@patterns.add()
def loads_twice_as_far_as_stores(a: af.f32[2 * N], b: af.f32[N]):
    with af.for_(N) as i:
        a[i] = a[2 * i] * 0.5 + b[i]


@patterns.add(lambda s: s.split("i", N // 2), loops=("i", "i_rest"))
def one_formula_up_to_the_middle(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        with af.if_(2 * i < N):
            a[i] = a[i] + b[i]
        with af.else_():
            a[i] = a[i] * b[i]


@patterns.add(lambda s: s.split("i", N // 2), loops=("i", "i_rest"))
def a_mirror_image_stored_before_and_read_after(a: af.f32[N], b: af.f32[N], c: af.f32[N]):
    with af.for_(N) as i:
        a[i] = b[i] * 2.0
        c[i] = a[N - 1 - i] + 1.0


@patterns.add()
def both_ends_at_once(a: af.f32[2 * N], b: af.f32[N]):
    with af.for_(N) as i:
        a[i] = a[i] + b[i]
        a[2 * N - 1 - i] = a[2 * N - 1 - i] * b[i]


@patterns.add(loops=("i",))
def ends_exchanged(a: af.f32[2 * N]):
    with af.for_(N) as i:
        left = a[i] + 0.0
        a[i] = a[2 * N - 1 - i] * 0.5
        a[2 * N - 1 - i] = left


@patterns.add(refused="may")
def a_threshold_that_is_data(a: af.f32[N], k: af.i64[1], b: af.f32[N]):
    with af.for_(N) as i:
        a[i] = a[k[0]] + b[i]
