"""Factorizations and triangular products in blocks: most of what they do becomes products of matrices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import copy

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import walk
from affdsl.lang.indices import Index, symbols
from affdsl.optimize.nests import Nest, names_in, nests
from affdsl.optimize.options import Options
from affdsl.optimize.recipes import product, vectors
from affdsl.optimize.recipes.unfit import UnfitError
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule
from passes.analysis.trip_count import trip_counts

ROWS, COLUMNS = 128, 32
"""How many rows a block has, and how many columns are solved for at once with those before them."""


def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, list[str]]:
    """The schedule with a loop in blocks, and what each block needs of those before it as products of matrices.

        for i, j: { for k < min(i, j): A[i, j] -= A[i, k] * A[k, j]; ... }

    Sums keep their order: first the terms of blocks before, then those of the own block. Raises UnfitError.

    References
    ----------
    Dongarra, Duff, Sorensen and van der Vorst, "Numerical linear algebra for high-performance computers", SIAM 1998.
    """
    return _with_products(*_in_blocks(copy(s), root, (), ROWS), options)


def take_triangle(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, list[str]]:
    """The schedule with a product whose sums are of different lengths in blocks: all but those at the ends are full.

        for i, j: { for k < i: C[i, j] += A[i, k] * B[k, j] }

    Raises UnfitError.

    References
    ----------
    Goto and van de Geijn, "High-performance implementation of the level-3 BLAS", TOMS 2008.
    """
    found = product.product_of(nest)
    if not found.is_triangular:
        raise UnfitError("its sums are all of the same length")
    rows, others = (found.i, found.j) if product.is_tied(found.i, found.k) else (found.j, found.i)
    batch = [loop for loop in nest.band if loop not in (found.i, found.j, found.k)]
    order = tuple(map(nest.name, (*batch, rows, others, found.k)))
    made = copy(s)
    if order != tuple(map(nest.name, nest.band)):
        try:
            made.permute(order)
        except (IllegalTransform, ScheduleError) as error:
            raise UnfitError(str(error)) from None
    return _with_products(*_in_blocks(made, nest.name(rows), (), ROWS), options)


def _with_products(s: Schedule, strip: str, options: Options) -> tuple[Schedule, list[str]]:
    """The schedule with the nests of blocks as products where they are, and else on vectors. Raises UnfitError."""
    inside = names_in(s, strip)
    said: list[str] = []
    for name in [nest.name(nest.innermost) for nest in nests(s) if nest.name(nest.innermost) in inside]:
        nest = next(each for each in nests(s) if each.name(each.innermost) == name)
        tried = copy(s)
        try:
            said.append(f"{nest.place}: {product.take(tried, nest, options)}")
            s = tried
        except (UnfitError, IllegalTransform, ScheduleError):
            with suppress(UnfitError):
                s, done = vectors.in_place(copy(s), nest, options)
                said.append(f"{nest.place}: {done}")
    if not any("a product of matrices" in each for each in said):
        raise UnfitError("blocks of it are no products of matrices")
    return s, said


def _in_blocks(s: Schedule, root: str, around: tuple[str, ...], size: int) -> tuple[Schedule, str]:
    """The schedule with blocks of a loop, outside of the loops right around it, and taken apart; the loop over blocks.

    Raises UnfitError.
    """
    try:
        s.strip_mine(root, size)
        strip = _before(s, root)
        for outer in reversed(around):
            s.interchange(outer, strip)
        _cut(s, root, strip, size)
    except (IllegalTransform, ScheduleError) as error:
        raise UnfitError(str(error)) from None
    for name in reversed(names_in(s, strip)[1:]):
        with suppress(IllegalTransform, ScheduleError):
            s.distribute(name)
    for path in list(_long(s, strip)):
        with suppress(UnfitError):
            s, _ = _in_blocks(copy(s), path[-1], path[:-1], COLUMNS)
    return s, strip


def _cut(s: Schedule, root: str, strip: str, size: int) -> None:
    """Split the loops in a block so that each runs over what was before it, in it, or behind it."""
    start = next(row.iv for row in s.loops() if row.names[0] == strip)
    end = symbols(strip)
    assert isinstance(end, Index)
    inside = {start, next(row.iv for row in s.loops() if row.names[0] == root)}
    seen = set(inside)
    while (loop := _next(s, start, inside, seen)) is not None:
        name = next(row.names[0] for row in s.loops() if row.iv is loop.iv)
        seen.add(loop.iv)
        begins, ends = (_moves(bound, inside) for bound in (loop.lower, loop.upper))
        if begins and ends:
            inside.add(loop.iv)
        elif ends:
            s.split(name, strip)
            rest = _after(s, loop.iv)
            inside.add(rest)
            seen.add(rest)
        elif begins:
            behind = end + size
            assert isinstance(behind, Index)
            s.split(name, behind)
            inside.add(loop.iv)
            seen.add(_after(s, loop.iv))


def _next(s: Schedule, start: Value, inside: set[Value], seen: set[Value]) -> affine.For | None:
    """The first loop of a block that was not seen and has bounds that move with what is inside of the block."""
    around = next(op for op in walk(s.function) if isinstance(op, affine.For) and op.iv is start)
    for op in walk(around):
        if isinstance(op, affine.For) and op.iv not in seen and _moves((*op.lower, *op.upper), inside):
            return op
    return None


def _moves(bounds: tuple[Affine, ...], values: set[Value]) -> bool:
    return any(v in values for bound in bounds for v in bound.values())


def _after(s: Schedule, iv: Value) -> Value:
    """The counter of the loop that follows one in the same block."""
    rows = list(s.loops())
    at = next(k for k, row in enumerate(rows) if row.iv is iv)
    return next(row.iv for row in rows[at + 1 :] if row.depth == rows[at].depth)


def _before(s: Schedule, name: str) -> str:
    """The loop right around one."""
    rows = list(s.loops())
    at = next(k for k, row in enumerate(rows) if row.names[0] == name)
    return rows[at - 1].names[0]


def _long(s: Schedule, strip: str) -> Iterator[tuple[str, ...]]:
    """The loops of blocks that grow with sizes and hold several things, each with those between it and the blocks."""
    names = {row.iv: row.names[0] for row in s.loops()}
    counts = trip_counts(s.function)
    around = next(op for op in walk(s.function) if isinstance(op, affine.For) and names[op.iv] == strip)

    def search(op: Op, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if not isinstance(op, affine.For):
            return
        here = (*path, names[op.iv])
        if (
            path
            and counts[op.iv].high is None
            and len(op.body) > 1
            and any(isinstance(each, affine.For) for each in op.body)
        ):
            yield here
        elif len(op.body) == 1:
            yield from search(op.body[0], here)

    for op in around.body:
        yield from search(op, ())
