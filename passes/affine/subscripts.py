"""Accesses at integers that turn out to be affine, with affine subscripts."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.magnitude import is_small
from affdsl.ir.traverse import OpT, definitions, rewrite, without_unread
from affdsl.ir.types import IndexType, IntegerType, MemRefType
from affdsl.ir.verifier.positions import Positions
from affdsl.passes.affine.positions import are_valid


class Indices:
    """What integers are as affine expressions: as is known of them, or as what makes them says.

    Sums are taken not to wrap, which holds of subscripts: one that does is outside of its array.
    """

    def __init__(self, makers: Mapping[Value, Op], known: Mapping[Value, Affine] | None = None) -> None:
        self._makers = makers
        self._known: dict[Value, Affine | None] = {**(known or {})}

    def know(self, value: Value, expr: Affine) -> None:
        """Take a value for an expression from now on."""
        self._known[value] = expr

    def expr(self, value: Value) -> Affine | None:
        """An integer as an affine expression, an index at least as itself; None where it is not known to be one."""
        if value in self._known:
            return self._known[value]
        found: Affine | None = None
        match self._makers.get(value):
            case affine.Apply(expr=expr):
                found = expr
            case arith.Constant(value=int() as number):
                found = Affine.of(number)
            case arith.Cast(kind="index_cast", operand=operand) if is_long(value) and is_long(operand):
                found = self.expr(operand)
            case arith.Binary(kind="addi" | "subi" as kind, left=left, right=right) if is_long(value):
                a, b = self.expr(left), self.expr(right)
                if a is not None and b is not None:
                    found = a + b if kind == "addi" else a - b
        if found is None and isinstance(value.type, IndexType):
            found = Affine.of(value)
        self._known[value] = found
        return found


def exact_indices(root: Op) -> Indices:
    """What integers are, whatever that is for, as far as operations inside root say so."""
    return Indices({v: op for v, op in definitions(root).items() if isinstance(op, affine.Apply | arith.Cast)})


def with_affine_subscripts(root: OpT, indices: Indices, positions: Positions) -> OpT:
    """root with affine subscripts where accesses turn out to be at such, without the numbers that nothing reads then.

    >>> from affdsl.mlir.readers import parse
    >>> from affdsl.passes.affine.positions import positions_of
    >>> f = parse('''func.func @f(%n: index, %A: memref<?xf32>, %x: f32) {
    ...   %0 = affine.apply affine_map<()[s0] -> (s0 - 1)>()[%n]
    ...   memref.store %x, %A[%0] : memref<?xf32>
    ...   return
    ... }''').functions[0]
    >>> print(with_affine_subscripts(f, exact_indices(f), positions_of(f)))
    func.func @f(%n: index, %A: memref<?xf32>, %x: f32) {
      affine.store %x, %A[%n - 1] : memref<?xf32>
      return
    }
    """

    def rule(op: Op) -> Op | None:
        if not isinstance(op, memref.Load | memref.Store) or not isinstance(op.memref.type, MemRefType):
            return None
        index = tuple(e for e in map(indices.expr, op.indices) if e is not None and is_small(e))
        if index == tuple(map(Affine.of, op.indices)) or len(index) < len(op.indices):
            return None
        if not are_valid(index, positions):
            return None
        if isinstance(op, memref.Load):
            return affine.Load(op.result, op.memref, index, location=op.location, attributes=op.attributes)
        return affine.Store(op.value, op.memref, index, location=op.location, attributes=op.attributes)

    return without_unread(rewrite(root, rule), _is_number)


def _is_number(op: Op) -> bool:
    return isinstance(op, affine.Apply) or (isinstance(op, arith.Cast) and op.kind == "index_cast")


def is_long(value: Value) -> bool:
    """Whether an integer has as many bits as an index."""
    return isinstance(value.type, IndexType) or value.type == IntegerType(64)
