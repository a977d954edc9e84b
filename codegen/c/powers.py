"""Products with a power of 2 that is made in two steps, as one function: there is an instruction for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import prod

from affdsl.codegen.c.types import LANES
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, func, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, walk
from affdsl.ir.types import FloatType, VectorType

_FORMATS = {"f32": (127, 23), "f64": (1023, 52)}
"""The exponent of 1 as it is stored, and the bits behind the point."""


class Power(FrozenValue):
    """factor * 2**exponent: what x * 2**(n >> 1) * 2**(n - (n >> 1)) is."""

    factor: Value
    exponent: Value


def powers(function: func.Func) -> dict[arith.Binary, Power]:
    """The products of vectors in a function that are such; not of those that are arrays in C, lane by lane."""
    found: dict[arith.Binary, Power] = {}
    made: dict[Value, Op] = {}
    uses: Counter[Value] = Counter()
    for op in walk(function):
        if isinstance(op, arith.Binary) and op.kind == "mulf" and isinstance(op.result.type, VectorType):
            made = made or definitions(function)
            uses = uses or Counter(v for each in walk(function) for v in each.reads())
            if uses[op.left] == 1 and (power := _power(op, op.result.type, made)) is not None:
                found[op] = power
    return found


def _power(op: arith.Binary, type: VectorType, made: Mapping[Value, Op]) -> Power | None:
    first = made.get(op.left)
    if not isinstance(type.element, FloatType) or type.element.name not in _FORMATS or prod(type.shape) not in LANES:
        return None
    if not isinstance(first, arith.Binary) or first.kind != "mulf":
        return None
    half, rest = (_exponent(v, type.element.name, made) for v in (first.right, op.right))
    halved, left = made.get(half) if half else None, made.get(rest) if rest else None
    if not isinstance(halved, arith.Binary) or halved.kind != "shrsi" or _number(halved.right, made) != 1:
        return None
    if not isinstance(left, arith.Binary) or (left.kind, left.left, left.right) != ("subi", halved.left, half):
        return None
    return Power(first.left, halved.left)


def _exponent(value: Value, format: str, made: Mapping[Value, Op]) -> Value | None:
    """The integers k for which a value has the bits of 2**k."""
    bias, fraction = _FORMATS[format]
    cast = made.get(value)
    shift = made.get(cast.operand) if isinstance(cast, arith.Cast) and cast.kind == "bitcast" else None
    if not isinstance(shift, arith.Binary) or shift.kind != "shli" or _number(shift.right, made) != fraction:
        return None
    biased = made.get(shift.left)
    if not isinstance(biased, arith.Binary) or biased.kind != "addi" or _number(biased.right, made) != bias:
        return None
    return biased.left


def _number(value: Value, made: Mapping[Value, Op]) -> object:
    """The number that all lanes of a value are, if it is a constant."""
    op = made.get(value)
    if isinstance(op, vector.Broadcast):
        op = made.get(op.source)
    if not isinstance(op, arith.Constant):
        return None
    numbers = set(op.value) if isinstance(op.value, tuple) else {op.value}
    return numbers.pop() if len(numbers) == 1 else None
