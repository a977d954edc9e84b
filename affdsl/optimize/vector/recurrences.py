"""Recurrences along lines that do not wait for each other: several lines at once, in lanes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import copy

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import holders, walk
from affdsl.ir.types import FloatType, MemRefType, VectorType
from affdsl.optimize.attempts import names_made, where_legal
from affdsl.optimize.nests import (
    Nest,
    lane_by_lane,
    lanes_of,
    loop_called,
    names_in,
    nest_called,
    on_vectors,
    require_loop,
    unfit_where_refused,
)
from affdsl.optimize.options import Options
from affdsl.optimize.order import transposes
from affdsl.optimize.threads import sharing
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import sums
from affdsl.optimize.vector.outer_loops import several
from affdsl.passes.analysis.parallelism import of_loop
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import IllegalTransform, Schedule

GATHERED = 0.6
"""How many vectors may be put together from lanes, or taken apart, for each operation on vectors."""

HALF = 8
"""How many lanes are put together at most: more come of two halves, and take longer than these one after the other."""
VECTORS = 2
"""How many vectors of lines run at once where they divide: one does so while the other waits."""
ROOMY = 32
"""How many registers a target has that can hold what several vectors of lines hand on."""

SLOW = 4
"""How many additions a division takes as long as, or a square root."""


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with the loop around a recurrence on vectors, and with it all that this loop holds.

        for i: { for j: A[i, j] = S(A[i, j - 1]); for j down: B[j, i] = T(B[j + 1, i], A[i, j]) }

    What a line leaves for its next element stays in a register, in lanes. A recurrence waits for each of its
    iterations, so that lanes pay even where elements of several lines lie far apart. Raises UnfitError.

    References
    ----------
    Hockney and Jesshope, "Parallel Computers 2", ch. 5: many tridiagonal systems at once.
    """
    loops = nest.loops[:-1]
    found = of_loop(nest.dependences, nest.innermost.iv)
    if not loops or found is None or found.verdict != "sequential":
        raise UnfitError  # nothing stands in the way of what it is not
    if loops[-1].results:
        raise UnfitError(f"{nest.names[loops[-1].iv]} hands values on from one line to the next")
    outer, lanes = nest.names[loops[-1].iv], lanes_of(nest, options)
    if sums.is_large(loops[-1]):
        raise UnfitError(f"{outer} holds more than {sharing.MOST_ACCESSES} accesses")
    s = _computed_once(s, loops[-1], outer)
    nest = nest_called(s, nest.name(nest.innermost)) or nest
    made = copy(s)
    for name in names_in(s, outer)[1:]:
        with suppress(IllegalTransform, ScheduleError):
            made.scalar_replace(name)
    with unfit_where_refused():
        wide = copy(made).vectorize(outer, lanes)
        with suppress(UnfitError):
            return take_strips(s, outer, lanes, None, options)
        try:
            wide, said = _in_squares(made, outer, lanes, options)
        except UnfitError:
            with suppress(UnfitError):
                return take_strips(s, outer, lanes, sum(map(lanes_apart, _called(wide, outer))), options)
            wide, said = _one_by_one(made, wide, nest, outer, lanes, options)
    if options.threads > 1 and len(loops) > 1 and _waits(nest, loops[0]):
        with suppress(IllegalTransform, ScheduleError):
            wide.parallel(outer)
            said += ", on threads"
    return wide, said


def _one_by_one(
    made: Schedule, wide: Schedule, nest: Nest, outer: str, lanes: int, options: Options
) -> tuple[Schedule, str]:
    """The schedule with lanes that lie in a row, or are put together one by one. Raises UnfitError, and as steps do."""
    gathers = any(map(lanes_apart, _called(wide, outer)))
    if gathers and lanes > HALF:
        lanes = HALF
        wide = made.vectorize(outer, lanes)
    if not all(map(_pays, _called(wide, outer))):
        raise UnfitError(lane_by_lane(nest, outer))
    said = f"a recurrence: {lanes} iterations of {outer} run at once, in lanes"
    if not gathers:
        return several(made.vectorize(outer, lanes, tail=options.tail), outer, [nest], options, said)
    if options.target.registers >= ROOMY and any(map(divides, _called(wide, outer))):
        with suppress(IllegalTransform, ScheduleError):
            wide.unroll_jam(outer, VECTORS)
            said = f"a recurrence: {VECTORS * lanes} iterations of {outer} run at once, in lanes"
    return wide, said


