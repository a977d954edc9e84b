"""Nests are permuted as mlir-opt permutes them, where it is right; what is not legal stays as it is."""

from __future__ import annotations

import pytest

from affdsl.errors import AffdslError
from affdsl.passes.mlir_opt.loop_permutation import loop_permutation
from tests.oracles import mlir_opt
from tests.passes.compare import assert_alike, parsed, shown

HEAD = "func.func @f(%A: memref<9x9x9xf32>, %B: memref<9x9x9xf32>, %n: index, %x: f32)"
COPY = """%a = affine.load %A[%i, %j, %k] : memref<9x9x9xf32>
  affine.store %a, %B[%i, %j, %k] : memref<9x9x9xf32>"""
CUBE = f"affine.for %i = 0 to 5 {{ affine.for %j = 1 to 7 {{ affine.for %k = 0 to 7 step 2 {{ {COPY} }} }} }}"
FLAT = COPY.replace("%k", "0")
SQUARE = f"affine.for %i = 0 to 3 {{ affine.for %j = 2 to 4 {{ {FLAT} }} }}"
SYMBOLIC = f"affine.for %i = 0 to min affine_map<()[s0] -> (s0, 9)>()[%n] {{ affine.for %j = 0 to 4 {{ {FLAT} }} }}"
IMPERFECT = f"""affine.for %i = 0 to 3 {{ affine.for %j = 2 to 4 {{
  affine.for %k = 0 to 3 {{ affine.for %l = 0 to 2 {{ affine.store %x, %A[%i * 2 + %l, %j, %k] : memref<9x9x9xf32> }} }}
  {FLAT.replace("%A", "%B")}
}} }}"""
SWEEP = """affine.for %i = 1 to 9 { affine.for %j = 0 to 8 {
  %a = affine.load %A[%i - 1, %j + 1, 0] : memref<9x9x9xf32>
  affine.store %a, %A[%i, %j, 0] : memref<9x9x9xf32>
} }"""
TRIANGLE = f"affine.for %i = 0 to 9 {{ affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {{ {FLAT} }} }}"
CARRYING = """affine.for %i = 0 to 9 { %r = affine.for %j = 0 to 9 iter_args(%s = %x) -> f32 {
  %t = arith.addf %s, %s : f32
  affine.yield %t : f32 } }"""


def function(body: str) -> str:
    return f"{HEAD} {{\n{body}\nreturn }}"


@pytest.mark.parametrize(
    ("body", "permutation"),
    [
        (CUBE, "1,2,0"), (CUBE, "2,0,1"), (CUBE, "1,0"), (CUBE, "0,1,2"), (CUBE, "0,2,1"),
        (SQUARE, "1,0"), (SQUARE, "1,2,0"), (SYMBOLIC, "1,0"), (IMPERFECT, "1,0"), (SWEEP, "1,0"),
        (CUBE + SQUARE, "1,0"), (CARRYING, "1,0"),
    ],
)  # fmt: skip
def test_the_same_as_mlir_opt(body, permutation):
    text = function(body)
    ours = loop_permutation(parsed(text), permutation_map=tuple(permutation.split(",")), check_validity=True)
    theirs = mlir_opt(text, f"--test-loop-permutation=permutation-map={permutation} check-validity=1")
    assert shown(ours) == theirs
    assert_alike(parsed(text), ours)


def test_what_is_not_legal_stays_even_unasked():
    module = parsed(function(SWEEP))
    assert loop_permutation(module, permutation_map=("1", "0")) is module


def test_triangles_get_bounds_of_their_own():
    module = parsed(function(TRIANGLE))
    made = loop_permutation(module, permutation_map=("1", "0"), check_validity=True)
    assert "affine.for %i = affine_map<(d0) -> (d0 + 1)>(%j) to 9" in str(made.functions[0])
    assert_alike(module, made)


def test_a_nest_whose_bounds_cannot_be_said_stays():
    body = SYMBOLIC.replace("%j = 0", "%j = max affine_map<(d0) -> (d0, 1)>(%i)").replace("to 4 {", "to 4 step 2 {")
    module = parsed(function(body))
    assert loop_permutation(module, permutation_map=("1", "0")) is module


def test_without_a_permutation_nothing_changes():
    module = parsed(function(CUBE))
    assert loop_permutation(module) is module


@pytest.mark.parametrize("wrong", [("0", "0"), ("1", "2"), ("-1", "0")])
def test_what_is_no_permutation_is_refused(wrong):
    with pytest.raises(AffdslError, match="is no permutation: it must have each of 0, 1 once"):
        loop_permutation(parsed(function(CUBE)), permutation_map=wrong)
    with pytest.raises(AffdslError, match="these are not numbers"):
        loop_permutation(parsed(function(CUBE)), permutation_map=("a", "b"))
