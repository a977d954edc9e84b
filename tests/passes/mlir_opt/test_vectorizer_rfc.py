"""The nest of the vectorizer's RFC on reductions, both ways: the outer loop as it prints it, the inner one right."""

from pathlib import Path

import numpy as np
import pytest

from affdsl.ir.dialects import affine, ub, vector
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.mlir_opt.affine_super_vectorize import affine_super_vectorize
from affdsl.passes.transforms.vectorize import vectorize
from tests.three_ways import agree

ORACLES = Path(__file__).parents[2] / "mlir" / "oracles"
NEST = """func.func @f(%in: memref<16x64xf32>, %out: memref<64xf32>) {
  %cst = arith.constant 0.000000e+00 : f32
  affine.for %i = 0 to 64 {
    %sum = affine.for %k = 0 to 16 iter_args(%r = %cst) -> (f32) {
      %a = affine.load %in[%k, %i] : memref<16x64xf32>
      %s = arith.addf %r, %a : f32
      affine.yield %s : f32
    }
    affine.store %sum, %out[%i] : memref<64xf32>
  }
  return
}"""
OUTER = """func.func @f(%in: memref<16x64xf32>, %out: memref<64xf32>) {
  %cst = arith.constant 0.000000e+00 : f32
  affine.for %i = 0 to 64 step 4 {
    %cst_0 = arith.constant dense<0.000000e+00> : vector<4xf32>
    %sum = affine.for %k = 0 to 16 iter_args(%r = %cst_0) -> (vector<4xf32>) {
      %0 = ub.poison : f32
      %a = vector.transfer_read %in[%k, %i], %0 : memref<16x64xf32>, vector<4xf32>
      %s = arith.addf %r, %a : vector<4xf32>
      affine.yield %s : vector<4xf32>
    }
    vector.transfer_write %sum, %out[%i] : vector<4xf32>, memref<64xf32>
  }
  return
}"""


def ran(module):
    """What a program makes of random numbers, whose sums depend on their order."""
    given = np.random.default_rng(0).random((16, 64), np.float32)
    out = np.zeros(64, np.float32)
    run(module.functions[0], given, out)
    return given, out


def printed(way):
    """The result that the RFC prints."""
    return parse((ORACLES / f"vec_rfc_{way}_roundtrip.in.mlir").read_text())


def test_the_outer_loop_is_chosen_and_is_as_the_rfc_prints_it(tmp_path):
    found = affine_super_vectorize(parse(NEST), virtual_vector_size=(4,))
    assert str(found.functions[0]) == OUTER
    assert ran(found)[1].tobytes() == ran(printed("outer"))[1].tobytes() == ran(parse(NEST))[1].tobytes()
    agree(OUTER, tmp_path, ran(found)[0], np.zeros(64, np.float32))


def test_the_inner_loop_is_chosen_where_sums_may_be_made_in_another_order():
    found = affine_super_vectorize(parse(NEST), virtual_vector_size=(4,), vectorize_reductions=True)
    (read,) = [op for op in walk(found) if isinstance(op, vector.TransferRead)]
    assert str(read.map) == "(d0, d1) -> (d0)"
    given, out = ran(found)
    np.testing.assert_allclose(out, given.sum(0, np.float64), rtol=16 * 2.0**-24)


def test_the_rfc_has_the_same_operations():
    theirs = [type(op) for op in walk(printed("outer"))]
    ours = [type(op) for op in walk(parse(OUTER)) if not isinstance(op, ub.Poison)]
    assert sorted(kind.name for kind in theirs) == sorted(kind.name for kind in ours)


@pytest.mark.parametrize("reassociate", [False, True])
def test_the_inner_loop_gives_the_sums(reassociate, tmp_path):
    f = parse(NEST).functions[0]
    inner = next(op for op in walk(f) if isinstance(op, affine.For) and op.iv.hint == "k")
    module = parse(str(vectorize(f, inner.iv, 4, reassociate=reassociate)))
    verify(module)
    assert next(op.step for op in walk(module) if isinstance(op, affine.For) and op.iv.hint == "k") == 4
    given, out = ran(module)
    if reassociate:
        assert any(isinstance(op, vector.Reduction) for op in walk(module))
        np.testing.assert_allclose(out, given.sum(0, np.float64), rtol=16 * 2.0**-24)
    else:
        assert out.tobytes() == ran(parse(NEST))[1].tobytes()
    agree(str(module), tmp_path, given, np.zeros(64, np.float32))


def test_the_inner_result_that_the_rfc_prints_is_wrong():
    """It reads along the rows, and reaches beyond the last ones, where a transfer gives its padding."""
    given, out = ran(printed("inner"))
    assert not np.allclose(out, given.sum(0), rtol=0.01)
