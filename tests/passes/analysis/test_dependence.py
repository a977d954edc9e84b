"""Dependences: against all pairs of a run, the reference texts, and where nothing is known."""

from collections import defaultdict
from itertools import product
from random import Random

import pytest

from affdsl.mlir.readers import parse
from affdsl.passes.analysis import dependence, relations
from affdsl.passes.analysis.dependence import AnalysisWarning, Dependences, Distance, dependences
from tests.effort import some
from tests.passes.analysis.brute import Brute
from tests.passes.analysis.compare import compare_seeds
from tests.passes.analysis.programs import generate


def of(text, symbol="f"):
    """The dependences of a function."""
    module = parse(text)
    return dependences(next(f for f in module.functions if f.symbol == symbol), module)


def listed(text, *, inputs=False):
    """Every dependence of @f as text, with why it is not certain."""
    return [(str(d), d.unknown) for d in of(text).all(inputs=inputs)]


@pytest.mark.parametrize("start", some(range(0, 400, 50), 1))
def test_random_programs_have_the_dependences_of_their_runs(start):
    report = compare_seeds(range(start, start + 50))
    assert not report.wrong, "\n".join(report.wrong[:20])
    assert report.queries > 2_500
    assert report.exact > 0.7 * report.queries
    assert report.existing > 0.1 * report.queries


@pytest.mark.parametrize("seed", range(12))
def test_a_class_of_copies_depends_as_each_pair_of_it_does(seed):
    random = Random(seed)
    lines = []
    for k in range(8):
        at = f"{random.choice(['%i', '%j', '%i + %j', '%i * 2', '%j * 2 + %i'])} + {random.randint(0, 3)}"
        lines.append(
            f"%v{k} = affine.load %A[{at}] : memref<?xf32>"
            if random.random() < 0.4
            else f"affine.store %x, %A[{at}] : memref<?xf32>"
        )
    upper = random.choice(["%n", "3", "affine_map<(d0) -> (d0 + 2)>(%i)"])
    first, second = "\n".join(lines[:4]), "\n".join(lines[4:])
    text = f"""func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {{
        affine.for %i = 0 to %n {{
          affine.for %j = 0 to {upper} {{ {first} }}
          affine.for %j = 0 to 2 {{ {second} }}
        }}
        return
    }}"""
    found = dependences(parse(text).functions[0])
    for source, sink in product(found.compared, repeat=2):
        assert found.any_between(source, sink) == any(True for _ in found.between(source, sink))


@pytest.mark.parametrize("seed", some(range(30), 8))
def test_witnesses_are_iterations_of_the_run(seed):
    """With the numbers of its symbols put in, each witness of a program without symbols is a pair that ran."""
    program = generate(seed)
    found = dependences(program.function, program.module)
    brute = Brute(program.trace())
    elements = defaultdict[object, set[tuple[int, ...]]](set)  # a call touches some of them one after the other
    for i in brute.trace.instances:
        elements[i.op, i.role, i.ivs, i.buffer.origin] |= i.elements
    for each in found.all():
        witness = each.witness()
        assert (witness is not None) == each.is_exact
        if witness is None or witness.params:
            continue
        root = each.source.buffer.name[1:] if each.source.buffer.kind == "global" else each.source.buffer.root
        source = elements[each.source.op, each.source.kind, witness.source, root]
        sink = elements[each.sink.op, each.sink.kind, witness.sink, root]
        assert witness.element in source & sink
        distances = [b - a for a, b in zip(witness.source, witness.sink, strict=False)]
        for distance, (low, high) in zip(distances, [(d.low, d.high) for d in each.distances], strict=False):
            assert low <= distance <= high


APPLY = """
func.func @f() {
  %A = memref.alloc() : memref<10x10xf32>
  %cst = arith.constant 7.0 : f32
  affine.for %i = 0 to 9 {
    affine.for %j = 0 to 9 {
      %0 = affine.apply affine_map<(d0, d1) -> (d0)>(%i, %j)
      %1 = affine.apply affine_map<(d0, d1) -> (d1)>(%i, %j)
      affine.store %cst, %A[%0, %1] : memref<10x10xf32>
      %2 = affine.apply affine_map<(d0, d1) -> (d0 - 2)>(%i, %j)
      %3 = affine.load %A[%2, %1] : memref<10x10xf32>
    }
  }
  return
}"""
NONTRIVIAL = """
func.func @f() {
  %A = memref.alloc() : memref<10x10xf32>
  %cst = arith.constant 7.0 : f32
  affine.for %i = 0 to 10 {
    affine.for %j = 0 to 7 {
      affine.store %cst, %A[%i + 3 * %j, 4 * %i + 5 * %j] : memref<10x10xf32>
      %a = affine.load %A[%i + %j, %i + 2 * %j + 3] : memref<10x10xf32>
    }
  }
  return
}"""


