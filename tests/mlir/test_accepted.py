"""Less common spellings that mlir-opt accepts are accepted, kept, and printed as what it prints."""

import itertools
from pathlib import Path

import pytest

from affdsl.errors import AffdslError
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from tests.mlir.batches import judge, split

ARGUMENTS_OF_BLOCK = {
    "one": "func.func @f(f32) { ^bb0(%a: f32): return }",
    "several": "func.func @f(f32, i32) -> i32 { ^entry(%a: f32, %b: i32): return %b : i32 }",
    "attributes": "func.func private @f(f32 {my.a}, i32) attributes {my.b} { ^bb0(%a: f32, %b: i32): return }",
    "bound": """func.func @f(memref<?xf32>, index) {
        ^bb0(%A: memref<?xf32>, %n: index):
          affine.for %i = 0 to %n { %x = affine.load %A[%i] : memref<?xf32> }
          return
        }""",
    "blocks": "func.func @f(i1) { ^bb0(%c: i1): cf.cond_br %c, ^bb1, ^bb2 ^bb1: return ^bb2: return }",
    "none": "func.func @f() { ^bb0: return }",
    "empty": "func.func @f() { ^bb0(): return }",
    "place": 'func.func @f(f32 loc("a.c":1:2)) { ^bb0(%a: f32 loc("b.c":3:4)): return }',
}
NESTED = {
    "defined": "func.func nested @f() { return }",
    "declared": "func.func nested @f(f32)",
    "blocks": "func.func nested @f() { cf.br ^bb1 ^bb1: return }",
    "attributes": "func.func nested @f(%x: f32 {my.a}) attributes {my.b} { return }",
    "generic": """"func.func"() <{function_type = () -> (), sym_name = "f", sym_visibility = "nested"}> ({
        "func.return"() : () -> ()
      }) : () -> ()""",
    "public": "func.func public @f() { return }",
}
MAPS = """indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
    affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]"""
CONTRACT = f"""#trait = {{{MAPS}}}
    func.func @f(%a: vector<4x8xf32>, %b: vector<8x2xf32>, %c: vector<4x2xf32>) -> vector<4x2xf32> {{
      %0 = vector.contract {{}} : vector<4x8xf32>, vector<8x2xf32> into vector<4x2xf32>
      return %0 : vector<4x2xf32>
    }}"""
CONTRACTS = {
    "kind": f"{{{MAPS}, kind = #vector.kind<add>}} %a, %b, %c",
    "no_kind": f"{{{MAPS}}} %a, %b, %c",
    "other_kind": f"{{kind = #vector.kind<maxnumf>, {MAPS}}} %a, %b, %c",
    "alias": "#trait %a, %b, %c",
    "more": f'{{{MAPS}, my.a = "x", kind = #vector.kind<mul>}} %a, %b, %c {{my.b = 3 : i32}}',
    "fastmath": f"{{{MAPS}, kind = #vector.kind<add>, fastmath = #arith.fastmath<fast>}} %a, %b, %c",
    "fastmath_after": f"{{{MAPS}}} %a, %b, %c {{fastmath = #arith.fastmath<nnan>}}",
}
WIDTHS = {
    "zero": "func.func private @f(si0, ui0, i0)",
    "zero_argument": "func.func @f(%x: si0, %y: ui0) { return }",
    "widest": "func.func private @f(i16777215, si16777215, ui16777215)",
    "too_wide": "func.func private @f(i16777216)",
    "too_wide_unsigned": "func.func private @f(ui16777216)",
    "no_number": f"func.func private @f(si{'9' * 5000})",
    "leading_zeros": "func.func private @f(i01, si0008, ui00)",
}


