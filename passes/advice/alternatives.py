"""The nearest legal thing to what is refused: each candidate is done for real before it is named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from itertools import islice

from affdsl.ir.dialects.func import Func
from affdsl.passes.advice.verbs import done
from affdsl.passes.analysis.dependence import Dependence
from affdsl.passes.legality.proposals import Proposal, Request, Step
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.legality.require import MOST_TRIES

MOST_PRIVATE = 4
"""How many buffers a refusal proposes to privatize."""
_is_wanted: ContextVar[bool] = ContextVar("_is_wanted", default=True)


@contextmanager
def without_alternatives() -> Iterator[None]:
    """Refusals say only why: to look for what is legal instead takes longer than a step, and no program reads it."""
    token = _is_wanted.set(False)
    try:
        yield
    finally:
        _is_wanted.reset(token)


def alternatives_are_wanted() -> bool:
    """Whether refusals are to say what is legal instead."""
    return _is_wanted.get()


def with_alternative(error: IllegalTransform) -> IllegalTransform:
    """The refusal of a request with the first candidate that can be done, and the request after it.

    Where a dependence through a local buffer is in the way, that is what makes the buffer private, or expands it, if
    that helps. The refusal itself where nothing does.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9x9xf32>) {
    ...   affine.for %i = 1 to 9 {
    ...     affine.for %j = 0 to 8 {
    ...       %a = affine.load %A[%i - 1, %j + 1] : memref<9x9xf32>
    ...       affine.store %a, %A[%i, %j] : memref<9x9xf32>
    ...     }
    ...   }
    ...   return
    ... }''').functions[0]
    >>> i, j = f.body[0].iv, f.body[0].body[0].iv
    >>> try:
    ...     done(Request(Step("interchange", (i, j)), f))
    ... except IllegalTransform as error:
    ...     print(with_alternative(error).alternative)
    skew(func, i, j, 1) first
    """
    if error.request is None or error.alternative or not _is_wanted.get():
        return error
    own = _own_buffers(error.request, error.dependence) if error.violation is not None else None
    found = own or first_legal(error.request, error.candidates)
    return error if found is None else error.instead(found)


def first_legal(request: Request, candidates: Iterable[Proposal]) -> Proposal | None:
    """The first of some candidates that can be done, and the request after it; None if there is none."""
    return next((each for each in islice(candidates, MOST_TRIES) if each.is_tried or _holds(request, each)), None)


def _holds(request: Request, proposal: Proposal) -> bool:
    try:
        function = after_steps(request, proposal)
        if proposal.asks_again:
            done(_again(request, function, proposal))
    except IllegalTransform:
        return False
    return True


def after_steps(request: Request, proposal: Proposal) -> Func:
    """The function after the steps of a proposal. Raises IllegalTransform."""
    function = proposal.before(request.function)
    for step in proposal.steps:
        function = done(Request(step, function, request.module))
    return function


def _again(request: Request, function: Func, proposal: Proposal) -> Request:
    """What was asked for, of another function, with the options of a proposal."""
    options = tuple({**dict(request.step.options), **dict(proposal.options)}.items())
    return Request(replace(request.step, options=options), function, request.module)


def _own_buffers(request: Request, dependence: Dependence | None) -> Proposal | None:
    """Which local buffers to privatize, or to expand, so that a request is legal; None where that does not help."""
    steps: list[Step] = []
    function = request.function
    while dependence is not None and dependence.source.buffer.kind == "local" and len(steps) < MOST_PRIVATE:
        root = dependence.source.buffer.root
        inside = dependence.source.ivs[: len(dependence.distances)]
        dependence = None
        for step in (Step(verb, (root, iv)) for verb in ("privatize", "expand") for iv in reversed(inside)):
            try:
                changed = done(Request(step, function, request.module))
            except IllegalTransform:
                continue
            try:
                done(Request(request.step, changed, request.module))
            except IllegalTransform as refused:
                left = refused.violation.dependence if refused.violation is not None else None
            else:
                return Proposal((*steps, step))
            if left is not None and left.source.buffer.root is not root:
                function, dependence = changed, left
                steps.append(step)
                break
    return None
