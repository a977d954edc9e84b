"""Loops on vectors: the loop that runs along rows innermost, several rows at once, sums in registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import copy
from itertools import combinations

from affdsl.ir.core import Lanewise
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.traverse import walk
from affdsl.ir.types import IntegerType, VectorType
from affdsl.optimize.machine import LINE, PAGE, USUAL_CACHES, has_large_cache
from affdsl.optimize.memory.lines import from_a_line, past_the_caches
from affdsl.optimize.nests import (
    Nest,
    again_in,
    counts_inside,
    has_complex_numbers,
    is_lane_by_lane,
    is_recurrence,
    lane_by_lane,
    lanes_for,
    lanes_of,
    loop_called,
    names_in,
    nest_called,
    nests,
    nests_in,
    on_vectors,
    require_quick_numbers,
    unfit_where_refused,
)
from affdsl.optimize.options import Options
from affdsl.optimize.repeated import share_done_again
from affdsl.optimize.size import require_room
from affdsl.optimize.threads import sharing
from affdsl.optimize.unfit import TOO_SHORT, UnfitError, in_one_line
from affdsl.optimize.vector import periods, store_forwarding, superword
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.analysis.lookups import are_of_bytes, lookups
from affdsl.passes.transforms.vectorize import Tail, is_exact_in_lanes
from affdsl.passes.transforms.vectorize.counted import all_count
from affdsl.passes.transforms.vectorize.counters import idle_counters
from affdsl.passes.transforms.vectorize.narrow import bits_added
from affdsl.schedule.alone import alone, way_to
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

COSTS = {"invariant": 0.0, "contiguous": 1.0, "reversed": 1.5}
NARROW = 2
"""How many registers of narrow integers are added to accumulators in an iteration."""
FAR = 8.0
"""What an access costs that touches another line of the cache each time, or is made lane by lane."""
SHARING = range(8, 25)
"""How many operations are made of rows that several iterations load, where these run at once: fewer wait for memory."""
DONE_AGAIN = 0.2
"""The share of the operations that iterations run at once for, since each would do again what another one has done."""
SHORT = 8
"""From so many vectors on, half a vector less at the end of a row is not worth its code."""
UPDATING = 4
"""How many vectors at once where floats become the numbers of elements, in lanes, which are updated one by one."""
LOOKING_UP = 2
"""How many vectors at once look elements up that data chooses: one lane after the other, and what follows waits."""
UNDER_MASKS = 4
"""How many vectors at once are stored to several arrays under masks: those of one array follow each other."""
EMPTY = 8
"""No vectors are made of which less than one lane in so many would be used."""
FEW = 2
"""A loop that runs so many times at most stays as it is."""
AHEAD = 4
"""How many vectors of a loop that waits for memory are straight code: more loads are on their way at once."""
IN_ORDER = 4.0
"""What an addition costs that waits for the one before it."""


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with vectors of the loop of a band that moves through memory in the smallest steps.

    What stands in the way of a better loop is taken out of it first, by distribution. A sum is made in lanes where it
    may be, and else several run at once, so that one addition need not wait for the other. Raises UnfitError.
    """
    if nest.has_vectors:
        raise UnfitError("it has vectors already")
    if nest.ends_early:
        raise UnfitError("")
    if (most := counts_inside(s, nest.loops[0])[nest.innermost.iv].high) is not None and most <= FEW:
        raise UnfitError(TOO_SHORT)
    best, found = s, nest
    for apart in _distributed(s, nest):
        again = again_in(apart, nest, s)
        if again is not None and _least(again, options) < _least(found, options):
            best, found = apart, again
    return in_place(copy(best), found, options)


