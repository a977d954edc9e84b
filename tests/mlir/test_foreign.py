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
    ("llvm.func @f(i32) %x", 2, "llvm.func is kept as text, and reads no value from outside of it"),
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
    assert kept.text.strip() == "llvm.func @f(!llvm.ptr) -> !llvm.ptr attributes {number = 3 : i64}"
    assert after.symbol == "g"


def test_what_has_no_form_is_refused_with_the_command_that_helps():
    with pytest.raises(ParseError) as refused:
        parse("func.func @f() {\n  %0 = tosa.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n  return\n}")
    assert 'the operation tosa.add is not known here; write it in generic form, "tosa.add"(...)' in str(refused.value)
    assert "mlir-opt --mlir-print-op-generic FILE" in str(refused.value)
    assert refused.value.line == 2
