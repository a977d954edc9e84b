"""Folds what the ranges of integers decide: what can be one number alone, and remainders of what is small enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from affdsl.ir.attributes import IntegerAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith
from affdsl.ir.dialects.func import Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import IndexType, IntegerType
from affdsl.passes.affine.integer_ranges import IntegerRanges, index_places, machine
from affdsl.passes.analysis.effects import is_pure
from affdsl.passes.cleanup.canonicalize import TABLES
from affdsl.passes.cleanup.canonicalize.driver import drive
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.cleanup.canonicalize.rules import Rules
from affdsl.passes.simplify.ranges import Range


def int_range_optimizations(module: Module) -> Module:
    """The same program with constants for integers of which the ranges leave one number.

        %r = arith.andi %x, %c3         ->      %r = arith.andi %x, %c3
        %p = arith.cmpi slt, %r, %c4            (uses of %p become true, those of %s become %r)
        %s = arith.remsi %r, %c100

    Ranges are those of constants, loops, arithmetic, affine expressions, and of what operations of other dialects say.
    test.reflect_bounds is told the range of its operand. It never refuses.

    >>> from affdsl.mlir.readers import parse
    >>> print(int_range_optimizations(parse('''func.func @f(%x: i32) -> i1 {
    ...     %c3 = arith.constant 3 : i32
    ...     %c4 = arith.constant 4 : i32
    ...     %r = arith.andi %x, %c3 : i32
    ...     %p = arith.cmpi slt, %r, %c4 : i32
    ...     return %p : i1
    ... }''')).functions[0])
    func.func @f(%x: i32) -> i1 {
      %true = arith.constant true
      return %true : i1
    }
    """
    ranges, found = IntegerRanges(), dict[Op, _Known]()
    for op, context in index_places(module):
        ranges.learn(op, context)
        values = (*op.defines(), *op.reads())
        found[op] = {v: ranges.of(v, context) for v in values if isinstance(v.type, IndexType | IntegerType)}
    graph = Graph(module)
    for node, op in [(node, node.op) for node in graph.walk()]:
        _fold(graph, node, op, found.get(op, {}))
    drive(graph, _FOLDS)
    result = graph.result()
    assert isinstance(result, Module), "the root stays"
    return result


_Known: TypeAlias = Mapping[Value, Range]
"""Where the results and operands of one operation lie at its place: elsewhere an operand may lie farther out."""
_FOLDS = tuple(Rules(folds=table.folds) for table in TABLES)
"""What mlir-opt folds on the way."""


def _fold(graph: Graph, node: OpNode, before: Op, known: _Known) -> None:
    """Fold a node, whose operation was another one before what it reads was folded."""
    op = node.op
    match op, before:
        case arith.Constant(), _:
            return
        case arith.Binary(kind="remsi" | "remui"), arith.Binary(left=left, right=right) if _is_below(
            known, left, right
        ):
            graph.replace(node, (op.left,))
            return
        case Opaque(kind="test.reflect_bounds"), Opaque(operands=(source,)) if source in known:
            graph.update(node, with_fields(op, properties=_bounds(source, known[source])))
            return
    match tuple(op.defines()):
        case (result,) if result in known and is_pure(op) and not node.regions:
            if (number := known[result].value) is not None:
                is_truth = result.type == IntegerType(1)
                new = graph.constant(bool(number) if is_truth else number, result.type, node)
                graph.replace(node, (new,))


def _is_below(known: _Known, left: Value, right: Value) -> bool:
    if left not in known or right not in known:
        return False
    low, high, least = known[left].low, known[left].high, known[right].low
    return low is not None and high is not None and least is not None and low >= 0 and high < least


def _bounds(value: Value, where: Range) -> tuple[tuple[str, IntegerAttr], ...]:
    """The ends as signed and as unsigned numbers, as attributes."""
    type = value.type
    assert isinstance(type, IndexType | IntegerType), "only integers have ranges"
    found = where.both(machine(type))
    low, high = found.low or 0, found.high or 0
    natural = (low, high) if low >= 0 else (0, -1)  # all bits set is the largest one
    ends = {"smax": high, "smin": low, "umax": natural[1], "umin": natural[0]}
    return tuple((name, IntegerAttr(number, type)) for name, number in ends.items())
