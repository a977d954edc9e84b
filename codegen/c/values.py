"""Operations that only compute: as expressions, folded into their use or under a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from affdsl.errors import UnsupportedError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.interpreter.lanes import has_vectors
from affdsl.ir.messages import op_name
from affdsl.ir.types import IndexType, VectorType
from codegen.c import tables
from codegen.c.expressions import (
    Code,
    call,
    choose,
    infix,
    negate,
    number,
)
from codegen.c.lanes import lane_type
from codegen.c.types import scalar, suffix, value_type
from codegen.c.vectors import Vectors


class Values(Vectors):
    """Writes operations without an effect."""

    def _pure(self, op: Op) -> None:
        if has_vectors(op):
            self._lanewise(op)
            return
        match op:
            case arith.Constant() if isinstance(op.result.type, VectorType):
                self._vector_constant(op)
            case arith.Constant():
                self._constant(op)
            case affine.Apply():
                self._apply(op)
            case memref.Dim():
                self._dim(op)
            case affine.Min() | affine.Max():
                self._check_divisors(op, op.exprs)
                stem = "min" if isinstance(op, affine.Min) else "max"
                ends = [self._ranges.of(self._resolve(e)) for e in op.exprs]
                self._define(op.result, self._extreme(op.exprs, stem))
                lows, highs = [low for low, _ in ends], [high for _, high in ends]
                if stem == "min":
                    self._ranges.know(op.result, _all(min, lows), _any(min, highs))
                else:
                    self._ranges.know(op.result, _any(max, lows), _all(max, highs))
            case affine.Load() | memref.Load():
                self._load(op)
            case arith.Extended():
                left, right = self._stable(op.left), self._stable(op.right)
                low, high = tables.extended(op.kind, scalar(op.left.type), left, right, self.unit)
                if op.kind == "addui_extended":
                    named = Code(self._declare(op.low.hint, "sum", value_type(op.low.type), low))
                    self.used.add(named.text)
                    self._codes[op.low] = named
                    high = call(self.unit.helper(f"carry_{suffix(scalar(op.left.type))}"), named, left)
                elif self._uses[op.low]:
                    self._define(op.low, low)
                if self._uses[op.high]:
                    self._define(op.high, high)
            case _ if op.name.startswith("vector."):
                self._vector(op)
            case _:
                result = next(iter(op.defines()))
                self._define(result, self._arithmetic(op, self._value))

    def _lanewise(self, op: Op) -> None:
        """An operation on scalars, for each lane."""
        single = {v: self._again(v) for v in dict.fromkeys(op.reads()) if not isinstance(v.type, VectorType)}

        def of(lane: Code) -> Callable[[Value], Code]:
            return lambda v: single[v] if v in single else self._flat_lane(v, lane)

        if isinstance(op, arith.Extended):
            self._extended_lanes(op)
            return
        (result,) = op.defines()
        self._fill_flat(result, lambda lane: self._arithmetic(op, of(lane)))

    def _extended_lanes(self, op: arith.Extended) -> None:
        kind = lane_type(op.left)

        def both(lane: Code) -> tuple[Code, Code]:
            left, right = self._flat_lane(op.left, lane), self._flat_lane(op.right, lane)
            return tables.extended(op.kind, kind, left, right, self.unit)

        if self._uses[op.low]:
            self._fill_flat(op.low, lambda lane: both(lane)[0])
        if self._uses[op.high]:
            self._fill_flat(op.high, lambda lane: both(lane)[1])

    def _arithmetic(self, op: Op, value: Callable[[Value], Code]) -> Code:
        """What an operation computes; `value` gives its operands, or a lane of each."""
        unit = self.unit
        match op:
            case arith.Binary() | math.Binary():
                left, right = value(op.left), value(op.right)
                return tables.binary(op.kind, lane_type(op.result), left, right, unit)
            case math.Unary():
                return tables.unary(op.kind, lane_type(op.operand), value(op.operand), unit)
            case math.Fma():
                return tables.fma(lane_type(op.result), value(op.a), value(op.b), value(op.c), unit)
            case arith.Negate():
                return negate(value(op.operand))
            case arith.Compare():
                return tables.compare(op.predicate, lane_type(op.left), value(op.left), value(op.right), unit)
            case arith.Cast():
                source, target = lane_type(op.operand), lane_type(op.result)
                return tables.convert(op.kind, source, target, value(op.operand), unit, op.rounding)
            case arith.Select():
                return tables.select(lane_type(op.result), value(op.condition), value(op.if_true), value(op.if_false))
        raise UnsupportedError(f"C output does not know the operation {op_name(op)} yet")

    def _constant(self, op: arith.Constant) -> None:
        kind = scalar(op.result.type)
        assert not isinstance(op.value, tuple), "a scalar is one number"
        if isinstance(kind, IndexType):
            self._affine[op.result] = Affine.of(int(op.value))
            return
        shown = tables.headers_of(tables.literal(op.value, kind), self.unit)
        if op.result.hint:
            self._name(op.result, shown)
        else:
            self._codes[op.result] = shown

    def _apply(self, op: affine.Apply) -> None:
        self._check_divisors(op, [op.expr])
        expr = self._resolve(op.expr)
        low, high = self._ranges.of(expr)
        self._ranges.know(op.result, low, high)
        pending = any(v in self._pending for v in expr.values())
        simple = len(expr.terms) + bool(expr.constant) <= 2 or self._uses[op.result] == 1
        if simple and not op.result.hint and not pending:
            self._affine[op.result] = expr
        else:
            self._define(op.result, self._expression(expr))

    def _dim(self, op: memref.Dim) -> None:
        buffer = self._buffers[op.memref]
        position = self._resolve(Affine.of(op.index))
        sizes = [self._size(buffer, k) for k in range(buffer.type.rank)]
        if position.is_constant and 0 <= position.constant < len(sizes):
            self._affine[op.result] = self._resolve(sizes[position.constant])
            return
        chosen = self._stable(op.index) if not position.is_constant else number(position.constant)
        shown = self._expression(sizes[-1])
        for k in range(len(sizes) - 2, -1, -1):
            shown = choose(infix("==", chosen, number(k)), self._expression(sizes[k]), shown)
        self._ranges.know(op.result, 0)
        self._name(op.result, shown)

    def _extreme(self, exprs: Sequence[Affine], stem: str) -> Code:
        shown = self._expression(exprs[0])
        for expr in exprs[1:]:
            shown = call(self.unit.helper(f"{stem}_i64"), shown, self._expression(expr))
        return shown


def _all(pick: object, ends: Sequence[int | None]) -> int | None:
    known = [e for e in ends if e is not None]
    if len(known) < len(ends):
        return None
    return min(known) if pick is min else max(known)


def _any(pick: object, ends: Sequence[int | None]) -> int | None:
    known = [e for e in ends if e is not None]
    if not known:
        return None
    return min(known) if pick is min else max(known)
