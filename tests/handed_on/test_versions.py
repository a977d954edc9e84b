"""Text for earlier versions of MLIR: their mlir-opt reads it, and what it lowers it to computes the same."""

from __future__ import annotations

import re

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.interpreter import run as interpreted
from affdsl.ir.verifier import verify
from affdsl.mlir.known_versions import NEXT, TRIED, Version
from affdsl.mlir.readers import parse
from affdsl.passes.lowering.earlier_mlir import RULES
from affdsl.passes.lowering.for_version import for_version, text_for
from affdsl.passes.lowering.handed_on import handed_on
from tests.effort import TRIES_ALL, by_turns
from tests.handed_on.kernels import CASES, Case
from tests.handed_on.lowered import called, lowered, run, tool, tried_with
from tests.harness.judges import copied

EARLIER = [version for version in TRIED if version < 22]
OTHERS: tuple[Version, ...] = (*EARLIER, NEXT, "xdsl")
N = af.symbols("N")


@pytest.mark.parametrize("version", OTHERS)
def test_mlir_opt_of_the_version_reads_all_kernels(version: Version) -> None:
    texts = [case.kernel.mlir(version=version) for case in CASES]
    run(tool("mlir-opt", tried_with(version)), "--split-input-file", "-", given="\n// -----\n".join(texts).encode())


@pytest.mark.parametrize(("case", "version"), by_turns(CASES, OTHERS), ids=str)
def test_what_a_version_lowers_computes_the_same(case: Case, version: Version) -> None:
    expected, given = copied(case.arguments()), copied(case.arguments())
    wanted = case.kernel.interpret(*expected)
    found = called(case.kernel, version)(*given)
    for a, b in zip((*expected, *several(wanted)), (*given, *several(found)), strict=True):
        np.testing.assert_array_equal(a, b)


def several(result: object) -> tuple[object, ...]:
    return () if result is None else result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("version", [*range(14, 22), "xdsl"])
def test_the_text_of_a_version_says_the_same_to_the_interpreter(version: Version) -> None:
    """What replaces operations, without any tool: on all kinds of floats, integers and complex numbers."""
    for name, (text, arguments) in PROGRAMS.items():
        module = parse(text)
        verify(module)
        made = for_version(module, version)
        verify(made)
        expected, given = copied(arguments), copied(arguments)
        wanted = interpreted(module.functions[0], *expected, module=module)
        found = interpreted(made.functions[0], *given, module=made)
        for a, b in zip((*expected, *several(wanted)), (*given, *several(found)), strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f"{name} for MLIR {version}")
            if isinstance(a, np.ndarray) and a.dtype.kind == "f":
                there = ~np.isnan(a)
                np.testing.assert_array_equal(np.signbit(a[there]), np.signbit(b[there]), err_msg=f"{name}, {version}")


FLOATS = np.array([0.0, -0.0, 1.5, -1.5, 0.5, -0.5, 2.5, np.inf, -np.inf, np.nan, 3e38, 1e-40, 8388609.0, 0.49999997])
X, Y = (np.ascontiguousarray(each.ravel().astype("f4")) for each in np.meshgrid(FLOATS, FLOATS))


def pairs(kind: str) -> tuple[str, tuple[object, ...]]:
    """An operation on all pairs of floats."""
    return _on_all(f"%r = arith.{kind} %x, %y : f32", "f32"), (len(X), X, Y, np.zeros_like(X))


def of_each(operation: str, result: str = "f32") -> tuple[str, tuple[object, ...]]:
    """An operation on each float."""
    made = np.zeros(len(X), {"f32": "f4", "i1": "?"}[result])
    return _on_all(f"%r = {operation}", result), (len(X), X, Y, made)


def _on_all(line: str, result: str) -> str:
    return f"""func.func @f(%n: index, %X: memref<?xf32>, %Y: memref<?xf32>, %R: memref<?x{result}>) {{
        affine.for %i = 0 to %n {{
          %x = affine.load %X[%i] : memref<?xf32>
          %y = affine.load %Y[%i] : memref<?xf32>
          {line}
          affine.store %r, %R[%i] : memref<?x{result}>
        }}
        return
    }}"""


def _lanes(
    *lines: str, result: str = "vector<4xf32>", store: str = "affine.vector_store"
) -> tuple[str, tuple[object, ...]]:
    body = "\n".join(lines)
    return (
        f"""func.func @f(%X: memref<4xf32>, %R: memref<4xf32>) {{
        %v = affine.vector_load %X[0] : memref<4xf32>, vector<4xf32>
        {body}
        {store} %r, %R[0] : memref<4xf32>{", vector<4xf32>" if store.startswith("affine.vector") else ""}
        return
    }}""",
        (np.array([1, -0.0, 0, -2], "f4"), np.zeros(4, "f4")),
    )


