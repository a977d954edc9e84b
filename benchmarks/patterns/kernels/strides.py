"""Elements that are not neighbours."""

import affdsl as af
from benchmarks.patterns.pattern import Category, M, N

patterns = Category("strides")


@patterns.add()
def every_second_element_is_read(a: af.f32[2 * N], b: af.f32[N]):
    with af.for_(N) as i:
        b[i] = a[2 * i] * 2.0 + b[i]


@patterns.add()
def every_second_element_is_written(a: af.f32[2 * N], b: af.f32[N]):
    with af.for_(N) as i:
        a[2 * i] = b[i] * b[i]


@patterns.add()
def steps_of_two(a: af.f32[N], b: af.f32[N]):
    with af.for_(0, N, 2) as i:
        a[i] = a[i] * b[i] + 1.0


@patterns.add()
def complex_products(a: af.f32[2 * N], b: af.f32[2 * N], c: af.f32[2 * N]):
    with af.for_(N) as i:
        c[2 * i] = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1]
        c[2 * i + 1] = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i]


@patterns.add()
def grey_from_three_colours(a: af.f32[3 * N], b: af.f32[N]):
    with af.for_(N) as i:
        b[i] = a[3 * i] * 0.3 + a[3 * i + 1] * 0.59 + a[3 * i + 2] * 0.11


@patterns.add()
def backwards(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        a[N - 1 - i] = b[N - 1 - i] * 2.0


@patterns.add()
def one_forwards_and_one_backwards(a: af.f32[N], b: af.f32[N], c: af.f32[N]):
    with af.for_(N) as i:
        c[i] = a[i] * b[N - 1 - i]


@patterns.add(loops=("j",))
def a_transposed_sum(a: af.f32[N, M], b: af.f32[M, N]):
    with af.for_(N) as i, af.for_(M) as j:
        a[i, j] = a[i, j] + b[j, i]


@patterns.add()
def a_diagonal(a: af.f32[N, N], b: af.f32[N]):
    with af.for_(N) as i:
        a[i, i] = a[i, i] * 0.5 + b[i]


@patterns.add()
def elements_whose_numbers_are_data(a: af.f32[N], b: af.f32[N], k: af.i64[N]):
    with af.for_(N) as i:
        a[i] = a[i] + b[k[i]] * 2.0


@patterns.add()
def stores_whose_numbers_are_data(a: af.f32[N], b: af.f32[N], k: af.i64[N]):
    with af.for_(N) as i:
        a[k[i]] = b[i] * 2.0 + 1.0


@patterns.add()
def sums_whose_numbers_are_data(a: af.f32[N], b: af.f32[N], k: af.i64[N]):
    with af.for_(N) as i:
        a[k[i]] += b[i] * 2.0


@patterns.add()
def every_element_twice(a: af.f32[N], b: af.f32[2 * N]):
    with af.for_(2 * N) as i:
        b[i] = a[i // 2] * 2.0 + b[i]


@patterns.add()
def every_second_element_from_the_one_between(a: af.f32[2 * N + 1]):
    with af.for_(N) as i:
        a[2 * i] = a[2 * i + 1] * 0.5 + 1.0
