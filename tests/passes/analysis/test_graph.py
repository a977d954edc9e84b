"""The dependence graph: against all pairs of a run, what it answers to fusion, and where nothing is known."""

import re

import pytest

import affdsl as af
from affdsl.ir.dialects import affine, func
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.analysis import relations
from affdsl.passes.analysis.dependence import AnalysisWarning, Dependences
from affdsl.passes.analysis.graph import GraphError, InsertionPoints, MemRefDependenceGraph, dependence_graph
from tests.effort import some
from tests.passes.analysis.graph_oracle import Report, compare_blocks


def function(module, symbol="f"):
    return next(f for f in module.functions if f.symbol == symbol)


def of(text, loop=None, symbol="f"):
    """The graph of a function, or of the body of a loop in it."""
    module = parse(text)
    verify(module)
    return dependence_graph(function(module, symbol), module, loop)


def edges(graph):
    return [str(edge) for edge in graph.edges]


def ids(nodes):
    return [node.id for node in nodes]


@pytest.mark.parametrize("start", some(range(0, 90, 30), 1))
def test_random_blocks_have_the_edges_of_their_runs(start):
    report = compare_blocks(range(start, start + 30), Report())
    assert not report.wrong, "\n".join(report.wrong[:20])
    assert report.blocks > 80
    assert report.real > 80
    assert report.exact > 40


PRODUCTS = """
func.func @f(%A: memref<8x128x384xf32>, %B: memref<8x384x512xf32>, %C: memref<8x128x512xf32>,
             %D: memref<8x512x64xf32>, %E: memref<8x128x64xf32>) {
  affine.for %i0 = 0 to 8 { affine.for %i1 = 0 to 128 { affine.for %i2 = 0 to 512 { affine.for %i3 = 0 to 384 {
    %a = affine.load %A[%i0, %i1, %i3] : memref<8x128x384xf32>
    %b = affine.load %B[%i0, %i3, %i2] : memref<8x384x512xf32>
    %c = affine.load %C[%i0, %i1, %i2] : memref<8x128x512xf32>
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    affine.store %s, %C[%i0, %i1, %i2] : memref<8x128x512xf32>
  } } } }
  affine.for %j0 = 0 to 8 { affine.for %j1 = 0 to 128 { affine.for %j2 = 0 to 64 { affine.for %j3 = 0 to 512 {
    %c = affine.load %C[%j0, %j1, %j3] : memref<8x128x512xf32>
    %d = affine.load %D[%j0, %j3, %j2] : memref<8x512x64xf32>
    %e = affine.load %E[%j0, %j1, %j2] : memref<8x128x64xf32>
    %p = arith.mulf %c, %d : f32
    %s = arith.addf %e, %p : f32
    affine.store %s, %E[%j0, %j1, %j2] : memref<8x128x64xf32>
  } } } }
  return
}"""
SOURCE = """{ [i0, i1, i2, i3] -> [l0, l1, l2] : i0 = l0 and i1 = l1 and i2 = l2 and
    0 <= i0 < 8 and 0 <= i1 < 128 and 0 <= i2 < 512 and 0 <= i3 < 384 }"""
SINK = """{ [j0, j1, j2, j3] -> [l0, l1, l2] : j0 = l0 and j1 = l1 and j3 = l2 and
    0 <= j0 < 8 and 0 <= j1 < 128 and 0 <= j2 < 64 and 0 <= j3 < 512 }"""
COMPOSED = """{ [i0, i1, i2, i3] -> [j0 = i0, j1 = i1, j2, j3 = i2] : 0 <= i0 < 8 and 0 <= i1 < 128 and
    0 <= i2 < 512 and 0 <= i3 < 384 and 0 <= j0 < 8 and 0 <= j1 < 128 and 0 <= j2 < 64 and 0 <= j3 < 512 }"""


def equals(found, text):
    return found.is_equal(type(found).read_from_str(found.get_ctx(), text))


