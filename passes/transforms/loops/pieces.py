"""A loop run in pieces one after the other: copies of its body, new bounds, and what stands in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.applied import Applied
from affdsl.ir.blocks import split_body
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import clone, clone_block, likes, map_blocks, rewrite, walk, with_fields
from affdsl.ir.types import INDEX
from affdsl.ir.written import add

Bounds = Applied | tuple[Affine, ...]
"""The lower or upper bounds of a loop, as they are to be printed or not."""
MOST_OPERATIONS = 200_000
"""A transformation that would make more operations of one loop is not done."""


class Piece(FrozenValue):
    """A part of the iterations of a loop, and what the hint of its induction variable gets behind it."""

    lower: Bounds
    upper: Bounds
    suffix: str = ""
    step: int | None = None


def with_loop(func: Func, loop: Op, new: Iterable[Op], replaced: Mapping[Value, Value] | None = None) -> Func:
    """func with other operations in the place of one, whose results are read as `replaced` says."""
    made = rewrite(func, lambda op: new if op is loop else None)
    return renamed(made, replaced) if replaced else made


def block_around(function: Func, op: Op) -> Block:
    """The block in which an operation of the function stands."""
    return next(block for each in walk(function) for block in each.blocks() if any(op is found for found in block))


def with_block(function: Func, old: Block, new: Block) -> Func:
    """The function with other operations in the place of one of its blocks."""

    def on_block(block: Block) -> Block:
        return new if block is old else tuple(map_blocks(op, on_block) for op in block)

    return map_blocks(function, on_block)


def in_pieces(loop: affine.For, pieces: Sequence[Piece], kept: int = 0) -> list[affine.For]:
    """Loops over pieces of the iterations of a loop, each carrying on what the one before yielded.

    The piece of number `kept` is the loop itself, with its induction variable; the others have copies of its body.
    The last one defines the results of the loop.
    """
    made: list[affine.For] = []
    for number, piece in enumerate(pieces):
        part = loop if number == kept else copied_loop(loop, piece.suffix)
        results = loop.results if number == len(pieces) - 1 else likes(loop.results)
        part = bounded(part, piece.lower, piece.upper, piece.step or loop.step)
        made.append(with_fields(part, inits=made[-1].results if made else loop.inits, results=results))
    return made


def copied_loop(loop: affine.For, suffix: str = "") -> affine.For:
    """A copy of a loop, whose induction variable is called as the old one with something behind it."""
    copy = clone(loop, {})
    if copy.iv.hint:
        copy.iv.hint += suffix  # nobody else holds it yet
    return copy


def bounded(loop: affine.For, lower: Bounds, upper: Bounds, step: int) -> affine.For:
    """A loop with other bounds."""
    spelled = {name: b for name, b in (("lower", lower), ("upper", upper)) if isinstance(b, Applied)}
    return with_fields(loop, lower=exprs(lower), upper=exprs(upper), step=step, written=spelled or None)


def as_it_is(loop: affine.For, name: str) -> Bounds:
    """The bounds of a loop, lower or upper, as they were written."""
    found = loop.spelling(name)
    if found is not None:
        return found
    return loop.lower if name == "lower" else loop.upper


def largest(*bounds: Affine) -> tuple[Affine, ...]:
    """Lower bounds without those that another one makes useless."""
    return _only(bounds, max)


def smallest(*bounds: Affine) -> tuple[Affine, ...]:
    """Upper bounds without those that another one makes useless."""
    return _only(bounds, min)


def exprs(bounds: Bounds) -> tuple[Affine, ...]:
    """Bounds as expressions."""
    if isinstance(bounds, tuple):
        return bounds
    return tuple(e for e in bounds.means if isinstance(e, Affine))


def _only(bounds: Sequence[Affine], chosen: Callable[[Iterable[int]], int]) -> tuple[Affine, ...]:
    """One bound of those that differ by a number, at the place of the first of them."""
    found: dict[Affine, list[int]] = {}
    for bound in bounds:
        found.setdefault(bound - bound.constant, []).append(bound.constant)
    return tuple(rest + chosen(numbers) for rest, numbers in found.items())


def copies(
    loop: affine.For, counters: Sequence[Affine | None], carried: Sequence[Value], constants: list[Op] | None = None
) -> tuple[list[Op], tuple[Value, ...]]:
    """The body of a loop once for each counter, one after the other, and what the last of them yields.

    A counter is computed before the copy that reads it; None stands for the induction variable itself, whose copy is
    the body as it is if `carried` are the values that the loop carries. Counters that are numbers become `constants`,
    if that list is given, instead of operations before their copies.
    """
    body, handed_on = split_body(loop.body)
    reads_iv = any(loop.iv in op.mentions() for outer in loop.body for op in walk(outer))
    made: list[Op] = []
    values = tuple(carried)
    for counter in counters:
        if counter is None and values == loop.carried:
            made += body
            values = handed_on
            continue
        new: dict[Value, Term] = dict(zip(loop.carried, values, strict=True))
        if counter is not None and reads_iv:
            made += computed_counter(loop, counter, new, constants)
        made += clone_block(body, new)
        values = tuple(_read(v, new) for v in handed_on)
    return made, values


def computed_counter(
    loop: affine.For, counter: Affine, new: dict[Value, Term], constants: list[Op] | None = None
) -> list[Op]:
    """What computes a number that the induction variable of a loop stands for; `new` gets it, or `constants` do."""
    if counter.value is not None:
        new[loop.iv] = counter.value
        return []
    value = new[loop.iv] = Value(INDEX, loop.iv.hint)
    if counter.is_constant:
        number = arith.Constant(value, counter.constant, location=loop.location)
        if constants is None:
            return [number]
        constants.append(number)
        return []
    if (counter - loop.iv).is_constant:
        return [ahead(loop, (counter - loop.iv).constant, value)]
    lower = loop.spelling("lower") if loop.lower == (counter,) else None
    written = None if lower is None else {"expr": lower}
    return [affine.Apply(value, counter, location=loop.location, written=written)]


def ahead(loop: affine.For, distance: int, result: Value) -> affine.Apply:
    """What computes the counter of a loop and a distance; in text the counter is d0, whatever becomes of it later."""
    written = {"expr": Applied((add("d0", distance),), (loop.iv,), ())}
    return affine.Apply(result, loop.iv + distance, location=loop.location, written=written)


def ended(body: Sequence[Op], values: Sequence[Value], like: Op) -> Block:
    """Operations with the affine.yield of some values behind them, if there are any."""
    return (*body, affine.Yield(tuple(values), location=like.location)) if values else tuple(body)


def operations_in(block: Block) -> int:
    """How many operations a block has, with all inside."""
    return sum(1 for op in block for _ in walk(op))


def _read(value: Value, new: Mapping[Value, Term]) -> Value:
    found = new.get(value, value)
    assert isinstance(found, Value), "values become values here"
    return found


def defined_inside(op: Op) -> set[Value]:
    """The values that exist only inside of an operation."""
    return {v for each in walk(op) for v in (*each.binds(), *(each.defines() if each is not op else ()))}


def visible_before(func: Func, at: Op) -> set[Value]:
    """The values that an operation of a function may read."""

    def search(op: Op) -> set[Value] | None:
        for block in op.blocks():
            seen = set(op.binds())
            for inner in block:
                found = set[Value]() if inner is at else search(inner)
                if found is not None:
                    return seen | found
                seen.update(inner.defines())
        return None

    return search(func) or set()
