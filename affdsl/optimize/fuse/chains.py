"""Chains of pointwise work and stencils: what lies between their nests is computed where it is read, or row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy

from affdsl.ir.core import Lanewise
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, IntegerType, MemRefType
from affdsl.optimize.attempts import fuse_late, names_made, where_legal
from affdsl.optimize.machine import LINE
from affdsl.optimize.nests import (
    Nest,
    lanes_of,
    loop_called,
    names_in,
    nests,
    nests_in,
    on_vectors,
    roots_of,
    unfit_where_refused,
    updates,
)
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector.inner_loops import ways
from affdsl.optimize.vector.sums import is_sum
from affdsl.passes.analysis.combining import COMBINERS
from affdsl.passes.legality.proposals import Step
from affdsl.passes.transforms.fold import least_size
from affdsl.schedule.fusing import fusing_steps
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import IllegalTransform, Schedule

MOST_LOADS = 12
"""How many loads an iteration of a nest has at most after what it reads is computed in place."""
MOST_ROWS = 8
"""How many rows of an array are kept at most, and by how many one stage is late behind the one before."""
LATE = 4
"""How many vectors after a number is stored it is read again: a core hands on what it has just stored only if it is
read as it was stored, and else waits until it is in the cache."""
MOST_CONDITIONS = 8
"""Stages that hold more run in no bands: to prove a step each read asks all writes."""


def take(s: Schedule, options: Options) -> tuple[Schedule, str]:
    """The schedule with the nests of a chain as one, as far as that is legal and pays.

        for i, j: t[i, j] = P(i, j);  for k, m: B[k, m] = C(t[k - 1, m], t[k, m], t[k + 1, m])

    Where few loads make an element, it is computed in each place that reads it. Else one thread keeps rows that roll,
    as `kernel.fuse()` does; with several, each takes bands of rows, or nests over the same rows are one. Raises
    UnfitError.

    References
    ----------
    Ragan-Kelley, Barnes, Adams, Paris, Durand and Amarasinghe, "Halide: a language and compiler for optimizing
    parallelism, locality, and recomputation in image processing pipelines", PLDI 2013, on overlapped tiles, too.
    """
    arrays = made_for(s)
    if len(roots_of(s)) < 2 or not arrays:
        raise UnfitError("it is no chain of nests")
    if any(row.is_parallel for row in s.loops()):
        raise UnfitError("its iterations run in parallel, as it is written")
    if any(_adds(nest) or is_sum(nest, nest.innermost) for nest in nests(s)):
        raise UnfitError("some nest sums up")
    inlined = _inlined(s, arrays)
    if inlined is not None:
        return inlined, f"elements of {', '.join(arrays)} are computed where they are read"
    with suppress(UnfitError):
        return row_by_row(s, options) if options.threads == 1 else in_bands(s, options)
    made = _fused(s) if options.threads == 1 else _side_by_side(s)
    if len(made.steps) == len(s.steps):
        raise UnfitError("no two nests of it run as one")
    steps = [step.call.verb for step in made.steps[len(s.steps) :]]
    what = [f"{steps.count(verb)} x {verb}" for verb in dict.fromkeys(steps)]
    return made, f"nests of it run as one ({', '.join(what)})"


def made_for(s: Schedule) -> list[str]:
    """The arrays that the kernel makes before its nests, which nothing outside sees."""
    returned = {v for op in s.function.body if op.is_terminator for v in op.reads()}
    made = [op.result for op in s.function.body if isinstance(op, memref.Allocation) and op.result not in returned]
    return [v.hint for v in made if isinstance(v.type, MemRefType) and v.type.rank and v.hint]


def _adds(nest: Nest) -> bool:
    """Whether each iteration adds something to an element, or subtracts it."""
    found = updates(nest)
    return found is not None and COMBINERS[found[1].kind][0] in ("addf", "addi")


def _inlined(s: Schedule, arrays: list[str]) -> Schedule | None:
    """The schedule with all arrays computed where they are read, the last ones first; None if that takes many loads."""
    made = copy(s)
    for array in reversed(arrays):
        try:
            made.inline(array)
        except (IllegalTransform, ScheduleError):
            return None
        if any(len(_elements(nest, affine.Load)) > MOST_LOADS for nest in nests(made)):
            return None
    return made


def _side_by_side(s: Schedule) -> Schedule:
    """The schedule with nests over the same rows as one, each row with its own of what lies between them."""
    made = _fused(s, until=_rolls)
    for root in roots_of(made):
        for array in made_for(made):
            tried = copy(made)
            with suppress(IllegalTransform, ScheduleError):
                made = tried.fold(array, 0, 1).privatize(array, root)
    return made


# Nests over rows ------------------------------------------------------------------------------------------------------


def _over_rows(s: Schedule, until: Callable[[Step], bool]) -> Schedule:
    """The schedule after the steps of `kernel.fuse()` up to the first one of a kind, if all nests go over rows then.

    Arrays that are one operation on elements of others are computed where they are read, if less is touched then.
    Raises UnfitError.
    """
    made = min((_fused(each, until) for each in (s, _with_operations_in_place(s))), key=_touched)
    deep = any(row.depth > 1 for row in made.loops())
    if deep or any(len(nest.band) + len(nest.around) != 2 for nest in nests(made)):
        raise UnfitError("its nests do not all go over rows")
    return made


def _fused(s: Schedule, until: Callable[[Step], bool] = lambda _: False) -> Schedule:
    """The schedule with the steps that `kernel.fuse()` takes, up to the first one of a kind."""
    made = copy(s)
    with suppress(IllegalTransform, ScheduleError):
        fusing_steps(made, until=until)
    return made


def _rolls(step: Step) -> bool:
    """Whether after a step rows wait for those before them."""
    return step.verb not in ("inline", "fuse") or any(value for _, value in step.options)


def _with_operations_in_place(s: Schedule) -> Schedule:
    """The schedule with each array computed where it is read that is one operation on elements of others."""
    made = copy(s)
    for nest in nests(s):
        body = nest.innermost.body
        if sum(isinstance(op, Lanewise) for op in body) == 1:
            where_legal(made.inline, [v.hint for v, _ in _elements(nest, affine.Store) if v.hint in made_for(made)])
    return made


def _touched(s: Schedule) -> int:
    """How many different elements the iterations of all innermost loops load and store, one of each."""
    return sum(len({each for each in _elements(nest, affine.Load, affine.Store) if each[1]}) for nest in nests(s))


def _elements(nest: Nest, *kinds: type[affine.Load | affine.Store]) -> set[tuple[Value, tuple[Affine, ...]]]:
    """The elements that an iteration of the innermost loop accesses, each once."""
    return {(op.memref, op.index) for op in nest.innermost.body if isinstance(op, kinds)}


def _along_one_row(s: Schedule, inner: Sequence[str], options: Options) -> None:
    """Make one loop of loops along a row, each as late as what it reads of the one before is in the nearest cache.

    Where that is known, they run together from a multiple of the lanes on: vectors of arrays made here are aligned.
    """
    lanes = options.target.lanes(32)
    for second in inner[1:]:
        with suppress(UnfitError, IllegalTransform, ScheduleError):
            late = fuse_late(copy(s), inner[0], second, MOST_ROWS) + LATE * lanes
            loop = loop_called(s, second)
            begin = loop.lower[0] + late if loop is not None and len(loop.lower) == 1 else Affine()
            s.fuse(inner[0], second, shift=late + (-begin.constant % lanes if begin.is_constant else 0))


def _rows_at_once(s: Schedule, main: str, options: Options) -> int:
    """How many iterations of a loop over rows run at once: all rows that a loop along them loads of one array must fit.

    Rows of an array from outside may be a power of two apart, so that they share one place of the nearest cache.
    """
    own, most = set(made_for(s)), 0
    for nest in nests_in(s, main):
        of: dict[Value, set[object]] = {}
        for array, index in _elements(nest, affine.Load):
            if index and array.hint not in own:
                of.setdefault(array, set()).add(index[:-1])
        most = max([most, *map(len, of.values())])
    return max(1, min(options.choices.shared_rows, ways(options) - most))


def _on_vectors(s: Schedule, options: Options) -> Schedule:
    """The schedule with the loops along rows on vectors that may be; nothing in them is taken apart again."""
    for nest in nests(s):
        with suppress(UnfitError, IllegalTransform, ScheduleError):
            s = on_vectors(copy(s), nest.name(nest.innermost), lanes_of(nest, options), options.tail)
    return s


# Rows that roll -------------------------------------------------------------------------------------------------------


def row_by_row(s: Schedule, options: Options) -> tuple[Schedule, str]:
    """The schedule with the stages of a chain in one loop over rows, which makes each row once. Raises UnfitError.

    A stage runs behind the one whose rows it reads, late by as few rows as is legal. Of an array between them only the
    rows stay that somebody still reads, a few more where several iterations run at once: these have rows in common.
    The loops along rows become one, too, where they may: those that read what has just been made are so late that it
    has reached the nearest cache, in which whole rows may have no place.
    """
    made = _over_rows(s, _rolls)
    main, *others = roots_of(made)
    rows = [names_in(made, root)[1:] for root in (main, *others)]
    for root in others:
        if main not in roots_of(made):
            raise UnfitError("a loop over rows runs once, and its body stands in its place")
        fuse_late(made, main, root, MOST_ROWS)
    for inner in rows:
        _along_one_row(made, inner, options)
    _along_one_row(made, [inner[0] for inner in rows if inner], options)
    count = _rows_at_once(made, main, options)
    kept = _keep_rows(made, count)
    if count > 1:
        with suppress(IllegalTransform, ScheduleError):
            made.unroll_jam(main, count)
            kept.append(f"{count} iterations of {main} run at once")
    return _on_vectors(made, options), f"its nests run as one, row by row; {', '.join(kept)}"


def _keep_rows(s: Schedule, rows: int) -> list[str]:
    """Fold arrays to the rows that are read again where so many iterations run at once. Raises UnfitError."""
    said: list[str] = []
    for array in made_for(s):
        made = arrays_of(s.function)[array]
        assert isinstance(made.type, MemRefType)
        kept, whole = _rows_read_again(s, made) + rows - 1, made.type.shape[0]
        if whole is None or kept < whole:  # else it has that many as it is
            s.fold(array, 0, kept)
        said.append(f"{kept if whole is None else min(kept, whole)} rows of {array} are kept at a time")
    return said


def _rows_read_again(s: Schedule, array: Value) -> int:
    """How many rows of an array are kept at least. Raises UnfitError."""
    with unfit_where_refused():
        rows = least_size(s.function, array, 0, module=s.module)
    if rows is None or rows > MOST_ROWS:
        raise UnfitError(f"more than {MOST_ROWS} rows of {array.hint} are read again")
    return rows


# Bands of rows --------------------------------------------------------------------------------------------------------


def in_bands(s: Schedule, options: Options) -> tuple[Schedule, str]:
    """The schedule with the last nest of a chain in bands of rows, each of which computes what it reads; and why.

    Bands have arrays of their own, and may run at the same time. In a band each stage runs several rows at once. What
    two bands need of a stage both compute, so that bands of few rows cost more; of many rows, what lies between the
    stages does not stay in the second cache. Raises UnfitError.
    """
    if sum(isinstance(op, affine.If) for op in walk(s.function)) > MOST_CONDITIONS:
        raise UnfitError(f"its nests hold more than {MOST_CONDITIONS} conditions")
    made = _over_rows(s, lambda step: step.verb != "inline")
    arrays, size = made_for(made), options.choices.band_rows
    if not arrays:
        raise UnfitError("nothing lies between its nests")
    with unfit_where_refused():
        made.strip_mine(roots_of(made)[-1], size)
        (band,) = names_made(made)
        if band not in roots_of(made):
            raise UnfitError(f"its last nest has at most {size} rows")
        for array in reversed(arrays):
            made.compute_at(array, band)
        if roots_of(made) != [band]:
            raise UnfitError("some nest is no part of a band")
        _fuse_alike(made, band, options)
        rows = _rows_at_once(made, band, options)
        for array in arrays:
            set_apart(made, array)
            made.privatize(array, band)
    said = f"it runs in bands of {size} rows, each of which computes what it reads of {', '.join(arrays)}"
    if rows > 1:
        where_legal(lambda stage: made.unroll_jam(stage, rows), _stages(made, band))
        said += f", {rows} rows at once"
    return _on_vectors(made, options), said


def set_apart(s: Schedule, array: str) -> None:
    """Let rows of an array begin an odd number of cache lines apart, so that they do not compete for the same places.

    References
    ----------
    Bailey, "Unfavorable strides in cache memory systems", Scientific Programming 4 (1995).
    """
    type = arrays_of(s.function)[array].type
    element = type.element if isinstance(type, MemRefType) else None
    if isinstance(type, MemRefType) and isinstance(element, FloatType | IntegerType) and element.width <= 8 * LINE:
        line = 8 * LINE // element.width
        with suppress(IllegalTransform):  # vectors that the kernel is written with may go on behind a row
            s.pad(array, type.rank - 1, 2 * line, line)


def _stages(s: Schedule, band: str) -> list[str]:
    """The loops over rows of a band, in the order of the text."""
    inside = set(names_in(s, band))
    return [row.names[0] for row in s.loops() if row.depth == 1 and row.names[0] in inside]


def _fuse_alike(s: Schedule, band: str, options: Options) -> None:
    """Make one loop of stages over the same rows that follow each other, and then of their loops along a row."""
    first, *others = _stages(s, band)
    for second in others:
        inner = [name for stage in (first, second) for name in names_in(s, stage)[1:]][-2:]
        tried = copy(s)
        with suppress(IllegalTransform, ScheduleError):
            tried.fuse(first, second)
            if len(_stages(tried, band)) < len(_stages(s, band)):  # and none is left over before or behind
                s.fuse(first, second)
                try:
                    s.fuse(*inner)
                except (IllegalTransform, ScheduleError):  # one waits for the other
                    _along_one_row(s, inner, options)
                continue
        first = second
