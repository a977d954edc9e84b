"""Makes a program on which a step fails small: one operation after the other is left out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.traverse import rewrite, walk
from passes.legality.refusal import IllegalTransform
from tests.transformations.check import Failure, difference
from tests.transformations.primitives import PRIMITIVES, Chosen, Setting
from tests.transformations.subjects import Subject, subject


def reduced(failure: Failure, seconds: float = 60) -> str:
    """The smallest program that was found on which the same primitive fails in the same way, as text."""
    given = subject(failure.seed)
    end = time.monotonic() + seconds
    if failing(given, failure) is None:
        return "(it does not fail any more, or in the validator only)"
    again = True
    while again and time.monotonic() < end:
        again = False
        for smaller in _smaller(given):
            if failing(smaller, failure) is not None:
                given, again = smaller, True
                break
            if time.monotonic() > end:
                break
    return f"{failing(given, failure)}\n{given.module}"


def failing(given: Subject, failure: Failure) -> Chosen | None:
    """For which loops a primitive fails as before, with the same other numbers."""
    primitive, (loops, numbers) = PRIMITIVES[failure.primitive], failure.chosen
    at = Setting(given.function, given.module, given.is_integer)
    count = len(at.loops)
    try:
        if any(isinstance(outcome[0], str) for outcome in given.expected if outcome):
            return None
    except Exception:  # noqa: BLE001  the program has no meaning any more
        return None
    for first in range(count - len(loops) + 1) if loops else (0,):
        chosen = (tuple(range(first, first + len(loops))), numbers)
        try:
            made = given.with_function(primitive.apply(at, *chosen))
        except IllegalTransform:
            continue
        except Exception as problem:  # noqa: BLE001  whatever is raised is what was looked for
            if f"raised {type(problem).__name__}" in failure.kind:
                return chosen
            continue
        if failure.kind == "another result" and difference(given, made):
            return chosen
    return None


def _smaller(given: Subject) -> Iterator[Subject]:
    """The program without one of its operations, or with a loop or condition replaced by nothing but its body."""
    used = {v for op in walk(given.function) for v in op.mentions()}
    for op in list(walk(given.function))[1:]:
        if op.is_terminator or any(v in used for v in op.defines()):
            continue
        for new in ((), op.then) if isinstance(op, affine.If) and not op.results else ((),):
            made = _without(given, op, new)
            if made is not None:
                yield made


def _without(given: Subject, op: Op, new: tuple[Op, ...]) -> Subject | None:
    function: func.Func = rewrite(given.function, lambda each: new if each is op else None)
    if function is given.function:
        return None  # what is inside of it has changed meanwhile
    try:
        return replace(given, module=given.with_function(function))
    except AffdslError:
        return None