def _computed_once(s: Schedule, loop: affine.For, name: str) -> Schedule:
    """The schedule with what each line computes alike, as the factors of a system with constant numbers, in front."""
    made, stored = copy(s), {op.memref for op in walk(loop) if isinstance(op, affine.Store)}
    names = [array for array, value in arrays_of(s.function).items() if value in stored]
    where_legal(lambda array: made.precompute(array, name), names)
    return made


def _in_squares(s: Schedule, outer: str, lanes: int, options: Options) -> tuple[Schedule, str]:
    """The schedule with a loop on vectors whose lanes lie apart, in squares. Raises UnfitError, and as steps do."""
    made = copy(s).vectorize(outer, lanes, tail=options.tail)
    if not any(lanes_apart(each) and (divides(each) or _pays(each)) for each in _called(made, outer)):
        raise UnfitError
    at_once = lanes
    if options.target.registers >= ROOMY and any(map(divides, _called(made, outer))):
        with suppress(IllegalTransform, ScheduleError):
            made.unroll_jam(outer, TURNED)
            at_once *= TURNED
    made = turned(made, outer, lanes)
    return made, f"a recurrence: {at_once} iterations of {outer} run at once, in lanes, turned in registers"


def _waits(nest: Nest, loop: affine.For) -> bool:
    """Whether iterations of a loop cannot run on threads as they are."""
    found = of_loop(nest.dependences, loop.iv)
    return found is None or found.verdict != "parallel"


