"""What parts of arrays are to the rest: to dependences, schedules, calls, functions of the module, pickles."""

import pickle
import re

import numpy as np
import pytest

import affdsl as af
from affdsl.mlir.readers import parse
from tests import oracles
from tests.parts.kernels import CASES, axpy, batched_gemm, gemm, scaled, strided_axpy, strided_scaled, whole

K, M, N = af.symbols("K M N")


@af.kernel
def by_rows(A: af.f64[M, N], x: af.f64[N]):
    with af.for_(1, M) as i:
        row, above = A[i], A[i - 1]
        with af.for_(1, N) as j:
            row[j] += above[j - 1] * x[j]


@af.kernel
def by_elements(A: af.f64[M, N], x: af.f64[N]):
    with af.for_(1, M) as i, af.for_(1, N) as j:
        A[i, j] += A[i - 1, j - 1] * x[j]


def test_dependences_see_through_parts():
    found, wanted = (sorted(map(str, kernel.dependences().all())) for kernel in (by_rows, by_elements))
    assert found == wanted
    verdicts = [[(row.iv.hint, row.verdict) for row in kernel.loops()] for kernel in (by_rows, by_elements)]
    assert verdicts[0] == verdicts[1]


def test_schedules_are_of_the_elements_of_the_array():
    s = af.Schedule(by_rows)
    s.tile(("i", "j"), (4, 8))
    with pytest.raises(af.IllegalTransform) as caught:
        s.parallel("i")
    assert "A[i - 1, j - 1]" in str(caught.value)
    tuned = s.kernel()
    rng = np.random.default_rng(1)
    a, x = whole(rng, 9, 11), whole(rng, 11) % 2
    expected = a.copy()
    by_elements(expected, x)
    tuned(a, x)
    np.testing.assert_array_equal(a, expected)


def test_optimized_calls_are_loops_over_the_array():
    optimized = batched_gemm.optimize()
    assert "subview" not in optimized.mlir()
    assert "call" not in optimized.mlir()


def test_sizes_of_tiles_are_where_loops_end():
    """A minimum may be the end of a loop, and nothing else that is affine: other calls stay."""
    s = af.Schedule(next(case.kernel for case in CASES if case.kernel.name == "gemm_by_blocks"), inline=True)
    assert [loop.text for loop in s.loops()][3:] == [
        "i#2 = 0 to min(4, M - i#1)", "j#2 = 0 to min(3, N - j#1)", "k#2 = 0 to min(5, K - k#1)",
    ]  # fmt: skip

    @af.kernel
    def turned(x: af.strided(af.f64[N]), y: af.strided(af.f64[N])):
        with af.for_(N) as i:
            y[i] = x[N - 1 - i]

    @af.kernel
    def f(x: af.f64[N], y: af.f64[N]):
        with af.for_(0, N, 4) as i:
            turned(x[i : af.min(i + 4, N)], y[i : af.min(i + 4, N)])

    optimized = f.optimize()
    assert "call @turned" in optimized.mlir()
    x, y = np.arange(7.0), np.zeros(7)
    optimized(x, y)
    np.testing.assert_array_equal(y, [3, 2, 1, 0, 6, 5, 4])


def test_a_function_is_there_for_arrays_and_for_parts():
    @af.kernel
    def f(A: af.f64[M, N], x: af.f64[N]):
        axpy(1.0, A[0], x)
        axpy(1.0, A[1, :], x)
        t = af.alloc(af.f64[N])
        af.copy(x, t)
        axpy(1.0, t, x)

    types = [re.findall(r"memref<[^{}]*?>(?= \{)", line) for line in f.mlir().splitlines() if "func.func @axpy" in line]
    plain, part = "memref<?xf64>", "memref<?xf64, strided<[1], offset: ?>>"
    assert sorted(types) == [[part, plain], [plain, plain]]
    assert f.c().count("static void axpy") == 2


