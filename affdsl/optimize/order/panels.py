"""Columns that change by all columns before them, one after the other: several run on a strip while it is near."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from functools import partial

from affdsl.ir.dialects import affine
from affdsl.lang.indices import Index, symbols
from affdsl.optimize.attempts import AllOrNone, names_made, where_legal
from affdsl.optimize.machine import LINE
from affdsl.optimize.nests import (
    counts_inside,
    lanes_of,
    names_in,
    nests_in,
    on_vectors,
    require_loop,
    unfit_where_refused,
)
from affdsl.optimize.notes import Notes, for_smaller, of, only_for
from affdsl.optimize.options import Options
from affdsl.optimize.registers.matrix_products import is_tied
from affdsl.optimize.size import MOST_MORE, is_long
from affdsl.optimize.small_sizes import unless_small
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import outer_loops
from affdsl.optimize.versions import longer_than
from affdsl.schedule.schedule import Schedule

LINES = 2
"""How many lines of a row a strip has: with some thousand rows it stays in the second cache."""
BLOCKS = 8
"""From so many blocks on most columns are behind the block that changes them."""


def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with a loop in blocks, each of which runs on the columns behind it strip by strip.

        for k: { P(k); for j > k: S(k, j) }   ->
        for block: { for k in block: { P(k); for j > k in block: S(k, j) }
                     for strip of j behind block: for k in block: S(k, strip) }

        for k: { for j < k: S(j, k); P(k) }   ->
        for block: { for strip of k in block: for j before block: S(j, strip)
                     for k in block: { for j < k in block: S(j, k); P(k) } }

    A strip of rows is copied, and stays in a cache for all iterations of a block. Of these, the last loop of one and
    the first of the next are made one. Small sizes run the loop around others on vectors. Raises UnfitError.

    References
    ----------
    Bischof and Van Loan, "The WY representation for products of Householder matrices", SISSC 1987; here no operation
    is done in another order than for its column.
    """
    size, columns = options.choices.block_columns, _others(s, root)
    loop = require_loop(s, root)
    high = counts_inside(s, loop)[loop.iv].high
    if high is not None and high <= BLOCKS * size:
        raise UnfitError(f"it has at most {BLOCKS} blocks")
    sizes = longer_than(s, root, BLOCKS * size)
    both, small = copy(s), ""
    if sizes is not None:
        with unfit_where_refused():  # a loop that is parallel already has no other versions
            both.specialize(root, sizes)
        small = both.made[0].names[0]
    made, shared = _in_panels(both, root, columns, options)
    others: Notes = []
    with suppress(UnfitError):
        if small:
            made, others = unless_small(outer_loops.take_all)(made, small, options)
    if is_long(made, s, 2 * MOST_MORE):
        raise UnfitError(f"its code would be longer by more than {2 * MOST_MORE} operations")
    said = of(s, root, f"in blocks of {size}, each of which goes through a strip of columns at once{shared}")
    return made, [*only_for(sizes, [said], ""), *for_smaller(others)]