INTEGERS = np.array([-128, -7, -1, 0, 1, 5, 7, 127], np.int8)

PROGRAMS = {
    **{kind: pairs(kind) for kind in ("maximumf", "minimumf", "maxnumf", "minnumf")},
    "relu": of_each("arith.maximumf %x, %zero : f32".replace("%zero", "%y")),
    **{
        kind: of_each(f"math.{kind} %x : f32", "i1" if kind.startswith("is") else "f32")
        for kind in ("round", "roundeven", "trunc", "isfinite", "isinf", "isnan", "isnormal", "absf")
    },
    "extremes of numbers": (
        _on_all(
            """%c = arith.constant 0.0 : f32 %d = arith.constant 1.5 : f32 %a = arith.maximumf %x, %c : f32
            %b = arith.minimumf %a, %d : f32 %e = arith.minimumf %y, %c : f32 %r = arith.addf %b, %e : f32""",
            "f32",
        ),
        (len(X), X, Y, np.zeros_like(X)),
    ),
    "lanes": _lanes(
        "%0:4 = vector.to_elements %v : vector<4xf32>",
        "%r = vector.from_elements %0#3, %0#1, %0#0, %0#2 : vector<4xf32>",
    ),
    "products that may be fused": _lanes(
        "%p = arith.mulf %v, %v fastmath<contract> : vector<4xf32>",
        "%r = arith.addf %p, %v fastmath<contract> : vector<4xf32>",
    ),
    "reductions": _lanes(
        "%a = vector.reduction <maximumf>, %v : vector<4xf32> into f32",
        "%r = vector.reduction <minimumf>, %v, %a : vector<4xf32> into f32",
        store="affine.store",
    ),
    "a band of the largest": (
        """func.func @f(%n: index, %X: memref<?xf32>, %R: memref<1xf32>) {
        %m = affine.parallel (%i) = (0) to (%n) reduce ("maximumf") -> (f32) {
          %x = affine.load %X[%i] : memref<?xf32>
          affine.yield %x : f32
        }
        affine.store %m, %R[0] : memref<1xf32>
        return
    }""",
        (3, np.array([-1, -0.0, -3], "f4"), np.zeros(1, "f4")),
    ),
    "integers": (
        """func.func @f(%n: index, %A: memref<?xi8>, %R: memref<?xi8>, %I: memref<?xindex>) {
        affine.for %i = 0 to %n {
          %a = affine.load %A[%i] : memref<?xi8>
          %u = arith.index_castui %a : i8 to index
          affine.store %u, %I[%i] : memref<?xindex>
          %s = math.absi %a : i8
          affine.store %s, %R[%i] : memref<?xi8>
        }
        return
    }""",
        (len(INTEGERS), INTEGERS, np.zeros_like(INTEGERS), np.zeros(len(INTEGERS), np.int64)),
    ),
    "quotients of lanes": (
        """func.func @f(%A: memref<8xi8>, %R: memref<8xi8>) {
        %b = arith.constant dense<[2, -3, 7, 5, -2, 3, -7, 2]> : vector<8xi8>
        %a = affine.vector_load %A[0] : memref<8xi8>, vector<8xi8>
        %q = arith.floordivsi %a, %b : vector<8xi8>
        %c = arith.ceildivsi %a, %b : vector<8xi8>
        %u = arith.ceildivui %a, %b : vector<8xi8>
        %s = arith.muli %q, %c : vector<8xi8>
        %r = arith.addi %s, %u : vector<8xi8>
        affine.vector_store %r, %R[0] : memref<8xi8>, vector<8xi8>
        return
    }""",
        (INTEGERS, np.zeros_like(INTEGERS)),
    ),
    "complex numbers": (
        """func.func @f(%Z: memref<2xcomplex<f32>>, %R: memref<1xf32>) {
        %z = affine.load %Z[0] : memref<2xcomplex<f32>>
        %c = complex.conj %z : complex<f32>
        affine.store %c, %Z[1] : memref<2xcomplex<f32>>
        %r = complex.angle %z : complex<f32>
        affine.store %r, %R[0] : memref<1xf32>
        return
    }""",
        (np.array([1.5 - 0.25j, 0], "c8"), np.zeros(1, "f4")),
    ),
}


@pytest.mark.parametrize("version", EARLIER)
def test_what_replaces_operations_is_lowered(version: int) -> None:
    functions = [text.replace("@f(", f"@f{k}(") for k, (text, _) in enumerate(PROGRAMS.values())]
    lowered(text_for(handed_on(parse("\n".join(functions))), version), version)


