"""Which loop of a nest threads share, where the loops around it run one iteration after the other."""

from __future__ import annotations

from typing import Literal

from affdsl.ir.dialects import affine
from affdsl.optimize.nests import Nest
from affdsl.optimize.options import Options
from affdsl.passes.analysis.parallelism import of_loop
from affdsl.passes.analysis.trip_count import trip_counts
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

CHUNKS = 4
"""How many chunks there should be for each thread, so that the last one does not run alone for long."""
COLUMNS = 128
"""How many columns a chunk has: rows of as many numbers are read fast, and there are enough chunks of them."""


ROWS = 16
"""How many rows a chunk has at least."""
Tile = tuple[int, int, int]
"""How many rows and columns of a product a tile has, and how many terms of each sum."""
Cut = Literal["rows", "columns"] | None


def may_be_shared(nest: Nest, options: Options) -> bool:
    """Whether there are several threads, and none of the loops around shares its iterations among them."""
    return options.threads > 1 and not any(isinstance(op, affine.Parallel) for op in nest.around)


def tile_of(
    nest: Nest, rows: affine.For, columns: affine.For, tile: Tile, least: tuple[int, int], options: Options
) -> tuple[Tile, Cut]:
    """The tile of a product cut into chunks for threads, and whether these are of rows, of columns, or none.

    They are of rows, where there are enough for each thread, and else of columns, where these are many. A chunk is
    whole tiles of registers, of which each has `least` rows and columns.
    """
    if not may_be_shared(nest, options):
        return tile, None
    counts = trip_counts(nest.dependences.accesses.function)
    many, wide = (counts[loop.iv].high for loop in (rows, columns))
    wanted = CHUNKS * options.threads
    if many is not None and many < wanted * least[0] and (wide is None or wide >= wanted * COLUMNS):
        return (tile[0], _whole(COLUMNS, least[1]), tile[2]), "columns"
    if many is not None and many <= least[0]:
        return tile, None
    most = tile[0] // 2 if many is None else min(tile[0] // 2, many // wanted)
    return (_whole(most, least[0]), tile[1], tile[2]), "rows"


def in_chunks(s: Schedule, nest: Nest, options: Options) -> bool:
    """Let threads share chunks of a long loop of a nest around the others; whether there is one that may be shared.

    The schedule given is changed.
    """
    if not may_be_shared(nest, options) or len(nest.band) < 2:
        return False
    counts = trip_counts(nest.dependences.accesses.function)
    for loop in nest.band:
        verdict = None if counts[loop.iv].high is not None else of_loop(nest.dependences, loop.iv)
        if verdict is None or not verdict.is_parallel:
            continue
        name, others = nest.name(loop), [nest.name(each) for each in nest.band]
        is_along = any(nest.stride(access, loop).motion == "contiguous" for access in nest.accesses)
        steps = len(s.steps)
        try:
            s.strip_mine(name, COLUMNS if is_along else ROWS)
            strip = str(dict(s.steps[-1].call.options)["name"])
            if loop is not nest.band[0]:
                before = others[: others.index(name)]
                s.permute((strip, *before))
            s.parallel(strip)
        except (IllegalTransform, ScheduleError):
            while len(s.steps) > steps:
                s.undo()
            continue
        return True
    return False


def rows_in_chunks(s: Schedule, loop: str, size: int, threads: int) -> bool:
    """Let threads share the rows of a block, a part each; whether they may. The schedule given is changed."""
    steps = len(s.steps)
    try:
        s.strip_mine(loop, max(ROWS, -(-size // threads)))
        s.parallel(str(dict(s.steps[-1].call.options)["name"]))
    except (IllegalTransform, ScheduleError):
        while len(s.steps) > steps:
            s.undo()
        return False
    return True


def _whole(size: int, of: int) -> int:
    """The size in whole tiles, and one at least."""
    return max(of, size // of * of)
