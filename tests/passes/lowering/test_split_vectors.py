"""Wide vectors as several narrow ones: the same numbers to the bit, and none left wide where all has parts."""

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.emit import emit_jit
from affdsl.ir.dialects import vector
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.types import IntegerType, VectorType
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.lowering.split_vectors import split_vectors
from tests.harness.judges import copied
from tests.ir.vector_programs import PROGRAMS

N = af.symbols("N")


def widest(module):
    """The bits of the widest vector of one dimension that is no mask."""
    types = [v.type for op in walk(module) for v in (*op.defines(), *op.binds()) if isinstance(v.type, VectorType)]
    return max((t.shape[0] * getattr(t.element, "width", 64) for t in types if t.rank == 1), default=0)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
@pytest.mark.parametrize("width", [64, 128])
def test_each_operation_computes_the_same(program, width):
    module = split_vectors(parse(program.text), width)
    verify(module)
    arrays = program.arrays()
    run(module.functions[0], *arrays, module=module)
    for got, wanted in zip(arrays, program.expected(*program.arrays()), strict=True):
        np.testing.assert_array_equal(got, wanted)


@af.kernel
def dot(x: af.f32[N], y: af.f32[N], r: af.f32[1]):
    with af.for_(N) as i:
        r[0] += x[i] * y[i]


@af.kernel
def kept(x: af.f32[N], y: af.f64[N], r: af.i32[N]):
    with af.for_(N) as i:
        with af.if_(x[i] > 0.5):
            y[i] = af.sqrt(af.f64(x[i])) + y[i] * 3.0
        r[i] = af.select(y[i] > 1.0, r[i], 7)


SCHEDULES = {
    "sum": lambda w: af.Schedule(dot).scalar_replace("i").vectorize("i", w, reassociate=True).contract("i"),
    "strict sum": lambda w: af.Schedule(dot).scalar_replace("i").vectorize("i", w),
    "masks": lambda w: af.Schedule(kept).vectorize("i", w, tail="masked"),
}


@pytest.mark.parametrize("width", [128, 256, 512])
@pytest.mark.parametrize("lanes", [8, 32, 64])
@pytest.mark.parametrize("name", SCHEDULES)
def test_vectorized_loops(name, lanes, width):
    module = SCHEDULES[name](lanes).kernel().module
    split = split_vectors(module, width)
    verify(split)
    function = split.functions[-1]
    assert widest(module) > width or split is module or widest(split) <= width
    if name != "strict sum":  # there lane after lane is taken out
        assert widest(split) <= width
    for n in (0, 1, lanes - 1, lanes, 2 * lanes + 3):
        given = [np.linspace(-1, 2, n, dtype="f4"), np.linspace(3, -1, n), np.arange(n, dtype="i4")]
        if "sum" in name:
            given = [given[0], given[0][::-1].copy(), np.ones(1, "f4")]
        wanted, found = copied(given), copied(given)
        run(module.functions[-1], n, *wanted, module=module, uninitialised="poison")
        run(function, n, *found, module=split, uninitialised="poison")
        for a, b in zip(wanted, found, strict=True):
            assert a.tobytes() == b.tobytes(), (n, a, b)


@af.kernel
def colours(photo: af.u8[N, 3], out: af.u8[N, 3], sums: af.i32[N]):
    """What is loaded is shuffled, computed with as it is and with 16 and 32 bits, and stored."""
    with af.for_(N) as i:
        red, green, blue = (af.i32(photo[i, k]) for k in range(3))
        out[i, 0] = af.u8((red * 77 + green * 150 + blue * 29) >> 8)
        out[i, 1] = af.select(photo[i, 1] > photo[i, 0], photo[i, 1], photo[i, 2])
        out[i, 2] = photo[i, 0]
        sums[i] = red * green * blue


@af.kernel
def halves(x: af.i16[2 * N], y: af.i16[2 * N]):
    with af.for_(N) as i:
        y[2 * i] = af.i16((af.i32(x[2 * i]) * 1001 + af.i32(x[2 * i + 1]) * 70001) >> 9)
        y[2 * i + 1] = x[2 * i]


@pytest.mark.parametrize("lanes", [16, 24, 32, 64])
@pytest.mark.parametrize("width", [256, 512])
@pytest.mark.parametrize("kernel", [colours, halves], ids=lambda kernel: kernel.name)
def test_what_is_shuffled_and_fits_into_a_register_stays_whole(kernel, width, lanes):
    schedule = af.Schedule(kernel).vectorize("i", lanes)
    module = schedule.kernel().module
    split = split_vectors(module, width)
    verify(split)
    bits = 8 if kernel is colours else 16
    shuffles = [op for op in walk(split) if isinstance(op, vector.Shuffle)]
    has_whole = any(op.left.type == op.result.type == VectorType((lanes,), IntegerType(bits)) for op in shuffles)
    assert lanes == 24 or has_whole == (width == 512 and lanes * bits <= width), (
        "narrower registers permute each half by itself"
    )
    r = np.random.default_rng(lanes)
    for n in (0, 1, lanes, 3 * lanes + 5):
        if kernel is colours:
            given = [r.integers(0, 256, (n, 3), "u1"), np.zeros((n, 3), "u1"), np.zeros(n, "i4")]
        else:
            given = [r.integers(-(1 << 15), 1 << 15, 2 * n, "i2"), np.zeros(2 * n, "i2")]
        wanted, found, compiled = copied(given), copied(given), copied(given)
        run(module.functions[-1], n, *wanted, module=module, uninitialised="poison")
        run(split.functions[-1], n, *found, module=split, uninitialised="poison")
        schedule.kernel()(*compiled)
        for a, b, c in zip(wanted, found, compiled, strict=True):
            assert a.tobytes() == b.tobytes() == c.tobytes(), n


