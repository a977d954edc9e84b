"""Rows that roll, some of them at once: the stages of a chain in one loop over rows, which makes each row once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from functools import partial

from affdsl.ir.core import Lanewise
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import MemRefType
from affdsl.optimize.attempts import fuse_late
from affdsl.optimize.nests import (
    Nest,
    is_lane_by_lane,
    lanes_of,
    loop_called,
    names_in,
    nests,
    roots_of,
    unfit_where_refused,
)
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops
from affdsl.passes.legality.proposals import Step
from affdsl.passes.transforms.fold import least_size
from affdsl.schedule.fusing import fusing_steps
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

MOST_ROWS = 8
"""How many rows of an array are kept at most, and by how many one stage is late behind the one before."""
LATE = 4
"""How many vectors after a number is stored it is read again: a core hands on what it has just stored only if it is
read as it was stored, and else waits until it is in the cache."""


def take(s: Schedule, options: Options) -> tuple[Schedule, str]:
    """The schedule with the nests of a chain in one loop over rows, and why. Raises UnfitError.

        for i, j: t[i, j] = P(A, i, j);  for k, m: B[k, m] = C(t[k - 1, m], t[k, m], t[k + 1, m])

    A stage runs behind the one whose rows it reads, late by as few rows as is legal. Of an array between them only the
    rows stay that somebody still reads, a few more where several iterations run at once: these have rows in common.
    The loops along rows become one, too, where they may: those that read what has just been made are so late that it
    has reached the nearest cache, in which whole rows may have no place.

    What is one operation on elements of other arrays is computed where it is read, if then less is loaded and stored.

    References
    ----------
    Ragan-Kelley, Barnes, Adams, Paris, Durand and Amarasinghe, "Halide: a language and compiler for optimizing
    parallelism, locality, and recomputation in image processing pipelines", PLDI 2013.
    """
    made = cheapest(s, partial(fused, until=rolls))
    main, *others = roots_of(made)
    if not is_row_by_row(made):
        raise UnfitError("its nests do not all go over rows")
    rows = [names_in(made, root)[1:] for root in (main, *others)]
    for root in others:
        if main not in roots_of(made):
            raise UnfitError("a loop over rows runs once, and its body stands in its place")
        fuse_late(made, main, root, MOST_ROWS)
    for inner in rows:
        along_one_row(made, inner, options)
    along_one_row(made, [inner[0] for inner in rows if inner], options)
    count = rows_at_once(made, main, options)
    kept = _keep_rows(made, count)
    if count > 1:
        with suppress(IllegalTransform, ScheduleError):
            made.unroll_jam(main, count)
            kept.append(f"{count} iterations of {main} run at once")
    return rows_on_vectors(made, options), f"its nests run as one, row by row; {', '.join(kept)}"


def cheapest(s: Schedule, step: Callable[[Schedule], Schedule]) -> Schedule:
    """The schedule after a step, which touches fewer elements: as it is, or with operations done where they are read.

    These are arrays whose elements are one operation on elements of others.
    """
    return min((step(s), step(_with_operations_in_place(s))), key=_touched)


def fused(s: Schedule, until: Callable[[Step], bool] = lambda _: False) -> Schedule:
    """The schedule with the steps that `kernel.fuse()` takes, up to the first one of a kind."""
    made = copy(s)
    with suppress(IllegalTransform, ScheduleError):
        fusing_steps(made, until=until)
    return made


def rolls(step: Step) -> bool:
    """Whether after a step rows wait for those before them."""
    return step.verb not in ("inline", "fuse") or any(value for _, value in step.options)


def made_for(s: Schedule) -> list[str]:
    """The arrays that the kernel makes before its nests, which nothing outside sees."""
    returned = {v for op in s.function.body if op.is_terminator for v in op.reads()}
    made = [op.result for op in s.function.body if isinstance(op, memref.Allocation) and op.result not in returned]
    return [v.hint for v in made if isinstance(v.type, MemRefType) and v.type.rank and v.hint]


def _with_operations_in_place(s: Schedule) -> Schedule:
    """The schedule with each array computed where it is read that is one operation on elements of others."""
    made = copy(s)
    for nest in nests(s):
        body = nest.innermost.body
        if sum(isinstance(op, Lanewise) for op in body) == 1:
            for op in body:
                if isinstance(op, affine.Store) and op.memref.hint in made_for(made):
                    with suppress(IllegalTransform, ScheduleError):
                        made.inline(op.memref.hint)
    return made


def _touched(s: Schedule) -> int:
    """How many different elements the iterations of all innermost loops load and store, one of each."""
    return sum(len({(op.memref, op.index) for op in _accesses(nest)}) for nest in nests(s))


def _accesses(nest: Nest) -> list[affine.Load | affine.Store]:
    return [op for op in nest.innermost.body if isinstance(op, affine.Load | affine.Store) and op.index]


def is_row_by_row(s: Schedule) -> bool:
    """Whether all nests are loops over rows, with nothing in them but loops along these."""
    return all(row.depth < 2 for row in s.loops()) and all(len(nest.band) + len(nest.around) == 2 for nest in nests(s))


def along_one_row(s: Schedule, inner: Sequence[str], options: Options) -> None:
    """Make one loop of loops along a row, each as late as what it reads of the one before is in the nearest cache.

    Where that is known, they run together from a multiple of the lanes on: vectors of arrays made here are aligned.
    """
    if not inner:
        return
    lanes = options.target.lanes(32)
    first, *others = inner
    for second in others:
        with suppress(UnfitError, IllegalTransform, ScheduleError):
            late = fuse_late(copy(s), first, second, MOST_ROWS) + LATE * lanes
            loop = loop_called(s, second)
            begin = loop.lower[0] + late if loop is not None and len(loop.lower) == 1 else Affine()
            s.fuse(first, second, shift=late + (-begin.constant % lanes if begin.is_constant else 0))


def rows_at_once(s: Schedule, main: str, options: Options) -> int:
    """How many iterations of a loop over rows run at once: all rows that a loop along them loads of one array must fit.

    Rows of an array from outside may be a power of two apart, so that they share one place of the nearest cache.
    """
    inside = [nest for nest in nests(s) if nest.name(nest.innermost) in names_in(s, main)]
    own = set(made_for(s))
    most = 0
    for nest in inside:
        of: dict[object, set[object]] = {}
        for op in _accesses(nest):
            if isinstance(op, affine.Load) and op.memref.hint not in own:
                of.setdefault(op.memref, set()).add(op.index[:-1])
        most = max([most, *map(len, of.values())])
    return max(1, min(options.choices.shared_rows, inner_loops.ways(options) - most))


def _keep_rows(s: Schedule, rows: int) -> list[str]:
    """Fold arrays to the rows that are read again where so many iterations run at once. Raises UnfitError."""
    said: list[str] = []
    for array in made_for(s):
        made = next(op for op in s.function.body if isinstance(op, memref.Allocation) and op.result.hint == array)
        assert isinstance(made.result.type, MemRefType)
        kept, whole = _rows_read_again(s, made.result) + rows - 1, made.result.type.shape[0]
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


def rows_on_vectors(s: Schedule, options: Options) -> Schedule:
    """The schedule with the loops along rows on vectors that may be; nothing in them is taken apart again."""
    for nest in nests(s):
        made, name = copy(s), nest.name(nest.innermost)
        with suppress(UnfitError, IllegalTransform, ScheduleError):
            made.vectorize(name, lanes_of(nest, options), tail=options.tail)
            s = s if is_lane_by_lane(made, name) else made
    return s