def test_the_chain_of_products_has_the_access_relations_of_the_text():
    first, second = of(PRODUCTS).nodes
    (store,), load = first.stores, second.loads[0]
    assert (store.kind, load.kind, store.buffer.name, load.buffer.name) == ("write", "read", "C", "C")
    assert equals(store.map(), SOURCE)
    assert equals(load.map(), SINK)
    assert not equals(load.map(), SOURCE)
    assert equals(load.map().domain(), "{ [j0, j1, j2, j3] : 0 <= j0 < 8 and 0 <= j1 < 128 and 0 <= j2 < 64 and "
                  "0 <= j3 < 512 }")  # fmt: skip


def test_the_chain_of_products_has_one_edge():
    graph = of(PRODUCTS)
    first, second = graph.nodes
    assert [n.id for n in graph.nodes] == [0, 1]
    assert [(a.buffer.name, a.kind) for a in first.accesses] == [
        ("A", "read"), ("B", "read"), ("C", "read"), ("C", "write")
    ]  # fmt: skip
    assert edges(graph) == ["0 -> 1: flow C"]
    (edge,) = graph.edges
    (dependence,) = edge.dependences
    assert edge.is_exact
    assert not edge.is_carried
    assert equals(dependence.map(), COMPOSED)
    assert [str(d) for d in edge.distances] == ["[0, 0]", "[0, 0]", "[-511, 63]", "[-383, 511]"]
    assert graph.producers(second) == (first,)
    assert graph.consumers(first, "C") == (second,)
    assert graph.consumers(first, "E") == ()
    assert graph.insertion_point(first, second) == InsertionPoints(1, 1)


NESTS = """
func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %C: memref<9xf32>, %D: memref<9xf32>) {
  %t = memref.alloc() : memref<9xf32>
  affine.for %i = 0 to 9 {
    %a = affine.load %A[%i] : memref<9xf32>
    affine.store %a, %t[%i] : memref<9xf32>
  }
  affine.for %j = 0 to 9 {
    %a = affine.load %A[%j] : memref<9xf32>
    affine.store %a, %B[%j] : memref<9xf32>
  }
  affine.for %k = 0 to 8 {
    %a = affine.load %t[%k + 1] : memref<9xf32>
    affine.store %a, %C[%k] : memref<9xf32>
  }
  affine.for %l = 0 to 9 {
    %b = affine.load %B[%l] : memref<9xf32>
    %c = affine.load %C[%l] : memref<9xf32>
    %s = arith.addf %b, %c : f32
    affine.store %s, %D[%l] : memref<9xf32>
  }
  memref.dealloc %t : memref<9xf32>
  return
}"""


def test_edges_have_kinds_and_buffers():
    graph = of(NESTS)
    assert edges(graph) == [
        "0 -> 1: value %t", "0 -> 3: value %t", "0 -> 5: value %t", "1 -> 3: flow t", "1 -> 5: free t",
        "2 -> 4: flow B", "3 -> 4: flow C", "3 -> 5: free t",
    ]  # fmt: skip
    assert all(edge.is_exact for edge in graph.edges)
    (shift,) = graph.between(graph.node(1), graph.node(3))
    assert [d.value for d in shift.distances] == [-1]
    assert graph.memref_edge_count("t") == 3
    assert [str(e) for e in graph.out_edges(graph.node(3), "t")] == ["3 -> 5: free t"]
    assert [str(e) for e in graph.in_edges(graph.node(4))] == ["2 -> 4: flow B", "3 -> 4: flow C"]


def test_nodes_are_found_by_what_they_are():
    graph = of(NESTS)
    nest = graph.node(3)
    assert graph.node(nest.op) is nest
    assert graph.node(nest.op.body[0]) is nest
    assert graph.node(nest.ivs[0]) is nest
    assert (nest.is_nest, graph.node(0).is_nest) == (True, False)
    assert [b.name for b in (*nest.reads, *nest.writes, *graph.node(0).allocates)] == ["t", "C", "t"]
    assert (ids(graph.users("t")), ids(graph.readers("t")), ids(graph.writers("t"))) == ([1, 3, 5], [3], [1])
    assert graph.users(graph.node(0).allocates[0]) == graph.users(graph.node(0).op.result) == graph.users("t")