def test_a_load_from_two_iterations_before():
    assert listed(APPLY) == [("flow dependence of A at depth 1: [2, 2][0, 0]", ())]


def test_distances_have_exact_ends():
    """Where mlir-opt reports depth 2 as [0, 0][2, 4], which no two iterations have, and [1, 2][-4, -1] for (2, -4)."""
    assert listed(NONTRIVIAL) == [
        ("flow dependence of A at depth 1: [1, 7][-1, 3]", ()),
        ("flow dependence of A at depth 3: [0, 0][0, 0]", ()),
        ("anti dependence of A at depth 1: [2, 2][-4, -4]", ()),
    ]


def test_distances_that_grow_with_a_size_have_no_end():
    found = of("""
func.func @f(%A: memref<?xf32>, %n: index, %t: index) {
  affine.for %s = 0 to %t {
    affine.for %i = 1 to %n {
      %a = affine.load %A[%i - 1] : memref<?xf32>
      affine.store %a, %A[%i] : memref<?xf32>
    }
  }
  return
}""")
    shown = {str(d): d.directions for d in found.all()}
    assert shown == {
        "anti dependence of A at depth 1: [1, +inf][-1, -1]": ("<", ">"),
        "flow dependence of A at depth 1: [1, +inf][1, 1]": ("<", "<"),
        "flow dependence of A at depth 2: [0, 0][1, 1]": ("=", "<"),
        "output dependence of A at depth 1: [1, +inf][0, 0]": ("<", "="),
    }


def test_directions():
    ends = [(1, None), (0, 0), (None, -1), (0, 3), (-3, 0), (-1, 1), (None, None)]
    assert [Distance(*e).direction for e in ends] == ["<", "=", ">", "<=", ">=", "*", "*"]
    assert [Distance(*e).value for e in ((2, 2), (1, 2), (None, None))] == [2, None, None]


def test_the_polyhedron_has_the_names_of_the_loops():
    (found,) = of(APPLY).all()
    assert str(found.map()) == "{ [i, j] -> [i' = 2 + i, j' = j] : 0 <= i <= 6 and 0 <= j <= 8 }"


def test_a_depth_that_is_none():
    found = of(APPLY)
    store, load = found.compared
    with pytest.raises(ValueError, match="two accesses with 2 loops around both have depths 1 to 3, not 4"):
        found.at(store, load, 4)


def test_two_handles_of_one_global_are_one_buffer():
    assert listed("""
memref.global "private" @G : memref<8xf32> = dense<0.0>
func.func @f(%x: f32) {
  %g = memref.get_global @G : memref<8xf32>
  %h = memref.get_global @G : memref<8xf32>
  affine.store %x, %g[1] : memref<8xf32>
  %a = affine.load %h[1] : memref<8xf32>
  %b = affine.load %h[2] : memref<8xf32>
  return
}""") == [("flow dependence of @G at depth 1: no loop stands around both", ())]


def test_a_buffer_of_each_iteration_is_another_one():
    assert listed("""
func.func @f(%x: f32) {
  affine.for %i = 0 to 8 {
    %t = memref.alloc() : memref<4xf32>
    affine.store %x, %t[0] : memref<4xf32>
    affine.for %j = 0 to 2 { %a = affine.load %t[%j] : memref<4xf32> }
  }
  return
}""") == [("flow dependence of t at depth 2: [0, 0]", ())]


SWAPPED = """
func.func private @f(%A: memref<8xf32>, %B: memref<8xf32>, %x: f32) {
  affine.store %x, %A[1] : memref<8xf32>
  %a = affine.load %B[2] : memref<8xf32>
  return
}
"""


def test_a_wait_ends_the_copies_of_all_iterations_unless_each_has_its_own_tag():
    text = """func.func @f(%A: memref<9xf32>, %n: index) {{
      {0}
      affine.for %i = 0 to 9 {{
        {1}
        %L = memref.alloc() : memref<1xf32, 1>
        affine.dma_start %A[%i], %L[0], %tag[0], %n : memref<9xf32>, memref<1xf32, 1>, memref<1xi32>
        {2}
      }}
      {3}
      return
    }}"""
    tag, wait = "%tag = memref.alloc() : memref<1xi32>", "affine.dma_wait %tag[0], %n : memref<1xi32>"

    def of_copies(*parts):
        return [str(d) for d in of(text.format(*parts)).all() if d.source.buffer.name == "L"]

    outside, shared, own = of_copies(tag, "", "", wait), of_copies(tag, "", wait, ""), of_copies("", tag, wait, "")
    assert {d.partition(": ")[2] for d in outside} == {"no loop stands around both"}
    assert {d.partition(": ")[2] for d in shared} == {"[0, 0]", "[1, 8]"}
    assert {d.partition(": ")[2] for d in own} == {"[0, 0]"}


