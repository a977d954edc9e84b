"""Rules for affine loops and conditions."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.applied import Applied
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Value
from affdsl.passes.affine import maps as affine_maps
from affdsl.passes.cleanup.canonicalize.affine_values import compose_maps
from affdsl.passes.cleanup.canonicalize.facts import GraphFacts
from affdsl.passes.cleanup.canonicalize.graph import Body, Graph, OpNode
from affdsl.passes.cleanup.canonicalize.rules import Rules

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def simplify_bounds(graph: Graph, node: OpNode, op: affine.For) -> bool:
    """Bounds that are constants, composed maps, and only those results that can decide."""
    lower, upper = _folded(graph, node, "lower"), _folded(graph, node, "upper")
    facts = GraphFacts(graph)
    lower = affine_maps.canonical(affine_maps.composed(lower, facts), facts)
    lower = affine_maps.unique(affine_maps.irredundant(lower, facts, is_max=True))
    upper = affine_maps.composed(affine_maps.irredundant(upper, facts, is_max=False), facts)
    upper = affine_maps.unique(affine_maps.canonical(upper, facts))
    return graph.remap(node, {"lower": lower, "upper": upper})


def _folded(graph: Graph, node: OpNode, name: str) -> Applied:
    """The bounds, or the number that decides if they are all constants."""
    map = node.maps[name]
    numbers = affine_maps.with_numbers(map, GraphFacts(graph)).constants
    if numbers is None or (len(map.trees) == 1 and isinstance(map.trees[0], int)):
        return map
    found = max(numbers) if name == "lower" else min(numbers)
    return Applied((found,), (), ()) if _LEAST <= found <= _MOST else map


def trip_count(node: OpNode) -> int | None:
    """How often a loop with constant bounds runs."""
    op, lower, upper = node.op, node.maps["lower"], node.maps["upper"]
    assert isinstance(op, affine.For)
    match lower.trees, upper.trees:
        case (int() as low,), (int() as high,):
            return max(0, -(-(high - low) // op.step))
    return None


def never_runs(graph: Graph, node: OpNode, op: affine.For) -> bool:
    """What a loop that does not run yields is what it was given."""
    if op.results and trip_count(node) == 0:
        graph.replace(node, op.inits)
        return True
    return False


def empty_loop(graph: Graph, node: OpNode, op: affine.For) -> bool:
    """A loop that only yields values, where these are known."""
    body = node.region("body")
    if not op.results or not body.is_empty:
        return False
    last = body.terminator
    assert last is not None
    count, results = trip_count(node), list[Value]()
    is_outside = is_moved = False
    for position, value in enumerate(last.reads):
        if value is op.iv:
            return False
        if value in op.carried:
            source = op.carried.index(value)
            is_moved |= source != position
            results.append(op.inits[source])
        else:
            is_outside = True
            results.append(value)
    if (count is None and (is_outside or is_moved)) or (count is not None and count >= 2 and is_moved):
        return False
    graph.replace(node, results)
    return True


def compose_condition(graph: Graph, node: OpNode, op: affine.If) -> bool:
    """The set with affine.apply written out, where one of its operands is one, and its operands in order."""
    facts, old = GraphFacts(graph), node.maps["condition"]
    new = old
    if any(facts.apply_of(v) is not None for v in old.operands):
        new = affine_maps.composed(old, facts)
    return graph.remap(node, {"condition": affine_maps.canonical(new, facts)})


def empty_else(graph: Graph, node: OpNode, op: affine.If | scf.If) -> bool:
    """An else that does nothing is left out."""
    orelse = node.region("orelse")
    if op.results or orelse.first is None or not orelse.is_empty:
        return False
    graph.erase(orelse.first)
    return True


def known_condition(graph: Graph, node: OpNode, op: affine.If) -> bool:
    """A condition that always holds, or never, leaves one block."""
    map = node.maps["condition"]
    assert map.equalities is not None
    if map.trees == (0,) and map.equalities == (True,):
        only_block(graph, node, node.region("then"))
        return True
    if map.trees == (1,) and map.equalities == (True,):
        only_block(graph, node, node.region("orelse"))
        return True
    return False


def only_block(graph: Graph, node: OpNode, body: Body) -> None:
    """Put the operations of a block in place of the node that holds it."""
    last = body.terminator
    values: Sequence[Value] = () if last is None else last.reads
    graph.inline(body, node)
    graph.replace(node, values)


AFFINE_LOOPS = Rules(
    rules={
        affine.For: (simplify_bounds, never_runs, empty_loop),
        affine.If: (compose_condition, empty_else, known_condition),
        affine.Parallel: (compose_maps,),
    },
)
