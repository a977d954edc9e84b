"""What a user passes and declares: NumPy views, what is refused and in which words, the text of MLIR and C."""

import pickle
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.emit import emit, emit_jit
from affdsl.codegen.errors import LayoutError, OverlapError, SizeError
from affdsl.codegen.overlap import overlap, overlaps_itself
from tests.codegen.c.compare import check_compiles
from tests.oracles import call_by, mlir_opt
from tests.strided.views import strides

M, N = af.symbols("M N")


@af.kernel
def add(A: af.strided(af.f64[M, N]), B: af.const(af.strided(af.f64[M, N]))):
    with af.for_(M) as i, af.for_(N) as j:
        A[i, j] += B[i, j]


@af.kernel
def fill(A: af.f64[M, N], x: af.f64):
    with af.for_(M) as i, af.for_(N) as j:
        A[i, j] = x


@pytest.fixture(params=["compiled", "ctypes", "interpret"])
def call(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """`add`, by each way in which it is called."""
    if request.param == "interpret":
        return add.interpret
    call_by(request.param, monkeypatch)
    return af.kernel(add._function)


GRID = np.arange(99.0).reshape(9, 11)
RECORDS = np.zeros((4, 6), np.dtype([("a", "f8"), ("b", "i4"), ("c", "f8")], align=True))
VIEWS = {
    "a crop": lambda a: a[2:7, 1:8],
    "every other": lambda a: a[::2, 1::3],
    "reversed": lambda a: a[::-1, ::-2],
    "transposed": lambda a: a[:4, 2:9].T,
    "Fortran order": np.asfortranarray,
    "one of a batch": lambda a: np.stack([a, a, a], 2)[..., 1],
    "a part of complex numbers": lambda a: (a + 1j).imag,
    "a column": lambda a: a[:, 3:4],
    "nothing": lambda a: a[4:4, ::-1],
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_go_in_without_a_copy(name: str, call):
    own, wanted = GRID.copy(), GRID.copy()
    mine, theirs = VIEWS[name](own), VIEWS[name](wanted)
    b = np.random.default_rng(1).random(mine.shape[::-1]).T
    theirs += b
    call(mine, b)
    np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(own, wanted)


def test_fields_of_records_go_in(call):
    records = RECORDS.copy()
    records["c"] = GRID[:4, :6]
    call(records["a"], records["c"][::-1])
    np.testing.assert_array_equal(records["a"], records["c"][::-1])
    assert not records["b"].any()


def test_what_is_read_may_repeat(call):
    a = GRID.copy()
    call(a, np.broadcast_to(GRID[0], a.shape))
    np.testing.assert_array_equal(a, GRID + GRID[0])
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(12.0), 4)
    call(a[:, :4], windows)
    np.testing.assert_array_equal(a[:, :4], (GRID + GRID[0])[:, :4] + windows)


def test_parts_of_one_array_that_share_nothing_go_in(call):
    a = GRID[:, :10].copy()
    call(a[:, ::2], a[:, 1::2])
    np.testing.assert_array_equal(a[:, ::2], GRID[:, :10:2] + GRID[:, 1:10:2])
    call(a[:, :5], a[:, 5:])


PACKED = np.zeros((3, 3), [("a", "f8"), ("b", "i4")])
REPEATED = np.lib.stride_tricks.as_strided(np.zeros(9), (3, 3), (8, 16))
REFUSED = [
    (GRID[:4].copy(), GRID[:4].T, SizeError, "dimension 0 of argument 'B' must be M = 4 (M = 4 from dimension 0 of "),
    (GRID, GRID[::-1], OverlapError, "'A' and 'B' overlap in memory and 'A' is written; pass a copy or another array "),
    (GRID[:, :6], GRID[:, 5:], OverlapError, "'A' and 'B' overlap in memory and 'A' is written"),
    (np.broadcast_to(GRID[0], (3, 11)), GRID[:3], LayoutError, "argument 'A' is written, but the array is read-only"),
    (REPEATED, GRID[:3, :3], OverlapError,
     ("argument 'A' is written, but elements of it are the same memory, or seem to be, with shape (3, 3) and strides "
      "(8, 16); pass A.copy()")),
    (PACKED["a"], GRID[:3, :3], LayoutError, "argument 'A' must be aligned to 8 bytes, got address 0x"),
    (GRID[:1], np.broadcast_to(1.0, (2**20, 2**28)), SizeError,
     "argument 'B' must have at most 2**47 elements, as all that memory holds, got shape (1048576, 268435456)"),
]  # fmt: skip


@pytest.mark.parametrize("position", range(len(REFUSED)))
def test_what_does_not_fit_is_refused_with_the_reason(position: int, call):
    a, b, kind, message = REFUSED[position]
    with pytest.raises(kind) as caught:
        call(a, b)
    assert str(caught.value).startswith(f"add: {message}")


def test_fields_of_packed_records_are_refused_with_a_way_to_pack_them():
    apart = np.zeros((3, 3), {"names": ["a", "b"], "formats": ["f8", "i4"], "offsets": [0, 8], "itemsize": 20})
    for records in (PACKED, apart):
        with pytest.raises(
            LayoutError, match=r"or give the records room for aligned fields: np.dtype\(..., align=True\)$"
        ):
            add(records["a"], GRID[:3, :3])
    add(PACKED.astype(np.dtype(PACKED.dtype.descr, align=True))["a"], GRID[:3, :3])


def test_strides_are_multiples_of_an_element():
    @af.kernel
    def f(x: af.strided(af.i16[N])):
        with af.for_(N) as i:
            x[i] = 1

    odd = np.ndarray((2,), "i2", bytearray(16), 0, (3,))
    with pytest.raises(LayoutError, match=r"^f: argument 'x' must be aligned to 2 bytes"):
        f(odd)


def test_a_contiguous_argument_says_how_to_take_more():
    with pytest.raises(
        LayoutError, match=r"or let the kernel take any strides: annotate it with affdsl.strided\(...\)"
    ):
        fill(GRID.T, 1.0)


def test_the_call_and_the_words_for_it_agree_on_overlap():
    """Both callers ask for overlap in their own code: brute force over all elements, or "maybe", is what they say."""
    random, exact = Random(3), 0
    for _ in range(400):
        pool = np.zeros(200)
        a, b = (_part(random, pool) for _ in range(2))
        shared = bool(_elements(a) & _elements(b))
        assert overlap(a, b) >= shared
        exact += overlap(a, b) == shared
        if overlaps_itself(a):
            assert len(_elements(a)) < a.size
        else:
            assert len(_elements(a)) == a.size
            taken = b if b.shape == a.shape else np.broadcast_to(b.reshape(-1)[:1], a.shape)
            shared = overlap(a, taken)
            assert _is_refused(a, taken) == shared
    assert exact == 400


def _part(random: Random, pool: np.ndarray) -> np.ndarray:
    shape = tuple(random.randint(1, 4) for _ in range(2))
    steps = strides(random, shape, written=random.random() < 0.7)
    low, high = (sum(f(0, (n - 1) * s) for n, s in zip(shape, steps, strict=True)) for f in (min, max))
    first = random.randint(-low, max(199 - high, -low))
    return np.lib.stride_tricks.as_strided(pool[first:], shape, [8 * s for s in steps])


def _elements(array: np.ndarray) -> set[int]:
    places = np.zeros(array.shape, np.int64)
    for axis, step in enumerate(array.strides):
        places += np.arange(array.shape[axis]).reshape([-1 if k == axis else 1 for k in range(array.ndim)]) * step
    return {array.__array_interface__["data"][0] + int(p) for p in places.reshape(-1)}


def _is_refused(a: np.ndarray, b: np.ndarray) -> bool:
    try:
        add(a, b)
    except OverlapError:
        return True
    return False


def test_the_text_of_mlir_is_read_and_taken_by_mlir_opt():
    text = add.mlir()
    assert "%A: memref<?x?xf64, strided<[?, ?], offset: ?>>" in text
    assert str(af.parse(text)) == text
    assert "strided<[?, ?], offset: ?>" in mlir_opt(text)


def test_strides_are_arguments_of_the_c_function(tmp_path):
    source = check_compiles(add.module, "add", tmp_path, sizes=2)
    assert "double *restrict A, int64_t A_stride_0, int64_t A_stride_1," in source
    assert "A[i * A_stride_0 + j * A_stride_1] += B[i * B_stride_0 + j * B_stride_1];" in source


def test_vectors_are_neighbours_by_subscript():
    @af.kernel
    def squares(A: af.strided(af.f64[N])):
        with af.for_(0, N - 3, 4) as i:
            v = af.vector_load(A, i, 4)
            af.vector_store(v * v, A, i)

    for run in (squares, squares.interpret):
        a = np.arange(19.0)
        run(a[::-2])
        np.testing.assert_array_equal(a, [x * x if x % 2 == 0 and x >= 4 else x for x in range(19)])


def test_vectors_of_rows_are_loaded_at_once(tmp_path):
    fast = af.Schedule(add).vectorize("j", 4).kernel()
    source = check_compiles(fast.module, "add", tmp_path, sizes=2)
    rows, whole = source.split("\nvoid add(")
    assert "static void add_rows(int64_t M, int64_t N, double *restrict A, int64_t A_stride_0," in rows
    assert "*(const f64x4_at *)&A[i * A_stride_0 + j]" in rows
    assert "if (A_stride_1 == 1 && B_stride_1 == 1) {\n        add_rows(M, N, A, A_stride_0, B, B_stride_0);" in whole
    assert "_at *" not in whole
    assert "add_rows" not in add.c()
    assert "vector.transfer_read %A[%i, %j], %cst {in_bounds = [true]}" in fast.mlir()
    assert "*(const f64x4_at *)&A[i * A_stride_0 + j]" in emit(af.parse(fast.mlir()), "add").source


def test_masked_rows_are_loaded_at_once_too(tmp_path):
    fast = af.Schedule(add).vectorize("j", 4, tail="masked").kernel()
    text = fast.mlir()
    assert "vector.transfer_read %A[%i, %j_2], %cst_0, %1 {in_bounds = [true]}" in text
    assert "vector.maskedload" in str(fast.func)
    assert "vector.maskedload" not in text
    assert "vector.maskedstore" not in text
    rows, _ = check_compiles(fast.module, "add", tmp_path, sizes=2).split("\nvoid add(")
    assert "masked_load_f64x4(&A[i * A_stride_0 + j_2], " in rows
    a, b = GRID.copy(), GRID.copy()
    for left, right in ((a, GRID), (a[2:7, 1:8], GRID[:5, :7]), (a[:, ::2], GRID[::-1, :6])):
        wanted = left + right
        fast(left, right)
        np.testing.assert_array_equal(left, wanted)
    assert not np.array_equal(a, b)


def test_contiguous_arrays_are_not_strided_ones_for_the_compiler(tmp_path):
    """Where they are called from Python: shipped C has one version without vectors."""

    @af.kernel
    def cube(A: af.strided(af.f64[M, N + 2, 3]), x: af.strided(af.f64[M])):
        with af.for_(M) as i, af.for_(N) as j, af.for_(3) as k:
            A[i, j, k] += x[i]

    def text(kernel):
        return emit_jit(kernel.module, kernel.name, sizes=2)

    assert (
        "    if (A_stride_0 == (N + 2) * 3 && A_stride_1 == 3 && A_stride_2 == 1\n        && x_stride_0 == 1) {\n"
        "        cube_contiguous(M, N, A, x);\n        return;\n    }\n"
        "    if (A_stride_2 == 1 && x_stride_0 == 1) {\n        cube_rows(M, N, A, A_stride_0, A_stride_1, x);\n"
    ) in text(cube)
    assert (
        "__attribute__((noinline))\n#endif\n"
        "static void cube_contiguous(int64_t M, int64_t N, double *restrict A, const double *restrict x)"
    ) in text(cube)
    assert "cube_" not in cube.c()
    fast = af.Schedule(add).vectorize("j", 4).kernel()
    assert "add_contiguous(M, N, A, B);" in text(fast)
    assert "add_rows(M, N, A, A_stride_0, B, B_stride_0);" in text(fast)
    assert "_contiguous" not in emit_jit(fill.module, "fill", sizes=2)
    for views in (np.zeros((4, 7, 3)), np.zeros((4, 9, 3))[:, 2:], np.zeros((3, 7, 4)).T, np.zeros((4, 7, 3))[:1],
                  np.zeros((0, 7, 3)), np.zeros((8, 7, 3))[::-2],
                  np.ndarray((1, 7, 3), "f8", np.zeros(21), 0, (5, 24, 8))):  # fmt: skip
        x = np.arange(1.0, len(views) + 1)
        cube(views, x)
        np.testing.assert_array_equal(views[:, :-2], np.broadcast_to(x[:, None, None], views[:, :-2].shape))
        assert not views[:, -2:].any()


def test_a_kernel_with_strides_is_pickled():
    again = pickle.loads(pickle.dumps(add))  # noqa: S301 - our own
    assert repr(again) == repr(add)
    a = GRID.copy()
    again(a[::2], GRID[::-2])
    np.testing.assert_array_equal(a[::2], GRID[::2] + GRID[::-2])


def test_a_contiguous_array_is_passed_to_a_kernel_with_strides_and_not_the_other_way(tmp_path):
    @af.kernel
    def outer(A: af.f64[M, N], B: af.f64[M, N]):
        add(A, B)

    a = GRID.copy()
    outer(a, GRID[::-1].copy())
    np.testing.assert_array_equal(a, GRID + GRID[::-1])
    assert "add(M, N, A, N, 1, B, N, 1);" in check_compiles(outer.module, "outer", tmp_path, sizes=2)
    with pytest.raises(af.ProgramTypeError, match="argument A of fill is contiguous, and A has any strides"):

        @af.kernel
        def wrong(A: af.strided(af.f64[M, N])):
            fill(A, 1.0)


def test_what_takes_no_strides_says_so():
    with pytest.raises(af.ProgramTypeError, match=r"strided takes an array type like affdsl.f32\[N\], got f64"):
        af.strided(af.f64)
    with pytest.raises(af.ProgramTypeError, match=r"write affdsl.alloc\(affdsl.f64\[N\]\)"):

        @af.kernel
        def allocates(n: N):
            af.alloc(af.strided(af.f64[N]))

    with pytest.raises(af.ProgramTypeError, match="dma_start copies neighbours in memory, and A has any strides"):

        @af.kernel
        def transfers(A: af.strided(af.f64[M, N]), B: af.f64[M, N]):
            tag = af.alloc(af.i32[1])
            af.dma_start(A, (0, 0), B, (0, 0), tag, 0, 4)

    with pytest.raises(af.ProgramTypeError, match=r"annotate it as A: affdsl.strided\(f64\[N\]\) to write to it"):

        @af.kernel
        def writes(A: af.const(af.strided(af.f64[N]))):
            A[0] = 1.0
