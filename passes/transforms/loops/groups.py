"""Groups of iterations of a loop that run together, and the iterations that are left over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Atom, Term, Value
from affdsl.ir.traverse import clone_block, likes, with_fields
from affdsl.ir.types import INDEX
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.semi_affine import without_semi_affine
from affdsl.passes.analysis.trip_count import TripCount
from affdsl.passes.legality.order import Time
from affdsl.passes.legality.require import Candidate, require_order
from affdsl.passes.transforms.loops.unrolling import is_multiple


def splits_of(loop: affine.For, factor: int) -> tuple[Affine | None, ...]:
    """For each upper bound where the whole groups below it end; None where that is at this bound in any case."""
    (low,) = loop.lower
    counts = [(high - low).ceildiv(loop.step) for high in loop.upper]
    return tuple(
        None if is_multiple(count, factor) else low + count // factor * (loop.step * factor) for count in counts
    )


def rests_of(loop: affine.For, splits: Sequence[Affine | None], trips: TripCount) -> list[affine.For]:
    """Loops over what is left over by each upper bound, each carrying on what was yielded before.

    At most one of them runs: see the note in `affdsl.passes.transforms.loops.unrolling`.
    """
    left = [split for split in splits if split is not None]
    first = loop.lower if trips.may_be_negative else ()
    rests: list[affine.For] = []
    values = [likes(loop.results) for _ in left] + [loop.results]
    for number, split in enumerate(left):
        (rest,) = clone_block((loop,), {})
        assert isinstance(rest, affine.For)
        upper = (*loop.upper, *left[:number])
        given, found = values[number : number + 2]
        rests.append(with_fields(rest, lower=(*first, split), upper=upper, inits=given, results=found))
    return rests


def require_groups(
    dependences: Dependences,
    loop: affine.For,
    factor: int,
    splits: Sequence[Affine | None],
    within: Callable[[Access], Sequence[Term]],
    *,
    what: str,
    candidates: Callable[[Time], Iterator[Candidate]],
) -> None:
    """Let groups of so many iterations run one after the other if that is legal, each in the order of `within`.

    What is left over behind the splits runs iteration after iteration. Raises IllegalTransform.
    """
    around = len(dependences.accesses.domains[loop].ivs)
    fixed: dict[Atom, Value] = {}  # bounds are the same for all iterations of the loop, also where they are semi-affine
    (low, *left) = [without_semi_affine(e, fixed) for e in (*loop.lower, *splits) if e is not None]
    number = (loop.iv - low) // (loop.step * factor)

    def alike(access: Access) -> Sequence[Term]:
        return (number, *within(access))

    if not left:
        require_order(dependences, loop, alike, what=what, candidates=candidates(alike))
        return
    rest = Value(INDEX)
    dependences.accesses.scope.add(affine.Max(rest, (Affine(), *(loop.iv - split for split in left))), around + 1)

    def time(access: Access) -> Sequence[Term]:  # 0 in whole groups; each iteration of the rest is alone
        return (number, rest, *within(access))

    # What is legal even if the rest were a group is quicker to ask about.
    require_order(dependences, loop, time, what=what, candidates=candidates(time), stricter=alike)