def test_paths_and_order():
    graph = of(NESTS)
    _, first, second, third, fourth, _ = graph.nodes
    assert graph.has_path(first, fourth)
    assert not graph.between(first, fourth)
    assert not graph.has_path(first, second)
    assert not graph.has_path(fourth, first)
    assert not graph.has_path(first, first)
    assert graph.siblings(first) == (second,)
    assert graph.without(second).siblings(first) == ()
    assert graph.siblings(third) == ()
    assert (ids(graph.predecessors(fourth)), ids(graph.successors(first))) == ([2, 3], [3, 5])
    orders = [ids(order) for order in graph.topological_orders()]
    assert [0, 1, 2, 3, 4, 5] in orders
    assert [2, 0, 1, 3, 5, 4] in orders
    assert len(orders) == len({tuple(o) for o in orders}) == 9
    assert all(graph.is_order(map(graph.node, order)) for order in orders)
    assert not graph.is_order(map(graph.node, [0, 1, 2, 4, 3, 5]))
    assert not graph.is_order(map(graph.node, [0, 1, 2, 3, 4]))
    assert not graph.has_cycle()


def test_insertion_points_leave_all_others_where_they_are():
    graph = of(NESTS)
    _, first, second, third, fourth, _ = graph.nodes
    assert graph.insertion_point(first, third) == InsertionPoints(2, 3)
    assert graph.insertion_point(third, first) == InsertionPoints(2, 3)
    assert graph.insertion_point(second, fourth) == InsertionPoints(4, 4)
    assert graph.insertion_point(first, fourth) is None
    assert ids(graph.together(first, third)) == [0, 1, 3, 2, 4, 5]
    assert ids(graph.together(second, fourth)) == [0, 1, 3, 2, 4, 5]
    assert graph.together(first, fourth) is None
    assert graph.together(third, first) is None


CROSSED = """
func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %C: memref<9xf32>, %x: f32) {
  affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }
  affine.for %j = 0 to 9 { affine.store %x, %A[%j] : memref<9xf32> }
  affine.for %k = 0 to 9 { affine.store %x, %B[%k] : memref<9xf32> }
  affine.for %l = 0 to 9 {
    %b = affine.load %B[%l] : memref<9xf32>
    affine.store %b, %C[%l] : memref<9xf32>
  }
  return
}"""


def test_nodes_may_come_together_where_others_make_room():
    graph = of(CROSSED)
    first, behind, before, last = graph.nodes
    assert graph.insertion_point(first, last) is None
    assert graph.together(first, last) == (before, first, last, behind)
    assert graph.is_order(graph.together(first, last))


def test_what_nobody_needs_may_be_removed():
    graph = of(NESTS.replace("%b = affine.load %B", "%b = affine.load %C"))
    first, second = graph.node(1), graph.node(2)
    assert [graph.writes_live_out(n) for n in graph.nodes] == [False, False, True, True, True, False]
    assert [b.name for b in graph.live_out(second)] == ["B"]
    assert not any(map(graph.removable, graph.nodes))
    smaller = graph.without(graph.node(3))
    assert ids(smaller.nodes) == [0, 1, 2, 4, 5]
    assert [op for op in smaller.block if not op.is_terminator] == [n.op for n in smaller.nodes]
    assert edges(smaller) == ["0 -> 1: value %t", "0 -> 5: value %t", "1 -> 5: free t"]
    assert smaller.removable(first)
    assert not smaller.has_path(first, graph.node(4))
    assert not smaller.removable(second)
    assert len(graph.nodes) == 6


def test_a_value_that_the_function_returns_is_needed():
    graph = of("func.func @f(%A: memref<9xf32>) -> f32 {\n %a = affine.load %A[0] : memref<9xf32>\n"
               " %b = affine.load %A[1] : memref<9xf32>\n return %a : f32\n}")  # fmt: skip
    assert [graph.removable(n) for n in graph.nodes] == [False, True]


def test_a_buffer_that_is_handed_on_lives_on():
    graph = of("func.func @f(%x: f32) -> memref<9xf32> {\n %t = memref.alloc() : memref<9xf32>\n"
               " affine.for %i = 0 to 9 { affine.store %x, %t[%i] : memref<9xf32> }\n"
               " return %t : memref<9xf32>\n}")  # fmt: skip
    assert graph.writes_live_out(graph.node(1))
    assert not graph.removable(graph.node(1))


