"""The legality service: a reordering that would change a program is refused, with the nearest candidates as data.

Every transformation that reorders asks `require_order`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice

from affdsl.frozen import Frozen, replace
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Term, Value
from affdsl.ir.messages import shown
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.reduction import Reduction, Reductions, uncombined
from affdsl.passes.legality.early import require_to_end
from affdsl.passes.legality.order import Roots, Time, new_order, roots_of, substituted, text_time
from affdsl.passes.legality.proposals import Proposal, Step
from affdsl.passes.legality.refusal import IllegalTransform, refusal

MOST_TRIES = 10
"""How many other things are tried before a refusal names none; the most likely ones come first."""


class Candidate(Frozen):
    """Another way to what was asked for: legal if the accesses may run at each of these times.

    `reductions` are what it combines in any order, beside those that are allowed anyway.
    """

    proposal: Proposal
    times: tuple[Time, ...]
    reductions: tuple[Reduction, ...] = ()


def require_order(
    dependences: Dependences,
    root: Roots,
    time: Time,
    *,
    what: str,
    reductions: Collection[Reduction] = (),
    commuting: Collection[Reduction] = (),
    combining: Sequence[Value] = (),
    reassociate: bool = False,
    candidates: Iterable[Candidate] = (),
    stricter: Time | None = None,
) -> None:
    """Let a reordering pass if it is legal.

    Parameters
    ----------
    commuting, stricter
        Updates that may change places within an iteration, too, and a time that is quicker to ask about: see
        `new_order`.
    combining
        The loops whose reductions in memory may be made in another order: those that come to the same in any order, and
        if `reassociate` also those that are rounded. Where the latter would help, that is proposed.
    what
        What is asked for, to follow the word "cannot": "interchange loops i and j".
    candidates
        What to do instead: `skewed`, `reversed_first` and `interchanged` make the common ones. The refusal has those
        that are legal by their times.

    Raises
    ------
    IllegalTransform
        With the dependence that it violates.
    """
    violation = new_order(dependences, root, time, reductions=reductions, commuting=commuting, stricter=stricter)
    if violation is None:
        return
    rounded: tuple[Reduction, ...] = ()
    if combining:
        found = reassociated(dependences, combining)
        rounded = () if reassociate else tuple(r for r in found if r.needs_reassociation)
        allowed = tuple(r for r in found if r not in rounded)
        if allowed:
            reductions = (*reductions, *allowed)
            violation = new_order(dependences, root, time, reductions=reductions, commuting=commuting)
            if violation is None:
                return

    def may_run(each: Candidate) -> bool:
        allowed = (*reductions, *each.reductions)
        return all(new_order(dependences, root, t, reductions=allowed, commuting=commuting) is None for t in each.times)

    tries = chain(candidates, with_reassociation(time, rounded))
    first = roots_of(dependences, root)[0]
    proposals = (each.proposal for each in islice(tries, MOST_TRIES) if may_run(each))
    raise IllegalTransform(first, what, violation=violation, candidates=proposals)


def reassociated(dependences: Dependences, ivs: Iterable[Value]) -> tuple[Reduction, ...]:
    """What loops combine in memory, for a caller who allows any order of it, although that may round in another way."""
    reductions = Reductions(dependences)
    return tuple(each for iv in ivs for each in reductions.in_memory(iv)[0])


def carried_reductions(
    dependences: Dependences, band: Sequence[affine.For], what: str, *, reassociate: bool
) -> tuple[Reduction, ...]:
    """What perfectly nested loops combine through the values that they carry (iter_args), which may be in any order.

    Raises
    ------
    IllegalTransform
        If one iteration uses a value of another otherwise; or if the order shows, since it rounds, and is not allowed
        to change.
    """
    for loop in band:
        require_to_end(loop, dependences.accesses.function, what)
    found: list[Reduction] = []
    reductions = Reductions(dependences) if band[0].results else None
    for position, result in enumerate(band[0].results):
        assert reductions is not None
        reduction = reductions.carried(band[-1], position)
        if reduction is None:
            start = shown(band[-1].carried[position])
            reason = f"{start} of one iteration is used in the next, {uncombined(result)} (iter_args)"
            raise refusal(band[0], what, reason)
        if reduction.needs_reassociation and not reassociate:
            reason = f"in another order {reduction.kind} of {shown(result)} is rounded in another way"
            raise refusal(band[0], what, reason, Proposal(options=(("reassociate", True),)))
        found += [replace(reduction, value=loop.carried[position]) for loop in band]
    return tuple(found)


def skewed(time: Time, outer: Value, inner: Value, factors: Sequence[int] = (1, 2, 3)) -> Iterator[Candidate]:
    """The same after the inner loop was skewed by the outer one."""
    for factor in factors:
        new: dict[Value, Term] = {inner: inner + outer * factor}
        yield Candidate(Proposal((Step("skew", (outer, inner, factor)),)), (substituted(time, new),))


def interchanged(dependences: Dependences, time: Time, outer: Value, inner: Value) -> Iterator[Candidate]:
    """The same after two loops were interchanged."""
    new: dict[Value, Term] = {inner: outer, outer: inner}
    before = substituted(lambda access: text_time(dependences, access), new)
    yield Candidate(Proposal((Step("interchange", (outer, inner)),)), (before, substituted(time, new)))


def reversed_first(dependences: Dependences, time: Time, iv: Value) -> Iterator[Candidate]:
    """The same after a loop was reversed."""
    new: dict[Value, Term] = {iv: -iv}
    before = substituted(lambda access: text_time(dependences, access), new)
    yield Candidate(Proposal((Step("reverse", (iv,)),)), (before, substituted(time, new)))


def with_reassociation(time: Time, reductions: tuple[Reduction, ...]) -> Iterator[Candidate]:
    """The same where some reductions may be rounded in another way."""
    if reductions:
        yield Candidate(Proposal(options=(("reassociate", True),)), (time,), reductions)
