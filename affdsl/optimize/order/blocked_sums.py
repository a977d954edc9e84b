"""Sums over what the loop around them has made: what lies before a strip of it is added for the whole strip at once."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from dataclasses import replace

from affdsl.optimize.nests import Nest, lanes_of, nest_called, nests_in
from affdsl.optimize.options import Options
from affdsl.optimize.order.blocks import in_blocks
from affdsl.optimize.registers.matrix_products import is_tied
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops, sums
from affdsl.optimize.versions import longer_than, longest
from affdsl.schedule.schedule import Schedule

LEAST = 64
"""How many iterations a loop has for which strips of it pay."""


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
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


def take_early(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The same for sums that are better not made one by one, though each may be made in lanes.

    Their terms lie far apart, so that lanes would be put together one by one; or all take the same elements, which are
    loaded once for several of them.
    """
    if _is_near(nest) and not _has_rows_in_lanes(nest, options):
        raise UnfitError
    return take(s, nest, options)


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
