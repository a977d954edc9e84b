"""Carries in values what a loop keeps in buffers of one element, under conditions and in loops inside of it, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import rewrite, users, walk, with_fields
from affdsl.ir.types import MemRefType

Structured = affine.For | affine.If | scf.For | scf.If | scf.While
Index = tuple[Affine, ...]
Place = tuple[Value, Index]
"""A buffer, and which element of it: that of a buffer of rank 0 has no subscripts."""
Numbers = dict[Place, Value]
"""What each place holds."""


class _Kept(FrozenValue):
    """The buffers that are gone altogether, and what stands for each number that was loaded."""

    gone: frozenset[Value] = frozenset()
    replaced: dict[Value, Value] = field(default_factory=dict)


def variables_replaced(function: func.Func, loop: affine.For | scf.For, elements: Sequence[Place]) -> func.Func | None:
    """The function with what a loop changes in buffers of one element carried in values; None if there is nothing.

    So are elements of arrays that are given, of which none is another one.

        for i: if c: s[] += x     ->     a = s[]; b = for i, t = a: { r = if c: t + x else: t; yield r }; s[] = b

    The buffers are the function's own, of rank 0, set before the loop, and nothing but loads and stores uses them, in
    the loop below conditions and loops only.
    """
    found = [v for v in _variables(function) if _is_changed_in(loop, v) and _is_set_before(function, loop, v)]
    carried: list[Place] = [*((v, ()) for v in found), *(place for place in elements if _is_plain(loop, place[0]))]
    if not carried:
        return None
    before, numbers, kept = list[Op](), Numbers(), _Kept()
    for buffer, index in carried:
        numbers[buffer, index] = _number(buffer)
        before.append(affine.Load(numbers[buffer, index], buffer, index, location=loop.location))
    (made,) = _block((loop,), numbers, kept)
    behind = [affine.Store(numbers[v, index], v, index, location=loop.location) for v, index in carried]
    new = (*before, made, *behind)
    return renamed(rewrite(function, lambda op: new if op is loop else None), kept.replaced)


def without_own_variables(loop: affine.For) -> affine.For:
    """The loop where what an iteration keeps in buffers of one element of its own are values, and no buffers.

        for i: { s = alloca; s[] = 0; for j: s[] += A[i, j]; B[i] = s[] }
            ->   for i: { t = for j, s = 0: yield s + A[i, j]; B[i] = t }

    The buffers are of rank 0, set first of all in the block that makes them, and nothing but loads and stores below
    conditions and loops uses them. It is the same object where there are none.
    """
    gone = frozenset(v for v in _variables(loop) if _is_set_first(loop, v))
    if not gone:
        return loop
    kept = _Kept(gone)
    return renamed(with_fields(loop, body=tuple(_block(loop.body, {}, kept))), kept.replaced)


def _is_set_first(op: Op, buffer: Value) -> bool:
    """Whether the first thing that follows a buffer in the block that makes it is a store of what it holds."""
    for block in op.blocks():
        if not any(buffer in inner.defines() for inner in block):
            continue
        uses = [inner for inner in block if any(buffer in each.mentions() for each in walk(inner))]
        first = next((use for use in uses if buffer not in use.defines()), None)
        return isinstance(first, affine.Store) and all(buffer in u.defines() or _is_plain(u, buffer) for u in uses)
    return any(_is_set_first(inner, buffer) for block in op.blocks() for inner in block)


def _variables(root: Op) -> list[Value]:
    """The buffers of one element that nothing but loads and stores uses."""
    used = users(root)
    made = [op.result for op in walk(root) if isinstance(op, memref.Alloca | memref.Alloc)]
    return [
        v
        for v in made
        if isinstance(v.type, MemRefType) and not v.type.rank and all(_accesses(op, v) for op in used.get(v, ()))
    ]


def _accesses(op: Op, buffer: Value) -> bool:
    return isinstance(op, affine.Load) or (isinstance(op, affine.Store) and op.value is not buffer)


def _is_changed_in(loop: affine.For | scf.For, buffer: Value) -> bool:
    """Whether a loop stores to a buffer that is made outside, and uses it below loops and conditions only."""
    if buffer in {v for op in walk(loop) for v in op.defines()}:
        return False
    return _stores(loop, (buffer, ())) and _is_plain(loop, buffer)


def _stores(op: Op, place: Place) -> bool:
    return any(isinstance(inner, affine.Store) and (inner.memref, inner.index) == place for inner in walk(op))


def _is_plain(op: Op, buffer: Value) -> bool:
    if not any(isinstance(inner, affine.Load | affine.Store) and inner.memref is buffer for inner in walk(op)):
        return True
    if isinstance(op, affine.Load | affine.Store):
        return True
    return isinstance(op, Structured) and all(_is_plain(inner, buffer) for block in op.blocks() for inner in block)


def _is_set_before(function: func.Func, loop: affine.For | scf.For, buffer: Value) -> bool:
    """Whether the buffer certainly holds a number when the loop begins."""

    def reached(block: Block) -> bool | None:
        is_set = False
        for op in block:
            if op is loop:
                return is_set
            inside = [found for inner in op.blocks() if (found := reached(inner)) is not None]
            if inside:
                return is_set or inside[0]
            is_set |= isinstance(op, affine.Store) and op.memref is buffer
        return None

    return bool(reached(function.body))


def _block(block: Sequence[Op], numbers: Numbers, kept: _Kept) -> list[Op]:
    """Operations without loads and stores of variables; `numbers` changes to what these hold after them."""
    made: list[Op] = []
    for op in block:
        match op:
            case affine.Load(memref=buffer, index=index) if (buffer, index) in numbers:
                kept.replaced[op.result] = numbers[buffer, index]
            case affine.Store(memref=buffer, index=index) if (buffer, index) in numbers or buffer in kept.gone:
                numbers[buffer, index] = op.value
            case memref.Alloca() | memref.Alloc() if op.result in kept.gone:
                pass
            case affine.For() | scf.For():
                made.append(_loop(op, numbers, kept))
            case scf.While():
                made.append(_while(op, numbers, kept))
            case affine.If() | scf.If():
                made.append(_branch(op, numbers, kept))
            case _:
                made.append(op)
    return made


def _loop(op: affine.For | scf.For, numbers: Numbers, kept: _Kept) -> Op:
    changed = [place for place in numbers if _stores(op, place)]
    inside = numbers | {place: _number(place[0]) for place in changed}
    carried = tuple(inside[place] for place in changed)
    inits = tuple(numbers[place] for place in changed)
    body = _ended(op.body, inside, changed, kept, affine.Yield if isinstance(op, affine.For) else scf.Yield)
    results = _results(changed, numbers)
    return with_fields(
        op, body=body, inits=(*op.inits, *inits), carried=(*op.carried, *carried), results=(*op.results, *results)
    )


def _while(op: scf.While, numbers: Numbers, kept: _Kept) -> Op:
    changed = [place for place in numbers if _stores(op, place)]
    inits = tuple(numbers[place] for place in changed)
    asked = numbers | {place: _number(place[0]) for place in changed}
    asks = tuple(asked[place] for place in changed)
    *before, condition = _block(op.before, asked, kept)
    assert isinstance(condition, scf.Condition), "a while loop asks"
    handed = tuple(asked[place] for place in changed)
    inside = numbers | {place: _number(place[0]) for place in changed}
    carried = tuple(inside[place] for place in changed)
    after = _ended(op.after, inside, changed, kept, scf.Yield)
    return with_fields(
        op,
        inits=(*op.inits, *inits),
        before_args=(*op.before_args, *asks),
        before=(*before, with_fields(condition, values=(*condition.values, *handed))),
        after_args=(*op.after_args, *carried),
        after=after,
        results=(*op.results, *_results(changed, numbers)),
    )


def _branch(op: affine.If | scf.If, numbers: Numbers, kept: _Kept) -> Op:
    changed = [place for place in numbers if _stores(op, place)]
    end = affine.Yield if isinstance(op, affine.If) else scf.Yield
    then = _ended(op.then, dict(numbers), changed, kept, end)
    orelse = _ended(op.orelse, dict(numbers), changed, kept, end)
    return with_fields(op, then=then, orelse=orelse, results=(*op.results, *_results(changed, numbers)))


def _ended(
    block: Block, inside: Numbers, changed: Sequence[Place], kept: _Kept,
    end: type[affine.Yield] | type[scf.Yield],
) -> Block:  # fmt: skip
    """A block that also yields what the variables hold in the end."""
    made = _block(block, inside, kept)
    if not changed:
        return tuple(made)
    last = tuple(inside[place] for place in changed)
    if made and isinstance(made[-1], affine.Yield | scf.Yield):
        return (*made[:-1], with_fields(made[-1], values=(*made[-1].values, *last)))
    return (*made, end(last))


def _results(changed: Sequence[Place], numbers: Numbers) -> tuple[Value, ...]:
    for place in changed:
        numbers[place] = _number(place[0])
    return tuple(numbers[place] for place in changed)


def _number(buffer: Value) -> Value:
    assert isinstance(buffer.type, MemRefType)
    return Value(buffer.type.element, buffer.hint, buffer.location)
