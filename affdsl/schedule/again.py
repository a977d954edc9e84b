"""Steps taken again: a search that comes back to a program knows already what becomes of it after a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.schedule.history import Entry
from affdsl.schedule.verbs import VerbCall

_Found = Sequence[Entry] | IllegalTransform
_known: ContextVar[dict[tuple[int, str], tuple[Entry, _Found]] | None] = ContextVar("_known", default=None)


@contextmanager
def remembering() -> Iterator[None]:
    """Keep what becomes of each step meanwhile, for all copies of a schedule that take it after the same program."""
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def once(done: Callable[[VerbCall, Entry], Sequence[Entry]], call: VerbCall, now: Entry) -> Sequence[Entry]:
    """What `done` makes of a step after another, or its refusal: found once for both while steps are remembered."""
    known = _known.get()
    if known is None:
        return done(call, now)
    key = id(now), call.text  # what is kept keeps the program, and with that its number
    if key not in known:
        found: _Found
        try:
            found = done(call, now)
        except IllegalTransform as refusal:
            found = refusal
        known[key] = now, found
    _, found = known[key]
    if isinstance(found, IllegalTransform):
        raise found.with_traceback(None)
    return found
