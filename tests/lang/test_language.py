"""Right programs: the IR that they build, as MLIR text that mlir-opt accepts, and what it computes."""

import functools
import itertools
import re

import numpy as np
import pytest

import affdsl as af
from tests.oracles import mlir_opt

M, N, K, P = af.symbols("M N K P")


def body(kernel) -> str:
    """What a kernel's own function does, without its signature."""
    text = str(kernel.func)
    return text[text.index(" {\n") + 3 : text.rindex("  return")]


def check(golden, kernel) -> None:
    golden(kernel.mlir(), f"{kernel.name}.mlir")
    canonical = mlir_opt(kernel.mlir())
    assert mlir_opt(canonical) == canonical


def test_loops_are_called_what_the_user_called_them(golden):
    @af.kernel
    def names(A: af.f32[M, N], s: af.f32[1]):
        with af.for_(M) as row, af.for_(N) as column:
            element = A[row, column]
            doubled = element * 2.0
            A[row, column] = doubled
        with af.for_(N, iter_args=af.f32(0)) as (i, total):
            af.yield_(total + A[0, i])
        s[0] = total

    check(golden, names)


def test_a_loop_without_a_name_is_called_i():
    @af.kernel
    def f(A: af.f32[N]):
        with af.for_(N):
            A[0] += 1.0

    assert "affine.for %i = 0 to %N {" in body(f)


def test_a_name_that_a_call_of_a_helper_gives_does_not_stick():
    def both(A, i):
        left = A[i]
        return left + A[i + 1]

    @af.kernel
    def f(A: af.f32[N + 1]):
        with af.for_(N) as i:
            A[i] = both(A, i)

    assert "%left = affine.load %A[%i]" in body(f)


def test_bounds_are_extremes_steps_and_ranges(golden):
    @af.kernel
    def bounds(A: af.f32[N, M], n: K):
        with af.for_(af.max(0, n - 3), af.min(N, M + 1, n), 2) as i:
            with af.for_(i, M, step=4) as j, af.for_(af.min(i, j) + 1) as k:
                A[i, j] = A[k, 0]

    check(golden, bounds)


def test_several_values_are_carried_and_may_change_places(golden):
    @af.kernel
    def fibonacci(n: N) -> None:
        with af.for_(n, iter_args=[af.i64(0), af.i64(1)]) as (_, a, b):
            af.yield_(b, a + b)
        return a

    check(golden, fibonacci)
    assert [int(fibonacci.interpret(n)) for n in range(8)] == [0, 1, 1, 2, 3, 5, 8, 13]
    assert int(fibonacci(10)) == 55


def test_a_carried_name_may_be_used_again_for_the_next_loop():
    @af.kernel
    def f(A: af.f64[N]):
        s = af.f64(0)
        with af.for_(N, iter_args=[s]) as (i, s):
            af.yield_(s + A[i])
        with af.for_(N, iter_args=[s]) as (i, s):
            af.yield_(s - A[i] / 2.0)
        return s

    assert f.interpret(np.arange(4.0)) == 3.0


def test_a_plus_keeps_the_value_of_the_last_iteration():
    @af.kernel
    def f(A: af.f64[N]):
        with af.for_(N, iter_args=[af.f64(0), af.f64(0)]) as (i, s, last):
            before = +s
            af.yield_(s + A[i], before)
        return s, last

    assert tuple(map(float, f.interpret(np.arange(4.0)))) == (6.0, 3.0)


def test_carried_values_may_be_unpacked_later():
    @af.kernel
    def f(A: af.f64[N]):
        with af.for_(N, iter_args=[af.f64(0)]) as both:
            i, s = both
            af.yield_(s + A[i])
        return s

    assert f.interpret(np.arange(4.0)) == 6.0


def test_results_are_not_called_like_the_kernel():
    @af.kernel
    def f(A: af.f64[N]):
        return N > 3

    assert "%f" not in str(f.func)


