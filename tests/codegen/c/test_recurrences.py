"""Which loops C runs one iteration after the other, since gcc 12 makes wrong or slow vectors of some of them."""

import numpy as np
import pytest

import affdsl as af

N = af.symbols("N")


def is_in_order(kernel: af.Kernel) -> bool:
    return "affdsl_in_order();" in kernel.c()


def test_several_sums_of_integers_in_one_array():
    @af.kernel
    def sums(A: af.i32[4], B: af.i32[N]):
        with af.for_(N) as i:
            A[0] += B[i]
            A[1] += B[i]

    assert is_in_order(sums)
    assert '__asm__ volatile("")' in sums.c()


def test_places_that_indices_around_say():
    @af.kernel
    def sums(A: af.i64[N, N], B: af.i64[N]):
        with af.for_(N - 1) as j, af.for_(N) as i:
            with af.if_(i >= 2):
                A[j, 0] += B[i]
            A[j + 1, 0] -= B[i]

    assert is_in_order(sums)


@pytest.mark.parametrize("which", range(4))
def test_other_loops_are_vectorized_as_before(which):
    @af.kernel
    def one_sum(A: af.i32[4], B: af.i32[N]):
        with af.for_(N) as i:
            A[0] += B[i]

    @af.kernel
    def sums_in_variables(B: af.i32[N], out: af.i32[2]):
        first, second = af.var(af.i32(0)), af.var(af.i32(0))
        with af.for_(N) as i:
            first += B[i]
            second += B[i] * 2
        out[0], out[1] = first, second

    @af.kernel
    def elements_that_move(A: af.i32[N], B: af.i32[N]):
        with af.for_(N - 1) as i:
            A[i] += B[i]
            A[i + 1] += B[i]

    @af.kernel
    def stores_alone(A: af.i32[4], B: af.i32[N]):
        with af.for_(N) as i:
            A[0] = B[i]
            A[1] = B[i] + A[2]

    kernels = (one_sum, sums_in_variables, elements_that_move, stores_alone)
    assert not is_in_order(kernels[which])


@pytest.mark.parametrize("type", [af.f32, af.f64])
def test_sums_of_floats(type):
    @af.kernel
    def in_an_array(A: type[4], B: type[N]):
        with af.for_(N) as i:
            A[0] += B[i]
            A[1] -= B[i]

    @af.kernel
    def in_a_variable(A: type[N], B: type[N], out: type[1]):
        total = af.var(type(0))
        with af.for_(N) as i:
            total += A[i] * B[i]
        out[0] = total

    @af.kernel
    def of_several_rows(A: type[N, N], x: type[N], y: type[N]):
        with af.for_(N) as i, af.for_(N) as j:
            y[i] += A[i, j] * x[j]

    @af.kernel
    def of_those_that_are_chosen(A: type[N], least: type, out: type[2]):
        total = af.var(type(0))
        with af.for_(N) as i:
            total += af.select(A[i] > least, A[i] * A[i], type(0))
            out[1] += af.select((A[i] < least) | (A[i] > 9), type(1), -A[i] * 2)
        out[0] = total

    @af.kernel
    def beside_rows(A: type[N], B: type[N], out: type[1]):
        with af.for_(N) as i:
            B[i] = A[i] * 2
            out[0] += B[i]

    @af.kernel
    def of_pairs(A: type[2 * N], out: type[1]):
        with af.for_(N) as i:
            out[0] += A[2 * i] * A[2 * i + 1]

    assert is_in_order(beside_rows)
    assert is_in_order(of_pairs)
    assert is_in_order(in_an_array)
    assert is_in_order(in_a_variable)
    assert is_in_order(of_those_that_are_chosen)
    assert is_in_order(af.Schedule(of_several_rows).unroll_jam("i", 8).scalar_replace("j").kernel())


