"""Factorizations and triangular products in blocks: most of what they do becomes products of matrices."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from copy import copy
from dataclasses import replace
from itertools import product

from affdsl.explained import Note, SourceLoop
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import holders, walk
from affdsl.lang.indices import Index, symbols
from affdsl.optimize.attempts import AllOrNone, bring_innermost, distribute, names_made
from affdsl.optimize.nests import (
    Nest,
    counts_inside,
    lanes_of,
    names_in,
    nest_called,
    nests_in,
    require_loop,
    unfit_where_refused,
)
from affdsl.optimize.options import Choices, Options
from affdsl.optimize.registers import matrix_products
from affdsl.optimize.registers.matrix_products import is_tied
from affdsl.optimize.threads import sharing
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops, sums
from affdsl.optimize.versions import longer_than, longest
from affdsl.passes.analysis.trip_count import trip_counts
from affdsl.schedule.schedule import IllegalTransform, Schedule


def take(s: Schedule, root: str, options: Options, rows: int) -> tuple[Schedule, list[Note]]:
    """The schedule with a loop in blocks, and what each block needs of those before it as products of matrices.

        for i, j: { for k < min(i, j): A[i, j] -= A[i, k] * A[k, j]; ... }

    Sums keep their order: first the terms of blocks before, then those of the own block. Raises UnfitError.

    References
    ----------
    Dongarra, Duff, Sorensen and van der Vorst, "Numerical linear algebra for high-performance computers", SIAM 1998.
    """
    made, strip = in_blocks(copy(s), root, (), rows, options.choices, options.threads)
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
    _keep_what_is_read(s, root, size)
    for path in list(_long(s, strip)):
        made = copy(s)
        with suppress(UnfitError):
            sharing.rows_of_block(made, path, size, threads)
            s, _ = in_blocks(made, path[-1], path[:-1], choices.block_columns, choices)
    return s, strip


def crossed(s: Schedule, root: str) -> set[str]:
    """The loops over all rows or columns of a product, by name, one of which each of its terms reads.

        for k: { for i, j: C[i, j] += C[i, k] * B[k, j] }   ->   j

    Loops that begin or end at the number of the term are none of them.
    """
    found = set[str]()
    for nest, of in products_over(s, root):
        for factor in of.factors:
            if factor.buffer is of.store.buffer:
                for read, stored in zip(factor.index or (), of.store.index or (), strict=False):
                    if of.k.iv in read.values():
                        over = (loop for loop in (of.i, of.j) if loop.iv in stored.values())
                        found |= {nest.name(loop) for loop in over if not matrix_products.is_tied(of.k, loop)}
    return found


def products_over(s: Schedule, root: str) -> Iterator[tuple[Nest, matrix_products.Product]]:
    """The products inside of a loop whose terms are those of its iterations, which other things may part."""
    for nest in nests_in(s, root):
        inner = [loop for loop in nest.loops if nest.name(loop) in names_in(s, root)]
        with suppress(UnfitError):
            whole = replace(nest, band=(*inner,), around=())
            found = matrix_products.product_of(whole)
            if nest.name(found.k) == root:
                yield whole, found


def _keep_what_is_read(s: Schedule, root: str, size: int) -> None:
    """Let large products wait for the end of a block, where each iteration keeps what they read of it."""
    found, before = [*products_over(s, root)], len(s.steps)
    counts = counts_inside(s, require_loop(s, root)) if found else {}
    for nest, of in found:
        if all((counts[loop.iv].high or size + 1) > size for loop in (of.i, of.j)) and len(nest.band[0].body) > 1:
            arrays = {factor.buffer.name for factor in of.factors if factor.buffer is of.store.buffer}
            with AllOrNone(s):
                for array, still in product(arrays, (of.i, of.j)):
                    s.copy(array, nest.name(nest.band[1]), still=nest.name(still))
                    s.expand(names_made(s)[0], root)
    if len(s.steps) > before:
        distribute(s, [root])


def _cut(s: Schedule, root: str, strip: str, size: int) -> None:
    """Split the loops in a block so that each runs over what was before it, in it, or behind it."""
    begin = symbols(strip)
    assert isinstance(begin, Index)
    behind = begin + size
    assert isinstance(behind, Index)
    start = _loops(s)[strip].iv
    inside = {start, _loops(s)[root].iv}
    seen, over_all = set(inside), bool(crossed(s, root))
    while (name := _next(s, strip, inside, seen, crossed(s, root) if over_all else ())) is not None:
        loop = _loops(s)[name]
        seen.add(loop.iv)
        begins, ends = (_moves(bound, inside) for bound in (loop.lower, loop.upper))
        if begins:
            inside.add(loop.iv)
        if begins and ends:
            continue
        depth = next(row.depth for row in s.loops() if row.iv is loop.iv)
        s.split(name, behind if begins else strip)
        for rest in [row for row in s.made if row.depth == depth][:1]:
            seen.add(rest.iv)
            inside |= {rest.iv} if not begins else set()
            if begins == ends:
                s.split(rest.names[0], behind)
                seen |= {row.iv for row in s.made if row.depth == depth}


def _loops(s: Schedule) -> dict[str, affine.For]:
    """The loops that steps can change, by name, in the order of the text."""
    names = {row.iv: row.names[0] for row in s.loops()}
    return {names[op.iv]: op for op in holders(s.function) if isinstance(op, affine.For)}


def _next(s: Schedule, strip: str, inside: set[Value], seen: set[Value], cut: Collection[str]) -> str | None:
    """The first loop of a block that was not seen and is to be cut, or has bounds that move with what is inside."""
    within = names_in(s, strip)
    for name, loop in _loops(s).items():
        if name in within and loop.iv not in seen and (name in cut or _moves((*loop.lower, *loop.upper), inside)):
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


LEAST = 64
"""How many iterations a loop has for which strips of it pay."""


def take_sums(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with the loop around a sum in strips; the sum goes over what was made before the strip, and in it.

        for i: { x[i] = b[i]; for k < i: x[i] -= A[i, k] * x[k] }

    The terms from before the strip are there already: those of all its iterations are added at once, on vectors or
    several at a time, and each sum in the order of the text, or in lanes where it may be and all sums take the same
    elements of something. The few that are left wait for each other. Raises UnfitError.

    References
    ----------
    Zuker and Stiegler, "Optimal computer folding of large RNA sequences", Nucleic Acids Research 1981, for such a
    program; Wolf and Lam, "A data locality optimizing algorithm", PLDI 1991, section 4, for strips of it.
    """
    loops = nest.loops[:-1]
    if not loops or not sums.is_sum(nest, nest.innermost) or not is_tied(loops[-1], nest.innermost):
        raise UnfitError
    root = nest.names[loops[-1].iv]
    if len(nests_in(s, root)) > 1:
        raise UnfitError  # what waits for what among several loops takes long to find out, and seldom helps
    in_lanes = _has_rows_in_lanes(nest, options)
    size = sums.rows_at_once(options) if in_lanes else options.choices.strip_vectors * lanes_of(nest, options)
    both = copy(s)
    with suppress(UnfitError):
        longest(both, root, None if nest.around[:-1] else longer_than(both, root, LEAST - 1))
    made, strip = in_blocks(both, root, (), size, options.choices)
    at_once: list[str] = []
    for name in [each.name(each.innermost) for each in nests_in(made, strip)]:
        found = nest_called(made, name)
        if found is None or _waits(found):  # or it ran once
            continue
        with suppress(UnfitError):
            made, said = inner_loops.in_place(copy(made), found, replace(options, reassociate=in_lanes))
            at_once += [said] * (len(found.around) + len(found.band) > 2)
    if not at_once:
        raise UnfitError  # of what is before a strip nothing runs at once
    how = "; ".join(at_once)
    return made, f"in strips of {root}: what was made before a strip is added for all of it at once ({how})"


def take_sums_early(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The same for sums that are better not made one by one, though each may be made in lanes.

    Their terms lie far apart, so that lanes would be put together one by one; or all take the same elements, which are
    loaded once for several of them.
    """
    if _is_near(nest) and not _has_rows_in_lanes(nest, options):
        raise UnfitError
    return take_sums(s, nest, options)


def _is_near(nest: Nest) -> bool:
    """Whether the terms of a sum lie in a row."""
    return all(nest.stride(access, nest.innermost).motion in inner_loops.COSTS for access in nest.accesses)


def _has_rows_in_lanes(nest: Nest, options: Options) -> bool:
    """Whether sums may be made in lanes, and take elements in common."""
    around = [*map(nest.name, nest.loops[:-1])]
    if not options.reassociate or not around or not _is_near(nest):
        return False
    return sums.have_elements_in_common(nest, around[-1])


def _waits(nest: Nest) -> bool:
    """Whether a sum goes over what its own strip makes, or no loop is left in a strip."""
    around = nest.loops[:-1]
    return not around or (sums.is_sum(nest, nest.innermost) and is_tied(around[-1], nest.innermost))
