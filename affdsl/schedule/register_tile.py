"""Tiles whose results stay in registers: the ordinary steps that make them, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import holders
from affdsl.lang.source import problem
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.schedule.loops import LoopRow, ScheduleError

if TYPE_CHECKING:
    from affdsl.schedule.schedule import Schedule

AT_EDGES = 4
"""How many rows run at once of what is left of tiles: enough that sums do not wait for each other."""


def take(
    s: Schedule, loops: tuple[str, str, str], rows: int, vectors: int, lanes: int, *, contract: bool, grid: bool
) -> None:
    """The steps of `Schedule.register_tile`. Raises as they do; steps at the edges may be refused."""
    i, j, k = loops
    given: dict[str, object] = {"rows": rows, "vectors": vectors, "lanes": lanes}
    for name, number in given.items():
        if not isinstance(number, int) or number < 1:
            raise problem(ScheduleError, f"cannot register_tile: {name} is a whole number from 1 on, got {number!r}")
    tiled = (i, j) if rows > 1 else (j,)  # a tile of one iteration would leave no loop
    s.tile(tiled, (rows, vectors * lanes)[-len(tiled) :], separate=True, grid=grid)
    tiles = dict(s.steps[-1].call.options)["names"]
    assert isinstance(tiles, tuple)
    sums, others = _parts(s, tiled, k)
    k = sums[-1]
    s.permute((k, *sums[:-1]))
    for part in (sums[:-1], *others):
        s.vectorize(part[-1], lanes)
        for loop, count in ((part[-1], vectors), (part[0], rows)):
            if count > 1:
                s.unroll(loop)
    s.scalar_replace(k)
    if contract:
        s.contract(k)
    left = {name for row in s.loops() for name in row.names}  # a tile as large as its loop has no loop
    for around in [tile for tile in tiles if tile in left][-1:]:
        if others:
            for rest in _beside(s, around, k):
                with suppress(IllegalTransform):
                    _taken_apart(s, [row.names[0] for row in rest[:-1]])
        for rest in _beside(s, around, k):
            _edge(s, rest, rows, lanes, contract=contract)


def _parts(s: Schedule, tiled: Sequence[str], k: str) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The loops of the sums in a tile, and those of what stands before and after them, after steps that part them."""
    found = {name: row.iv for row in s.loops() for name in row.names}
    loops = {op.iv: op for op in holders(s.function) if isinstance(op, affine.For)}
    innermost = loops.get(found[tiled[-1]]) if all(name in found for name in tiled) else None
    if innermost is None or len(innermost.body) == 1:  # a loop that runs once is gone, as the next step says
        return (*tiled, k), ()
    parts = _taken_apart(s, tiled)
    sums = [part for part in parts if len(part) > len(tiled)]
    if len(sums) != 1 or len(sums[0]) != len(tiled) + 1:
        raise problem(ScheduleError, f"cannot register_tile: {tiled[-1]} must hold the loop {k} and no other loops")
    return sums[0], [part for part in parts if part is not sums[0]]


def _taken_apart(s: Schedule, loops: Sequence[str]) -> list[list[str]]:
    """Distribute perfectly nested loops, the innermost first: what the loops of each statement are called then.

    The first statement keeps the outermost loop; each of the others has a new one beside it.
    """
    rows = list(s.loops())
    outer = next(row for row in rows if loops[0] in row.names)
    known = {row.iv for row in rows} - {outer.iv}
    for name in reversed(loops):
        s.distribute(name)
    parts: list[list[str]] = []
    is_inside = False
    for row in s.loops():
        if row.depth == outer.depth and row.iv not in known:
            parts.append([row.names[0]])
            is_inside = True
        elif row.depth <= outer.depth:
            is_inside = False
        elif is_inside:
            parts[-1].append(row.names[0])
    return parts


def _edge(s: Schedule, nest: tuple[LoopRow, ...], rows: int, lanes: int, *, contract: bool) -> None:
    """What is left of tiles: several rows at once where there are so many, and lanes of which not all run."""
    names = [row.names[0] for row in nest]
    outer, inner = (names[0], names[1]) if rows > 1 else ("", names[0])
    before = {row.names for row in s.loops()} - {row.names for row in nest}
    with suppress(IllegalTransform):  # it is as right as it was, and `explain` says why it stays
        s.vectorize(inner, lanes, tail="folded")
        if rows > 1:
            s.unroll_jam(outer, min(rows, AT_EDGES))
    for row in _innermost(tuple(s.loops())):
        if row.names in before:
            continue
        with suppress(IllegalTransform):
            s.scalar_replace(row.names[0])
        if contract:
            s.contract(row.names[0])


def _beside(s: Schedule, around: str, main: str) -> list[tuple[LoopRow, ...]]:
    """The nests that stand in a loop beside one of them, each with all of its loops."""
    found: list[tuple[LoopRow, ...]] = []
    rows = list(s.loops())
    at = next(n for n, row in enumerate(rows) if around in row.names)
    for row in rows[at + 1 :]:
        if row.depth <= rows[at].depth:
            break
        found = [*found, (row,)] if row.depth == rows[at].depth + 1 else [*found[:-1], (*found[-1], row)]
    return [nest for nest in found if len(nest) > 1 and all(main not in row.names for row in nest)]


def _innermost(rows: tuple[LoopRow, ...]) -> Iterator[LoopRow]:
    for row, following in zip(rows, (*rows[1:], None), strict=True):
        if following is None or following.depth <= row.depth:
            yield row