@pytest.mark.parametrize("which", range(13))
def test_sums_of_floats_that_are_vectorized_as_before(which):
    @af.kernel
    def quotients(A: af.f64[N], B: af.f64[N], out: af.f64[1]):
        with af.for_(N) as i:
            out[0] += A[i] / B[i]

    @af.kernel
    def roots(A: af.f64[N], out: af.f64[1]):
        with af.for_(N) as i:
            out[0] += af.sqrt(A[i])

    @af.kernel
    def polynomials(A: af.f64[N], out: af.f64[1]):
        with af.for_(N) as i:
            out[0] += (((A[i] + 1) * A[i] + 2) * A[i] + 3) * A[i]

    @af.kernel
    def the_last_number(A: af.f64[N], B: af.f64[N]):
        last = af.var(af.f64(0))
        with af.for_(N) as i:
            B[i] = A[i] + last
            last.set(A[i])

    @af.kernel
    def columns(A: af.f64[N, N], out: af.f64[1]):
        with af.for_(N) as i:
            out[0] += A[i, 0]

    @af.kernel
    def short_floats(A: af.bf16[N], out: af.bf16[1]):
        with af.for_(N) as i:
            out[0] += A[i]

    @af.kernel
    def under_conditions(A: af.f64[N], out: af.f64[1]):
        with af.for_(N) as i, af.if_(A[i] > 0):
            out[0] += A[i]

    @af.kernel
    def numbers_alone(A: af.f64[N], out: af.f64[1]):
        with af.for_(N):
            out[0] = 1.0

    @af.kernel
    def the_last_one(A: af.f64[N], out: af.f64[1]):
        with af.for_(N) as i:
            out[0] = 2 * A[i]

    @af.kernel
    def products_of_matrices(A: af.f64[N, N], B: af.f64[N, N], C: af.f64[N, N]):
        with af.for_(N) as i, af.for_(N) as j, af.for_(N) as k:
            C[i, j] += A[i, k] * B[k, j]

    @af.kernel
    def where_data_says(A: af.f64[N], x: af.index[N], out: af.f64[1]):
        with af.for_(N) as i:
            out[0] += A[x[i]]

    @af.kernel
    def the_largest_difference(A: af.f64[N], B: af.f64[N], out: af.f64[1]):
        most = af.var(af.f64(0))
        with af.for_(N) as i:
            apart = A[i] - B[i]
            most.set(af.select(apart > most, apart, most))
        out[0] = most

    @af.kernel
    def the_largest_difference_in_an_array(A: af.f64[N], B: af.f64[N], out: af.f64[1]):
        with af.for_(N) as i:
            apart = A[i] - B[i]
            out[0] = af.select(apart > out[0], apart, out[0])

    extremes = (the_largest_difference, the_largest_difference_in_an_array)
    simple = (quotients, roots, polynomials, the_last_number, columns, short_floats, under_conditions, numbers_alone)
    kernels = (*simple, *extremes, the_last_one, products_of_matrices, where_data_says)
    assert not is_in_order(kernels[which])


@pytest.mark.parametrize(
    ("terms", "outer", "is_short"),
    [(2, None, True), (8, None, True), (16, None, True), (17, None, False), (3, 3, True), (4, 8, True), (5, 7, False),
     (8, 8, False), (3, N, False), (8, N, False), (N, None, False)],
)  # fmt: skip
@pytest.mark.parametrize("where", ["variable", "array", "value"])
def test_short_sums_are_unrolled_and_others_in_order(terms, outer, is_short, where):
    rows = 1 if outer is None else outer

    @af.kernel
    def sums(A: af.f64[N, rows, terms], y: af.f64[N]):
        with af.for_(N) as i:
            if where == "array":
                y[i] = 0.0
                with af.for_(rows) as j, af.for_(terms) as k:
                    y[i] += A[i, j, k]
            else:
                total = af.var(af.f64(0))
                with af.for_(rows) as j, af.for_(terms) as k:
                    total += A[i, j, k]
                y[i] = total

    assert is_in_order(af.Schedule(sums).scalar_replace("k").kernel() if where == "value" else sums) is not is_short


def test_sums_that_begin_anew_in_a_loop_around_are_as_short_as_they_are():
    @af.kernel
    def each_row(A: af.f64[N, N, 3], y: af.f64[N, N]):
        with af.for_(N) as i, af.for_(N) as j, af.for_(3) as k:
            y[i, j] += A[i, j, k]

    assert not is_in_order(each_row)


def test_small_elements_that_are_looked_up_several_at_once():
    @af.kernel
    def one(x: af.u8[N], table: af.u8[256], out: af.u8[N]):
        with af.for_(N) as i:
            out[i] = table[x[i]]

    assert not is_in_order(one)
    assert is_in_order(af.Schedule(one).unroll("i", 4).kernel())


def added_in_a_branch(x, most, s):
    """What is small enough, where there is more than that."""
    with af.if_(x < most):
        s.set(s + x * x / (x + 2))


def chosen_sum(x, most, s):
    """A sum or what there was."""
    s.set(af.select(x < most, s + x * x / (x + 2), s))


def chosen_addend(x, most, s):
    """What changes no sum, or what is added."""
    s.set(s + af.select(x < most, x * x / (x + 2), -0.0))


@pytest.mark.parametrize("adds", [added_in_a_branch, chosen_sum, chosen_addend])
def test_a_negative_zero_to_which_nothing_is_added_stays(adds):
    @af.kernel
    def kernel(x: af.f64[N], most: af.f64, out: af.f64[1]):
        s = af.var(out[0])
        with af.for_(N) as i:
            adds(x[i], most, s)
        out[0] = s

    @af.kernel
    def from_zero(x: af.f64[N], most: af.f64, out: af.f64[1]):
        s = af.var(af.f64(0))
        with af.for_(N) as i:
            adds(x[i], most, s)
        out[0] = s

    @af.kernel
    def in_an_element(x: af.f64[N], most: af.f64, out: af.f64[1]):
        with af.for_(N) as i:
            out[0] = out[0] + af.select(x[i] < most, x[i] / (x[i] + 2), -0.0)

    assert is_in_order(kernel)
    assert not is_in_order(from_zero)
    in_values = af.Schedule(kernel).scalar_replace("i").kernel()
    for made in (kernel, in_values, in_an_element, kernel.optimize("avx2", threads=1)):
        out = np.array([-0.0])
        made(np.full(64, 5.0), 1.0, out)
        assert out.tobytes() == np.array([-0.0]).tobytes()