def test_arguments_are_different_buffers_unless_a_call_shows_that_they_are_one():
    assert listed(SWAPPED) == []
    types = "(memref<8xf32>, memref<8xf32>, f32) -> ()"
    call = f"func.func @g(%A: memref<8xf32>, %x: f32) {{ call @f(%A, %A, %x) : {types} return }}"
    assert listed(SWAPPED + call) == [
        ("flow dependence of B at depth 1: no loop stands around both", ("A and B may be one buffer",))
    ]


def test_views_of_one_buffer_are_told_apart_where_they_lie_apart():
    assert (
        listed("""
func.func @f(%A: memref<16xf32>, %x: f32) {
  %v = memref.subview %A[0] [8] [2] : memref<16xf32> to memref<8xf32, strided<[2]>>
  %w = memref.subview %A[1] [8] [2] : memref<16xf32> to memref<8xf32, strided<[2], offset: 1>>
  affine.for %i = 0 to 8 {
    affine.store %x, %v[%i] : memref<8xf32, strided<[2]>>
    %a = affine.load %w[%i] : memref<8xf32, strided<[2], offset: 1>>
  }
  return
}""")
        == []
    )


def test_a_layout_that_puts_two_elements_into_one_place_is_not_known():
    (found,) = of("""
func.func @f(%A: memref<4x4xf32, strided<[1, 1]>>, %x: f32) {
  affine.store %x, %A[0, 1] : memref<4x4xf32, strided<[1, 1]>>
  %a = affine.load %A[1, 0] : memref<4x4xf32, strided<[1, 1]>>
  return
}""").all()
    assert found.unknown == ("which elements of A it touches is not known",)


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("%k = affine.load %I[%i] : memref<9xindex> memref.store %x, %A[%k] : memref<9xf32>", "%k is not affine"),
        ("affine.store %x, %A[%i * symbol(%n)] : memref<9xf32>", "n * i is semi-affine"),
        ("affine.store %x, %A[%i mod symbol(%n)] : memref<9xf32>", "n * (i floordiv n) is semi-affine"),
        ("scf.if %c { affine.store %x, %A[2] : memref<9xf32> }", "the condition is known only at run time"),
        ("func.call @g(%A) : (memref<9xf32>) -> ()", "which elements of A it touches is not known"),
        ('"some.thing"(%A) : (memref<9xf32>) -> ()', "which elements of A it touches is not known"),
    ],
)
def test_what_is_not_known_depends_and_says_why(statement, why):
    found = of(f"""
func.func private @g(memref<9xf32>)
func.func @f(%A: memref<9xf32>, %I: memref<9xindex>, %n: index, %c: i1, %x: f32) {{
  affine.for %i = 0 to 9 {{ {statement} }}
  return
}}""")
    outputs = [d for d in found.all() if d.kind == "output" and d.source.buffer.name == "A"]
    assert [d.depth for d in outputs] == [1]
    assert any(why in reason for reason in outputs[0].unknown)
    assert outputs[0].witness() is None


def test_a_call_touches_what_its_function_touches():
    text = """
func.func @g(%A: memref<9xf32>, %B: memref<9xf32>) {
  %a = affine.load %A[0] : memref<9xf32>
  affine.store %a, %B[0] : memref<9xf32>
  return
}
func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %C: memref<9xf32>) {
  call @g(%A, %B) : (memref<9xf32>, memref<9xf32>) -> ()
  return
}"""
    assert [(a.kind, a.buffer.name) for a in of(text).compared] == [("read", "A"), ("write", "B")]


def test_a_question_that_takes_isl_too_long_is_answered_by_unknown():
    module = parse(NONTRIVIAL)
    relations.forget()
    found = Dependences(module.functions[0], module, budget=10)
    store, load = found.compared
    with pytest.warns(AnalysisWarning, match="10 operations, for the write of A at <mlir>:7 and"):
        first = found.at(store, load, 1)
    assert [str(d) for d in first.distances] == ["[1, +inf]", "[-inf, +inf]"]
    assert "isl needs more than 10 operations" in first.unknown[0]
    assert first.witness() is None


def test_equal_nests_are_asked_once(monkeypatch):
    asked = []
    relations.forget()
    monkeypatch.setattr(dependence, "distances", lambda *given: asked.append(given) or relations.distances(*given))
    nest = """affine.for %i = 1 to 9 {
      %a = affine.load %A[%i floordiv 2] : memref<9xf32>
      affine.store %a, %A[%i] : memref<9xf32>
    }"""
    list(of(f"func.func @f(%A: memref<9xf32>) {{ {nest} return }}").all())
    list(of(f"func.func @f(%A: memref<9xf32>) {{ {nest} {nest} return }}").all())
    twice = len(asked)
    list(of(f"func.func @f(%A: memref<9xf32>) {{ {nest} {nest} {nest} {nest} {nest} return }}").all())
    assert 0 < len(asked) == twice


