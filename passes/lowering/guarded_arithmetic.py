"""Arithmetic that MLIR leaves open for some operands, with the results that it has here (docs/decisions/0003)."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, math
from affdsl.ir.emitter import Emitter
from affdsl.ir.expr import Value
from affdsl.ir.integers import width, wrap
from affdsl.ir.numeric import number_of, quiet
from affdsl.ir.traverse import OpT, rewrite, walk, with_fields
from affdsl.ir.types import FloatType, IndexType, IntegerType, element_of
from affdsl.passes.affine.integer_ranges import IntegerRanges, index_places
from affdsl.passes.simplify import Context

_DIVISIONS = frozenset(("divsi", "remsi", "floordivsi", "ceildivsi", "divui", "remui", "ceildivui"))
_REMAINDERS = frozenset(("remsi", "remui"))
_SIGNED = frozenset(("divsi", "remsi", "floordivsi", "ceildivsi"))
_SHIFTS = frozenset(("shli", "shrsi", "shrui"))
_NUMBERS = {"maxnumf": "maximumf", "minnumf": "minimumf"}
"""Extremes of which MLIR leaves open which of two zeros they are, and those of which it does not."""
_TO_INTEGERS = frozenset(("fptosi", "fptoui"))


def guarded_arithmetic(root: OpT) -> OpT:
    """The same program with guards where MLIR's result is open: it means under MLIR's rules what it means here.

        arith.divui %a, %b      ->  arith.select (%b == 0), 0, (arith.divui %a, (arith.select (%b == 0), 1, %b))
        arith.shli %a, %b       ->  arith.select (%b < 32), (arith.shli %a, (arith.minui %b, 31)), 0
        arith.shrsi %a, %b      ->  arith.shrsi %a, (arith.minui %b, 31)
        arith.fptoui %x         ->  arith.select (%x >= 2**32), 2**32 - 1, (arith.fptoui (arith.select ..., %x, 0))
        arith.maxnumf %a, %b    ->  arith.maximumf %a, %b, but %b where %a is NaN, and %a where %b is

    Operands that are proved to be harmless stay: constants, loop counters, and what is computed of them. Nothing is
    executed with operands for which its result is open, since a processor may trap there, and a compiler may do
    anything.

    >>> from affdsl.mlir.readers import parse
    >>> print(guarded_arithmetic(parse('''func.func @f(%a: i32, %b: i32) -> i32 {
    ...     %seven = arith.constant 7 : i32
    ...     %quotient = arith.divsi %a, %seven : i32
    ...     %shifted = arith.shrsi %quotient, %b : i32
    ...     return %shifted : i32
    ... }''')).functions[0])
    func.func @f(%a: i32, %b: i32) -> i32 {
      %seven = arith.constant 7 : i32
      %quotient = arith.divsi %a, %seven : i32
      %c31_i32 = arith.constant 31 : i32
      %0 = arith.minui %b, %c31_i32 : i32
      %shifted = arith.shrsi %quotient, %0 : i32
      return %shifted : i32
    }
    """
    if not any(map(_is_open, walk(root))):
        return root
    ranges, guarded = IntegerRanges(), dict[Op, list[Op]]()
    for op, context in index_places(root):
        if _is_open(op):
            step = _Guard(op, ranges, context)
            if step.is_needed():
                guarded[op] = step.ops
        ranges.learn(op, context)
    return rewrite(root, guarded.get) if guarded else root


def _is_open(op: Op) -> bool:
    """Whether MLIR leaves the result of an operation open for some operands."""
    match op:
        case arith.Binary(kind=kind):
            return kind in _DIVISIONS or kind in _SHIFTS or kind in _NUMBERS
        case arith.Cast(kind=kind):
            return kind in _TO_INTEGERS
        case math.Binary(kind="ipowi"):
            return True
    return False


class _Guard(Emitter):
    """One operation, and those that take its place."""

    def __init__(self, op: Op, ranges: IntegerRanges, context: Context) -> None:
        super().__init__(op.location)
        self.op = op
        self.ranges = ranges
        self.context = context

    def is_needed(self) -> bool:
        """Whether some operand may be harmful; then `ops` are what takes the place of the operation."""
        match self.op:
            case arith.Binary(kind=kind) if kind in _DIVISIONS:
                return self._divide(self.op)
            case arith.Binary(kind=kind) if kind in _SHIFTS:
                return self._shift(self.op)
            case arith.Binary():
                return self._extreme(self.op)
            case arith.Cast():
                return self._convert(self.op)
            case math.Binary():
                return self._power(self.op)
        raise AssertionError(f"{self.op.name} is not open")

    def _divide(self, op: arith.Binary) -> bool:
        by_zero = self._may_be(op.right, 0)
        overflows = op.kind in _SIGNED and self._may_overflow(op)
        if not (by_zero or overflows):
            return False
        bits = _bits(op.right)
        if bits == 1:  # 1 is the only divisor, and -1 / -1 is 1, which wraps
            self._instead(op, "andi", op.left, op.right if op.kind not in _REMAINDERS else self._number(op.left, 0))
            return True
        is_zero = self._equals(op.right, 0) if by_zero else None
        unsafe = is_zero
        if overflows:
            too_large = self.binary("andi", self._equals(op.left, -1 << bits - 1), self._equals(op.right, -1))
            unsafe = too_large if unsafe is None else self.binary("ori", unsafe, too_large)
        assert unsafe is not None, "one of both is in the way"
        divisor = self.select(unsafe, self._number(op.right, 1), op.right)
        if is_zero is None or op.kind in _REMAINDERS:  # what 1 leaves is 0 already
            self._instead(op, op.kind, op.left, divisor)
        else:
            quotient = self._again(op, right=divisor)
            self.emit(arith.Select(op.result, is_zero, self._number(op.left, 0), quotient))
        return True

    def _may_overflow(self, op: arith.Binary) -> bool:
        """Whether the smallest number may be divided by -1."""
        bits = _bits(op.left)
        least, minus_one = (1, 1) if bits == 1 else (-1 << bits - 1, -1)
        if not (self._may_be(op.left, least) and self._may_be(op.right, minus_one)):
            return False
        guard = self.ranges.definition(op.right)
        if not (isinstance(guard, arith.Select) and not self._may_be(guard.if_true, minus_one)):
            return True
        for test in self.ranges.alternatives(guard.condition):  # the divisor that a guard of ours has chosen
            if isinstance(test, arith.Binary) and test.kind == "andi":
                least_left, right = map(self.ranges.definition, (test.left, test.right))
                if self.ranges.compared(least_left, op.left) == least:
                    return self.ranges.compared(right, guard.if_false) != minus_one
        return True

    def _may_be(self, value: Value, number: int) -> bool:
        return self.ranges.may_be(value, number, self.context)

    def _shift(self, op: arith.Binary) -> bool:
        bits, amount = _bits(op.left), self.ranges.of(op.right, self.context)
        if amount.low is not None and amount.high is not None and 0 <= amount.low <= amount.high < bits:
            return False
        small = self.binary("minui", op.right, self._number(op.right, bits - 1))
        if op.kind == "shrsi":
            self._instead(op, op.kind, op.left, small)
        else:
            fits = self.compare("ult", op.right, self._number(op.right, bits))
            shifted = self._again(op, right=small)
            self.emit(arith.Select(op.result, fits, shifted, self._number(op.left, 0)))
        return True

    def _convert(self, op: arith.Cast) -> bool:
        """Saturating, and NaN as 0."""
        bits, signed = _bits(op.result), op.kind == "fptosi"
        low, high = (-1 << bits - 1, (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        number, source = self._value(op.operand), self.ranges.definition(op.operand)
        if isinstance(number, float) and low <= number <= high:
            return False
        if isinstance(source, arith.Cast) and source.kind in ("sitofp", "uitofp") and self._returns(source, low, high):
            return False
        element = element_of(op.operand.type)
        assert isinstance(element, FloatType), "integers are converted from floats"
        ends = _nearest(low, element), _nearest(high + 1, element)
        if self._is_between(op.operand, *ends):
            return False
        least, limit = (self.constant(end, op.operand.type) for end in ends)
        above = self.compare("ogt", op.operand, least)
        inside = self.binary("andi", above, self.compare("olt", op.operand, limit))
        found = self._again(op, operand=self.select(inside, op.operand, self.constant(0.0, op.operand.type)))
        if signed:
            found = self.select(self.compare("ole", op.operand, least), self._number(op.result, low), found)
        too_large = self.compare("oge", op.operand, limit)
        self.emit(arith.Select(op.result, too_large, self._number(op.result, high), found))
        return True

    def _is_between(self, value: Value, low: float, high: float) -> bool:
        """Whether a guard of ours has chosen a float that lies between two others."""
        guard = self.ranges.definition(value)
        inside = self.ranges.definition(guard.condition) if isinstance(guard, arith.Select) else None
        if not (isinstance(guard, arith.Select) and isinstance(inside, arith.Binary) and inside.kind == "andi"):
            return False
        ends: dict[str, object] = {}
        for test in map(self.ranges.definition, (inside.left, inside.right)):
            if isinstance(test, arith.Compare) and test.left is guard.if_true:
                ends[test.predicate] = self._value(test.right)
        return self._value(guard.if_false) == 0.0 and ends == {"ogt": low, "olt": high}

    def _value(self, value: Value) -> object:
        """The number that a constant is."""
        op = self.ranges.definition(value)
        return op.value if isinstance(op, arith.Constant) else None

    def _returns(self, source: arith.Cast, low: int, high: int) -> bool:
        """Whether all integers that are converted to floats lie between two others, and none is rounded."""
        found = self.ranges.of(source.operand, self.context)
        if source.kind == "uitofp" and not (found.low is not None and found.low >= 0):
            return low == 0 and high >= (1 << _bits(source.operand)) - 1 and self._is_exact(source)
        if found.low is None or found.high is None or not low <= found.low <= found.high <= high:
            return False
        return self._is_exact(source)

    def _is_exact(self, source: arith.Cast) -> bool:
        """Whether a float holds all integers of a type."""
        element = element_of(source.result.type)
        assert isinstance(element, FloatType)
        return _bits(source.operand) <= {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}[element.name]

    def _power(self, op: math.Binary) -> bool:
        exponent = self.ranges.of(op.right, self.context)
        is_natural = exponent.low is not None and exponent.low >= 0 and _bits(op.right) > 1
        if is_natural or not self._may_be(op.left, 0) or self._is_base(op.left, op.right):
            return False
        if _bits(op.left) == 1:
            self._instead(op, "ori", op.left, self.binary("xori", op.right, self._number(op.right, 1)))
            return True
        negative = self.compare("slt", op.right, self._number(op.right, 0))
        fails = self.binary("andi", negative, self._equals(op.left, 0))
        base = self.select(fails, self._number(op.left, 2), op.left)  # 1 / 2**n is 0, too
        self.emit(with_fields(op, left=base))
        return True

    def _is_base(self, value: Value, exponent: Value) -> bool:
        """Whether a guard of ours has chosen a base that is not 0 where the exponent is negative."""
        guard = self.ranges.definition(value)
        fails = self.ranges.definition(guard.condition) if isinstance(guard, arith.Select) else None
        if not (isinstance(guard, arith.Select) and isinstance(fails, arith.Binary) and fails.kind == "andi"):
            return False
        negative, is_zero = map(self.ranges.definition, (fails.left, fails.right))
        if not (isinstance(negative, arith.Compare) and negative.left is exponent and negative.predicate == "slt"):
            return False
        return self._value(negative.right) == 0 and self.ranges.compared(is_zero, guard.if_false) == 0

    def _extreme(self, op: arith.Binary) -> bool:
        for side in (op.left, op.right):
            number = self._value(side)
            if isinstance(number, float) and number:
                return False
        found = self.binary(_NUMBERS[op.kind], op.left, op.right)
        found = self.select(self.compare("uno", op.right, op.right), op.left, found)
        self.emit(arith.Select(op.result, self.compare("uno", op.left, op.left), op.right, found))
        return True

    # Operations

    def _equals(self, value: Value, number: int) -> Value:
        return self.compare("eq", value, self._number(value, number))

    def _number(self, like: Value, number: int) -> Value:
        """An integer of the type of a value."""
        held = wrap(number, _bits(like))
        return self.constant(bool(held) if _bits(like) == 1 else held, like.type)

    def _again(self, op: arith.Binary | arith.Cast, **fields: object) -> Value:
        """The operation itself, with a result of its own."""
        result = Value(op.result.type)
        self.ops.append(with_fields(op, result=result, **fields))
        return result

    def _instead(self, op: arith.Binary | math.Binary, kind: str, left: Value, right: Value) -> None:
        """End with an operation that has the result, and the flags if it is of the same kind."""
        attributes = op.attributes if kind == op.kind else ()
        self.emit(arith.Binary(op.result, kind, left, right, attributes=attributes))


def _nearest(number: int, type: FloatType) -> float:
    """The float that is nearest to an integer: infinity where that is too large."""
    with quiet():
        return float(number_of(float(number), type))


def _bits(value: Value) -> int:
    element = element_of(value.type)
    assert isinstance(element, IndexType | IntegerType), "an integer"
    return width(element)
