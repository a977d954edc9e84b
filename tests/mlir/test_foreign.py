"""Programs with operations of other dialects in custom form: read, and printed as what mlir-opt takes for the same."""

from functools import cache
from pathlib import Path

import pytest

from affdsl.ir.dialects.opaque import Opaque, symbol_of
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.linalg import NAMED
from affdsl.mlir.readers import parse
from affdsl.mlir.reading import foreign, forms
from affdsl.mlir.scanner import ParseError
from affdsl.mlir.writers import print_op
from tests.mlir.batches import Verdict, judge, split

FILES = sorted((Path(__file__).parent / "foreign").glob("*.mlir"))
PROGRAMS = [chunk for path in FILES for chunk in split(path)]
NORMAL = ("--allow-unregistered-dialect", "--mlir-print-op-generic")


@cache
def verdicts() -> dict[tuple[int, str], Verdict]:
    """What mlir-opt says of each program, as it stands and as we print it in both forms, in its generic form."""
    texts = {}
    for number, program in enumerate(PROGRAMS):
        texts[number, "given"] = program.text
        module = parse(program.text, str(program.path))
        verify(module)
        texts[number, "custom"] = print_op(module)
        texts[number, "generic"] = print_op(module, generic=True)
    return dict(zip(texts, judge(list(texts.values()), *NORMAL), strict=True))


@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=lambda n: f"{PROGRAMS[n].path.stem}:{PROGRAMS[n].line}")
def test_an_unknown_operation_in_custom_form_is_read_as_what_it_is(number):
    given = verdicts()[number, "given"]
    assert given.output is not None, given.errors
    for form in ("custom", "generic"):
        ours = verdicts()[number, form]
        assert ours.output == given.output, ours.errors
    printed = print_op(parse(PROGRAMS[number].text))
    assert print_op(parse(printed)) == printed


def test_every_form_has_a_program():
    used = {op.kind for program in PROGRAMS for op in walk(parse(program.text)) if isinstance(op, Opaque)}
    own = {name for name in foreign.READERS if name not in NAMED}
    assert {*forms.FORMS, *own} <= used


@pytest.mark.parametrize(("text", "line", "problem"), [
    ('%0 = llvm.icmp "less" %a, %a : i32', 2, "expected one of eq, ne, slt"),
    ("%0 = index.bool.constant maybe", 2, "expected true or false"),
    ("%0 = tensor.reshape %a(%b) : tensor<4xf32>", 2, "expected the types of operands and results"),
    ("%0 = tensor.reshape %a(%b) : (index) -> index", 2, "2 operands, but 1 types"),
    ("%0 = tensor.extract %t[%i] : index", 2, "tensor.extract needs a tensor or a complex number, not index"),
    ("gpu.launch async blocks(%a)", 2, "gpu.launch async is read in generic form only"),
    ("gpu.launch_func async @m::@k", 2, "gpu.launch_func async is read in generic form only"),
    ("transform.named_sequence @f(%x: !transform.any_op) {", 2, "a bracket is not closed"),
    ("llvm.func @f(i32) %x", 2, "%x is not defined above llvm.func, which is kept as text"),
    ("linalg.generic #gpu.thread<x> outs(%t : tensor<4xf32>)", 2, "expected a dictionary of attributes"),
    ("%0 = llvm.extractvalue %s[1, 0] : !llvm.struct<(i32, i64)>", 2, "!llvm.struct<(i32, i64)> has nothing at [1, 0]"),
    ("%0 = llvm.insertvalue %x, %s[2] : !llvm.array<2 x i64>", 2, "!llvm.array<2 x i64> has nothing at [2]"),
    ("%0 = spirv.Constant [1 : i32] : !spirv.array<1 x i32>", 2, "of this type is read in generic form only"),
    ("llvm.func @f(i32))", 2, "this bracket closes none that is open"),
    ("%0 = vector.interleave %v : vector<4xf32> -> vector<8xf32>", 2, "expected ','"),
    ("%0:2 = vector.deinterleave %v, %v : vector<4xf32> -> vector<2xf32>", 2, "expected ':'"),
    ("%0 = vector.scalable.insert %v[4] : vector<4xf32> into vector<[4]xf32>", 2, "expected ','"),
    ("%0 = vector.scalable.extract %v, %v[4] : vector<4xf32> from vector<[4]xf32>", 2, "expected '['"),
])  # fmt: skip
def test_mistakes_in_foreign_operations_are_shown_in_place(text, line, problem):
    with pytest.raises(ParseError) as refused:
        parse(f"func.func @f(%i: index) {{\n  {text}\n")
    assert problem in str(refused.value)
    assert refused.value.line == line


