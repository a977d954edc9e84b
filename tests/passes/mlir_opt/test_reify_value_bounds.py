"""test-affine-reify-value-bounds: next to mlir-opt's, and next to what runs give."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from affdsl.ir.interpreter import run
from affdsl.mlir.readers import parse
from affdsl.passes.affine.value_bounds import ValueBounds
from affdsl.passes.mlir_opt.reify_value_bounds import reify_value_bounds, unknown_bounds
from tests.oracles import mlir_opt
from tests.passes.compare import shown

LOOPS = """func.func @f(%n: index, %m: index, %A: memref<3xindex>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %m to %n step %c3 {{
    %s = affine.min affine_map<(d0)[s0] -> (s0 - d0, 3)>(%i)[%n]
    %q = affine.apply affine_map<()[s0] -> ((s0 floordiv 2) * 2)>()[%s]
    scf.for %j = %q to %s step %c1 {{
      %v = {value}
      %u = "test.reify_bound"(%v) {{type = "UB"}} : (index) -> index
      %l = "test.reify_bound"(%v) {{type = "LB"}} : (index) -> index
      memref.store %v, %A[%c0] : memref<3xindex>
      memref.store %u, %A[%c1] : memref<3xindex>
      memref.store %l, %A[%c2] : memref<3xindex>
    }}
  }}
  return
}}"""
UPPER = {
    "the rest of a tile": "affine.apply affine_map<(d0)[s0] -> (s0 - d0)>(%j)[%s]",
    "what is left": "affine.apply affine_map<(d0)[s0] -> (s0 - d0)>(%i)[%n]",
    "a size in twos": "affine.apply affine_map<()[s0] -> (s0 + 1)>()[%q]",
    "a remainder": "affine.apply affine_map<(d0) -> (d0 mod 4)>(%i)",
    "a maximum below": "affine.apply affine_map<(d0) -> (d0 * 2 - d0)>(%i)",
}


@pytest.mark.parametrize("to_arguments", [True, False])
@pytest.mark.parametrize("name", UPPER)
def test_no_value_is_beyond_its_bounds(name, to_arguments):
    text = LOOPS.format(value=UPPER[name])
    lines = text.splitlines()
    unknown = [
        r.op.location.line for r in unknown_bounds(parse(text), reify_to_func_args=to_arguments) if r.op.location
    ]
    asked = {kind: next(k for k, line in enumerate(lines, 1) if f'"{kind}"' in line) for kind in ("UB", "LB")}
    for kind, line in asked.items():
        if line in unknown:  # it is left out, with the store that reads it
            where = "%u, %A[%c1]" if kind == "UB" else "%l, %A[%c2]"
            lines = ["" if k == line or where in each else each for k, each in enumerate(lines, 1)]
    assert len(unknown) < 2
    made = reify_value_bounds(parse("\n".join(lines)), reify_to_func_args=to_arguments)
    ran = 0
    for n, m in itertools.product((0, 1, 3, 7, 10), (0, 1, 2, 5)):
        found = np.full(3, 10**9, dtype=np.int64)
        found[2] = -(10**9)
        run(made.functions[0], n, m, found)
        value, upper, lower = map(int, found)
        if value != 10**9:
            ran += 1
            assert lower <= value < upper
    assert ran > 3


CHAIN = """func.func @f(%n: index, %m: index, %t: tensor<4x?xf32>) -> (index, index, index, index) {
  %c1 = arith.constant 1 : index
  %x = arith.constant 0.0 : f32
  %a = tensor.empty(%n, %m) : tensor<?x10x?xf32>
  %b = tensor.cast %a : tensor<?x10x?xf32> to tensor<?x?x?xf32>
  %c = tensor.insert %x into %b[%c1, %c1, %c1] : tensor<?x?x?xf32>
  %d = linalg.fill ins(%x : f32) outs(%c : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %e = tensor.extract_slice %d[0, %n, 1] [%n, 4, %m] [1, 1, 1] : tensor<?x?x?xf32> to tensor<?x4x?xf32>
  %0 = "test.reify_bound"(%d) {dim = 0 : i64} : (tensor<?x?x?xf32>) -> index
  %1 = "test.reify_bound"(%d) {dim = 1 : i64} : (tensor<?x?x?xf32>) -> index
  %2 = "test.reify_bound"(%e) {dim = 2 : i64, type = "UB"} : (tensor<?x4x?xf32>) -> index
  %s = affine.apply affine_map<()[s0, s1] -> (s1 - s0 + 3)>()[%n, %m]
  %3 = "test.reify_bound"(%s) {type = "LB"} : (index) -> index
  return %0, %1, %2, %3 : index, index, index, index
}"""


def test_sizes_of_tensors_as_mlir_opt_finds_them():
    ours = shown(reify_value_bounds(parse(CHAIN), reify_to_func_args=True), "--canonicalize")
    flag = "--pass-pipeline=builtin.module(func.func(test-affine-reify-value-bounds{reify-to-func-args},canonicalize))"
    assert ours == mlir_opt(CHAIN, flag)


def test_what_is_not_known_and_what_is_not_asked_well_is_said():
    text = """func.func @f(%n: index, %t: tensor<?xf32>) {
      %s = affine.max affine_map<()[s0] -> (s0, 2)>()[%n]
      %0 = "test.reify_bound"(%s) {type = "UB", constant} : (index) -> index
      %1 = "test.reify_bound"(%t) {dim = 0 : i64} : (tensor<?xf32>) -> index
      %2 = "test.reify_bound"(%t) {dim = 1 : i64} : (tensor<?xf32>) -> index
      %3 = "test.reify_bound"(%t) : (tensor<?xf32>) -> index
      return
    }"""
    said = [message for remarks in unknown_bounds(parse(text)) for message in remarks.messages]
    assert said == [
        "could not reify bound",
        "could not reify bound",
        "'test.reify_bound' op invalid dim for shaped type",
        "'test.reify_bound' op expected 'dim' attribute for shaped type variable",
    ]
    module = parse(text)
    assert reify_value_bounds(module) is module
    assert ValueBounds(module).size(module.functions[0].args[1], 0) is None
