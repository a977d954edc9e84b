"""Loops that are unrolled by hand, that step by two, choose among cases, or have their steps rolled up."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, M, N

IDIOMS = Group("unrolled")


@af.kernel
def pairs_by_steps_of_two(x: af.f32[2 * N], y: af.f32[2 * N]):
    """Both of a pair exchanged, by a loop with a step of two."""
    with af.for_(0, 2 * N, 2) as i:
        y[i] = x[i + 1]
        y[i + 1] = x[i]


@IDIOMS.beside(pairs_by_steps_of_two, N=100_000)
def _(x, y):
    y[::2], y[1::2] = x[1::2], x[::2]


@af.kernel
def sum_by_steps_of_two(x: af.f64[2 * N], y: af.f64[N]):
    """The mean of each pair: half the resolution."""
    with af.for_(N) as i:
        y[i] = 0.5 * (x[2 * i] + x[2 * i + 1])


@IDIOMS.beside(sum_by_steps_of_two, N=100_000)
def _(x, y):
    y[:] = 0.5 * (x[::2] + x[1::2])


@af.kernel
def each_second_updated(x: af.f64[2 * N], y: af.f64[2 * N]):
    """Only even elements change."""
    with af.for_(0, 2 * N, 2) as i:
        x[i] += 0.1 * y[i]


@IDIOMS.beside(each_second_updated, N=100_000)
def _(x, y):
    x[::2] += 0.1 * y[::2]


@af.kernel
def five_statements_a_step(x: af.f64[5 * N], y: af.f64[5 * N], a: af.f64):
    """A scaled sum, unrolled five times by hand."""
    with af.for_(0, 5 * N, 5) as i:
        y[i] += a * x[i]
        y[i + 1] += a * x[i + 1]
        y[i + 2] += a * x[i + 2]
        y[i + 3] += a * x[i + 3]
        y[i + 4] += a * x[i + 4]


@IDIOMS.beside(five_statements_a_step, N=20_000)
def _(x, y, a):
    y += a * x


@af.kernel
def product_of_vectors_five_at_once(x: af.f32[5 * N], y: af.f32[5 * N], out: af.f32[1]):
    """A dot product, unrolled five times by hand."""
    total = af.var(af.f32(0))
    with af.for_(0, 5 * N, 5) as i:
        total.set(
            total + x[i] * y[i] + x[i + 1] * y[i + 1] + x[i + 2] * y[i + 2] + x[i + 3] * y[i + 3] + x[i + 4] * y[i + 4]
        )
    out[0] = total


@IDIOMS.beside(product_of_vectors_five_at_once, tolerance=1e-2, N=10_000)
def _(x, y, out):
    out[0] = x @ y


@af.kernel
def sum_by_four_variables(x: af.f64[4 * N], out: af.f64[1]):
    """A sum in four parts, as one writes it for speed."""
    parts = [af.var(af.f64(0)) for _ in range(4)]
    with af.for_(N) as i:
        for k, part in enumerate(parts):
            part += x[4 * i + k]
    out[0] = parts[0] + parts[1] + (parts[2] + parts[3])


@IDIOMS.beside(
    sum_by_four_variables,
    c="""double a = 0, b = 0, c = 0, d = 0;
