"""A fusion is the same, whether it is proved of the whole function or of what bears on it, and found anew or again."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from affdsl.ir.dialects import affine, memref
from affdsl.ir.dialects.func import Module
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.mlir_opt import affine_loop_fusion as pass_
from affdsl.passes.mlir_opt.affine_loop_fusion import affine_loop_fusion, explained
from affdsl.passes.transforms.fuse.alike import Memory, form_of
from affdsl.passes.transforms.fuse.focus import outline_of
from affdsl.passes.transforms.fuse.window import Window
from benchmarks.chains import chain
from tests.effort import TRIES_ALL
from tests.passes.mlir_opt import fusion
from tests.passes.mlir_opt.fusion.short import programs
from tests.passes.mlir_opt.fusion_programs import program

WAYS = [{}, {"maximal": True}, {"mode": "sibling"}, {"mode": "producer", "compute_tolerance": 100.0}]
SHORT = [*programs((Path(fusion.__file__).parent / "programs.txt").read_text(encoding="utf-8"))]

ADDED = """
  affine.for %i = 0 to {n} {{
    %v = affine.load %{of}[%i] : memref<{n}xf32>
    %w = arith.addf %v, %{by} : f32
    affine.store %w, %{to}[%i] : memref<{n}xf32>
  }}"""


def added(names: str, n: int = 9, by: str = "one", more: str = "") -> Module:
    """A chain of nests that each add a number to the elements of a buffer of the function."""
    made = [f"  %{name} = memref.alloc() : memref<{n}xf32>" for name in names[1:-1]]
    nests = [ADDED.format(of=a, to=b, n=n, by=by) for a, b in pairwise(names)]
    head = f"func.func @f(%{names[0]}: memref<{n}xf32>, %{names[-1]}: memref<{n}xf32>, %one: f32) {{\n"
    return parse("\n".join([head, *made, *nests, more, "  return", "}"]))


def without(monkeypatch: pytest.MonkeyPatch, what: type, name: str, module: Module, **options: object) -> str:
    """What the pass makes of a module if something of what makes it fast is never there."""
    with monkeypatch.context() as patch:
        patch.setattr(what, name, lambda *_, **__: None)
        return str(affine_loop_fusion(module, **options))


def assert_same(monkeypatch: pytest.MonkeyPatch, module: Module, **options: object) -> None:
    fused = str(affine_loop_fusion(module, **options))
    assert fused == without(monkeypatch, pass_, "outline_of", module, **options)
    assert fused == without(monkeypatch, Memory, "recall", module, **options)


@pytest.mark.parametrize("way", range(len(WAYS)))
def test_programs_of_every_kind_are_fused_alike(monkeypatch, way):
    """A sixteenth of the programs each way; an eighth in the long run."""
    for each in SHORT[way :: (2 if TRIES_ALL else 4) * len(WAYS)]:
        assert_same(monkeypatch, parse(each.mlir), **WAYS[way])


@pytest.mark.parametrize("way", range(len(WAYS)))
def test_random_chains_are_fused_alike(monkeypatch, way):
    assert_same(monkeypatch, parse(program(100 + way)), **WAYS[way])


@pytest.mark.parametrize("kind", ["one memref", "own memrefs", "varied", "stencil", "reloaded"])
def test_long_chains_are_fused_alike(monkeypatch, kind):
    assert_same(monkeypatch, parse(chain(kind, 6)))


def test_what_bears_on_two_nests_are_those_that_use_what_the_one_stores():
    module = added("ABCDEFGH")
    function = module.functions[0]
    loops = [op for op in function.body if isinstance(op, affine.For)]
    focus = outline_of(function, module).focus(function, *loops[2:4])
    there = focus.graph.function
    assert [op for op in there.body if isinstance(op, affine.For)] == [loops[2], focus.sink]
    assert [op.result.hint for op in there.body if isinstance(op, memref.Alloc)] == ["C", "D"]
    assert [v.hint for v in there.body[-1].reads()] == ["C"], "others use it"
    assert [v.hint for v in there.args] == ["one", "v"], "what the second stores to E is nothing to the first"


def test_of_a_long_nest_only_what_is_done_to_the_shared_buffers_is_shown():
    module = parse("""func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %C: memref<9x9xf32>, %x: f32) {
      affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }
      affine.for %i = 2 to 9 { affine.for %j = 0 to %i {
        %b = affine.load %B[%i] : memref<9xf32>
        %a = affine.load %A[%j] : memref<9xf32>
        %s = arith.addf %a, %b : f32
        affine.store %s, %C[%i, %j] : memref<9x9xf32>
        affine.store %b, %A[%j] : memref<9xf32>
      } }
      return
    }""")
    function = module.functions[0]
    focus = outline_of(function, module).focus(function, *function.body[:2])
    assert str(focus.graph.function) == TAKEN_OUT


TAKEN_OUT = """\
func.func @f(%A: memref<9xf32>, %x: f32, %a: memref<?x?xf32>, %b: memref<?x?xf32>) {
  affine.for %i = 0 to 9 {
    affine.store %x, %A[%i] : memref<9xf32>
  }
  affine.for %i = 2 to 9 {
    affine.for %j = 0 to %i {
      %b_0 = affine.load %b[%i - 2, %j] : memref<?x?xf32>
      %a_0 = affine.load %A[%j] : memref<9xf32>
      affine.store %a_0, %a[%i - 2, %j] : memref<?x?xf32>
      affine.store %b_0, %A[%j] : memref<9xf32>
    }
  }
  return
}"""


@pytest.mark.parametrize(
    "line",
    [
        "%v = memref.subview %A[0] [9] [1] : memref<9xf32> to memref<9xf32>",
        "%v = memref.cast %A : memref<9xf32> to memref<?xf32>",
        "call @g(%A) : (memref<9xf32>) -> ()",
        "affine.prefetch %A[0], read, locality<3>, data : memref<9xf32>",
    ],
)
def test_there_is_no_outline_where_buffers_have_other_names_or_others_see_them(line):
    text = "func.func private @g(memref<9xf32>) func.func @f(%A: memref<9xf32>) {{ {} return }}"
    for inside, is_there in ((line, False), ("", True)):
        module = parse(text.format(inside))
        assert (outline_of(module.functions[1], module) is not None) == is_there


def test_there_is_no_outline_where_arguments_may_be_one_buffer():
    text = """func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
      %x = affine.load %A[0] : memref<9xf32>
      affine.store %x, %B[0] : memref<9xf32>
      return
    }
    func.func @g(%C: memref<9xf32>, %D: memref<9xf32>) {
      call @f(%C, %%s) : (memref<9xf32>, memref<9xf32>) -> ()
      return
    }"""
    for given, is_there in (("D", True), ("C", False)):
        module = parse(text.replace("%%s", f"%{given}"))
        assert (outline_of(module.functions[0], module) is not None) == is_there


def test_an_order_between_the_two_is_kept_by_values_and_buffers_that_only_the_sink_uses():
    for more in ("%one", "%x"):
        between = "%u = affine.load %C[0] : memref<9xf32> %x = arith.addf %u, %one : f32"
        nests = [ADDED.format(of="A", to="B", n=9, by="one"), between, ADDED.format(of="B", to="C", n=9, by=more[1:])]
        head = "func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %C: memref<9xf32>, %one: f32) {"
        module = parse("\n".join([head, *nests, "return }"]))
        verify(affine_loop_fusion(module))


def test_forms_differ_where_functions_do():
    texts = [
        "affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }",
        "affine.for %i = 1 to 9 { affine.store %x, %A[%i] : memref<9xf32> }",
        "affine.for %i = 0 to 9 { affine.store %x, %A[%i - %n + %n] : memref<9xf32> }",
        "affine.for %i = 0 to 9 { affine.store %x, %B[%i] : memref<9xf32> }",
        "affine.for %i = 0 to 9 { affine.store %x, %A[%i floordiv 2] : memref<9xf32> }",
        "affine.for %i = 0 to 9 { affine.store %x, %A[%i mod 2] : memref<9xf32> }",
        "affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<9xf32> }",
        "affine.for %i = 0 to 9 { } affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }",
        "affine.for %i = 0 to 9 { affine.for %j = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> } }",
        "affine.for %i = 0 to 9 { affine.for %j = 0 to 9 { affine.store %x, %A[%j] : memref<9xf32> } }",
        "affine.for %i = 0 to 9 { %y = arith.constant 0.0 : f32 affine.store %y, %A[%i] : memref<9xf32> }",
        "affine.for %i = 0 to 9 { %y = arith.constant -0.0 : f32 affine.store %y, %A[%i] : memref<9xf32> }",
        "affine.for %i = 0 to 9 { affine.if affine_set<(d) : (d - 4 >= 0)>(%i) { } }",
        "affine.for %i = 0 to 9 { affine.if affine_set<(d) : (d - 4 == 0)>(%i) { } }",
    ]
    head = "func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %x: f32, %n: index) {{ {} return }}"
    keys = [form_of(parse(head.format(text)).functions[0]).key for text in texts]
    assert len(set(keys)) == len(texts) - 1, "subtracting and adding n changes nothing"
    renamed = head.format(texts[0]).replace("%i", "%k").replace("@f", "@g")
    assert form_of(parse(renamed).functions[0]).key == keys[0]


def test_what_is_explained_of_alike_nests_is_said_of_each():
    said = "\n".join(explained(parse(chain("own memrefs", 5))))
    for k in range(1, 4):
        assert f"what was in A{k} stands for what was in A{k - 1}" in said


TWO = """func.func @f(%A: memref<9xf32>) {
  %a = arith.constant ONE : f32
  %b = arith.constant OTHER : f32
  affine.store %a, %A[0] : memref<9xf32>
  affine.store %b, %A[1] : memref<9xf32>
  return
}"""


def test_functions_are_alike_whose_constants_are_equal_where_those_of_the_other_are():
    def key(one: str, other: str) -> object:
        return form_of(parse(TWO.replace("ONE", one).replace("OTHER", other)).functions[0]).key

    assert key("2.5", "3.0") == key("7.0", "-3.0")
    assert key("2.5", "2.5") == key("7.0", "7.0") != key("7.0", "8.0")
    assert key("0.0", "3.0") != key("2.5", "3.0"), "what is added may be nothing"
    assert key("0.0", "3.0") != key("-0.0", "3.0")
    assert key("1.0", "3.0") != key("2.5", "3.0")


def test_nests_that_add_different_constants_are_proved_once(monkeypatch):
    module = parse(chain("constants", 5))
    assert_same(monkeypatch, module)
    proved: list[object] = []
    compared = Window.compared
    monkeypatch.setattr(Window, "compared", lambda *given: proved.append(given) or compared(*given))
    affine_loop_fusion(module)
    assert len(proved) == 2, "the first fusion, of two nests as they were, and the second, of which others are like"
