"""Tiles perfect bands of affine loops: the loops over tiles outside, those over the points of a tile inside."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import TypeAlias

from affdsl.frozen import Frozen, replace
from affdsl.ir.applied import Applied
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.messages import shown
from affdsl.ir.traverse import clone_block, with_fields
from affdsl.ir.types import INDEX
from affdsl.passes.affine.arithmetic import MOST
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.trip_count import TripCount, trip_count
from affdsl.passes.legality.order import Time, new_order, text_time
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.require import Candidate, require_order, skewed
from affdsl.passes.transforms.loops.nests import band_of, replaced
from affdsl.passes.transforms.tile.bounds import Ends, furthest

TileSize: TypeAlias = "int | Value"
Trips: TypeAlias = Callable[[affine.For], TripCount]
"""How often a loop runs."""


def tile(
    function: Func,
    ivs: Sequence[Value],
    sizes: Sequence[TileSize],
    *,
    separate: bool = False,
    reassociate: bool = False,
    names: Sequence[str] = (),
    grid: bool = False,
    module: Module | None = None,
) -> Func:
    """Tile a band of perfectly nested loops.

        for i = 0 to n {                       for ii = 0 to n step 32 {
          for j = 0 to i + 1 {                   for jj = 0 to min(ii + 32, n) step 32 {
            S(i, j)                    ->          for i = ii to min(ii + 32, n) {
          }                                          for j = jj to min(jj + 32, i + 1) {
        }                                              S(i, j) ... }

    The loops over points keep their induction variables. The bounds of a loop over tiles hold for all points of the
    tiles around it, so that some tiles of a triangle may be empty.

    Refuses where a dependence runs against the new order, where the loops are no perfect band, where one carries
    values, and where a step meets a lower bound that its band moves in a way that no bound can express.

    Parameters
    ----------
    ivs
        The induction variables of the band.
    sizes
        How many iterations of each loop make a tile: a number, or a symbol, which must be positive when it runs.
    separate
        Test for each tile whether it is full, and run full tiles by loops that have neither min nor max.
    reassociate
        Let sums and products of floats in memory be rounded in another order. What comes to the same in any order, as
        sums of integers do, may always be combined in another one.
    names
        What the loops over tiles are called; by default as the loops, with `_tile` after it.
    grid
        Let the loops over tiles count tiles: number t has the points from t * size to (t + 1) * size, wherever the
        loop starts. By default tiles start where the loop does, and their loops count points in steps of the size.
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        With the dependence, its distance and two iterations, or with what else is in the way.
    ValueError
        For no loops, another number of sizes or names, or a size below 1.

    References
    ----------
    Irigoin and Triolet, "Supernode partitioning", POPL 1988; Xue, "Loop Tiling for Parallelism", ch. 3-5.

    >>> from affdsl.mlir.readers import parse
    >>> function = parse('''func.func @f(%A: memref<?xf32>, %n: index, %x: f32) {
    ...     affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xf32> }
    ...     return
    ... }''').functions[0]
    >>> print(tile(function, [function.body[0].iv], [32]))
    func.func @f(%A: memref<?xf32>, %n: index, %x: f32) {
      affine.for %i_tile = 0 to %n step 32 {
        affine.for %i = affine_map<(d0) -> (d0)>(%i_tile) to min affine_map<(d0)[s0] -> (d0 + 32, s0)>(%i_tile)[%n] {
          affine.store %x, %A[%i] : memref<?xf32>
        }
      }
      return
    }
    """
    if not ivs:
        raise ValueError("no loops are given to tile")
    if len(sizes) != len(ivs) or (names and len(names) != len(ivs)):
        raise ValueError(f"{len(ivs)} loops take {len(ivs)} sizes and names, got {len(sizes)} and {len(names)}")
    if any(isinstance(size, int) and size < 1 for size in sizes):
        raise ValueError(f"a tile has at least one iteration of each loop, got sizes {', '.join(map(str, sizes))}")
    known = Dependences(function, module)
    band = band_of(function, ivs, f"tile {_listed(ivs)}")
    given = [ivs.index(loop.iv) for loop in band]  # sizes and names are those of the loops, in whatever order
    in_order, called = [sizes[k] for k in given], [names[k] for k in given] if names else ()
    new = tiled_band(band, in_order, known, trips_of(known), separate, called, reassociate, grid=grid)
    return replaced(function, band[0], new)


def trips_of(dependences: Dependences) -> Trips:
    """Counts how often loops run, each once."""
    return cache(lambda loop: trip_count(loop, loop.iv, dependences.accesses))


class _Tiles(Frozen):
    """One loop of a band and the loop over its tiles.

    Attributes
    ----------
    outer
        The loop over tiles, still without a body.
    start
        The first point of a tile that is not cut off, over `outer.iv`.
    span, reach
        How far the next tile is, and how far at most the last point of a full tile, from its first one.
    low_moves
        Whether the lower bound of the loop may be above the start: it depends on an outer loop of the band, or the
        tiles lie on a grid.
    whole
        Whether all tiles are full, or there is one: then the points end at start + span, whatever the bound.
    """

    loop: affine.For
    outer: affine.For
    start: Affine
    span: Affine
    reach: Affine
    low_moves: bool
    whole: bool


def tiled_band(
    band: Sequence[affine.For],
    sizes: Sequence[TileSize],
    dependences: Dependences,
    trips: Trips,
    separate: bool,
    names: Sequence[str],
    reassociate: bool = False,
    *,
    grid: bool = False,
) -> Op:
    """The tiled loops of a band, outermost first; see `tile`. Raises IllegalTransform."""
    by = ", ".join(shown(size) if isinstance(size, Value) else str(size) for size in sizes)
    what = f"tile {_listed([loop.iv for loop in band])} by {by}"
    hints = names or [f"{loop.iv.hint}_tile" if loop.iv.hint else "" for loop in band]
    tiles: list[_Tiles] = []
    ends: dict[Value, Ends] = {}
    for loop, size, hint in zip(band, sizes, hints, strict=True):
        over = _over_grid if grid else _over_tiles
        made = over(loop, size, hint, ends, trips, what)
        tiles.append(made)
        cut = () if made.whole else tuple(bound - 1 for bound in _all_points(loop.upper, ends, 1, what, loop))
        ends[loop.iv] = Ends(made.start, (made.start + made.reach, *cut))
    _check(band, tiles, sizes, dependences, what, reassociate)
    body = band[-1].body
    if not separate:
        inside: Op = _nest([_points(t, what) for t in tiles], body)
    else:
        inside = _separated(tiles, body, what)
    return _nest([t.outer for t in tiles], (inside,))


def _over_tiles(
    loop: affine.For, size: TileSize, hint: str, ends: dict[Value, Ends], trips_of: Trips, what: str
) -> _Tiles:
    low_moves, high_moves = (any(v in ends for e in bounds for v in e.values()) for bounds in (loop.lower, loop.upper))
    iv = Value(INDEX, hint, loop.iv.location)
    lower = _all_points(loop.lower, ends, -1, what, loop)
    upper = _all_points(loop.upper, ends, 1, what, loop)
    if isinstance(size, Value):
        if len(lower) > 1:
            reason = f"the tiles of a symbolic size start at one place, but {shown(loop.iv)} has several lower bounds"
            raise refusal(loop, what, reason, "a size that is a number")
        span = size * Affine.of(loop.step)
        count = tuple((bound - lower[0]).ceildiv(span) for bound in upper)
        outer = replace(loop, iv=iv, lower=(Affine(),), upper=count, step=1, body=(), attributes=(), written=None)
        return _Tiles(loop, outer, lower[0] + iv * span, span, span - loop.step, low_moves, whole=False)
    step, trips = loop.step * size, None if low_moves or high_moves else trips_of(loop)
    if step > MOST:
        raise refusal(loop, what, f"{size} steps of {shown(loop.iv)} do not fit into 64 bits")
    written = _written_without(loop, ends)
    outer = with_fields(loop, iv=iv, lower=lower, upper=upper, step=step, body=(), attributes=(), written=written)
    if trips is not None and trips.number is not None and trips.number < size:
        span = Affine.of(trips.number * loop.step)
        return _Tiles(loop, outer, Affine.of(iv), span, span - loop.step, low_moves, whole=True)
    whole = trips is not None and not trips.unknown and trips.divisor % size == 0
    return _Tiles(loop, outer, Affine.of(iv), Affine.of(step), Affine.of(step - loop.step), low_moves, whole)


def _over_grid(loop: affine.For, size: TileSize, hint: str, ends: dict[Value, Ends], _: Trips, what: str) -> _Tiles:
    iv = Value(INDEX, hint, loop.iv.location)
    span = size * Affine.of(loop.step)
    if span.is_constant and span.constant > MOST:
        raise refusal(loop, what, f"{size} steps of {shown(loop.iv)} do not fit into 64 bits")
    lower = tuple(bound // span for bound in _all_points(loop.lower, ends, -1, what, loop))
    upper = tuple(bound.ceildiv(span) for bound in _all_points(loop.upper, ends, 1, what, loop))
    outer = replace(loop, iv=iv, lower=lower, upper=upper, step=1, body=(), attributes=(), written=None)
    return _Tiles(loop, outer, iv * span, span, span - 1, low_moves=True, whole=False)


def _written_without(loop: affine.For, ivs: Container[Value]) -> Mapping[str, Applied] | None:
    """How the bounds of a loop were written, but for those with operands that are not known outside of others."""
    kept = {
        name: applied
        for name, applied in (loop.written or {}).items()
        if not any(v in ivs for v in (*applied.dims, *applied.symbols))
    }
    return kept or None


def _all_points(
    bounds: Sequence[Affine], ends: dict[Value, Ends], sign: int, what: str, loop: affine.For
) -> tuple[Affine, ...]:
    """Bounds over the loops around a band and its tiles that hold for all points of the tiles around."""
    if not any(v in ends for bound in bounds for v in bound.values()):
        return tuple(bounds)
    try:
        found = [far for bound in bounds for far in furthest(bound, ends, sign)]
    except ValueError as error:
        raise refusal(loop, what, str(error)) from error
    return tuple(dict.fromkeys(found))


def _points(tiles: _Tiles, what: str) -> affine.For:
    """The loop over the points of a tile, with the body that it had."""
    loop, start = tiles.loop, tiles.start
    lower = (start, *_lower_on_steps(tiles, what)) if tiles.low_moves else (start,)
    upper = (start + tiles.span,) if tiles.whole else (start + tiles.span, *loop.upper)
    return with_fields(loop, lower=lower, upper=upper)


def _lower_on_steps(tiles: _Tiles, what: str) -> tuple[Affine, ...]:
    """The lower bounds of a loop that moves; where it has a step, the first of its points from the tile on."""
    loop = tiles.loop
    if loop.step == 1:
        return loop.lower
    if len(loop.lower) > 1:
        reason = f"{shown(loop.iv)} has several lower bounds that move with the band, and step {loop.step}"
        raise refusal(loop, what, reason, "affine-loop-normalize first")
    (low,) = loop.lower
    return low, low + (tiles.start - low).ceildiv(loop.step) * loop.step


def _separated(tiles: Sequence[_Tiles], body: Block, what: str) -> Op:
    """Loops for full tiles, and others for the rest."""
    full_ends = {t.loop.iv: Ends(t.start, (t.start + t.reach,)) for t in tiles}
    condition: list[Constraint] = []
    for each in tiles:
        loop, last = each.loop, each.start + each.reach
        if each.low_moves:
            if loop.step != 1:
                reason = f"the points of {shown(loop.iv)} lie elsewhere in each iteration of the band, step {loop.step}"
                raise refusal(loop, what, reason, "separate=False")
            condition += [Constraint(each.start - far) for far in _all_points(loop.lower, full_ends, 1, what, loop)]
        if not each.whole:
            condition += [Constraint(far - last - 1) for far in _all_points(loop.upper, full_ends, -1, what, loop)]
    full = _nest([with_fields(t.loop, lower=(t.start,), upper=(t.start + t.span,)) for t in tiles], body)
    if not condition:
        return full
    part = _nest([_points(t, what) for t in tiles], body)
    (rest,) = clone_block((part,), {})
    return affine.If(tuple(dict.fromkeys(condition)), (full,), (rest,), location=tiles[0].loop.location)


def _nest(loops: Sequence[affine.For], body: Block) -> Op:
    for loop in reversed(loops):
        body = (with_fields(loop, body=body),)
    return body[0]


def _listed(ivs: Sequence[Value]) -> str:
    return f"loop{'s' if len(ivs) > 1 else ''} {', '.join(map(shown, ivs))}"


def _check(
    band: Sequence[affine.For],
    tiles: Sequence[_Tiles],
    sizes: Sequence[TileSize],
    dependences: Dependences,
    what: str,
    reassociate: bool,
) -> None:
    """Raise IllegalTransform unless every dependence runs from earlier points to later ones."""
    if len(band) == 1:  # the order stays
        return
    root, ivs = band[0], [loop.iv for loop in band]
    inside = len(dependences.accesses.domains[root].ivs) + len(band)

    def then(first: Sequence[Affine]) -> Time:
        def time(access: Access) -> tuple[Affine, ...]:
            return (*first, *map(Affine.of, ivs), *text_time(dependences, access, inside))

        return time

    def or_skewed(time: Time) -> Iterator[Candidate]:
        for outer, inner in pairwise(ivs):
            yield from skewed(time, outer, inner)

    def require(time: Time) -> None:
        candidates = or_skewed(time)
        require_order(
            dependences, root, time, what=what, combining=ivs, reassociate=reassociate, candidates=candidates,
        )  # fmt: skip

    by_tiles = _tile_numbers(tiles, sizes, dependences, inside)
    if by_tiles is not None:
        time = then(by_tiles)
        violation = new_order(dependences, root, time)
        if violation is None:
            return
        if violation.dependence.is_exact:
            require(time)
            return
    # Where each loop could be the outermost, tiles of every size and place may be run one after the other.
    for iv in ivs:
        require(then([Affine.of(iv)]))


def _tile_numbers(
    tiles: Sequence[_Tiles], sizes: Sequence[TileSize], dependences: Dependences, inside: int
) -> list[Affine] | None:
    """In which tile a point lies, over the induction variables of the band; None where no expression says it."""
    starts: dict[Value, Affine] = {}
    numbers: list[Affine] = []
    for each, size in zip(tiles, sizes, strict=True):
        if isinstance(size, Value):
            return None
        if each.start.value is not each.outer.iv:  # tiles on a grid
            starts[each.outer.iv] = each.loop.iv // each.span
            numbers.append(starts[each.outer.iv])
            continue
        lower = tuple(bound.substitute(starts) for bound in each.outer.lower)
        if all(bound.is_constant for bound in lower):
            lower = (max(lower, key=lambda bound: bound.constant),)
        origin = lower[0]
        if len(lower) > 1:
            first = Value(INDEX)
            dependences.accesses.scope.add(affine.Max(first, lower), inside)
            origin = Affine.of(first)
        number = (each.loop.iv - origin) // each.outer.step
        starts[each.outer.iv] = origin + number * each.outer.step
        numbers.append(number)
    return numbers


# Where a bound of an inner loop moves with an outer one, its tiles start where the bound starts over all points of the
# tiles around. The points of all its tiles together are those of the loop: the first tile starts no later than any of
# them, the last ends no earlier, and the loop over the points of a tile has the bounds that the loop had. So each point
# is in one tile, and runs once.
