"""Products of matrices of whose results more is made: a tile begins, sums up and ends before the next one."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import pairwise

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Constraint
from affdsl.lang.indices import Condition
from affdsl.optimize.footprint import at_most
from affdsl.optimize.nests import (
    Nest,
    is_lane_by_lane,
    is_library_call,
    names_in,
    nests,
    require_loop,
    unfit_where_refused,
)
from affdsl.optimize.notes import sizes_in
from affdsl.optimize.options import Options
from affdsl.optimize.recipes import product, shared, unpacked
from affdsl.optimize.recipes.apart import distribute
from affdsl.optimize.recipes.unfit import UnfitError
from affdsl.optimize.versions import in_other, on_average
from affdsl.passes.analysis.trip_count import trip_counts
from affdsl.schedule.schedule import IllegalTransform, Schedule

MOST = 16
"""How many operations the body around the sums may have, their loop among them: a tile has all for each vector."""
LONG = ("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi", "remf")
"""Operations that are long code on vectors, as functions of the C library are."""
LANES = 4
"""With so many lanes it is asked whether a loop gains on vectors: most of its work is lane by lane, or is not."""


def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, str, str]:
    """The schedule with a product, what begins its sums and what is made of them in the same tiles.

        for i, j: { C[i, j] = 0; for k: C[i, j] += A[i, k] * B[k, j]; C[i, j] = C[i, j] * x }   ->
        for i, j by tiles: { C[tile] = 0; for k: C[tile] += A[tile, k] * B[k, tile]; C[tile] = C[tile] * x }

    So the result comes to the nearest cache once, not three times. A sum has all of its terms in one tile, which pays
    as long as what a tile reads stays in the nearest caches: with other sizes, a copy of the loops runs that is left as
    it was. Raises UnfitError.

    Returns
    -------
    The schedule; the name of the outermost loop of that copy, empty if there is none; what was done.
    """
    *batch, i, j, k = _loops(s, root)
    nest, found = _product(s, root)
    registers, tile = product.sizes_of(found, options)
    tile, cut = shared.tile_of(nest, found.i, found.j, tile, (registers.rows, registers.columns), options)
    if cut == "columns" or (batch and options.threads > 1):
        raise UnfitError("threads share something else than its rows")
    sizes = _sizes(s, (i, j, k), tile[2])
    made, other, where = copy(s), "", ""
    if sizes is not None:
        other = in_other(made, root, sizes)[0]
        where = f"for {sizes_in(sizes)}: "
    with unfit_where_refused():
        said, kept = product.in_tiles(made, nest, found, (i, j, k), tile[:2], cut, registers, options)
    said += f"; threads share its {kept}" if kept else ""
    return made, other, f"{where}{said}, with what comes before and after its sums in the same tiles"


def _loops(s: Schedule, root: str) -> list[str]:
    """The loops of a nest whose innermost loop stands between other statements, of which one after it stores.

    Raises UnfitError.
    """
    names = names_in(s, root)
    loops = [require_loop(s, name) for name in names]
    if len(loops) < 3 or any(outer.body != (inner,) for outer, inner in pairwise(loops[:-1])):
        raise UnfitError("its loops are not three, one in the other")
    body: Sequence[Op] = loops[-2].body
    if [op for op in body if any(op.blocks())] != loops[-1:]:
        raise UnfitError("its sums stand beside conditions, or in one")
    if not any(isinstance(op, affine.Store) for op in body[body.index(loops[-1]) :]):
        raise UnfitError("nothing is made of its sums")
    if len(body) > MOST:
        raise UnfitError(f"the body around its sums has more than {MOST} operations")
    if any(is_library_call(op) or getattr(op, "kind", "") in LONG for op in body):
        raise UnfitError("integer divisions, remainders or library functions stand beside its sums")
    return names


def _product(s: Schedule, root: str) -> tuple[Nest, product.Product]:
    """The product in a nest after each of its statements has loops of its own, of which all others may be on vectors.

    Raises UnfitError where it is none, or has another order of loops.
    """
    apart, inside = copy(s), names_in(s, root)
    others = {row.iv for row in s.loops() if row.names[0] not in inside}
    distribute(apart, inside)
    made = [nest for nest in nests(apart) if others.isdisjoint(iv for loop in nest.band for iv in loop.binds())]
    longest = [nest for nest in made if len(nest.band) == len(inside)]
    if len(longest) != 1:
        raise UnfitError("its sums are no loops of their own")
    (nest,) = longest
    found = product.product_of(nest)
    if (found.i, found.j, found.k) != nest.band[-3:]:
        raise UnfitError("it runs along its columns")
    if found.is_triangular or found.starts_late:
        raise UnfitError("it is a triangle")
    for name in [each.name(each.innermost) for each in made if each is not nest]:
        if _is_slow(copy(apart), name):
            raise UnfitError(f"most of {name} would run lane by lane")
    if product.with_factors(apart, nest, found)[0] is not nest:
        raise UnfitError("factors are multiplied by numbers before it")
    return nest, found


def _is_slow(s: Schedule, name: str) -> bool:
    """Whether a loop gains little on vectors; the schedule given is changed."""
    try:
        s.vectorize(name, LANES)
    except IllegalTransform:
        return True
    return is_lane_by_lane(s, name)


def _sizes(s: Schedule, loops: tuple[str, str, str], terms: int) -> Condition | None:
    """That a product is large enough for tiles, and its sums have so many terms at most; None where that is so anyway.

    Raises UnfitError where that can not be, or no size says it.
    """
    counts = trip_counts(s.function)
    constraints: list[Constraint] = []
    for loop, least in zip(loops, unpacked.LARGE, strict=True):
        high = counts[require_loop(s, loop).iv].high
        if high is not None and high < least:
            raise UnfitError("it is too small for tiles")
        many = on_average(s, (loop,), least) if least > 1 else None
        constraints += many.constraints if many is not None else ()
    few = at_most(s, loops[-1], terms)
    if few is None:
        high = counts[require_loop(s, loops[-1]).iv].high
        if high is None or high > terms:
            raise UnfitError("its sums have more terms than a tile")
    constraints += few.constraints if few is not None else ()
    return Condition(tuple(dict.fromkeys(constraints))) if constraints else None
