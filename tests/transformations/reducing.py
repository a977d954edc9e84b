"""Makes a program on which a step fails small: one operation after the other is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from affdsl.passes.legality.refusal import IllegalTransform
from tests.harness.minimise import simpler_modules, smallest
from tests.transformations.check import Failure, difference
from tests.transformations.primitives import PRIMITIVES, Chosen, Setting
from tests.transformations.subjects import Subject, subject


def reduced(failure: Failure, seconds: float = 60) -> str:
    """The smallest program that was found on which the same primitive fails in the same way, as text."""
    given = subject(failure.seed)
    if failing(given, failure) is None:
        return "(it does not fail any more, or in the validator only)"

    def smaller(given: Subject) -> Iterator[Subject]:
        return (replace(given, module=module) for module in simpler_modules(given.module, given.symbol))

    given = smallest(given, smaller, lambda each: failing(each, failure) is not None, seconds=seconds)
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
