"""Refusals as data: what cannot be done, to what, why, and what may be done instead; as text only for who reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from affdsl.errors import AffdslError, public
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.passes.analysis.dependence import Dependence, Witness
from affdsl.passes.legality.order import Violation
from affdsl.passes.legality.proposals import Proposal, Request
from affdsl.passes.legality.words import Message, explained, shared


class Reason(FrozenValue):
    """Why something is refused, in words, with the dependence and the two iterations that show it, where there are."""

    text: str
    dependence: Dependence | None = None
    witness: Witness | None = None


@public
class IllegalTransform(AffdslError):  # noqa: N818 - a person reads the name in tracebacks
    """A transformation that is asked for would change what the program does, or cannot be shown not to.

    To raise it takes no time: two iterations are looked for when the message or `witness` is read, and what could be
    done instead only by `affdsl.passes.advice`.

    Parameters
    ----------
    reason
        Why, in words; or what finds that, where it takes time. After a violation, what else there is to say.
    alternative
        What can be done instead.
    violation
        The dependence that would be violated.
    candidates
        What may help, the most likely first: not tried yet.

    Attributes
    ----------
    op
        What is in the way, or what it is in the way of: the message names its place.
    what
        What is asked for, to follow the word "cannot".
    request
        The step that was asked for, where it was asked for as data.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def chain(x: af.f64[N]):
    ...     with af.for_(1, N) as i:
    ...         x[i] = x[i - 1]
    >>> try:
    ...     af.Schedule(chain).reverse("i")
    ... except af.IllegalTransform as error:
    ...     print(error.what, "|", error.dependence.kind)
    reverse loop i | flow
    """

    may_be_for_sizes = False
    """Whether no dependence is in the way, and it may still be legal for the sizes alone that calls accept."""

    def __init__(
        self,
        op: Op,
        what: str,
        reason: str | Callable[[], Reason] = "",
        alternative: str | Proposal = "",
        *,
        violation: Violation | None = None,
        candidates: Iterable[Proposal] = (),
        message: Message | None = None,
    ) -> None:
        super().__init__()
        self.op = op
        self.what = what
        self.violation = violation
        self.alternative = str(alternative)
        self.proposal = alternative if isinstance(alternative, Proposal) else None
        self.candidates = candidates
        self.request: Request | None = None
        self._reason = reason
        self._message = message

    @cached_property
    def reason(self) -> Reason:
        """Why, with two iterations that show it, where they are known."""
        if self.violation is not None:
            dependence, witness = self.violation.dependence, self.violation.witness
            text = explained(dependence, witness)
            return Reason(f"{text}\n{self._reason}" if self._reason else text, dependence, witness)
        return Reason(self._reason) if isinstance(self._reason, str) else self._reason()

    @property
    def dependence(self) -> Dependence | None:
        """What would be violated; None where something else is in the way."""
        return self.violation.dependence if self.violation is not None else self.reason.dependence

    @property
    def witness(self) -> Witness | None:
        """Two iterations that would run in the wrong order, or of which the second misses what the first wrote.

        None where they are not known.
        """
        return self.reason.witness

    def instead(self, alternative: str | Proposal, message: Message | None = None, words: str = "") -> IllegalTransform:
        """The same refusal with something to do instead, and in the words of who asked, where they are given."""
        made = IllegalTransform(
            self.op,
            self.what,
            self._reason,
            alternative,
            violation=self.violation,
            candidates=self.candidates,
            message=message,
        )
        made.request = self.request
        if self.may_be_for_sizes:
            made.may_be_for_sizes = True
        made.alternative = words or made.alternative
        return made

    @property
    def message(self) -> Message:
        """What it says, in parts."""
        if self._message is not None:
            return self._message
        place = "" if self.op.location is None else str(self.op.location)
        return Message(place, self.what, tuple(self.reason.text.splitlines()), self.alternative)

    @property
    def briefly(self) -> str:
        """Why, in half a sentence: what iterations share, or the first reason; without an example or a proposal."""
        if self.violation is not None:
            return shared(self.violation.dependence)
        said = self.message
        return said.reasons[0].strip().rstrip(",:") if said.reasons else f"cannot {said.what}"

    def __str__(self) -> str:
        return str(self.message)

    def __reduce__(self) -> tuple[Callable[..., IllegalTransform], tuple[object, ...]]:
        """What another process gets: the words."""
        return _said, (self.op, self.what, self.message, self.alternative)


def refusal(
    op: Op,
    what: str,
    reason: str | Callable[[], Reason],
    alternative: str | Proposal = "",
    *,
    candidates: Iterable[Proposal] = (),
) -> IllegalTransform:
    """The error that says what cannot be done to an operation, and why, where that is no dependence."""
    return IllegalTransform(op, what, reason, alternative, candidates=candidates)


def _said(op: Op, what: str, message: Message, alternative: str) -> IllegalTransform:
    return IllegalTransform(op, what, "", alternative, message=message)
