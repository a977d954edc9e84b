"""Kernels of which one access leaves its array, each with a look-alike of which none does."""

from collections.abc import Callable
from dataclasses import dataclass

import affdsl as af

M, N, K = af.symbols("M N K")

Function = Callable[..., None]


@dataclass(frozen=True)
class Wrong:
    """A function, the access that is wrong, and whether it is so for all sizes that matter."""

    function: Function
    access: str
    is_error: bool = True


WRONG: list[Wrong] = []
RIGHT: list[Function] = []


def wrong(access: str, *, is_error: bool = True) -> Callable[[Function], Function]:
    def add(function: Function) -> Function:
        WRONG.append(Wrong(function, access, is_error))
        return function

    return add


def right(function: Function) -> Function:
    RIGHT.append(function)
    return function


@wrong("A[i + 1]")
def off_by_one(A: af.f64[N]):
    with af.for_(N) as i:
        A[i + 1] = 0.0


@right
def off_by_one_in_a_shorter_loop(A: af.f64[N]):
    with af.for_(N - 1) as i:
        A[i + 1] = 0.0


@wrong("A[i - 1]")
def negative(A: af.f64[N]):
    with af.for_(N) as i:
        A[i - 1] = 0.0


@right
def negative_from_one_on(A: af.f64[N]):
    with af.for_(1, N) as i:
        A[i - 1] = 0.0


@wrong("A[i]")
def last_iteration(A: af.f64[N]):
    with af.for_(N + 1) as i:
        A[i] = 0.0


@right
def last_iteration_of_a_longer_array(A: af.f64[N + 1]):
    with af.for_(N + 1) as i:
        A[i] = 0.0


@wrong("A[i]")
def negative_start(A: af.f64[N]):
    with af.for_(-2, N) as i:
        A[i] = 0.0


@right
def negative_start_moved(A: af.f64[N]):
    with af.for_(-2, N - 2) as i:
        A[i + 2] = 0.0


@wrong("A[N + i]")
def all_behind(A: af.f64[N]):
    with af.for_(N) as i:
        A[N + i] = 0.0


@wrong("A[i * 2]")
def twice(A: af.f64[N]):
    with af.for_(N) as i:
        A[2 * i] = 0.0


@right
def twice_in_a_longer_array(A: af.f64[2 * N]):
    with af.for_(N) as i:
        A[2 * i] = A[2 * i + 1]


@wrong("A[N - i]")
def reversed_by_one(A: af.f64[N]):
    with af.for_(N) as i:
        A[N - i] = 0.0


@right
def reversed_(A: af.f64[N]):
    with af.for_(N) as i:
        A[N - 1 - i] = 0.0


@wrong("A[i + 10]")
def numbers(A: af.f64[20]):
    with af.for_(11) as i:
        A[i + 10] = 0.0


@right
def numbers_that_fit(A: af.f64[20]):
    with af.for_(10) as i:
        A[i + 10] = 0.0


@wrong("A[i + 2]")
def step_reaches_too_far(A: af.f64[N]):
    with af.for_(0, N, step=2) as i:
        A[i + 2] = 0.0


@right
def step_with_its_neighbour(A: af.f64[2 * N]):
    with af.for_(0, 2 * N, step=2) as i:
        A[i + 1] = 0.0


@wrong("A[i + 1]", is_error=False)
def step_with_its_neighbour_of_an_odd_size(A: af.f64[N]):
    with af.for_(0, N, step=2) as i:
        A[i + 1] = 0.0


@wrong("A[i + 3]")
def step_of_three(A: af.f64[12]):
    with af.for_(0, 12, step=3) as i:
        A[i + 3] = 0.0


@right
def step_of_four(A: af.f64[12]):
    with af.for_(0, 12, step=4) as i:
        A[i + 3] = 0.0