def test_each_operation_that_has_a_rule_is_tried() -> None:
    """Those of the C library are compared below; the others have no rule, and are refused."""
    used = "\n".join(text for text, _ in PROGRAMS.values())
    rules = {name for name, (_, rule) in RULES.items() if rule.__name__ not in ("_no", "c_function", "_lanes")}
    assert {name for name in rules if name not in used} == set()


@pytest.mark.parametrize("version", OTHERS)
def test_functions_of_the_c_library_are_called(version: Version) -> None:
    @af.kernel
    def functions(x: af.f64[N], y: af.f64[N]):
        with af.for_(N) as i:
            y[i] = af.erfc(x[i]) + af.cosh(x[i]) + af.tan(x[i]) + af.fmod(x[i], 0.7)

    x = np.linspace(-2, 2, 9)
    wanted, found = np.zeros(9), np.zeros(9)
    functions.interpret(x, wanted)
    called(functions, version)(x, found)
    np.testing.assert_array_equal(found, wanted)
    lanes = af.Schedule(functions).vectorize("i", 4).kernel()
    called(lanes, version)(x, found)
    np.testing.assert_array_equal(found, wanted)


def test_strided_arrays_are_maps_before_16() -> None:
    @af.kernel
    def scaled(x: af.strided(af.f64[N, N])):
        with af.for_(N) as i, af.for_(N) as j:
            x[i, j] *= 2.0

    assert "memref<?x?xf64, strided<[?, ?], offset: ?>>" in scaled.mlir(version=16)
    map = "affine_map<(d0, d1)[s0, s1, s2] -> (d0 * s1 + s0 + d1 * s2)>"
    assert f"memref<?x?xf64, {map}>" in scaled.mlir(version=15)


def test_properties_in_braces_are_in_generic_form_from_24_on() -> None:
    module = parse(
        """memref.global "private" constant @g : memref<2xf32> = dense<1.0> {alignment = 64 : i64}
        func.func @f(%i: index, %v: vector<8xf32>, %x: f32) {
          %a = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
          %b = memref.alloc() : memref<8xf32>
          memref.store %x, %b[%i] {nontemporal = true} : memref<8xf32>
          memref.store %x, %b[%i] : memref<8xf32>
          vector.store %v, %a[%i] {alignment = 32 : i64} : memref<8xf32>, vector<8xf32>
          %s = vector.extract_strided_slice %v {offsets = [2], sizes = [4], strides = [1]}
               : vector<8xf32> to vector<4xf32>
          %t = vector.insert_strided_slice %s, %v {offsets = [0], strides = [1]} : vector<4xf32> into vector<8xf32>
          return
        }"""
    )
    text = text_for(module, NEXT)
    generic = (
        "memref.global", "memref.alloc", "memref.store", "vector.store", "vector.extract_strided_slice",
        "vector.insert_strided_slice",
    )  # fmt: skip
    assert re.findall(r'"([\w.]+)"\(', text) == list(generic)
    assert "{alignment" not in text.replace("<{", "")
    assert "= memref.alloc() : memref<8xf32>" in text
    assert "    memref.store %x, %b[%i] : memref<8xf32>" in text
    assert str(parse(text)) == str(module)
    run(tool("mlir-opt", 22), "-", given=text.encode())


def test_what_a_version_cannot_say_is_refused_at_its_line() -> None:
    @af.kernel
    def shown(x: af.f64[N]):
        with af.for_(N) as i:
            af.print_("x", x[i])

    @af.kernel
    def rooted(z: af.c64[N]):
        with af.for_(N) as i:
            z[i] = af.sqrt(z[i])

    with pytest.raises(af.UnsupportedError) as error:
        rooted.mlir(version=14)
    assert "complex.sqrt: MLIR 14 does not have it, MLIR 15 does: write something else" in str(error.value)
    assert re.match(r"\S*test_versions\.py:\d+: ", str(error.value))
    with pytest.raises(af.UnsupportedError, match=r"vector\.print: MLIR 16 does not have it"):
        shown.mlir(version=16)
    assert "vector.print" in shown.mlir(version=19)


@pytest.mark.parametrize("version", [13, 25, "16", True, None])
def test_a_version_that_is_not_known_is_refused(version: object) -> None:
    with pytest.raises(af.ProgramTypeError) as error:
        CASES[0].kernel.mlir(version=version)  # type: ignore[arg-type]
    assert f"version is {version!r}" in str(error.value)
    assert 'the known versions of MLIR are 14 to 24, and "xdsl"' in str(error.value)


def test_the_newest_version_is_what_is_printed_without_one() -> None:
    for case in CASES:
        assert case.kernel.mlir(version=22) == case.kernel.mlir()
        module = case.kernel.module
        assert for_version(module, 22) is for_version(module, 24) is module
    assert TRIES_ALL or len(by_turns(CASES, OTHERS)) == len(CASES)
