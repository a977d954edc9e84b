"""Operations on vectors: the interpreter, NumPy and MLIR agree."""

import functools

import numpy as np
import pytest

from affdsl.ir import semantics
from affdsl.ir.dialects import arith
from affdsl.ir.expr import Value
from affdsl.ir.interpreter import InterpreterError, run
from affdsl.ir.interpreter.lanes import vector_of
from affdsl.ir.interpreter.steps import step_of
from affdsl.ir.numeric import from_bits, quiet, to_bits, width
from affdsl.ir.types import BF16, F16, F32, F64, I1, I8, I32, INDEX, FloatType, ScalarType, VectorType
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from tests.ir.vector_programs import PROGRAMS, Program, numbers
from tests.oracles import mlir_opt, run_mlir

LOWERING = "--pass-pipeline=builtin.module(func.func(lower-vector-multi-reduction))"
each = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)


def check(program: Program, arrays: list[np.ndarray]) -> None:
    for k, (got, wanted) in enumerate(zip(arrays, program.expected(*program.arrays()), strict=True)):
        np.testing.assert_array_equal(got, wanted, err_msg=f"array {k} of\n{program.text}")


@each
def test_the_interpreter_computes_what_numpy_does(program):
    module = parse(program.text)
    verify(module)
    arrays = program.arrays()
    run(module.functions[0], *arrays)
    check(program, arrays)


LOWERED = [p for p in PROGRAMS if p.mlir]


@functools.cache
def lowered() -> str:
    """All programs in one module, each a function with its number in its name: tools are started once."""
    return mlir_opt("\n".join(p.text.replace("@f", f"@f{n}") for n, p in enumerate(LOWERED)), LOWERING)


@pytest.mark.parametrize("number", range(len(LOWERED)), ids=[p.name for p in LOWERED])
def test_mlir_computes_what_numpy_does(number):
    arrays = LOWERED[number].arrays()
    run_mlir(lowered(), f"f{number}", arrays)
    check(LOWERED[number], arrays)


def run_text(body: str, arguments: str, *given: object) -> None:
    module = parse(f"func.func @f({arguments}) {{\n  %c0 = arith.constant 0 : index\n{body}\n  return\n}}\n")
    verify(module)
    run(module.functions[0], *given)


BASE = "%m: memref<4x6xf32>, %i: index"
MEANINGLESS = {
    "load": (3, r"vector\.load: lane \(3\): %m\[0, 6\] is out of bounds: %m has sizes \(4, 6\)", """
  %v = vector.load %m[%c0, %i] : memref<4x6xf32>, vector<4xf32>"""),
    "load of two dimensions": (3, r"vector\.load: lane \(0, 3\): %m\[3, 6\] is out of bounds", """
  %v = vector.load %m[%i, %i] : memref<4x6xf32>, vector<2x4xf32>"""),
    "store": (-1, r"vector\.store: lane \(0\): %m\[-1, 0\] is out of bounds", """
  %v = arith.constant dense<0.0> : vector<4xf32>
  vector.store %v, %m[%i, %c0] : memref<4x6xf32>, vector<4xf32>"""),
    "a broken promise": (5, r"vector\.transfer_read: lane \(1\): %m\[0, 6\] is out of bounds", """
  %p = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%c0, %i], %p {in_bounds = [true]} : memref<4x6xf32>, vector<4xf32>"""),
    "another dimension": (4, r"vector\.transfer_read: %m\[4, 0\] is out of bounds along a dimension", """
  %p = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%i, %c0], %p : memref<4x6xf32>, vector<4xf32>"""),
    "a row outside of padding": (7, r"vector\.transfer_read: %m\[7, 7\] is out of bounds along a dimension", """
  %p = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%i, %i], %p : memref<4x6xf32>, vector<4xf32>"""),
    "gather": (1, r"gather: 23 elements behind lane \(1\): %m\[0, 1\] is out of bounds: %m has sizes \(4, 6\)", """
  %k = vector.constant_mask [2] : vector<2xi1>
  %a = arith.constant dense<[0, 23]> : vector<2xi32>
  %p = arith.constant dense<0.0> : vector<2xf32>
  %v = vector.gather %m[%c0, %i] [%a], %k, %p
    : memref<4x6xf32>, vector<2xi32>, vector<2xi1>, vector<2xf32> into vector<2xf32>"""),
    "position": (4, r"vector\.extract: \[1, 4\] is no position in %v, of type vector<2x4xf32>", """
  %v = arith.constant dense<0.0> : vector<2x4xf32>
  %x = vector.extract %v[1, %i] : f32 from vector<2x4xf32>"""),
    "nothing stored": (0, r"vector\.load: lane \(0\): %a\[0\] is read before anything was stored there", """
  %a = memref.alloc() : memref<8xf32>
  %v = vector.load %a[%i] : memref<8xf32>, vector<4xf32>"""),
    "scalable": (0, r"step: %v is scalable, so the interpreter does not know how many lanes it has: vector<\[4\]x", """
  %v = vector.step : vector<[4]xindex>"""),
    "other elements": (0, r"read: %v of type vector<4xf64> is not made of elements of %m: memref<4x6xf32>", """
  %p = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%i, %i], %p : memref<4x6xf32>, vector<4xf64>"""),
}  # fmt: skip
"""An index, what the interpreter says, and the program."""