def test_parallel_bands_reduce(golden):
    @af.kernel
    def sums(A: af.f64[M, N]):
        with af.parallel((1, M), (0, af.min(N, M), 2), reduce=[("addf", af.f64), ("maximumf", af.f64)]) as (i, j, s, m):
            af.yield_(A[i, j], A[i, j])
        return s, m

    check(golden, sums)
    a = np.arange(12.0).reshape(3, 4)
    assert tuple(map(float, sums.interpret(a))) == (a[1:, :3:2].sum(), a[1:, :3:2].max())


def test_branches_are_affine_or_computed(golden):
    @af.kernel
    def branches(A: af.f32[N]):
        with af.for_(N) as i:
            with af.if_((i >= 1) & (i < N - 1)):
                A[i] = 0.0
            with af.if_((i < 2) | (i > 5)):
                A[i] = 1.0
            with af.else_():
                A[i] = 2.0
            with af.if_(i != 3):
                A[i] = 3.0
            with af.if_(~(i == 4), af.f32) as x:
                af.yield_(A[i])
            with af.else_():
                af.yield_(5)
            with af.if_(A[i] > x, af.f32, af.i32) as (y, n):
                af.yield_(x, 1)
            with af.else_():
                af.yield_(A[i], 2)
            A[i] = y + af.f32(n)

    check(golden, branches)


CONDITIONS = {
    "i < 3": lambda i: i < 3,
    "i >= 2": lambda i: i >= 2,
    "i == 2": lambda i: i == 2,
    "i != 2": lambda i: i != 2,
    "3 > i": lambda i: 3 > i,  # noqa: SIM300
    "~(i < 3)": lambda i: ~(i < 3) if not isinstance(i, int) else not i < 3,
    "(i > 0) & (i < 4)": lambda i: (i > 0) & (i < 4),
    "(i < 1) | (i > 3)": lambda i: (i < 1) | (i > 3),
    "(i != 1) & (i != 2)": lambda i: (i != 1) & (i != 2),
    "(i == 1) | (i == 2)": lambda i: (i == 1) | (i == 2),
    "(i < 3) ^ (i > 1)": lambda i: (i < 3) ^ (i > 1),
    "((i < 3) & (i > 0)) | (i == 4)": lambda i: ((i < 3) & (i > 0)) | (i == 4),
}


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
@pytest.mark.parametrize("orelse", [False, True])
def test_a_condition_means_what_it_means_in_python(condition, orelse):
    @af.kernel
    def f(A: af.i32[N]):
        with af.for_(N) as i:
            with af.if_(condition(i)):
                A[i] = 1
            if orelse:
                with af.else_():
                    A[i] = 2

    a = np.zeros(6, "i4")
    f.interpret(a)
    assert a.tolist() == [1 if condition(i) else 2 * orelse for i in range(6)]


@pytest.mark.parametrize("holds", [True, False, np.True_, np.False_])
def test_a_python_truth_value_is_a_condition(holds):
    @af.kernel
    def f(A: af.i32[N]):
        with af.if_(holds):
            A[0] = 1
        with af.else_():
            A[0] = 2

    a = np.zeros(1, "i4")
    f.interpret(a)
    assert a[0] == (1 if holds else 2)


def test_what_data_says_is_not_affine(golden):
    @af.kernel
    def data(A: af.f32[N], where: af.i32[N], count: af.i64[1]):
        with af.for_(count[0]) as top:
            A[top] = 0.0
        with af.for_(N) as i:
            A[where[i]] += 1.0
            with af.for_(where[i], N) as j:
                A[j] = A[i * af.index(i) % 3]

    check(golden, data)