def test_a_changed_function_gets_a_graph_of_its_own():
    graph = of(NESTS)
    f = graph.function
    smaller = with_fields(f, body=(*f.body[:2], *f.body[3:]))
    again = graph.recomputed(smaller)
    assert edges(again) == [
        "0 -> 1: value %t", "0 -> 2: value %t", "0 -> 4: value %t", "1 -> 2: flow t", "1 -> 4: free t",
        "2 -> 3: flow C", "2 -> 4: free t",
    ]  # fmt: skip
    loop = of(STENCIL, "t")
    assert edges(loop.recomputed(loop.function)) == edges(loop)


def test_what_the_graph_does_not_have_is_said():
    graph = of(NESTS)
    with pytest.raises(GraphError, match=r"the block has no node 9: it has 6, from 0 on"):
        graph.node(9)
    with pytest.raises(GraphError, match=r"the function has no buffer called E: it has A, B, C, D, t"):
        graph.users("E")
    with pytest.raises(GraphError, match=r"<node 1: affine.for> is no node of this graph"):
        of(NESTS).in_edges(graph.node(1))
    with pytest.raises(GraphError, match=r"node 0 cannot be left out: node 1 uses %t.*leave out node 1 first"):
        graph.without(graph.node(0))
    with pytest.raises(GraphError, match=r"@f has no loop called m; it has i, j, k, l"):
        of(NESTS, "m")
    with pytest.raises(GraphError, match=r'@f has 2 loops called i: write "i#1" or "i#2"'):
        of(NESTS.replace("%j", "%i"), "i")
    with pytest.raises(GraphError, match=r"@f has no such block"):
        MemRefDependenceGraph(graph.dependences, of(NESTS).block)
    with pytest.raises(GraphError, match=r"the loop of %i.* does not stand around the block: none does"):
        graph.components(graph.node(1).ivs[0])
    loop = of(STENCIL, "t")
    with pytest.raises(GraphError, match=r"@f has no loop of %t.* any more"):
        loop.recomputed(graph.function)
    inside = of(CHOICE)
    chosen = MemRefDependenceGraph(inside.dependences, inside.node(0).op.orelse)
    assert edges(chosen) == ["0 -> 1: flow A"]
    with pytest.raises(GraphError, match=r"only the bodies of functions and loops are found again"):
        chosen.recomputed(inside.function)
    local = "affine.for %i = 0 to 9 {\n %x = memref.alloc() : memref<f32>\n }\n"
    with pytest.raises(GraphError, match=r"the function has several buffers called x"):
        of(f"func.func @f() {{\n {local} {local} return\n}}").users("x")


CHOICE = """
#positive = affine_set<(d0) : (d0 - 1 >= 0)>
func.func @f(%A: memref<9xf32>, %n: index, %x: f32) {
  affine.if #positive(%n) {
    affine.store %x, %A[0] : memref<9xf32>
  } else {
    affine.store %x, %A[1] : memref<9xf32>
    %a = affine.load %A[1] : memref<9xf32>
  }
  return
}"""


STENCIL = """
func.func @f(%A: memref<20xf32>, %B: memref<20xf32>, %C: memref<20xf32>) {
  affine.for %t = 0 to 7 {
    affine.for %i = 1 to 19 {
      %l = affine.load %A[%i - 1] : memref<20xf32>
      %r = affine.load %A[%i + 1] : memref<20xf32>
      %s = arith.addf %l, %r : f32
      affine.store %s, %B[%i] : memref<20xf32>
    }
    affine.for %j = 1 to 19 {
      %b = affine.load %B[%j] : memref<20xf32>
      affine.store %b, %A[%j] : memref<20xf32>
    }
    affine.for %k = 0 to 20 {
      %c = affine.load %A[%k] : memref<20xf32>
      affine.store %c, %C[%k] : memref<20xf32>
    }
  }
  return
}"""


