"""Iterations that fall into sets: before an element and after it, inside of a range and outside."""

import affdsl as af
from benchmarks.patterns.pattern import Category, M, N

patterns = Category("index sets")


@patterns.add(lambda s: s.split("i", N // 2).peel("i_rest", first=1), loops=("i", "i_rest"))
def the_element_in_the_middle_is_read_by_all(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        a[i] = a[N // 2] + b[i]


@patterns.add(lambda s: s.split("i", "m").peel("i_rest", first=1), loops=("i", "i_rest"))
def an_element_that_all_read(a: af.f32[N], b: af.f32[N], m: af.index):
    af.assume((m >= 0) & (m < N))
    with af.for_(N) as i:
        a[i] = a[m] * 0.5 + b[i]


@patterns.add(lambda s: s.split("i", "m"), loops=("i", "i_rest"))
def two_formulas_before_and_after_an_element(a: af.f32[N], b: af.f32[N], m: af.index):
    af.assume((m >= 0) & (m <= N))
    with af.for_(N) as i:
        with af.if_(i < m):
            a[i] = b[i] * 2.0
        with af.else_():
            a[i] = b[i] + 1.0


@patterns.add()
def only_iterations_inside_of_a_range(a: af.f32[N], b: af.f32[N], low: af.index, high: af.index):
    with af.for_(N) as i:
        with af.if_((i >= low) & (i < high)):
            a[i] = a[i] + b[i]


@patterns.add()
def from_the_first_of_two_ends(a: af.f32[N], b: af.f32[M]):
    with af.for_(af.min(N, M)) as i:
        a[i] = a[i] * b[i]


@patterns.add()
def all_but_the_borders(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        with af.if_((i >= 1) & (i < N - 1)):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) * 0.33


@patterns.add()
def neighbours_up_to_the_border(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        b[i] = a[af.max(i - 1, 0)] + a[af.min(i + 1, N - 1)]


@patterns.add(lambda s: s.peel("i", last=1), loops=("i",))
def neighbours_on_a_ring(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        b[i] = a[(i + 1) % N] - a[i]


@patterns.add(loops=("j",))
def a_triangle(a: af.f32[N, N], b: af.f32[N]):
    with af.for_(N) as i, af.for_(i + 1) as j:
        a[i, j] = a[i, j] + b[j]


@patterns.add(loops=("j",))
def a_band_around_a_diagonal(a: af.f32[N, N], b: af.f32[N]):
    with af.for_(N) as i, af.for_(af.max(0, i - 9), af.min(N, i + 10)) as j:
        a[i, j] = a[i, j] * b[j]


@patterns.add(loops=("j",))
def the_part_above_a_diagonal_from_the_part_below(a: af.f32[N, N]):
    with af.for_(N) as i, af.for_(i) as j:
        a[i, j] = a[j, i] * 2.0


@patterns.add()
def the_second_half_from_the_first(a: af.f32[2 * N], b: af.f32[N]):
    with af.for_(N) as i:
        a[i + N] = a[i] + b[i]
