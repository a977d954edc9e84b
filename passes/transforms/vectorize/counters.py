"""Integers that grow by the same in each iteration, computed from the number of the iteration."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, substitute, walk, with_fields
from affdsl.ir.types import INDEX, IndexType, IntegerType
from affdsl.passes.affine.positions import positions_of
from affdsl.passes.affine.subscripts import Indices, is_long, with_affine_subscripts


class Counter(FrozenValue):
    """A carried integer to which each iteration adds the same number, and what it is in an iteration and in the next.

    Attributes
    ----------
    step
        A value that is there before the loop, or the constant in it.
    """

    carried: Value
    init: Value
    result: Value
    added: arith.Binary
    step: Value | arith.Constant


def counters(loop: affine.For) -> Iterator[Counter]:
    """The counters that a loop carries."""
    last = loop.body[-1] if loop.body else None
    if not isinstance(last, affine.Yield) or len(loop.lower) > 1:
        return
    makers = {v: op for op in loop.body for v in op.defines()}
    for carried, init, result, value in zip(loop.carried, loop.inits, loop.results, last.values, strict=True):
        added = makers.get(value)
        if not isinstance(added, arith.Binary) or added.kind not in ("addi", "subi") or added.left is not carried:
            continue
        step = _outside(loop, added.right, makers)
        if step is not None and isinstance(carried.type, IntegerType | IndexType):
            yield Counter(carried, init, result, added, step)


def idle_counters(function: Func, loop: affine.For) -> tuple[Counter, ...]:
    """Those of the counters of a loop that nothing reads behind it: the loop need not carry them."""
    found = tuple(counters(loop))
    read = {v for op in walk(function) for v in op.mentions()} if found else set()
    return tuple(each for each in found if each.result not in read)


def without_counters(loop: affine.For) -> affine.For:
    """The loop where nothing reads an integer that is carried and grows by the same in each iteration, but its sum.

        yield k + c   ->   k is the first one + c * (the number of the iteration), modulo the size of its type

    It is the same object where there is no such integer.
    """
    last = loop.body[-1] if loop.body else None
    read = [each for each in counters(loop) if _is_read(loop, each)]
    if not read:
        return loop
    made, new = _counted(loop, read)
    sums = {each.added for each in read}
    kept = tuple(op if op in sums or op is last else substitute(op, new) for op in loop.body)
    return with_fields(loop, body=(*made, *kept))


def without_idle_counters(function: Func, loop: affine.For) -> affine.For:
    """The loop without the counters that nothing reads behind it, and with subscripts of what they were.

        for i, k = 0: { A[k] = x; yield k + 2 }   ->   for i: A[2 * i] = x

    It is the same object where there is none. Subscripts are taken not to wrap: one that does is outside of its array.
    """
    idle = idle_counters(function, loop)
    if not idle:
        return loop
    gone = {each.carried for each in idle}
    left = [k for k, v in enumerate(loop.carried) if v not in gone]
    loop = with_affine_subscripts(loop, _indices(function, loop, idle), positions_of(function))
    last = loop.body[-1]
    assert isinstance(last, affine.Yield)
    read = [each for each in idle if _is_read(loop, each)]
    made, new = _counted(loop, read)
    sums = {each.added for each in idle}
    kept = [substitute(op, new) for op in loop.body if op not in sums and op is not last]
    if left:
        values = tuple(last.values[k] for k in left)
        kept.append(with_fields(last, values=tuple(new.get(v, v) for v in values)))
    return with_fields(
        loop,
        body=(*made, *kept),
        inits=tuple(loop.inits[k] for k in left),
        carried=tuple(loop.carried[k] for k in left),
        results=tuple(loop.results[k] for k in left),
        written=None,
    )


def _is_read(loop: affine.For, counter: Counter) -> bool:
    """Whether anything in a loop reads what a counter is, but its own sum."""
    others = (each for op in loop.body[:-1] if op is not counter.added for each in walk(op))
    own = (counter.carried, counter.added.result)
    rows = zip(loop.carried, loop.body[-1].reads(), strict=True)
    if any(v in own for carried, v in rows if carried is not counter.carried):
        return True
    return any(v in op.mentions() for op in others for v in own)


def _outside(loop: affine.For, value: Value, makers: Mapping[Value, Op]) -> Value | arith.Constant | None:
    """A value that is there before a loop, or the constant that makes it; None for another one."""
    maker = makers.get(value)
    if isinstance(maker, arith.Constant):
        return maker
    return None if maker is not None or value is loop.iv or value in loop.carried else value


def _counted(loop: affine.For, counters: Collection[Counter]) -> tuple[list[Op], dict[Value, Value]]:
    """Operations that compute what counters are in each iteration, and in the next one, and the values they have."""
    made: list[Op] = []
    new: dict[Value, Value] = {}
    for each in counters:
        type, step = each.carried.type, each.step
        count, number, many, now, then = (Value(INDEX), *(Value(type) for _ in range(4)))
        made.append(affine.Apply(count, (loop.iv - loop.lower[0]) // loop.step))
        if isinstance(type, IndexType):
            number = count
        else:
            made.append(arith.Cast(number, "index_cast", count))
        if isinstance(step, arith.Constant):
            again = Value(type)
            made.append(with_fields(step, result=again))
            step = again
        made.append(arith.Binary(many, "muli", number, step))
        made.append(arith.Binary(now, each.added.kind, each.init, many))
        made.append(arith.Binary(then, each.added.kind, now, step))
        new[each.carried], new[each.added.result] = now, then
    return made, new


def _indices(function: Func, loop: affine.For, counters: Collection[Counter]) -> Indices:
    """What integers are as affine expressions of the counter of a loop, by those that it carries."""
    makers = definitions(function)
    indices = Indices(makers)
    for each in counters:
        first, step = indices.expr(each.init), _step(each, makers)
        if first is not None and step is not None:
            indices.know(each.carried, first + (loop.iv - loop.lower[0]) // loop.step * step)
    return indices


def _step(counter: Counter, makers: Mapping[Value, Op]) -> int | None:
    """What a counter grows by in each iteration, where that is a known number and indices have as many bits."""
    step = counter.step if isinstance(counter.step, arith.Constant) else makers.get(counter.step)
    if not isinstance(step, arith.Constant) or not isinstance(step.value, int) or not is_long(counter.carried):
        return None
    return step.value if counter.added.kind == "addi" else -step.value