def test_blocks_of_contiguous_arrays_are_contiguous():
    """A function on contiguous arrays takes what is contiguous for certain, and nothing else."""
    contiguous = (
        "A[0]",
        "A[0, 1]",
        "A[0, 1, 2:4]",
        "A[0, 1:3]",
        "A[1:K]",
        "A[0, :, :]",
        "A[..., 0:N]",
        "A[0][1]",
        "A[0, 1:3][1]",
    )
    others = (
        "A[:, 0]",
        "A[:, :, 0]",
        "A[0, :, 0]",
        "A[0, :, 1:]",
        "A[:, 1:]",
        "A[0, 1, ::2]",
        "A[::2]",
        "A[1:3, 1:]",
        "A[0][:, 0]",
    )
    for text in (*contiguous, *others):
        found = {"af": af, "K": K, "M": M, "N": N}
        rank = evaluated(text, np.zeros((5, 5, 5))).ndim
        sizes = ", ".join(["K", "M", "N"][3 - rank :])
        source = f"""
@af.kernel
def g(x: af.f64[{sizes}]):
    with af.elements(x) as e:
        x[e] = 1.0

@af.kernel
def f(A: af.f64[K, M, N]):
    af.assume((K >= 4) & (M >= 4) & (N >= 4))
    g({text})
"""
        if text in others:
            with pytest.raises(af.ProgramTypeError, match=r"argument x of g is contiguous, and A\["):
                exec(source, found)
            continue
        exec(source, found)
        a, b = np.zeros((5, 6, 7)), np.zeros((5, 6, 7))
        found["f"](a)
        part = evaluated(text, b)
        assert part.flags.c_contiguous
        part[...] = 1
        np.testing.assert_array_equal(a, b)


def evaluated(text: str, array: np.ndarray) -> np.ndarray:
    """The part of an array that a text names."""
    found: dict[str, object] = {"A": array, "K": array.shape[0], "N": array.shape[2]}
    exec(f"part = {text}", found)
    part = found["part"]
    assert isinstance(part, np.ndarray)
    return part


def test_sizes_that_only_a_call_knows_are_checked_there():
    @af.kernel
    def f(x: af.f64[N], k: K):
        af.assume(K >= 0)
        axpy(1.0, x[:K], x[K:])

    f(np.ones(6), 3)
    with pytest.raises(af.SizeError) as caught:
        f(np.ones(6), 2)
    assert "only where 2 * K == N, but N = 6, K = 2" in str(caught.value)
    assert "it would call it with y of size 4 in dimension 0, which must be 2" in str(caught.value)


def test_parts_that_overlap_for_some_sizes_are_checked_at_each_call():
    @af.kernel
    def f(x: af.f64[N], k: K, m: M):
        af.assume(K >= 0, M >= 0)
        axpy(2.0, x[:K], x[M : M + K])

    assert [str(finding) for finding in f.check().conditions][-1].startswith(
        "the call of axpy: conditional: apart where"
    )
    x = np.ones(9)
    f(x, 3, 3)
    np.testing.assert_array_equal(x, [1, 1, 1, 3, 3, 3, 1, 1, 1])
    for call in (f, f.interpret, f.optimize()):
        with pytest.raises(af.SizeError) as caught:
            call(x, 3, 2)
        assert "is given parts of x that do not overlap only where" in str(caught.value)
        assert "it would call it with x and y, which both have x[2]" in str(caught.value)


@pytest.mark.parametrize("k", range(-1, 4))
def test_what_is_checked_of_parts_is_exact(k: int):
    """Every second row and others between: the condition on sizes is that of all elements."""

    @af.kernel
    def f(x: af.f64[N], m: M):
        strided_axpy(1.0, x[0:6:2], x[M + k : M + k + 9 : 3])

    for n in range(12, 15):
        for m in range(6):
            start = m + k
            fits = 0 <= start <= n - 7
            apart = not set(range(0, 6, 2)) & set(range(start, start + 9, 3))
            if fits and apart:
                f(np.zeros(n), m)
                continue
            with pytest.raises(af.SizeError):
                f(np.zeros(n), m)


