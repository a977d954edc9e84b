"""Factorizations and triangular products in blocks: most of what they do becomes products of matrices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from dataclasses import replace

from affdsl.explained import Note, SourceLoop
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import walk
from affdsl.lang.indices import Index, symbols
from affdsl.optimize.attempts import bring_innermost, distribute, names_made
from affdsl.optimize.choices import Choices
from affdsl.optimize.nests import Nest, names_in, nest_called, nests_in, unfit_where_refused
from affdsl.optimize.options import Options
from affdsl.optimize.registers import matrix_products
from affdsl.optimize.threads import sharing
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops
from affdsl.passes.analysis.trip_count import trip_counts
from affdsl.schedule.schedule import IllegalTransform, Schedule


def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, list[Note]]:
    """The schedule with a loop in blocks, and what each block needs of those before it as products of matrices.

        for i, j: { for k < min(i, j): A[i, j] -= A[i, k] * A[k, j]; ... }

    Sums keep their order: first the terms of blocks before, then those of the own block. Raises UnfitError.

    References
    ----------
    Dongarra, Duff, Sorensen and van der Vorst, "Numerical linear algebra for high-performance computers", SIAM 1998.
    """
    made, strip = in_blocks(copy(s), root, (), options.choices.block_rows, options.choices, options.threads)
    within = names_in(made, strip)
    shares = [
        Note((SourceLoop(row.names[0], row.location),), "threads share the rows of each block")
        for row in made.loops()
        if row.is_parallel and row.names[0] in within
    ]
    made, said = _with_products(made, strip, options)
    return made, [*shares, *said]


def take_triangle(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, list[Note]]:
    """The schedule with a product whose sums are of different lengths in blocks: all but those at the ends are full.

        for i, j: { for k < i: C[i, j] += A[i, k] * B[k, j] }

    Raises UnfitError.

    References
    ----------
    Goto and van de Geijn, "High-performance implementation of the level-3 BLAS", TOMS 2008.
    """
    found = matrix_products.product_of(nest)
    if not found.is_triangular:
        raise UnfitError("its sums are all of the same length")
    rows, others = (found.i, found.j) if matrix_products.is_tied(found.i, found.k) else (found.j, found.i)
    made = copy(s)
    with unfit_where_refused():
        bring_innermost(made, nest, rows, others, found.k)
    made, strip = in_blocks(made, nest.name(rows), (), options.choices.block_rows, options.choices)
    shares: list[Note] = []
    if sharing.may_be_shared(nest, options):
        with suppress(IllegalTransform):  # where blocks need those before them, threads share what is inside
            made.parallel(strip)
            shares.append(nest.note("threads share its blocks of rows"))
    made, said = _with_products(made, strip, options)
    return made, [*shares, *said]


def _with_products(s: Schedule, strip: str, options: Options) -> tuple[Schedule, list[Note]]:
    """The schedule with the nests of blocks as products where they are, and else on vectors. Raises UnfitError."""
    said: list[Note] = []
    has_products = False
    for name in [nest.name(nest.innermost) for nest in nests_in(s, strip)]:
        nest = nest_called(s, name)
        if nest is None:  # a step for another nest has made it one with that
            continue
        try:
            s, done = matrix_products.take(s, nest, options)
            said.append(nest.note(done))
            has_products = True
        except UnfitError:
            with suppress(UnfitError):
                made = copy(s)
                alone = replace(options, reassociate=False, threads=1)  # its sums are short
                s, done = inner_loops.in_place(made, sharing.in_chunks(made, nest, options), alone)
                said.append(nest.note(done))
    if not has_products:
        raise UnfitError("blocks of it are no products of matrices")
    return s, said


def in_blocks(
    s: Schedule, root: str, around: tuple[str, ...], size: int, choices: Choices, threads: int = 1
) -> tuple[Schedule, str]:
    """The schedule with blocks of a loop, outside of the loops right around it, and taken apart; the loop over blocks.

    Raises UnfitError.
    """
    if any(isinstance(op, memref.Load | memref.Store) for op in walk(s.function)):
        raise UnfitError("data says what it accesses")
    with unfit_where_refused():
        s.strip_mine(root, size)
        (strip,) = names_made(s)
        if not {root, strip} <= {*_loops(s)}:
            raise UnfitError(f"{root} is no loop of known bounds that is longer than a block")
        for outer in reversed(around):
            s.interchange(outer, strip)
        _cut(s, root, strip, size)
    distribute(s, names_in(s, strip)[1:])
    for path in list(_long(s, strip)):
        made = copy(s)
        with suppress(UnfitError):
            sharing.rows_of_block(made, path, size, threads)
            s, _ = in_blocks(made, path[-1], path[:-1], choices.block_columns, choices)
    return s, strip


def _cut(s: Schedule, root: str, strip: str, size: int) -> None:
    """Split the loops in a block so that each runs over what was before it, in it, or behind it."""
    begin = symbols(strip)
    assert isinstance(begin, Index)
    behind = begin + size
    assert isinstance(behind, Index)
    start = _loops(s)[strip].iv
    inside = {start, _loops(s)[root].iv}
    seen = set(inside)
    while (name := _next(s, strip, inside, seen)) is not None:
        loop = _loops(s)[name]
        seen.add(loop.iv)
        begins, ends = (_moves(bound, inside) for bound in (loop.lower, loop.upper))
        if begins:
            inside.add(loop.iv)
        if begins == ends:
            continue
        depth = next(row.depth for row in s.loops() if row.iv is loop.iv)
        s.split(name, strip if ends else behind)
        for rest in [row.iv for row in s.made if row.depth == depth][:1]:
            seen.add(rest)
            inside |= {rest} if ends else set()


def _loops(s: Schedule) -> dict[str, affine.For]:
    """The loops that steps can change, by name, in the order of the text."""
    names = {row.iv: row.names[0] for row in s.loops()}
    return {names[op.iv]: op for op in walk(s.function) if isinstance(op, affine.For)}


def _next(s: Schedule, strip: str, inside: set[Value], seen: set[Value]) -> str | None:
    """The first loop of a block that was not seen and has bounds that move with what is inside of the block."""
    within = names_in(s, strip)
    for name, loop in _loops(s).items():
        if name in within and loop.iv not in seen and _moves((*loop.lower, *loop.upper), inside):
            return name
    return None


def _moves(bounds: tuple[Affine, ...], values: set[Value]) -> bool:
    return any(v in values for bound in bounds for v in bound.values())


def _long(s: Schedule, strip: str) -> Iterator[tuple[str, ...]]:
    """The loops of blocks that grow with sizes and hold several things, each with those between it and the blocks."""
    names = {row.iv: row.names[0] for row in s.loops()}
    around = _loops(s)[strip]
    counts = trip_counts(s.function, around)

    def search(op: Op, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if not isinstance(op, affine.For):
            return
        here, holds = (*path, names[op.iv]), any(isinstance(each, affine.For) for each in op.body)
        if path and holds and len(op.body) > 1 and counts[op.iv].high is None:
            yield here
        elif len(op.body) == 1:
            yield from search(op.body[0], here)

    for op in around.body:
        yield from search(op, ())
