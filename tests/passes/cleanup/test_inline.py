"""inline: next to mlir-opt's, refused where the affine dialect does not allow the body, and run before and after."""

from affdsl.ir.dialects import func
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.cleanup.inline import inline
from tests.passes.compare import assert_alike, parsed, shown


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
