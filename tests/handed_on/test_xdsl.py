"""Text for xDSL: what it lacks is said in other operations, with the same results; what cannot be is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.interpreter import run as interpreted
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.registry import OPERATIONS
from affdsl.passes.lowering.for_version import text_for
from affdsl.passes.lowering.for_xdsl import MISSING, REPLACED, for_xdsl
from tests import oracles
from tests.handed_on.kernels import CASES
from tests.handed_on.lowered import run
from tests.handed_on.test_versions import PROGRAMS
from tests.harness.judges import copied


def on_vectors(lines: str, type: str) -> str:
    """A function whose lines make %r, of a type of one dimension, of %v and %w, of the matrix %m and of the mask %k."""
    return f"""func.func @f(%X: memref<6xf32>, %Y: memref<6xf32>, %R: memref<24xf32>) {{
        %v = affine.vector_load %X[0] : memref<6xf32>, vector<6xf32>
        %w = affine.vector_load %Y[0] : memref<6xf32>, vector<6xf32>
        %m = vector.shape_cast %v : vector<6xf32> to vector<2x3xf32>
        %k = arith.cmpf olt, %v, %w : vector<6xf32>
        {lines}
        affine.vector_store %r, %R[0] : memref<24xf32>, {type}
        return
    }}"""


LANES = {
    "rows": on_vectors(
        """%r = vector.extract_strided_slice %v {offsets = [2], sizes = [3], strides = [1]}
        : vector<6xf32> to vector<3xf32>""",
        "vector<3xf32>",
    ),
    "rows of a matrix": on_vectors(
        """%s = vector.extract_strided_slice %m {offsets = [1], sizes = [1], strides = [1]}
        : vector<2x3xf32> to vector<1x3xf32>
        %r = vector.shape_cast %s : vector<1x3xf32> to vector<3xf32>""",
        "vector<3xf32>",
    ),
    "a part of a matrix": on_vectors(
        """%s = vector.extract_strided_slice %m {offsets = [1, 1], sizes = [1, 2], strides = [1, 1]}
        : vector<2x3xf32> to vector<1x2xf32>
        %r = vector.shape_cast %s : vector<1x2xf32> to vector<2xf32>""",
        "vector<2xf32>",
    ),
    "a row in a matrix": on_vectors(
        """%s = vector.extract_strided_slice %w {offsets = [3], sizes = [2], strides = [1]}
        : vector<6xf32> to vector<2xf32>
        %i = vector.insert_strided_slice %s, %m {offsets = [1, 1], strides = [1]} : vector<2xf32> into vector<2x3xf32>
        %r = vector.shape_cast %i : vector<2x3xf32> to vector<6xf32>""",
        "vector<6xf32>",
    ),
    "three dimensions": on_vectors(
        """%c = vector.broadcast %m : vector<2x3xf32> to vector<4x2x3xf32>
        %n = arith.negf %m : vector<2x3xf32>
        %i = vector.insert_strided_slice %n, %c {offsets = [1, 0, 0], strides = [1, 1]}
        : vector<2x3xf32> into vector<4x2x3xf32>
        %t = vector.transpose %i, [1, 2, 0] : vector<4x2x3xf32> to vector<2x3x4xf32>
        %r = vector.shape_cast %t : vector<2x3x4xf32> to vector<24xf32>""",
        "vector<24xf32>",
    ),
    "choices": on_vectors("%r = arith.select %k, %v, %w : vector<6xi1>, vector<6xf32>", "vector<6xf32>"),
    "one choice": on_vectors(
        """%yes = vector.extract %k[4] : i1 from vector<6xi1>
        %r = arith.select %yes, %v, %w : vector<6xf32>""",
        "vector<6xf32>",
    ),
    "numbers of other types": on_vectors(
        """%a = arith.extui %k : vector<6xi1> to vector<6xi8>
        %b = arith.extsi %k : vector<6xi1> to vector<6xi32>
        %c = arith.trunci %b : vector<6xi32> to vector<6xi8>
        %d = arith.cmpi ult, %a, %c : vector<6xi8>
        %e = arith.index_castui %a : vector<6xi8> to vector<6xindex>
        %f = arith.index_cast %e : vector<6xindex> to vector<6xi32>
        %g = arith.sitofp %f : vector<6xi32> to vector<6xf32>
        %h = arith.uitofp %b : vector<6xi32> to vector<6xf32>
        %z = arith.select %d, %g, %h : vector<6xi1>, vector<6xf32>
        %y = math.isnan %v : vector<6xf32>
        %x = arith.select %y, %z, %v : vector<6xi1>, vector<6xf32>
        %p = arith.fptosi %z : vector<6xf32> to vector<6xi64>
        %q = arith.fptoui %z : vector<6xf32> to vector<6xi64>
        %o = arith.addi %p, %q : vector<6xi64>
        %n = arith.sitofp %o : vector<6xi64> to vector<6xf32>
        %r = arith.addf %n, %x : vector<6xf32>""",
        "vector<6xf32>",
    ),
    "the largest index, and hints": """func.func @f(%X: memref<6xf32>, %Y: memref<6xf32>, %R: memref<24xf32>) {
        affine.for %i = 0 to 6 {
          affine.prefetch %X[%i], read, locality<3>, data : memref<6xf32>
          memref.prefetch %X[%i], read, locality<3>, data : memref<6xf32>
          %at = affine.max affine_map<(d0) -> (d0 - 2, 3 - d0, 1)>(%i)
          %x = memref.load %X[%at] : memref<6xf32>
          affine.store %x, %R[%i] : memref<24xf32>
        }
        return
    }""",
    "a sum in any order": """func.func @f(%X: memref<6xf32>, %Y: memref<6xf32>, %R: memref<24xf32>) {
        %s, %n = affine.parallel (%i, %j) = (0, 1) to (6, 4) reduce ("addf", "addi") -> (f32, i32) {
          %x = affine.load %R[%i] : memref<24xf32>
          %k = arith.index_cast %j : index to i32
          affine.yield %x, %k : f32, i32
        }
        %f = arith.sitofp %n : i32 to f32
        affine.store %s, %R[0] : memref<24xf32>
        affine.store %f, %R[1] : memref<24xf32>
        return
    }""",
}
NUMBERS = (
    np.array([1.5, -0.0, np.nan, -7.25, np.inf, 3.0], "f4"),
    np.array([2.0, 0.0, 1.0, 2.0, 1.0, -0.75], "f4"),
    np.arange(24, dtype="f4"),
)


@pytest.mark.parametrize("name", LANES)
def test_what_replaces_operations_says_the_same(name: str) -> None:
    module = parse(LANES[name])
    verify(module)
    made = for_xdsl(module)
    verify(made)
    assert str(for_xdsl(made)) == str(made) != str(module)
    expected, given = copied(NUMBERS), copied(NUMBERS)
    interpreted(module.functions[0], *expected, module=module)
    interpreted(made.functions[0], *given, module=made)
    for a, b in zip(expected, given, strict=True):
        np.testing.assert_array_equal(a.view("u4"), b.view("u4"))


def test_each_operation_that_is_replaced_is_tried() -> None:
    used = "\n".join((*LANES.values(), *(text for text, _ in PROGRAMS.values()), "vector.step math.erfc arith.remf"))
    assert {name for name in REPLACED if name not in used} == set()
    assert not MISSING & set(REPLACED)
    assert {f"{dialect}.{name}" for dialect, names in OPERATIONS.items() for name in names} >= MISSING | set(REPLACED)


def test_what_cannot_be_said_is_refused_at_its_line() -> None:
    module = parse(
        """func.func @f(%A: memref<8xf32>, %at: vector<4xi32>, %m: vector<4xi1>, %v: vector<4xf32>) -> vector<4xf32> {
          %c0 = arith.constant 0 : index
          %r = vector.gather %A[%c0] [%at], %m, %v
               : memref<8xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
          return %r : vector<4xf32>
        }""",
        "gathered.mlir",
    )
    with pytest.raises(af.UnsupportedError) as error:
        text_for(module, "xdsl")
    assert str(error.value) == (
        "gathered.mlir:3:16: vector.gather: xDSL does not have it: write something else, or hand the text on to MLIR"
    )


def test_lanes_whose_number_is_not_known_are_refused() -> None:
    module = parse(
        """func.func @f(%v: vector<[4]xf32>, %w: vector<[4]xf32>) -> vector<[4]xf32> {
          %k = arith.cmpf olt, %v, %w : vector<[4]xf32>
          %r = arith.select %k, %v, %w : vector<[4]xi1>, vector<[4]xf32>
          return %r : vector<[4]xf32>
        }""",
        "any.mlir",
    )
    with pytest.raises(af.UnsupportedError, match=r"any\.mlir:2:\d+: arith\.cmpf: it is replaced lane by lane"):
        text_for(module, "xdsl")


def test_xdsl_reads_it(tmp_path: Path) -> None:
    xdsl = shutil.which("xdsl-opt")
    if xdsl is None:
        pytest.skip(f"{oracles.MISSING_ORACLE}needs xdsl-opt (pip install xdsl)")
    texts = [case.kernel.mlir(version="xdsl") for case in CASES]
    texts += [text_for(parse(text), "xdsl") for text in (*LANES.values(), *(text for text, _ in PROGRAMS.values()))]
    file = tmp_path / "all.mlir"
    file.write_text("\n// -----\n".join(texts))
    run(xdsl, "--split-input-file", file)