@wrong("A[i // 2]")
def half_of_too_much(A: af.f64[N]):
    with af.for_(2 * N + 1) as i:
        A[i // 2] = 0.0


@right
def half(A: af.f64[N]):
    with af.for_(2 * N) as i:
        A[i // 2] = 0.0


@wrong("A[i % 5]", is_error=False)
def remainder_of_a_larger_number(n: N, A: af.f64[4]):
    with af.for_(N) as i:
        A[i % 5] = 0.0


@right
def remainder(n: N, A: af.f64[4]):
    with af.for_(N) as i:
        A[i % 4] = 0.0


@wrong("A[i // 3, i % 3]")
def rows_of_three(A: af.f64[K, 3]):
    with af.for_(3 * K + 1) as i:
        A[i // 3, i % 3] = 0.0


@right
def rows_of_three_that_fit(A: af.f64[K, 3]):
    with af.for_(3 * K) as i:
        A[i // 3, i % 3] = 0.0


@wrong("A[(i - 1) // 2]")
def rounded_down_below_zero(A: af.f64[N]):
    with af.for_(N) as i:
        A[(i - 1) // 2] = 0.0


@right
def rounded_down(A: af.f64[N]):
    with af.for_(1, N) as i:
        A[(i - 1) // 2] = 0.0


@wrong("B[j, i]", is_error=False)
def transposed(A: af.f64[M, N], B: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        B[j, i] = A[i, j]


@right
def transposed_rightly(A: af.f64[M, N], B: af.f64[N, M]):
    with af.for_(M) as i, af.for_(N) as j:
        B[j, i] = A[i, j]


@wrong("A[i, j + 1]")
def triangle(A: af.f64[N, N]):
    with af.for_(N) as i, af.for_(i + 1) as j:
        A[i, j + 1] = 0.0


@right
def strict_triangle(A: af.f64[N, N]):
    with af.for_(N) as i, af.for_(i) as j:
        A[i, j + 1] = 0.0


@wrong("A[i - j - 1]")
def triangle_below_zero(A: af.f64[N]):
    with af.for_(N) as i, af.for_(i + 1) as j:
        A[i - j - 1] = 0.0


@right
def triangle_differences(A: af.f64[N]):
    with af.for_(N) as i, af.for_(i) as j:
        A[i - j - 1] = 0.0


@wrong("A[i + j]")
def sums(A: af.f64[N]):
    with af.for_(N) as i, af.for_(N) as j:
        A[i + j] = 0.0


@right
def sums_in_a_longer_array(A: af.f64[2 * N]):
    with af.for_(N) as i, af.for_(N) as j:
        A[i + j] = 0.0


@wrong("A[i + 1, j]")
def stencil(A: af.f64[M, N], B: af.f64[M, N]):
    with af.for_(1, M) as i, af.for_(1, N - 1) as j:
        B[i, j] = A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]


@right
def stencil_inside(A: af.f64[M, N], B: af.f64[M, N]):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        B[i, j] = A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]


@wrong("A[t - i * 2]")
def wavefront(A: af.f64[N]):
    with af.for_(2 * N) as t, af.for_(N) as i:
        A[t - 2 * i] = 0.0


@right
def wavefront_inside(A: af.f64[N]):
    with af.for_(2 * N) as t, af.for_(af.max(0, t - N + 1), af.min(N, t + 1)) as i:
        A[t - i] = 0.0


@wrong("A[i + 1]")
def guarded_by_the_wrong_side(A: af.f64[N]):
    with af.for_(N) as i:
        with af.if_(i >= 1):
            A[i + 1] = 0.0


@right
def guarded(A: af.f64[N]):
    with af.for_(N) as i:
        with af.if_(i < N - 1):
            A[i + 1] = 0.0


@wrong("A[i - 1]")
def in_the_else_branch(A: af.f64[N]):
    with af.for_(N) as i:
        with af.if_(i >= 1):
            A[i - 1] = 0.0
        with af.else_():
            A[i - 1] = 1.0


@right
def in_both_branches(A: af.f64[N]):
    with af.for_(N) as i:
        with af.if_(i >= 1):
            A[i - 1] = 0.0
        with af.else_():
            A[N - 1] = 1.0


@wrong("A[i + 2]")
def guarded_for_even_iterations(A: af.f64[N]):
    with af.for_(N) as i:
        with af.if_(i % 2 == 0):
            A[i + 2] = 0.0


@right
def guarded_for_even_iterations_of_an_even_size(A: af.f64[2 * N]):
    with af.for_(2 * N) as i:
        with af.if_(i % 2 == 0):
            A[i + 1] = 0.0


@wrong("A[i, j]")
def guarded_by_a_sum(A: af.f64[N, N]):
    with af.for_(2 * N) as i, af.for_(N) as j:
        with af.if_(i + j <= 2 * N - 2):
            A[i, j] = 0.0


@right
def guarded_by_a_sum_that_suffices(A: af.f64[N, N]):
    with af.for_(2 * N) as i, af.for_(N) as j:
        with af.if_(i + j <= N - 1):
            A[i, j] = 0.0


@wrong("A[i]", is_error=False)
def clamped_to_too_much(A: af.f64[N]):
    with af.for_(0, N, step=8) as t:
        with af.for_(t, af.min(t + 8, N + 1)) as i:
            A[i] = 0.0


@right
def clamped(A: af.f64[N]):
    with af.for_(0, N, step=8) as t:
        with af.for_(t, af.min(t + 8, N)) as i:
            A[i] = 0.0


@wrong("A[i]", is_error=False)
def not_clamped(A: af.f64[N]):
    with af.for_(0, N, step=8) as t:
        with af.for_(t, t + 8) as i:
            A[i] = 0.0


@right
def tiles_that_fit(A: af.f64[8 * N]):
    with af.for_(0, 8 * N, step=8) as t:
        with af.for_(t, t + 8) as i:
            A[i] = 0.0


@wrong("A[min]")
def least_of_too_much(A: af.f64[N]):
    with af.for_(2 * N + 1) as i:
        A[af.min(i, N)] = 0.0


@right
def least(A: af.f64[N]):
    with af.for_(2 * N) as i:
        A[af.min(i, N - 1)] = 0.0


@wrong("B[i]", is_error=False)
def of_another_size(A: af.f64[N], B: af.f64[M]):
    with af.for_(N) as i:
        B[i] = A[i]


@right
def of_another_size_that_is_larger(A: af.f64[N], B: af.f64[M]):
    af.assume(N <= M)
    with af.for_(N) as i:
        B[i] = A[i]


@wrong("A[1]", is_error=False)
def second_element(A: af.f64[N]):
    A[1] = 0.0


@right
def second_element_of_two(A: af.f64[N]):
    af.assume(N >= 2)
    A[1] = 0.0


@wrong("A[K + i]")
def shifted_by_a_symbol(A: af.f64[N], B: af.f64[K]):
    af.assume(K >= 1)
    with af.for_(N) as i:
        A[i + K] = B[0]


@right
def shifted_by_a_symbol_that_fits(A: af.f64[N + K], B: af.f64[K], C: af.f64[N]):
    with af.for_(N) as i:
        A[i + K] = 1.0


@wrong("A[n + i]", is_error=False)
def shifted_by_an_argument(n: af.index, A: af.f64[N]):
    with af.for_(N) as i:
        A[i + n] = 0.0


@right
def at_an_argument(n: af.index, A: af.f64[N]):
    af.assume(n >= 0, n < N)
    A[n] = 0.0


@wrong("A[n]", is_error=False)
def at_any_argument(n: af.index, A: af.f64[N]):
    A[n] = 0.0


@wrong("A[i]", is_error=False)
def more_than_a_fixed_size(n: af.index, A: af.f64[64]):
    with af.for_(n) as i:
        A[i] = 0.0


@right
def at_most_a_fixed_size(n: af.index, A: af.f64[64]):
    af.assume(n <= 64)
    with af.for_(n) as i:
        A[i] = 0.0


@wrong("A[i, j - 1]")
def band(A: af.f64[M, N]):
    with af.parallel(M, N) as (i, j):
        A[i, j - 1] = 0.0


@right
def band_inside(A: af.f64[M, N]):
    with af.parallel(M, (1, N)) as (i, j):
        A[i, j - 1] = 0.0


@wrong("T[i + 1]")
def local(A: af.f64[N]):
    T = af.alloc(af.f64[N])
    with af.for_(N) as i:
        T[i + 1] = A[i]


@right
def local_that_is_larger(A: af.f64[N]):
    T = af.alloc(af.f64[N + 1])
    with af.for_(N) as i:
        T[i + 1] = A[i]


@wrong("T[i - t + 1]", is_error=False)
def local_tile(A: af.f64[N]):
    with af.for_(0, N, step=16) as t:
        T = af.alloc(af.f64[16])
        with af.for_(t, af.min(t + 16, N)) as i:
            T[i - t + 1] = A[i]


@right
def local_tile_that_fits(A: af.f64[N]):
    with af.for_(0, N, step=16) as t:
        T = af.alloc(af.f64[16])
        with af.for_(t, af.min(t + 16, N)) as i:
            T[i - t] = A[i]


@wrong("B[i]", is_error=False)
def vector_tail(A: af.f64[N], B: af.f64[N]):
    with af.for_(0, N, step=4) as i:
        af.vector_store(af.vector_load(B, i, 4), A, i)


@right
def vectors_that_fit(A: af.f64[4 * N], B: af.f64[4 * N]):
    with af.for_(0, 4 * N, step=4) as i:
        af.vector_store(af.vector_load(B, i, 4), A, i)


@right
def vectors_without_their_tail(A: af.f64[N], B: af.f64[N]):
    with af.for_(0, N - 3, step=4) as i:
        af.vector_store(af.vector_load(B, i, 4), A, i)