@pytest.mark.parametrize("name", MEANINGLESS)
def test_what_means_nothing_is_an_error(name):
    index, message, body = MEANINGLESS[name]
    with pytest.raises(InterpreterError, match=message):
        run_text(body, BASE, numbers(4, 6), index)


def test_lanes_that_are_masked_off_touch_nothing():
    """Not even what lies outside, in a buffer that holds nothing."""
    run_text(
        """  %k = vector.constant_mask [0] : vector<4xi1>
  %v = arith.constant dense<1.0> : vector<4xf32>
  %c9 = arith.constant 9 : index
  %a = memref.alloc() : memref<2xf32>
  vector.maskedstore %a[%c9], %k, %v : memref<2xf32>, vector<4xi1>, vector<4xf32>
  %w = vector.maskedload %a[%c9], %k, %v : memref<2xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.transfer_write %w, %a[%c9], %k {in_bounds = [true]} : vector<4xf32>, memref<2xf32>""",
        "",
    )


VECTORS = """  %c1 = arith.constant 1 : index
  %m = memref.alloca() : memref<2xvector<4xf32>>
  %x = vector.load %a[%c0] : memref<8xf32>, vector<4xf32>
  %y = vector.load %a[%c4] : memref<8xf32>, vector<4xf32>
  memref.store %y, %m[%c0] : memref<2xvector<4xf32>>
  vector.store %x, %m[%c1] : memref<2xvector<4xf32>>, vector<4xf32>
"""


def test_buffers_of_vectors():
    body = f"""{VECTORS}  %z = memref.load %m[%c0] : memref<2xvector<4xf32>>
  %w = vector.load %m[%c1] : memref<2xvector<4xf32>>, vector<4xf32>
  vector.store %z, %a[%c0] : memref<8xf32>, vector<4xf32>
  vector.store %w, %a[%c4] : memref<8xf32>, vector<4xf32>"""
    arguments, data = "%a: memref<8xf32>, %c4: index", numbers(8)
    wanted, by_mlir = np.concatenate([data[4:], data[:4]]), data.copy()
    run_text(body, arguments, data, 4)
    np.testing.assert_array_equal(data, wanted)
    run_mlir(f"func.func @f({arguments}) {{\n  %c0 = arith.constant 0 : index\n{body}\n  return\n}}", "f", [by_mlir, 4])
    np.testing.assert_array_equal(by_mlir, wanted)


def test_a_transfer_of_vectors_that_are_elements():
    body = f"""{VECTORS}  %z = vector.transfer_read %m[%c1], %y : memref<2xvector<4xf32>>, vector<2x4xf32>
  vector.transfer_write %z, %r[%c0, %c0] : vector<2x4xf32>, memref<2x4xf32>"""
    data, result = numbers(8), np.zeros((2, 4), np.float32)
    run_text(body, "%a: memref<8xf32>, %c4: index, %r: memref<2x4xf32>", data, 4, result)
    np.testing.assert_array_equal(result, data.reshape(2, 4))  # the second row is padding


TYPES = (I1, I8, I32, INDEX, F16, BF16, F32, F64)
KINDS = [(kind, type) for kind in arith.INTEGER_BINARY for type in TYPES if not isinstance(type, FloatType)]
KINDS += [(kind, type) for kind in arith.FLOAT_BINARY for type in TYPES if isinstance(type, FloatType)]


@pytest.mark.parametrize(("kind", "type"), KINDS, ids=lambda part: str(part))
def test_each_lane_is_computed_as_a_scalar_is(kind, type):
    """Of numbers with every pattern of bits at the ends."""
    ends = [
        from_bits(bits & (1 << _width(type)) - 1, type)
        for bits in (0, 1, 2, 0x7F, 0x80, 0x3C00, 0x7FC0, -1, -2, 1 << 63)
    ]
    pairs = [(a, b) for a in ends for b in ends]
    vectors = {name: Value(VectorType((10, 10), type), name) for name in "xyr"}
    op = arith.Binary(vectors["r"], kind, vectors["x"], vectors["y"])
    env = {
        vectors["x"]: vector_of((10, 10), [a for a, _ in pairs]),
        vectors["y"]: vector_of((10, 10), [b for _, b in pairs]),
    }
    with quiet():
        step_of(op)(env)
        wanted = [semantics.binary(kind, type)(a, b) for a, b in pairs]
    got = list(env[vectors["r"]].flat)
    assert [to_bits(n, type) for n in got] == [to_bits(n, type) for n in wanted]
    assert {n.__class__ for n in got} == {n.__class__ for n in wanted}


def _width(type: ScalarType) -> int:
    return type.width if isinstance(type, FloatType) else width(type)
