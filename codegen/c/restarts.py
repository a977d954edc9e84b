"""Counters that begin anew where a condition does not hold, sums of what one chooses, and differences, masked.

gcc would branch: see `restarts_masked`, `sums_masked` and `differences_masked`; or make long vectors of short ones:
`counts_of_truths`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeGuard

from affdsl.ir.attributes import UnitAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, rewrite, walk, with_fields
from affdsl.ir.types import F32, F64, IntegerType

MASKED = "affdsl.masked"
"""What marks a choice between an integer and 0, or between two floats, that is made by a mask."""
_COMBINED = ("addf", "subf", "mulf")
_ADDED = ("addi", "subi")
_WIDE = (IntegerType(32), IntegerType(64))
_MOST = 8
"""So many sums and differences of integers are looked through."""


def with_masks(f: func.Func) -> func.Func:
    """A function where what a loop counts from its last value on, or from a constant, is computed without a branch.

        n = select c, n + k, k           ->   m = select c, n, 0 {masked}; n = m + k
        s = s + select c, x, -0.0        ->   s = s + (select c, x, -0.0 {masked})
        d = select c, a - b, (a + k) - b ->   m = select c, -k, 0 {masked}; d = (a + k) - b + m
        if p != q: n = n + k             ->   m = select p != q, k, 0; n = n + m

    Data decides on the condition, in runs of any length: a processor that guesses is wrong at the end of each.
    """
    made = definitions(f)
    kept = {v for op in walk(f) if isinstance(op, affine.For) for v in op.carried}
    summed = _summed(f, made, kept)
    apart = {op: number for op in walk(f) if isinstance(op, arith.Select) and (number := _apart(op, made))}
    counted = {op: parts for op in walk(f) if isinstance(op, scf.If) and (parts := _counted(op, made))}
    if not summed and not apart and not counted and not any(_restarted(op, made, kept) for op in walk(f)):
        return f

    def rule(op: Op) -> tuple[Op, ...] | None:
        if isinstance(op, scf.If) and op in counted:
            return _added(op, *counted[op])
        if op in summed:
            return (with_fields(op, attributes=(*op.attributes, (MASKED, UnitAttr()))),)
        if isinstance(op, arith.Select) and op in apart:
            zero, number, chosen = (Value(op.result.type) for _ in range(3))
            return (
                arith.Constant(zero, 0, location=op.location),
                arith.Constant(number, apart[op], location=op.location),
                arith.Select(
                    chosen, op.condition, number, zero, location=op.location, attributes=((MASKED, UnitAttr()),)
                ),
                arith.Binary(op.result, "addi", op.if_false, chosen, location=op.location),
            )
        addition = _restarted(op, made, kept)
        if addition is None:
            return None
        assert isinstance(op, arith.Select)
        zero, chosen = Value(op.result.type), Value(op.result.type)
        return (
            arith.Constant(zero, 0, location=op.location),
            arith.Select(
                chosen, op.condition, addition.left, zero, location=op.location, attributes=((MASKED, UnitAttr()),)
            ),
            with_fields(addition, result=op.result, left=chosen),
        )

    return rewrite(f, rule)


def is_masked(op: arith.Select) -> bool:
    """Whether a choice is made by a mask."""
    return any(name == MASKED for name, _ in op.attributes)


def _summed(f: func.Func, made: Mapping[Value, Op], kept: set[Value]) -> set[Op]:
    """The choices between a float and a number that is known which are added to what a loop carries."""
    found, sums = set[Op](), {*kept}
    for op in walk(f):
        if isinstance(op, arith.Binary) and op.kind in _COMBINED and op.result.type in (F32, F64):
            for one, other in ((op.left, op.right), (op.right, op.left)):
                choice = made.get(other)
                if one in sums:
                    sums.add(op.result)
                    if isinstance(choice, arith.Select) and any(
                        isinstance(made.get(v), arith.Constant) for v in (choice.if_true, choice.if_false)
                    ):
                        found.add(choice)
    return found


def _restarted(op: Op, made: Mapping[Value, Op], kept: set[Value]) -> arith.Binary | None:
    """The addition by which a counter goes on that a choice restarts; None for any other operation."""
    if not isinstance(op, arith.Select) or op.result.type not in _WIDE:
        return None
    addition, start = made.get(op.if_true), made.get(op.if_false)
    if not isinstance(addition, arith.Binary) or addition.kind != "addi" or not isinstance(start, arith.Constant):
        return None
    step, before = made.get(addition.right), made.get(addition.left)
    if not isinstance(step, arith.Constant) or step.value != start.value:
        return None
    if isinstance(before, affine.Load):
        is_counted = not before.index and isinstance(made.get(before.memref), memref.Alloca)
    else:
        is_counted = addition.left in kept or isinstance(before, arith.Select)
    return addition if is_counted else None


def _counted(op: scf.If, made: Mapping[Value, Op]) -> tuple[affine.Load, arith.Binary, affine.Store] | None:
    """What a condition whether two truths differ does, if that is to add a number to a variable, and nothing else."""
    differ = made.get(op.condition)
    if not isinstance(differ, arith.Compare) or differ.predicate != "ne" or differ.left.type != IntegerType(1):
        return None
    match [each for each in op.then if not isinstance(each, arith.Constant)]:
        case [affine.Load() as load, arith.Binary(kind="addi") as sum, affine.Store() as store] if not op.orelse:
            is_variable = not load.index and isinstance(made.get(load.memref), memref.Alloca)
            is_sum = sum.left is load.result and isinstance(made.get(sum.right), arith.Constant)
            if is_variable and is_sum and store.memref is load.memref and store.value is sum.result:
                return load, sum, store
    return None


def _added(op: scf.If, load: affine.Load, sum: arith.Binary, store: affine.Store) -> tuple[Op, ...]:
    """The same without a condition: a number or none is added."""
    zero, chosen = Value(sum.result.type), Value(sum.result.type)
    return (
        *(each for each in op.then if isinstance(each, arith.Constant)),
        load,
        arith.Constant(zero, 0, location=op.location),
        arith.Select(chosen, op.condition, sum.right, zero, location=op.location),
        with_fields(sum, right=chosen),
        store,
    )


def _apart(op: arith.Select, made: Mapping[Value, Op]) -> int:
    """The number that is between two integers one of which is chosen, if both are computed; 0 if that is not known.

    One that is made of the other needs no branch as it is.
    """
    one, other, type = made.get(op.if_true), made.get(op.if_false), op.result.type
    if not isinstance(type, IntegerType) or type not in _WIDE or not _is_added(one) or not _is_added(other):
        return 0
    if op.if_true in other.reads() or op.if_false in one.reads():
        return 0
    (terms, number), (others, less) = (_sum(v, made) for v in (op.if_true, op.if_false))
    if terms != others:
        return 0
    half = 1 << (type.width - 1)
    return (number - less + half) % (2 * half) - half


def _sum(v: Value, made: Mapping[Value, Op]) -> tuple[dict[Value, int], int]:
    """An integer as a sum: how often it has other integers, and a number."""
    terms, number, waiting = Counter[Value](), 0, [(v, 1)]
    seen = 0
    while waiting:
        v, times = waiting.pop()
        seen += 1
        op = made.get(v)
        if isinstance(op, arith.Constant) and isinstance(op.value, int):
            number += times * op.value
        elif _is_added(op) and seen < _MOST:
            waiting += [(op.left, times), (op.right, times if op.kind == "addi" else -times)]
        else:
            terms[v] += times
    return {v: times for v, times in terms.items() if times}, number


def _is_added(op: Op | None) -> TypeGuard[arith.Binary]:
    return isinstance(op, arith.Binary) and op.kind in _ADDED
