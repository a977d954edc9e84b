"""What compilers of C do with loops by themselves: what they do once for all iterations, what they unroll."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping
from math import inf, prod
from typing import TypeAlias

import numpy as np

from affdsl.ir.core import Block, Lanewise, Op, Pure
from affdsl.ir.dialects import affine, arith, func, memref, scf, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import clone_block, walk
from affdsl.ir.types import MemRefType
from affdsl.optimize.model.units import Makers
from affdsl.optimize.nests import Nest
from affdsl.passes.analysis.iterations import Iterations, UncountedError, one
from affdsl.passes.transforms.loops.nests import counted

Place: TypeAlias = "tuple[Value, tuple[Affine, ...]]"
"""An element of an array."""
UNROLLED, STRAIGHT = 16, 200
"""A loop that runs so often at most is unrolled as a whole, before loops around it become vectors, if that is no more
code than so many operations: gcc's `max-completely-peel-times` and `max-completely-peeled-insns`."""

BETWEEN = 16
"""So many values of which each is computed from the one before are seen through."""


def done_each_time(loop: affine.For, of: Iterations, registers: int) -> Iterator[Op]:
    """The operations of an innermost loop that run in each iteration: the others are done before it, or once for two.

    Variables are registers, and so is an element that all iterations load and store, if they touch no other one of its
    array. So are elements that are the same for all of them where a loop inside is unrolled, if these are few.
    """
    ops = [each for each in walk(loop) if each is not loop]
    stored = {each.memref for each in ops if isinstance(each, affine.Store | affine.VectorStore | memref.Store)}
    places: dict[Value, set[tuple[Affine, ...]]] = {}
    for op in ops:
        if isinstance(op, affine.Access):
            places.setdefault(op.memref, set()).add(op.index)
    kept = variables(ops, of)
    moving: set[Value] = {loop.iv, *loop.carried}
    unrolled = {each.iv: n for each in ops if isinstance(each, affine.For) and (n := times_unrolled(each))}
    if sum(_alike(each, loop, unrolled) for each in ops if isinstance(each, affine.Load)) > registers / 2:
        moving.update(unrolled)
    seen: set[object] = set()
    for each in ops:
        if isinstance(each, affine.Access):
            is_still = moving.isdisjoint(v for e in each.index for v in e.values())
            alone = is_still and (each.memref not in stored or len(places[each.memref]) == 1)
            again = type(each), each.memref, each.index, *(v.type for v in each.defines())
            if each.memref in kept or (again in seen and each.memref not in stored):
                moving.update(each.defines())
                continue
            if alone and isinstance(each, affine.Load | affine.VectorLoad | affine.Store):
                continue
            seen.add(again)
        elif isinstance(each, Pure) and not any(each.blocks()) and moving.isdisjoint(each.reads()):
            continue
        moving.update((*each.defines(), *(v for v in each.binds() if v not in unrolled)))
        yield each


def _alike(load: affine.Load, loop: affine.For, unrolled: Mapping[Value, int]) -> int:
    """How many elements a load is, in loops that are unrolled, of which each is the same for all iterations."""
    used = {v for e in load.index for v in e.values()}
    return prod(unrolled[v] for v in used if v in unrolled) if loop.iv not in used else 0


def variables(ops: Iterable[Op], of: Iterations) -> set[Value]:
    """The variables that operations use."""
    used = {each.memref for each in ops if isinstance(each, affine.Load | affine.Store) and not each.index}
    return {v for v in used if isinstance(of.maker(v), memref.Alloca)}


def always_stored(block: Iterable[Op]) -> Iterator[Place]:
    """What is stored in any case."""
    for op in block:
        if isinstance(op, affine.Store):
            yield op.memref, op.index
        elif isinstance(op, affine.If | scf.If):
            first, second = op.blocks()
            yield from {*always_stored(first)} & {*always_stored(second)}
        elif times_unrolled(op):
            yield from (place for part in op.blocks() for place in always_stored(part))


def is_branch(op: affine.If | scf.If, loaded: Container[Place] = ()) -> bool:
    """Whether an element of an array is stored on one side of a condition alone: the rest is chosen in registers.

    So is what is made of elements that are `loaded` in any case: others may lie outside, and are behind a jump.
    """
    always = {*always_stored((op,))}
    for each in walk(op):
        if isinstance(each, memref.Load | memref.Store):
            return True
        known = always if isinstance(each, affine.Store) else loaded
        if isinstance(each, affine.Load | affine.Store) and each.index and (each.memref, each.index) not in known:
            return True
    return False


def always_loaded(block: Iterable[Op]) -> Iterator[Place]:
    """What is loaded in any case."""
    for op in block:
        if isinstance(op, affine.Load):
            yield op.memref, op.index
        elif not isinstance(op, affine.If | scf.If):
            for part in op.blocks():
                yield from always_loaded(part)


def usual_side(op: Op, maker: Makers) -> Block | None:
    """The side of a condition that yields what is there, but for a vector with special lanes; None for other ones."""
    if not isinstance(op, scf.If) or not op.results or len(op.orelse) != 1:
        return None
    return op.orelse if isinstance(maker(op.condition), vector.Reduction) else None