def test_parts_are_checked_where_that_is_asked_for():
    @af.kernel(boundscheck=True)
    def f(A: af.f64[M, N], at: af.i32[M]):
        with af.for_(M) as i:
            scaled(A[at[i]], 2.0)
            strided_scaled(A[at[i], ::2], 2.0)

    a = np.ones((3, 4))
    f(a, np.array([2, 2, 0], np.int32))
    np.testing.assert_array_equal(a[:, :2], [[4, 2], [1, 1], [16, 4]])
    with pytest.raises(af.AffdslError, match="out of bounds for dimension 0 of A, which has size 3"):
        f(a, np.array([0, 3, 0], np.int32))


def test_what_is_not_proved_of_data_is_listed():
    kernel = next(case.kernel for case in CASES if case.kernel.name == "chosen_rows")
    assert [str(finding).partition(":")[0] for finding in kernel.check().unknown] == ["the view of A"]


def test_a_part_up_to_a_minimum_has_a_length_of_its_own():
    @af.kernel
    def f(A: af.f64[M, N]):
        with af.for_(0, M, 4) as i:
            rows = A[i : af.min(i + 4, M)]
            with af.for_(rows.shape[0] - 1) as k, af.for_(N) as j:
                rows[k + 1, j] = rows[k, j] + 1.0

    for m in (0, 1, 4, 7):
        a, b = np.zeros((m, 3)), np.zeros((m, 3))
        f(a)
        f.interpret(b)
        np.testing.assert_array_equal(a, np.tile(np.arange(m) % 4, (3, 1)).T)
        np.testing.assert_array_equal(a, b)


def test_pickles_and_text_have_them():
    for case in CASES[::3]:
        again = pickle.loads(pickle.dumps(case.kernel))  # noqa: S301 - it is our own
        given, expected = case.drawn(1, 5), case.drawn(1, 5)
        again(*given)
        case.wanted(*expected)
        for a, b in zip(given, expected, strict=True):
            np.testing.assert_array_equal(a, b)
        assert str(parse(case.kernel.mlir())) == case.kernel.mlir()


def test_a_kernel_that_was_optimized_takes_parts():
    fast = gemm.optimize()

    @af.kernel
    def f(A: af.f64[K, N, N], C: af.f64[K, N, N]):
        with af.for_(K) as k:
            fast(A[k], A[k], C[k])

    rng = np.random.default_rng(1)
    a, c = whole(rng, 2, 11, 11), np.zeros((2, 11, 11))
    f(a, c)
    np.testing.assert_array_equal(c, a @ a)


def test_parts_of_nothing_may_begin_where_an_array_of_known_size_ends():
    """MLIR refuses an offset that is a dimension's size, if it knows both, also where the part has no elements."""

    @af.kernel
    def fill(x: af.strided(af.f64[N])):
        with af.for_(N) as i:
            x[i] = 7.0

    @af.kernel
    def parts(A: af.f64[4, N]):
        below, beside = A[4:], A[:, :0]
        with af.for_(N) as i:
            fill(below[:, i])
        fill(beside[2, 0:])
        again = beside[:, 0:]
        fill(again[1])

    oracles.mlir_opt(parts.mlir())
    for way in (parts, parts.interpret, parts.optimize()):
        A = np.zeros((4, 5))
        way(A)
        assert not A.any()


def test_a_part_that_begins_behind_an_array_and_has_elements_is_out_of_bounds():
    """Of no call is it known before how many there are: none is right, and one is not the last one of the array."""

    @af.kernel
    def fill(x: af.f64[N]):
        with af.for_(N) as i:
            x[i] = 7.0

    with pytest.raises(af.ProgramIndexError, match="with n = 6 it views 5 to 5 of dimension 0 of A"):

        @af.kernel
        def beyond(A: af.f64[5], n: af.index):
            fill(A[5:n])

    @af.kernel
    def up_to_the_end(A: af.f64[5], n: af.index):
        fill(A[5 : af.min(n, 5)])

    oracles.mlir_opt(up_to_the_end.mlir())
    for way in (up_to_the_end, up_to_the_end.interpret, up_to_the_end.optimize()):
        A = np.zeros(5)
        way(A, 6)
        assert not A.any()
