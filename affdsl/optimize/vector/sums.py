"""Sums of an innermost loop: in lanes where their order does not count, and else several of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy

from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, IntegerType
from affdsl.optimize.attempts import AllOrNone
from affdsl.optimize.machine import has_large_cache
from affdsl.optimize.memory.lines import from_a_line
from affdsl.optimize.nests import (
    Nest,
    bits_in_register,
    is_lane_by_lane,
    is_library_call,
    lanes_for,
    lanes_of,
    loop_called,
    names_in,
    nest_called,
    nests_in,
    on_vectors,
    require_loop,
    require_quick_numbers,
    unfit_where_refused,
)
from affdsl.optimize.options import Options
from affdsl.optimize.size import require_room
from affdsl.optimize.threads import sharing
from affdsl.optimize.unfit import UnfitError, in_one_line
from affdsl.passes.analysis.access import Access
from affdsl.passes.transforms.vectorize import Tail, is_exact_in_lanes
from affdsl.passes.transforms.vectorize.counted import all_count
from affdsl.passes.transforms.vectorize.counters import idle_counters
from affdsl.passes.transforms.vectorize.narrow import bits_added
from affdsl.schedule.alone import alone, way_to
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

FEW_ROWS = 2
"""How many rows at once add to one row, where rows of several arrays are gone over, and how many sums of look-ups."""
NARROW = 2
"""How many registers of narrow integers are added to accumulators in an iteration."""


def take_mixed(s: Schedule, nest: Nest, lanes: int, options: Options) -> tuple[Schedule, str]:
    """The schedule with a loop on vectors that both sums up, in lanes, and stores along rows. Raises as steps do."""
    name, outer = nest.name(nest.innermost), [*map(nest.name, nest.band[:-1])] or _names_around(nest)
    if outer and adds_to_one_row(nest, outer[-1]) and _may_have_rows_in_lanes(s, outer[-1], name):
        rows = FEW_ROWS if _matrices(nest, outer[-1], options) > 1 else rows_at_once(options)
        with suppress(IllegalTransform, ScheduleError):
            return _rows_in_lanes(s, outer[-1], name, lanes, rows, options)
    lanes = _lanes_of_what_moves(s, nest, options) or lanes
    made = copy(s).scalar_replace(name)
    return on_vectors(
        made, name, lanes, options.tail, reassociate=options.reassociate
    ), f"{name} sums up and runs on vectors of {lanes}"


def with_tail(s: Schedule, name: str, lanes: int, tails: Sequence[Tail], *, reassociate: bool = False) -> None:
    """Bring a loop of a schedule onto vectors, with the first of some tails that it may have. Raises as steps do.

    What one iteration hands on to the next, as an element that was loaded, has no mask.
    """
    *others, last = tails
    for tail in others:
        with suppress(IllegalTransform):
            s.vectorize(name, lanes, tail=tail, reassociate=reassociate)
            return
    s.vectorize(name, lanes, tail=last, reassociate=reassociate)


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with the sums of a loop made in lanes where they may be, and else several of them at once."""
    loop, name = nest.innermost, nest.name(nest.innermost)
    outer = [*map(nest.name, nest.band[:-1])] or _names_around(nest)
    matrices = _matrices(nest, outer[-1], options) if outer else 0
    counting, in_any_order = _lanes_of_what_moves(s, nest, options), options.reassociate or needs_no_order(s, nest)
    if in_any_order and outer and matrices < 2 and _may_have_rows_in_lanes(s, outer[-1], name):
        with suppress(IllegalTransform, ScheduleError):
            lanes = counting or lanes_of(nest, options)
            return _rows_in_lanes(s, outer[-1], name, lanes, rows_at_once(options), options)
    if in_any_order:
        is_turned = any(nest.stride(a, loop).motion == "reversed" for a in nest.accesses)
        vectors = max(1, options.choices.sum_vectors // max(1, matrices + is_turned))
        made, lanes = copy(s), counting or vectors * lanes_of(nest, options)
        with suppress(IllegalTransform, ScheduleError):
            if not loop.results:
                made.scalar_replace(name)
            hands_on = _hands_on(require_loop(made, name))
            made, begins = from_a_line(made, nest, name, options, reassociate=options.reassociate)
            tails: tuple[Tail, ...] = ("scalar",) if is_turned else (options.tail, "scalar")
            with_tail(made, name, lanes, tails, reassociate=options.reassociate)
            if not is_lane_by_lane(made, name):
                sums_up = f"{name} sums up in {lanes} lanes"
                shuffles = f"{name} runs on vectors of {lanes}, and shuffles what it hands on"
                return made, f"{shuffles if hands_on else sums_up}{begins}"
    if not outer:
        raise UnfitError("its sum is made in the order of the text, one addition after the other")
    require_quick_numbers(nest)
    if sums_integers(nest, loop) and any(True for op in loop.body for _ in op.blocks()):
        raise UnfitError("its sums are of integers, for which nothing waits, and conditions decide what they add")
    why = ""
    for each in reversed(outer):
        if is_large(loop_around(nest, each)):
            why = why or f"{each} holds more than {sharing.MOST_ACCESSES} accesses, too many to compare"
            continue
        try:
            return _in_order(s, each, nest, options)
        except (IllegalTransform, ScheduleError) as error:
            why = why or f"iterations of {each} cannot run at once, since {in_one_line(error)}"
    raise UnfitError(f"its sum is made in the order of the text, and no other one runs beside it: {why}")


def _in_order(s: Schedule, outer: str, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with the sums of several iterations of an outer loop at once, in lanes if they may. Raises as steps.

    They are no more than the nearest cache has lines of one place: rows may lie a power of two apart. Terms that are
    looked up take three loads each, and two sums are enough to wait for these rather than for additions.
    """
    name, made = nest.name(nest.innermost), copy(s)
    sums = FEW_ROWS if _looks_up(nest) else options.choices.sums
    if not is_jammed(s, outer):  # for a sum before this one in the same iterations
        require_room(nest.innermost, sums)
        made.unroll_jam(outer, sums)
    with suppress(IllegalTransform, ScheduleError):
        made.scalar_replace(name)
    lanes = lanes_of_sums(nest, loop_around(nest, outer), options)
    several = len(require_loop(made, name).carried) > sums
    is_wide = in_lanes(made, name, lanes)
    if not is_wide and several and any(map(is_library_call, walk(nest.innermost))):  # no register outlives a call
        raise UnfitError("its functions of the C library take longer than one addition waits for another")
    how = f", in lanes of vectors of {lanes}" if is_wide else ""
    return made, f"{sums} iterations of {outer} run at once{how}, as each sum is made in the order of the text"


def _looks_up(nest: Nest) -> bool:
    """Whether data says which elements the innermost loop loads."""
    by_data = (a for a in nest.accesses if isinstance(a.op, memref.Load))
    return any(nest.stride(a, nest.innermost).motion in ("varying", "unknown") for a in by_data)


def _lanes_of_what_moves(s: Schedule, nest: Nest, options: Options) -> int:
    """How many lanes a loop has whose sums are longer than what they add, or count; 0 for all others.

    Of what is counted a register has so many; of narrow integers, `NARROW` registers.
    """
    loop = loop_called(handed_on(s, nest), nest.name(nest.innermost))  # none where it runs once
    if loop is None or not loop.results:
        return 0
    if all_count(loop):
        moving = [a for a in nest.accesses if not nest.is_still(a, nest.innermost)]
        return lanes_for((a.buffer.type.element for a in moving), options)
    bits = bits_added(loop)
    return NARROW * options.target.lanes(bits) if bits else 0


def sums_integers(nest: Nest, loop: affine.For) -> bool:
    """Whether all sums of a loop are of integers, whose order does not matter."""
    types = [v.type for v in loop.results] or [a.buffer.type.element for a in nest.accesses if a.kind == "write"]
    return all(isinstance(type, IntegerType) for type in types)


def needs_no_order(s: Schedule, nest: Nest) -> bool:
    """Whether all that the innermost loop sums up is exact in any order: integers, extremes, counts, places."""
    if sums_integers(nest, nest.innermost):
        return True
    made, iv = handed_on(s, nest), nest.innermost.iv
    with suppress(IllegalTransform, ScheduleError):
        is_handed_on = bool(nest.innermost.results) or made.function is not s.function
        return is_handed_on and is_exact_in_lanes(alone(way_to(made.function, {iv})), iv, made.module)
    return False


def handed_on(s: Schedule, nest: Nest) -> Schedule:
    """The schedule in which iterations of the innermost loop hand on what it sums up; as it was where none may."""
    if nest.innermost.results:
        return s
    made = copy(s)
    with suppress(IllegalTransform, ScheduleError):
        made.scalar_replace(nest.name(nest.innermost))
    return made


def is_large(loop: affine.For) -> bool:
    """Whether a loop holds so much that to compare each of its accesses with each takes long."""
    ops = (op for op in walk(loop) if isinstance(op, affine.Access | memref.Load | memref.Store))
    return sum(1 for _ in ops) > sharing.MOST_ACCESSES


def _hands_on(loop: affine.For) -> bool:
    """Whether nothing that an iteration gets from the one before it is a part of what it leaves for the next one."""
    made, got = set[Value](), {*loop.carried}
    for op in loop.body[:-1]:
        if not (made | got).isdisjoint(v for each in walk(op) for v in each.mentions()):
            made.update(op.defines())
    return bool(got) and made.isdisjoint(loop.body[-1].reads())


def is_jammed(s: Schedule, loop: str) -> bool:
    """Whether a step has made several iterations of a loop run at once."""
    return any(step.call.verb == "unroll_jam" and step.call.arguments[0] == loop for step in s.steps)


def _names_around(nest: Nest) -> list[str]:
    """The loops around a band, outermost first."""
    return [nest.names[op.iv] for op in nest.around if isinstance(op, affine.For)]


def _may_have_rows_in_lanes(s: Schedule, outer: str, name: str) -> bool:
    """Whether several rows at once are better than one: they have elements in common, or the sum is all there is.

    Other loops beside the sum would else go over the same row while the nearest cache has it.
    """
    inside, loop = names_in(s, outer)[1:], loop_called(s, outer)
    if loop is None or is_large(loop):
        return False
    return inside == [name] or all(have_elements_in_common(nest, outer) for nest in nests_in(s, *inside))


def _matrices(nest: Nest, outer: str, options: Options) -> int:
    """Over how many arrays a nest goes row by row: several rows at once of each would be many places of memory.

    A row that the loop around moves along, too, as x[i + k], is one place. Where the second cache is large, it does not
    count: processors of that kind add in two units, so that it pays to have sums in more lanes.
    """
    loop = loop_around(nest, outer)

    def is_along(access: Access) -> bool:
        return all(nest.stride(access, each).motion in ("contiguous", "reversed") for each in (loop, nest.innermost))

    moving = (a for a in nest.accesses if not nest.is_still(a, loop) and not nest.is_still(a, nest.innermost))
    return len({a.buffer for a in moving if not (has_large_cache(options.target) and is_along(a))})


def have_elements_in_common(nest: Nest, outer: str) -> bool:
    """Whether all iterations of a loop around a nest go over the same row of something."""
    loop = loop_around(nest, outer)
    along = [a for a in nest.accesses if nest.stride(a, nest.innermost).motion == "contiguous"]
    return any(nest.stride(a, loop).motion == "invariant" for a in along)


def adds_to_one_row(nest: Nest, outer: str) -> bool:
    """Whether all iterations of a loop around a nest store in the same row."""
    stored = [a for a in nest.accesses if a.kind == "write" and not nest.is_still(a, nest.innermost)]
    return any(nest.is_still(a, loop_around(nest, outer)) for a in stored)


def loop_around(nest: Nest, name: str) -> affine.For:
    """The loop around a nest of a name."""
    return next(op for op in (*nest.around, *nest.band) if isinstance(op, affine.For) and nest.names[op.iv] == name)


def _rows_in_lanes(s: Schedule, outer: str, name: str, lanes: int, rows: int, options: Options) -> tuple[Schedule, str]:
    """The schedule with the sums of several iterations of an outer loop made at once, each in lanes.

    Raises as steps do.
    """
    made = copy(s)
    left = [row.names[0] for row in made.unroll_jam(outer, rows).made]
    for each in [name, *(each for each in left if _sums_up(made, each))]:
        loop = loop_called(made, each)
        if loop is None or not loop.results:
            made.scalar_replace(each)
        on_vectors(made, each, lanes, options.tail, reassociate=options.reassociate)
    return made, f"{rows} iterations of {outer} run at once, and each sums up in {lanes} lanes"


def rows_at_once(options: Options) -> int:
    """How many rows have a vector of a sum in a register each, and leave registers for what all take."""
    return min(options.choices.sums, options.target.registers // 4)


def _sums_up(s: Schedule, name: str) -> bool:
    """Whether a loop of a schedule is an innermost one that makes a sum."""
    nest = nest_called(s, name)
    return nest is not None and _may_sum_up(nest.innermost) and (is_sum(nest, nest.innermost) or is_mixed(nest))


def _may_sum_up(loop: affine.For) -> bool:
    """Whether a loop hands on values, or stores to elements that may be the same in all iterations."""
    stores = (op for op in loop.body if isinstance(op, affine.Store | affine.VectorStore | memref.Store))
    return bool(loop.results) or any(
        isinstance(op, memref.Store) or all(loop.iv not in each.values() for each in op.index) for op in stores
    )


def is_mixed(nest: Nest) -> bool:
    """Whether the innermost loop both sums up in some elements and stores along others."""
    still = {nest.is_still(a, nest.innermost) for a in nest.accesses if a.kind == "write"}
    return len(still) > 1


def is_sum(nest: Nest, loop: affine.For) -> bool:
    """Whether all that a loop stores stays where it is, or it hands on more than counters that nothing needs later."""
    if len(loop.results) > len(idle_counters(nest.function, loop)):
        return True
    stores = [a for a in nest.accesses if a.kind == "write"]
    return bool(stores) and all(nest.is_still(a, loop) for a in stores)


WIDTH = 256
"""How many bits the vectors have at most: of eight doubles, two vectors do not wait for each other's additions. Longer
ones were not measured."""
PAIR = 2
LEAST_LANES = 4
"""How many lanes pay for the shuffles."""


def lanes_of_sums(nest: Nest, around: affine.For, options: Options) -> int:
    """How many sums of iterations of a loop around a nest a vector has, where they may be its lanes; 0 elsewhere.

    All that moves with the loop around is a row then, along which the sums go.
    """
    types = {a.buffer.type.element for a in nest.accesses}
    bits = {bits_in_register(type) for type in types if isinstance(type, FloatType)}
    if len(bits) != 1 or len(types) != 1 or any(True for op in nest.innermost.body for _ in op.blocks()):
        return 0
    (width,) = bits
    lanes = min(options.target.lanes(width), WIDTH // width)
    rows = [a for a in nest.accesses if a.kind == "read" and nest.stride(a, around).motion != "invariant"]
    rows = [a for a in rows if nest.stride(a, nest.innermost).motion != "invariant"]
    is_along = all(nest.stride(a, nest.innermost).motion == "contiguous" for a in rows)
    return lanes if rows and is_along and lanes >= LEAST_LANES else 0


def in_lanes(s: Schedule, name: str, lanes: int) -> bool:
    """Put sums that a loop carries side by side in so many lanes, and say if they are; 0 lanes are none.

    The schedule given is changed.

    References
    ----------
    Larsen and Amarasinghe, "Exploiting superword level parallelism with multimedia instruction sets", PLDI 2000.
    """
    before = len(s.steps)
    with AllOrNone(s):
        if not lanes:
            raise UnfitError
        s.unroll(name, lanes).slp(name, lanes)
        if is_lane_by_lane(s, name):
            raise UnfitError
    return len(s.steps) > before


def side_by_side(s: Schedule, name: str, options: Options) -> tuple[Schedule, str]:
    """The schedule with all that a loop carries in the lanes of vectors, as sums of neighbouring elements are.

        for i: { a += x[2 * i]; b += x[2 * i + 1] }   ->   for i: v += x[2 * i :+ 2]

    Raises UnfitError.
    """
    loop = require_loop(s, name)
    types = {v.type for v in loop.carried}
    if len(types) != 1 or not isinstance(type := types.pop(), FloatType):
        raise UnfitError("")
    count = len(loop.carried)
    lanes = min(options.target.lanes(bits_in_register(type)), count & -count)
    if lanes < PAIR:
        raise UnfitError("")
    made = copy(s)
    with unfit_where_refused():
        made.slp(name, lanes)
    if is_lane_by_lane(made, name):
        raise UnfitError("")
    return made, f"what it sums up side by side in vectors of {lanes}"
