"""Kernels of all kinds that a library can have: what they take, give, promise, check and say."""

import affdsl as af

M, N, K = af.symbols("M N K")


@af.kernel
def product(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N]):
    """The product of two matrices."""
    with af.for_(M) as i, af.for_(N) as j:
        C[i, j] = 0.0
        with af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j]


@af.kernel
def scaled(a: af.f64, x: af.strided(af.f64[N]), y: af.strided(af.f64[N]), times: af.index = 2):
    with af.for_(times), af.for_(N) as i:
        y[i] += a * x[i]


@af.kernel
def halves(x: af.u8[2 * N + 1]) -> af.f16:
    af.assume(N >= 1)
    out = af.alloc(af.f16[N, 2])
    with af.for_(N) as i, af.for_(2) as j:
        out[i, j] = af.f16(x[2 * i + j]) / 2
    return out, af.f16(x[2 * N]), x[0] > 3


@af.kernel
def mean(x: af.i32[N], least: af.i32) -> af.f64:
    total = af.var(af.f64(0))
    with af.for_(N) as i:
        with af.if_(x[i] >= least):
            total += af.f64(x[i])
    return total


@af.kernel
def half(x: af.f16 = float("inf")) -> af.f16:
    return x / 2


@af.kernel
def shifted(A: af.f64[N], B: af.f64[M]):
    with af.for_(M) as i:
        B[i] = A[i + 1]


@af.kernel(boundscheck=True)
def gathered(values: af.f64[N], places: af.i64[M], out: af.f64[M]):
    with af.for_(M) as i:
        out[i] = values[places[i]]


@af.kernel
def rooted(x: af.f32[N]):
    with af.for_(N) as i:
        af.assert_(x[i] >= 0, "not negative", i, x[i])  # noqa: PT009
        x[i] = af.sqrt(x[i])


@af.kernel
def said(x: af.f32[N]):
    with af.for_(N) as i:
        af.print_("x", i, x[i])


@af.kernel
def folded(x: af.f64[N], y: af.f64[K], rows: K):
    with af.for_(rows) as i:
        y[i] = x[i % rows]


@af.kernel
def doubled(x: af.f32[N]) -> af.f64:
    """An array and a number: C returns the number."""
    out = af.alloc(af.f32[N])
    total = af.var(af.f64(0))
    with af.for_(N) as i:
        out[i] = x[i] * 2
        total += af.f64(x[i])
    return out, total


@af.kernel
def turned(x: af.c64[N], y: af.c128[N], by: af.f64):
    with af.for_(N) as i:
        y[i] = af.c128(x[i]) * af.c128(by)


@af.kernel
def by_number(x: af.c64[N], by: af.c64, turn: af.c128 = 1j):
    with af.for_(N) as i:
        x[i] *= by
    return turn * af.c128(by)


@af.kernel
def twice(x: af.f64[N], y: af.f64[N]):
    with af.parallel(N) as i:
        y[i] = 2.0 * x[i]


@af.kernel(results="sum")
def total(x: af.f64[N], y: af.f64[N]) -> af.f64:
    """Calls what threads share."""
    twice(x, y)
    sum = af.var(af.f64(0))
    with af.for_(N) as i:
        sum += y[i]
    return sum


@af.kernel(results="end")
def clashing(type: af.f64, TYPE: af.f64[N], c_double: af.f64[N, 2]):
    """Names that are one where capitals do not count, words of Rust and Julia, and a kind of Fortran."""
    end = af.alloc(af.f64[N])
    with af.for_(N) as i:
        end[i] = type * TYPE[i] + c_double[i, 1]
    return end


WIDE = af.symbols(" ".join(f"{name}_is_a_name_so_long_that_three_of_them_are_more_than_a_line" for name in "ABC"))


@af.kernel
def c_int64_t(Float64: af.f64[WIDE], joinpath: af.i32):
    """A kind of Fortran, a type and a function of Julia, and dimensions that need several lines of Fortran."""
    Float64[0, 0, 0] = af.f64(joinpath)


ALL = [product, scaled, halves, mean, half, shifted, gathered, rooted, said, turned, doubled, by_number]