def test_symbols_may_multiply_and_divide_indices(golden):
    @af.kernel
    def semi_affine(A: af.f32[N, K], B: af.f32[P], n: M):
        af.assume(K >= 1, n >= 1, P == N * K)
        with af.for_(N) as i, af.for_(K) as j:
            B[i * K + j] = A[i, j]
        with af.for_(P) as k:
            A[k // K, k % K] = B[k]
        with af.for_(P.ceildiv(n)) as t:
            B[t] = 0.0

    check(golden, semi_affine)


def test_all_divisions_are_those_of_python():
    divisors = [-7, -3, -1, 1, 2, 5]

    @af.kernel
    def f(X: af.i32[M], Y: af.i32[N], Q: af.i32[M, N], R: af.i32[M, N]):
        with af.for_(M) as i, af.for_(N) as j:
            Q[i, j] = X[i] // Y[j]
            R[i, j] = X[i] % Y[j]

    x, y = np.arange(-8, 9, dtype="i4"), np.array(divisors, "i4")
    for run in (f, f.interpret):
        q, r = np.empty((2, len(x), len(y)), "i4")
        run(x, y, q, r)
        assert q.tolist() == [[int(a) // b for b in divisors] for a in x]
        assert r.tolist() == [[int(a) % b for b in divisors] for a in x]


def test_divisions_of_indices_are_those_of_python():
    @af.kernel
    def f(Q: af.i64[17, 3]):
        with af.for_(17) as i:
            k = i - 8
            Q[i, 0] = af.i64(k // 3)
            Q[i, 1] = af.i64(k % 3)
            Q[i, 2] = af.i64(k.ceildiv(3))

    q = np.empty((17, 3), "i8")
    f.interpret(q)
    assert q.tolist() == [[k // 3, k % 3, -(-k // 3)] for k in range(-8, 9)]


def test_unsigned_numbers_divide_shift_and_compare_as_such():
    @af.kernel
    def f(A: af.u8[N], out: af.u8[N, 4]):
        with af.for_(N) as i:
            out[i, 0] = A[i] // 3
            out[i, 1] = A[i] % 7
            out[i, 2] = A[i] >> 2
            out[i, 3] = af.select(A[i] > 100, af.u8(1), af.u8(0))

    a = np.arange(256).astype("u1")
    for run in (f, f.interpret):
        out = np.empty((256, 4), "u1")
        run(a, out)
        expected = np.stack([a // 3, a % 7, a >> 2, (a > 100).astype("u1")], axis=1)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", [af.bool_, af.i8, af.i32, af.i64, af.u8, af.u16, af.u32, af.u64], ids=str)
def test_all_bits_are_inverted(dtype):
    @af.kernel
    def invert(x: dtype[N]):
        with af.for_(N) as i:
            x[i] = ~x[i]

    given = np.array([0, 1, 5, 100]).astype(dtype.numpy)
    for run in (invert, invert.interpret):
        x = given.copy()
        run(x)
        np.testing.assert_array_equal(x, ~given)


def test_numbers_on_the_left_work_too():
    @af.kernel
    def f(A: af.i32[N], out: af.i32[6]):
        out[0] = 7 - A[0]
        out[1] = 7 // A[0]
        out[2] = 7 % A[0]
        out[3] = 1 << A[0]
        out[4] = 64 >> A[0]
        out[5] = 6 & A[0]

    out = np.empty(6, "i4")
    f.interpret(np.array([3], "i4"), out)
    assert out.tolist() == [4, 2, 1, 8, 8, 2]


NAMES = "f16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool_".split()
NUMPY = {name: getattr(af, name).numpy for name in NAMES}


@functools.cache
def cast(source, target):
    a, b = getattr(af, source), getattr(af, target)

    @af.kernel
    def f(X: a[N], Y: b[N]):
        with af.for_(N) as i:
            Y[i] = b(X[i])

    return f


PAIRS = list(itertools.product(NUMPY, NUMPY))


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_casts_between_all_types(source, target):
    x = np.array([0, 1, 2, 100], dtype=NUMPY[source])
    y = np.empty(4, NUMPY[target])
    cast(source, target).interpret(x, y)
    np.testing.assert_array_equal(y, x.astype(NUMPY[target]))


def test_mlir_opt_reads_casts_between_all_types():
    mlir_opt("// -----\n".join(cast(*pair).mlir() for pair in PAIRS), "--split-input-file")


@pytest.mark.parametrize("source", ["f32", "f64", "i8", "i64", "u8", "u32", "bool_"])
def test_casts_to_an_index_and_back(source):
    dtype = getattr(af, source)

    @af.kernel
    def f(X: dtype[N], Y: dtype[N]):
        with af.for_(N) as i:
            Y[i] = dtype(af.index(af.i64(X[i]) if dtype.kind == "float" else X[i]))

    x = np.array([0, 1, 1, 100]).astype(NUMPY[source])
    y = np.zeros(4, NUMPY[source])
    f.interpret(x, y)
    np.testing.assert_array_equal(y, x)


def test_negative_and_large_numbers_become_indices():
    @af.kernel
    def f(X: af.i8[N], U: af.u8[N], Y: af.i64[N, 2]):
        with af.for_(N) as i:
            Y[i, 0] = af.i64(af.index(X[i]))
            Y[i, 1] = af.i64(af.index(U[i]))

    y = np.zeros((1, 2), "i8")
    f.interpret(np.array([-3], "i1"), np.array([200], "u1"), y)
    assert y.tolist() == [[-3, 200]]


def test_numpy_scalars_are_literals():
    third, two = np.float64(1) / 3, np.int64(2)

    @af.kernel
    def f(A: af.f32[N], B: af.i32[N]):
        A[0] = third
        A[1] = np.float32(0.5) * A[1]
        A[two] = np.float64(3) - A[two]
        B[0] = np.int16(7)
        B[1] = two + B[1] // np.uint8(2)
        with af.for_(two, N) as i, af.if_(i < np.int32(4)):
            B[i] = np.int64(1)

    a, b = np.arange(5, dtype="f4"), np.arange(5, dtype="i4")
    f.interpret(a, b)
    assert a.tolist() == [np.float32(1 / 3), 0.5, 1.0, 3.0, 4.0]
    assert b.tolist() == [7, 2, 1, 1, 4]


def test_infinities_and_not_a_number_are_literals():
    @af.kernel
    def f(A: af.f32[3]):
        A[0] = float("inf")
        A[1] = -float("inf")
        A[2] = float("nan")

    a = np.zeros(3, "f4")
    f.interpret(a)
    np.testing.assert_array_equal(a, [np.inf, -np.inf, np.nan])


def test_the_largest_numbers_fit():
    @af.kernel
    def f(A: af.f32[1], B: af.f16[1], C: af.u64[1], D: af.i64[1]):
        A[0] = float(np.finfo("f4").max)
        B[0] = 65519.0
        C[0] = 2**64 - 1
        D[0] = -(2**63)

    a, b, c, d = (np.zeros(1, t) for t in ("f4", "f2", "u8", "i8"))
    f.interpret(a, b, c, d)
    assert (a[0], b[0], c[0], d[0]) == (np.finfo("f4").max, np.finfo("f2").max, 2**64 - 1, -(2**63))


def test_arrays_are_allocated_copied_freed_and_returned(golden):
    @af.kernel
    def arrays(A: af.f32[M, N]):
        T = af.alloc(af.f32[M, N])
        af.copy(A, T)
        small = af.alloca(af.f32[4])
        small[0] = T[0, 0]
        result = af.alloc(af.f32[N + 1])
        with af.for_(M) as i:
            inner = af.alloc(af.f32[N])
            inner[0] = T[i, 0] + small[0]
            result[0] = inner[0]
        return result, A.shape[0], T[0, 0]

    check(golden, arrays)


def test_an_array_without_dimensions_is_one_number():
    @af.kernel
    def f(x: af.f32[()]):
        x[()] += 1.0
        x[...] *= 3.0

    x = np.array(1.0, "f4")
    f.interpret(x)
    assert x == 6.0


def test_a_size_may_be_computed_before_the_loops():
    @af.kernel
    def f(n: af.index, A: af.f64[N]):
        T = af.alloc(af.f64[n * 2 + 1])
        T[0] = 1.0
        A[0] = T[0] + af.f64(T.shape[0])

    a = np.zeros(1)
    f.interpret(3, a)
    assert a[0] == 8.0


@af.kernel
def scale(A: af.f32[M, N], x: af.f32):
    with af.for_(M) as i, af.for_(N) as j:
        A[i, j] *= x


@af.kernel
def dot(a: af.const(af.f64[N]), b: af.const(af.f64[N])):
    with af.for_(N, iter_args=[af.f64(0)]) as (i, s):
        af.yield_(s + a[i] * b[i])
    return s


@af.kernel
def doubled(A: af.f64[N]):
    B = af.alloc(af.f64[N * 2])
    with af.for_(N * 2) as i:
        B[i] = A[i % N]
    return B


def test_sizes_of_calls_are_unified(golden):
    @af.kernel
    def calls(X: af.f32[K, K + 1], Y: af.f32[3, K], v: af.f64[P]):
        scale(X, 2)
        scale(A=Y, x=X[0, 0])
        w = doubled(v)
        norm = dot(v, v)
        return norm, w

    check(golden, calls)
    assert "call @scale(%K, " in body(calls)
    x, y, v = np.ones((2, 3), "f4"), np.ones((3, 2), "f4"), np.array([3.0, 4.0])
    norm, w = calls.interpret(x, y, v)
    assert (norm, w.tolist(), x[1, 2], y[2, 1]) == (25.0, [3, 4, 3, 4], 2.0, 2.0)


def test_kernels_of_one_name_keep_apart():
    def made(number):
        @af.kernel
        def fill(A: af.f32[N]):
            with af.for_(N) as i:
                A[i] += number

        return fill

    one, two = made(1.0), made(10.0)

    @af.kernel
    def fill(A: af.f32[N]):
        one(A)
        two(A)
        one(A)

    a = np.zeros(2, "f4")
    fill.interpret(a)
    assert a.tolist() == [12.0, 12.0]
    symbols = re.findall(r"func\.func @(\w+)", fill.mlir())
    assert len(set(symbols)) == len(symbols) == 3
    mlir_opt(fill.mlir())


def test_a_factory_may_stack_its_kernels():
    def plus_one(inner):
        @af.kernel
        def step(A: af.f32[N]):
            if inner is not None:
                inner(A)
            A[0] += 1.0

        return step

    third = plus_one(plus_one(plus_one(None)))
    a = np.zeros(1, "f4")
    third.interpret(a)
    assert a[0] == 3.0


def test_an_assumption_of_the_callee_becomes_one_of_the_caller():
    @af.kernel
    def f(A: af.f32[N]):
        af.assume(N >= 4)
        A[3] = 0.0

    @af.kernel
    def g(X: af.f32[M + 1]):
        f(X)

    assert "affine_set<()[M] : (M - 3 >= 0)>" in g.mlir()


def test_names_may_stand_for_other_arrays_in_each_block():
    """Only an exchange is refused: it can mean nothing but one in each iteration."""

    @af.kernel
    def shift(u: af.f64[N], v: af.f64[N]):
        target = u
        for source in (u, v):  # Python's loop: two loops of the kernel
            with af.for_(N) as i:
                total = source[i]
                target = v if source is u else u
                target[i] = total + 1.0
        with af.for_(2):
            u, v = u, v
            first, second = v, u
            first[0] = second[0]

    u, v = np.array([1.0, 2.0]), np.zeros(2)
    shift.interpret(u, v)
    assert (u.tolist(), v.tolist()) == ([3, 4], [3, 3])


def test_the_larger_of_two_numbers_of_python_has_no_type():
    with pytest.raises(af.ProgramTypeError, match=r"max on Python numbers alone has no type; write affdsl\.f64\(x\)"):

        @af.kernel
        def numbers(A: af.f64[N]):
            with af.for_(af.max(-1, 2), N) as i:
                A[i] = 1.0


def test_a_kernel_inside_of_a_function_that_calls_itself_is_told_so():
    with pytest.raises(af.ProgramError, match="kernel again calls itself"):

        @af.kernel
        def again(A: af.f64[N]):
            again(A)
