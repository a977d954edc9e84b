"""Vectors in C: the same numbers as the interpreter, without a warning."""

import numpy as np
import pytest

from affdsl.codegen.c.emit import emit
from affdsl.errors import UnsupportedError
from affdsl.mlir.readers import parse
from tests.codegen.c.compare import check, compile_silently, run_c
from tests.effort import some
from tests.ir.vector_programs import PROGRAMS
from tests.oracles import require


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_c_computes_what_numpy_does(program, tmp_path):
    """Compiled without a warning by gcc, with OpenMP."""
    module, arrays = parse(program.text), program.arrays()
    run_c(module, "f", arrays, tmp_path)
    for got, wanted in zip(arrays, program.expected(*program.arrays()), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(
    "program", some([*PROGRAMS[1::4], *PROGRAMS[::2], *PROGRAMS[3::4]], len(PROGRAMS) // 4), ids=lambda p: p.name
)
def test_clang_has_no_warning_either(program, tmp_path):
    made = emit(parse(program.text), "f")
    header = f"{made.name}.h", made.header
    compile_silently(made.source, tmp_path, require("clang-22"), "-O2", header=header, kind=("-c",))


@pytest.mark.parametrize("program", some([*PROGRAMS[::4], *PROGRAMS[2::4]], len(PROGRAMS) // 4), ids=lambda p: p.name)
def test_without_vector_types_vectors_are_arrays(program, tmp_path):
    module, arrays = parse(program.text), program.arrays()
    assert "__attribute__" not in emit(module, "f", vector_types=False).source
    run_c(module, "f", arrays, tmp_path, vector_types=False)
    for got, wanted in zip(arrays, program.expected(*program.arrays()), strict=True):
        np.testing.assert_array_equal(got, wanted)


HALVES = ("bf16", "f16", "f64")
FLOATS = [p for p in PROGRAMS if "f32" in p.text and "i32" not in p.text and "f64" not in p.text]


OF_TYPES = [
    (program, type) for n, program in enumerate(FLOATS[::7]) for type in some([*HALVES[n % 3 :], *HALVES[: n % 3]], 1)
]
"""Unless all is tried, programs take turns at the types."""


@pytest.mark.parametrize(("program", "type"), OF_TYPES, ids=[f"{program.name}-{type}" for program, type in OF_TYPES])
def test_other_floats_are_rounded_as_the_interpreter_does(program, type, tmp_path):
    convert = {
        "bf16": lambda a: np.asarray(a.view("uint32") >> 16, "uint16"),
        "f16": lambda a: a.astype("float16"),
        "f64": lambda a: a.astype("float64"),
    }[type]
    arrays = [convert(a) if a.dtype == "float32" else a for a in program.arrays()]
    check(parse(program.text.replace("f32", type)), "f", arrays, tmp_path)


REFUSED = {
    "an argument": (r"C output has no value of type vector<4xf32> here yet", "%v: vector<4xf32>", ""),
    "scalable": (r"C output has no scalable vectors, such as 'v' of type vector<\[4\]xf32>", "%A: memref<8xf32>", """
  %v = vector.load %A[%c0] : memref<8xf32>, vector<[4]xf32>
  vector.store %v, %A[%c0] : memref<8xf32>, vector<[4]xf32>"""),
    "large": (r"takes vectors of up to 4096 lanes, and this is a vector<128x128xf32>; let", "%A: memref<8xf32>", """
  %x = arith.constant 1.0 : f32
  %v = vector.broadcast %x : f32 to vector<128x128xf32>
  %y = vector.extract %v[0, 0] : f32 from vector<128x128xf32>
  memref.store %y, %A[%c0] : memref<8xf32>"""),
    "other elements": (r"C output has no access to memref<8xf32> as vector<2xf64>", "%A: memref<8xf32>", """
  %x = arith.constant 1.0 : f32
  %v = vector.transfer_read %A[%c0], %x : memref<8xf32>, vector<2xf64>
  vector.transfer_write %v, %A[%c0] : vector<2xf64>, memref<8xf32>"""),
    "unknown": (r"vector\.interleave", "%A: memref<8xf32>", """
  %v = vector.load %A[%c0] : memref<8xf32>, vector<4xf32>
  %s = vector.interleave %v, %v : vector<4xf32> -> vector<8xf32>
  vector.store %s, %A[%c0] : memref<8xf32>, vector<8xf32>"""),
}  # fmt: skip
"""What C says of a program, its arguments and its body."""


@pytest.mark.parametrize("name", REFUSED)
def test_what_c_cannot_say_is_refused(name):
    message, arguments, body = REFUSED[name]
    module = parse(f"func.func @f({arguments}) {{\n%c0 = arith.constant 0 : index\n{body}\nreturn\n}}")
    with pytest.raises(UnsupportedError, match=message):
        emit(module, "f")


def test_an_element_is_read_before_it_is_overwritten(tmp_path):
    """A scalar that is used after a store of vectors keeps its value; an index may come from what is overwritten."""
    text = """func.func @f(%A: memref<8xi32>, %B: memref<8xi32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %first = memref.load %A[%c0] : memref<8xi32>
  %at = arith.index_cast %first : i32 to index
  %v = vector.load %A[%c4] : memref<8xi32>, vector<4xi32>
  vector.store %v, %A[%at] : memref<8xi32>, vector<4xi32>
  vector.store %v, %A[%c0] : memref<8xi32>, vector<4xi32>
  memref.store %first, %B[%at] : memref<8xi32>
  return
}"""
    check(parse(text), "f", [np.array([1, 2, 3, 4, 5, 6, 7, 8], "int32"), np.zeros(8, "int32")], tmp_path)


def test_golden(golden):
    """What vectors look like: a masked dot product with a sum that stays a vector."""
    text = """func.func @dot(%x: memref<100xf32>, %y: memref<100xf32>, %r: memref<f32>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant dense<0.0> : vector<8xf32>
  %sum = affine.for %i = 0 to 100 step 8 iter_args(%acc = %none) -> (vector<8xf32>) {
    %a = vector.transfer_read %x[%i], %zero : memref<100xf32>, vector<8xf32>
    %b = vector.transfer_read %y[%i], %zero : memref<100xf32>, vector<8xf32>
    %next = vector.fma %a, %b, %acc : vector<8xf32>
    affine.yield %next : vector<8xf32>
  }
  %total = vector.reduction <add>, %sum : vector<8xf32> into f32
  memref.store %total, %r[] : memref<f32>
  return
}"""
    golden(emit(parse(text), "dot").source, "dot.c")


def test_a_vector_that_reaches_beyond_the_rank_is_refused():
    text = """func.func @f(%A: memref<16xf32>) {
  %v = affine.vector_load %A[0] : memref<16xf32>, vector<2x8xf32>
  affine.vector_store %v, %A[0] : memref<16xf32>, vector<2x8xf32>
  return
}"""
    with pytest.raises(UnsupportedError, match=r"vector<2x8xf32> has more dimensions than memref<16xf32>"):
        emit(parse(text), "f")
