"""Random scalar values: every kind of arith and math whose result is exact, on operands at the edges of their types."""

from __future__ import annotations

import math as numbers

from affdsl.ir.dialects import affine, arith, math, memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.types import F16, F32, F64, I1, I8, I16, I32, I64, INDEX, FloatType, IntegerType, ScalarType
from tests.differential.frame import ANY, Buffer, Frame, closed, width

TYPES: tuple[ScalarType, ...] = (I1, I8, I16, I32, I64, INDEX, F16, F32, F64)

EXACT_UNARY = ("absf", "ceil", "floor", "round", "roundeven", "sqrt", "trunc")
DIVISIONS = ("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi")
SHIFTS = ("shli", "shrsi", "shrui")
FLOAT_EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-3, 100.75, numbers.inf, -numbers.inf, numbers.nan, 6e4, 1e30)


class Scalars(Frame):
    """Writes operations on scalars."""

    def value(self, type: ScalarType, depth: int = 2) -> Value:
        """A value of a type, new or not."""
        made = self._leaf(type) if depth <= 0 or self.chance(0.2) else self._operation_of(type, depth)
        if self.chance(0.3):
            self.scope.scalars.append(made)
        return made

    def _leaf(self, type: ScalarType) -> Value:
        pick = self.rng.random()
        visible = self.scalars(type)
        if visible and pick < 0.5:
            return self.rng.choice(visible[-5:] if self.chance(0.6) else visible)
        sources = [b for b in self.buffers() if b.element == type]
        if sources and pick < 0.85:
            return self.load(self.rng.choice(sources))
        if isinstance(type, FloatType):
            return self.constant(self.rng.choice(FLOAT_EDGES if self.chance(0.3) else FLOAT_EDGES[2:9]), type)
        indices = self.indices(ANY)
        if indices and self.chance(0.6):
            value = self.as_value(self.rng.choice(indices))
            return value if type == INDEX else self.define(type, arith.Cast, "index_cast", value)
        return self.constant(self._integer(type), type)

    def _integer(self, type: ScalarType) -> int:
        if type == I1:
            return self.rng.randint(0, 1)
        low, high = -(1 << (width(type) - 1)), (1 << (width(type) - 1)) - 1
        found = [0, 1, -1, 2, 3, 7, -5, 100, low, low + 1, high, high - 1]
        return self.rng.choice([n for n in found if low <= n <= high])

    def load(self, buffer: Buffer) -> Value:
        """An element of a buffer, where the subscript is in bounds."""
        if buffer.rank and self.chance(0.15):
            return self._gather(buffer)
        subscripts, guards = self.subscripts(buffer)
        if not guards:
            if self.chance(0.15):
                return self.define(buffer.element, memref.Load, buffer.value, tuple(map(self.as_value, subscripts)))
            return self.define(buffer.element, affine.Load, buffer.value, subscripts)
        with self.block() as then:
            loaded = self.define(buffer.element, affine.Load, buffer.value, subscripts)
        with self.block() as orelse:
            other = self.value(buffer.element, 0) if self.chance(0.3) else self._zero(buffer.element)
        result = Value(buffer.element, self.name())
        blocks = closed(then, affine.Yield((loaded,))), closed(orelse, affine.Yield((other,)))
        self.emit(affine.If(tuple(guards), *blocks, (result,)))
        return result

    def _gather(self, buffer: Buffer) -> Value:
        indices, inside = self.gather_indices(buffer)
        if inside is None:
            return self.define(buffer.element, memref.Load, buffer.value, indices)
        with self.block() as then:
            loaded = self.define(buffer.element, memref.Load, buffer.value, indices)
        with self.block() as orelse:
            other = self._zero(buffer.element)
        result = Value(buffer.element, self.name())
        self.emit(scf.If(inside, closed(then, scf.Yield((loaded,))), closed(orelse, scf.Yield((other,))), (result,)))
        return result

    def gather_indices(self, buffer: Buffer) -> tuple[tuple[Value, ...], Value | None]:
        """Subscripts computed from data, and an i1 that says whether they are in bounds (None: they are)."""
        indices: list[Value] = []
        inside: Value | None = None
        for k in range(buffer.rank):
            data = self.value(INDEX, 1)
            dim = self.dim_index(buffer, k)
            size = self.as_value(dim)
            if dim.lowest > 0 and self.chance(0.6):
                indices.append(self.define(INDEX, arith.Binary, "remui", data, size))
                continue
            # Not too large: gcc warns of a constant subscript that overflows, even where a test keeps it from running.
            data = self.define(INDEX, arith.Binary, "remsi", data, self.constant(1000, INDEX))
            indices.append(data)
            test = self.define(I1, arith.Compare, "cmpi", "ult", data, size)
            inside = test if inside is None else self.define(I1, arith.Binary, "andi", inside, test)
        return tuple(indices), inside

    def _zero(self, type: ScalarType) -> Value:
        return self.constant(0.0 if isinstance(type, FloatType) else 0, type)

    def _operation_of(self, type: ScalarType, depth: int) -> Value:
        pick = self.rng.random()
        if pick < 0.12:
            made = self._cast(type, depth)
            if made is not None:
                return made
        if pick < 0.2:
            condition = self.value(I1, depth - 1)
            return self.define(type, arith.Select, condition, self.value(type, depth - 1), self.value(type, depth - 1))
        if type == I1 and pick < 0.7:
            return self._comparison(depth)
        return self._float(type, depth) if isinstance(type, FloatType) else self._whole(type, depth)

    def _comparison(self, depth: int) -> Value:
        type = self.rng.choice(self.scalar_types())
        if isinstance(type, FloatType):
            if self.chance(0.25):
                kinds = math.FLOAT_TESTS if self.wild else ("isfinite", "isnan")  # the others have no way to LLVM
                return self.define(I1, math.Unary, self.rng.choice(kinds), self.value(type, depth - 1))
            predicate = self.rng.choice(arith.FLOAT_PREDICATES)
            kind = "cmpf"
        else:
            predicate, kind = self.rng.choice(arith.INTEGER_PREDICATES), "cmpi"
        return self.define(I1, arith.Compare, kind, predicate, self.value(type, depth - 1), self.value(type, depth - 1))

    def scalar_types(self) -> tuple[ScalarType, ...]:
        """The types that this program computes with."""
        return TYPES

    def _float(self, type: FloatType, depth: int) -> Value:
        pick = self.rng.random()
        if pick < 0.1:
            return self.define(type, arith.Negate, self.value(type, depth - 1))
        if pick < 0.35:
            kinds = (*EXACT_UNARY, "rsqrt") if self.wild else EXACT_UNARY
            return self.define(type, math.Unary, self.rng.choice(kinds), self.value(type, depth - 1))
        if pick < 0.45 and (self.wild or width(type) > 16):
            return self.define(type, math.Fma, *(self.value(type, depth - 1) for _ in range(3)))
        left, right = self.value(type, depth - 1), self.value(type, depth - 1)
        if pick < 0.5:
            return self.define(type, math.Binary, "copysign", left, self.quiet(right, type))
        if pick < 0.55 and self.wild:
            power = self.value(I32, 0)
            seven = self.constant(7, I32)
            return self.define(type, math.Binary, "fpowi", left, self.define(I32, arith.Binary, "remsi", power, seven))
        # Which zero llvm.maxnum gives for one of each sign is left open.
        kinds = tuple(k for k in arith.FLOAT_BINARY if self.wild or k not in ("maxnumf", "minnumf"))
        kind = self.rng.choice(kinds)
        if not self.wild and kind in ("maximumf", "minimumf"):
            left, right = self.positive_zero(left, type), self.positive_zero(right, type)
        return self.define(type, arith.Binary, kind, left, right)

    def positive_zero(self, value: Value, type: FloatType) -> Value:
        """value, and +0 where it is -0: mlir-opt's arith-expand forgets that one is larger than the other."""
        return self.define(type, arith.Binary, "addf", value, self.constant(0.0, type))

    def quiet(self, value: Value, type: FloatType) -> Value:
        """value, and a number where it is NaN, whose sign and payload no oracle promises."""
        test = self.define(I1, arith.Compare, "cmpf", "uno", value, value)
        return self.define(type, arith.Select, test, self.constant(1.5, type), value)

    def _whole(self, type: ScalarType, depth: int) -> Value:
        pick = self.rng.random()
        if pick < 0.1 and (self.wild or type != I1):
            return self.define(type, math.Unary, self.rng.choice(math.INTEGER_UNARY), self.value(type, depth - 1))
        left, right = self.value(type, depth - 1), self.value(type, depth - 1)
        if pick < 0.15 and (self.wild or type not in (I1, INDEX)):
            if not self.wild:
                right = self._masked(right, type, 7)
            return self.define(type, math.Binary, "ipowi", left, right)
        if pick < 0.22 and (self.wild or type not in (I1, INDEX)):
            return self._extended(type, left, right)
        kinds = arith.INTEGER_BINARY if self.wild or type != I1 else ("addi", "subi", "muli", "andi", "ori", "xori")
        kind = self.rng.choice(kinds)
        if not self.wild and kind in DIVISIONS:  # by zero and MIN / -1 have no meaning in MLIR
            right = self.define(type, arith.Binary, "ori", self._masked(right, type, 14), self.constant(1, type))
        if not self.wild and kind in SHIFTS:
            right = self._masked(right, type, width(type) - 1)
        return self.define(type, arith.Binary, kind, left, right)

    def _masked(self, value: Value, type: ScalarType, mask: int) -> Value:
        return self.define(type, arith.Binary, "andi", value, self.constant(mask, type))

    def _extended(self, type: ScalarType, left: Value, right: Value) -> Value:
        kind = self.rng.choice(arith.EXTENDED)
        low, high = Value(type, self.name()), Value(I1 if kind == "addui_extended" else type, self.name())
        self.emit(arith.Extended(low, high, kind, left, right))
        self.scope.scalars += [low, high]
        return low if high.type != type or self.chance(0.5) else high

    def _cast(self, type: ScalarType, depth: int) -> Value | None:
        source = self.rng.choice(self.scalar_types())
        kinds = _casts(source, type)
        if not kinds:
            return None
        kind = self.rng.choice(kinds)
        value = self.value(source, depth - 1)
        if isinstance(source, FloatType):
            if kind == "bitcast":
                value = self.quiet(value, source)
            if not self.wild and kind in ("fptosi", "fptoui"):
                value = self._bounded(value, source, 0.0 if type == I1 or kind == "fptoui" else -100.0, type)
        if not self.wild and kind in ("sitofp", "uitofp") and type == F16 and width(source) > 16:
            return None  # llc rounds twice
        return self.define(type, arith.Cast, kind, value)

    def _bounded(self, value: Value, source: FloatType, low: float, target: ScalarType) -> Value:
        """value within a range that the target has: beyond, MLIR gives no meaning."""
        high = 0.0 if target == I1 else 100.0
        quiet = self.quiet(value, source)
        quiet = self.positive_zero(quiet, source)
        above = self.define(source, arith.Binary, "maximumf", quiet, self.constant(low, source))
        return self.define(source, arith.Binary, "minimumf", above, self.constant(high, source))


def _casts(source: ScalarType, target: ScalarType) -> tuple[str, ...]:
    """The kinds of casts from one type to another."""
    match source, target:
        case FloatType(), FloatType():
            if width(source) == width(target):
                return ()
            return ("extf",) if width(source) < width(target) else ("truncf",)
        case FloatType(), IntegerType():
            same = ("bitcast",) if width(source) == width(target) else ()
            return ("fptosi", "fptoui", *same)
        case IntegerType(), FloatType():
            same = ("bitcast",) if width(source) == width(target) else ()
            return ("sitofp", "uitofp", *same)
        case IntegerType(), IntegerType():
            if source == target:
                return ()
            return ("extsi", "extui") if width(source) < width(target) else ("trunci",)
    if source == target or isinstance(source, FloatType) or isinstance(target, FloatType):
        return ()
    return ("index_cast", "index_castui")
