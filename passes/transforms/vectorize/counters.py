"""Integers that grow by the same in each iteration, computed from the number of the iteration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.expr import Value
from affdsl.ir.traverse import substitute, walk, with_fields
from affdsl.ir.types import INDEX, IndexType, IntegerType


def without_counters(loop: affine.For) -> affine.For:
    """The loop where nothing reads an integer that is carried and grows by the same in each iteration, but its sum.

        yield k + c   ->   k is the first one + c * (the number of the iteration), modulo the size of its type

    It is the same object where there is no such integer.
    """
    last = loop.body[-1] if loop.body else None
    if not isinstance(last, affine.Yield) or len(loop.lower) > 1:
        return loop
    new: dict[Value, Value] = {}
    sums: set[Op] = set()
    made: list[Op] = []
    makers = {v: op for op in loop.body for v in op.defines()}
    for carried, init, value in zip(loop.carried, loop.inits, last.values, strict=True):
        added = makers.get(value)
        if not isinstance(added, arith.Binary) or added.kind not in ("addi", "subi") or added.left is not carried:
            continue
        step = _outside(loop, added.right, makers)
        is_read = any(v in op.mentions() for v in (carried, value) for op in _others(loop, added, last))
        if step is None or not is_read or not isinstance(carried.type, IntegerType | IndexType):
            continue
        made += _counted(loop, carried, init, added, step, new)
        sums.add(added)
    if not sums:
        return loop
    kept = tuple(op if op in sums or op is last else substitute(op, dict(new)) for op in loop.body)
    return with_fields(loop, body=(*made, *kept))


def _others(loop: affine.For, *but: Op) -> Iterator[Op]:
    return (each for op in loop.body if op not in but for each in walk(op))


def _outside(loop: affine.For, value: Value, makers: Mapping[Value, Op]) -> Value | arith.Constant | None:
    """A value that is there before a loop, or the constant that makes it; None for another one."""
    maker = makers.get(value)
    if isinstance(maker, arith.Constant):
        return maker
    return None if maker is not None or value is loop.iv or value in loop.carried else value


def _counted(
    loop: affine.For, carried: Value, init: Value, added: arith.Binary, step: Value | arith.Constant,
    new: dict[Value, Value],
) -> Iterator[Op]:  # fmt: skip
    """What a carried integer is in each iteration, and what it is in the next one."""
    count, number, many, now, then = (Value(INDEX), *(Value(carried.type) for _ in range(4)))
    yield affine.Apply(count, (loop.iv - loop.lower[0]) // loop.step)
    if isinstance(carried.type, IndexType):
        number = count
    else:
        yield arith.Cast(number, "index_cast", count)
    if isinstance(step, arith.Constant):
        again = Value(carried.type)
        yield with_fields(step, result=again)
        step = again
    yield arith.Binary(many, "muli", number, step)
    yield arith.Binary(now, added.kind, init, many)
    yield arith.Binary(then, added.kind, now, step)
    new[carried], new[added.result] = now, then
