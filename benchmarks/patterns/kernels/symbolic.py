"""Offsets, bounds and strides of which only a name is known."""

import affdsl as af
from benchmarks.patterns.pattern import Category, M, N

patterns = Category("symbolic")


@patterns.add(refused="feeds the load a[i]")
def an_offset_that_may_be_anything(a: af.f32[N + M], b: af.f32[N], m: M):
    with af.for_(N) as i:
        a[i + M] = a[i] + b[i]


@patterns.add()
def an_offset_of_at_least_eight(a: af.f32[N + M], b: af.f32[N], m: M):
    af.assume(M >= 8)
    with af.for_(N) as i:
        a[i + M] = a[i] + b[i]


@patterns.add()
def an_offset_ahead(a: af.f32[N + M], b: af.f32[N], m: M):
    af.assume(M >= 0)
    with af.for_(N) as i:
        a[i] = a[i + M] + b[i]


@patterns.add()
def an_offset_beyond_the_last_one(a: af.f32[N + M], b: af.f32[N], m: M):
    af.assume(M >= N)
    with af.for_(N) as i:
        a[i + M] = a[i] + b[i]


@patterns.add()
def bounds_that_are_given(a: af.f32[N], b: af.f32[N], first: af.index, last: af.index):
    af.assume(first >= 0)
    af.assume(last <= N)
    with af.for_(first, last) as i:
        a[i] = a[i] * b[i]


@patterns.add()
def offsets_on_both_sides(a: af.f32[N + M], b: af.f32[N + M], n: N, m: M):
    with af.for_(N) as i:
        a[i + m] = b[i + m] + b[i]


@patterns.add(loops=("j",))
def rows_of_a_matrix_in_one_dimension(a: af.f32[N * M], b: af.f32[M], n: N, m: M):
    with af.for_(n) as i, af.for_(m) as j:
        a[i * m + j] = a[i * m + j] + b[j]


@patterns.add(loops=("j",))
def rows_in_one_dimension_from_the_row_before(a: af.f32[N * M], b: af.f32[M], n: N, m: M):
    with af.for_(1, n) as i, af.for_(m) as j:
        a[i * m + j] = a[i * m + j - m] + b[j]


@patterns.add()
def a_column_of_a_matrix_in_one_dimension(a: af.f32[N * M], b: af.f32[N], n: N, m: M):
    af.assume(m >= 1)
    with af.for_(n) as i:
        b[i] = b[i] + a[i * m] * 2.0


@patterns.add()
def twice_an_offset(a: af.f32[N + 2 * M], b: af.f32[N], m: M):
    af.assume(M >= 4)
    with af.for_(N) as i:
        a[i + 2 * M] = a[i] * 0.5 + b[i]


@patterns.add()
def a_number_that_stays_the_same(a: af.f32[N], b: af.f32[N], x: af.f32, y: af.f32):
    with af.for_(N) as i:
        a[i] = a[i] * (x + y) + b[i] / y
