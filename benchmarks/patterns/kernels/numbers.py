"""Numbers of other types and sizes, and functions of them."""

import affdsl as af
from benchmarks.patterns.pattern import Category, N

patterns = Category("numbers")


@patterns.add()
def sums_of_products_in_double_precision(a: af.f32[N], b: af.f32[N], c: af.f64[N]):
    with af.for_(N) as i:
        c[i] = c[i] + af.f64(a[i]) * af.f64(b[i])


@patterns.add()
def bytes_averaged(a: af.u8[N], b: af.u8[N]):
    with af.for_(N) as i:
        a[i] = af.u8((af.u16(a[i]) + af.u16(b[i]) + 1) // 2)


@patterns.add()
def bytes_that_do_not_wrap(a: af.i8[N], b: af.i8[N]):
    with af.for_(N) as i:
        s = af.i16(a[i]) + af.i16(b[i])
        a[i] = af.i8(af.min(af.max(s, af.i16(-128)), af.i16(127)))


@patterns.add()
def the_number_of_each_iteration(a: af.f32[N]):
    with af.for_(N) as i:
        a[i] = af.f32(af.i32(i)) * 0.5


@patterns.add()
def roots_and_quotients(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        a[i] = af.sqrt(af.abs(a[i])) / (b[i] * b[i] + 1.0)


@patterns.add()
def bits_shifted_by_as_many(a: af.u32[N], b: af.u32[N]):
    with af.for_(N) as i:
        a[i] = (a[i] << (b[i] & 7)) ^ (a[i] >> 3)


@patterns.add()
def integers_of_floats(a: af.f32[N], b: af.i32[N]):
    with af.for_(N) as i:
        b[i] = af.i32(a[i] * 4.0) + b[i]


@patterns.add()
def signs(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        b[i] = af.copysign(b[i], a[i])


@patterns.add()
def exponentials(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        b[i] = af.exp(a[i]) * 0.5
