"""Rules for the affine operations that compute or access: their maps, minima, maxima."""

from __future__ import annotations

from affdsl.ir import written
from affdsl.ir.applied import Applied
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine
from affdsl.passes.affine import maps as affine_maps
from affdsl.passes.cleanup.canonicalize.facts import GraphFacts
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.cleanup.canonicalize.rules import Folded, Known, Rules

Extreme = affine.Min | affine.Max
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def fold_apply(graph: Graph, op: affine.Apply) -> Folded:
    """An affine.apply of one value alone, or of constants."""
    node = graph.node(op.result)
    assert node is not None
    map = node.maps["expr"]
    match map.trees:
        case (str() as position,):
            return map.value(position)
    return _constant(affine_maps.with_numbers(map, GraphFacts(graph)), is_max=True)


def _constant(map: Applied, *, is_max: bool) -> Known | None:
    numbers = map.constants
    if numbers is None:
        return None
    found = max(numbers) if is_max else min(numbers)
    return Known(found) if all(_LEAST <= n <= _MOST for n in numbers) else None


def fold_extreme(graph: Graph, op: Extreme) -> Folded:
    """The minimum or maximum of constants."""
    node = graph.node(op.result)
    assert node is not None
    map = affine_maps.with_numbers(node.maps["exprs"], GraphFacts(graph))
    if len(map.trees) == 1 and isinstance(map.trees[0], str) and not map.dims and len(map.symbols) == 1:
        return map.symbols[0]
    return _constant(map, is_max=isinstance(op, affine.Max))


def with_constants(graph: Graph, node: OpNode, op: Extreme) -> bool:
    """Constant operands become part of the map."""
    return graph.remap(node, {"exprs": affine_maps.with_numbers(node.maps["exprs"], GraphFacts(graph))})


def simplify_maps(graph: Graph, node: OpNode, op: object) -> bool:
    """Every map of an operation composed, in order, flattened, and with what the enclosing loops decide left out."""
    facts = GraphFacts(graph)
    return graph.remap(node, {name: simplify_map(m, facts) for name, m in node.maps.items()})


def simplify_map(map: Applied, facts: GraphFacts) -> Applied:
    """One map as `simplify_maps` makes it."""
    return affine_maps.simplified(affine_maps.canonical(affine_maps.composed(map, facts), facts), facts)


def compose_maps(graph: Graph, node: OpNode, op: object) -> bool:
    """Every map of an operation composed, in order, and flattened."""
    facts = GraphFacts(graph)
    return graph.remap(node, {name: affine_maps.composed(m, facts) for name, m in node.maps.items()})


def without_duplicates(graph: Graph, node: OpNode, op: Extreme) -> bool:
    """Each result of a minimum or maximum once."""
    return graph.remap(node, {"exprs": affine_maps.unique(node.maps["exprs"])})


def merge_nested(graph: Graph, node: OpNode, op: Extreme) -> bool:
    """A minimum of minima is one minimum, and likewise for maxima."""
    map = node.maps["exprs"]
    kept: list[written.Tree] = []
    inner: list[Applied] = []
    for tree in map.trees:
        source = graph.node(map.value(tree)) if isinstance(tree, str) else None
        if source is not None and type(source.op) is type(op):
            inner.append(source.maps["exprs"])
        else:
            kept.append(tree)
    if not inner:
        return False
    dims, symbols = map.dims, map.symbols
    for m in inner:
        kept += affine_maps.shifted(m, len(dims), len(symbols))
        dims, symbols = (*dims, *m.dims), (*symbols, *m.symbols)
    graph.update(node, maps={"exprs": Applied(tuple(kept), dims, symbols)})
    return True


def single_result(graph: Graph, node: OpNode, op: Extreme) -> bool:
    """The minimum or maximum of one expression is an affine.apply."""
    map = node.maps["exprs"]
    if len(map.trees) != 1:
        return False
    graph.update(node, affine.Apply(op.result, Affine(), location=op.location), {"expr": map})
    return True


def sorted_results(graph: Graph, node: OpNode, op: Extreme) -> bool:
    """The results of a minimum or maximum in the order of their coefficients."""
    new = affine_maps.in_order(node.maps["exprs"])
    if new is None:
        return False
    graph.update(node, maps={"exprs": new})
    return True


_ACCESS = (simplify_maps,)
_EXTREME = (with_constants, without_duplicates, merge_nested, simplify_maps, single_result, sorted_results)

AFFINE_VALUES = Rules(
    folds={
        affine.Apply: fold_apply, affine.Min: fold_extreme, affine.Max: fold_extreme,
    },
    rules={
        affine.Load: _ACCESS, affine.Store: _ACCESS, affine.VectorLoad: _ACCESS, affine.VectorStore: _ACCESS,
        affine.Prefetch: _ACCESS, affine.Apply: _ACCESS, affine.Min: _EXTREME, affine.Max: _EXTREME,
    },
)  # fmt: skip