def check(programs: dict[str, str]) -> None:
    """Both accept a program, or both refuse it; what we print is to mlir-opt what was written, in both forms."""
    judged = dict(zip(programs, judge(list(programs.values()), "--allow-unregistered-dialect"), strict=True))
    printed: dict[tuple[str, bool], str] = {}
    for name, text in programs.items():
        if judged[name].output is None:
            with pytest.raises(AffdslError):
                verify(parse(text))
            continue
        module = parse(text)
        verify(module)
        for generic in (False, True):
            printed[name, generic] = print_op(module, generic=generic)
            assert print_op(parse(printed[name, generic])) == printed[name, False], name
    again = judge(list(printed.values()), "--allow-unregistered-dialect")
    for (name, generic), verdict in zip(printed, again, strict=True):
        assert verdict.output == judged[name].output, f"{name}, generic: {generic}"


def test_integers_of_all_widths_that_mlir_opt_knows():
    check(WIDTHS)
    with pytest.raises(AffdslError, match="the widest integers have 16777215 bits, so there is no i16777216"):
        parse(WIDTHS["too_wide"])


def test_the_entry_block_names_the_arguments_of_a_function():
    check(ARGUMENTS_OF_BLOCK)
    assert "func.func @f(%a: f32, %b: i32) -> i32" in print_op(parse(ARGUMENTS_OF_BLOCK["several"]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f(f32) { return }", "@f has a body, so its arguments have names, before it or in its first block"),
        ("func.func @f(f32) { ^bb0(%a: i32): return }", "the first block of @f takes (i32), but the function (f32)"),
        ("func.func @f() { ^bb0(%a: i32): return }", "the first block of @f takes (i32), but the function ()"),
        ("func.func @f(f32, f32) { ^bb0(%a: f32): return }", "takes (f32), but the function (f32, f32)"),
        ("func.func @f(%x: f32) { ^bb0: return }", "the first block has no label where its arguments are named"),
    ],
)
def test_arguments_that_the_entry_block_names_otherwise_are_refused(text, message):
    assert judge([text])[0].output is None
    with pytest.raises(AffdslError) as refused:
        parse(text)
    assert message in str(refused.value)


def test_a_nested_function_is_kept_and_printed():
    check(NESTED)
    assert "func.func nested @f(f32)\n" in print_op(parse(NESTED["declared"]))
    assert 'sym_visibility = "nested"' in print_op(parse(NESTED["defined"]), generic=True)


def test_a_contraction_says_its_kind_among_its_maps():
    check({name: CONTRACT.replace("{}", text) for name, text in CONTRACTS.items()})
    text = print_op(parse(CONTRACT.replace("{}", CONTRACTS["more"])))
    assert 'kind = #vector.kind<mul>} %a, %b, %c {my.a = "x", my.b = 3 : i32} : ' in text


def test_parts_of_scalable_vectors_may_be_scalable():
    types = ("vector<[4]xf32>", "vector<[2]xf32>", "vector<4xf32>", "vector<[8]xf32>", "vector<[4]xi32>")
    wholes = ("vector<[4]xf32>", "vector<4xf32>")
    cases = itertools.product(types, wholes, (0, 1, 2, 4))
    programs = {}
    for part, whole, place in cases:
        insert = f"%0 = vector.scalable.insert %p, %v[{place}] : {part} into {whole}"
        extract = f"%0 = vector.scalable.extract %v[{place}] : {part} from {whole}"
        for op in (insert, extract):
            programs[op] = f"func.func @f(%p: {part}, %v: {whole}) {{ {op} return }}"
    check(programs)


def test_comparisons_of_scalable_vectors_are_scalable():
    programs = {}
    for compared, given in itertools.product(("vector<[4]xf32>", "vector<4xf32>"), ("vector<[4]xi1>", "vector<4xi1>")):
        ops = f"%k = arith.cmpf olt, %v, %v : {compared} %r = arith.andi %k, %k : {given}"
        programs[ops] = f"func.func @f(%v: {compared}) {{ {ops} return }}"
    check(programs)


def test_rarer_forms_of_all_dialects():
    programs = {chunk.name: chunk.text for chunk in split(Path(__file__).parent / "accepted.mlir")}
    assert len(programs) > 25
    assert all(verdict.output for verdict in judge(list(programs.values()), "--allow-unregistered-dialect"))
    check(programs)
