"""Products of matrices of whose results more is made: a tile begins, sums up and ends before the next one."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import pairwise

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.lang.indices import Condition
from affdsl.optimize.footprint import at_most
from affdsl.optimize.nests import Nest, names_in, nests, require_loop
from affdsl.optimize.options import Options
from affdsl.optimize.recipes import product, shared, unpacked
from affdsl.optimize.recipes.apart import distribute
from affdsl.optimize.recipes.unfit import UnfitError, in_one_line
from affdsl.optimize.versions import in_other, on_average
from affdsl.passes.analysis.trip_count import trip_counts
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule
from affdsl.schedule.spelling import literal

MOST = 16
"""How many operations stand beside the sums at most: each tile has as many for every vector of it, in a row."""


def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, str, str]:
    """The schedule with a product, what comes before its sums and what is made of them in the same tiles.

        for i, j: { C[i, j] = 0; for k: C[i, j] += A[i, k] * B[k, j]; C[i, j] = C[i, j] * x }   ->
        for i, j by tiles: { C[tile] = 0; for k: C[tile] += A[tile, k] * B[k, tile]; C[tile] = C[tile] * x }

    So the result is stored once. Sums are whole, which pays as long as the panels of A and B that they read stay in the
    nearest caches: other sizes run what is left of the loops.

    Returns
    -------
    The schedule; what is called the loop that other sizes run, empty where there are no others; and what was done.
    Raises UnfitError.
    """
    *batch, i, j, k = _loops(s, root)
    nest, found = _product(s, root)
    bits = product.bits_of(found.store)
    lanes = options.target.lanes(bits)
    if lanes < 2:
        raise UnfitError(f"a register has {lanes} numbers of {bits} bits")
    rows, vectors = product.register_tile(options.choices, options.target, contract=options.contract)
    registers = product.Registers(rows, vectors, lanes)
    tile = product.tile_sizes(options.target, bits // 8, rows, registers.columns, options.choices)
    tile, cut = shared.tile_of(nest, found.i, found.j, tile, (rows, registers.columns), options)
    if cut == "columns" or (batch and options.threads > 1):
        raise UnfitError("threads share something else than its rows")
    sizes = _sizes(s, (i, j, k), tile[2], lanes)
    made, other, where = copy(s), "", ""
    if sizes is not None:
        other = in_other(made, root, sizes)[0]
        where = f", where {literal(sizes)}"
    try:
        said, kept = product.in_tiles(made, nest, found, (i, j, k), tile[:2], cut, registers)
    except (IllegalTransform, ScheduleError) as error:
        raise UnfitError(in_one_line(error)) from None
    said += f"; threads share its {kept}" if kept else ""
    return made, other, f"{said}, with what comes before and after its sums in the same tiles{where}"


def _loops(s: Schedule, root: str) -> list[str]:
    """The loops of a nest whose innermost loop stands between other statements, of which one after it stores.

    Raises UnfitError.
    """
    names = names_in(s, root)
    loops = [require_loop(s, name) for name in names]
    if len(loops) < 3 or any(outer.body != (inner,) for outer, inner in pairwise(loops[:-1])):
        raise UnfitError("its loops are not three, one in the other")
    body: Sequence[Op] = loops[-2].body
    at = next((n for n, op in enumerate(body) if op is loops[-1]), len(body))
    if sum(1 for op in body if any(op.blocks())) != 1:
        raise UnfitError("its sums stand beside other loops, or conditions")
    if not any(isinstance(op, affine.Store) for op in body[at + 1 :]):
        raise UnfitError("nothing is made of its sums")
    if len(body) > MOST:
        raise UnfitError(f"more than {MOST} operations stand beside its sums")
    return names


def _product(s: Schedule, root: str) -> tuple[Nest, product.Product]:
    """The only nest of three loops after all statements have loops of their own, and the product that it computes.

    Raises UnfitError where it is none, or has another order of loops.
    """
    apart, inside = copy(s), names_in(s, root)
    others = {row.iv for row in s.loops() if row.names[0] not in inside}
    distribute(apart, inside)
    made = [nest for nest in nests(apart) if others.isdisjoint(op for of in nest.band for op in of.binds())]
    longest = [nest for nest in made if len(nest.band) == len(inside)]
    if len(longest) != 1:
        raise UnfitError("its sums are no loops of their own")
    (nest,) = longest
    found = product.product_of(nest)
    if (found.i, found.j, found.k) != nest.band[-3:] or found.is_triangular or found.starts_late:
        raise UnfitError("it runs along its columns, or is a triangle")
    if product.with_factors(apart, nest, found) != (nest, found):
        raise UnfitError("factors are multiplied by numbers before it")
    return nest, found


def _sizes(s: Schedule, loops: tuple[str, str, str], terms: int, lanes: int) -> Condition | None:
    """That the matrices are large enough for tiles, and sums have so many terms at most; None where that is so anyway.

    Raises UnfitError where it never is, or no size says so.
    """
    few = at_most(s, loops[-1], terms)
    if few is None:
        high = trip_counts(s.function)[require_loop(s, loops[-1]).iv].high
        if high is None or high > terms:
            raise UnfitError("its sums have more terms than a tile")
    many = on_average(s, loops, unpacked.LEAST_PACKED * lanes)
    constraints = tuple(each for of in (many, few) if of is not None for each in of.constraints)
    return Condition(constraints) if constraints else None
