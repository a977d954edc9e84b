"""Sums that count where something holds: the lanes of a mask are counted at once, and the sum is one number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

from affdsl.frozen import FrozenValue
from affdsl.ir.blocks import yielded
from affdsl.ir.core import Lanewise, Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import I1, FloatType, IntegerType
from affdsl.passes.transforms.vectorize.branches import without_branches
from affdsl.passes.transforms.vectorize.lanes import Lanes

When: TypeAlias = "Value | bool | tuple[Value, When, When]"
"""Where a sum becomes one more: where a condition holds, everywhere or nowhere, or where one of two says so."""
BYTE = IntegerType(8)
DEEPEST = 6
"""A count in more choices inside each other is left in lanes."""
MOST_LANES = 255
"""As many as a byte counts."""


class Count(FrozenValue):
    """A sum that a loop carries and that only counts: where it does, and the operations by which it was made."""

    when: When
    ops: frozenset[Op]


def counts(loop: affine.For, width: int) -> bool:
    """Whether some sum that a loop carries only counts."""
    return any(count_of(loop, k, width) is not None for k in range(len(loop.carried)))


def all_count(loop: affine.For) -> bool:
    """Whether all that a loop carries are sums that only count, through conditions, too."""
    straight = without_branches(loop, everything=True)
    return all(count_of(straight, k, 1) is not None for k in range(len(loop.carried)))


def count_of(loop: affine.For, position: int, width: int) -> Count | None:
    """The count that a loop carries, where no other operation reads it; None if it is none, or lanes serve as well.

        n = n + select(c, 1, 0)     and     n = select(d, n, n + select(c, 1, 0))

    That is where lanes that are compared have fewer bits than the sum: else an addition to each lane is as fast.
    """
    yields, carried = yielded(loop.body), loop.carried[position]
    made = {v: op for op in loop.body for v in op.defines()}
    ops: list[Op] = []
    when = _when(yields[position], carried, made, ops)
    if when is None or isinstance(when, bool) or width > MOST_LANES or not isinstance(carried.type, IntegerType):
        return None
    reads = Counter(v for op in walk(loop) for v in op.reads())
    own = Counter(v for op in ops for v in op.reads())
    results = [v for op in ops for v in op.defines()]
    if reads[carried] != own[carried] or any(reads[v] - (v is yields[position]) != own[v] for v in results):
        return None
    conditions = _conditions(when)
    if not all(0 < _compared(c, made) < carried.type.width for c in conditions):
        return None
    for op in reversed(loop.body):  # what was made for the sum alone
        mine = {v for each in ops for v in each.reads()} - {*conditions}
        if isinstance(op, Lanewise | arith.Constant) and mine.issuperset(op.defines()):
            own.update(op.reads())
            if all(reads[v] == own[v] for v in op.defines()):
                ops.append(op)
    return Count(when, frozenset(ops))


def _when(value: Value, carried: Value, made: Mapping[Value, Op], ops: list[Op], deep: int = DEEPEST) -> When | None:
    """Where a value is one more than what a loop carries; None where it is something else. `ops` gets its makers.

    At most `deep` choices are inside each other: each is one of two others, so there may be two to that power.
    """
    if value is carried:
        return False
    op = made.get(value)
    if op is not None and op not in ops:
        ops.append(op)
    match op:
        case arith.Select() if not deep:
            return None
        case arith.Binary(kind="addi", left=left, right=right):
            return _added(right if left is carried else left, made, deep) if carried in (left, right) else None
        case arith.Select(condition=condition, if_true=one, if_false=other) if condition.type == I1:
            sides = [_when(side, carried, made, ops, deep - 1) for side in (one, other)]
            return _either(condition, *sides)
    return None


def _added(value: Value, made: Mapping[Value, Op], deep: int) -> When | None:
    """Where a number is 1, which is 0 elsewhere; None for any other one."""
    match made.get(value):
        case arith.Select() if not deep:
            return None
        case arith.Constant(value=0 | 1 as number):
            return bool(number)
        case arith.Cast(kind="extui", operand=condition) if condition.type == I1:
            return condition
        case arith.Select(condition=condition, if_true=one, if_false=other) if condition.type == I1:
            return _either(condition, _added(one, made, deep - 1), _added(other, made, deep - 1))
    return None


def _either(condition: Value, one: When | None, other: When | None) -> When | None:
    if one is None or other is None:
        return None
    return condition if (one, other) == (True, False) else (condition, one, other)


def _conditions(when: When) -> list[Value]:
    if isinstance(when, bool):
        return []
    return [when] if isinstance(when, Value) else [when[0], *_conditions(when[1]), *_conditions(when[2])]


def _compared(condition: Value, made: Mapping[Value, Op]) -> int:
    """The most bits of what is compared for a condition; 0 where that is not seen."""
    most, seen, waiting = 1, set[Value](), [condition]
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        match made.get(each):
            case arith.Compare(left=Value(type=IntegerType(width=bits) | FloatType(width=bits))):
                most = max(most, bits)
            case affine.Load(result=Value(type=type)) if type == I1:
                most = max(most, BYTE.width)
            case arith.Binary(kind="andi" | "ori" | "xori", left=left, right=right):
                waiting += (left, right)
            case arith.Constant():
                pass
            case _:
                return 0
    return most


def counted(at: Lanes, count: Count, carried: Value) -> Value:
    """What a count is after the lanes that run: as many more as the mask has bits."""
    mask = _mask(at, count.when)
    mask = at.both(mask) if at.mask is not None else mask
    bytes, found, more = Value(at.vector_of_type(BYTE)), Value(BYTE), Value(carried.type)
    at.emit(arith.Cast(bytes, "extui", mask))
    at.emit(vector.Reduction(found, "add", bytes))
    if carried.type == BYTE:
        more = found
    else:
        at.emit(arith.Cast(more, "extui", found))
    total = Value(carried.type, carried.hint)
    at.emit(arith.Binary(total, "addi", carried, more))
    return total


def _mask(at: Lanes, when: When) -> Value:
    """The lanes in which a sum becomes one more."""
    if isinstance(when, bool):
        return at.constant([when] * at.width, I1)
    if isinstance(when, Value):
        return at.vector(when)
    which, one, other = when
    condition = at.vector(which)
    parts: list[Value] = []
    if one is not False:
        parts.append(condition if one is True else at.binary("andi", condition, _mask(at, one)))
    if other is not False:
        elsewhere = at.binary("xori", condition, at.constant([True] * at.width, I1))
        parts.append(elsewhere if other is True else at.binary("andi", elsewhere, _mask(at, other)))
    return parts[0] if len(parts) == 1 else at.binary("ori", *parts) if parts else _mask(at, False)
