"""Transposed copies, arrays with strides or in Fortran's order, and numbers that are taken apart or put together."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, M, N

IDIOMS = Group("layout")


@af.kernel
def transposed(A: af.f64[M, N], B: af.f64[N, M]):
    """Rows become columns."""
    with af.for_(M) as i, af.for_(N) as j:
        B[j, i] = A[i, j]


@IDIOMS.beside(transposed, M=1000, N=900)
def _(A, B):
    B[:] = A.T


@af.kernel
def transposed_bytes(A: af.u8[M, N], B: af.u8[N, M]):
    """A picture on its side."""
    with af.for_(M) as i, af.for_(N) as j:
        B[j, i] = A[i, j]


@IDIOMS.beside(transposed_bytes, M=1024, N=768)
def _(A, B):
    B[:] = A.T


@af.kernel
def sum_with_the_transpose(A: af.f64[N, N], B: af.f64[N, N]):
    """A matrix made symmetric."""
    with af.for_(N) as i, af.for_(N) as j:
        B[i, j] = 0.5 * (A[i, j] + A[j, i])


@IDIOMS.beside(sum_with_the_transpose, N=800)
def _(A, B):
    B[:] = 0.5 * (A + A.T)


@af.kernel
def picture_turned_by_a_quarter(x: af.u8[M, N, 3], y: af.u8[N, M, 3]):
    """A picture of three colours is turned to the right."""
    with af.for_(M) as i, af.for_(N) as j, af.for_(3) as c:
        y[j, M - 1 - i, c] = x[i, j, c]


@IDIOMS.beside(picture_turned_by_a_quarter, M=600, N=800)
def _(x, y):
    y[:] = np.rot90(x, -1)


@af.kernel
def arrays_in_fortran_order(a: af.strided(af.f64[M, N]), b: af.strided(af.f64[M, N]), c: af.strided(af.f64[M, N])):
    """A sum of two arrays, each in Fortran's order."""
    with af.for_(M) as i, af.for_(N) as j:
        c[i, j] = a[i, j] + b[i, j]


def _fortran(r, s):
    return np.asfortranarray(r.normal(size=(s["M"], s["N"])))


@IDIOMS.beside(
    arrays_in_fortran_order,
    c="for (int64_t j = 0; j < N; ++j) for (int64_t i = 0; i < M; ++i) c[j * M + i] = a[j * M + i] + b[j * M + i];",
    given={"a": _fortran, "b": _fortran, "c": _fortran},
    M=800,
    N=600,
)
def _(a, b, c):
    np.add(a, b, c)


@af.kernel
def row_sums_in_fortran_order(a: af.strided(af.f64[M, N]), y: af.f64[M]):
    """The sum of each row of an array in Fortran's order."""
    with af.for_(M) as i:
        total = af.var(af.f64(0))
        with af.for_(N) as j:
            total += a[i, j]
        y[i] = total


@IDIOMS.beside(
    row_sums_in_fortran_order,
    c="""for (int64_t i = 0; i < M; ++i) y[i] = 0;
for (int64_t j = 0; j < N; ++j) for (int64_t i = 0; i < M; ++i) y[i] += a[j * M + i];""",
    given={"a": _fortran},
    tolerance=1e-11,
    M=700,
    N=500,
)
def _(a, y):
    a.sum(axis=1, out=y)


@af.kernel
def every_second_of_a_view(x: af.strided(af.f32[N]), y: af.f32[N]):
    """A view with a step of two, scaled."""
    with af.for_(N) as i:
        y[i] = 3 * x[i] + 1


@IDIOMS.beside(
    every_second_of_a_view,
    c="for (int64_t i = 0; i < N; ++i) y[i] = 3 * x[2 * i] + 1;",
    given={"x": lambda r, s: r.random(2 * s["N"], "f4")[::2]},
    tolerance=1e-6,
    N=200_000,
)
def _(x, y):
    np.multiply(x, np.float32(3), y)
    y += np.float32(1)


@af.kernel
def a_column_of_a_table(x: af.strided(af.f64[N]), y: af.f64[1]):
    """The sum of one column, as a view of a table with eight."""
    total = af.var(af.f64(0))
    with af.for_(N) as i:
        total += x[i]
    y[0] = total


@IDIOMS.beside(
    a_column_of_a_table,
    c="double t = 0; for (int64_t i = 0; i < N; ++i) t += x[8 * i]; y[0] = t;",
    given={"x": lambda r, s: r.random((s["N"], 8))[:, 3]},
    tolerance=1e-10,
    N=50_000,
)
def _(x, y):
    y[0] = x.sum()


@af.kernel
def interleaved(a: af.f32[N], b: af.f32[N], y: af.f32[N, 2]):
    """Two arrays as pairs."""
    with af.for_(N) as i:
        y[i, 0] = a[i]
        y[i, 1] = b[i]


@IDIOMS.beside(interleaved, N=200_000)
def _(a, b, y):
    y[:, 0] = a
    y[:, 1] = b


@af.kernel
def channels_taken_apart(x: af.u8[N, 3], r: af.u8[N], g: af.u8[N], b: af.u8[N]):
    """The three colours of a picture, each as an array."""
    with af.for_(N) as i:
        r[i] = x[i, 0]
        g[i] = x[i, 1]
        b[i] = x[i, 2]


@IDIOMS.beside(channels_taken_apart, N=300_000)
def _(x, r, g, b):
    r[:], g[:], b[:] = x[:, 0], x[:, 1], x[:, 2]


@af.kernel
def reversed_copy(x: af.f32[N], y: af.f32[N]):
    """From the end to the beginning."""
    with af.for_(N) as i:
        y[i] = x[N - 1 - i]


@IDIOMS.beside(reversed_copy, N=300_000)
def _(x, y):
    y[:] = x[::-1]


@af.kernel
def channels_first(x: af.f32[M, N, 3], y: af.f32[3, M, N]):
    """A picture as a network wants it: bytes between 0 and 1, colour by colour."""
    with af.for_(M) as i, af.for_(N) as j, af.for_(3) as c:
        y[c, i, j] = x[i, j, c] / 255


@IDIOMS.beside(channels_first, tolerance=1e-6, M=400, N=400)
def _(x, y):
    np.divide(x.transpose(2, 0, 1), np.float32(255), y)
