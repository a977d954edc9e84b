"""Which scalar loops compilers of C put on vectors by themselves: gcc 12 and clang 22, as far as they agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, math, memref, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, VectorType
from affdsl.optimize.machine import Machine
from affdsl.optimize.model.compiled import in_counters, step_of, stride_of, variables
from affdsl.optimize.model.sizes import bits_of, element_of
from affdsl.passes.analysis.iterations import Iterations, Lanes, UncountedError

MOST_APART = 4
"""So many elements lie between those of two iterations at most: they are shuffled together."""
Place: TypeAlias = "tuple[Value, tuple[Affine, ...]]"
"""An element of an array."""

_SIMPLE = ("absf", "sqrt", "copysign")
_SCALAR = ("remf", "minimumf", "maximumf", "fptoui", "uitofp")
_QUOTIENTS = ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi")


def lanes_by_compiler(loop: affine.For, of: Iterations, lanes: Lanes, machine: Machine) -> int:
    """How many iterations of an innermost loop compilers put into a register; 1 where they leave it as it is."""
    ops = [each for each in walk(loop) if each is not loop]
    if loop.step != 1 or any(isinstance(v.type, VectorType) for each in ops for v in (*each.defines(), *each.reads())):
        return 1
    known, always = variables(ops, of), {*_always_stored(loop.body)}
    before = known.difference(v for each in ops for v in each.defines())
    if any(_stays_scalar(each, loop, of, known, before, always) for each in ops):
        return 1
    if not all(map(_is_reduced, loop.carried, _yielded(loop, of))) or _is_carried(loop, known):
        return 1
    if _is_scan(loop, known):
        return 1
    plain = [each for each in ops if isinstance(each, affine.Load | affine.Store) and each.memref not in known]
    if not _lie_together(plain, loop, of) or _wait(plain, loop, of, lanes):
        return 1
    types = [element_of(each.memref.type) for each in ops if isinstance(each, affine.Load | affine.Store)]
    types += [v.type for each in ops for v in each.defines() if isinstance(v.type, FloatType)]
    found = max(1, machine.target.width // max(map(bits_of, types), default=64))
    if any(isinstance(each, affine.If) and _moves_with(each, loop) for each in ops):
        return min(found, max(1, machine.target.width // 128))  # counters of 64 bits are compared
    return found


def _yielded(loop: affine.For, of: Iterations) -> list[Op | None]:
    """What makes the values that an iteration hands on."""
    ends = (v for op in loop.body[-1:] if isinstance(op, affine.Yield) for v in op.reads())
    return [of.maker(v) for v in ends]


def _is_reduced(carried: Value, made: Op | None) -> bool:
    """Whether iterations combine integers with a value that is handed on: in any order, as floats are not."""
    is_float = isinstance(carried.type, FloatType)
    return not is_float and isinstance(made, arith.Binary) and carried in made.reads()


def _always_stored(block: Block) -> Iterator[Place]:
    """What is stored in any case."""
    for op in block:
        if isinstance(op, affine.Store):
            yield op.memref, op.index
        elif isinstance(op, affine.If | scf.If):
            first, second = op.blocks()
            yield from {*_always_stored(first)} & {*_always_stored(second)}


def _stays_scalar(
    op: Op, loop: affine.For, of: Iterations, known: set[Value], before: set[Value], always: set[Place]
) -> bool:
    """Whether an operation keeps a loop from vectors: a function, a quotient of integers, a store that may not be.

    Of the known variables some are from before the loop.
    """
    if isinstance(op, math.Unary | math.Binary):
        return op.kind not in _SIMPLE
    if isinstance(op, memref.Load | memref.Store | func.Call | scf.While | affine.For | affine.Parallel):
        return True
    if isinstance(op, affine.If) and not _moves_with(op, loop):
        return False  # the loop is made twice
    if isinstance(op, affine.If) and any(c.equality for c in op.condition):
        return True
    if isinstance(op, scf.If) and any(isinstance(each, scf.If) for block in op.blocks() for each in block):
        return True
    if isinstance(op, scf.If | affine.If):
        if _keeps_the_last(op, before):
            return True
        stores = (each for each in walk(op) if isinstance(each, affine.Store) and each.memref not in known)
        return any((each.memref, each.index) not in always for each in stores)
    if isinstance(op, arith.Binary) and op.kind in _QUOTIENTS:
        return not isinstance(of.maker(op.right), arith.Constant)
    return getattr(op, "kind", "") in _SCALAR


def _keeps_the_last(op: scf.If | affine.If, before: set[Value]) -> bool:
    """Whether a condition decides if a variable from before the loop gets a number that its old one is no part of."""
    loaded = {each.memref for each in walk(op) if isinstance(each, affine.Load)}
    stored = {each.memref for each in walk(op) if isinstance(each, affine.Store)}
    return bool((stored & before) - loaded)


def _moves_with(op: affine.If, loop: affine.For) -> bool:
    """Whether a condition is one on the counter of a loop."""
    return any(loop.iv in c.expr.values() for c in op.condition)


def _is_carried(loop: affine.For, known: set[Value]) -> bool:
    """Whether an iteration uses a float that one before has left in a variable."""
    kept = known.intersection(op.memref for op in walk(loop) if isinstance(op, affine.Store))
    written: set[Value] = set()
    for op in loop.body:
        written |= {op.memref} if isinstance(op, affine.Store) else set()
        loads = (each for each in walk(op) if isinstance(each, affine.Load) and isinstance(each.result.type, FloatType))
        if any(each.memref in kept and each.memref not in written for each in loads):
            return True
    return False


def _is_scan(loop: affine.For, known: set[Value]) -> bool:
    """Whether an element is stored of what an iteration has been handed by the one before."""
    ops = [*walk(loop)]
    kept = known.intersection(op.memref for op in ops if isinstance(op, affine.Store))
    handed, written = set(loop.carried), set[Value]()
    for op in ops:
        if isinstance(op, affine.Store):
            written.add(op.memref)
        elif isinstance(op, affine.Load) and op.memref in kept and op.memref not in written:
            handed.add(op.memref)  # what it is later comes of what it was, if something does
    for op in loop.body:
        if handed.intersection(op.reads()) and not isinstance(op, affine.Load | affine.Store):
            handed.update(op.defines())
        elif isinstance(op, affine.Load) and op.memref in handed:
            handed.add(op.result)
    stores = [op for op in ops if isinstance(op, affine.Store) and op.memref not in known]
    return any(op.value in handed and any(loop.iv in e.values() for e in op.index) for op in stores)


def _lie_together(plain: Sequence[affine.Load | affine.Store], loop: affine.For, of: Iterations) -> bool:
    """Whether accesses move in small steps, and stores of larger ones leave no element out."""
    groups: dict[tuple[object, ...], set[int]] = {}
    for each in plain:
        step = stride_of(each, loop, of)
        if step is None or abs(step) > MOST_APART:
            return False
        if isinstance(each, affine.Store):
            if not step and isinstance(each.value.type, FloatType):
                return False  # a sum in the order of the text
            if abs(step) > 1:
                last = each.index[-1]
                key = each.memref, each.index[:-1], last - last.constant, abs(step)
                groups.setdefault(key, set()).add(last.constant)
    return all(len(found) >= int(str(key[-1])) for key, found in groups.items())


def _wait(plain: Sequence[affine.Load | affine.Store], loop: affine.For, of: Iterations, lanes: Lanes) -> bool:
    """Whether an iteration needs what one before has stored, or order that vectors do not keep."""
    return any(
        other is not store and other.memref is store.memref and _depends(store, other, n < k, loop, of, lanes)
        for k, store in enumerate(plain)
        if isinstance(store, affine.Store)
        for n, other in enumerate(plain)
    )


def _depends(
    store: affine.Store, other: affine.Load | affine.Store, before: bool, loop: affine.For, of: Iterations, lanes: Lanes
) -> bool:
    """Whether a store and another access, which comes before it or not, depend on each other across iterations."""
    here, there = ([in_counters(e, of) for e in each.index] for each in (store, other))
    apart = [a - b for a, b in zip(here, there, strict=True)]
    steps = [step_of(e, loop.iv) for e in here]
    if all(e.is_constant and not e.constant for e in apart):
        return False
    if any(e.is_constant and e.constant and not step for e, step in zip(apart, steps, strict=True)):
        return False
    if steps != [step_of(e, loop.iv) for e in there]:
        return True
    try:
        distances = [int(np.asarray(of.expression(e, lanes)).ravel()[0]) for e in apart]
        trips = int(np.max(of.ranges(loop)[0].count(lanes)))
    except (UncountedError, IndexError, ValueError):
        return False  # it is asked when it runs
    if any(distance for distance, step in zip(distances, steps, strict=True) if not step):
        return False
    late = next((distance / step for distance, step in zip(distances, steps, strict=True) if step), 0.0)
    if isinstance(other, affine.Load):
        return late.is_integer() and (0 < late < trips or (not before and -trips < late < 0))
    return late.is_integer() and (0 < late < trips if before else -trips < late < 0)
