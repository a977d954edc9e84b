"""The legality service: what would change a program is refused, with two iterations and the nearest legal thing.

Every transformation that reorders asks `require_order`; what cannot be done for another reason raises `refusal`. What
is proposed instead is data, and was tried.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Literal, TypeAlias

from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Term, Value
from affdsl.ir.messages import shown
from passes.analysis.dependence import Dependence, Dependences, Witness
from passes.analysis.reduction import Reduction, Reductions
from passes.legality.order import (
    Roots,
    Time,
    Violation,
    is_barrier,
    new_order,
    roots_of,
    substituted,
    text_time,
)
from passes.legality.steps import Proposal, Step
from passes.legality.words import explained, heading

__all__ = [
    "Candidate", "IllegalTransform", "Request", "Time", "Violation", "carried_reductions", "first_legal",
    "interchanged", "is_barrier", "new_order", "order_is_shown", "reassociated", "refusal", "require_order",
    "reversed_first", "skewed", "substituted", "text_time", "trying", "violated", "with_reassociation",
]  # fmt: skip

Request: TypeAlias = Callable[..., func.Func]
"""What was asked for, of another function: a primitive with all its arguments but the function, and some by name."""
MOST_TRIES = 10
"""How many other things are tried before a refusal names none; the most likely ones come first."""
MOST_PRIVATE = 4
"""How many buffers a refusal proposes to privatize."""


class IllegalTransform(AffdslError):  # noqa: N818 - a person reads the name in tracebacks
    """A transformation that is asked for would change what the program does, or cannot be shown not to.

    Attributes
    ----------
    dependence
        What would be violated; None where something else is in the way.
    witness
        Two iterations that would run in the wrong order, or of which the second would not get what the first wrote;
        None where that is not known.
    alternative
        The nearest thing that is legal, in words; empty if none was found.
    proposal
        The same as data: steps to take first, options for the request, or what to do in its place. None if none was
        found, or if it is no call of a primitive.
    """

    def __init__(
        self,
        message: str,
        *,
        dependence: Dependence | None = None,
        witness: Witness | None = None,
        alternative: str | Proposal = "",
    ) -> None:
        super().__init__(message)
        self.dependence = dependence
        self.witness = witness
        self.alternative = str(alternative)
        self.proposal = alternative if isinstance(alternative, Proposal) else None


@dataclass(frozen=True, eq=False)
class Candidate:
    """Another way to what was asked for: legal if the accesses may run at each of these times.

    `reductions` are what it combines in any order, beside those that are allowed anyway. Where the request can be asked
    again (see `require_order`), the steps of the proposal are also done for real.
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
    combining: Sequence[Value] = (),
    reassociate: bool = False,
    candidates: Iterable[Candidate] = (),
    again: Request | None = None,
) -> None:
    """Let a reordering pass if it is legal.

    Parameters
    ----------
    combining
        The loops whose reductions in memory may be made in another order: those that come to the same in any order, and
        if `reassociate` also those that are rounded. Where the latter would help, that is proposed.
    what
        What is asked for, to follow the word "cannot": "interchange loops i and j".
    candidates
        What to do instead: the message names the first that is legal. `skewed`, `reversed_first` and `interchanged`
        make the common ones.
    again
        Asks for the same of another function, with some options by name. Then each candidate is done for real before it
        is named, and where a local buffer is in the way only because iterations use it one after the other, `privatize`
        or `expand` is what is named.

    Raises
    ------
    IllegalTransform
        With the dependence that it violates, two iterations, and the first legal candidate.
    """
    if _is_shown.get():
        return
    violation = new_order(dependences, root, time, reductions=reductions)
    if violation is None:
        return
    rounded: tuple[Reduction, ...] = ()
    if combining:
        found = reassociated(dependences, combining)
        rounded = () if reassociate else tuple(r for r in found if r.needs_reassociation)
        allowed = tuple(r for r in found if r not in rounded)
        if allowed:
            reductions = (*reductions, *allowed)
            violation = new_order(dependences, root, time, reductions=reductions)
            if violation is None:
                return

    def may_run(each: Candidate) -> bool:
        allowed = (*reductions, *each.reductions)
        return all(new_order(dependences, root, t, reductions=allowed) is None for t in each.times)

    tries = chain(candidates, with_reassociation(time, rounded))
    proposals = (each.proposal for each in islice(tries, MOST_TRIES) if may_run(each))
    first = roots_of(dependences, root)[0]
    raise violated(dependences, first, what, violation, candidates=proposals, again=again)


