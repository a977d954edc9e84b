"""Products of small matrices: sums in registers, on the arrays where they stand, since caches hold all of them."""

from __future__ import annotations

from contextlib import suppress
from math import isqrt

from affdsl.ir.dialects import affine
from affdsl.lang.indices import Condition
from affdsl.optimize.nests import Nest, is_lane_by_lane, nests
from affdsl.optimize.options import Options
from affdsl.optimize.recipes.unfit import UnfitError
from affdsl.optimize.recipes.vectors import tail_of
from affdsl.optimize.versions import in_other, on_average
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule
from affdsl.schedule.spelling import literal

ROWS = 8
"""How many rows of sums are in registers, a vector each: enough that none waits for the one before it."""
LEAST = 5
"""How large matrices are in the mean for which vectors are faster than the loops as they were."""
LEAST_PACKED = 3
"""How many vectors rows have in the mean for which copies pay where nothing else is there for small matrices."""
LEAST_TERMS = 9
"""How many terms sums have at least for which copies of both factors pay."""
LEAST_VECTORS = 2
"""How many whole vectors a row of the result has at least, and one element more, for which they pay."""


def with_small(s: Schedule, nest: Nest, loops: tuple[affine.For, ...], bits: int, options: Options) -> str:
    """Give a product versions for small matrices, and say so; the schedule given is changed.

        for i, j, k: S   ->   if M + N + K >= 627 and N >= 17 and K >= 9: for i, j, k: S
                              else if M + N + K >= 24: for j on vectors, 8 of i, k: S
                              else: for i, j, k: S

    Matrices are small if the second cache holds three of them, with all sizes alike; if sums have few terms, or the
    result few columns; the smallest ones run the loops as they were. "" where nothing can be done for them.

    Parameters
    ----------
    loops
        The loops of the nest over rows, columns and terms. The nest keeps them: it is the version for large matrices.
    bits
        How many bits an element has.

    References
    ----------
    Heinecke and others, "LIBXSMM: accelerating small matrix multiplications by runtime code generation", SC 2016.
    """
    around = {iv for op in nest.around for iv in op.binds()}
    if any(v in around for loop in nest.band for bound in (*loop.lower, *loop.upper) for v in bound.values()):
        return ""  # it is a part of a large one
    before, lanes = len(s.steps), options.target.lanes(bits)
    band, (i, j, k) = tuple(map(nest.name, nest.band)), map(nest.name, loops)
    try:
        sizes = _large(s, (i, j, k), bits, options)
        other = dict(zip(band, in_other(s, band[0], sizes), strict=True))
        in_other(s, other[band[0]], on_average(s, (i, j, k), LEAST))
        _on_vectors(s, tuple(other.values()), (other[i], other[j], other[k]), lanes, options)
        said = f"smaller ones stay where they are, on vectors of {other[j]}, {ROWS} rows at once"
    except (UnfitError, IllegalTransform, ScheduleError):
        while len(s.steps) > before:
            s.undo()
        sizes, said = on_average(s, (i, j, k), LEAST_PACKED * lanes), "as it was for smaller ones"
        try:
            in_other(s, band[0], sizes)
        except UnfitError:
            return ""
    return f", where {literal(sizes)}; {said}"


def _large(s: Schedule, loops: tuple[str, str, str], bits: int, options: Options) -> Condition | None:
    """That matrices are so large that copies of the factors pay; None where sizes do not say it."""
    second = options.target.caches[1] if len(options.target.caches) > 1 else 1 << 20
    whole = on_average(s, loops, isqrt(8 * second // (3 * bits)))
    if whole is None:
        return None
    _, j, k = loops
    columns = on_average(s, (j,), LEAST_VECTORS * options.target.lanes(bits) + 1)
    terms = on_average(s, (k,), LEAST_TERMS)
    found = [c for each in (whole, columns, terms) if each is not None for c in each.constraints]
    return Condition(tuple(dict.fromkeys(found)))


def _on_vectors(s: Schedule, band: tuple[str, ...], loops: tuple[str, str, str], lanes: int, options: Options) -> None:
    """Sums of several rows at once, each on a vector of columns; the last one of a row is a part of a vector."""
    i, j, k = loops
    order = (*(each for each in band if each not in loops), i, j, k)
    known = {name for row in s.loops() for name in row.names}
    if order != band:
        s.permute(order)
    s.vectorize(j, lanes, tail="folded" if options.target.has_masks else tail_of(options))
    if is_lane_by_lane(s, j):
        raise UnfitError(f"most of {j} would run lane after lane")
    s.unroll_jam(i, max(1, min(ROWS, options.target.registers // 2)))
    for name in [nest.name(nest.innermost) for nest in nests(s)]:
        if name == k or name not in known:
            with suppress(IllegalTransform):  # its sums stay in memory
                s.scalar_replace(name)