def test_the_body_of_a_loop_has_edges_that_the_loop_carries():
    graph = of(STENCIL, "t")
    assert [iv.hint for iv in graph.loops] == ["t"]
    assert sorted(edges(graph)) == [
        "0 -> 0: output B, carried by t",
        "0 -> 1: anti A", "0 -> 1: anti A, carried by t", "0 -> 1: flow B", "0 -> 1: flow B, carried by t",
        "1 -> 0: anti B, carried by t", "1 -> 0: flow A, carried by t",
        "1 -> 1: output A, carried by t",
        "1 -> 2: flow A", "1 -> 2: flow A, carried by t",
        "2 -> 1: anti A, carried by t",
        "2 -> 2: output C, carried by t",
    ]  # fmt: skip
    first, second, third = graph.nodes
    assert ids(graph.consumers(first)) == [1]
    assert ids(graph.producers(first)) == []
    assert graph.has_path(first, third)
    assert not graph.has_path(third, first)
    assert graph.has_cycle()
    assert graph.components() == ((first, second, third),)
    (within,) = [e for e in graph.between(first, second) if e.kind == "anti" and not e.is_carried]
    assert [(d.low, d.high) for d in within.distances] == [(0, 0), (-1, 1)]
    (back,) = [e for e in graph.between(second, first) if e.kind == "flow"]
    assert back.loop is graph.loops[0]
    assert [(d.low, d.high) for d in back.distances] == [(1, 6), (-1, 1)]


def test_a_loop_without_a_cycle_can_be_distributed():
    graph = of(
        """
    func.func @f(%A: memref<20xf32>, %B: memref<20xf32>, %C: memref<20xf32>) {
      affine.for %t = 1 to 7 {
        %c = affine.load %C[%t - 1] : memref<20xf32>
        affine.store %c, %B[%t] : memref<20xf32>
        %a = affine.load %A[%t] : memref<20xf32>
        affine.store %a, %C[%t] : memref<20xf32>
      }
      return
    }""",
        "t",
    )
    assert edges(graph) == ["0 -> 1: value %c", "2 -> 3: value %a", "3 -> 0: flow C, carried by t"]
    assert not graph.has_cycle()
    assert [ids(group) for group in graph.components()] == [[2], [3], [0], [1]]
    assert graph.siblings(graph.node(0)) == ()


def test_a_buffer_of_each_iteration_is_not_carried_and_not_seen_outside():
    text = STENCIL.replace(
        "affine.for %t = 0 to 7 {", "affine.for %t = 0 to 7 {\n %L = memref.alloc() : memref<20xf32>"
    )
    graph = of(text.replace("%B[", "%L["), "t")
    _, first, second, _ = graph.nodes
    assert [str(e) for e in graph.between(first, second) if e.buffer.name == "L"] == ["1 -> 2: flow L"]
    assert not graph.writes_live_out(first)
    assert graph.writes_live_out(second)


def test_a_value_that_a_nest_computes_and_another_uses():
    graph = of("""
    func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
      %z = arith.constant 0.0 : f32
      %s = affine.for %i = 0 to 9 iter_args(%acc = %z) -> (f32) {
        %a = affine.load %A[%i] : memref<9xf32>
        %n = arith.addf %acc, %a : f32
        affine.yield %n : f32
      }
      affine.for %j = 0 to 9 { affine.store %s, %B[%j] : memref<9xf32> }
      return
    }""")
    assert edges(graph) == ["0 -> 1: value %z", "1 -> 2: value %s"]
    assert graph.edges[1].value is graph.node(1).op.results[0]
    assert graph.has_path(graph.node(0), graph.node(2))
    assert graph.siblings(graph.node(1)) == ()
    assert not graph.removable(graph.node(1))


def test_views_and_handles_of_one_buffer_are_one_buffer():
    graph = of("""
    memref.global "private" @g : memref<8xf32> = uninitialized
    func.func @f(%A: memref<10xf32>, %x: f32) {
      %low = memref.subview %A[0] [5] [1] : memref<10xf32> to memref<5xf32, strided<[1]>>
      %high = memref.subview %A[5] [5] [1] : memref<10xf32> to memref<5xf32, strided<[1], offset: 5>>
      %g = memref.get_global @g : memref<8xf32>
      %h = memref.get_global @g : memref<8xf32>
      affine.for %i = 0 to 5 { affine.store %x, %low[%i] : memref<5xf32, strided<[1]>> }
      affine.for %i = 0 to 5 { affine.store %x, %high[%i] : memref<5xf32, strided<[1], offset: 5>> }
      affine.for %i = 4 to 6 { %a = affine.load %A[%i] : memref<10xf32> }
      affine.for %i = 0 to 4 { affine.store %x, %g[%i] : memref<8xf32> }
      affine.for %i = 0 to 5 { %a = affine.load %h[%i + 3] : memref<8xf32> }
      return
    }""")
    assert [e for e in edges(graph) if "value" not in e] == ["4 -> 6: flow A", "5 -> 6: flow A", "7 -> 8: flow @g"]