def test_what_is_kept_as_text_stays_a_barrier_and_keeps_no_alias():
    text = """
      !ptr = !llvm.ptr
      #constant = 3 : i64
      llvm.func @f(!ptr) -> !ptr attributes {number = #constant} loc("somewhere":1:2)
      func.func private @g()
    """
    module = parse(text)
    kept, after = module.body
    assert isinstance(kept, Opaque)
    assert symbol_of(kept) == "f"
    assert print_op(kept).strip() == "llvm.func @f(!llvm.ptr) -> !llvm.ptr attributes {number = 3 : i64}"
    assert after.symbol == "g"


def test_an_unknown_operation_costs_that_operation_and_not_the_file():
    text = """
      func.func @f(%A: memref<8xf32>, %n: index) -> f32 {
        %0 = arith.constant 1.0 : f32
        affine.for %i = 0 to %n {
          mine.mark %i, [%0 {inside = "%0"}]
          affine.store %0, %A[%i] : memref<8xf32>
        }
        %1, %2:2 = mine.pair(%A) {
        ^bb0(%x: f32):
          %y:2 = mine.two %x, %0
          mine.yield %y#1
        }
        %3 = mine.sum %1, %2#1
        mine.call @g
        return %3 : f32
      }
      mine.func @g(%x: f32) { mine.call @g(%x) }
    """
    module = parse(text)
    verify(module)
    found = {op.kind: op for op in walk(module) if isinstance(op, Opaque)}
    assert [v.hint for v in found["mine.mark"].operands] == ["i", ""]
    assert [v.hint for v in found["mine.pair"].operands] == ["A", ""]
    assert (len(found["mine.pair"].results), str(found["mine.sum"].results[0].type)) == (3, "f32")
    assert (symbol_of(found["mine.func"]), symbol_of(found["mine.call"])) == ("g", "")
    printed = print_op(module)
    for line in (
        'mine.mark %i, [%cst {inside = "%0"}]',
        "%y:2 = mine.two %x, %cst",
        "mine.yield %y#1",
        "mine.sum %0, %2",
    ):
        assert line in printed
    assert print_op(parse(printed)) == printed
    with pytest.raises(ParseError, match=r"mine\.mark belongs to no dialect that is known; --allow"):
        parse(text, allow_unregistered=False)


@pytest.mark.parametrize(("text", "problem"), [
    ("%0 = tosa.add %a, %i : tensor<4xf32>", "%a is not defined above tosa.add, which is kept as text"),
    ("mine.br ^bb1", "mine.br is kept as text, which names no blocks; write it in generic form"),
    ("mine.switch %i [1: ^bb1]", "mine.switch is kept as text, which names no blocks"),
    ("affine.lod %i", "the operation affine.lod is not known here"),
    ("%0 = mine.op %i\n %1 = arith.addf %0, %0 : f32\n affine.for %j = 0 to %0 { }", "%0 has the type f32"),
])  # fmt: skip
def test_mistakes_beside_unknown_operations_are_still_mistakes(text, problem):
    with pytest.raises(ParseError) as refused:
        parse(f"func.func @f(%i: index) {{\n  {text}\n  return\n}}")
    assert problem in str(refused.value)
