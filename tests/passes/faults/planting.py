"""Plants faults: a bound off by one, a dropped guard, two statements swapped, a wrong private buffer, a lost tail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from random import Random

from affdsl.errors import VerificationError
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import map_blocks, rewrite, walk, with_fields
from affdsl.ir.types import MemRefType
from affdsl.ir.verifier import verify

Fault = Callable[[Module, Random], "Module | None"]
Access = affine.Load | affine.Store
SHOWS = (affine.For, affine.If, affine.Parallel, affine.Store, memref.Store, scf.For, scf.If)
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

    def changed(op: affine.For | affine.Parallel) -> Op:
        name, by = random.choice(("lower", "upper")), random.choice((-1, 1))
        if isinstance(op, affine.For):
            return with_fields(op, **{name: _moved(getattr(op, name), by * op.step)}, written=None)
        axis = random.randrange(len(op.ivs))
        groups = [_moved(g, by * op.steps[axis]) if k == axis else g for k, g in enumerate(getattr(op, name))]
        return with_fields(op, **{name: tuple(groups)}, written=None)

    return _one(module, (affine.For, affine.Parallel), changed, random)


def dropped_guard(module: Module, random: Random) -> Module | None:
    """What stands below a condition is done always; or one of several bounds of a loop is forgotten."""

    def changed(op: affine.If | affine.For) -> Op | Block:
        if isinstance(op, affine.If):
            return op.then
        name = random.choice([name for name in ("lower", "upper") if len(getattr(op, name)) > 1])
        bounds = list(getattr(op, name))
        del bounds[random.randrange(len(bounds))]
        return with_fields(op, **{name: tuple(bounds)}, written=None)

    def fits(op: Op) -> bool:
        match op:
            case affine.If(results=results):
                return not results
            case affine.For(lower=lower, upper=upper):
                return len(lower) > 1 or len(upper) > 1
        return False

    return _one(module, (affine.If, affine.For), changed, random, fits)


def two_statements_swapped(module: Module, random: Random) -> Module | None:
    """Two neighbours of which one stores, or holds what does, change places."""
    places = [
        (a, b)
        for block in _blocks(module)
        for a, b in pairwise(block)
        if (isinstance(a, SHOWS) or isinstance(b, SHOWS))
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


def wrong_private_buffer(module: Module, random: Random) -> Module | None:
    """A load or store goes to another buffer, and one of the two is private; or iterations share a private buffer."""
    private = {op.result for op in walk(module) if isinstance(op, memref.Alloc | memref.Alloca)}
    every = _buffers(module)

    def others(op: Access) -> list[Value]:
        return [
            b
            for b in every
            if b is not op.memref and b.type == op.memref.type and (b in private or op.memref in private)
        ]

    def changed(op: Access) -> Op:
        return with_fields(op, memref=random.choice(others(op)))

    if random.random() < 0.3 and (shared := _shared(module, random)) is not None:
        return shared
    return _one(module, (affine.Load, affine.Store), changed, random, lambda op: bool(others(op)))


def wrong_element(module: Module, random: Random) -> Module | None:
    """A load or store goes to the neighbour of its element."""

    def changed(op: Access) -> Op:
        axis, by = random.randrange(len(op.index)), random.choice((-1, 1))
        index = tuple(e + by if k == axis else e for k, e in enumerate(op.index))
        return with_fields(op, index=index, written=None)

    return _one(module, (affine.Load, affine.Store), changed, random, lambda op: bool(op.index))


def lost_tail(module: Module, random: Random) -> Module | None:
    """Of a loop, iterations beyond the last multiple of a number are not done; or a loop after another is left out."""

    def changed(op: affine.For) -> affine.For:
        by = random.choice((2, 3, 4, 8)) * op.step
        (lower,) = op.lower
        upper = tuple(lower + (e - lower) // by * by for e in op.upper)
        return with_fields(op, upper=upper, written=None)

    tails = [
        b
        for block in _blocks(module)
        for a, b in pairwise(op for op in block if not isinstance(op, affine.Apply))
        if isinstance(a, affine.For | affine.Parallel) and isinstance(b, affine.For) and not b.results
    ]
    if tails and random.random() < 0.5:
        lost = random.choice(tails)

        def without(block: Block) -> Block:
            return tuple(map_blocks(op, without) for op in block if op is not lost)

        return map_blocks(module, without)
    return _one(module, (affine.For,), changed, random, lambda op: isinstance(op, affine.For) and len(op.lower) == 1)


FAULTS: dict[str, Fault] = {
    f.__name__.replace("_", " "): f
    for f in (
        bound_off_by_one, dropped_guard, two_statements_swapped, wrong_private_buffer, lost_tail, wrong_element,
    )
}  # fmt: skip


def _moved(bounds: tuple[Affine, ...], by: int) -> tuple[Affine, ...]:
    return tuple(e + by for e in bounds)


def _one(  # type: ignore[no-untyped-def]
    module: Module, kinds: tuple[type[Op], ...], change, random: Random, fits: Callable[[Op], bool] = lambda op: True
) -> Module | None:
    """The module with one operation of some kinds that fits changed."""
    places = [op for op in walk(module) if isinstance(op, kinds) and fits(op)]
    if not places:
        return None
    # Operations inside are made anew by the rewrite, so the place is found by its number, innermost first.
    chosen, count = random.randrange(len(places)), 0

    def rule(op: Op) -> Op | Iterable[Op] | None:
        nonlocal count
        if not isinstance(op, kinds) or not fits(op):
            return None
        count += 1
        return change(op) if count == chosen + 1 else None

    return rewrite(module, rule)


def _shared(module: Module, random: Random) -> Module | None:
    """The module with an allocation before the loop or band in which it stands; None if there is none."""
    places = [
        (outer, inner)
        for block in _blocks(module)
        for outer in block
        if isinstance(outer, affine.For | affine.Parallel)
        for inner in outer.body
        if isinstance(inner, memref.Alloc | memref.Alloca)
    ]
    if not places:
        return None
    loop, made = random.choice(places)
    ends = [op for op in loop.body if isinstance(op, memref.Dealloc) and op.memref is made.result]

    def moved(block: Block) -> Block:
        found: list[Op] = []
        for op in block:
            if op is loop:
                rest = tuple(inner for inner in loop.body if inner is not made and inner not in ends)
                found += [made, with_fields(loop, body=rest), *ends]
            else:
                found.append(map_blocks(op, moved))
        return tuple(found)

    return map_blocks(module, moved)


def _blocks(op: Op) -> Iterator[Block]:
    for inner in walk(op):
        if not isinstance(inner, Module):
            yield from inner.blocks()


def _buffers(module: Module) -> list[Value]:
    """All buffers; what uses one where it is not known is refused by the verifier."""
    found: list[Value] = []
    for function in module.functions:
        found += [a for a in function.args if isinstance(a.type, MemRefType)]
        found += [op.result for op in walk(function) if isinstance(op, memref.Alloc | memref.Alloca)]
    return found
