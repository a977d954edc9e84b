"""affine_simplify_min_max: next to mlir-opt's, stronger by the loops around, run before and after."""

import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.mlir.writers import print_op
from affdsl.passes.cleanup.affine_simplify_min_max import affine_simplify_min_max
from tests.oracles import mlir_opt
from tests.passes.compare import assert_alike, parsed, shown
from tests.passes.program_files import program_file

PASS = "--pass-pipeline=builtin.module(func.func(affine-simplify-min-max))"

HEAD = "func.func private @use(index)\nfunc.func @f(%n: index, %m: index) "

ALIKE = program_file("affine-simplify-min-max").programs

STRONGER = {
    "a loop that never runs": (
        """%a = affine.min affine_map<()[s0] -> (s0, s0 + 1)>()[%n]
          %d = affine.for %i = 0 to min affine_map<()[s0] -> (0, s0)>()[%m] iter_args(%b = %a) -> index {
            %c = affine.max affine_map<(d0)[s0] -> (d0, s0)>(%i)[%b]
            affine.yield %c : index
          }
          %e = affine.min affine_map<()[s0, s1] -> (s0, s1)>()[%d, %m]
          func.call @use(%e) : (index) -> ()""",
        ["%e = affine.min affine_map<()[s0, s1] -> (s1, s0)>()[%n, %m]"],
    ),
    "the step of a loop": (
        """affine.for %i = 0 to 64 step 8 {
          %a = affine.min affine_map<(d0) -> (-d0 + 64, 8)>(%i)
          func.call @use(%a) : (index) -> () }""",
        ["%c8 = arith.constant 8 : index"],
    ),
    "a loop inside": (
        """affine.for %i = 0 to %n step 4 { affine.for %j = 0 to affine_map<(d0)[s0] -> (s0 - d0)>(%i)[%n] {
          %a = affine.min affine_map<(d0, d1)[s0] -> (d0 + d1, s0 - 1)>(%i, %j)[%n]
          func.call @use(%a) : (index) -> () } }""",
        ["%a = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%i, %j)"],
    ),
    "a condition": (
        """affine.for %i = 0 to 64 { affine.if affine_set<(d0)[s0] : (s0 - d0 - 8 >= 0)>(%i)[%n] {
          %a = affine.min affine_map<(d0)[s0] -> (8, s0 - d0)>(%i)[%n]
          func.call @use(%a) : (index) -> () } else {
          %b = affine.min affine_map<(d0)[s0] -> (8, s0 - d0)>(%i)[%n]
          func.call @use(%b) : (index) -> () } }""",
        ["%c8 = arith.constant 8 : index", "%b = affine.apply affine_map<(d0)[s0] -> (-d0 + s0)>(%i)[%n]"],
    ),
    "loops around": (
        """affine.for %i = 0 to 64 {
          %a = affine.max affine_map<(d0) -> (d0, 0, -5)>(%i)
          %b = affine.min affine_map<(d0) -> (d0 + 1, 64)>(%i)
          func.call @use(%a) : (index) -> () func.call @use(%b) : (index) -> () }""",
        ["affine.for %i = 0 to 64 {", "%b = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)"],
    ),
    "two of three, whichever is less": (
        """affine.for %i = %n to %m {
          %a = affine.max affine_map<(d0)[s0] -> (d0, -d0 + s0 * 2 + 8, s0 + 4)>(%i)[%n]
          func.call @use(%a) : (index) -> () }""",
        ["%a = affine.max affine_map<(d0)[s0] -> (-d0 + s0 * 2 + 8, d0)>(%i)[%n]"],
    ),
    "a minimum in a maximum": (
        """%a = affine.min affine_map<()[s0] -> (s0, 8)>()[%n]
          %b = affine.max affine_map<()[s0] -> (s0, 8)>()[%a]
          func.call @use(%b) : (index) -> ()""",
        ["%c8 = arith.constant 8 : index"],
    ),
}
"""Loops and what computes the operands of @use when the pass is through."""


@pytest.mark.parametrize("name", STRONGER)
def test_what_the_places_around_say(name):
    body, computed = STRONGER[name]
    made = affine_simplify_min_max(parsed(f"{HEAD} {{ {body} return }}"))
    operands = {op.args[0] for op in walk(made) if op.name == "func.call"}
    makers = [op for op in walk(made) if operands.intersection((*op.defines(), *op.binds()))]
    assert [print_op(op).splitlines()[0] for op in makers] == computed


@pytest.mark.parametrize("name", [*(n for n, program in ALIKE.items() if "run" not in program.excepted), *STRONGER])
def test_programs_do_the_same(name):
    text = ALIKE[name].text if name in ALIKE else f"{HEAD} {{ {STRONGER[name][0]} return }}"
    store = "func.func private @use(%k: index, %A: memref<1xindex>) { affine.store %k, %A[0] : memref<1xindex> return }"
    calls = text.replace(") : (index) -> ()", ", %A) : (index, memref<1xindex>) -> ()")
    with_buffer = calls.replace("%m: index)", "%m: index, %A: memref<1xindex>)")
    module = parsed(with_buffer.replace("func.func private @use(index)", store))
    made = affine_simplify_min_max(module)
    assert affine_simplify_min_max(made) is made
    assert assert_alike(module, made) > 5


def test_the_result_is_valid_where_that_of_mlir_opt_is_not():
    """mlir-opt makes `affine.apply` with the counter of a loop as a symbol of it."""
    text = """func.func @f(%A: memref<9xindex>) {
      affine.for %i = 0 to 8 {
        %a = affine.max affine_map<(d0) -> (d0, d0 + 1)>(%i)
        memref.store %a, %A[%a] : memref<9xindex>
      }
      return }"""
    with pytest.raises(AssertionError, match="dimensional operand cannot be used as a symbol"):
        mlir_opt(text, PASS)
    assert "affine_map<(d0) -> (d0 + 1)>" in shown(affine_simplify_min_max(parsed(text)))


def test_unknown_operations_attributes_and_locations_stay():
    module = parsed("""func.func @f(%n: index) {
      %a = affine.min affine_map<()[s0] -> (s0, s0 + 4, 9)>()[%n] {tag} loc("s":3:4)
      "test.region"(%a) ({
        %b = affine.min affine_map<()[s0] -> (s0 + 1, s0 + 4)>()[%n]
        "test.end"(%b) : (index) -> ()
      }) {some = 1 : i64} : (index) -> ()
      return }""")
    made = affine_simplify_min_max(module)
    (minimum,) = [op for op in walk(made) if isinstance(op, affine.Min)]
    assert (len(minimum.exprs), [name for name, _ in minimum.attributes]) == (2, ["tag"])
    assert str(minimum.location) == "s:3"
    region = print_op(made).partition('"test.region"')[2]
    assert [part for part in ("affine.apply", '"test.end"', "{some = 1 : i64}") if part not in region] == []