def in_place(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The same, with what stands in a nest left together; the schedule given is changed. Raises UnfitError."""
    nest, said = _in_best_order(s, nest, options)
    nest = _forwards(s, nest)
    made, done = _on_vectors(s, nest, options, is_moved=bool(said))
    return made, "; ".join([*said, done])


def _in_best_order(s: Schedule, nest: Nest, options: Options) -> tuple[Nest, list[str]]:
    """Make the loop of a band innermost that moves in the smallest steps: the nest then, and what was done.

    The schedule given is changed. Raises UnfitError where that is refused, and the sum that is innermost stays.
    """
    counts = counts_inside(s, nest.loops[0])
    band = [each for each in nest.band if counts[each.iv].high not in range(FEW + 1)] or nest.band
    best = min(reversed(band), key=lambda each: cost(nest, each, options)).iv
    if (most := counts[best].high) is not None and most * EMPTY < (lanes := lanes_of(nest, options)):
        raise UnfitError(f"it runs {most} times at most, and a vector has {lanes} lanes")
    nest, before = sharing.unless_outermost(s, nest, next(each for each in band if each.iv is best), options), nest
    loop = next((each for each in nest.band if each.iv is best), nest.innermost)  # one that runs once has gone
    said = [f"threads share chunks of {nest.name(loop)}"] * (nest is not before)
    if loop is nest.innermost:
        return nest, said
    try:
        s.permute([nest.name(each) for each in (*(each for each in nest.band if each is not loop), loop)])
    except (IllegalTransform, ScheduleError) as error:
        if is_sum(nest, nest.innermost):
            raise UnfitError(in_one_line(error)) from None
        return nest, said
    said.append(f"{nest.name(loop)} runs innermost")
    return next((each for each in nests(s) if each.innermost.iv is loop.iv), nest), said


def _forwards(s: Schedule, nest: Nest) -> Nest:
    """Let the innermost loop run the other way where more moves forwards then: vectors need no shuffles.

    The schedule given is changed. A loop whose order matters stays as it is.
    """
    loop = nest.innermost
    motions = [nest.stride(access, loop).motion for access in nest.accesses]
    if motions.count("reversed") <= motions.count("contiguous") or len((*loop.lower, *loop.upper)) > 2:
        return nest
    with suppress(IllegalTransform, ScheduleError):
        s.reverse(nest.name(loop))
    return next((each for each in nests(s) if each.innermost.iv is loop.iv), nest)


def _on_vectors(s: Schedule, nest: Nest, options: Options, *, is_moved: bool) -> tuple[Schedule, str]:
    """The schedule with the innermost loop of a nest on vectors. Raises UnfitError.

    Of the ways to do so the first one is taken that fits; the last fits all loops that vectors may run along.
    """
    if is_sum(nest, nest.innermost):
        return _sums(s, nest, options)
    if is_moved and has_complex_numbers(nest):
        return s, "on vectors of complex numbers that the compiler of C makes"
    lanes = _lanes(nest, options)
    if is_mixed(nest):
        with suppress(IllegalTransform, ScheduleError):
            return _mixed(s, nest, lanes, options)
    outer = nest.band[-2] if len(nest.band) > 1 else None
    if outer is not None and _updates_under_conditions(nest, outer):
        raise UnfitError(
            f"conditions decide which elements an iteration of {nest.name(outer)} updates, and the next one waits for "
            "these"
        )
    rows = 1 if outer is None else _at_once(nest, outer, options)
    name = nest.name(nest.innermost)
    with suppress(UnfitError):
        return periods.take(s, nest, lanes)
    if outer is not None and rows > 1 and has_long_vectors(options) and not _stays(nest, outer):
        with suppress(UnfitError):
            return past_the_caches(s, nest, nest.name(outer), name, lanes, ways(options), options)
    try:
        return _along_rows(s, nest, rows, lanes, options)
    except UnfitError:
        if is_recurrence(nest, nest.innermost):
            with suppress(IllegalTransform, ScheduleError):
                return _mixed(s, nest, lanes, options)
        raise


def _lanes(nest: Nest, options: Options) -> int:
    """How many iterations of the innermost loop run at once. Raises UnfitError where several do not pay."""
    loop = nest.innermost
    if updates_by_data(loop):
        if any(getattr(op, "kind", "") in ("fptosi", "fptoui") for op in loop.body):
            return lanes_of(nest, options) * UPDATING
        raise UnfitError("data decides which elements it updates: one lane would wait for the other")
    has_tables = options.target.has_tables and are_of_bytes(loop)
    if lookups(loop) and not has_tables:
        raise UnfitError(f"{nest.name(loop)} does nothing but look up small elements, one by one")
    looks_up = not has_tables and any(isinstance(op, memref.Load) for op in loop.body)
    conditions = [op for op in loop.body if isinstance(op, affine.If | scf.If)]
    masked = {op.memref for each in conditions for op in walk(each) if isinstance(op, affine.Store)}
    at_once = LOOKING_UP if looks_up else UNDER_MASKS if len(masked) > 1 else 1
    return lanes_of(nest, options) * (at_once if len(nest.band) == 1 else 1)


def _mixed(s: Schedule, nest: Nest, lanes: int, options: Options) -> tuple[Schedule, str]:
    """The schedule with a loop on vectors that both sums up, in lanes, and stores along rows. Raises as steps do."""
    name, outer = nest.name(nest.innermost), [*map(nest.name, nest.band[:-1])] or _names_around(nest)
    if outer and adds_to_one_row(nest, outer[-1]) and _may_have_rows_in_lanes(s, outer[-1], name):
        with suppress(IllegalTransform, ScheduleError):
            return _rows_in_lanes(s, outer[-1], name, lanes, options)
    lanes = _lanes_of_what_moves(s, nest, options) or lanes
    made = copy(s).scalar_replace(name)
    return on_vectors(
        made, name, lanes, options.tail, reassociate=options.reassociate
    ), f"{name} sums up and runs on vectors of {lanes}"


def _along_rows(s: Schedule, nest: Nest, rows: int, lanes: int, options: Options) -> tuple[Schedule, str]:
    """The schedule with vectors of the innermost loop, and so many iterations of the one around it at once.

    Raises UnfitError.
    """
    name = nest.name(nest.innermost)
    made, begins = from_a_line(copy(s), nest, name, options)
    try:
        made.vectorize(name, lanes, tail="halved" if _is_short(s, name, lanes) else "overlapped")
    except (IllegalTransform, ScheduleError) as refused:
        if isinstance(refused, IllegalTransform) and refused.violation is not None:  # that of any tail
            raise UnfitError(in_one_line(refused)) from None
        tails: tuple[Tail, ...] = ("early", options.tail) if rows == 1 and _has_rows_alike(s, nest) else (options.tail,)
        with unfit_where_refused():
            _with_tail(made, name, lanes, tails)
    if is_lane_by_lane(made, name, gathers=options.target.has_gathers):
        raise UnfitError(lane_by_lane(nest, name))
    if lanes > 2 and _hands_on_one_by_one(made, name):
        with suppress(IllegalTransform, ScheduleError):
            carried = copy(s).scalar_replace(name).vectorize(name, lanes // 2, tail=options.tail)
            return carried, f"{name} runs on vectors of {lanes // 2}, beside what is handed on in a register"
    if store_forwarding.waits(made, name):
        with suppress(UnfitError):
            return store_forwarding.take(s, name, lanes, options)
    said = [f"{name} runs on vectors of {lanes}{begins}"]
    if rows > 1:
        with suppress(IllegalTransform, ScheduleError):
            made.unroll_jam(nest.name(nest.band[-2]), rows)
            said.append(f"{rows} iterations of {nest.name(nest.band[-2])} run at once")
    with_shuffles = copy(made)
    if spliced(with_shuffles, name, options):
        if rows > 1 or not _waits_for_memory(nest, options):
            return with_shuffles, "; ".join([*said, "each element of a row is loaded once"])
        with suppress(IllegalTransform, ScheduleError):
            made.unroll(name, AHEAD)
            said.append(f"{AHEAD} vectors as straight code, since it waits for memory")
    return made, "; ".join(said)


def _has_rows_alike(s: Schedule, nest: Nest) -> bool:
    """Whether loops around a nest run it for rows that are all as long, and for no sums, of which several run at once.

    What is loaded early stands in the way of that.
    """
    around = {each.iv for each in nest.loops[:-1]}
    if not around or any(v in around for e in (*nest.innermost.lower, *nest.innermost.upper) for v in e.values()):
        return False
    return not any(is_sum(each, each.innermost) for each in nests_in(s, nest.name(nest.loops[0])))


def _hands_on_one_by_one(s: Schedule, name: str) -> bool:
    """Whether a loop on vectors stores single elements along a row, of which each lane loads that of the one before."""
    loop = loop_called(s, name)
    if loop is None:
        return False
    ops = [op for op in walk(loop) if isinstance(op, affine.Access) and any(loop.iv in e.values() for e in op.index)]
    stored = {op.memref for op in ops if isinstance(op, affine.Store)}
    return any(isinstance(op, affine.Load) and op.memref in stored for op in ops)


def _with_tail(s: Schedule, name: str, lanes: int, tails: Sequence[Tail], *, reassociate: bool = False) -> None:
    """Bring a loop of a schedule onto vectors, with the first of some tails that it may have. Raises as steps do.

    What one iteration hands on to the next, as an element that was loaded, has no mask.
    """
    *others, last = tails
    for tail in others:
        with suppress(IllegalTransform):
            s.vectorize(name, lanes, tail=tail, reassociate=reassociate)
            return
    s.vectorize(name, lanes, tail=last, reassociate=reassociate)


def _waits_for_memory(nest: Nest, options: Options) -> bool:
    """Whether a loop goes over its arrays once and computes little, so that it waits for memory, where that is far."""
    few = sum(isinstance(op, Lanewise) for op in nest.innermost.body) < SHARING.start
    loops = nest.loops
    once = all(not all(nest.is_still(a, loop) for a in nest.accesses) for loop in loops)
    return few and once and has_large_cache(options.target)


def _is_short(s: Schedule, name: str, lanes: int) -> bool:
    """Whether a loop runs for few vectors, whatever the sizes, and these have halves: see `SHORT`."""
    loop = loop_called(s, name)
    most = None if loop is None else counts_inside(s, loop)[loop.iv].high
    return lanes > 3 and most is not None and most < SHORT * lanes


def _updates_under_conditions(nest: Nest, loop: affine.For) -> bool:
    """Whether all iterations of a loop around a nest update the same row where conditions in it hold."""
    read = {a.buffer for a in nest.accesses if a.kind == "read"}
    conditional = [a for a in nest.accesses if a.kind == "write" and a.op not in nest.innermost.body]
    return any(a.buffer in read and nest.is_still(a, loop) for a in conditional)


def updates_by_data(loop: affine.For) -> bool:
    """Whether a loop loads, and stores, elements of an array that data chooses."""
    ops = [*walk(loop)]
    stored = {op.memref for op in ops if isinstance(op, memref.Store)}
    return any(isinstance(op, memref.Load) and op.memref in stored for op in ops)


def has_long_vectors(options: Options) -> bool:
    """Whether a vector is as long as a line of the cache; stencils whose vectors are not spliced wait for loads."""
    return options.target.width >= 8 * LINE


def spliced(s: Schedule, name: str, options: Options) -> bool:
    """Whether vectors of a loop that overlap come from others by a shuffle now, where each may lie in two lines.

    Those that are shorter seldom do, and shuffles of few bytes are made of one after the other.
    """
    if not has_long_vectors(options) or _has_short_vectors(s, name):
        return False
    with suppress(IllegalTransform, ScheduleError):
        s.splice(name)
        return True
    return False


def _has_short_vectors(s: Schedule, name: str) -> bool:
    """Whether a loop loads vectors that are shorter than a line of the cache."""
    loop = loop_called(s, name)
    loads = [] if loop is None else [op for op in walk(loop) if isinstance(op, affine.VectorLoad)]
    types = [op.result.type for op in loads if isinstance(op.result.type, VectorType)]
    return any((width_of(type) or LINE) < LINE for type in types)


def _sums(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with the sums of a loop made in lanes where they may be, and else several of them at once."""
    loop, name = nest.innermost, nest.name(nest.innermost)
    outer = [*map(nest.name, nest.band[:-1])] or _names_around(nest)
    matrices = _matrices(nest, outer[-1], options) if outer else 0
    counting, in_any_order = _lanes_of_what_moves(s, nest, options), options.reassociate or _needs_no_order(s, nest)
    if in_any_order and outer and matrices < 2 and _may_have_rows_in_lanes(s, outer[-1], name):
        with suppress(IllegalTransform, ScheduleError):
            return _rows_in_lanes(s, outer[-1], name, counting or lanes_of(nest, options), options)
    if in_any_order:
        is_turned = any(nest.stride(a, loop).motion == "reversed" for a in nest.accesses)
        vectors = max(1, options.choices.sum_vectors // max(1, matrices + is_turned))
        made, lanes = copy(s), counting or vectors * lanes_of(nest, options)
        with suppress(IllegalTransform, ScheduleError):
            if not loop.results:
                made.scalar_replace(name)
            made, begins = from_a_line(made, nest, name, options, reassociate=options.reassociate)
            tails: tuple[Tail, ...] = ("scalar",) if is_turned else (options.tail, "scalar")
            _with_tail(made, name, lanes, tails, reassociate=options.reassociate)
            if not is_lane_by_lane(made, name):
                return made, f"{name} sums up in {lanes} lanes{begins}"
    if not outer:
        raise UnfitError("its sum is made in the order of the text, one addition after the other")
    require_quick_numbers(nest)
    if _sums_integers(nest, loop) and any(True for op in loop.body for _ in op.blocks()):
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

    They are no more than the nearest cache has lines of one place: rows may lie a power of two apart.
    """
    name, sums, made = nest.name(nest.innermost), options.choices.sums, copy(s)
    if not is_jammed(s, outer):  # for a sum before this one in the same iterations
        require_room(nest.innermost, sums)
        made.unroll_jam(outer, sums)
    with suppress(IllegalTransform, ScheduleError):
        made.scalar_replace(name)
    lanes = superword.lanes_of_sums(nest, loop_around(nest, outer), options)
    wide = superword.in_lanes(made, [name], lanes)
    how = f", in lanes of vectors of {lanes}" if wide is not None else ""
    return wide or made, f"{sums} iterations of {outer} run at once{how}, as each sum is made in the order of the text"


def _lanes_of_what_moves(s: Schedule, nest: Nest, options: Options) -> int:
    """How many lanes a loop has whose sums are longer than what they add, or count; 0 for all others.

    Of what is counted a register has so many; of narrow integers, `NARROW` registers.
    """
    made, name = copy(s), nest.name(nest.innermost)
    if not nest.innermost.results:
        with suppress(IllegalTransform, ScheduleError):
            made.scalar_replace(name)
    loops = (op for op in walk(made.function) if isinstance(op, affine.For) and op.iv is nest.innermost.iv)
    loop = next(loops, None)  # none where it runs once
    if loop is None or not loop.results:
        return 0
    if all_count(loop):
        moving = [a for a in nest.accesses if not nest.is_still(a, nest.innermost)]
        return lanes_for((a.buffer.type.element for a in moving), options)
    bits = bits_added(loop)
    return NARROW * options.target.lanes(bits) if bits else 0


def _sums_integers(nest: Nest, loop: affine.For) -> bool:
    """Whether all sums of a loop are of integers, whose order does not matter."""
    types = [v.type for v in loop.results] or [a.buffer.type.element for a in nest.accesses if a.kind == "write"]
    return all(isinstance(type, IntegerType) for type in types)


def _needs_no_order(s: Schedule, nest: Nest) -> bool:
    """Whether all that the innermost loop sums up is exact in any order: integers, extremes, counts, places."""
    if _sums_integers(nest, nest.innermost):
        return True
    made = copy(s)
    with suppress(IllegalTransform, ScheduleError):
        if not nest.innermost.results:
            made.scalar_replace(nest.name(nest.innermost))
        return is_exact_in_lanes(alone(way_to(made.function, {nest.innermost.iv})), nest.innermost.iv, made.module)
    return False


def is_large(loop: affine.For) -> bool:
    """Whether a loop holds so much that to compare each of its accesses with each takes long."""
    ops = (op for op in walk(loop) if isinstance(op, affine.Access | memref.Load | memref.Store))
    return sum(1 for _ in ops) > sharing.MOST_ACCESSES


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


def _rows_in_lanes(s: Schedule, outer: str, name: str, lanes: int, options: Options) -> tuple[Schedule, str]:
    """The schedule with the sums of several iterations of an outer loop made at once, each in lanes.

    Raises as steps do.
    """
    rows = rows_at_once(options)
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


def runs_along_rows(s: Schedule, nest: Nest, options: Options) -> bool:
    """Whether a loop of a band runs along all rows, and sums up nothing, if need be after distribution."""
    for apart in (s, *_distributed(s, nest)):
        again = again_in(apart, nest, s)
        if again is None:
            continue
        loop = min(reversed(again.band), key=lambda each: cost(again, each, options))
        motions = [again.stride(access, loop).motion for access in again.accesses]
        if all(motion in COSTS for motion in motions) and not (is_sum(again, loop) or is_recurrence(again, loop)):
            return True
    return False


def is_mixed(nest: Nest) -> bool:
    """Whether the innermost loop both sums up in some elements and stores along others."""
    still = {nest.is_still(a, nest.innermost) for a in nest.accesses if a.kind == "write"}
    return len(still) > 1


def cost(nest: Nest, loop: affine.For, options: Options) -> float:
    """What the accesses of an iteration cost if a loop is innermost."""
    is_in_order = is_sum(nest, loop) and not (options.reassociate or _sums_integers(nest, loop))
    waits = IN_ORDER if is_in_order else 0.0
    return waits + sum(COSTS.get(nest.stride(access, loop).motion, FAR) for access in nest.accesses)


def is_sum(nest: Nest, loop: affine.For) -> bool:
    """Whether all that a loop stores stays where it is, or it hands on more than counters that nothing needs later."""
    if len(loop.results) > len(idle_counters(nest.function, loop)):
        return True
    stores = [a for a in nest.accesses if a.kind == "write"]
    return bool(stores) and all(nest.is_still(a, loop) for a in stores)


def _least(nest: Nest, options: Options) -> float:
    return min(cost(nest, loop, options) for loop in nest.band)


def _stays(nest: Nest, loop: affine.For) -> bool:
    """Whether an iteration of a loop stores where the one before it has stored."""
    return any(a.kind == "write" and nest.is_still(a, loop) for a in nest.accesses)


def _at_once(nest: Nest, loop: affine.For, options: Options) -> int:
    """How many iterations of a loop run at once, since they have elements in common.

    Rows that are a power of two apart would lie in the same places of the nearest cache: there are few of those.
    """
    if _stays(nest, loop):
        return rows_at_once(options)
    if not _shares_rows(nest, loop):
        return options.choices.shared_rows if share_done_again(nest, loop) >= DONE_AGAIN else 1
    ops = [op for op in nest.innermost.body if isinstance(op, affine.Load | affine.Store) and op.index]
    arrays, lines = {op.memref for op in ops}, {(op.memref, op.index[:-1]) for op in ops}
    return min(options.choices.shared_rows, 1 + (ways(options) - len(lines)) // len(arrays))


def ways(options: Options) -> int:
    """How many lines of one place the nearest cache holds, where places repeat with each page, as on x86."""
    return (options.target.caches or USUAL_CACHES)[0] // PAGE


def _shares_rows(nest: Nest, loop: affine.For) -> bool:
    """Whether an iteration of a loop loads, along rows, what others load too, and few operations are made of it."""
    loads = [op for op in nest.innermost.body if isinstance(op, affine.Load) and op.index]
    if sum(isinstance(op, Lanewise) for op in nest.innermost.body) not in SHARING:
        return False
    for a, b in combinations(loads, 2):
        if a.memref is b.memref and a.index != b.index:
            apart = [x - y for x, y in zip(a.index, b.index, strict=True)]
            moves = [loop.iv in x.values() for x in a.index]
            if all(e.is_constant for e in apart) and any(e.constant and m for e, m in zip(apart, moves, strict=True)):
                return True
    return False


def _distributed(s: Schedule, nest: Nest) -> Iterator[Schedule]:
    """The schedule with what stands beside a nest in the loops around it taken apart, from inside to outside."""
    made = copy(s)
    for op in reversed(nest.around):
        if not isinstance(op, affine.For) or is_large(op):
            return
        try:
            made.distribute(nest.names[op.iv])
        except (IllegalTransform, ScheduleError):
            return
        yield copy(made)