def violated(
    dependences: Dependences,
    op: Op,
    what: str,
    violation: Violation,
    *,
    also: str = "",
    candidates: Iterable[Proposal] = (),
    again: Request | None = None,
) -> IllegalTransform:
    """The error that names a violated dependence, and the first proposal that holds.

    Parameters
    ----------
    also
        What else there is to say of it, on a line of its own.
    candidates, again
        As those of `require_order`, but that nothing is known of the candidates if they cannot be tried.
    """
    alternative: Proposal | Literal[""] = ""
    if not _is_trying.get():
        of = dependences.of
        own = None if again is None else _with_own(of.function, of.module, violation, again)
        alternative = own or first_legal(of.function, of.module, candidates, again) or ""
    witness = violation.witness if not _is_silent.get() else None
    text = "\n".join((explained(violation.dependence, witness), *(also,) * bool(also)))
    return IllegalTransform(
        heading(op, what, text, str(alternative)),
        dependence=violation.dependence,
        witness=witness,
        alternative=alternative,
    )


def first_legal(
    function: func.Func, module: func.Module | None, proposals: Iterable[Proposal], again: Request | None
) -> Proposal | None:
    """The first proposal whose steps can be done, and the request after them: tried for real, if `again` can ask.

    None if there is none, and where a request is made only to see whether it is legal.
    """
    if _is_trying.get():
        return None
    for proposal in islice(proposals, MOST_TRIES):
        if again is None or _holds(function, module, proposal, again):
            return proposal
    return None


def _holds(function: func.Func, module: func.Module | None, proposal: Proposal, again: Request) -> bool:
    try:
        with _silently(), _shown(proposal.is_shown):
            function = proposal.before(function)
            for step in proposal.steps:
                function = step.done_to(function, module)
            if proposal.asks_again:
                again(function, **dict(proposal.options))
    except IllegalTransform:
        return False
    return True


_is_trying = ContextVar("is_trying", default=False)


@contextmanager
def trying() -> Iterator[None]:
    """Ask for something to see whether it is legal: a refusal inside names no alternative, which takes time to find."""
    token = _is_trying.set(True)
    try:
        yield
    finally:
        _is_trying.reset(token)


_is_silent = ContextVar("is_silent", default=False)


@contextmanager
def _silently() -> Iterator[None]:
    """Try what nobody reads about: without two iterations in what is refused, which take time to find, too."""
    token = _is_silent.set(True)
    try:
        with trying():
            yield
    finally:
        _is_silent.reset(token)


_is_shown = ContextVar("is_shown", default=False)


@contextmanager
def _shown(really: bool) -> Iterator[None]:
    """Try steps of which the order was shown to be legal before: only what else may be in the way is asked."""
    token = _is_shown.set(really)
    try:
        yield
    finally:
        _is_shown.reset(token)


def order_is_shown() -> bool:
    """Whether what is asked for now is known to keep the order that must be kept."""
    return _is_shown.get()


def refusal(op: Op, what: str, reason: str, alternative: str | Proposal = "") -> IllegalTransform:
    """The error that says what cannot be done to an operation, and why, where that is no dependence."""
    return IllegalTransform(heading(op, what, reason, str(alternative)), alternative=alternative)


# --- What may be combined in any order


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
    found: list[Reduction] = []
    reductions = Reductions(dependences) if band[0].results else None
    for position, result in enumerate(band[0].results):
        assert reductions is not None
        reduction = reductions.carried(band[-1], position)
        if reduction is None:
            start = shown(band[-1].carried[position])
            reason = f"{start} of one iteration is used in the next, and not only combined (iter_args)"
            raise refusal(band[0], what, reason)
        if reduction.needs_reassociation and not reassociate:
            reason = f"in another order {reduction.kind} of {shown(result)} is rounded in another way"
            raise refusal(band[0], what, reason, Proposal(options=(("reassociate", True),)))
        found += [replace(reduction, value=loop.carried[position]) for loop in band]
    return tuple(found)


# --- Candidates


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


# --- Below: how


def _with_own(function: func.Func, module: func.Module | None, violation: Violation, again: Request) -> Proposal | None:
    """Which local buffers to privatize, or to expand, so that a request is legal; None where that does not help."""
    steps: list[Step] = []
    dependence: Dependence | None = violation.dependence
    with _silently():
        while dependence is not None and dependence.source.buffer.kind == "local" and len(steps) < MOST_PRIVATE:
            root = dependence.source.buffer.root
            inside = dependence.source.ivs[: len(dependence.distances)]
            dependence = None
            for step in (Step(verb, (root, iv)) for verb in ("privatize", "expand") for iv in reversed(inside)):
                try:
                    done = step.done_to(function, module)
                except IllegalTransform:
                    continue
                try:
                    again(done)
                except IllegalTransform as refused:
                    left = refused.dependence
                else:
                    return Proposal((*steps, step))
                if left is not None and left.source.buffer.root is not root:
                    function, dependence = done, left
                    steps.append(step)
                    break
    return None
