"""Loops on vectors: the loop that runs along rows innermost, several rows at once. Those that sum up are in `sums`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from itertools import combinations

from affdsl.ir.core import Lanewise
from affdsl.ir.dialects import affine, arith, memref, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import holders, walk
from affdsl.ir.types import VectorType
from affdsl.optimize.machine import LINE, PAGE, USUAL_CACHES, bits_of, has_large_cache
from affdsl.optimize.memory.lines import from_a_line, past_the_caches
from affdsl.optimize.model.compiled import share_done_again
from affdsl.optimize.nests import (
    Nest,
    again_in,
    counts_inside,
    has_complex_numbers,
    is_lane_by_lane,
    is_recurrence,
    lane_by_lane,
    lanes_of,
    loop_called,
    nests,
    nests_in,
    unfit_where_refused,
)
from affdsl.optimize.options import Options
from affdsl.optimize.size import is_long
from affdsl.optimize.threads import sharing
from affdsl.optimize.unfit import TOO_SHORT, UnfitError, in_one_line
from affdsl.optimize.vector import periods, scalar_expansion, sums
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.analysis.lookups import are_of_bytes, lookups
from affdsl.passes.transforms.vectorize import Tail
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

COSTS = {"invariant": 0.0, "contiguous": 1.0, "reversed": 1.5}
IN_ROWS = ("invariant", "contiguous")
"""How accesses move of which a vector is one operation, or the same in all lanes."""
FAR = 8.0
"""What an access costs that touches another line of the cache each time, or is made lane by lane."""
SHARING = range(8, 25)
"""How many operations are made of rows that several iterations load, where these run at once: fewer wait for memory."""
DONE_AGAIN = 0.2
"""The share of the operations that iterations run at once for, since each would do again what another one has done."""
SHORT = 8
"""From so many vectors on, half a vector less at the end of a row is not worth its code."""
UPDATING = 16
"""How many vectors at once where floats become the numbers of elements, in lanes, which a loop updates one by one."""
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
        if sums.is_sum(nest, nest.innermost):
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
    if sums.is_sum(nest, nest.innermost):
        return sums.take(s, nest, options)
    if is_moved and has_complex_numbers(nest):
        return s, "on vectors of complex numbers that the compiler of C makes"
    lanes, most = _lanes(nest, options), _most(s, nest.name(nest.innermost))
    while most is not None and lanes // 2 >= most > FEW:
        lanes //= 2
    if sums.is_mixed(nest):
        with suppress(IllegalTransform, ScheduleError):
            return sums.take_mixed(s, nest, lanes, options)
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
                return sums.take_mixed(s, nest, lanes, options)
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
    waits = any(isinstance(op, scf.While) for op in loop.body)  # all lanes for the last one: fewer of them
    by_data = [a for a in nest.accesses if isinstance(a.op, memref.Load) and a.op in loop.body]
    looks_up = not (has_tables or waits) and any(nest.stride(a, loop).motion != "contiguous" for a in by_data)
    conditions = [op for op in loop.body if isinstance(op, affine.If | scf.If)]
    masked = {op.memref for each in conditions for op in walk(each) if isinstance(op, affine.Store)}
    at_once = LOOKING_UP if looks_up else UNDER_MASKS if len(masked) > 1 else 1
    return lanes_of(nest, options) * (at_once if len(nest.band) == 1 else 1)


def _along_rows(s: Schedule, nest: Nest, rows: int, lanes: int, options: Options) -> tuple[Schedule, str]:
    """The schedule with vectors of the innermost loop, and so many iterations of the one around it at once.

    Raises UnfitError.
    """
    name = nest.name(nest.innermost)
    made, begins = from_a_line(copy(s), nest, name, options)
    try:
        takes_long = any(isinstance(op, scf.For) for op in holders(nest.innermost))  # an iteration that is left over
        masked = options.target.has_masks and lies_in_rows(nest) and not _loads_what_it_stores(nest)
        tail: Tail = "halved" if _is_short(s, name, lanes) else "covered" if masked else "overlapped"
        made.vectorize(name, lanes, tail=options.tail if takes_long else tail)
    except (IllegalTransform, ScheduleError) as refused:
        if isinstance(refused, IllegalTransform) and refused.violation is not None:  # that of any tail
            raise UnfitError(in_one_line(refused)) from None
        asks_each_lane = updates_by_data(nest.innermost)  # whether it runs, with a mask
        last: Tail = "scalar" if asks_each_lane else options.tail
        tails: tuple[Tail, ...] = ("early", last) if rows == 1 and _has_rows_alike(s, nest) else (last,)
        with unfit_where_refused():
            sums.with_tail(made, name, lanes, tails)
            if is_long(made, s):  # what masks make lane by lane, as of channels side by side
                made = copy(s).vectorize(name, lanes, tail="scalar")
    if is_lane_by_lane(made, name, gathers=options.target.has_gathers):
        raise UnfitError(lane_by_lane(nest, name))
    if lanes > 2 and _hands_on_one_by_one(made, name):
        with suppress(IllegalTransform, ScheduleError):
            carried = copy(s).scalar_replace(name).vectorize(name, lanes // 2, tail=options.tail)
            return carried, f"{name} runs on vectors of {lanes // 2}, beside what is handed on in a register"
    if scalar_expansion.waits_for_stores(made, name):
        with suppress(UnfitError):
            return scalar_expansion.take_forwarded(s, name, lanes, options)
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


def lies_in_rows(nest: Nest) -> bool:
    """Whether a vector of each access of the innermost loop is one operation, also under a mask."""
    return all(nest.stride(access, nest.innermost).motion in IN_ROWS for access in nest.accesses)


def _loads_what_it_stores(nest: Nest) -> bool:
    """Whether a nest loads elements of arrays that it stores: no processor hands on what was stored under a mask."""
    of_kind = [{a.buffer for a in nest.accesses if a.kind == kind} for kind in ("read", "write")]
    return not of_kind[0].isdisjoint(of_kind[1])


def _has_rows_alike(s: Schedule, nest: Nest) -> bool:
    """Whether loops around a nest run it for rows that are all as long, and for no sums, of which several run at once.

    What is loaded early stands in the way of that.
    """
    around = {each.iv for each in nest.loops[:-1]}
    if not around or any(v in around for e in (*nest.innermost.lower, *nest.innermost.upper) for v in e.values()):
        return False
    return not any(sums.is_sum(each, each.innermost) for each in nests_in(s, nest.name(nest.loops[0])))


def _hands_on_one_by_one(s: Schedule, name: str) -> bool:
    """Whether a loop on vectors stores single elements along a row, of which each lane loads that of the one before."""
    loop = loop_called(s, name)
    if loop is None:
        return False
    ops = [op for op in walk(loop) if isinstance(op, affine.Access) and any(loop.iv in e.values() for e in op.index)]
    stored = {op.memref for op in ops if isinstance(op, affine.Store)}
    return any(isinstance(op, affine.Load) and op.memref in stored for op in ops)


def _waits_for_memory(nest: Nest, options: Options) -> bool:
    """Whether a loop goes over its arrays once and computes little, so that it waits for memory, where that is far."""
    few = sum(isinstance(op, Lanewise) for op in nest.innermost.body) < SHARING.start
    loops = nest.loops
    once = all(not all(nest.is_still(a, loop) for a in nest.accesses) for loop in loops)
    return few and once and has_large_cache(options.target)


def _is_short(s: Schedule, name: str, lanes: int) -> bool:
    """Whether a loop runs for few vectors, whatever the sizes, and these have halves: see `SHORT`."""
    most = _most(s, name)
    return lanes > 3 and most is not None and most < SHORT * lanes


def _most(s: Schedule, name: str) -> int | None:
    """How often a loop runs at most, whatever the sizes, if that is known."""
    loop = loop_called(s, name)
    return None if loop is None else counts_inside(s, loop)[loop.iv].high


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
    """Whether a loop loads vectors that are shorter than a line of the cache, or of truths, which no shuffle has."""
    loop = loop_called(s, name)
    loads = [] if loop is None else [op for op in walk(loop) if isinstance(op, affine.VectorLoad)]
    types = [op.result.type for op in loads if isinstance(op.result.type, VectorType)]
    return any((width_of(type) or LINE) < LINE or bits_of(type) == 1 for type in types)


def runs_along_rows(s: Schedule, nest: Nest, options: Options) -> bool:
    """Whether a loop of a band runs along all rows, and sums up nothing, if need be after distribution."""
    for apart in (s, *_distributed(s, nest)):
        again = again_in(apart, nest, s)
        if again is None:
            continue
        loop = min(reversed(again.band), key=lambda each: cost(again, each, options))
        motions = [again.stride(access, loop).motion for access in again.accesses]
        if all(motion in COSTS for motion in motions) and not (sums.is_sum(again, loop) or is_recurrence(again, loop)):
            return True
    return False


def cost(nest: Nest, loop: affine.For, options: Options) -> float:
    """What the accesses of an iteration cost if a loop is innermost."""
    is_in_order = sums.is_sum(nest, loop) and not (options.reassociate or sums.sums_integers(nest, loop))
    waits = IN_ORDER if is_in_order else 0.0
    return waits + sum(COSTS.get(nest.stride(access, loop).motion, FAR) for access in nest.accesses)


def _least(nest: Nest, options: Options) -> float:
    return min(cost(nest, loop, options) for loop in nest.band)


def _stays(nest: Nest, loop: affine.For) -> bool:
    """Whether an iteration of a loop stores where the one before it has stored."""
    return any(a.kind == "write" and nest.is_still(a, loop) for a in nest.accesses)


def _at_once(nest: Nest, loop: affine.For, options: Options) -> int:
    """How many iterations of a loop run at once, since they have elements in common.

    Rows that are a power of two apart would lie in the same places of the nearest cache: there are few of those. One
    iteration that touches more of them than there are waits for them in any case, and several touch fewer each.
    """
    if _stays(nest, loop):
        return sums.rows_at_once(options)
    if not _shares_rows(nest, loop):
        return options.choices.shared_rows if share_done_again(nest, loop) >= DONE_AGAIN else 1
    lines = {(array, index[:-1]) for array, index in _moving(nest, affine.Load, affine.Store)}
    arrays = {array for array, _ in lines}
    few = 1 + (ways(options) - len(lines)) // len(arrays)
    return min(options.choices.shared_rows, few) if len(lines) <= ways(options) else options.choices.shared_rows


def ways(options: Options) -> int:
    """How many lines of one place the nearest cache holds, where places repeat with each page, as on x86."""
    return (options.target.caches or USUAL_CACHES)[0] // PAGE


def _shares_rows(nest: Nest, loop: affine.For) -> bool:
    """Whether an iteration of a loop loads, along rows, what others load too, and few operations are made of it."""
    if sum(isinstance(op, Lanewise) for op in nest.innermost.body) not in SHARING:
        return False
    for (a, index), (b, other) in combinations(_moving(nest, affine.Load), 2):
        if a is b and index != other:
            apart = [x - y for x, y in zip(index, other, strict=True)]
            moves = [loop.iv in x.values() for x in index]
            if all(e.is_constant for e in apart) and any(e.constant and m for e, m in zip(apart, moves, strict=True)):
                return True
    return False


def _moving(nest: Nest, *kinds: type[affine.Load | affine.Store]) -> list[tuple[Value, tuple[Affine, ...]]]:
    """The elements that operations of some kinds access in the innermost loop, of those that move with it.

    Counters of loops that are straight code are the numbers that they were.
    """
    loop = nest.innermost
    numbers = {op.result: op.value for op in loop.body if isinstance(op, arith.Constant) and isinstance(op.value, int)}
    ops = [op for op in loop.body if isinstance(op, kinds) and any(loop.iv in e.values() for e in op.index)]
    return [(op.memref, tuple(e.substitute(numbers) for e in op.index)) for op in ops]


def _distributed(s: Schedule, nest: Nest) -> Iterator[Schedule]:
    """The schedule with what stands beside a nest in the loops around it taken apart, from inside to outside."""
    made = copy(s)
    for op in reversed(nest.around):
        if not isinstance(op, affine.For) or sums.is_large(op):
            return
        try:
            made.distribute(nest.names[op.iv])
        except (IllegalTransform, ScheduleError):
            return
        yield copy(made)
