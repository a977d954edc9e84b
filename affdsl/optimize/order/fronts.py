"""Where no other recipe fits: rows at once, or iterations each behind the one before it; or statements apart."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from functools import partial

from affdsl.ir.dialects import affine, scf
from affdsl.ir.traverse import walk
from affdsl.optimize.attempts import (
    SKEWS,
    after_skew,
    distribute,
    fuse_late,
    names_made,
    side_by_side,
    wavefront,
    where_legal,
)
from affdsl.optimize.machine import usual
from affdsl.optimize.nests import (
    Nest,
    is_library_call,
    is_recurrence,
    names_in,
    nest_called,
    nests,
    nests_in,
    perfect_band,
    require_loop,
    require_quick_numbers,
)
from affdsl.optimize.notes import sizes_in
from affdsl.optimize.options import Options
from affdsl.optimize.order import skewed_lanes
from affdsl.optimize.search import Candidate
from affdsl.optimize.size import require_room
from affdsl.optimize.small_sizes import long_enough
from affdsl.optimize.unfit import UnfitError, in_one_line
from affdsl.optimize.vector import inner_loops, recurrences, sums
from affdsl.optimize.versions import in_other, longest, on_average
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

TILE = (32, 128)
"""How many iterations of two loops a tile has, where tiles run on threads: those that divide, or repeat a plane.

Others do so little in a tile that two threads would wait for each other longer than for their own recurrences.
"""
LATEST = 8
"""How many iterations one loop runs behind the one before it at most."""
CLEARLY = 1.15
"""So many times faster has an order to be by the model than the loops as written, and one with copies than another."""
MOST_APART = 16
"""So many loops a loop is taken apart into at most: each looks at all that the function accesses."""
PLANES = 3
"""So many loops go over planes: of several of these at once, lines are near that each stores a part of, which the model
does not know."""


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with several iterations of a nest at once, or with its statements apart.

        for i: for j: A[i, j] = S(A[i, j - 1])
        for i, j: A[i, j] = S(A[i - 1, j + 1], A[i, j - 1])
        for t, i, j: A[i, j] = S(A[i - 1, j], A[i, j - 1], A[i, j + 1], A[i + 1, j])

    Each of the iterations that are jammed waits for itself alone, or for another one of before, and not for its
    neighbour: then they are jammed after the smallest skew that makes it legal. Raises UnfitError.

    References
    ----------
    Carr and Kennedy, "Improving the ratio of memory operations to floating-point operations in loops", TOPLAS 1994;
    Wolf and Lam, "A loop transformation theory and an algorithm to maximize parallelism", TPDS 1991, for skews.
    """
    with suppress(UnfitError):
        return _rows(s, nest, options)
    return take_loop(s, nest.name(nest.band[0]), options)


def take_loop(s: Schedule, root: str, options: Options) -> tuple[Schedule, str]:
    """The same for all that a loop holds: loops beside each other are made one, late by as little as is legal.

    Raises UnfitError.
    """
    loop = require_loop(s, root)
    if sums.is_large(loop) or any(isinstance(op, affine.For) and op.results for op in walk(loop)):
        raise UnfitError  # there is one order in which values are handed on
    if any(isinstance(op, scf.If) and op.orelse for op in walk(loop)):
        raise UnfitError("data decides which way an iteration goes, which is foreseen wrongly more often for several")
    why, found = "", list[tuple[float, Schedule, str]]()
    for way in (_in_lanes, _side_by_side, apart):
        if found and way is apart:
            break
        try:
            made, said = way(copy(s), root, options)
        except (IllegalTransform, ScheduleError) as refused:
            why = why or in_one_line(refused)
        except UnfitError as unfit:
            why = why or str(unfit)
        else:
            result = Candidate(root, made, s, (), usual(options.target))
            if 0 < result.share <= 1 / CLEARLY or (way is _side_by_side and len(perfect_band(loop)) >= PLANES):
                found.append((result.ratio * (CLEARLY if way is _in_lanes else 1.0), made, said))
            why = why or "that is not expected to be faster"
    if found:
        _, made, said = min(found, key=lambda each: each[0])
        return made, said
    raise UnfitError(why and f"no other order helps: {why}")


# Rows that do not wait for each other --------------------------------------------------------------------------------


