"""Where the integers that a program computes certainly lie, lane by lane: constants, loops, and arithmetic on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, math, scf, vector
from affdsl.ir.expr import Value
from affdsl.ir.integers import width
from affdsl.ir.types import INDEX, IndexType, IntegerType, Type, VectorType, element_of
from affdsl.passes.affine.arithmetic import MACHINE
from affdsl.passes.simplify import Context, places
from affdsl.passes.simplify.context import Definition
from affdsl.passes.simplify.ranges import Range, between, point

Integer = IndexType | IntegerType


def machine(type: Integer) -> Range:
    """All that an integer of a type can be, as a signed number; an i1 is 0 or 1, as it is held."""
    bits = width(type)
    return between(0, 1) if bits == 1 else between(-1 << bits - 1, (1 << bits - 1) - 1)


def index_places(root: Op) -> Iterator[tuple[Op, Context]]:
    """All operations, each with what is known where it stands, where every index fits into 64 bits."""
    for op, context in places(root):
        for value in (*op.defines(), *op.binds()):
            if value.type == INDEX:
                context.definitions.setdefault(value, Definition(range=MACHINE))
        yield op, context


class IntegerRanges:
    """Ranges of the values of one program, learned from its operations in the order in which they stand.

    What could wrap, and what no rule here knows, may be anything that its type holds. A range is right for signed
    numbers; unsigned ones are the same where it has no negative number.
    """

    def __init__(self) -> None:
        self._known: dict[Value, Range] = {}
        self._definitions: dict[Value, Op] = {}

    def of(self, value: Value, context: Context) -> Range:
        """Where an integer, or each lane of a vector of them, lies at a place of which `context` tells."""
        element = element_of(value.type)
        assert isinstance(element, IndexType | IntegerType), "only integers have ranges"
        found = self._known.get(value, machine(element))
        if isinstance(value.type, IndexType):
            found = found.both(context.range_of_value(value))
        return found

    def definition(self, value: Value) -> Op | None:
        """The operation that defines a value, if it was learned from."""
        return self._definitions.get(value)

    def learn(self, op: Op, context: Context) -> None:
        """Take note of what an operation says of the values that it defines."""
        if isinstance(op, scf.For):
            counter, first, last = op.iv, self.of(op.lower, context), self.of(op.upper, context)
            self.know(counter, between(first.low, None if last.high is None else last.high - 1))
        for result in op.defines():
            self._definitions[result] = op
            if isinstance(element_of(result.type), IndexType | IntegerType):
                found = self._computed(op, lambda value: self.of(value, context))
                if found is not None:
                    self.know(result, found)

    def is_known(self, value: Value) -> bool:
        """Whether a value is an exact number in some range that its type holds: what computed it has not wrapped."""
        return value in self._known

    def know(self, value: Value, found: Range) -> None:
        """value lies in a range of exact numbers: if its type holds all of them, nothing has wrapped."""
        element = element_of(value.type)
        assert isinstance(element, IndexType | IntegerType), "only integers have ranges"
        held = machine(element)
        if found.low is not None and found.high is not None and found.low in held and found.high in held:
            self._known[value] = found

    def _computed(self, op: Op, of: Callable[[Value], Range]) -> Range | None:
        match op:
            case arith.Constant(value=value):
                numbers = value if isinstance(value, tuple) else (value,)
                return _around(*(point(int(number)) for number in numbers))
            case arith.Binary(kind=kind, left=left, right=right):
                rule = _BINARY.get(kind)
                if rule is None or (element_of(left.type) == IntegerType(1) and rule is not _least_unsigned):
                    return None  # true is -1, which is held as 1
                return rule(of(left), of(right))
            case arith.Compare(kind="cmpi", predicate=predicate, left=left, right=right):
                return _compared(predicate, of(left), of(right)) if left.type != IntegerType(1) else None
            case arith.Select(if_true=yes, if_false=no):
                return _around(of(yes), of(no))
            case arith.Cast(kind="extsi" | "trunci" | "index_cast", operand=operand):
                found = of(operand)
                return found.scaled(-1) if element_of(operand.type) == IntegerType(1) and op.kind != "trunci" else found
            case arith.Cast(kind="extui" | "index_castui", operand=operand):
                return _unsigned(of(operand), operand.type)
            case math.Unary(kind="ctlz" | "cttz" | "ctpop", result=result):
                element = element_of(result.type)
                assert isinstance(element, IndexType | IntegerType), "bits are counted in integers"
                return between(0, width(element))
            case vector.Broadcast(source=source) | vector.Extract(source=source) | vector.Transpose(source=source):
                return of(source)
            case vector.ShapeCast(source=source) | vector.ExtractStridedSlice(source=source):
                return of(source)
            case vector.Shuffle(left=left, right=right):
                return _around(of(left), of(right))
            case vector.Insert(value=part, target=whole) | vector.InsertStridedSlice(value=part, target=whole):
                return _around(of(part), of(whole))
            case vector.FromElements(elements=elements):
                return _around(*map(of, elements))
            case vector.Step(result=result) if isinstance(result.type, VectorType) and not any(result.type.scalable):
                return between(0, result.type.shape[0] - 1)
        return None

    def may_be(self, value: Value, number: int, context: Context) -> bool:
        """Whether an integer may be a number at a place: it is none that `select (%x == number), _, %x` avoids."""
        guard = self._definitions.get(value)
        if isinstance(guard, arith.Select) and not self.may_be(guard.if_true, number, context):
            tests = self.alternatives(guard.condition)
            if any(self.compared(test, guard.if_false) == number for test in tests):
                return False
        return number in self.of(value, context)

    def alternatives(self, condition: Value) -> tuple[Op, ...]:
        """The operations of which each makes a condition true: the parts of an `or`."""
        op = self._definitions.get(condition)
        if isinstance(op, arith.Binary) and op.kind == "ori":
            return (*self.alternatives(op.left), *self.alternatives(op.right))
        return () if op is None else (op,)

    def compared(self, op: Op | None, value: Value) -> int | None:
        """The number that an operation says value to be: that of `value == number`."""
        if not (isinstance(op, arith.Compare) and op.predicate == "eq" and op.left is value):
            return None
        other = self._definitions.get(op.right)
        return int(other.value) if isinstance(other, arith.Constant) and isinstance(other.value, int) else None


def _around(*ranges: Range) -> Range:
    """The smallest interval with all of them."""
    lows, highs = [r.low for r in ranges], [r.high for r in ranges]
    low = None if None in lows else min(low for low in lows if low is not None)
    return between(low, None if None in highs else max(high for high in highs if high is not None))


_HOLDS = {"eq": (0,), "ne": (-1, 1), "lt": (-1,), "le": (-1, 0), "gt": (1,), "ge": (0, 1)}
"""The signs of left - right for which a comparison holds."""


def _compared(predicate: str, a: Range, b: Range) -> Range | None:
    """1 or 0 where all numbers of two ranges compare alike."""
    if predicate[0] == "u" and not (a.low is not None and a.low >= 0 and b.low is not None and b.low >= 0):
        return None
    by = a + b.scaled(-1)
    signs = {-1: by.low is None or by.low < 0, 0: 0 in by, 1: by.high is None or by.high > 0}
    found = {sign in _HOLDS[predicate[-2:]] for sign, may_be in signs.items() if may_be}
    return point(int(found.pop())) if len(found) == 1 else None


def _unsigned(found: Range, type: Type) -> Range | None:
    element = element_of(type)
    assert isinstance(element, IndexType | IntegerType), "only integers are extended"
    if found.low is not None and found.low >= 0:
        return found
    return between(0, (1 << width(element)) - 1) if width(element) < 64 else None


def _or(a: Range, b: Range) -> Range | None:
    """Bits that one of two has."""
    if a.low is None or b.low is None or a.high is None or b.high is None or min(a.low, b.low) < 0:
        return None
    return between(0, (1 << max(a.high, b.high).bit_length()) - 1)


def _quotient(a: Range, b: Range, *, down: bool = False) -> Range | None:
    """A quotient by what is positive, rounded to zero or `down`: no end of it is beyond those of its operands."""
    if a.low is None or a.high is None or b.low is None or b.low < 1:
        return None
    found = [
        x // y if down or x >= 0 else -(-x // y) for x in (a.low, a.high) for y in (b.low, b.high) if y is not None
    ]
    if b.high is None:
        found += [x // (abs(x) + 1) if down else 0 for x in (a.low, a.high)]
    return between(min(found), max(found))


def _remainder(a: Range, b: Range) -> Range | None:
    """A remainder has the sign of the dividend, and is smaller than the divisor."""
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return None
    most = max(abs(b.low), abs(b.high), 1) - 1
    return between(max(min(a.low, 0), -most), min(max(a.high, 0), most))


def _natural(rule: Callable[[Range, Range], Range | None]) -> Callable[[Range, Range], Range | None]:
    """A rule where both sides are not negative, so that signs do not matter."""

    def guarded(a: Range, b: Range) -> Range | None:
        return rule(a, b) if a.low is not None and b.low is not None and min(a.low, b.low) >= 0 else None

    return guarded


def _right_shift(a: Range, b: Range) -> Range | None:
    return None if a.low is None or a.high is None else between(min(a.low, 0), max(a.high, 0))


def _left_shift(a: Range, b: Range) -> Range | None:
    return (
        a * between(1, 1 << b.high) if b.low is not None and b.high is not None and 0 <= b.low <= b.high < 64 else None
    )


def _least(a: Range, b: Range) -> Range | None:
    highs = [r.high for r in (a, b) if r.high is not None]
    return between(None if a.low is None or b.low is None else min(a.low, b.low), min(highs, default=None))


def _least_unsigned(a: Range, b: Range) -> Range | None:
    """No more than any side that is not negative; so it is of bits that both have, too."""
    most = [r.high for r in (a, b) if r.low is not None and r.low >= 0 and r.high is not None]
    return between(0, min(most)) if most else None


def _largest(a: Range, b: Range) -> Range | None:
    found = _least(a.scaled(-1), b.scaled(-1))
    return None if found is None else found.scaled(-1)


_BINARY: dict[str, Callable[[Range, Range], Range | None]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a + b.scaled(-1),
    "muli": lambda a, b: a * b,
    "andi": _least_unsigned,
    "ori": _or,
    "xori": _or,
    "divsi": _quotient,
    "floordivsi": partial(_quotient, down=True),
    "divui": _natural(_quotient),
    "remsi": _remainder,
    "remui": _natural(_remainder),
    "shrsi": _right_shift,
    "shrui": _natural(_right_shift),
    "shli": _left_shift,
    "minsi": _least,
    "maxsi": _largest,
    "minui": _least_unsigned,
    "maxui": _natural(_largest),
}
