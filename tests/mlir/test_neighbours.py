"""What stands before an operation, a function or a program says nothing about how it is read and printed."""

import itertools
import random

import pytest

from affdsl.ir.core import Op
from affdsl.ir.dialects.func import Module
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from tests.mlir.batches import judge

NEIGHBOURS = {
    "one_block": "func.func @one_block(%a: f32) -> f32 { return %a : f32 }",
    "blocks": """func.func @blocks(%c: i1, %x: f32) -> f32 {
        cf.cond_br %c, ^bb1(%x : f32), ^bb2
      ^bb1(%y: f32):
        %0 = call @one_block(%y) : (f32) -> f32
        return %0 : f32
      ^bb2:
        return %x : f32
      }""",
    "declared": "func.func private @declared(memref<4xf32>)",
    "region": """func.func @region(%x: f32) {
        "test.region"() ({
          %0 = call @one_block(%x) : (f32) -> f32
          "test.end"(%0) : (f32) -> ()
        }) : () -> ()
        %1 = call @one_block(%x) : (f32) -> f32
        return
      }""",
    "region_blocks": """func.func @region_blocks(%x: f32) {
        scf.execute_region {
          cf.br ^bb1
        ^bb1:
          scf.yield
        }
        call @nothing() : () -> ()
        return
      }""",
    "nothing": "func.func @nothing() { return }",
    "loops": """func.func @loops(%A: memref<?xf32>, %n: index) {
        affine.for %i = 0 to %n {
          affine.for %j = affine_map<(d0) -> (d0 - 1)>(%i) to min affine_map<(d0)[s0] -> (d0 + 4, s0)>(%i)[%n] {
            %0 = affine.load %A[%i + symbol(%n)] : memref<?xf32>
            affine.store %0, %A[%j] : memref<?xf32>
          }
          func.call @nothing() : () -> ()
        }
        return
      }""",
    "more_loops": """func.func @more_loops(%A: memref<?xf32>, %i: index) {
        affine.for %n = 0 to %i {
          %0 = affine.load %A[%n + symbol(%i)] : memref<?xf32>
          %1 = affine.apply affine_map<(d0)[s0] -> (d0 mod s0)>(%n)[%i]
          affine.if affine_set<(d0)[s0] : (d0 + s0 >= 0)>(%1)[%i] {
            affine.store %0, %A[%1] : memref<?xf32>
          }
        }
        call @nothing() : () -> ()
        return
      }""",
    "generic": """"func.func"() <{function_type = () -> (), sym_name = "generic"}> ({
        func.call @nothing() : () -> ()
        "func.return"() : () -> ()
      }) : () -> ()""",
    "nested": """module @nested {
        func.func @nothing() { return }
        func.func @inside(%c: i1) {
          call @nothing() : () -> ()
          cf.br ^bb1
        ^bb1:
          call @nothing() : () -> ()
          return
        }
        func.func @other() { call @nothing() : () -> () return }
      }""",
    "value": '%value, %other = "test.values"() {is = "of the module"} : () -> (index, f32)',
    "value_in_function": """func.func @value_in_function(%x: index) {
        %y = arith.addi %x, %x : index
        call @nothing() : () -> ()
        return
      }""",
}
ALWAYS = ("nothing", "one_block")
"""What the others call."""


def text_of(names: tuple[str, ...]) -> str:
    """A program of these parts, and of those that they call."""
    return "\n".join(NEIGHBOURS[name] for name in dict.fromkeys((*names, *ALWAYS)))


def inside(*ops: Op, generic: bool) -> str:
    """The text of a module's operations, without the lines of the module itself."""
    whole = print_op(Module(ops), generic=generic, local_scope=True)
    return "\n".join(whole.splitlines()[1:-1])


@pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])
def test_a_function_is_printed_the_same_whatever_stands_before_it(generic):
    alone = {name: inside(parse(text_of((name,))).body[0], generic=generic) for name in NEIGHBOURS}
    triples = random.Random(8).sample(list(itertools.permutations(NEIGHBOURS, 3)), 120)
    for names in [*itertools.permutations(NEIGHBOURS, 2), *triples]:
        together = inside(*parse(text_of(names)).body[: len(names)], generic=generic)
        assert together == "\n".join(alone[name] for name in names), names


def test_a_function_of_several_blocks_after_one_of_one_block_is_text_for_mlir_opt():
    texts = [print_op(parse(text_of(names))) for names in itertools.permutations(NEIGHBOURS, 2)]
    for text, verdict in zip(texts, judge(texts, "--allow-unregistered-dialect"), strict=True):
        assert verdict.output is not None, f"{verdict.errors}\n{text}"


def test_nothing_in_a_function_is_called_as_a_value_of_the_module_is():
    text = """
      %other, %0 = "test.values"() : () -> (index, f32)
      %1 = "test.values"() : () -> index
      func.func @f(%other: index, %other_0: f32, %z: f32) -> f32 {
        %0 = arith.addf %other_0, %z : f32
        return %0 : f32
      }"""
    printed = print_op(parse(text))
    (verdict,) = judge([printed], "--allow-unregistered-dialect")
    assert verdict.output is not None, f"{verdict.errors}"
    assert "@f(%other_0: index, %other_0_0: f32, %z: f32) -> f32" in printed
    assert print_op(parse(printed)) == printed


def test_names_without_a_dialect_mean_inside_generic_operations_what_they_mean_around_them():
    text = text_of(("region",))
    (accepted,) = judge([text], "--allow-unregistered-dialect", "--mlir-print-op-generic")
    assert accepted.output is not None
    assert "func.call @one_block" in print_op(parse(text))
