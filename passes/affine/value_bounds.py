"""What an index, or a size of a tensor, is or is at most, in terms of other values: through definitions and loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from affdsl.ir.attributes import DenseArrayAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, scf
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Affine, Value
from affdsl.ir.opaque_types import shaped
from affdsl.ir.traverse import walk
from affdsl.ir.types import INDEX
from affdsl.mlir.linalg import NAMED
from affdsl.passes.simplify.ranges import ANY, Range, between, range_of

Allowed = Callable[[Value], bool]
"""Whether a value may stand in a bound."""
_OPEN = str(-(1 << 63))
"""What stands in a list of numbers where there is a value."""


class ValueBounds:
    """Bounds of the values of one program.

    A size or index is what its definition says: affine.apply, constants, and tensors that have the shape of others.
    Counters of loops lie within the bounds of their loops, minima below each of their expressions.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%n: index) {
    ...     affine.for %i = 0 to %n step 4 {
    ...       %s = affine.min affine_map<(d0)[s0] -> (s0 - d0, 4)>(%i)[%n]
    ...       %t = tensor.empty(%s) : tensor<8x?xf32>
    ...       "test.use"(%t) : (tensor<8x?xf32>) -> ()
    ...     }
    ...     return
    ... }''').functions[0]
    >>> bounds, (s, t) = ValueBounds(f), [op.defines() for op in f.body[0].body[:2]]
    >>> (s,), (t,) = s, t
    >>> [bounds.upper(bounds.size(t, axis), lambda value: False).constant for axis in (0, 1)]
    [8, 4]
    """

    def __init__(self, root: Op) -> None:
        self._makers: dict[Value, Op] = {}
        for op in walk(root):
            self._makers.update(dict.fromkeys((*op.defines(), *op.binds()), op))
        self._order = {value: k for k, value in enumerate(self._makers)}
        self._indices: dict[Value, Affine] = {}
        self._ranges: dict[Value, Range] = {}

    def index(self, value: Value) -> Affine:
        """An index by what it is defined as: as one expression of values that nothing here defines."""
        found = self._indices.get(value)
        if found is None:
            found = self._indices[value] = self._index(value)
        return found

    def _index(self, value: Value) -> Affine:
        match self._makers.get(value):
            case affine.Apply(expr=expr):
                return expr.substitute({v: self.index(v) for v in expr.values()})
            case arith.Constant(value=int(number)) if value.type == INDEX:
                return Affine((), number)
            case Opaque(kind="tensor.dim", operands=(tensor, axis)):
                where = self.index(axis)
                size = self.size(tensor, where.constant) if where.is_constant else None
                return Affine.of(value) if size is None else size
        return Affine.of(value)

    def size(self, tensor: Value, axis: int) -> Affine | None:
        """The size of a tensor along a dimension; None where no operation says it."""
        type = shaped(tensor.type)
        if type is None or type.shape is None or not 0 <= axis < len(type.shape):
            return None
        if (known := type.shape[axis]) is not None:
            return Affine((), known)
        match self._makers.get(tensor):
            case Opaque(kind="tensor.empty", operands=sizes):
                return self.index(sizes[type.shape[:axis].count(None)])
            case Opaque(kind="tensor.cast", operands=(source,)):
                return self.size(source, axis)
            case Opaque(kind="tensor.insert" | "tensor.insert_slice", operands=(_, target, *_)):
                return self.size(target, axis)
            case Opaque(kind="tensor.extract_slice") as op:
                return self._of_slice(op, axis, len(type.shape))
            case Opaque(kind=kind, operands=operands, results=results) if kind in NAMED or kind == "linalg.generic":
                return self.size(operands[len(operands) - len(results) + results.index(tensor)], axis)
        return None

    def _of_slice(self, op: Opaque, axis: int, rank: int) -> Affine | None:
        said = dict(op.properties)
        match said.get("static_sizes"), said.get("operandSegmentSizes"):
            case DenseArrayAttr(items=sizes), DenseArrayAttr(items=counts) if len(sizes) == rank:
                first = int(counts[0]) + int(counts[1])
                return self.index(op.operands[first + sizes[:axis].count(_OPEN)])
        return None

    def upper(self, expr: Affine, allowed: Allowed) -> Affine | None:
        """What an expression is at most, in terms of values that are allowed: a number, if one is known; or None."""
        expr = expr.substitute({v: self.index(v) for v in expr.values()})
        where = self.range_of(expr)
        if where.high is not None:
            return Affine((), where.high)
        others = [v for v in expr.values() if not allowed(v)]
        if not others:
            return expr
        latest = max(others, key=lambda v: self._order.get(v, -1))
        factor = dict(expr.terms).get(latest)
        rest = expr - Affine(((latest, factor),)) if factor is not None else expr
        if factor is None or latest in rest.values():
            return None
        ends = self._ends(latest, is_high=factor > 0)
        found = (self.upper(rest + end * factor, allowed) for end in ends)
        return next((bound for bound in found if bound is not None), None)

    def lower(self, expr: Affine, allowed: Allowed) -> Affine | None:
        """What an expression is at least."""
        found = self.upper(expr * -1, allowed)
        return None if found is None else found * -1

    def range_of(self, expr: Affine) -> Range:
        """The numbers that an expression can be."""
        return range_of(expr, self._range)

    def _range(self, value: Value) -> Range:
        found = self._ranges.get(value)
        if found is None:
            found = self._ranges[value] = self._range_anew(value)
        return found

    def _range_anew(self, value: Value) -> Range:
        expr = self.index(value)
        if expr.value is not value:
            return self.range_of(expr)
        ranges = [self._within(self._ends(value, is_high=high), is_high=high) for high in (False, True)]
        return ranges[0].both(ranges[1])

    def _within(self, ends: Sequence[Affine], *, is_high: bool) -> Range:
        where = ANY
        for end in ends:
            found = self.range_of(end)
            where = where.both(between(None, found.high) if is_high else between(found.low, None))
        return where

    def _ends(self, value: Value, *, is_high: bool) -> Sequence[Affine]:
        """Expressions none of which a value exceeds, upwards or downwards."""
        match self._makers.get(value):
            case affine.Min(exprs=exprs) if is_high:
                return exprs
            case affine.Max(exprs=exprs) if not is_high:
                return exprs
            case affine.For(iv=iv, lower=lower, upper=upper) if iv is value:
                return [bound - 1 for bound in upper] if is_high else lower
            case scf.For(iv=iv, lower=first, upper=last) if iv is value and value.type == INDEX:
                return [Affine.of(last) - 1] if is_high else [Affine.of(first)]
        return ()
