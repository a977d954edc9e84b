"""A nest is vectorized alike alone and among others, and alone it costs as much as the nest."""

from __future__ import annotations

import pytest

from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.mlir_opt import affine_super_vectorize as pass_
from affdsl.passes.mlir_opt.affine_super_vectorize import affine_super_vectorize
from affdsl.passes.transforms.loops.alone import each_nest_alone, together
from benchmarks.chains import chain

USED = """func.func @f(%A: memref<?xf32>, %B: memref<?xf32>, %C: memref<64xf32>, %n: index, %x: f32) -> f32 {
  %T = memref.alloc(%n) : memref<?xf32>
  %two = arith.constant 2.0 : f32
  %half = affine.apply affine_map<()[s] -> (s floordiv 2)>()[%n]
  %s = affine.for %i = 0 to %half iter_args(%t = %x) -> (f32) {
    %a = affine.load %A[%i] : memref<?xf32>
    %u = arith.maximumf %t, %a : f32
    affine.store %a, %T[%i] : memref<?xf32>
    affine.yield %u : f32
  }
  %k, %c = affine.for %i = 0 to %n iter_args(%l = %half, %d = %s) -> (index, f32) {
    %one = arith.constant 1 : index
    %m = arith.addi %l, %one : index
    %v = affine.load %C[0] : memref<64xf32>
    %e = arith.maximumf %d, %v : f32
    affine.yield %m, %e : index, f32
  }
  affine.for %i = 0 to %n {
    %a = affine.load %T[%i] : memref<?xf32>
    %b = arith.mulf %a, %two : f32
    %d = arith.addf %b, %s : f32
    affine.store %d, %B[%i] : memref<?xf32>
  }
  affine.for %i = 0 to 64 {
    affine.store %c, %C[%i] : memref<64xf32>
  }
  affine.if affine_set<()[s] : (s - 9 >= 0)>()[%n] {
    affine.for %i = 0 to %k {
      %a = affine.load %T[%i] : memref<?xf32>
      affine.store %a, %B[%i] : memref<?xf32>
    }
  }
  memref.dealloc %T : memref<?xf32>
  return %c : f32
}"""
VIEWED = USED.replace("%two =", "%V = memref.cast %T : memref<?xf32> to memref<8xf32>\n  %two =")
PROGRAMS = {"values": USED, **{kind: chain(kind, 5) for kind in ("private", "one memref", "varied", "stencil")}}


def alone(text: str) -> list[tuple[Func, Func]]:
    """The functions of a module, each with those of its nests."""
    module = parse(text)
    found = [(f, each_nest_alone(f, module)) for f in module.functions]
    return [(f, small) for f, parts in found for _, small in parts or ()]


@pytest.mark.parametrize(("sizes", "reductions"), [((8,), False), ((8,), True), ((4, 4), False)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_vectorized_is_the_same_as_in_the_whole_function(monkeypatch, name, sizes, reductions):
    options = {"virtual_vector_size": sizes, "vectorize_reductions": reductions}
    made = str(affine_super_vectorize(parse(PROGRAMS[name]), **options))
    monkeypatch.setattr(pass_, "each_nest_alone", lambda *_: None)
    assert made == str(affine_super_vectorize(parse(PROGRAMS[name]), **options))


def test_a_nest_has_what_it_needs_and_returns_what_others_use():
    parts = [small for _, small in alone(USED)]
    for small in parts:
        verify(Module((small,)))
    first, second, third, fourth, last = parts
    assert [v.hint for v in first.body[-1].values] == ["T", "half", "s"]
    assert [v.hint for v in third.args] == ["B", "n", "s"], "a float that another nest yields is an argument"
    assert [v.hint for v in fourth.args] == ["C", "c"]
    assert len(second.body) == 3
    assert second.body[-2] in last.body, "an index comes with the loop that makes it"


def test_a_nest_stays_among_others_where_these_may_bear_on_it():
    one = chain("private", 1)
    assert alone(one) == []
    assert alone(VIEWED) == [], "a buffer with two names"
    assert alone(USED.replace("%two =", "func.call @g() : () -> ()\n  %two =") + "func.func private @g()") == []


def test_the_parts_make_the_whole():
    module = parse(USED)
    function = module.functions[0]
    parts = each_nest_alone(function, module)
    assert together(function, [(nest, small, small) for nest, small in parts]).body == function.body


@pytest.mark.parametrize("kind", ["private", "varied"])
def test_no_question_is_about_more_than_one_nest(monkeypatch, kind):
    seen: list[int] = []
    whole = Dependences.__init__

    def counted(self, *given, **named):
        whole(self, *given, **named)
        seen.append(len(self.accesses.all))

    monkeypatch.setattr(Dependences, "__init__", counted)
    affine_super_vectorize(parse(chain(kind, 16)), virtual_vector_size=(8,))
    assert max(seen) == 2
    assert len(seen) <= 2 * 2 * 16, "two for each loop"
