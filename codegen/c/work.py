"""How much a parallel loop does, as C that the sizes of a call decide: too little, and one thread does it sooner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod

from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import ADD, MULTIPLY, Code, call, number
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref, scf, vector
from affdsl.ir.expr import Affine, Constraint, FloorDiv, Value
from affdsl.ir.parts import PARTS
from affdsl.ir.traverse import walk
from affdsl.ir.types import VectorType, element_of

FORK = 80_000
"""So many operations take longer than it takes to give threads that have just worked something to do, and to wait."""
WAKE = 1_000_000
"""So many are worth waking threads that sleep, as they may where a loop stands in no other one of its function."""

AT_ONCE = 2
"""So many bytes come from memory, in the mean, while an operation runs."""
_LOADS = (affine.Load, memref.Load, affine.VectorLoad, vector.Load, vector.MaskedLoad)
_STORES = (affine.Store, memref.Store, affine.VectorStore, vector.Store, vector.MaskedStore)

Counting = Callable[[Block], int]
"""How much a block does that holds no loops."""
Linear = dict[Value | None, Fraction]
"""A number for each value, by which it is multiplied; that of None is added."""


Middles = dict[Value, Linear | None]
"""What values that are made inside of a band are in the middle, by values around it; None where that is not known."""


Negative = tuple[Affine, ...]
"""What is below zero where something runs, since the condition that it is not does not hold."""


class Trip(FrozenValue):
    """How often a loop runs, about: a linear expression, and what else it is at most, of values around the band.

    What it is at most are distances, of which each iteration goes a step.
    """

    linear: Linear
    most: tuple[Affine, ...] = ()
    step: int = 1


class Work(FrozenValue):
    """How often something runs: a number of operations, and loops that run so much for each of their iterations."""

    operations: int
    loops: tuple[tuple[Trip, Work], ...] = ()


def enough(c: Context, op: affine.Parallel) -> str:
    """The clause of OpenMP with which threads share a loop only where there is enough to do; none where it always is.

    Bounds that move with a loop inside count as in the middle of it. Where they come from data, nothing is known.
    """
    found = _of_band(op)
    if found is None:
        return ""
    shown = _shown(c, found)
    if shown is None:
        return ""
    least = FORK if op in c.repeated else WAKE
    if isinstance(shown, Fraction):
        return "" if shown >= least else " if(0)"
    return f" if({shown.text} > {least}.0)"


def only_reads_on(op: affine.Parallel) -> bool:
    """Whether a band is one long loop, in strips, that loads each element once, and combines what it loads.

        parallel k = 0 to N step 8192 reduce: for i = k to min(N, k + 8192) step 8: s += x[i]

    All it waits for is memory: how many bytes it reads says how long it takes.
    """
    if len(op.ivs) > 1:
        return False

    def is_strip(loop: affine.For, around: Value) -> bool:
        inside = [each for each in loop.body if isinstance(each, affine.For)]
        begins = any(around in low.values() for low in loop.lower)
        return begins and all(is_strip(each, loop.iv) for each in inside)

    loops = [each for each in op.body if isinstance(each, affine.For)]
    inside: Sequence[Op] = loops or (op,)
    stores = [each for inner in inside for each in walk(inner) if isinstance(each, _STORES)]
    return not stores and all(is_strip(loop, op.ivs[0]) for loop in loops) and bool(loops or op.results)


def is_uneven(op: affine.Parallel) -> bool:
    """Whether iterations of a parallel loop may do more than others: how often loops inside run moves with its counter.

    So it is in a triangle. A tile that begins at the counter, whose bounds are a number apart, is less at the end only.
    Iterations that hold no nest are so short that giving them out one by one takes longer than they do.
    """
    loops = [inner for inner in walk(op) if isinstance(inner, affine.For)]
    if not any(isinstance(inner, affine.For) for loop in loops for inner in loop.body):
        return False
    moving = set(op.ivs)
    for inner in loops:
        if not moving.intersection(_in_bounds(inner)):
            continue
        moving.add(inner.iv)
        tiles = [low for low in inner.lower for high in inner.upper if (high - low).is_constant]
        if not any(moving.intersection(low.values()) for low in tiles):
            return True
    return False


def are_parts(op: affine.Parallel) -> bool:
    """Whether a band is the one loop over parts of iterations, of which the last ones have fewer, or none.

    Threads take such parts in turns, so that all have as many of those that have some.
    """
    (lower, *others), (upper, *_) = op.lower, op.upper
    return not others and lower == (Affine(),) and upper == (Affine.of(PARTS),) and op.steps == (1,)


def _in_bounds(op: affine.For) -> set[Value]:
    return {value for bound in (*op.lower, *op.upper) for value in bound.values()}


def _of_band(op: affine.Parallel) -> Work | None:
    middles: Middles = {}
    trips: list[Trip] = []
    for iv, lower, upper, step in zip(op.ivs, op.lower, op.upper, op.steps, strict=True):
        trip = _trip(iv, lower, upper, step, middles, ())
        if trip is None:
            return None
        trips.append(trip)
    work = _of_block(op.body, middles, (), with_memory if only_reads_on(op) else operations)
    for trip in reversed(trips):
        work = None if work is None else Work(0, ((trip, work),))
    return work


def _of_block(block: Block, middles: Middles, negative: Negative, count: Counting) -> Work | None:
    """What one run of a block does; where it has loops, these are what counts."""
    loops: list[tuple[Trip, Work]] = []
    for op in block:
        made = _linear(op.expr, middles) if isinstance(op, affine.Apply) else None
        middles.update(dict.fromkeys(op.defines(), made))
        for work in _inside(op, middles, negative, count):
            if work is None:
                return None
            loops += work.loops if work.loops else ()
    return Work(0, tuple(loops)) if loops else Work(count(block))


def _inside(op: Op, middles: Middles, negative: Negative, count: Counting) -> list[Work | None]:
    match op:
        case affine.For():
            trip = _trip(op.iv, op.lower, op.upper, op.step, middles, negative)
            body = None if trip is None else _of_block(op.body, middles, negative, count)
            return [None if trip is None or body is None else Work(0, ((trip, body),))]
        case affine.If(condition=(Constraint(equality=False) as only,)):
            then, orelse = op.then, op.orelse
            return [
                _of_block(then, middles, negative, count),
                _of_block(orelse, middles, (*negative, only.expr), count),
            ]
        case affine.If() | scf.If():
            return [_of_block(block, middles, negative, count) for block in op.blocks()]
        case _ if [*op.blocks()]:
            return [None]
    return []


def operations(block: Block) -> int:
    """How many operations a block has."""
    return sum(1 + sum(operations(inner) for inner in op.blocks()) for op in block)


def with_memory(block: Block) -> int:
    """How many operations a block has, where loads are as many as they take as long as."""
    return sum(max(1, _bytes(op) // AT_ONCE) + sum(with_memory(inner) for inner in op.blocks()) for op in block)


def _bytes(op: Op) -> int:
    """How many bytes an operation loads."""
    if not isinstance(op, _LOADS):
        return 0
    type = op.result.type
    lanes = prod(type.shape) if isinstance(type, VectorType) else 1
    element = element_of(type)
    return lanes * getattr(element, "width", 64) // 8


def _trip(
    iv: Value,
    lower: Sequence[Affine],
    upper: Sequence[Affine],
    step: int,
    middles: Middles,
    negative: Negative,
) -> Trip | None:
    """How often a loop runs, about; and its middle, which is noted.

    Of a tile, whose bounds are a number apart, that is the number; it is less only where what is tiled ends before. Of
    what runs where there is no whole vector, as N - 16 is negative, it is one less than that has lanes, at most; and so
    of what whole vectors leave over.
    """
    pairs = [(low, high) for low in lower for high in upper]
    low, high = next((pair for pair in pairs if (pair[1] - pair[0]).is_constant), pairs[0])
    most = [last - first for first, last in pairs if (first, last) != (low, high)]
    inside = set(middles)
    first, last = _linear(low, middles), _linear(high, middles)
    if first is None or last is None:
        return None
    middles[iv] = _combined(first, Fraction(1, 2), last, Fraction(1, 2))
    short = [rest.constant - 1 for each in negative if (rest := high - low - each).is_constant]
    short += [left for a, b in pairs if (left := _left_over(b - a)) is not None]
    if short:
        return Trip({None: Fraction(max(0, min(short)), step)})
    trip = _likely(_combined(last, Fraction(1, step), first, Fraction(-1, step)))
    known = tuple(each for each in most if not inside.intersection(each.values()))
    return Trip(trip, known if trip.keys() == {None} else (), step)


def _left_over(distance: Affine) -> int | None:
    """The most that x - f * (x floordiv f) can be, and a number beside it; None of any other distance."""
    for atom, factor in distance.terms:
        if isinstance(atom, FloorDiv) and isinstance(atom.divisor, int) and factor == -atom.divisor:
            rest = distance + Affine(((atom, atom.divisor),)) - atom.dividend
            if rest.is_constant:
                return atom.divisor - 1 + rest.constant
    return None


def _likely(trip: Linear) -> Linear:
    """A number of iterations that is none below one: what is subtracted for the middle of a loop around is left out."""
    found = {value: factor for value, factor in trip.items() if value is None or factor > 0}
    return found if len(found) > (None in found) else {None: max(found.get(None, Fraction(1)), Fraction(1))}


def _linear(expr: Affine, middles: Middles) -> Linear | None:
    found: Linear = {None: Fraction(expr.constant)}
    for atom, factor in expr.terms:
        inner: Linear | None
        match atom:
            case Value():
                inner = middles.get(atom, {atom: Fraction(1)})
            case FloorDiv(divisor=int() as divisor):
                inner = _linear(atom.dividend, middles)
                inner = None if inner is None else _combined(inner, Fraction(1, divisor), {}, Fraction(0))
            case _:
                inner = None
        if inner is None:
            return None
        found = _combined(found, Fraction(1), inner, Fraction(factor))
    return found


def _combined(a: Linear, by: Fraction, b: Linear, times: Fraction) -> Linear:
    keys = dict.fromkeys((*a, *b))
    sums = {key: a.get(key, Fraction(0)) * by + b.get(key, Fraction(0)) * times for key in keys}
    return {key: factor for key, factor in sums.items() if factor or key is None}


def _shown(c: Context, work: Work) -> Code | Fraction | None:
    """How many operations, in C or as a number; None where that is not known before the loop."""
    total, parts = Fraction(work.operations), list[str]()
    for trip, inner in work.loops:
        each = _shown(c, inner)
        if each is None:
            return None
        times = _shown_trip(c, trip)
        if times is None:
            return None
        if isinstance(times, Fraction) and isinstance(each, Fraction):
            total += times * each
        else:
            parts.append(f"{_number(times)} * {_number(each)}")
    return _sum(parts, total) if parts else total


def _shown_trip(c: Context, trip: Trip) -> Code | Fraction | None:
    found = _shown_linear(c, trip.linear)
    if not isinstance(found, Fraction) or not trip.most:
        return found
    shown = number(int(found * trip.step))
    for each in trip.most:
        other = c.values.expression(each)
        if other.buffers:
            return None
        shown = call(c.unit.helper_in_clause("min_i64"), shown, other)
    by = f"{1 / trip.step!r} * " if trip.step > 1 else ""
    return Code(f"{by}(double){shown.text}", MULTIPLY)


def _shown_linear(c: Context, linear: Linear) -> Code | Fraction | None:
    parts: list[str] = []
    for value, factor in linear.items():
        if value is None:
            continue
        shown = c.values.expression(Affine.of(value))
        if shown.buffers:
            return None
        text = f"(double){shown.text if shown.text.isidentifier() else f'({shown.text})'}"
        parts.append(text if factor == 1 else f"{_number(factor)} * {text}")
    constant = linear.get(None, Fraction(0))
    return _sum(parts, constant) if parts else constant


def _sum(parts: Sequence[str], constant: Fraction) -> Code:
    every = [*parts, _number(constant)] if constant else [*parts]
    return Code(" + ".join(every).replace("+ -", "- "), MULTIPLY if len(every) == 1 else ADD)


def _number(shown: Code | Fraction) -> str:
    return repr(float(shown)) if isinstance(shown, Fraction) else shown.at(MULTIPLY)
