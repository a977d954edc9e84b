"""Runs a function of two programs on small sizes, and says for which call they do something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from affdsl.frozen import Frozen
from affdsl.ir.dialects import memref
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.interpreter import Argument, Order
from affdsl.ir.types import MemRefType
from affdsl.passes.proof.claims import Answer
from affdsl.passes.validation.inputs import (
    SIZES,
    Elements,
    NoArgumentsError,
    Recipe,
    arguments,
    depends_on_sizes,
    only_sizes,
    sizes_for,
    symbols_of,
)
from affdsl.passes.validation.outcome import (
    Fresh,
    Outcome,
    Subject,
    TooLongError,
    combined,
    difference,
    iterations_at_least,
    too_long,
)
from affdsl.passes.validation.report import Checked, Failure
from affdsl.passes.validation.unsteady import with_unsteady_open
from affdsl.progress import Progress

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
_ALL = {1: 40, 2: 9, 3: 5}
"""Of so many symbols all numbers below these are tried where nothing else had a meaning."""
_RACES = 3
MOST_GIVEN = 20_000
"""No symbol is larger because a proof failed there."""
_UNKNOWN = "the interpreter does not know"
_RACY = "what it does depends on the order of its parallel iterations"


class Expected(Frozen):
    """What a call of the program before left: `fresh` was in new buffers, and loops ran for so many iterations."""

    given: tuple[Argument, ...]
    outcome: Outcome
    fresh: Fresh
    iterations: int


class Original(Subject):
    """The program before: what it does to arguments is kept for all programs that are compared with it."""

    def __init__(self, module: Module, buffers: Sequence[memref.Global] = ()) -> None:
        super().__init__(module, buffers)
        self._expected: dict[tuple[str, Recipe, bool], tuple[Expected | str, int]] = {}

    def expected(
        self, function: Func, recipe: Recipe, roomy: frozenset[Value], *, exact: bool, limit: int
    ) -> Expected | str:
        """What a call leaves, or why it has no meaning; it counts as run each time."""
        key = function.symbol, recipe, exact
        found = self._expected.get(key)
        if found is not None and found[1] <= limit:
            self.iterations += found[1]
            return found[0]
        start = self.iterations
        try:
            made = self._ran(function, recipe, roomy, exact, limit)
        except TooLongError as problem:
            return str(problem)
        self._expected[key] = made, self.iterations - start
        return made

    def _ran(self, function: Func, recipe: Recipe, roomy: frozenset[Value], exact: bool, limit: int) -> Expected | str:
        given = arguments(function, recipe, roomy)
        if given is None:
            return f"its contract allows no size {recipe.size}"
        start = self.iterations
        if iterations_at_least(function, given) > limit:  # to find that out by a run takes some ten seconds
            self.iterations += limit
            raise TooLongError(too_long(function.symbol, limit))

        def called(order: Order, fresh: Fresh) -> Outcome:
            return self.call(function.symbol, given, order, limit - (self.iterations - start), fresh)

        fresh: Fresh = "poison"
        expected = called("forward", "error")
        if expected.error:
            # It may be that it only copies elements that nobody wrote.
            fresh, why = "low", expected.error
            expected = combined(called("forward", "low"), called("forward", "high"))
            if expected.error:
                return why
        for order in self.orders[1:]:
            if difference(expected, called(order, fresh), exact=exact):
                return _RACY
        return Expected(given, expected, fresh, self.iterations - start)


class Trial:
    """One function of both programs, run on one set of arguments after the other."""

    def __init__(
        self,
        function: Func,
        before: Original,
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
        self.roomy = _only_sizes(function, before.module)
        self.runs = 0
        self.start = before.iterations

    def checked(self, bar: Progress) -> Checked:
        """What all runs show; `bar` says how many there were."""
        reasons: Counter[str] = Counter()
        try:
            for recipe in self.recipes():
                for slack in _slacks(self.function, self.roomy, recipe):
                    if self.room <= 0:
                        break
                    bar.at(f"run {self.runs + 1} on small sizes")
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
        for position in self._newly_read():
            for number in (0, -1, 1):
                given = ((f"arg{position}", number),)
                yield Recipe(8, elements="plain" if self.exact else "whole", seed=self.seed, given=given)
        symbols = symbols_of(self.function)
        if not self.runs and len(symbols) in _ALL:  # it may be that only few sizes have a meaning together
            for point in product(range(_ALL[len(symbols)]), repeat=len(symbols)):
                yield Recipe(
                    max(point), elements="plain" if self.exact else "whole", seed=self.seed,
                    given=tuple(zip(symbols, point, strict=True)),
                )  # fmt: skip

    def _newly_read(self) -> Iterator[int]:
        """The index arguments that the program before does not read, and the one after does."""
        new = next((f for f in self.after.module.functions if f.symbol == self.function.symbol), None)
        if new is not None:
            still = _only_sizes(new, self.after.module)
            pairs = zip(self.function.args, new.args, strict=True)
            yield from (k for k, (old, arg) in enumerate(pairs) if old in self.roomy and arg not in still)

    def attempt(self, recipe: Recipe) -> Failure | str | None:
        """None where both programs do the same; why the run has no meaning; or what differs."""
        expected = self.before.expected(self.function, recipe, self.roomy, exact=self.exact, limit=self.room)
        if not isinstance(expected, Expected):
            return expected
        given, fresh = expected.given, expected.fresh
        limit = SLOWER * expected.iterations + AT_LEAST
        for order in self.after.orders:
            try:
                # An element that nobody wrote may be copied, as a whole tile is; it must not show.
                found = self.after.call(self.function.symbol, given, order, limit, fresh)
                what = difference(expected.outcome, found, exact=self.exact)
                if what is not None and not self.exact and not found.error:
                    what = difference(self._steady(expected), found, exact=False)
            except TooLongError as problem:
                what, found = str(problem), Outcome(error=str(problem))
            if _UNKNOWN in found.error:
                return found.error
            if what is not None:
                return Failure(self.function, what, given, order, expected.outcome, found, self.exact, fresh)
        self.runs += 1
        return None

    def _steady(self, expected: Expected) -> Outcome:
        """What a call left, where what is made of rounding errors alone may be anything."""

        def call(given: Sequence[Argument]) -> Outcome:
            limit = SLOWER * expected.iterations + AT_LEAST
            return self.before.call(self.function.symbol, given, "forward", limit, expected.fresh)

        return with_unsteady_open(expected.outcome, expected.given, call)


def _only_sizes(function: Func, module: Module) -> frozenset[Value]:
    return only_sizes(function, {f.symbol: f for f in module.functions})


def _slacks(function: Func, roomy: frozenset[Value], recipe: Recipe) -> tuple[int, ...]:
    """How much larger than the counters unknown sizes are: from tight to ample."""
    free = bool(roomy) or any(
        isinstance(a.type, MemRefType) and None in a.type.shape and not (function.shapes and function.shapes[k])
        for k, a in enumerate(function.args)
    )
    return (0, 2, abs(recipe.size) + 4, 4 * abs(recipe.size) + 16) if free else (0,)
