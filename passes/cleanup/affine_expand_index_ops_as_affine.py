"""Turns affine.delinearize_index and affine.linearize_index into affine.apply."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir import written
from affdsl.ir.applied import Applied
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.mixed import Mixed
from affdsl.ir.types import INDEX
from affdsl.ir.written import Tree
from affdsl.passes.affine import maps as affine_maps
from affdsl.passes.cleanup.canonicalize import TABLES
from affdsl.passes.cleanup.canonicalize.driver import Limits, drive
from affdsl.passes.cleanup.canonicalize.facts import GraphFacts
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.cleanup.canonicalize.rules import Rules


def affine_expand_index_ops_as_affine(module: Module) -> Module:
    """The same program with affine.delinearize_index and affine.linearize_index as affine.apply.

        %d:2 = affine.delinearize_index %i into (3, 4)      ->  affine.apply (i floordiv 4), affine.apply (i mod 4)
        %l = affine.linearize_index [%i, %j] by (3, 4)      ->  affine.apply (i * 4 + j)

    One that multiplies or divides by a value that is no symbol stays: no affine expression says it. Constants are
    folded on the way, and each stands once, at the start of its function.

    >>> from affdsl.mlir.readers import parse
    >>> print(affine_expand_index_ops_as_affine(parse('''func.func @f(%i: index, %n: index) -> (index, index) {
    ...     %d:2 = affine.delinearize_index %i into (%n) : index, index
    ...     return %d#0, %d#1 : index, index
    ... }''')).functions[0])
    func.func @f(%i: index, %n: index) -> (index, index) {
      %0 = affine.apply affine_map<()[s0, s1] -> (s0 floordiv s1)>()[%i, %n]
      %1 = affine.apply affine_map<()[s0, s1] -> (s0 mod s1)>()[%i, %n]
      return %0, %1 : index, index
    }
    """
    graph = Graph(module)
    drive(graph, _AS_AFFINE, Limits(top_down=False))
    result = graph.result()
    assert isinstance(result, Module), "the root stays"
    return result


class _Applies(GraphFacts):
    """What a graph says of values, and of some that are computed by affine.apply, if they are computed at all."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self._made: dict[Value, Applied] = {}

    def apply_of(self, value: Value) -> Applied | None:
        """The map of the affine.apply that defines a value, or would."""
        return self._made.get(value) or super().apply_of(value)

    def of(self, tree: Tree, dims: Sequence[Value], symbols: Sequence[Value]) -> int | Value:
        """The number or the value that a tree stands for."""
        map = affine_maps.composed(Applied((tree,), tuple(dims), tuple(symbols)), self)
        match map.trees[0]:
            case int(number):
                return number
            case str(position):
                return map.value(position)
            case _:
                self._made[found := Value(INDEX)] = map
                return found

    def computed(self, found: int | Value, node: OpNode) -> Value:
        """A number or value, by an operation before a node if it is not there."""
        if isinstance(found, int):
            return self.graph.constant(found, INDEX, node)
        map = self._made.get(found)
        if map is not None:
            op = affine.Apply(found, Affine(), location=node.op.location, attributes=node.op.attributes)
            self.graph.insert(op, node, {"expr": map})
        return found


def _digits_applied(graph: Graph, node: OpNode, op: affine.DelinearizeIndex) -> bool:
    facts = _Applies(graph)
    sizes = op.radices[1:] if len(op.radices) == len(op.results) else op.radices
    if not _are_affine([op.linear_index], sizes, facts):
        return False
    strides: list[int | Value] = []
    for size in reversed(sizes):
        strides.append(_product(size, strides[-1] if strides else 1, facts))
    rest: int | Value = op.linear_index
    found: list[int | Value] = []
    for stride in reversed(strides):
        (dividend, divisor), dims = _positions("d", (rest, stride))
        found.append(facts.of(written.floordiv(dividend, divisor), dims, ()))
        rest = facts.of(written.mod(dividend, divisor), dims, ())
    graph.replace(node, [facts.computed(each, node) for each in (*found, rest)])
    return True


def _sum_applied(graph: Graph, node: OpNode, op: affine.LinearizeIndex) -> bool:
    facts = _Applies(graph)
    sizes = op.radices[1:] if op.radices and len(op.radices) == len(op.indices) else op.radices
    if not _are_affine(op.indices, sizes, facts):
        return False
    strides: list[int | Value] = [1]
    for size in reversed(sizes):
        strides.append(_product(strides[-1], size, facts))
    parts = [part for pair in zip(op.indices, reversed(strides), strict=True) for part in pair]
    trees, symbols = _positions("s", parts)
    total: Tree = 0
    for digit, stride in zip(trees[::2], trees[1::2], strict=True):
        total = written.add(total, written.mul(digit, stride))
    graph.replace(node, (facts.computed(facts.of(total, (), symbols), node),))
    return True


def _product(left: int | Value, right: int | Value, facts: _Applies) -> int | Value:
    (a, b), symbols = _positions("s", (left, right))
    return facts.of(written.mul(a, b), (), symbols)


def _positions(letter: str, parts: Sequence[int | Value]) -> tuple[list[Tree], list[Value]]:
    """Numbers, and positions for values, with the values that stand there."""
    values = [part for part in parts if isinstance(part, Value)]
    places = iter(range(len(values)))
    return [part if isinstance(part, int) else f"{letter}{next(places)}" for part in parts], values


def _are_affine(indices: Sequence[Value], sizes: Mixed, facts: _Applies) -> bool:
    return all(map(facts.is_dim, indices)) and all(isinstance(s, int) or facts.is_symbol(s) for s in sizes)


_AS_AFFINE = (
    *(Rules(folds=table.folds) for table in TABLES),
    Rules(rules={affine.DelinearizeIndex: (_digits_applied,), affine.LinearizeIndex: (_sum_applied,)}),
)
