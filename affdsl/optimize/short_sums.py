"""Sums that turn out to be short run as they would with fewer permissions: each call chooses by how long they are.

Lanes of a sum are put together behind each row. With the usual sizes, for which the model is asked, that is little of
all; of a row of eleven terms it is most. Several rows at once, each in the order of the text, are faster then.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from itertools import takewhile

from affdsl.ir.expr import Affine, Value
from affdsl.optimize.model.schedules import cycles_of, sizes_of_version, sizes_that_run, standing_in
from affdsl.optimize.nests import lanes_of, nests_in
from affdsl.optimize.notes import for_smaller
from affdsl.optimize.options import Options
from affdsl.optimize.recipes import BY_SIZE, FOR_LOOPS
from affdsl.optimize.search import SLOWER, Candidate
from affdsl.optimize.small_sizes import LEAST_VECTORS, lengths_of_sums
from affdsl.optimize.unfit import UnfitError
from affdsl.passes.analysis.iterations import UncountedError

PAYS = {64: 1.0, 32: 1.0, 16: 0.7, 8: 0.6}
"""How long sums are at least that are made in another order: one of these, or twice the largest one. It pays where the
model expects it to take such a part of the time in the order of the text: the model knows least of short rows."""
IN_ORDER = "keep the order of the text"
"""What shorter sums do."""


def with_short_sums(best: Candidate, in_order: Candidate | None, root: str, options: Options) -> Candidate:
    """The best candidate with a version for short sums, which is what comes of the loop in the order of the text.

    The best one itself where no size says how long sums are, or only the size that all loops have, and of recipes that
    have versions of parts of the loop.

    Parameters
    ----------
    in_order
        What is best in the order of the text; None for the loop as it is written.
    """
    s, known = best.before, {v.hint: v for v in best.before.function.args}
    lengths = [length.expr for length in lengths_of_sums(best.before, root, options)]
    if best.name not in BY_SIZE or not best.reassociates or not lengths:
        return best
    if in_order is not None and in_order.share * SLOWER > 1:  # a version that gains nothing is only longer
        in_order = None
    sizes = [(known[v.hint], e) for e in lengths for v in e.values()]
    try:
        shortest = _shortest(best, in_order, sizes, root, options)
        made, notes = FOR_LOOPS[best.name](copy(s), root, replace(options, shortest_sum=shortest))
        step = next((step for step in made.steps[len(s.steps) :] if step.call.verb == "specialize"), None)
        if step is None or step.call.arguments[0] != root:
            return best
        if in_order is not None:
            short = step.names[step.made[0]]
            made, others = FOR_LOOPS[in_order.name](made, short, replace(options, reassociate=False))
            notes = [replace(note, smaller=note.smaller and IN_ORDER) for note in notes] + [*for_smaller(others)]
    except (UnfitError, UncountedError):
        return best
    return replace(best, schedule=made, notes=(*notes,))


def _shortest(
    best: Candidate, in_order: Candidate | None, sizes: Sequence[tuple[Value, Affine]], root: str, options: Options
) -> int:
    """From which length of sums on the best candidate pays. Raises UncountedError where data decides that.

    It is asked between two lengths, and where a vector is left over.
    """
    s = best.before
    usual = sizes_of_version(best.schedule, s, sizes_that_run(s, but_not_in=best.schedule))
    other = s if in_order is None else in_order.schedule

    def pays(shortest: int) -> bool:
        length = 3 * shortest // 2 - 1
        for size, trip in sizes:
            ((_, factor),) = trip.terms
            with_short = usual | {size: -(-(length - trip.constant) // factor)}
            taken, instead = (
                cycles_of(each, standing_in(each, but_not_in=beside), best.machine, with_short, near=True)
                for each, beside in ((best.schedule, s), (other, best.schedule))
            )
            if taken > PAYS[shortest] * instead:
                return False
        return True

    lanes = max(lanes_of(nest, options) for nest in nests_in(s, root))
    return [2 * max(PAYS), *takewhile(pays, (n for n in PAYS if n >= LEAST_VECTORS * lanes))][-1]
