"""The complex dialect as text: every kind in custom and generic form, read and printed as mlir-opt does."""

import re

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.dialects import func
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.traverse import walk
from affdsl.ir.types import C64, C128, F32, F64, ComplexType, FloatType
from affdsl.mlir.registry import OPERATIONS
from affdsl.mlir.scanner import ParseError
from tests.oracles import mlir_opt

FUNCTION = """module {{
  func.func @f(%arg0: complex<{0}>, %arg1: complex<{0}>, %arg2: {0}, %arg3: {0}) {{
{1}
    return
  }}
}}

"""


def program(part: FloatType) -> str:
    """Every operation, in the form in which mlir-opt prints it."""
    lines = [f"complex.create %arg2, %arg3 : complex<{part}>"]
    lines += [f"complex.{kind} %arg0 : complex<{part}>" for kind in (*complex_.PARTS, *complex_.UNARY)]
    lines += [f"complex.{kind} %arg0, %arg1 : complex<{part}>" for kind in (*complex_.BINARY, *complex_.COMPARISONS)]
    lines += [f"complex.{kind} %arg0, %arg1 fastmath<fast> {{note = 1 : i64}} : complex<{part}>" for kind in ("mul",)]
    return FUNCTION.format(part, "\n".join(f"    %{n} = {line}" for n, line in enumerate(lines)))


@pytest.mark.parametrize("part", [F32, F64], ids=str)
def test_every_kind_is_read_and_printed_in_both_forms(part: FloatType):
    text = program(part)
    assert mlir_opt(text) == text
    for form in (text, mlir_opt(text, "--mlir-print-op-generic")):
        module = af.parse(form)
        assert not [op for op in walk(module) if isinstance(op, Opaque)]
        assert f"{module}\n\n" == text
    kinds = {getattr(op, "kind", "") for op in walk(af.parse(text)) if op.name.startswith("complex")}
    assert kinds >= {*complex_.PARTS, *complex_.UNARY, *complex_.BINARY, *complex_.COMPARISONS}


CONSTANTS = {
    "[1.000000e+00, 2.000000e+00] : complex<f64>": 1 + 2j,
    "[0x7FF0000000000000 : f64, -0.000000e+00] : complex<f64>": complex("inf-0j"),
    "[1.000000e-01 : f32, 0x7FC00000 : f32] : complex<f32>": complex(float(np.float32(0.1)), float("nan")),
}


@pytest.mark.parametrize("text", CONSTANTS)
def test_constants(text: str):
    program = f"module {{\n  func.func @f() {{\n    %cst = complex.constant {text}\n    return\n  }}\n}}\n\n"
    assert mlir_opt(program) == program
    for form in (program, mlir_opt(program, "--mlir-print-op-generic")):
        module = af.parse(form)
        (constant,) = (op for op in walk(module) if isinstance(op, complex_.Constant))
        assert repr(constant.value) == repr(CONSTANTS[text])
        assert f"{module}\n\n" == program


def test_buffers_of_complex_numbers():
    text = """module {
  memref.global "private" constant @t : memref<2x2xcomplex<f32>> = dense<[[(1.000000e+00,2.000000e+00), (5.000000e-01,-0.000000e+00)], [(0x7F800000,1.000000e+00), (3.000000e+00,1.000000e-03)]]>
  memref.global "private" constant @same : memref<3xcomplex<f64>> = dense<(1.000000e+00,0.000000e+00)>
  func.func @f(%arg0: memref<?x4xcomplex<f64>, strided<[?, 1], offset: ?>>, %arg1: index) -> complex<f64> {
    %0 = memref.get_global @same : memref<3xcomplex<f64>>
    %1 = memref.load %0[%arg1] : memref<3xcomplex<f64>>
    affine.store %1, %arg0[0, 1] : memref<?x4xcomplex<f64>, strided<[?, 1], offset: ?>>
    return %1 : complex<f64>
  }
}

"""  # noqa: E501
    assert mlir_opt(text) == text
    for form in (text, mlir_opt(text, "--mlir-print-op-generic")):
        assert mlir_opt(str(af.parse(form))) == text


def test_numbers_without_a_class_are_kept_as_they_are():
    body = "    %0 = complex.mul %arg0, %arg1 : complex<f16>\n    %1 = complex.re %0 : complex<f16>"
    kept = [FUNCTION.format("f16", body)]
    others = "rsqrt sign expm1 log1p".split()
    body = "\n".join(f"    %{n} = complex.{kind} %arg0 : complex<f32>" for n, kind in enumerate(others))
    kept.append(FUNCTION.format("f32", body))
    for text in kept:
        module = af.parse(text)
        assert [op for op in walk(module) if isinstance(op, Opaque)]
        assert mlir_opt(str(module)) == mlir_opt(text)


def test_every_name_of_the_dialect_is_known():
    lines = [f'"complex.{name}"() : () -> ()' for name in ("nothing", *OPERATIONS["complex"])]
    with pytest.raises(AssertionError) as said:
        mlir_opt("\n// -----\n".join(lines), "--split-input-file")
    assert set(re.findall(r"unregistered operation 'complex\.(\w+)'", str(said.value))) == {"nothing"}
    with pytest.raises(ParseError, match=r"complex\.nothing"):
        af.parse('"complex.nothing"() : () -> ()')


WRONG = {
    "complex.constant [1.0] : complex<f64>": "needs a list of two numbers of type f64",
    "complex.constant [1.0 : f32, 2.0 : f32] : complex<f64>": "needs a list of two numbers of type f64",
    "complex.constant 1.0 : complex<f64>": "1.0 is no number of type complex<f64>",
    "complex.create %x, %x : complex<f32>": "%x",
    "complex.re %x : f64": "complex.re",
    "complex.mul %z, %z {fastmath = 1} : complex<f64>": "fastmath must be",
    "complex.foo %z : complex<f64>": "complex.foo",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_is_wrong_is_refused(line: str):
    text = f"func.func @f(%z: complex<f64>, %x: f64) {{\n  %0 = {line}\n  return\n}}"
    with pytest.raises((af.VerificationError, ParseError), match=re.escape(WRONG[line])):
        af.parse(text)
    with pytest.raises(AssertionError, match="error:"):
        mlir_opt(text)


def test_types():
    assert [str(t) for t in (C64, C128)] == ["complex<f32>", "complex<f64>"]
    with pytest.raises(ValueError, match="the parts of a complex number are f32 or f64, not f16"):
        ComplexType(FloatType("f16"))
    with pytest.raises(ParseError, match="the elements of a vector must be integers, index or floats"):
        af.parse("func.func @f(%v: vector<4xcomplex<f32>>) { return }")
    assert isinstance(af.parse("func.func @f() { return }").functions[0], func.Func)