def times_unrolled(op: Op) -> int:
    """How often a loop runs that compilers unroll as a whole; 0 for others."""
    return _unrolled(op)[0]


def has_loops(block: Block) -> bool:
    """Whether there is a loop in a block, other than those that are unrolled, or a call of what may have one."""
    return _length(block) == inf


def _length(block: Block) -> float:
    """How many operations a block is, with what is unrolled in it; without end where a loop stays."""
    return sum(_unrolled(op)[1] for op in block)


def _unrolled(op: Op) -> tuple[int, float]:
    """How often a loop runs that is unrolled as a whole, or 0, and how many operations that is, or another one."""
    if isinstance(op, affine.Parallel | scf.For | scf.Parallel | scf.While | func.Call):
        return 0, inf
    length = 1 + sum(map(_length, op.blocks()))
    if not isinstance(op, affine.For):
        return 0, length
    trips = known_trips(op)
    return (trips, trips * length) if 0 < trips <= UNROLLED and trips * length <= STRAIGHT else (0, inf)


def known_trips(loop: affine.For) -> int:
    """How often a loop runs where that is a number in the program; 0 elsewhere."""
    span = loop.upper[0] - loop.lower[0]
    is_known = len(loop.lower) == len(loop.upper) == 1 and span.is_constant
    return max(0, -(-span.constant // loop.step)) if is_known else 0


def is_straight(loop: affine.For, wide: int) -> bool:
    """Whether an innermost loop is unrolled as a whole once there are so many iterations in a vector."""
    vectors = -(-known_trips(loop) // wide)
    return 0 < vectors <= UNROLLED and vectors * _length(loop.body) <= STRAIGHT


def step_of(expr: Affine, iv: Value) -> int | None:
    """How much an expression grows with a counter; None if that is not always as much."""
    by = expr.substitute({iv: iv + 1}) - expr
    return by.constant if by.is_constant else None


def in_counters(expr: Affine, of: Iterations) -> Affine:
    """An expression in terms of counters, unless very many values lie in between."""
    seen, left = set[Value](), [*expr.values()]
    while left:
        op = of.maker(value := left.pop())
        if isinstance(op, affine.Apply) and value not in seen:
            seen.add(value)
            left += op.expr.values()
    return of.resolved(expr) if len(seen) <= BETWEEN else expr


def stride_of(access: affine.Access, loop: affine.For, of: Iterations) -> int | None:
    """How many elements an access moves with each number of a counter; None where that is not known."""
    steps = [step_of(in_counters(e, of), loop.iv) for e in access.index]
    if None in steps:
        return None
    if not any(steps[:-1]):
        return steps[-1] if steps else 0
    try:
        root = of.root(access.memref, {})
        sizes = [int(np.max(n)) for n in of.sizes(root, one())] if isinstance(root.type, MemRefType) else []
    except (UncountedError, ValueError):
        return None
    strides = np.cumprod([1, *sizes[:0:-1]])[::-1]
    return int(sum((step or 0) * int(stride) for step, stride in zip(steps, strides, strict=True)))


_ALIKE = (affine.Load, affine.Apply, arith.Constant, memref.Load, Lanewise)
"""Operations that make the same where they are the same, of the same; others are like no other."""


def share_done_again(nest: Nest, loop: affine.For) -> float:
    """The share of the operations of an innermost loop, of those that move with it, that the next iteration repeats.

        for i: for j: B[i, j] = max(f(A[i, j]), f(A[i + 1, j]))

    An iteration of i computes f of the row that the one before it has computed f of: half of all f, and no maximum.
    Iterations that run at once do such operations once: the C compiler sees that they are equal. 0 where a loop has
    other loops or conditions in it.
    """
    ops = nest.innermost.body
    if any(True for op in ops for _ in op.blocks()):
        return 0.0
    later = counted(clone_block(ops, {}), loop.iv, loop.iv + loop.step)
    number = _numbered((*ops, *later))
    moves, done, again = {nest.innermost.iv}, set[int](), set[int]()
    for op, copied in zip(ops, later[-len(ops) :], strict=True):
        in_index = {v for e in op.index for v in e.values()} if isinstance(op, affine.Load) else set[Value]()
        if not moves.isdisjoint((*op.reads(), *in_index)):
            moves.update(op.defines())
            if isinstance(op, Lanewise):
                done.update(number[v] for v in op.defines())
                again.update(number[v] for v in copied.defines())
    return len(done & again) / len(done) if done else 0.0


def _numbered(block: Block) -> Mapping[Value, int]:
    """The number of each value that a block makes: the same for the same structure, however much that is made of."""
    numbers: dict[Hashable, int] = {}
    found: dict[Value, int] = {}
    for op in block:
        parts = (getattr(op, part, None) for part in ("kind", "predicate", "value", "index", "expr"))
        read = (found.get(v, v) for v in op.reads())
        key = (type(op), *parts, *read) if isinstance(op, _ALIKE) else op
        found |= {v: numbers.setdefault((k, v.type, key), len(numbers)) for k, v in enumerate(op.defines())}
    return found
