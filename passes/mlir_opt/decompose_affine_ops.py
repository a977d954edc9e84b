"""Writes affine.apply as steps of one operator each, so that loops can be left by all that they do not change."""

from __future__ import annotations

from affdsl.ir import written
from affdsl.ir.applied import Applied
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import INDEX
from affdsl.ir.written import Tree
from affdsl.passes.affine import maps as affine_maps
from affdsl.passes.cleanup.canonicalize.facts import GraphFacts
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.mlir_opt.loop_invariant_code_motion import LOOPS


def decompose_affine_ops(module: Module) -> Module:
    """The same program with sums and products in affine.apply made in steps, first of what fewer loops change.

        affine.apply (i * 4 + n + j)    ->    %0 = affine.apply (n), %1 = affine.apply (i * 4), %2 = affine.apply (j),
                                              %3 = affine.apply (%0 + %1), affine.apply (%3 + %2)

    Each step stands where the whole stood; `loop_invariant_code_motion` then moves those that it can. A sum of numbers
    that are near the ends of 64 bits may leave them on the way, where the whole does not.

    >>> from affdsl.mlir.readers import parse
    >>> print(decompose_affine_ops(parse('''func.func @f(%i: index, %n: index) -> index {
    ...     %0 = affine.apply affine_map<()[s0, s1] -> (s0 * 4 + s1 floordiv 2)>()[%i, %n]
    ...     return %0 : index
    ... }''')).functions[0])
    func.func @f(%i: index, %n: index) -> index {
      %0 = affine.apply affine_map<()[s0] -> (s0 * 4)>()[%i]
      %1 = affine.apply affine_map<()[s0] -> (s0 floordiv 2)>()[%n]
      %2 = affine.apply affine_map<()[s0, s1] -> (s0 + s1)>()[%0, %1]
      return %2 : index
    }
    """
    graph = Graph(module)
    for node in list(graph.walk()):
        if isinstance(node.op, affine.Apply):
            _decompose(graph, node, _by_loops(graph, node))
    result = graph.result()
    assert isinstance(result, Module), "the root stays"
    return result


def _by_loops(graph: Graph, node: OpNode) -> Applied:
    """The map of an affine.apply with symbols only, first those that stay the same in more loops around it."""
    map = node.maps["expr"]
    positions = map.values
    order = sorted(positions, key=lambda position: -_unchanging(graph, node, positions[position]))
    names: dict[str, Tree] = {position: f"s{k}" for k, position in enumerate(order)}
    trees = tuple(written.replace(tree, names.__getitem__) for tree in map.trees)
    made = affine_maps.flattened(Applied(trees, (), tuple(positions[position] for position in order)))
    return affine_maps.canonical(made, GraphFacts(graph))


def _unchanging(graph: Graph, node: OpNode, value: Value) -> int:
    """In how many loops around a node, from the innermost on, a value is the same in all iterations."""
    count = 0
    outer = _above(node)
    maker = graph.node(value) or graph.binder(value)
    inside = set[OpNode]()
    while maker is not None:
        inside.add(maker)
        maker = _above(maker)
    while outer is not None and outer not in inside:
        count += isinstance(outer.op, LOOPS)
        outer = _above(outer)
    return count


def _above(node: OpNode) -> OpNode | None:
    return None if node.body is None else node.body.owner


def _decompose(graph: Graph, node: OpNode, map: Applied) -> None:
    graph.update(node, maps={"expr": map})
    match map.trees:
        case ((("+" | "*") as operator, left, right),) if not map.dims and not (
            isinstance(left, int | str) and isinstance(right, int | str)
        ):
            pass
        case _:
            return
    parts: list[Tree] = []
    rest: Tree = map.trees[0]
    while isinstance(rest, tuple) and rest[0] == operator:
        _, rest, last = rest
        parts.append(last)
    parts = sorted((*parts, rest), key=_last_symbol)
    facts = GraphFacts(graph)
    steps = [affine_maps.canonical(Applied((part,), (), map.symbols), facts) for part in parts]
    current = _inserted(graph, node, steps[0])
    for step in steps[1:]:
        both = Applied(((operator, "s0", "s1"),), (), (current, _inserted(graph, node, step)))
        current = _inserted(graph, node, both)
    graph.replace(node, (current,))


def _last_symbol(tree: Tree) -> int:
    return max((int(position[1:]) for position in written.positions(tree)), default=-1)


def _inserted(graph: Graph, node: OpNode, map: Applied) -> Value:
    result = Value(INDEX)
    graph.insert(affine.Apply(result, Affine(), location=node.op.location), node, {"expr": map})
    return result
