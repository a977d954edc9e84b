"""Runs a function of two programs on small sizes, and says for which call they do something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.ir.interpreter import Argument, Order
from affdsl.ir.types import MemRefType
from passes.validation.claims import Answer
from passes.validation.inputs import (
    SIZES,
    Elements,
    NoArgumentsError,
    Recipe,
    arguments,
    depends_on_sizes,
    only_sizes,
    sizes_for,
)
from passes.validation.outcome import Fresh, Outcome, Subject, TooLongError, combined, difference
from passes.validation.report import Checked, Failure

MOST_ITERATIONS = 150_000
"""For so many iterations of loops a function of the program before runs, in all runs together."""
FIRST_RUN = 1_500_000
"""So many the first run may take, where no small sizes can be chosen."""
SLOWER = 50
"""So many times as many iterations as the program before, and the number below more, a run after may take."""
AT_LEAST = 200_000
_MIXED = 8
_ROUNDS = 30
_TRIES, _ENOUGH = 40, 10
_RACES = 3
MOST_GIVEN = 1_000
"""No symbol is larger because a proof failed there."""
_UNKNOWN = "the interpreter does not know"
_RACY = "what it does depends on the order of its parallel iterations"


class Trial:
    """One function of both programs, run on one set of arguments after the other."""

    def __init__(
        self,
        function: Func,
        before: Subject,
        after: Subject,
        answer: Answer,
        *,
        reassociated: bool,
        seed: int,
        most_iterations: int,
    ) -> None:
        self.function, self.before, self.after = function, before, after
        self.exact = not (reassociated or before.rounds_bands)
        self.answer = answer
        self.seed = seed
        self.most_iterations = most_iterations
        self.roomy = only_sizes(function, {f.symbol: f for f in before.module.functions})
        self.runs = 0
        self.start = before.iterations

    def checked(self) -> Checked:
        """What all runs show."""
        reasons: Counter[str] = Counter()
        try:
            for recipe in self.recipes():
                for slack in _slacks(self.function, self.roomy, recipe):
                    if self.room <= 0:
                        break
                    found = self.attempt(replace(recipe, slack=slack))
                    if isinstance(found, Failure):
                        return Checked(self.function.symbol, self.runs, found, answer=self.answer)
                    if found is None:
                        break
                    reasons[found] += 1
                if not self.runs and reasons[_RACY] > _RACES:
                    break
        except NoArgumentsError as problem:
            reasons[str(problem)] += 1
        if self.runs:
            return Checked(self.function.symbol, self.runs, answer=self.answer)
        why = max(reasons, key=reasons.__getitem__, default="no arguments keep its contract")
        return Checked(self.function.symbol, unchecked=why, answer=self.answer)

    @property
    def room(self) -> int:
        """How many iterations the program before may still run for."""
        return (self.most_iterations if self.runs else FIRST_RUN) - (self.before.iterations - self.start)

    def recipes(self) -> Iterator[Recipe]:
        """How arguments are made, one set after the other: first those with which a proof failed."""
        elements: Elements = "plain" if self.exact else "whole"
        for numbers in dict.fromkeys(tuple(sorted(sizes.items())) for sizes in self.answer.sizes):
            given = tuple((name, n) for name, n in numbers if abs(n) <= MOST_GIVEN)
            if given:
                yield Recipe(max(n for _, n in given), elements=elements, seed=self.seed, given=given)
        if depends_on_sizes(self.function):
            sizes = sizes_for(self.before.module, self.after.module)
            chosen = [(size, False) for size in sizes]
            chosen += [(size, True) for size in sorted(sizes, key=lambda n: abs(n - 9))[:_MIXED]]
        else:
            chosen = [(SIZES[0], False)] * _ROUNDS
        for k, (size, mixed) in enumerate(chosen):
            elements = "whole" if not self.exact else "special" if k % 3 == 2 else "plain"
            yield Recipe(size, mixed=mixed, elements=elements, seed=self.seed + k)
        for k in range(_TRIES if depends_on_sizes(self.function) else 0):
            if self.runs >= _ENOUGH:
                break
            yield Recipe(8, mixed=True, elements="plain" if self.exact else "whole", seed=self.seed + k)

    def attempt(self, recipe: Recipe) -> Failure | str | None:
        """None where both programs do the same; why the run has no meaning; or what differs."""
        given = arguments(self.function, recipe, self.roomy)
        if given is None:
            return f"its contract allows no size {recipe.size}"
        start = self.before.iterations
        fresh: Fresh = "poison"
        try:
            expected = self.call(given, "forward", "error")
            if expected.error:
                # It may be that it only copies elements that nobody wrote.
                fresh, why = "low", expected.error
                expected = combined(self.call(given, "forward", "low"), self.call(given, "forward", "high"))
                if expected.error:
                    return why
            for order in self.before.orders[1:]:
                if difference(expected, self.call(given, order, fresh), exact=self.exact):
                    return _RACY
        except TooLongError as problem:
            return str(problem)
        limit = SLOWER * (self.before.iterations - start) + AT_LEAST
        for order in self.after.orders:
            try:
                # An element that nobody wrote may be copied, as a whole tile is; it must not show.
                found = self.after.call(self.function.symbol, given, order, limit, fresh)
                what = difference(expected, found, exact=self.exact)
            except TooLongError as problem:
                what, found = str(problem), Outcome(error=str(problem))
            if _UNKNOWN in found.error:
                return found.error
            if what is not None:
                return Failure(self.function, what, given, order, expected, found, self.exact, fresh)
        self.runs += 1
        return None

    def call(self, given: Sequence[Argument], order: Order, fresh: Fresh) -> Outcome:
        """A run of the program before."""
        return self.before.call(self.function.symbol, given, order, self.room, fresh)


def _slacks(function: Func, roomy: frozenset[Value], recipe: Recipe) -> tuple[int, ...]:
    """How much larger than the counters unknown sizes are: from tight to ample."""
    free = bool(roomy) or any(
        isinstance(a.type, MemRefType) and None in a.type.shape and not (function.shapes and function.shapes[k])
        for k, a in enumerate(function.args)
    )
    return (0, 2, abs(recipe.size) + 4, 4 * abs(recipe.size) + 16) if free else (0,)
