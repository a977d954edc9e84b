"""inline: next to mlir-opt's, refused where the affine dialect does not allow the body, and run before and after."""

import functools

import pytest

from affdsl.ir.dialects import func
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from passes.cleanup.inline import inline
from tests.fuzz.check import check_seeds, pipelines
from tests.fuzz.generator import generate
from tests.fuzz.mlir import mlir
from tests.passes.compare import assert_alike, both, parsed, shown

PROGRAMS = {
    "values": """
        func.func private @next(%i: index) -> index {
          %c1 = arith.constant 1 : index
          %0 = arith.addi %i, %c1 : index
          return %0 : index
        }
        func.func @f(%i: index, %A: memref<16xi32>, %x: i32) {
          %0 = call @next(%i) : (index) -> index
          %1 = call @next(%0) : (index) -> index
          memref.store %x, %A[%1] : memref<16xi32>
          return
        }""",
    "several results and arguments handed through": """
        func.func private @swap(%a: i32, %b: i32) -> (i32, i32) { return %b, %a : i32, i32 }
        func.func @f(%a: i32, %b: i32) -> (i32, i32, i32) {
          %0:2 = call @swap(%a, %b) : (i32, i32) -> (i32, i32)
          %1:2 = call @swap(%0#0, %0#0) : (i32, i32) -> (i32, i32)
          return %0#0, %0#1, %1#1 : i32, i32, i32
        }""",
    "chains of calls": """
        func.func private @c(%x: i32) -> i32 { %0 = arith.muli %x, %x : i32 return %0 : i32 }
        func.func private @b(%x: i32) -> i32 { %0 = call @c(%x) : (i32) -> i32 %1 = arith.subi %0, %x : i32
          return %1 : i32 }
        func.func @a(%x: i32) -> i32 { %0 = call @b(%x) : (i32) -> i32 return %0 : i32 }""",
    "loops of the callee": """
        func.func private @fill(%A: memref<16xi32>, %n: index, %x: i32) {
          affine.for %i = 0 to %n { affine.store %x, %A[%i + symbol(%n)] : memref<16xi32> }
          return
        }
        func.func @f(%A: memref<16xi32>, %x: i32, %n: index) {
          call @fill(%A, %n, %x) : (memref<16xi32>, index, i32) -> ()
          return
        }""",
    "functions that call themselves": """
        func.func private @one(%i: i32) { call @one(%i) : (i32) -> () return }
        func.func private @two(%i: i32) { call @three(%i) : (i32) -> () return }
        func.func private @three(%i: i32) { call @two(%i) : (i32) -> () return }
        func.func @f(%i: i32) { call @one(%i) : (i32) -> () call @two(%i) : (i32) -> () return }""",
    "functions without bodies": """
        func.func private @outside(%i: i32) -> i32
        func.func @f(%i: i32) -> i32 { %0 = call @outside(%i) : (i32) -> i32 return %0 : i32 }""",
    "functions that are not to be copied": """
        func.func private @own(%i: i32) attributes {no_inline} { "test.op"(%i) : (i32) -> () return }
        func.func private @free(%i: i32) { "test.op"(%i) : (i32) -> () return }
        func.func @f(%i: i32) { call @own(%i) : (i32) -> () call @free(%i) {no_inline} : (i32) -> () return }""",
    "private functions that nobody needs": """
        func.func private @never() { return }
        func.func private @once(%i: i32) { "test.op"(%i) : (i32) -> () return }
        func.func private @kept(%i: i32) { "test.op"(%i) : (i32) -> () return }
        func.func @public(%i: i32) { call @once(%i) : (i32) -> () call @kept(%i) : (i32) -> () return }
        func.func @f() { "test.use"() {of = @kept} : () -> () return }""",
    "dead functions of several blocks": """
        func.func private @two(%c: i1) -> i32 {
          %0 = call @inner() : () -> i32
          cf.br ^bb1
        ^bb1:
          return %0 : i32
        }
        func.func private @unreached() { return ^bb1: return }
        func.func private @used(%c: i1) { cf.br ^bb1 ^bb1: return }
        func.func private @inner() -> i32 { %0 = arith.constant 7 : i32 return %0 : i32 }
        "test.use"() {of = @used} : () -> ()
        func.func @blocks() { return ^bb1: return }""",
    "what only dead functions refer to": """
        func.func private @called() -> i32 { %0 = arith.constant 7 : i32 return %0 : i32 }
        func.func private @between() -> i32 { %0 = call @called() : () -> i32 return %0 : i32 }
        func.func private @dead() -> i32 { %0 = call @between() : () -> i32 return %0 : i32 }
        func.func private @names() { "test.use"() {of = @named} : () -> () return }
        func.func private @named() { return }""",
    "a function that a dead and a live one call": """
        func.func private @both() -> i32 { %0 = arith.constant 7 : i32 return %0 : i32 }
        func.func private @dead() -> i32 { %0 = call @both() : () -> i32 return %0 : i32 }
        func.func @live() -> i32 { %0 = call @both() : () -> i32 return %0 : i32 }""",
    "nested functions": """
        func.func nested @dead() { return }
        func.func nested @called(%i: i32) -> i32 { %0 = arith.muli %i, %i : i32 return %0 : i32 }
        func.func nested @declared()
        func.func @f(%i: i32) -> i32 { %0 = call @called(%i) : (i32) -> i32 return %0 : i32 }
        module @inside {
          func.func nested @dead() { return }
          func.func private @unused() { return }
          func.func nested @from_outside() { return }
        }
        module @hidden attributes {sym_visibility = "private"} {
          func.func private @unused() { return }
          func.func @seen() { return }
        }
        func.func @g() { "test.use"() {of = @inside::@from_outside} : () -> () return }""",
    "modules inside": """
        module @a {
          func.func private @g(%i: i32) -> i32 { %0 = arith.muli %i, %i : i32 return %0 : i32 }
          func.func @f(%i: i32) -> i32 { %0 = call @g(%i) : (i32) -> i32 return %0 : i32 }
        }
        func.func private @g(%i: i32) -> i32 { return %i : i32 }
        func.func @f(%i: i32) -> i32 { %0 = call @g(%i) : (i32) -> i32 return %0 : i32 }""",
    "calls in conditions": """
        func.func private @g(%i: i32) -> i32 { %0 = arith.muli %i, %i : i32 return %0 : i32 }
        func.func @f(%i: i32, %c: i1) -> i32 {
          %r = scf.if %c -> i32 {
            %0 = func.call @g(%i) : (i32) -> i32
            scf.yield %0 : i32
          } else {
            scf.yield %i : i32
          }
          return %r : i32
        }""",
}  # fmt: skip

