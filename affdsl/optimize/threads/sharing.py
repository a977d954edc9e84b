"""Which loop of a nest threads share, where the loops around it run one iteration after the other."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from typing import Literal

from affdsl.ir.dialects import affine
from affdsl.lang.indices import Condition
from affdsl.optimize.attempts import AllOrNone, names_made
from affdsl.optimize.nests import Nest, counts_inside, loop_called, names_in, nests, unfit_where_refused
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.versions import sizes_of, times_as_long
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.parallelism import of_loop
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.analysis.stride import strides
from affdsl.passes.analysis.trip_count import trip_counts
from affdsl.schedule.alone import alone, way_to
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

CHUNKS = 4
"""How many chunks there should be for each thread, so that the last one does not run alone for long."""
COLUMNS = 128
"""How many columns a chunk has: rows of as many numbers are read fast, and there are enough chunks of them."""
FEW_ROWS = 256
"""How many rows a product has at most whose columns are shared, so that each thread has panels of B of its own, where
it is not known how many columns there are. Panels that all threads read are slow to write again, and few rows do not
pay for that."""
ROWS = 16
"""How many rows a chunk has: so few that chunks are many, and enough to read a panel of B for."""
AT_ONCE = 1024
"""How many rows have panels at once where columns are shared: those of B are made again for as many more."""
MOST_ACCESSES = 80
"""Of how many accesses it is asked which iterations wait for others: what is unrolled would take long."""
Tile = tuple[int, int, int]
"""How many rows and columns of a product a tile has, and how many terms of each sum."""
Cut = Literal["rows", "columns"] | None


def may_be_shared(nest: Nest, options: Options) -> bool:
    """Whether there are several threads, and none of the loops around shares its iterations among them."""
    return options.threads > 1 and not any(isinstance(op, affine.Parallel) for op in nest.around)


def batch(s: Schedule, nest: Nest, loops: Sequence[str], options: Options) -> bool:
    """Whether threads share the outermost of the loops around a product, where it is long, after a step for that."""
    if not loops or not may_be_shared(nest, options):
        return False
    loop = next(each for each in nest.band if nest.name(each) == loops[0])
    high = trip_counts(nest.dependences.accesses.function)[loop.iv].high
    if high is not None and high < CHUNKS * options.threads:
        return False
    with suppress(IllegalTransform):
        s.parallel(loops[0])
        return True
    return False


def threads_around(s: Schedule, root: str, options: Options) -> tuple[Schedule, str]:
    """The schedule with an outermost loop on threads that holds several nests, each of which would else be shared.

        for r: { for p: t[p] = S(r, p); for p: A[r, p] = t[p] }   ->   parallel r, with a row of t for each

    Each iteration has arrays of its own where it uses the elements of one anew; what the last one leaves is copied
    back. Raises UnfitError.
    """
    loop = loop_called(s, root)
    if options.threads < 2 or loop is None or sum(isinstance(op, affine.For) for op in loop.body) < 2:
        raise UnfitError
    high = counts_inside(s, loop)[loop.iv].high
    found = Dependences(alone(way_to(s.function, {loop.iv})), s.module)
    if (high is not None and high < CHUNKS * options.threads) or len(found.accesses.all) > MOST_ACCESSES:
        raise UnfitError
    made, copied = copy(s), list[str]()
    with unfit_where_refused():
        for name in _used_anew(found, loop):
            made.copy(name, root)
            made.expand(names_made(made)[0], root)
            copied.append(name)
        made.parallel(root)
    own = f"; each iteration has its own {' and '.join(copied)}" if copied else ""
    return made, f"its iterations run on threads{own}"


def _used_anew(found: Dependences, loop: affine.For) -> list[str]:
    """The arguments to which each iteration of a loop writes, in the same elements."""
    scope, of = found.accesses.scope, dict[Buffer, list[Access]]()
    for access in found.accesses.all:
        if access.buffer.kind == "argument" and access.buffer.rank and loop.iv in found.accesses.domains[access.op].ivs:
            of.setdefault(access.buffer, []).append(access)
    return [
        buffer.name
        for buffer, accesses in of.items()
        if any(access.kind == "write" for access in accesses)
        and all(strides(access, scope)[loop.iv].motion == "invariant" for access in accesses)
    ]


def tile_of(
    nest: Nest, rows: affine.For, columns: affine.For, tile: Tile, least: tuple[int, int], options: Options
) -> tuple[Tile, Cut]:
    """The tile of a product cut into chunks for threads, and whether these are of rows, of columns, or none.

    They are of columns, where these are many and rows few, and else of rows. A chunk is whole tiles of registers, of
    which each has `least` rows and columns.
    """
    if not may_be_shared(nest, options):
        return tile, None
    counts = trip_counts(nest.dependences.accesses.function)
    many, wide = (counts[loop.iv].high for loop in (rows, columns))
    if many is not None and many <= FEW_ROWS and (wide is None or wide >= _columns(options)):
        return of_columns(tile, least), "columns"
    if many is not None and (many <= least[0] or (many <= tile[0] and nest.around)):  # threads would wake for little
        return tile, None
    most = least[0] if nest.around else ROWS  # what is done again and again is mostly small
    return (_whole(most, least[0]), tile[1], tile[2]), "rows"


def of_columns(tile: Tile, least: tuple[int, int]) -> Tile:
    """The tile of a product whose columns threads share."""
    return _whole(AT_ONCE, least[0]), _whole(COLUMNS, least[1]), tile[2]


def few_rows(s: Schedule, nest: Nest, rows: affine.For, columns: affine.For, options: Options) -> Condition | None:
    """Of which sizes threads share the columns of a product, and not its rows; None where no size of a call says so.

    There are as many chunks of columns then, at least. One comparison says so: proofs about the code where it does not
    hold would take twice as long for two. Nor is there a condition for a kernel of several nests, whose code would be
    twice as long for each, and for sizes that cannot be, as those of a square.
    """
    counts = trip_counts(nest.dependences.accesses.function)
    if not may_be_shared(nest, options) or nest.around or counts[rows.iv].high is not None:
        return None
    if len({row.location for row in s.loops() if row.depth == 0}) > 1:
        return None
    return times_as_long(s, nest.name(columns), sizes_of(s, (nest.name(rows),)), COLUMNS // ROWS)


def _columns(options: Options) -> int:
    """How many columns a product has at least that threads share."""
    return CHUNKS * options.threads * COLUMNS


def rows_of_block(s: Schedule, path: Sequence[str], size: int, threads: int) -> None:
    """Let threads share the rows of a block, where they may; the schedule given is changed.

    The rows run outermost in the block, and each thread has as many of them: it goes through all columns by itself.
    """
    if threads < 2 or len(path) < 2:
        return
    with AllOrNone(s):
        s.strip_mine(path[0], _whole(-(-size // threads), ROWS))
        s.parallel(*names_made(s))


def inside_of(s: Schedule, root: str) -> list[str]:
    """The loops inside of one that threads share, after steps for that: long ones that hold others, outermost first."""
    counts = trip_counts(s.function)
    shared: list[str] = []
    done: set[str] = set()
    for row in [row for row in s.loops() if row.names[0] in names_in(s, root)[1:]]:
        name = row.names[0]
        inside = names_in(s, name)
        if name in done or len(inside) < 2 or counts[row.iv].high is not None:
            continue
        with suppress(IllegalTransform, ScheduleError):
            s.parallel(name)
            shared.append(name)
            done.update(inside)
    return shared


def in_chunks(s: Schedule, nest: Nest, options: Options) -> Nest:
    """The nest after threads share chunks of the first long loop of it that they may share, or as it was.

    The schedule given is changed.
    """
    if not may_be_shared(nest, options) or len(nest.band) < 2:
        return nest
    counts = trip_counts(nest.dependences.accesses.function)
    for loop in nest.band:
        if counts[loop.iv].high is None and _is_parallel(nest.dependences, loop) and _shared(s, nest, loop):
            return next(each for each in nests(s) if each.innermost.iv in {of.iv for of in nest.band})
    return nest


def _shared(s: Schedule, nest: Nest, loop: affine.For) -> bool:
    """Whether threads share chunks of a loop, which run outermost, after steps for that; else there are none."""
    names = [*map(nest.name, nest.band)]
    is_along = any(nest.stride(access, loop).motion == "contiguous" for access in nest.accesses)
    with AllOrNone(s):
        s.strip_mine(nest.name(loop), COLUMNS if is_along else ROWS)
        (chunk,) = names_made(s)
        if loop is not nest.band[0]:
            s.permute((chunk, *names[: names.index(nest.name(loop))]))
        s.parallel(chunk)
        return True
    return False


def unless_outermost(s: Schedule, nest: Nest, innermost: affine.For, options: Options) -> Nest:
    """The same, where no loop outside of all others is one that threads may share, with that loop innermost."""
    if not may_be_shared(nest, options) or len(nest.band) < 2:
        return nest
    if nest.around:
        root = nest.around[0]
        found = Dependences(alone(way_to(s.function, {*root.binds()})), s.module)
        if len(found.accesses.all) > MOST_ACCESSES or not isinstance(root, affine.For) or _is_parallel(found, root):
            return nest
    elif _is_parallel(nest.dependences, next(loop for loop in nest.band if loop is not innermost)):
        return nest
    return in_chunks(s, nest, options)


def _is_parallel(dependences: Dependences, loop: affine.For) -> bool:
    verdict = of_loop(dependences, loop.iv)
    return verdict is not None and verdict.is_parallel


def _whole(size: int, of: int) -> int:
    """The size in whole tiles, and one at least."""
    return max(of, size // of * of)