CALLED = """
func.func private @new(%n: index) -> memref<?xf32> {
  %t = memref.alloc(%n) : memref<?xf32>
  return %t : memref<?xf32>
}
func.func private @twice(%n: index) -> (memref<?xf32>, memref<?xf32>) {
  %t = memref.alloc(%n) : memref<?xf32>
  return %t, %t : memref<?xf32>, memref<?xf32>
}
func.func private @same(%A: memref<?xf32>) -> memref<?xf32> {
  return %A : memref<?xf32>
}
func.func @f(%A: memref<?xf32>, %n: index, %x: f32) {
"""


@pytest.mark.parametrize(
    ("body", "unknown"),
    [
        ("%t = call @new(%n) : (index) -> memref<?xf32>", None),
        ("%t = call @same(%A) : (memref<?xf32>) -> memref<?xf32>", "which elements of A it touches is not known"),
        ("%s, %t = call @twice(%n) : (index) -> (memref<?xf32>, memref<?xf32>)", "A and t may be one buffer"),
    ],
)
def test_what_a_call_gives_is_new_or_what_it_was_given_or_not_known(body, unknown):
    found = listed(f"""{CALLED} {body}
  affine.store %x, %A[0] : memref<?xf32>
  %a = affine.load %t[0] : memref<?xf32>
  return
}}""")
    assert [why for _, why in found] == ([] if unknown is None else [(unknown,)])


def test_two_results_that_are_one_buffer_may_be_one():
    found = listed(f"""{CALLED}
  %s, %t = call @twice(%n) : (index) -> (memref<?xf32>, memref<?xf32>)
  affine.store %x, %s[0] : memref<?xf32>
  %a = affine.load %t[0] : memref<?xf32>
  return
}}""")
    assert [why for _, why in found] == [("s and t may be one buffer",)]


GIVEN = """
func.func private @f(%A: memref<?xf32>, %B: memref<?xf32>, %x: f32) {
  affine.store %x, %A[0] : memref<?xf32>
  %a = affine.load %B[0] : memref<?xf32>
  return
}
func.func private @between(%A: memref<?xf32>, %B: memref<?xf32>, %x: f32) {
  call @f(%B, %A, %x) : (memref<?xf32>, memref<?xf32>, f32) -> ()
  return
}
func.func private @same(%A: memref<?xf32>) -> memref<?xf32> { return %A : memref<?xf32> }
func.func private @unknown(%A: memref<?xf32>) -> memref<?xf32>
func.func @g(%A: memref<?xf32>, %B: memref<?xf32>, %c: i1, %n: index, %x: f32) {
  %t = memref.alloc(%n) : memref<?xf32>
"""


@pytest.mark.parametrize(
    ("before", "first", "second", "are_one"),
    [
        ("", "%A", "%B", False),
        ("", "%A", "%t", False),
        ("", "%A", "%A", True),
        ("%s = call @same(%A) : (memref<?xf32>) -> memref<?xf32>", "%A", "%s", True),
        ("%s = call @same(%A) : (memref<?xf32>) -> memref<?xf32>", "%B", "%s", False),
        ("%s = call @unknown(%A) : (memref<?xf32>) -> memref<?xf32>", "%B", "%s", True),
        ("%s = arith.select %c, %A, %B : memref<?xf32>", "%A", "%s", True),
    ],
)
@pytest.mark.parametrize("through", ["f", "between"])
def test_what_a_call_shows_of_arguments(before, first, second, are_one, through):
    found = listed(f"""{GIVEN} {before}
  call @{through}({first}, {second}, %x) : (memref<?xf32>, memref<?xf32>, f32) -> ()
  return
}}""")
    assert [why for _, why in found] == ([("A and B may be one buffer",)] if are_one else [])


def test_a_global_that_is_given_as_an_argument_is_one_buffer_with_it():
    found = listed("""
memref.global "private" @G : memref<8xf32> = dense<0.0>
func.func private @f(%A: memref<8xf32>, %x: f32) {
  affine.store %x, %A[0] : memref<8xf32>
  %g = memref.get_global @G : memref<8xf32>
  %a = affine.load %g[0] : memref<8xf32>
  return
}
func.func private @between(%A: memref<8xf32>, %x: f32) { call @f(%A, %x) : (memref<8xf32>, f32) -> () return }
func.func @g(%x: f32) {
  %g = memref.get_global @G : memref<8xf32>
  call @between(%g, %x) : (memref<8xf32>, f32) -> ()
  return
}""")
    assert [why for _, why in found] == [("A and @G may be one buffer",)]
