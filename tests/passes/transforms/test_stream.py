"""stream: which stores are marked, what C makes of them, that nothing changes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.emit import emit
from affdsl.ir.dialects import affine
from affdsl.ir.streaming import streamed_from
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.verifier import verify
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.stream import stream
from tests.effort import some
from tests.oracles import mlir_opt
from tests.passes.compare import assert_alike, parsed
from tests.passes.transforms.placed import at

M, N = af.symbols("M N")
TEXT = """func.func @f(%A: memref<64xf32>, %B: memref<64xf32>, %y: f32) {
  %x = arith.constant dense<1.5> : vector<16xf32>
  affine.for %i = 0 to 64 step 16 {
    affine.vector_store %x, %A[%i] : memref<64xf32>, vector<16xf32>
    affine.vector_store %x, %B[%i] : memref<64xf32>, vector<16xf32>
    affine.store %y, %A[%i] : memref<64xf32>
  }
  affine.for %j = 0 to 64 step 16 { affine.vector_store %x, %A[%j] : memref<64xf32>, vector<16xf32> }
  return
}"""


def loops(function):
    return [op for op in function.body if isinstance(op, affine.For)]


@af.kernel
def doubled(A: af.f32[M, N], B: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        B[i, j] = A[i, j] * 2


def test_vectors_of_one_array_in_one_loop_are_marked():
    before = parsed(TEXT)
    function = before.functions[0]
    made = stream(function, function.args[0], loops(function)[0].iv, 4096)
    after = with_fields(before, body=(made,))
    verify(after)
    marks = [streamed_from(op) for op in walk(after) if isinstance(op, affine.VectorStore)]
    assert marks == [4096, None, None]
    assert str(parsed(str(after))) == str(after)
    assert assert_alike(before, after) > 0
    again = stream(made, made.args[0], loops(made)[0].iv, 8192)
    assert str(again).count("affdsl.stream") == 1
    assert "{affdsl.stream = 8192 : i64}" in str(again)


def test_mlir_opt_takes_the_mark():
    function = parsed(TEXT).functions[0]
    made = stream(function, function.args[0], loops(function)[0].iv, 0)
    assert "affdsl.stream" in mlir_opt(str(made))


@pytest.mark.parametrize(
    ("type", "lanes"), some([("f32", 16), ("f64", 8), ("i8", 64), ("f32", 4), ("f32", 8), ("i16", 8)], 4)
)
def test_arrays_that_lie_anywhere_get_the_same(type, lanes):
    kind = getattr(af, type)

    @af.kernel
    def copied(A: kind[N], B: kind[N]):
        with af.for_(N) as i:
            B[i] = A[i] + A[i]

    plain = af.Schedule(copied).align("B", "i", lanes).vectorize("i", lanes, tail="overlapped")
    made = plain.stream("B", "i", 0).kernel()
    assert "streamed_store" in made.c()
    dtype = {"f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16}[type]
    for offset in (0, np.dtype(dtype).itemsize, 16, 32, 48):
        for count in (0, 1, lanes, 40 * lanes, 41 * lanes - 1):
            a = np.random.default_rng(count).integers(-60, 60, count).astype(dtype)
            b = at(offset, count, dtype)
            made(a, b)
            assert (b == a + a).all(), (offset, count)


def test_only_long_arrays_go_past_the_caches():
    s = af.Schedule(doubled).vectorize("j", 16, tail="overlapped").stream("B", "j", 4000)
    assert "M * N >= 1000 ? 63 : UINTPTR_MAX" in s.kernel().c()
    assert "finish_streams();\n}" in s.kernel().c()
    for size, is_long in ((31, False), (32, True)):
        known = af.Schedule(doubled.specialize(M=size, N=32)).vectorize("j", 16).stream("B", "j", 4096)
        assert ("streamed_store" in known.kernel().c()) == is_long


def test_an_array_of_unknown_length_is_stored_as_ever():
    text = """func.func @f(%n: index, %A: memref<?xf32>) {
      %x = arith.constant dense<1.5> : vector<16xf32>
      affine.for %i = 0 to %n step 16 {
        affine.vector_store %x, %A[%i] {affdsl.stream = 0 : i64} : memref<?xf32>, vector<16xf32>
      }
      return
    }"""
    known = text.replace("memref<?xf32>)", "memref<?xf32> {affdsl.shape = affine_map<()[n] -> (n)>})")
    marked = ["streamed_store" in emit(parsed(each), "f").source for each in (text, known)]
    assert marked == [False, True]


def test_threads_finish_what_they_have_stored():
    s = af.Schedule(doubled).vectorize("j", 16, tail="overlapped").stream("B", "j", 0).parallel("i")
    lines = [line.strip() for line in s.kernel().c().splitlines()]
    share = lines[next(k for k, line in enumerate(lines) if line.startswith("#pragma omp parallel")) :]
    inside = share[: share.index("finish_streams();")]
    assert sum(line.startswith("for (") for line in inside) == 3, "rows, vectors, and columns of rows that are short"
    assert any("streamed_store" in line for line in inside)
    assert share.count("finish_streams();") == 2, "each thread's iterations, and the function"
    a = np.random.default_rng(0).random((300, 401), np.float32)
    b = np.zeros_like(a)
    s.kernel()(a, b)
    assert (b == a * 2).all()


def test_vectors_right_in_a_loop_that_threads_share_are_stored_as_ever():
    """Each would have to be finished by itself."""

    @af.kernel
    def row(A: af.f32[N], B: af.f32[N]):
        with af.for_(N) as i:
            B[i] = A[i] * 2

    s = af.Schedule(row).vectorize("i", 16, tail="overlapped").stream("B", "i", 0)
    assert "streamed_store" in s.kernel().c()
    text = s.parallel("i").kernel().c()
    assert "streamed_store" not in text
    assert "finish_streams" not in text


def test_c_has_the_instruction_of_each_length():
    """`tests/codegen/c/test_intrinsics.py` shows that gcc makes `vmovntdq` of it."""
    for lanes, call in ((16, "_mm512_stream_si512"), (8, "_mm256_stream_si256"), (4, "_mm_stream_si128")):
        s = af.Schedule(doubled).vectorize("j", lanes, tail="overlapped").stream("B", "j", 0)
        assert f"{call}((__m" in s.kernel().c()


@pytest.mark.parametrize(
    ("loop", "array", "reason"),
    [(0, 2, "it stores no vector to y"), (1, 1, "it stores no vector to B; vectorize makes")],
)
def test_a_loop_without_such_stores_is_refused(loop, array, reason):
    function = parsed(TEXT).functions[0]
    with pytest.raises(IllegalTransform, match=reason):
        stream(function, function.args[array], loops(function)[loop].iv, 0)


def test_less_than_no_bytes_are_refused():
    function = parsed(TEXT).functions[0]
    with pytest.raises(ValueError, match="an array has 0 bytes or more, not -1"):
        stream(function, function.args[0], loops(function)[0].iv, -1)
