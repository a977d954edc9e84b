"""The contexts of a program: what the loops, bands and conditions around a place, and the contract, say there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

from affdsl.errors import InternalError
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, memref
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.traverse import kept, map_blocks, with_fields
from affdsl.ir.types import INDEX, MemRefType
from affdsl.passes.simplify.context import Context, Definition
from affdsl.passes.simplify.ranges import Range, between, point
from affdsl.passes.simplify.stated import stated

OpT = TypeVar("OpT", bound=Op)
Rule = Callable[[Op, Context], Op | Iterable[Op] | None]
MOST_REWRITES = 1000
"""Of one operation and what stands in its place: loops that run once may be many inside each other."""
_DEFINING = (affine.Apply, affine.Min, affine.Max, affine.DelinearizeIndex, arith.Constant, memref.Dim, Opaque)
"""The operations of which it is known what they say of their values."""


def places(root: Op) -> Iterator[tuple[Op, Context]]:
    """root and everything inside, parents first, each with what is known where it stands.

    >>> from affdsl.ir.types import INDEX
    >>> i, n = Value(INDEX, "i"), Value(INDEX, "n")
    >>> inner = affine.Apply(Value(INDEX), i // 8)
    >>> loop = affine.For(i, (Affine.of(0),), (Affine.of(8),), (inner,))
    >>> [(op.name, context.range_of(i // 8)) for op, context in places(loop)][1]
    ('affine.apply', Range(low=0, high=0, modulus=0, residue=0))
    """
    yield from _places((root,), _start())


def rewrite_within(
    root: OpT, rule: Rule, where: Collection[Op] | None = None, shown: Collection[Op] | None = None
) -> OpT:
    """root with `rule(op, context)` applied to every operation inside, parents first.

    Where `where` is given, only its operations are entered, and those that the rule gives. Where `shown` is given, all
    others directly inside of root stay as they are.

    The rule gives None to keep an operation, () to remove it, or what stands in its place. What it gives is shown to
    it again, until it keeps it; InternalError says that it never does. Only then is an operation entered, so what is
    inside knows the bounds and conditions that it has now.
    """
    context = _start()
    context.definitions.update(_defined(root, context))
    if shown is None:
        return _enter(root, context, lambda block, inside: _rewrite(block, inside, rule, where))
    return _enter(root, context, lambda block, inside: _rewrite_shown(block, inside, rule, where, shown))


def domain_of(path: Sequence[Op]) -> Context:
    """What is known where the last operation of a path stands; each operation of it lies in a block of the one before.

    Its `facts` are the constraints: induction variables within all of their bounds and on their steps; the constraints
    of an affine.if in its then block, and in its else block where the negation is one constraint; and the contract.
    """
    context = _start()
    for outer, inner in pairwise(path):
        for inside, block in _blocks(outer, context):
            position = next((k for k, op in enumerate(block) if op is inner), None)
            if position is not None:
                for op in block[:position]:
                    _define(op, inside)
                context = inside
                break
        else:
            raise ValueError(f"the path is broken: {inner.name} does not stand in a block of {outer.name}")
    return context


def _start() -> Context:
    return Context(definitions={})


def _places(block: Block, context: Context) -> Iterator[tuple[Op, Context]]:
    for op in block:
        yield op, context
        _define(op, context)
        for inside, inner in _blocks(op, context):
            yield from _places(inner, inside)


def _rewrite(block: Block, context: Context, rule: Rule, where: Collection[Op] | None) -> Block:
    out: list[Op] = []
    pending = [(op, 0) for op in reversed(block)]
    while pending:
        op, rewrites = pending.pop()
        new = rule(op, context)
        if new is not None and new is not op:
            if rewrites >= MOST_REWRITES:
                raise InternalError(f"a rule rewrites {op.name} for ever: it must give None where nothing changes")
            given = (new,) if isinstance(new, Op) else tuple(new)
            pending.extend((each, rewrites + 1) for each in reversed(given))
            continue
        _define(op, context)
        if op.block_fields and (where is None or rewrites or op in where):
            op = _enter(op, context, lambda inner, inside: _rewrite(inner, inside, rule, where))
        out.append(op)
    return kept(block, out)


def _rewrite_shown(
    block: Block, context: Context, rule: Rule, where: Collection[Op] | None, shown: Collection[Op]
) -> Block:
    """A block of which only some operations are looked at: much faster than all where it is long."""
    new: dict[Op, Block] = {}
    for op in block:
        if op in shown:
            new[op] = _rewrite((op,), context, rule, where)
        elif isinstance(op, _DEFINING):
            _define(op, context)
    if all(made == (op,) for op, made in new.items()):
        return block
    return tuple([made for op in block for made in new.get(op, (op,))])


def _enter(op: OpT, context: Context, on_block: Callable[[Block, Context], Block]) -> OpT:
    """op with its blocks passed through on_block, each with its own context."""
    if isinstance(op, affine.If):
        changed: dict[str, object] = {}
        for name, (inside, block) in zip(("then", "orelse"), _blocks(op, context), strict=True):
            new = on_block(block, inside)
            if new is not block:
                changed[name] = new
        return with_fields(op, **changed) if changed else op
    inside = _inside(op, context)
    return map_blocks(op, lambda block: on_block(block, inside))


def _blocks(op: Op, context: Context) -> Iterator[tuple[Context, Block]]:
    """The blocks of an operation, each with what is known in it."""
    if isinstance(op, affine.If):
        yield context.knowing(op.condition), op.then
        yield context.knowing(negation(op.condition, context)), op.orelse
        return
    blocks = tuple(op.blocks())
    inside = _inside(op, context) if blocks else context
    yield from ((inside, block) for block in blocks)


def _inside(op: Op, context: Context) -> Context:
    match op:
        case affine.For():
            return context.knowing(loop_facts(op.iv, op.lower, op.upper, op.step))
        case affine.Parallel():
            loops = zip(op.ivs, op.lower, op.upper, op.steps, strict=True)
            return context.knowing(fact for loop in loops for fact in loop_facts(*loop))
        case func.Func():
            return context.knowing(op.promised)
        case _:
            return context


def loop_facts(iv: Value, lower: Sequence[Affine], upper: Sequence[Affine], step: int) -> Iterator[Constraint]:
    """What holds of an induction variable wherever it is in scope."""
    for bound in lower:
        yield Constraint(iv - bound)
    for bound in upper:
        yield Constraint(bound - iv - 1)
    if step > 1 and len(lower) == 1:
        yield Constraint((iv - lower[0]) % step, equality=True)


def negation(condition: Sequence[Constraint], context: Context) -> tuple[Constraint, ...]:
    """What holds where a condition does not: one constraint, or nothing where it takes more to say it."""
    if len(condition) != 1:
        return ()
    ((constraint),) = condition
    expr = constraint.expr
    if not constraint.equality:
        return (Constraint(-1 - expr),)
    where = context.range_of(expr)
    if where.low is not None and where.low >= 0:
        return (Constraint(expr - 1),)
    if where.high is not None and where.high <= 0:
        return (Constraint(-1 - expr),)
    return ()


def _define(op: Op, context: Context) -> None:
    context.definitions.update(_defined(op, context))


def _defined(op: Op, context: Context) -> dict[Value, Definition]:
    """What an operation says of the values that it defines. It holds wherever they are in scope."""
    match op:
        case affine.Apply(result=result, expr=expr):
            return {result: Definition((Constraint(result - expr, equality=True),), context.range_of(expr))}
        case affine.Min(result=result, exprs=exprs):
            facts = [Constraint(e - result) for e in exprs]
            ranges = [context.range_of(e) for e in exprs]
            return _chosen(result, facts, _least(ranges))
        case affine.Max(result=result, exprs=exprs):
            facts = [Constraint(result - e) for e in exprs]
            ranges = [context.range_of(e).scaled(-1) for e in exprs]
            return _chosen(result, facts, _least(ranges).scaled(-1))
        case arith.Constant(result=result, value=int(number)) if result.type == INDEX:
            return {result: _number(result, number)}
        case affine.DelinearizeIndex(results=(_, *digits)) if digits:
            return {d: _digit(d, radix) for d, radix in zip(digits, op.radices[-len(digits) :], strict=True)}
        case memref.Dim(result=result):
            return {result: _size(op, context)}
        case Opaque(results=(result,)) if result.type == INDEX and (where := stated(op)) is not None:
            return {result: Definition(tuple(_inside_of(result, where)), where)}
        case _:
            return {}


def _inside_of(value: Value, where: Range) -> Iterator[Constraint]:
    if where.low is not None:
        yield Constraint(value - where.low)
    if where.high is not None:
        yield Constraint(where.high - value)


def _chosen(result: Value, facts: list[Constraint], where: Range) -> dict[Value, Definition]:
    if len(facts) == 1:
        return {result: Definition((Constraint(facts[0].expr, equality=True),), where)}
    return {result: Definition((*facts, *_inside_of(result, where)), where)}


def _least(ranges: Sequence[Range]) -> Range:
    """Where the smallest of numbers from these ranges lies."""
    if len(ranges) == 1:
        return ranges[0]
    lows = [r.low for r in ranges]
    highs = [r.high for r in ranges if r.high is not None]
    known = [low for low in lows if low is not None]
    return between(min(known) if known and len(known) == len(lows) else None, min(highs, default=None))


def _number(result: Value, number: int) -> Definition:
    return Definition((Constraint(result - number, equality=True),), point(number))


def _digit(result: Value, radix: int | Value) -> Definition:
    """At least 0, and below its number of the basis."""
    facts = (Constraint(Affine.of(result)), Constraint(radix - result - 1))
    return Definition(facts, between(0, radix - 1 if isinstance(radix, int) else None))


def _size(op: memref.Dim, context: Context) -> Definition:
    axis = context.range_of_value(op.index).value
    type = op.memref.type
    if isinstance(type, MemRefType) and axis is not None and 0 <= axis < type.rank:
        size = type.shape[axis]
        if size is not None:
            return _number(op.result, size)
    return Definition((Constraint(Affine.of(op.result)),), between(0, None))