def _rows(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with iterations of a loop around a recurrence jammed, what each hands on in registers.

    All loops inside of it are such recurrences. Raises UnfitError.
    """
    rows = options.choices.recurrences
    if options.target.registers < rows or not is_recurrence(nest, nest.innermost):
        raise UnfitError
    require_quick_numbers(nest)
    for loop in reversed(nest.loops[:-1]):
        made, name = copy(s), nest.names[loop.iv]
        said = f"{rows} iterations of {name} run at once, a recurrence each"
        if sums.is_jammed(s, name):  # for another nest inside of it
            return s, said
        inside = [each for each in nests(s) if loop in (*each.around, *each.band)]
        if is_recurrence(nest, loop) or not all(is_recurrence(each, each.innermost) for each in inside):
            break
        with suppress(IllegalTransform, ScheduleError):
            long = on_average(made, [each.name(each.innermost) for each in inside], long_enough(nest))
            if long is not None:
                longest(made, nest.name(nest.loops[0]), long)
            made.unroll_jam(name, rows)
            where_legal(made.scalar_replace, names_in(made, name)[1:])
            return made, said
    raise UnfitError


# Iterations side by side ----------------------------------------------------------------------------------------------


def _side_by_side(s: Schedule, root: str, options: Options) -> tuple[Schedule, str]:
    """The schedule with iterations of a loop at once; the one given is changed. Raises UnfitError, and as steps do."""
    names = names_in(s, root)
    where_legal(s.normalize, [name for name in names if require_loop(s, name).step != 1])
    where_legal(s.sink, names[1:])
    said = _made_one(s, root)
    nest = _along_rows(s, _only_nest(s, root), options, said)
    name, (time, space) = nest.name(nest.innermost), map(nest.name, nest.band[:2])
    if any(map(is_library_call, walk(nest.innermost))):
        raise UnfitError("its functions of the C library take longer than one iteration waits for another")
    if len(nest.band) < PLANES and not is_recurrence(nest, nest.innermost):
        raise UnfitError(f"iterations of {name} wait for none before them")
    steps = options.choices.jammed_steps
    tile = _tile(nest, options)
    require_room(nest.innermost, steps)
    in_tiles = f"run tiles of {time} and {space} on threads"
    try:
        if tile is None:
            raise UnfitError
        made, skew = after_skew(s, time, [space], SKEWS, partial(_in_tiles, (time, space), tile, steps), in_tiles)
        said.append("tiles that do not wait for each other run on threads")
    except UnfitError:
        made, skew = side_by_side(s, (time, space, name), steps)
    behind = f", each {skew} of {space} behind the one before it" if skew else ""
    return made, "; ".join([*said, f"{steps} iterations of {time} run at once{behind}"])


def _in_lanes(s: Schedule, root: str, options: Options) -> tuple[Schedule, str]:
    """The schedule with rows in lanes of vectors where they are long, or side by side elsewhere; on one thread.

    The schedule given is changed. Raises UnfitError, without a reason: most loops are of another kind.
    """
    if options.threads > 1:
        raise UnfitError
    try:
        long = skewed_lanes.long_rows(s, _only_nest(s, root))
        other = in_other(s, root, long)[0] if long is not None else ""
        s, said = skewed_lanes.take(s, _only_nest(s, root), options)
    except (UnfitError, IllegalTransform, ScheduleError):
        raise UnfitError from None
    if long is not None:
        with suppress(UnfitError, IllegalTransform, ScheduleError):
            s, short = _side_by_side(copy(s), other, options)
            return s, f"for {sizes_in(long)}, {said}; for shorter rows, {short}"
    return s, said


def _made_one(s: Schedule, root: str) -> list[str]:
    """Make the loops that stand beside each other in a loop one, and say so; the schedule given is changed.

    Raises UnfitError where other statements stand there, too, or none may run a little later.
    """
    loop = require_loop(s, root)
    loops = [op for op in loop.body if isinstance(op, affine.For)]
    if not loops:
        raise UnfitError  # there is one order
    if len(loops) < len(loop.body):
        raise UnfitError(f"statements stand beside the loops in {root}, which are not moved into them")
    names = {row.iv: row.names[0] for row in s.loops()}
    said: list[str] = []
    first = loops[0]
    for other in loops[1:]:
        pairs = zip(perfect_band(first), perfect_band(other), strict=False)
        shifts = [fuse_late(s, names[one.iv], names[two.iv], LATEST, guarded=True) for one, two in pairs]
        late = f", {' and '.join(map(str, shifts))} iterations later" if any(shifts) else ""
        said.append(f"{names[other.iv]} runs with {names[first.iv]}{late}")
    return said


def _only_nest(s: Schedule, root: str) -> Nest:
    """The only nest inside of a loop, which is its outermost one. Raises UnfitError."""
    found = nests_in(s, root)
    if len(found) != 1 or found[0].name(found[0].band[0]) != root or len(found[0].band) < 2:
        raise UnfitError(f"its statements are not all inside of all loops of {root}")
    return found[0]


def _along_rows(s: Schedule, nest: Nest, options: Options, said: list[str]) -> Nest:
    """The nest with the loop innermost, if it may, that runs along memory, which is said; the schedule is changed."""
    inner = min(reversed(nest.band), key=lambda each: inner_loops.cost(nest, each, options))
    if inner is not nest.innermost:
        with suppress(IllegalTransform, ScheduleError):
            names = [nest.name(each) for each in nest.band if each is not inner]
            s.permute((*names, nest.name(inner)))
            said.append(f"{nest.name(inner)} runs innermost")
            return _only_nest(s, names[0])
    return nest


def _tile(nest: Nest, options: Options) -> tuple[int, int] | None:
    """The tile of a nest, of which threads run several; None where they are better at something else."""
    if options.threads < 2 or nest.around:
        return None
    if len(nest.band) >= PLANES:
        return options.choices.sweep_steps, options.choices.sweep_rows
    return TILE if recurrences.divides(nest.innermost) else None


def _in_tiles(loops: tuple[str, str], sizes: tuple[int, int], steps: int, made: Schedule) -> None:
    """Run tiles of two loops on threads, and in them some iterations of the first one at once.

    Tiles of one diagonal do not wait for each other. The schedule is changed. Raises UnfitError, and as steps do.
    """
    made.tile(loops, sizes, grid=True, separate=True)
    outer, inner = names_made(made)
    wavefront(made, outer, inner)
    inside = names_in(made, inner)
    rows = [row.names[0] for row in made.loops() if row.depth == 2 and row.names[0] in inside]
    if not rows:  # each of them ran once
        raise UnfitError
    made.unroll_jam(rows[0], steps)  # the others are of tiles that are not whole, which may start at a maximum
    where_legal(lambda name: made.unroll_jam(name, steps), rows[1:])
    where_legal(made.scalar_replace, [nest.name(nest.innermost) for nest in nests_in(made, inner)])


# Statements apart -----------------------------------------------------------------------------------------------------


def apart(s: Schedule, root: str, options: Options) -> tuple[Schedule, str]:
    """The schedule with the statements of a loop in loops of their own, each on vectors, or several iterations at once.

    The schedule given is changed. Raises UnfitError.
    """
    others = {row.names[0] for row in s.loops()}.difference(names_in(s, root))
    before = len(s.steps)
    distribute(s, names_in(s, root))
    if len(s.steps) == before:
        raise UnfitError
    said: list[str] = []
    parts = [name for nest in nests(s) if (name := nest.name(nest.innermost)) not in others]
    if len(parts) > MOST_APART:
        raise UnfitError(f"apart its statements are {len(parts)} loops")
    for name in parts:
        found = nest_called(s, name)
        if found is None or found.has_vectors:
            continue
        for recipe in (inner_loops.take, take):
            with suppress(UnfitError):
                s, done = recipe(s, found, options)
                said.append(done)
                break
        else:
            where_legal(s.scalar_replace, [name])
    if not said:
        raise UnfitError("apart none of its statements runs on vectors, or several iterations at once")
    return s, f"statements apart: {'; '.join(said)}"


def take_sums_apart(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The same for a row beside sums in the order of the text, before vectors of both are tried.

    Counts and sums of integers, which are the same in any order, stay beside a row. Raises UnfitError.
    """
    if options.reassociate or not sums.is_mixed(nest) or sums.needs_no_order(s, nest):
        raise UnfitError
    return apart(copy(s), nest.name(nest.innermost), options)
