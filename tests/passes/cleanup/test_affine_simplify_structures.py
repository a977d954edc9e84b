"""affine_simplify_structures: next to mlir-opt's, stronger by the places around, run before and after."""

import re
from random import Random

import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.mlir.writers import print_op
from affdsl.passes.cleanup.affine_simplify_structures import affine_simplify_structures
from tests.oracles import mlir_opt
from tests.passes.compare import parsed, shown

PASS = "--affine-simplify-structures"

HEAD = "func.func @f(%n: index, %m: index, %A: memref<?xi32>, %x: i32) "


def test_the_result_is_valid_where_that_of_mlir_opt_is_not():
    """In a loop that never runs mlir-opt leaves a loop without a bound."""
    text = """func.func @f(%A: memref<9xindex>) {
      affine.for %i = 0 to min affine_map<() -> (4, 0)>() {
        affine.for %j = max affine_map<(d0) -> (0, d0)>(%i) to 8 {
          affine.store %j, %A[%j] : memref<9xindex>
        }
      }
      return }"""
    with pytest.raises(AssertionError, match="expected lower bound map to have at least one result"):
        mlir_opt(text, PASS)
    assert "affine.for" not in shown(affine_simplify_structures(parsed(text)))


def test_attributes_and_locations_stay():
    module = parsed(
        HEAD
        + """{
      affine.for %i = 0 to 8 {
        affine.store %x, %A[%i mod 8] {tag} : memref<?xi32> loc("s":3:4)
        %0 = affine.apply affine_map<(d0) -> (d0 floordiv 8)>(%i) loc("s":4:4)
        memref.store %x, %A[%0] : memref<?xi32>
      } {loop}
      return }"""
    )
    made = affine_simplify_structures(module)
    (loop,) = [op for op in walk(made) if isinstance(op, affine.For)]
    assert [name for name, _ in loop.attributes] == ["loop"]
    store, constant = loop.body[:2]
    assert ([name for name, _ in store.attributes], str(store.location)) == (["tag"], "s:3")
    assert (constant.name, str(constant.location)) == ("arith.constant", "s:4")


def test_nothing_is_assumed_of_the_last_iteration_or_of_unknown_divisors():
    text = """{
      affine.for %i = 0 to 8 {
        affine.store %x, %A[(%i + 1) floordiv 8] : memref<?xi32>
        affine.if affine_set<(d0) : (6 - d0 >= 0)>(%i) {
          affine.store %x, %A[%i mod 7] : memref<?xi32>
        }
        affine.store %x, %A[%i mod 7] : memref<?xi32>
        affine.store %x, %A[%i floordiv symbol(%n)] : memref<?xi32>
      }
      affine.for %i = 0 to %n step 3 {
        affine.if affine_set<(d0)[s0] : (s0 - d0 - 3 >= 0)>(%i)[%n] {
          affine.store %x, %A[%i] : memref<?xi32>
        }
      }
      return }"""
    made = affine_simplify_structures(parsed(HEAD + text))
    indices = re.findall(r"%A\[(.*?)\]", print_op(made))
    assert indices == ["(%i + 1) floordiv 8", "%i", "%i mod 7", "%i floordiv symbol(%n)", "%i"]
    assert len([op for op in walk(made) if isinstance(op, affine.If)]) == 2


def store(random: Random, dims: list[str], index: str) -> str:
    """Add one to an element, which shows how often it was done."""
    used = re.sub(r"d(\d)", lambda name: dims[int(name[1])], index).replace("s0", "symbol(%n)")
    v, w = (f"%t{random.getrandbits(40)}" for _ in range(2))
    return (
        f"{v} = affine.load %A[{used}] : memref<16xi32>\n{w} = arith.addi {v}, %x : i32\n"
        f"affine.store {w}, %A[{used}] : memref<16xi32>"
    )