def test_a_call_that_is_known_orders_only_what_it_touches():
    text = """
    func.func private @copy(%A: memref<9xf32>, %B: memref<9xf32>) {
      affine.for %i = 0 to 9 {
        %a = affine.load %A[%i] : memref<9xf32>
        affine.store %a, %B[%i] : memref<9xf32>
      }
      return
    }
    func.func private @unseen(memref<9xf32>)
    func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %C: memref<9xf32>, %x: f32) {
      affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }
      call @copy(%A, %B) : (memref<9xf32>, memref<9xf32>) -> ()
      call @copy(%C, %B) : (memref<9xf32>, memref<9xf32>) -> ()
      affine.for %i = 0 to 9 { %a = affine.load %C[%i] : memref<9xf32> }
      return
    }"""
    graph = of(text)
    assert edges(graph) == ["0 -> 1: flow A", "1 -> 2: output B"]
    assert not any(n.barrier for n in graph.nodes)
    for values, value in (("%A, %B", "%A"), ("%C, %B", "%B")):
        text = text.replace(f"@copy({values}) : (memref<9xf32>, memref<9xf32>)", f"@unseen({value}) : (memref<9xf32>)")
    unseen = of(text)
    barriers = unseen.between(unseen.node(1), unseen.node(2))
    assert unseen.node(1).barrier == "what @unseen does is not known"
    assert {e.kind for e in barriers} >= {"order"}
    (order,) = [e for e in barriers if e.kind == "order"]
    assert order.unknown == ("what @unseen does is not known; what @unseen does is not known",)
    assert unseen.has_path(unseen.node(1), unseen.node(2))
    assert not unseen.removable(unseen.node(1))


def test_an_operation_that_is_not_known_may_touch_what_it_may_reach():
    graph = of("""
    func.func @f(%A: memref<9xf32>, %x: f32) {
      %t = memref.alloc() : memref<9xf32>
      affine.for %i = 0 to 9 { affine.store %x, %t[%i] : memref<9xf32> }
      affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }
      "some.thing"() : () -> ()
      affine.for %i = 0 to 9 { %a = affine.load %t[%i] : memref<9xf32> }
      "some.thing"() : () -> ()
      return
    }""")
    assert edges(graph) == [
        "0 -> 1: value %t", "0 -> 4: value %t", "1 -> 4: flow t",
        "2 -> 3: flow A (unknown)", "2 -> 3: output A (unknown)",
        "2 -> 5: flow A (unknown)", "2 -> 5: output A (unknown)",
        "3 -> 5: anti A (unknown)", "3 -> 5: flow A (unknown)", "3 -> 5: output A (unknown)", "3 -> 5: order (unknown)",
    ]  # fmt: skip
    assert graph.node(3).barrier == "what some.thing does is not known"
    assert graph.edges[3].unknown == ("which elements of A it touches is not known",)


def test_arguments_that_a_call_passes_twice_may_be_one_buffer():
    graph = of("""
    func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %x: f32) {
      affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }
      affine.for %i = 0 to 9 { %b = affine.load %B[%i] : memref<9xf32> }
      return
    }
    func.func @twice(%A: memref<9xf32>, %x: f32) {
      call @f(%A, %A, %x) : (memref<9xf32>, memref<9xf32>, f32) -> ()
      return
    }""")
    (edge,) = graph.edges
    assert (edge.kind, edge.unknown) == ("flow", ("A and B may be one buffer",))
    assert edge.touches(graph.buffer("A"))
    assert edge.touches(graph.buffer("B"))
    assert ids(graph.users("A")) == ids(graph.users("B")) == [0, 1]