for (int64_t i = 0; i < N; ++i) { a += x[4 * i]; b += x[4 * i + 1]; c += x[4 * i + 2]; d += x[4 * i + 3]; }
out[0] = a + b + (c + d);""",
    tolerance=1e-9,
    N=50_000,
)
def _(x, out):
    out[0] = x.sum()


@af.kernel
def one_of_four_formulas(kind: af.i32[N], x: af.f64[N], y: af.f64[N]):
    """A formula for each kind, as a switch."""
    with af.for_(N) as i:
        with af.if_(kind[i] == 0):
            y[i] = x[i] + 1
        with af.elif_(kind[i] == 1):
            y[i] = x[i] * 2
        with af.elif_(kind[i] == 2):
            y[i] = x[i] * x[i]
        with af.else_():
            y[i] = -x[i]


@IDIOMS.beside(one_of_four_formulas, given={"kind": lambda r, s: r.integers(0, 4, s["N"], "i4")}, N=100_000)
def _(kind, x, y):
    y[:] = np.select([kind == 0, kind == 1, kind == 2], [x + 1, x * 2, x * x], -x)


@af.kernel
def steps_of_a_tax(x: af.f64[N], y: af.f64[N]):
    """A rate for each bracket."""
    with af.for_(N) as i:
        v = af.abs(x[i]) * 1000
        with af.if_(v < 200):
            y[i] = 0.1 * v
        with af.elif_(v < 1000):
            y[i] = 20 + 0.2 * (v - 200)
        with af.else_():
            y[i] = 180 + 0.4 * (v - 1000)


@IDIOMS.beside(steps_of_a_tax, N=100_000)
def _(x, y):
    v = np.abs(x) * 1000
    y[:] = np.where(v < 200, 0.1 * v, np.where(v < 1000, 20 + 0.2 * (v - 200), 180 + 0.4 * (v - 1000)))


@af.kernel
def store_in_one_branch_only(a: af.f32[N], b: af.f32[N], c: af.f32[N]):
    """A store under a condition, and a sum of both after it."""
    with af.for_(N) as i:
        with af.if_(b[i] > 0):
            a[i] = b[i] * c[i]
        c[i] = a[i] + b[i]


@IDIOMS.beside(store_in_one_branch_only, tolerance=1e-6, N=100_000)
def _(a, b, c):
    np.multiply(b, c, out=a, where=b > 0)
    np.add(a, b, c)


@af.kernel
def polynomial_of_constants(x: af.f64[N], y: af.f64[N]):
    """A polynomial after Horner, with constants."""
    with af.for_(N) as i:
        y[i] = (((0.25 * x[i] - 1.5) * x[i] + 3.25) * x[i] - 2) * x[i] + 7


@IDIOMS.beside(polynomial_of_constants, N=100_000)
def _(x, y):
    y[:] = (((0.25 * x - 1.5) * x + 3.25) * x - 2) * x + 7


@af.kernel
def products_with_whole_constants(x: af.i32[N], y: af.i32[N]):
    """A hash of each number: products with constants, and shifts."""
    with af.for_(N) as i:
        h = x[i] * 73856093 ^ (x[i] + 17) * 19349663
        y[i] = (h ^ (h >> 15)) & 1023


@IDIOMS.beside(products_with_whole_constants, N=100_000)
def _(x, y):
    h = x * np.int32(73856093) ^ (x + np.int32(17)) * np.int32(19349663)
    y[:] = (h ^ (h >> 15)) & 1023


@af.kernel
def three_arrays_in_one_loop(a: af.f64[N], b: af.f64[N], c: af.f64[N], d: af.f64[N]):
    """Statements that use what the one before has stored."""
    with af.for_(N) as i:
        a[i] = b[i] + c[i]
        d[i] = a[i] * 2
        b[i] = d[i] - c[i]


@IDIOMS.beside(three_arrays_in_one_loop, N=100_000)
def _(a, b, c, d):
    np.add(b, c, a)
    np.multiply(a, 2, d)
    np.subtract(d, c, b)


@af.kernel
def written_before_it_is_read(a: af.f32[N], b: af.f32[N]):
    """Each element becomes the one behind it, scaled, in place."""
    with af.for_(N - 1) as i:
        a[i] = a[i + 1] * b[i]


@IDIOMS.beside(written_before_it_is_read, N=100_000)
def _(a, b):
    a[:-1] = a[1:] * b[:-1]


@af.kernel
def products_of_rows_rolled_up(x: af.f32[M, 4], w: af.f32[4], y: af.f32[M]):
    """A weight for each of four columns, by an inner loop of four steps."""
    with af.for_(M) as i:
        total = af.var(af.f32(0))
        with af.for_(4) as k:
            total += x[i, k] * w[k]
        y[i] = total


@IDIOMS.beside(products_of_rows_rolled_up, tolerance=1e-5, M=100_000)
def _(x, w, y):
    np.dot(x, w, out=y)
