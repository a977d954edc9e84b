"""Faults as passes make them, planted into programs: for the tests of what must find them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random

from affdsl.errors import VerificationError
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import map_blocks, rewrite, walk, with_fields
from affdsl.ir.types import MemRefType
from affdsl.ir.verifier import verify

Fault = Callable[[Module, Random], "Module | None"]
Access = affine.Load | affine.Store
LOOPS = (affine.For, affine.If, affine.Parallel, affine.Store, memref.Store, scf.For, scf.If)
"""Operations whose order shows."""


def planted(module: Module, fault: str, random: Random) -> Module | None:
    """The module with one fault at a random place; None if it has no place for one, or would break a rule."""
    made = FAULTS[fault](module, random)
    if made is None:
        return None
    try:
        verify(made)
    except VerificationError:
        return None
    return made


def bound_off_by_one(module: Module, random: Random) -> Module | None:
    """A loop begins or ends one iteration too early or too late."""

    def changed(op: affine.For) -> affine.For:
        name, by = random.choice(("lower", "upper")), random.choice((-1, 1)) * op.step
        return with_fields(op, **{name: tuple(e + by for e in getattr(op, name))}, written=None)

    return _one(module, affine.For, changed, random)


def dropped_guard(module: Module, random: Random) -> Module | None:
    """What stands below a condition is done always."""

    def changed(op: affine.If) -> Block:
        return op.then

    return _one(module, affine.If, changed, random, lambda op: not op.results)


def two_statements_swapped(module: Module, random: Random) -> Module | None:
    """Two neighbours of which one stores, or holds what does, change places."""
    places = [
        (a, b)
        for block in _blocks(module)
        for a, b in pairwise(block)
        if (isinstance(a, LOOPS) or isinstance(b, LOOPS))
        and not (a.is_terminator or b.is_terminator)
        and not set(a.defines()) & {v for inner in walk(b) for v in inner.mentions()}
    ]
    if not places:
        return None
    first, second = random.choice(places)

    def swapped(block: Block) -> Block:
        if first in block and second in block:
            place = block.index(first)
            return (*block[:place], second, first, *block[place + 2 :])
        return tuple(map_blocks(op, swapped) for op in block)

    return map_blocks(module, swapped)


def wrong_buffer(module: Module, random: Random) -> Module | None:
    """A load or store goes to another buffer of the same type."""
    buffers = _buffers(module)

    def others(op: Access) -> list[Value]:
        return [b for b in buffers if b is not op.memref and b.type == op.memref.type]

    def changed(op: Access) -> Op:
        return with_fields(op, memref=random.choice(others(op)))

    return _one(module, Access, changed, random, lambda op: bool(others(op)))


def wrong_element(module: Module, random: Random) -> Module | None:
    """A load or store goes to the neighbour of its element."""

    def changed(op: Access) -> Op:
        axis, by = random.randrange(len(op.index)), random.choice((-1, 1))
        index = tuple(e + by if k == axis else e for k, e in enumerate(op.index))
        return with_fields(op, index=index, written=None)

    return _one(module, Access, changed, random, lambda op: bool(op.index))


def lost_tail(module: Module, random: Random) -> Module | None:
    """Of a loop, iterations beyond the last multiple of a number are not done."""

    def changed(op: affine.For) -> affine.For:
        by = random.choice((2, 3, 4, 8)) * op.step
        (lower,) = op.lower
        upper = tuple(lower + (e - lower) // by * by for e in op.upper)
        return with_fields(op, upper=upper, written=None)

    return _one(module, affine.For, changed, random, lambda op: len(op.lower) == 1)


FAULTS: dict[str, Fault] = {
    f.__name__.replace("_", " "): f
    for f in (bound_off_by_one, dropped_guard, two_statements_swapped, wrong_buffer, wrong_element, lost_tail)
}


def _one(module, kind, change, random, fits=lambda op: True):  # type: ignore[no-untyped-def]
    """The module with one operation of a kind that fits changed."""
    places = [op for op in walk(module) if isinstance(op, kind) and fits(op)]
    if not places:
        return None
    # Operations inside are made anew by the rewrite, so the place is found by its number, innermost first.
    chosen, count = random.randrange(len(places)), 0

    def rule(op: Op) -> Op | Block | None:
        nonlocal count
        if not isinstance(op, kind) or not fits(op):
            return None
        count += 1
        return change(op) if count == chosen + 1 else None

    return rewrite(module, rule)


def _blocks(op: Op) -> Iterator[Block]:
    for inner in walk(op):
        if not isinstance(inner, Module):
            yield from inner.blocks()


def _buffers(module: Module) -> list[Value]:
    """The buffers that are known everywhere in their function; that of another one is refused by the verifier."""
    found: list[Value] = []
    for function in module.functions:
        assert isinstance(function, Func)
        found += [a for a in function.args if isinstance(a.type, MemRefType)]
        found += [op.result for op in function.body if isinstance(op, memref.Alloc)]
    return found
