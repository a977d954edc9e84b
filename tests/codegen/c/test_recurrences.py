"""Which loops C runs one iteration after the other, since gcc 12 makes wrong or slow vectors of some of them."""

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


@pytest.mark.parametrize("which", range(5))
def test_other_loops_are_vectorized_as_before(which):
    @af.kernel
    def one_sum(A: af.i32[4], B: af.i32[N]):
        with af.for_(N) as i:
            A[0] += B[i]

    @af.kernel
    def sums_of_floats(A: af.f32[4], B: af.f32[N]):
        with af.for_(N) as i:
            A[0] += B[i]
            A[1] += B[i]

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

    kernels = (one_sum, sums_of_floats, sums_in_variables, elements_that_move, stores_alone)
    assert not is_in_order(kernels[which])


def test_small_elements_that_are_looked_up_several_at_once():
    @af.kernel
    def one(x: af.u8[N], table: af.u8[256], out: af.u8[N]):
        with af.for_(N) as i:
            out[i] = table[x[i]]

    assert not is_in_order(one)
    assert is_in_order(af.Schedule(one).unroll("i", 4).kernel())
