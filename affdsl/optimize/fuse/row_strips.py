"""Strips of rows through nests one after the other, products among them: what lies between them stays in a cache."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from dataclasses import replace

from affdsl.explained import Note
from affdsl.optimize.attempts import bring_innermost, distribute, in_memory, names_made
from affdsl.optimize.nests import Nest, names_in, nest_called, nests_in, roots_of, unfit_where_refused
from affdsl.optimize.notes import of, only_for
from affdsl.optimize.options import Options
from affdsl.optimize.registers.matrix_products import bits_of, packed, product_of, register_tile
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops
from affdsl.optimize.versions import in_other, on_average
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

ROWS = 16
"""How many rows a strip has: tiles of products in registers have as many, or the half, and rows of 1000 numbers are in
the second cache with what is multiplied with them."""
LEAST = 48
"""How large sizes are in the mean for which it pays to copy what all rows are multiplied with."""


def take(s: Schedule, options: Options) -> tuple[Schedule, str, Note]:
    """The schedule with nests over the same rows as one that goes through strips of them.

        for i, j: S[i, j] = sum of q[i, d] * k[j, d];  for i: S[i, :] = softmax of S[i, :];
        for i, d: out[i, d] = sum of S[i, j] * v[j, d]

    Each strip of rows is a product, the sums and what is made of them, and a product again, while the rows are in the
    cache. Threads meet once. What all rows are multiplied with is copied to panels before.

    It gives the loop that runs where matrices are too small for that, too, for other recipes, and what was done. Raises
    UnfitError where there are no two products, nothing sums up rows between them, or rows wait for each other;
    for one thread, which has the rows in the second cache anyway; and where sums must be in order.

    References
    ----------
    Dao, Fu, Ermon, Rudra and Re, "FlashAttention: fast and memory-efficient exact attention with IO-awareness",
    NeurIPS 2022, which goes through columns in blocks, too, for the small memories of other machines.
    """
    if options.threads < 2 or not options.reassociate:
        raise UnfitError("one thread has the rows in the second cache, and lanes sum up rows in an order of their own")
    main, *others = _roots(s)
    made = copy(s)
    with unfit_where_refused():
        for other in others:
            made.fuse(main, other)
        large = on_average(made, names_in(made, main), LEAST)
        small, *_ = in_other(made, main, large)
        made.strip_mine(main, ROWS)
        (strip,) = names_made(made)
        in_memory(made, names_in(made, strip)[1:])
        distribute(made, names_in(made, strip)[1:])
        copy(made).parallel(strip)
    made, done = _made_fast(made, strip, replace(options, threads=1))
    if len(done) < 2:
        raise UnfitError("there are no two products of matrices")
    products = f"products of {' and '.join(done)} are summed in registers, on copies in panels"
    said = f"its nests run as one, in strips of {ROWS} rows, which threads share; {products}"
    (note,) = only_for(large, [of(s, main, said)], "")
    return made, small, note


def _made_fast(s: Schedule, strip: str, options: Options) -> tuple[Schedule, list[str]]:
    """The schedule with all that is done with a strip made fast, and the places of its products. Raises UnfitError."""
    done = list[str]()
    with unfit_where_refused():
        for name in [nest.name(nest.innermost) for nest in nests_in(s, strip)]:
            nest = nest_called(s, name)  # as steps for those before it have left it
            if nest is None:
                continue
            try:
                s = _product(s, nest, strip, options)
                done.append(nest.place)
            except UnfitError:
                with suppress(UnfitError, IllegalTransform, ScheduleError):
                    s, _ = inner_loops.in_place(copy(s), nest, options)
        return copy(s).parallel(strip), done


def _roots(s: Schedule) -> list[str]:
    """The outermost loops, among them two that hold products, perhaps, and one that sums up rows. Raises UnfitError."""
    roots = roots_of(s)
    depth = {row.names[0]: row.depth for row in s.loops()}
    deep = [max(depth[name] for name in names_in(s, root)) for root in roots]
    if sum(each >= 2 for each in deep) < 2 or 1 not in deep:
        raise UnfitError("there are no two products with sums of rows between them")
    if any(row.is_parallel for row in s.loops()):
        raise UnfitError("a loop is parallel as it is written")
    return roots


def _product(s: Schedule, nest: Nest, strip: str, options: Options) -> Schedule:
    """The schedule with a product of the rows of a strip in registers. Raises as steps do, and UnfitError."""
    found = product_of(nest)
    lanes = options.target.lanes(bits_of(found.store))
    if lanes < 2 or found.is_triangular:
        raise UnfitError
    made = copy(s)
    rows, many = register_tile(options.choices, options.target, contract=options.contract)
    i, j, k = bring_innermost(made, nest, found.i, found.j, found.k)
    for columns, loop, panel in ((True, strip, many * lanes), (False, i, rows)):
        for buffer, axis in found.panels(nest, columns=columns):
            packed(made, buffer, loop, axis, panel, lanes)
    return made.register_tile(i, j, k, rows=rows, vectors=many, lanes=lanes)
