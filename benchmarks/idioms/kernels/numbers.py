"""Rounding, small integers, numbers of mixed widths, and complex numbers."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, N

IDIOMS = Group("numbers")


@af.kernel
def rounded_to_cents(x: af.f64[N], y: af.f64[N]):
    """Prices, to two digits: halves to even, as NumPy does it."""
    with af.for_(N) as i:
        y[i] = af.roundeven(x[i] * 100) / 100


@IDIOMS.beside(rounded_to_cents, c="for (int64_t i = 0; i < N; ++i) y[i] = rint(x[i] * 100) / 100;", N=100_000)
def _(x, y):
    np.round(x, 2, out=y)


@af.kernel
def parts_behind_the_point(x: af.f64[N], y: af.f64[N]):
    """What is left above the next whole number below."""
    with af.for_(N) as i:
        y[i] = x[i] - af.floor(x[i])


@IDIOMS.beside(parts_behind_the_point, N=100_000)
def _(x, y):
    np.subtract(x, np.floor(x), y)


@af.kernel
def quantized(x: af.f32[N], y: af.u8[N]):
    """Numbers between 0 and 1 as bytes."""
    with af.for_(N) as i:
        y[i] = af.cast(af.min(af.max(x[i], 0.0), 1.0) * 255 + 0.5, af.u8)


@IDIOMS.beside(
    quantized,
    c="""for (int64_t i = 0; i < N; ++i) {
    float v = x[i] < 0 ? 0 : x[i]; v = v > 1 ? 1 : v;
    y[i] = (uint8_t)(v * 255 + 0.5f);
}""",
    N=200_000,
)
def _(x, y):
    y[:] = np.clip(x, 0, 1) * np.float32(255) + np.float32(0.5)


@af.kernel
def bytes_as_fractions(x: af.u8[N], y: af.f32[N]):
    """Bytes as numbers between 0 and 1."""
    with af.for_(N) as i:
        y[i] = af.f32(x[i]) / 255


@IDIOMS.beside(bytes_as_fractions, tolerance=1e-6, N=300_000)
def _(x, y):
    np.divide(x, np.float32(255), y)


@af.kernel
def brighter_and_saturated(x: af.u8[N], y: af.u8[N]):
    """A brighter picture, whose bytes do not wrap."""
    with af.for_(N) as i:
        y[i] = af.cast(af.min(af.i32(x[i]) + 60, 255), af.u8)


@IDIOMS.beside(
    brighter_and_saturated,
    c="for (int64_t i = 0; i < N; ++i) { int v = x[i] + 60; y[i] = v < 255 ? v : 255; }",
    N=500_000,
)
def _(x, y):
    y[:] = np.minimum(x.astype(np.int32) + 60, 255)


@af.kernel
def two_tracks_mixed(a: af.i16[N], b: af.i16[N], y: af.i16[N]):
    """The mean of two tracks of 16 bits."""
    with af.for_(N) as i:
        y[i] = af.cast((af.i32(a[i]) + af.i32(b[i])) >> 1, af.i16)


@IDIOMS.beside(two_tracks_mixed, c="for (int64_t i = 0; i < N; ++i) y[i] = (int16_t)((a[i] + b[i]) >> 1);", N=300_000)
def _(a, b, y):
    y[:] = (a.astype(np.int32) + b) >> 1


@af.kernel
def bytes_added_up(x: af.u8[N], out: af.i64[1]):
    """The sum of bytes, in 64 bits."""
    total = af.var(af.i64(0))
    with af.for_(N) as i:
        total += af.i64(x[i])
    out[0] = total


@IDIOMS.beside(bytes_added_up, N=500_000)
def _(x, out):
    out[0] = x.sum()


@af.kernel
def differences_of_bytes_added_up(a: af.u8[N], b: af.u8[N], out: af.i64[1]):
    """How far two pictures are apart."""
    total = af.var(af.i64(0))
    with af.for_(N) as i:
        total += af.i64(af.abs(af.i32(a[i]) - af.i32(b[i])))
    out[0] = total


@IDIOMS.beside(
    differences_of_bytes_added_up,
    c="int64_t t = 0; for (int64_t i = 0; i < N; ++i) { int d = a[i] - b[i]; t += d < 0 ? -d : d; } out[0] = t;",
    N=300_000,
)
def _(a, b, out):
    out[0] = np.abs(a.astype(np.int32) - b).sum()


@af.kernel
def floats_added_up_in_double(x: af.f32[N], out: af.f64[1]):
    """The mean of floats of 32 bits, in 64."""
    total = af.var(af.f64(0))
    with af.for_(N) as i:
        total += af.f64(x[i])
    out[0] = total / af.f64(N)


@IDIOMS.beside(floats_added_up_in_double, tolerance=1e-8, N=200_000)
def _(x, out):
    out[0] = x.mean(dtype=np.float64)


@af.kernel
def single_from_double(a: af.f64[N], b: af.f32[N], y: af.f32[N]):
    """A sum in 64 bits, stored in 32."""
    with af.for_(N) as i:
        y[i] = af.cast(a[i] + af.f64(b[i]), af.f32)


@IDIOMS.beside(single_from_double, tolerance=1e-6, N=200_000)
def _(a, b, y):
    y[:] = a + b


@af.kernel
def whole_numbers_by_a_constant(x: af.i32[N], day: af.i32[N], rest: af.i32[N]):
    """Seconds as days and what is left of them, rounded down as Python does it."""
    with af.for_(N) as i:
        day[i] = x[i] // 86400
        rest[i] = x[i] % 86400


@IDIOMS.beside(
    whole_numbers_by_a_constant,
    c="""for (int64_t i = 0; i < N; ++i) {
    int32_t q = x[i] / 86400, r = x[i] % 86400;
    day[i] = r < 0 ? q - 1 : q; rest[i] = r < 0 ? r + 86400 : r;
}""",
    given={"x": lambda r, s: r.integers(-(2**31), 2**31, s["N"], "i4")},
    N=100_000,
)
def _(x, day, rest):
    np.floor_divide(x, 86400, day)
    np.remainder(x, 86400, rest)


@af.kernel
def complex_product(a: af.c128[N], b: af.c128[N], y: af.c128[N]):
    """A product of two spectra."""
    with af.for_(N) as i:
        y[i] = a[i] * b[i].conj()


@IDIOMS.beside(
    complex_product,
    c="""for (int64_t i = 0; i < N; ++i) {
    double p = creal(a[i]), q = cimag(a[i]), r = creal(b[i]), s = -cimag(b[i]);
    ((double *)y)[2 * i] = p * r - q * s; ((double *)y)[2 * i + 1] = p * s + q * r;
}""",
    N=50_000,
)
def _(a, b, y):
    np.multiply(a, b.conj(), y)


@af.kernel
def power_of_a_spectrum(a: af.c64[N], y: af.f32[N]):
    """The square of the absolute value."""
    with af.for_(N) as i:
        y[i] = a[i].real * a[i].real + a[i].imag * a[i].imag


@IDIOMS.beside(power_of_a_spectrum, tolerance=1e-6, N=100_000)
def _(a, y):
    y[:] = a.real * a.real + a.imag * a.imag


@af.kernel
def degrees_to_radians_and_sine(x: af.f64[N], y: af.f64[N]):
    """The sine of degrees."""
    with af.for_(N) as i:
        y[i] = af.sin(x[i] * (np.pi / 180))


@IDIOMS.beside(
    degrees_to_radians_and_sine, given={"x": lambda r, s: r.uniform(0, 360, s["N"])}, tolerance=1e-11, N=20_000
)
def _(x, y):
    np.sin(x * (np.pi / 180), y)
