"""Loops around others on vectors: what loops inside sum up, or hand on, is of one lane."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import copy
from itertools import permutations

from affdsl.ir.core import Lanewise, Op
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.optimize.attempts import where_legal
from affdsl.optimize.innermost import first_that_fits
from affdsl.optimize.nests import Nest, lanes_of, nests, nests_in, on_vectors
from affdsl.optimize.notes import Notes, of
from affdsl.optimize.options import Options
from affdsl.optimize.order import data_inside
from affdsl.optimize.size import MOST_MORE, is_long
from affdsl.optimize.unfit import UnfitError, in_one_line
from affdsl.optimize.vector import inner_loops, scalar_expansion, sums
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

OPERATIONS = 2
"""How many operations inside of a loop run at once on all vectors, for each register."""
FEW_APART = range(2, 5)
"""How many elements what lanes touch may lie apart: as many vectors are loaded, and shuffled, for as many of these."""


def take(s: Schedule, root: str, options: Options, *, near: bool = False) -> tuple[Schedule, str]:
    """The schedule with vectors of a loop around others, along which all that they access lies in rows.

        for i: { t = 0; for k: t += A[k] * B[i + k]; C[i] = t }

    No sum is made in another order, and no iteration of a loop inside waits for a lane. Where loops inside run along
    rows as well, and sum up nothing, they are the better choice, unless one reads what another has summed up: a strip
    of an array is then near when it is read again, and the whole array would not be. So they are not where all that is
    accessed is `near` anyway: there sums in registers are better. Raises UnfitError.

    References
    ----------
    Nuzman and Zaks, "Outer-loop vectorization: revisited for short SIMD architectures", PACT 2008.
    """
    if not near and data_inside.has_sums_in_memory(s, root, options):
        raise UnfitError("where its sums are kept in memory, the loops inside run along rows")
    found = nests_in(s, root)
    if any(nest.has_vectors for nest in found):
        raise UnfitError("it has vectors already")
    why = "no loop around others runs along rows in all of them"
    for loop in _around(found):
        held = [nest for nest in found if loop in (*nest.around, *nest.band)]
        if not all(_lies_in_rows(nest, loop) for nest in held):
            continue
        if any(_is_strip(inner, loop) for nest in held for inner in nest.loops):
            why = "lanes would run the loops inside one after the other, each its own strip"
            continue
        if (
            not near
            and not _reads_again(held, loop)
            and all(inner_loops.runs_along_rows(s, nest, options) for nest in held)
        ):
            raise UnfitError("the loops inside run along rows")
        try:
            return _on_vectors(s, held[0].names[loop.iv], held, options)
        except (IllegalTransform, ScheduleError) as error:
            why = in_one_line(error)
    raise UnfitError(why)


def take_all(s: Schedule, root: str, options: Options, *, near: bool = False) -> tuple[Schedule, Notes]:
    """The schedule with a loop around others on vectors, and what was done. Raises UnfitError."""
    try:
        made, said = take(s, root, options, near=near)
    except UnfitError as why:
        try:
            made, said = scalar_expansion.take(s, root, options)
        except UnfitError:
            raise why from None
    if is_long(made, s):
        raise UnfitError(f"its code would be longer by more than {MOST_MORE} operations")
    notes = [of(s, root, said)]
    for name in [nest.name(nest.innermost) for nest in nests_in(s, root)]:
        made, others, _ = first_that_fits(
            made, name, (inner_loops.take,), options
        )  # of those that stand beside the vectors
        notes += others
    return made, notes


def _around(found: Sequence[Nest]) -> Iterator[affine.For]:
    """The loops around innermost ones, from inside to outside, without those around which something else stands."""
    seen = dict[affine.For, None]()
    for nest in found:
        for op in reversed((*nest.around, *nest.band[:-1])):
            if isinstance(op, affine.For):
                seen.setdefault(op)
    yield from sorted(seen, key=lambda op: -_depth(op, found))


def _depth(loop: affine.For, found: Sequence[Nest]) -> int:
    """How many loops stand around one."""
    return next(path.index(loop) for nest in found if loop in (path := (*nest.around, *nest.band)))


def _lies_in_rows(nest: Nest, loop: affine.For) -> bool:
    """Whether all that the innermost loop accesses is the same in each iteration of another one, or lies in a row.

    What is kept in buffers of one element is in registers. Rows of which every second to fourth element is touched are
    put together from vectors.
    """
    found = [nest.stride(access, loop) for access in nest.accesses if access.buffer.rank]
    return all(each.motion in ("invariant", "contiguous") or each.elements in FEW_APART for each in found)


def _is_strip(inner: Op, loop: affine.For) -> bool:
    """Whether no iteration of one loop runs in two iterations of another one around it.

        for ii = 0 to n step 64: for i = ii to min(n, ii + 64)

    A subscript `i` is the same whatever `ii` is, but there is one `ii` alone for it.
    """
    if not isinstance(inner, affine.For) or len(inner.lower) != 1:
        return False
    (low,) = inner.lower
    apart = abs(dict(low.terms).get(loop.iv, 0)) * loop.step
    lengths = (up - low for up in inner.upper)
    return any(apart >= length.constant for length in lengths if length.is_constant and apart)


def _reads_again(held: Sequence[Nest], loop: affine.For) -> bool:
    """Whether a loop sums up along columns of an array, and another loop beside it accesses the same columns."""
    columns = [_columns(nest, loop) for nest in held]
    sum_up = [sums.is_sum(nest, nest.innermost) for nest in held]
    return any(mine & others for (a, mine), (_, others) in permutations(enumerate(columns), 2) if sum_up[a])


def _columns(nest: Nest, loop: affine.For) -> set[Value]:
    """The arrays of which the innermost loop runs along columns, one of them for each iteration of another loop."""
    return {
        access.buffer.root
        for access in nest.accesses
        if nest.stride(access, loop).motion == "contiguous"
        and nest.stride(access, nest.innermost).motion not in inner_loops.COSTS
    }


def _on_vectors(s: Schedule, name: str, held: Sequence[Nest], options: Options) -> tuple[Schedule, str]:
    """The schedule with vectors of a loop, several at once where there are registers. Raises as steps do."""
    lanes = min(lanes_of(nest, options) for nest in held)
    made, before = copy(s), {row.names[0] for row in s.loops()} - {nest.name(nest.innermost) for nest in held}
    for nest in held:
        if _begins_elsewhere(nest, name) and sums.is_sum(nest, nest.innermost):
            made.scalar_replace(nest.name(nest.innermost))  # each of the loops that it becomes goes on with the sum
    apart = max(_apart(nest, name) for nest in held)
    if apart > 1:
        where_legal(lambda inner: made.unroll(inner, apart), [nest.name(nest.innermost) for nest in held])
    on_vectors(made, name, lanes, options.tail)
    said = f"{name} runs on vectors of {lanes}, each lane with the loops inside of it"
    if apart > 1:
        return made, f"{said}; {apart} iterations of these at once, which touch what lies between"
    shared = _with_rows_in_common(name, held)
    try:
        if not shared:
            raise UnfitError
        rows = sums.rows_at_once(options)
        made = copy(made).unroll_jam(shared, rows)
        said += f"; {rows} iterations of {shared} at once, which load the same rows"
    except (UnfitError, IllegalTransform, ScheduleError):
        made, said = several(made, name, held, options, said)
    for nest in nests(made):
        if nest.has_vectors and sums.is_sum(nest, nest.innermost) and nest.name(nest.innermost) not in before:
            with suppress(IllegalTransform, ScheduleError):
                made.scalar_replace(nest.name(nest.innermost))
    return made, said


def _apart(nest: Nest, name: str) -> int:
    """How many elements the rows lie apart that lanes of a loop touch, where the innermost loop runs along these."""
    loop = next(each for each in nest.loops if nest.name(each) == name)
    rows = [a for a in nest.accesses if nest.stride(a, nest.innermost).motion == "contiguous"]
    return max((nest.stride(a, loop).elements or 1 for a in rows), default=1)


def _begins_elsewhere(nest: Nest, name: str) -> bool:
    """Whether the innermost loop of a nest begins, or ends, at another number in each iteration of a loop around."""
    ends = (*nest.innermost.lower, *nest.innermost.upper)
    return any(nest.names.get(v) == name for end in ends for v in end.values())


def _with_rows_in_common(name: str, held: Sequence[Nest]) -> str:
    """The next loop around one on vectors whose iterations sum up different numbers of the same rows; "" for none."""
    if len(held) != 1 or not sums.is_sum(held[0], held[0].innermost):
        return ""
    nest = held[0]
    path = nest.loops
    at = next(k for k, op in enumerate(path) if nest.names[op.iv] == name)
    rows = [a for a in nest.accesses if a.buffer.rank and nest.stride(a, path[at]).motion == "contiguous"]
    for loop in reversed(path[:at]):
        if rows and all(nest.stride(a, loop).motion == "invariant" for a in rows):
            return nest.names[loop.iv]
    return ""


def several(s: Schedule, name: str, held: Sequence[Nest], options: Options, said: str) -> tuple[Schedule, str]:
    """The schedule with several vectors at once of a loop around nests, as many as there are registers for."""
    most = max(sum(isinstance(op, Lanewise) for op in walk(nest.innermost)) for nest in held)
    at_once = min(options.choices.outer_vectors, OPERATIONS * options.target.registers // max(most, 1))
    if at_once > 1:
        with suppress(IllegalTransform, ScheduleError):
            return copy(s).unroll_jam(name, at_once), f"{said}; {at_once} vectors at once"
    return s, said
