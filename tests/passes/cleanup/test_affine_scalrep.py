"""affine-scalrep: next to mlir-opt's where that is right, stronger by exact dependences, and run before and after."""

import pytest

from affdsl.ir.dialects import affine, memref
from affdsl.ir.traverse import walk, with_fields
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.cleanup.affine_scalrep import affine_scalrep
from tests.passes.compare import assert_alike, parsed

HEAD = "func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %n: index, %x: f32)"

MORE = {
    "the store stands around the loop": ("""{
        affine.for %i = 0 to 9 {
          affine.store %x, %A[%i] : memref<9xf32>
          affine.for %j = 0 to 9 {
            %l = affine.load %A[%i] : memref<9xf32>
            affine.store %l, %B[%j] : memref<9xf32>
          }
        }
        return }""", {affine.Load: 0, affine.Store: 2}),
    "a store to other elements is not in the way": ("""{
        affine.for %i = 0 to 8 {
          %l = affine.load %A[%i] : memref<9xf32>
          affine.store %x, %A[%i + 1] : memref<9xf32>
          %m = affine.load %A[%i] : memref<9xf32>
          %s = arith.addf %l, %m : f32
          affine.store %s, %B[%i] : memref<9xf32>
        }
        return }""", {affine.Load: 1, affine.Store: 2}),
    "one value from another nest": ("""{
        affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }
        affine.for %i = 0 to 9 {
          %l = affine.load %A[-%i + 8] : memref<9xf32>
          affine.store %l, %B[%i] : memref<9xf32>
        }
        return }""", {affine.Load: 0, affine.Store: 2}),
    "a value that the loop around defines": ("""{
        affine.for %i = 0 to 9 {
          %y = affine.load %B[%i] : memref<9xf32>
          affine.for %j = 0 to 9 { affine.store %y, %A[%j] : memref<9xf32> }
          affine.for %j = 1 to 9 {
            %l = affine.load %A[%j - 1] : memref<9xf32>
            affine.store %l, %B[%j] : memref<9xf32>
          }
        }
        return }""", {affine.Load: 1, affine.Store: 2}),
    "another nest overwrites everything": ("""{
        affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }
        affine.for %i = 0 to 9 {
          %y = affine.load %B[%i] : memref<9xf32>
          affine.store %y, %A[-%i + 8] : memref<9xf32>
        }
        return }""", {affine.Load: 1, affine.Store: 1}),
    "a buffer with views, to which only is written": ("""{
        %T = memref.alloc() : memref<9xf32>
        %V = memref.subview %T[2] [4] [1] : memref<9xf32> to memref<4xf32, strided<[1], offset: 2>>
        affine.store %x, %V[1] : memref<4xf32, strided<[1], offset: 2>>
        memref.copy %A, %T : memref<9xf32> to memref<9xf32>
        memref.dealloc %T : memref<9xf32>
        return }""", {memref.Alloc: 0, memref.SubView: 0, memref.Copy: 0, affine.Store: 0}),
    "through a view": ("""{
        %V = memref.subview %A[2] [4] [1] : memref<9xf32> to memref<4xf32, strided<[1], offset: 2>>
        affine.for %i = 0 to 4 {
          affine.store %x, %V[%i] : memref<4xf32, strided<[1], offset: 2>>
          %l = affine.load %A[%i + 2] : memref<9xf32>
          affine.store %l, %B[%i] : memref<9xf32>
        }
        return }""", {affine.Load: 0, affine.Store: 2}),
}  # fmt: skip


@pytest.mark.parametrize("name", MORE)
def test_more_than_mlir_opt(name):
    body, wanted = MORE[name]
    before = parsed(HEAD + body)
    after = affine_scalrep(before)
    assert {kind: sum(isinstance(op, kind) for op in walk(after)) for kind in wanted} == wanted
    assert assert_alike(before, after) == 12