def test_compiled_kernels_have_no_vectors_wider_than_registers():
    """A sum in 64 lanes at once is four sums in registers, which wait for nobody."""
    s = af.Schedule(dot).scalar_replace("i").vectorize("i", 64, reassociate=True).contract("i")
    kernel = s.kernel()
    text = emit_jit(kernel.module, "dot", sizes=1, register_bits=512)
    assert "f32x16 acc_3" in text
    assert "f32x64" not in text
    x, r = np.full(1000, 0.5, "f4"), np.zeros(1, "f4")
    kernel(x, x, r)
    assert r[0] == 250.0


def test_an_operation_on_all_lanes_keeps_its_function_whole():
    text = """func.func @f(%A: memref<16xf32>) {
      %v = affine.vector_load %A[0] : memref<16xf32>, vector<16xf32>
      %w = vector.shape_cast %v : vector<16xf32> to vector<4x4xf32>
      %t = vector.transpose %w, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
      %u = vector.shape_cast %t : vector<4x4xf32> to vector<16xf32>
      affine.vector_store %u, %A[0] : memref<16xf32>, vector<16xf32>
      return
    }"""
    module = parse(text)
    assert split_vectors(module, 128).functions[0] is module.functions[0]


def test_lanes_of_a_vector_that_stays_whole_are_cut_out_part_by_part():
    text = """func.func @f(%A: memref<24xf32>, %B: memref<16xf64>) {
      %v = affine.vector_load %A[0] : memref<24xf32>, vector<24xf32>
      %w = vector.extract_strided_slice %v {offsets = [4], sizes = [16], strides = [1]} : VECTORS
      %x = arith.extf %w : vector<16xf32> to vector<16xf64>
      affine.vector_store %x, %B[0] : memref<16xf64>, vector<16xf64>
      return
    }"""
    module = parse(text.replace("VECTORS", "vector<24xf32> to vector<16xf32>"))
    split = split_vectors(module, 512)
    verify(split)
    assert "vector<8xf64>" in str(split)
    assert "vector<16xf64>" not in str(split)
    given = np.arange(24, dtype=np.float32), np.zeros(16)
    run(split.functions[0], *given)
    assert given[1].tolist() == list(range(4, 20))


def test_lanes_of_parts_of_another_size_are_put_together_one_by_one():
    """Indices have 64 bits, so that as many lanes of 32 bits are in as many parts, and half of them in larger ones."""
    module = parse(
        """func.func @f(%A: memref<32xi32>, %B: memref<16xi32>) {
      %v = affine.vector_load %A[0] : memref<32xi32>, vector<32xi32>
      %i = arith.index_cast %v : vector<32xi32> to vector<32xindex>
      %w = arith.index_cast %i : vector<32xindex> to vector<32xi32>
      %x = vector.extract_strided_slice %w {offsets = [16], sizes = [16], strides = [1]} : CUT
      affine.vector_store %x, %B[0] : memref<16xi32>, vector<16xi32>
      return
    }""".replace("CUT", "vector<32xi32> to vector<16xi32>")
    )
    split = split_vectors(module, 256)
    verify(split)
    assert widest(split) == 256
    given = np.arange(32, dtype=np.int32), np.zeros(16, np.int32)
    run(split.functions[0], *given)
    assert given[1].tolist() == list(range(16, 32))


def test_what_nobody_reads_cuts_no_vector():
    module = parse("""func.func @f(%A: memref<64xi8>) {
      %v = affine.vector_load %A[0] : memref<64xi8>, vector<64xi8>
      %w = arith.index_castui %v : vector<64xi8> to vector<64xindex>
      affine.vector_store %v, %A[0] : memref<64xi8>, vector<64xi8>
      return
    }""")
    assert str(split_vectors(module, 512).functions[0]) == str(module.functions[0])
    assert "vector<16xi8>" in str(split_vectors(module, 128).functions[0])


def test_four_columns_are_put_together_register_by_register():
    """For four registers of columns eight shuffles, or fewer, as if vectors had been no longer: one by one it is 12."""

    @af.kernel
    def sums(x: af.f64[4 * N], out: af.f64[N]):
        with af.for_(N) as i:
            out[i] = (x[4 * i] + x[4 * i + 1]) * (x[4 * i + 2] + x[4 * i + 3])

    module = af.Schedule(sums).vectorize("i", 32).kernel().module
    split = split_vectors(module, 512)
    verify(split)
    assert sum(isinstance(op, vector.Shuffle) for op in walk(split)) <= 32
    given = [np.random.default_rng(0).random(4 * 70), np.zeros(70)]
    wanted, found = copied(given), copied(given)
    run(sums.func, 70, *wanted)
    run(split.functions[-1], 70, *found, module=split)
    assert wanted[1].tobytes() == found[1].tobytes()