SEEN_BY_NOBODY = ("dead functions of several blocks", "what only dead functions refer to", "nested functions")
"""Programs with no function that can be called before and after."""


@functools.cache
def inlined(pipeline):
    texts, clean = [*PROGRAMS.values()], ["--canonicalize"]
    made = [inline(parsed(text), default_pipeline=pipeline) for text in texts]
    return dict(zip(PROGRAMS, both(made, clean, texts, [f"--inline=default-pipeline={pipeline}", *clean]), strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("pipeline", ["", "canonicalize"])
def test_the_same_as_mlir_opt(name, pipeline):
    ours, theirs = inlined(pipeline)[name]
    assert ours == theirs


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_do_the_same(name):
    if "test.op" in PROGRAMS[name] or "themselves" in name or "without bodies" in name or name in SEEN_BY_NOBODY:
        return
    before = parsed(PROGRAMS[name])
    assert assert_alike(before, inline(before)) > 3


def test_a_function_of_several_blocks_stays_while_something_calls_it():
    module = inline(
        parsed("""
        func.func private @blocks() { cf.br ^bb1 ^bb1: return }
        func.func @f() { call @blocks() : () -> () return }""")
    )
    assert calls(module) == ["blocks"]
    assert len(module.body) == 2


def test_what_an_operation_kept_as_text_names_stays():
    module = inline(
        parsed("""
        func.func private @a(%x: f32) { return }
        func.func private @dead(%x: f32) { return }
        pdl.pattern : benefit(1) { %0 = operation "x" {of = @a} }""")
    )
    assert [f.symbol for f in module.functions] == ["a"]


def calls(module):
    return [op.callee for op in walk(module) if isinstance(op, func.Call)]


CALLEES = """
func.func private @bound(%A: memref<?xi32>, %n: index, %x: i32) {
  affine.for %i = 0 to %n { affine.store %x, %A[%i + symbol(%n)] : memref<?xi32> }
  return
}
func.func private @factor(%A: memref<?xi32>, %n: index, %x: i32) {
  affine.for %i = 0 to 3 { affine.store %x, %A[%i * symbol(%n)] : memref<?xi32> }
  return
}
"""


def test_a_body_goes_where_its_dimensions_and_symbols_may():
    """mlir-opt copies no loop into a loop; a counter may bound a loop and be added, but multiplies nothing."""
    text = (
        CALLEES
        + """func.func @f(%A: memref<?xi32>, %n: index, %x: i32) {
      affine.for %j = 0 to 3 {
        func.call @bound(%A, %j, %x) : (memref<?xi32>, index, i32) -> ()
        func.call @factor(%A, %j, %x) : (memref<?xi32>, index, i32) -> ()
      }
      call @factor(%A, %n, %x) : (memref<?xi32>, index, i32) -> ()
      return
    }"""
    )
    before = parsed(text)
    after = inline(before, default_pipeline="")
    assert calls(after) == ["factor"]
    assert assert_alike(before, after, size=20) > 5
    shown(after)  # mlir-opt takes it


def test_the_counter_of_another_loop_is_no_operand():
    text = (
        CALLEES
        + """func.func @f(%A: memref<?xi32>, %n: index, %x: i32) {
      %c1 = arith.constant 1 : index
      scf.for %j = %c1 to %n step %c1 { func.call @bound(%A, %j, %x) : (memref<?xi32>, index, i32) -> () }
      return
    }"""
    )
    assert calls(inline(parsed(text))) == ["bound"]


def test_attributes_and_places_of_the_body_stay():
    text = """func.func private @g(%i: i32) { "test.op"(%i) {tag} : (i32) -> () loc("g":2:3) return }
    func.func @f(%i: i32) { call @g(%i) : (i32) -> () return }"""
    (op,) = inline(parsed(text)).functions[0].body
    assert (str(op.location), [name for name, _ in op.attributes]) == ("g:2", ["tag"])


def test_long_chains_of_calls():
    link = "func.func private @f{} (%x: i32) -> i32 {{ %0 = call @f{}(%x) : (i32) -> i32 return %0 : i32 }}\n"
    text = "".join(link.format(k, k + 1) for k in range(2000))
    text += "func.func private @f2000(%x: i32) -> i32 { return %x : i32 }\n"
    text += "func.func @f(%x: i32) -> i32 { %0 = call @f0(%x) : (i32) -> i32 return %0 : i32 }"
    after = inline(parse(text), default_pipeline="")
    assert [f.symbol for f in after.functions] == ["f"]
    verify(after)


def test_random_programs_do_the_same():
    seeds = [seed for seed in range(500, 560) if "func.call" in mlir(generate(seed))][:20]
    report = check_seeds(seeds, pipelines(["inline"]), ["interpreter"])
    assert not report.failures
    assert report.changed["builtin.module(inline)"] == len(seeds) > 5