def _in_panels(s: Schedule, root: str, columns: str, options: Options) -> tuple[Schedule, str]:
    """The schedule with a loop in blocks, on strips of vectors, and what to say of threads. Raises UnfitError."""
    made, size = copy(s), options.choices.block_columns
    is_behind = _begins_at(s, root, columns)
    with unfit_where_refused():
        made.strip_mine(root, size)
        (block,) = names_made(made)
        at = symbols(block) + (size if is_behind else 0)
        assert isinstance(at, Index)
        made.split(columns, at)
        rest = _inside(made, root)[-1] if is_behind else ""
        made.distribute(root)
        others = [name for name in _inside(made, block) if name != root]
        if len(others) != 1 or _inside(made, others[0] if is_behind else root) != [rest or columns]:
            raise UnfitError("the columns of a block cannot run apart from the others")
        own, strip, terms = (root, rest, others[0]) if is_behind else (others[0], root, columns)
        if is_behind:
            made.interchange(terms, strip)
        rows, same = _kept(made, terms, strip)
        where_legal(partial(_copied, made, loop=own), rows)
        lanes = min(lanes_of(nest, options) for nest in nests_in(made, block))
        for name in (columns, strip) if is_behind else (strip,):
            on_vectors(made, name, lanes, options.tail)
        at_once = min(options.choices.outer_vectors, LINES * 8 * LINE // options.target.width)
        at_once = at_once if is_behind else min(at_once, size // lanes)
        if at_once > 1:
            made.unroll_jam(strip, at_once)
    _one_behind_another(made, terms, size // 2)
    for nest in nests_in(made, block):
        where_legal(made.scalar_replace, [nest.name(nest.innermost)])
    where_legal(partial(_copied, made, loop=terms), rows)
    where_legal(partial(_copied, made, loop=strip), same if is_behind else ())
    if options.threads > 1 and is_behind:
        where_legal(made.parallel, [strip])
    return made, "; threads share the strips" * any(row.is_parallel for row in made.loops())


def _copied(s: Schedule, array: str, *, loop: str) -> object:
    return s.copy(array, loop)


def _others(s: Schedule, root: str) -> str:
    """The loop in another one, beside other things, over the columns behind its iteration, or before it.

    Raises UnfitError where there is none, it holds no loops, or columns do not lie in rows.
    """
    loop = require_loop(s, root)
    inner = [op for op in loop.body if isinstance(op, affine.For)]
    around = [op for op in inner if any(isinstance(each, affine.For) for each in op.body)]
    found = [op for op in around if is_tied(loop, op)]
    if len(found) != 1 or len(inner) < 2 or found[0].results:
        raise UnfitError("it holds no loop over the columns before or behind its iterations")
    columns = found[0]
    held = [nest for nest in nests_in(s, root) if columns in nest.loops[:-1]]
    along = columns if held and _begins_at(s, root, held[0].name(columns)) else loop
    motions = {nest.stride(a, along).motion for nest in held for a in nest.accesses if a.buffer.rank}
    if not held or not motions <= {"invariant", "contiguous"}:
        raise UnfitError("its columns do not lie in rows")
    return held[0].name(columns)


def _begins_at(s: Schedule, root: str, columns: str) -> bool:
    """Whether a loop begins at the iteration of the one around it; else it ends there."""
    return any(require_loop(s, root).iv in bound.values() for bound in require_loop(s, columns).lower)


def _kept(s: Schedule, terms: str, strip: str) -> tuple[list[str], list[str]]:
    """The arrays of several dimensions of which iterations of a block use the same elements, and those of strips."""
    around, inner = require_loop(s, strip), require_loop(s, terms)
    moving = dict[str, set[affine.For]]()
    for nest in nests_in(s, strip):
        for access in nest.accesses:
            if access.buffer.kind == "argument" and access.buffer.rank > 1:
                of = {loop for loop in (around, inner) if not nest.is_still(access, loop)}
                moving.setdefault(access.buffer.name, set()).update(of)
    return [name for name, of in moving.items() if of == {around}], [k for k, of in moving.items() if of == {inner}]


def _one_behind_another(s: Schedule, loop: str, copies: int) -> None:
    """Make one the last loop of an iteration and the first of the next, of so many; the schedule given is changed.

    for k: { for i: s[k] += q[i, k] * a[i]; for i: a[i] -= q[i, k] * s[k] }   ->
    for k by 2: { for i: s[k] += ...; for i: { a[i] -= ...; s[k + 1] += ... }; for i: a[i] -= ... }
    """
    with AllOrNone(s):
        s.unroll(loop, copies)
        held = _inside(s, loop)
        each = len(held) // copies
        last = held[each - 1]
        for at in range(each, len(held), each):
            s.fuse(last, held[at])
            last = held[at + each - 1] if each > 1 else last


def _inside(s: Schedule, loop: str) -> Sequence[str]:
    """The loops right inside of one, by name."""
    depths = {row.names[0]: row.depth for row in s.loops()}
    return [name for name in names_in(s, loop) if depths[name] == depths[loop] + 1]