def test_what_takes_isl_too_long_is_an_edge():
    module = parse("""
    func.func @f(%A: memref<99xf32>, %x: f32) {
      affine.for %i = 0 to 9 { affine.for %j = 0 to 9 { affine.store %x, %A[%i * 3 + %j * 2] : memref<99xf32> } }
      affine.for %i = 0 to 9 { affine.for %j = 0 to 9 { %a = affine.load %A[%i * 5 - %j + 8] : memref<99xf32> } }
      return
    }""")
    relations.forget()
    with pytest.warns(AnalysisWarning, match="needs more than 5 operations"):
        graph = MemRefDependenceGraph(Dependences(function(module), module, budget=5))
    (edge,) = graph.between(graph.node(0), graph.node(1))
    assert not edge.is_exact
    assert "isl needs more than 5 operations" in edge.unknown[0]
    relations.forget()


def test_a_load_at_a_loaded_place_may_touch_everything():
    graph = of("""
    func.func @f(%A: memref<9xf32>, %I: memref<9xindex>, %x: f32) {
      affine.for %i = 0 to 4 { affine.store %x, %A[%i] : memref<9xf32> }
      affine.for %i = 0 to 9 {
        %k = affine.load %I[%i] : memref<9xindex>
        %a = memref.load %A[%k] : memref<9xf32>
      }
      return
    }""")
    (edge,) = graph.edges
    assert str(edge) == "0 -> 1: flow A (unknown)"
    assert edge.unknown == ("%k is not affine",)


def test_networkx_gets_a_graph_of_its_own():
    graph = of(NESTS)
    copy = graph.to_networkx()
    assert sorted(copy.nodes) == [0, 1, 2, 3, 4, 5]
    assert copy.nodes[1]["node"] is graph.node(1)
    assert sorted((a, b, d["kind"], d["buffer"], d["carried"]) for a, b, d in copy.edges(data=True)) == sorted(
        (e.source.id, e.sink.id, e.kind, e.buffer.name if e.buffer else "", False) for e in graph.edges
    )
    copy.clear()
    assert len(graph.topological_orders().__next__()) == 6


def test_graphs_and_nodes_say_what_they_are():
    graph = of(NESTS)
    assert repr(graph) == "<dependences of @f: 6 nodes, 8 edges>"
    assert repr(graph.node(1)) == "<node 1: affine.for>"


def test_kernels_have_dependences_and_a_graph():
    N = af.symbols("N")

    @af.kernel
    def blur(A: af.f64[N], B: af.f64[N]):
        with af.for_(4) as t:  # noqa: F841 - the name of the loop
            with af.for_(1, N - 1) as i:
                B[i] = A[i - 1] + A[i + 1]
            with af.for_(1, N - 1) as j:
                A[j] = B[j]

    assert {str(d.kind) for d in blur.dependences().all()} == {"flow", "anti", "output"}
    assert repr(blur.graph()) == "<dependences of @blur: 1 nodes, 0 edges>"
    inner = blur.graph("t")
    assert inner.has_cycle()
    with pytest.raises(GraphError, match=r"@blur has no loop called k; it has t, i, j"):
        blur.graph("k")
    assert re.match(r"<svg .*flow", inner._repr_svg_(), re.S)
    assert isinstance(inner.owner, affine.For)
    assert isinstance(blur.graph().owner, func.Func)
    assert any(op is inner.owner for op in walk(blur.func))


def test_a_buffer_is_freed_after_its_uses_whatever_element_they_are_of() -> None:
    graph = of("""
        func.func @f(%I: memref<9xindex>, %x: f32) {
          %T = memref.alloc() : memref<9xf32>
          affine.for %i = 0 to 9 {
            %k = affine.load %I[%i] : memref<9xindex>
            memref.store %x, %T[%k] : memref<9xf32>
          }
          memref.dealloc %T : memref<9xf32>
          return
        }""")
    (edge,) = graph.out_edges(graph.node(1))
    assert (edge.kind, edge.unknown, edge.is_exact) == ("free", (), True)
    assert any(d.unknown for d in edge.dependences)