@pytest.mark.parametrize(
    "body",
    [
        """affine.store %x, %A[0] : memref<9xf32>
        affine.store %y, %B[0] : memref<9xf32>
        %z = affine.load %A[0] : memref<9xf32>
        affine.store %z, %C[0] : memref<9xf32>""",
        """affine.store %x, %A[0] : memref<9xf32>
        %z = affine.load %B[0] : memref<9xf32>
        affine.store %z, %C[0] : memref<9xf32>
        affine.store %y, %A[0] : memref<9xf32>""",
    ],
    ids=["a load", "a store"],
)
def test_a_module_that_shows_two_arguments_as_one_buffer(body):
    head = "func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %C: memref<9xf32>, %x: f32, %y: f32) "
    call = """func.func @g(%A: memref<9xf32>, %B: memref<9xf32>, %x: f32, %y: f32) {
        call @f(%A, %A, %B, %x, %y) : (memref<9xf32>, memref<9xf32>, memref<9xf32>, f32, f32) -> ()
        return }"""
    alone, together = parsed(f"{head} {{ {body} return }}"), parsed(f"{head} {{ {body} return }} {call}")
    assert affine_scalrep(alone) is not alone
    assert affine_scalrep(together) is together
    lone = with_fields(together, body=together.body[:1])  # as a pass on functions is given it
    assert affine_scalrep(lone, context=together) is lone


def test_a_buffer_that_is_returned_stays():
    before = parsed("""func.func @f(%x: f32) -> memref<9xf32> {
        %T = memref.alloc() : memref<9xf32>
        affine.for %i = 0 to 9 { affine.store %x, %T[%i] : memref<9xf32> }
        return %T : memref<9xf32> }""")
    assert affine_scalrep(before) is before


def test_loads_of_loads_end_with_the_first_value():
    text = (
        HEAD
        + """{
        affine.store %x, %A[0] : memref<9xf32>
        %a = affine.load %A[0] : memref<9xf32>
        affine.store %a, %A[1] : memref<9xf32>
        %b = affine.load %A[1] : memref<9xf32>
        affine.store %b, %B[2] : memref<9xf32>
        return }"""
    )
    before = parsed(text)
    after = affine_scalrep(before)
    assert all(
        op.value is before.functions[0].args[3] for op in after.functions[0].body if isinstance(op, affine.Store)
    )
    assert "affine.load" not in str(after)


def test_the_other_buffers_that_may_be_one_are_those_of_each_pair():
    module = parsed("""
      memref.global "private" @G : memref<9xf32>
      func.func private @unknown(memref<9xf32>) -> memref<9xf32>
      func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %C: memref<9xf32>) {
        %g = memref.get_global @G : memref<9xf32>
        %T = memref.alloc() : memref<9xf32>
        %U = memref.alloc() : memref<9xf32>
        %V = call @unknown(%U) : (memref<9xf32>) -> memref<9xf32>
        %W = call @unknown(%U) : (memref<9xf32>) -> memref<9xf32>
        memref.dealloc %T : memref<9xf32>
        return
      }
      func.func @g(%A: memref<9xf32>, %B: memref<9xf32>) {
        call @f(%A, %A, %B) : (memref<9xf32>, memref<9xf32>, memref<9xf32>) -> ()
        return
      }""")
    for around, others in ((module, 24), (None, 22)):
        found = 0
        storage = Accesses(next(f for f in module.functions if f.symbol == "f"), around).storage
        assert len(storage.buffers) == 8
        for one in storage.buffers:
            expected = {other for other in storage.buffers if other is not one and storage.may_alias(one, other)}
            assert {*storage.others(one)} == expected
            found += len(expected)
        assert found == others


@pytest.mark.parametrize(
    "line",
    [
        "affine.store %x, %A[$] : memref<900xf32>",
        "affine.if affine_set<() : (0 >= 0)>() { affine.store %x, %A[$] : memref<900xf32> }",
    ],
)
def test_7_stores_to_other_elements_are_not_asked_about(line, monkeypatch):
    """In a straight line, the number of questions grows as the number of lines does."""
    asked = []
    at = Dependences.at

    def counting(self, source, sink, depth):
        asked.append((source, sink))
        return at(self, source, sink, depth)

    monkeypatch.setattr(Dependences, "at", counting)
    counts = []
    for n in (40, 80):
        asked.clear()
        body = "\n".join(line.replace("$", str(k)) for k in range(n)) + "\n" + line.replace("$", "0")
        affine_scalrep(parsed(f"func.func @f(%A: memref<900xf32>, %x: f32) {{\n{body}\nreturn }}"))
        counts.append(len(asked))
    assert counts[1] <= 2 * counts[0] + 10
