"""Loops that hold products of matrices: taken apart, or in blocks, so that these are nests of their own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from itertools import combinations

from affdsl.optimize.attempts import distribute, in_memory, where_legal
from affdsl.optimize.innermost import first_that_fits
from affdsl.optimize.nests import names_in, nests, nests_in
from affdsl.optimize.notes import Notes, for_smaller, of, only_for
from affdsl.optimize.options import Options
from affdsl.optimize.order import blocks, index_sets
from affdsl.optimize.registers import matrix_products
from affdsl.optimize.small_sizes import unless_small
from affdsl.optimize.threads.sharing import threads_around
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops, outer_loops
from affdsl.optimize.versions import in_other, longer_than
from affdsl.schedule.schedule import IllegalTransform, Schedule

SECOND_BLOCK = 4
"""Of the second of several blocks there should be so large a share: the fourth part."""
CROSSED_BLOCKS = 8
"""From so many blocks on, rows and columns that cross each block are few beside what is outside of these."""
DIMENSIONS = 3
"""How many loops a product of matrices has."""


def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with products inside of a loop.

    Where those are triangles in blocks, and the loop around others can be on vectors, that is what one block runs on.
    """
    sizes = longer_than(s, root, options.choices.block_rows) if _has_triangles(s, root) else None
    if sizes is not None:
        with suppress(UnfitError, IllegalTransform):  # a loop that is parallel already has no other versions
            both = copy(s).specialize(root, sizes)
            small = both.made[0].names[0]
            both, others = outer_loops.take_all(both, small, options, near=True)
            made, notes = _apart(both, root, options)
            in_blocks = of(s, root, f"in blocks of {options.choices.block_rows} rows")
            return made, [*only_for(sizes, [in_blocks, *notes], ""), *for_smaller(others)]
    try:
        return _apart(s, root, options)
    except UnfitError:
        return _with_blocks(s, root, options)


def _three_deep(s: Schedule, root: str) -> list[str]:
    """A loop and those inside of it, by name. Raises UnfitError where no three are one in the other."""
    inside = names_in(s, root)
    if max(row.depth for row in s.loops() if row.names[0] in inside) < 2:
        raise UnfitError("it holds no two loops, one in the other")
    return inside


def _has_triangles(s: Schedule, root: str) -> bool:
    """Whether of three loops the innermost has bounds that move with one around it, and no other loop has such."""
    inside = names_in(s, root)
    for nest in nests(s):
        loops = nest.loops
        tied = [b for a, b in combinations(loops, 2) if matrix_products.is_tied(a, b)]
        if nest.name(nest.innermost) in inside and len(loops) > 2 and tied == [nest.innermost]:
            return True
    return False


def _apart(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """A schedule where the loops inside of a loop are taken apart, with a product among what is left.

    Raises UnfitError.
    """
    apart, inside = copy(s), _three_deep(s, root)
    in_memory(apart, inside)
    notes: Notes = []
    others = {row.iv for row in apart.loops() if row.names[0] not in inside}
    apart = _distributed(apart, inside, options)
    on_threads = ""
    with suppress(UnfitError):
        apart, on_threads = threads_around(apart, root, options)
    rest: list[str] = []
    for nest in nests(apart):
        if not others.isdisjoint((*nest.around, *nest.band)[0].binds()):
            continue
        try:
            apart, done = matrix_products.take(apart, nest, options)
            notes.append(nest.note(done))
        except UnfitError:
            try:
                apart, said = blocks.take_triangle(apart, nest, options)
                notes += said
            except UnfitError:
                rest.append(nest.name(nest.innermost))
    if not notes:
        raise UnfitError("no nest in it is a product of matrices")
    if on_threads:
        notes.insert(0, of(s, root, on_threads))
    for name in rest:
        root = next((nest.name(nest.band[0]) for nest in nests(apart) if nest.name(nest.innermost) == name), name)
        apart, said = unless_small(partial(_innermost, name))(apart, root, options)
        notes += said
    return apart, notes


def _distributed(s: Schedule, inside: Sequence[str], options: Options) -> Schedule:
    """The schedule with loops taken apart; those around tiny products stay around all of what they hold.

    A matrix is then in the nearest cache from its first statement to the last one.
    """
    apart, last = copy(s), set[str]()
    for nest in nests(s):
        loops = nest.loops
        last |= {nest.name(loop) for loop in loops[-DIMENSIONS:]}
    distribute(apart, [name for name in inside if name in last])
    if len(last.intersection(inside)) < len(inside) and matrix_products.tiny_ones(apart, inside, options):
        return apart
    distribute(apart, inside)
    return apart


def _innermost(name: str, s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with an innermost loop of a nest on vectors."""
    s, notes, _ = first_that_fits(s, name, (inner_loops.take,), options)
    return s, notes


def _with_blocks(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with a loop in blocks, of which some are products. Raises UnfitError.

    Where rows or columns of all sizes cross a block, that has half as many, and loops of few blocks run on vectors.
    """
    inside, rows = _three_deep(s, root), options.choices.block_rows
    least, is_crossed = rows + rows // SECOND_BLOCK, bool(blocks.crossed(s, root))
    if is_crossed:
        rows, least = rows // 2, CROSSED_BLOCKS * (rows // 2)
    sizes = longer_than(s, root, least)
    apart, large, small = copy(s), None, list[str]()
    with suppress(UnfitError):
        small = in_other(apart, root, sizes)
        large = sizes
    where_legal(apart.demote, reversed(inside))
    made, notes = blocks.take(apart, root, options, rows)
    if not (small and is_crossed):
        return made, only_for(large, notes)
    others: Notes = []
    with suppress(UnfitError):
        made, at_pivot = index_sets.take_pivot(made, small[0], options)
        others.append(at_pivot)
    for name in [nest.name(nest.innermost) for nest in nests_in(made, small[0])]:
        made, said = unless_small(partial(_innermost, name))(made, small[0], options)
        others += said
    in_blocks = of(s, root, f"in blocks of {rows}, of which all but rows and columns of a block are products")
    return made, [*only_for(large, [in_blocks, *notes], ""), *for_smaller(others)]
