"""Turns memref.load and memref.store into affine.load and affine.store where their indices are affine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affdsl.ir.applied import Applied
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Value
from affdsl.ir.magnitude import is_small
from affdsl.ir.traverse import definitions, rewrite
from affdsl.ir.types import INDEX, MemRefType
from affdsl.ir.verifier.positions import Position, Positions
from affdsl.ir.written import Tree, add, mul, positions
from affdsl.passes.affine.positions import PositionNames, are_valid, exprs_of, positions_of, spelled

MOST_TERMS = 64
"""An index with more terms stays one value: sums of products could grow without end."""


def affine_raise_from_memref(module: Module) -> Module:
    """The same program with affine subscripts where arithmetic on loop counters, symbols and constants made indices.

        %0 = arith.addi %i, %c1
        %1 = arith.muli %j, %n
        memref.load %A[%0, %1]       ->      affine.load %A[%i + 1, %j * symbol(%n)]

    Sums, differences, and products with a symbol or number are seen through. Index arithmetic is taken not to wrap: an
    index that does lies outside of every buffer. The arithmetic stays, for others to use or to be removed.

    >>> from affdsl.mlir.readers import parse
    >>> print(affine_raise_from_memref(parse('''func.func @f(%n: index, %A: memref<?xf32>, %x: f32) {
    ...     %c1 = arith.constant 1 : index
    ...     %0 = arith.subi %n, %c1 : index
    ...     memref.store %x, %A[%0] : memref<?xf32>
    ...     return
    ... }''')).functions[0].body[-1])
    affine.store %x, %A[symbol(%n) - 1] : memref<?xf32>
    """
    raising = _Raising(positions_of(module), definitions(module))

    def rule(op: Op) -> Op | None:
        if not isinstance(op, memref.Load | memref.Store) or not isinstance(op.memref.type, MemRefType):
            return None
        trees = [raising.tree_of(v) for v in op.indices]
        known = [t for t in trees if t is not None]
        if len(known) < len(trees):
            return None
        index = raising.spelled(known)
        if not are_valid(exprs_of(index), raising.positions):
            return None
        if isinstance(op, memref.Load):
            return affine.Load(
                op.result, op.memref, exprs_of(index),
                location=op.location, attributes=op.attributes, written={"index": index},
            )  # fmt: skip
        return affine.Store(
            op.value, op.memref, exprs_of(index),
            location=op.location, attributes=op.attributes, written={"index": index},
        )  # fmt: skip

    return rewrite(module, rule)


class _Raising:
    """What values are as affine expressions, found when asked for; None for what is none."""

    def __init__(self, positions: Positions, makers: Mapping[Value, Op]) -> None:
        self.positions = positions
        self._makers = makers
        self._names = PositionNames()
        self._known: dict[Value, Tree | None] = {}

    def spelled(self, trees: Sequence[Tree]) -> Applied:
        """Trees as a map with its operands."""
        return spelled(trees, self._names.values, self.positions)

    def tree_of(self, value: Value) -> Tree | None:
        """An index as an affine expression of values that may stand in one."""
        pending = [value]
        while pending:
            current = pending[-1]
            waiting = [v for v in self._operands(current) if v not in self._known]
            if waiting and current not in self._known:
                pending += waiting
                continue
            pending.pop()
            if current not in self._known:
                self._known[current] = self._combined(current)
        return self._known[value]

    def _operands(self, value: Value) -> tuple[Value, ...]:
        """What is looked at before a value: the operands of arithmetic."""
        match self._makers.get(value):
            case arith.Binary(kind="addi" | "subi" | "muli", left=left, right=right) if value.type == INDEX:
                return (left, right)
        return ()

    def _combined(self, value: Value) -> Tree | None:
        match self._makers.get(value):
            case arith.Constant(value=int() as number):
                return number
            case arith.Binary(kind="addi" | "subi" | "muli" as kind, left=left, right=right) if value.type == INDEX:
                made = self._arithmetic(kind, self._known[left], self._known[right])
                if made is not None:
                    return made
        return None if self.positions.of(value) is Position.NONE else self._names[value]

    def _arithmetic(self, kind: str, left: Tree | None, right: Tree | None) -> Tree | None:
        """left <kind> right, if it is affine and not too large."""
        if left is None or right is None:
            return None
        match kind:
            case "addi":
                made = add(left, right)
            case "subi":
                made = add(left, mul(right, -1))
            case _ if self._is_symbolic(right):
                made = mul(left, right)
            case _ if self._is_symbolic(left):
                made = mul(right, left)
            case _:
                return None
        exprs = exprs_of(self.spelled([made]))
        small = sum(len(e.terms) for e in exprs) <= MOST_TERMS and _size(made) <= MOST_TERMS
        small = small and all(map(is_small, exprs))  # arithmetic wraps, and subscripts do not
        return made if small and are_valid(exprs, self.positions) else None

    def _is_symbolic(self, tree: Tree) -> bool:
        return all(self.positions.of(self._names.values[name]) is Position.SYMBOL for name in positions(tree))


def _size(tree: Tree) -> int:
    """The numbers and values that stand in a tree."""
    return _size(tree[1]) + _size(tree[2]) if isinstance(tree, tuple) else 1