def take_carried(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The same for a recurrence that carries its values: vectors of its own iterations are out of the question."""
    if not nest.innermost.results:
        raise UnfitError
    return take(s, nest, options)


def _called(s: Schedule, name: str) -> list[affine.For]:
    """The loop of a name; none where it ran once."""
    loop = loop_called(s, name)
    return [] if loop is None else [loop]


def divides(loop: Op) -> bool:
    """Whether something in a loop takes so long that another vector of lines can be computed meanwhile."""
    return any(_weight(op) == SLOW for op in walk(loop))


def _pays(loop: Op) -> bool:
    """Whether vectors are put together, or taken apart, seldom enough."""
    return lanes_apart(loop) <= GATHERED * sum(map(_weight, walk(loop)))


def _weight(op: Op) -> int:
    """How many additions an operation takes as long as that is done once for all lanes, on vectors or as all do it."""
    if not isinstance(op, arith.Binary | math.Unary | math.Binary | math.Fma):
        return 0
    if not any(isinstance(v.type, VectorType | FloatType) for v in op.defines()):
        return 0
    return SLOW if isinstance(op, math.Unary) or getattr(op, "kind", "") == "divf" else 1


LINES = 4
"""How many vectors a strip has: what several arrays have of it, for rows of 1000 numbers, is in the second cache."""
TURNED = 2
"""How many it has where squares are turned in registers, which hold no more."""
COPIED = 2
"""So many vectors that are put together, or taken apart, take as long as one that is copied in a block of lines."""


def take_strips(s: Schedule, name: str, lanes: int, gathered: int | None, options: Options) -> tuple[Schedule, str]:
    """The schedule with a loop around others on vectors, in strips, with copies in which each vector is in one piece.

        for t, i: { for j: p[i, j] = S(p[i, j - 1], u[j, i]); for j down: v[j, i] = T(v[j + 1, i], p[i, j]) }
            ->  for t, i by 16: for lanes i: { for j: p_fast[j, i] = ...; for j down: v[j, i] = ... p_fast[j, i] }

    What every iteration of a loop around writes again before anything reads it is in the copy alone, and taken back in
    the last one. What else lies apart is turned in registers (`turned`); or, with a number of vectors that are
    `gathered` in each iteration, lane by lane, it is copied as well, where that is less. Raises UnfitError.

    References
    ----------
    Tu and Padua, "Automatic array privatization", LCPC 1993; Zhang, Cohen and Owens, "Fast tridiagonal solvers on the
    GPU", PPoPP 2010, for many systems in lanes.
    """
    made = copy(s)
    with unfit_where_refused():
        apart = [*_apart(made, name)]
        made.strip_mine(name, LINES * lanes)
        (strip,) = names_made(made)
        if options.threads > 1:
            where_legal(made.parallel, [strip])
        left = 0
        for array, layout in apart:
            made.copy(array, name, layout=layout, private=True)
            if gathered is None and _beside(made, name):
                made.undo()
                left += 1
        if left == len(apart):
            raise UnfitError
        copied = _beside(made, name)
        if gathered is not None and COPIED * len(copied) >= gathered:
            raise UnfitError
        where_legal(made.scalar_replace, names_in(made, name)[1:])
        if left:
            made.vectorize(name, lanes, tail=options.tail).unroll_jam(name, TURNED)
            made = turned(made, name, lanes)
        else:
            on_vectors(made, name, lanes, options.tail).unroll_jam(name, LINES)
    for each in copied:
        nest = nest_called(made, each)
        if nest is not None:
            with suppress(UnfitError):
                made, _ = transposes.take(made, nest, options)
    shared = ", which threads share" if any(r.is_parallel for r in made.loops() if r.names[0] == strip) else ""
    rows = TURNED if left else LINES
    said = f"a recurrence: {rows * lanes} iterations of {name} run at once, in lanes"
    in_registers = ", or turned in registers" if left else ""
    return made, f"{said}, on copies in which these are side by side{in_registers}{shared}"


def turned(s: Schedule, name: str, lanes: int) -> Schedule:
    """The schedule with as many iterations of the loops inside of one on vectors at once as make squares.

        for i in 8 lanes: for j: x[i, j] = S(x[i, j - 1])   ->   for i in 8 lanes: for j by 8: { load rows; turn; ... }

    Raises UnfitError where a loop that gathers lanes has no squares, and where none does.
    """
    made = copy(s)
    gathering = [each for each in names_in(s, name)[1:] if lanes_apart(require_loop(s, each))]
    if not gathering:
        raise UnfitError
    for inner in gathering:
        with unfit_where_refused():
            made.unroll(inner, lanes)
        loop = loop_called(made, inner)
        if loop is None or lanes_apart(loop):
            raise UnfitError("its lanes lie in no squares")
    return made


def lanes_apart(loop: Op) -> int:
    """How many vectors are put together, or taken apart, in a loop."""
    ops = [*walk(loop)]
    apart = {op.source for op in ops if isinstance(op, vector.Extract)}
    return len(apart) + sum(isinstance(op, vector.FromElements) for op in ops)


def _beside(s: Schedule, name: str) -> list[str]:
    """The innermost loops of the copies that are made in front of a loop, or behind it, under no condition."""
    loop = require_loop(s, name)
    block = next(block for op in holders(s.function) for block in op.blocks() if loop in block)
    found = {op.iv: op for op in block if isinstance(op, affine.For) and op is not loop}
    return [names_in(s, row.names[0])[-1] for row in s.loops() if row.iv in found]


def _apart(s: Schedule, name: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The arrays that a loop moves through in large steps, with the order of dimensions in which these are small.

    Raises UnfitError where that is none, or another one for each access.
    """
    loop = require_loop(s, name)
    axes: dict[Value, set[int]] = {}
    for op in walk(loop):
        if isinstance(op, affine.Access):
            axes.setdefault(op.memref, set()).update(k for k, e in enumerate(op.index) if loop.iv in e.values())
    for array, value in arrays_of(s.function).items():
        rank, found = value.type.rank if isinstance(value.type, MemRefType) else 0, axes.get(value, set())
        if found <= {rank - 1}:
            continue
        if len(found) > 1:
            raise UnfitError
        (axis,) = found
        yield array, (*(k for k in range(rank) if k != axis), axis)
