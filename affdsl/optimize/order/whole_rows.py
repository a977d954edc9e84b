"""Short rows of known length, gone over as a whole: one loop over all their elements, which can be on vectors."""

from __future__ import annotations

from copy import copy

from affdsl.ir.dialects import affine
from affdsl.optimize.nests import Nest, nests_in, require_loop, unfit_where_refused
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.schedule import Schedule

LONGEST = 32
"""So many elements a row has at most: longer ones are loops of their own."""


def take(s: Schedule, root: str) -> tuple[Schedule, str, str]:
    """The schedule with a nest as one loop, what that is called, and what was done.

        for i: for k < 3: x[i, k] = S(x[i, k])   ->   for k < 3 * N: x[k] = S(x[k])

    Raises UnfitError where a row is long, or its subscripts say more than which element is next.
    """
    found = nests_in(s, root)
    band = _short(found[0]) if len(found) == 1 else ()
    if len(band) < 2 or band[0] is not found[0].loops[0]:
        raise UnfitError("it does not go over short rows alone")
    made, names = copy(s), tuple(map(found[0].name, band))
    with unfit_where_refused():
        made.coalesce(names)
    whole = made.made[0].names[0]
    if any(isinstance(op, affine.Apply) for op in require_loop(made, whole).body):
        raise UnfitError("it does not go over whole rows: its counters are computed")
    return made, whole, f"{' and '.join(names)} as one loop, over whole rows"


def _short(nest: Nest) -> tuple[affine.For, ...]:
    """The loops of a band that are short, innermost, with the one around them."""
    size, at = 1, len(nest.band)
    for loop in reversed(nest.band[1:]):
        bounds = (*loop.lower, *loop.upper)
        if len(bounds) != 2 or not all(each.is_constant for each in bounds):
            break
        size *= max(0, bounds[1].constant - bounds[0].constant)
        if size > LONGEST:
            break
        at -= 1
    return nest.band[at - 1 :] if at < len(nest.band) else ()
