"""Checks that what passes made of a program does what the program did, by running both on small sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from affdsl.ir.core import Op
from affdsl.ir.dialects import memref
from affdsl.ir.dialects.func import Call, Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.interpreter import Argument, Order
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, IndexType, IntegerType, MemRefType
from passes.validation.inputs import (
    SIZES,
    Elements,
    NoArgumentsError,
    Recipe,
    arguments,
    depends_on_sizes,
    names_of,
    only_sizes,
    sizes_for,
)
from passes.validation.outcome import Fresh, Outcome, Subject, TooLongError, combined, difference

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
_UNKNOWN = "the interpreter does not know"
_RACY = "what it does depends on the order of its parallel iterations"


@dataclass(frozen=True, eq=False)
class Failure:
    """A call for which the program after does something else than the program before.

    Attributes
    ----------
    function
        The function before that is called, and which call it is.
    given
        The arguments.
    order
        In which order the iterations of parallel bands ran.
    what
        What differs, in words.
    expected, found
        What the call left before and after.
    exact
        Whether all bits are asked for.
    fresh
        What was in new buffers.
    """

    function: Func
    what: str
    given: tuple[Argument, ...] = ()
    order: Order = "forward"
    expected: Outcome = field(default_factory=Outcome)
    found: Outcome = field(default_factory=Outcome)
    exact: bool = True
    fresh: Fresh = "poison"

    @property
    def call(self) -> str:
        """The call, with the numbers and the sizes of arrays: f(n = 3, A: 3x3)."""
        parts = [
            f"{name}: {'x'.join(map(str, g.shape)) or 'one element'}" if isinstance(g, np.ndarray) else f"{name} = {g}"
            for name, g in zip(names_of(self.function), self.given, strict=False)
        ]
        return f"{self.function.symbol}({', '.join(parts)})"

    def __str__(self) -> str:
        order = "" if self.order == "forward" else f", parallel iterations in {self.order} order"
        return f"{self.call}{order}: {self.what}"


@dataclass(frozen=True, eq=False)
class Checked:
    """One function: in how many runs both programs did the same, where they did not, and why it was not checked."""

    symbol: str
    runs: int = 0
    failure: Failure | None = None
    unchecked: str = ""

    def __str__(self) -> str:
        if self.failure is not None:
            return str(self.failure)
        return f"@{self.symbol}: " + (f"not checked: {self.unchecked}" if self.unchecked else f"{self.runs} runs agree")


@dataclass(frozen=True, eq=False)
class Report:
    """What was found about each function."""

    functions: tuple[Checked, ...]

    @property
    def failure(self) -> Failure | None:
        """The first difference that was found."""
        return next((each.failure for each in self.functions if each.failure is not None), None)

    @property
    def unchecked(self) -> tuple[Checked, ...]:
        """The functions of which nothing is known: nothing that they can be given has a meaning."""
        return tuple(each for each in self.functions if each.unchecked)

    def __str__(self) -> str:
        return "\n".join(map(str, self.functions))


def validate(
    before: Module, after: Module, *, reassociated: bool = False, seed: int = 0, most_iterations: int = MOST_ITERATIONS
) -> Report:
    """Whether each function that others can call does after what it did before, on sizes around those that go wrong.

    Both are run by the interpreter: on 0, 1, primes, and the neighbours of the steps of loops; on arrays of random
    elements, among them infinities, NaN and zeros of both signs; the iterations of parallel bands in three orders.
    What the program before does to such arguments must have a meaning: no index is out of bounds, and no result depends
    on the order of parallel iterations. Then what both leave must be the same to the last bit, but for elements that
    are copies of what nobody wrote.

    Parameters
    ----------
    before, after
        Modules that the verifier accepts.
    reassociated
        Whether sums and products of floats may have been made in another order: they are then compared on small whole
        numbers, and up to rounding. It is so anyway where the program before has such reductions in parallel bands.
    seed
        Of the elements.
    most_iterations
        For so many iterations of loops each function of the program before runs, in all runs together.

    >>> from affdsl.mlir.readers import parse
    >>> text = '''func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
    ...     affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xf32> }
    ...     return
    ... }'''
    >>> print(validate(parse(text), parse(text.replace("0 to", "1 to"))))  # doctest: +ELLIPSIS
    f(A: 3, x = ..., n = 3): A[0] is ... instead of ...
    """
    trials = partial(_Trial, reassociated=reassociated, seed=seed, most_iterations=most_iterations)
    return Report(tuple(_modules(before, after, trials)))


def still_fails(failure: Failure, after: Module) -> str | None:
    """What differs when the call of a failure is made on another module; None if nothing does."""
    symbol = failure.function.symbol
    found = next((f for f in after.functions if f.symbol == symbol and not f.external), None)
    shown = [name for name, *_ in failure.expected.values if name.startswith("@")]
    global_of = {f"@{op.symbol}": op for op in after.body if isinstance(op, memref.Global)}
    if found is None or not _same_arguments(failure.function, found) or not global_of.keys() >= set(shown):
        return failure.what
    subject = Subject(after, [global_of[name] for name in shown])
    try:
        outcome = subject.call(symbol, failure.given, failure.order, FIRST_RUN, failure.fresh)
    except TooLongError as problem:
        return str(problem)
    return difference(failure.expected, outcome, exact=failure.exact)


# --- Below: modules and functions


def _modules(before: Module, after: Module, trial: Callable[[Func, Subject, Subject], _Trial]) -> Iterator[Checked]:
    if before is after:
        return
    after_of = {f.symbol: f for f in after.functions}
    candidates = [f for f in before.functions if not f.external]
    public = [f for f in candidates if not f.private] or candidates
    buffers = _common_buffers(before, after)
    pair = Subject(before, buffers), Subject(after, buffers)
    for function in public:
        new = after_of.get(function.symbol)
        if new is function and not any(True for _ in _calls(function)):
            continue
        if new is None or new.external:
            if not function.private:
                yield Checked(function.symbol, failure=Failure(function, "the function is gone"))
        elif not _same_arguments(function, new):
            yield Checked(function.symbol, unchecked="its arguments or results have other types now")
        else:
            yield trial(function, *pair).checked()
    inner = [op for op in after.body if isinstance(op, Module)]
    for op in before.body:
        if isinstance(op, Module):
            same = next((m for m in inner if m.symbol == op.symbol), None)
            if same is not None:
                yield from _modules(op, same, trial)


def _same_arguments(a: Func, b: Func) -> bool:
    return a.type == b.type


def _calls(function: Func) -> Iterator[Op]:
    return (op for op in walk(function) if isinstance(op, Call))


def _common_buffers(before: Module, after: Module) -> tuple[memref.Global, ...]:
    """The global buffers of both programs that runs may change and that the interpreter can show."""
    kept = {op.symbol: op.type for op in after.body if isinstance(op, memref.Global)}
    return tuple(
        op
        for op in before.body
        if isinstance(op, memref.Global)
        and not (op.constant or op.external)
        and kept.get(op.symbol) == op.type
        and isinstance(op.type.element, IndexType | IntegerType | FloatType)
    )


class _Trial:
    """One function of both programs, run on one set of arguments after the other."""

    def __init__(
        self, function: Func, before: Subject, after: Subject, *, reassociated: bool, seed: int, most_iterations: int
    ) -> None:
        self.function, self.before, self.after = function, before, after
        self.exact = not (reassociated or before.rounds_bands)
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
                        return Checked(self.function.symbol, self.runs, found)
                    if found is None:
                        break
                    reasons[found] += 1
                if not self.runs and reasons[_RACY] > _RACES:
                    break
        except NoArgumentsError as problem:
            reasons[str(problem)] += 1
        if self.runs:
            return Checked(self.function.symbol, self.runs)
        why = max(reasons, key=reasons.__getitem__, default="no arguments keep its contract")
        return Checked(self.function.symbol, unchecked=why)

    @property
    def room(self) -> int:
        """How many iterations the program before may still run for."""
        return (self.most_iterations if self.runs else FIRST_RUN) - (self.before.iterations - self.start)

    def recipes(self) -> Iterator[Recipe]:
        """How arguments are made, one set after the other."""
        if depends_on_sizes(self.function):
            sizes = sizes_for(self.before.module, self.after.module)
            chosen = [(size, False) for size in sizes]
            chosen += [(size, True) for size in sorted(sizes, key=lambda n: abs(n - 9))[:_MIXED]]
        else:
            chosen = [(SIZES[0], False)] * _ROUNDS
        for k, (size, mixed) in enumerate(chosen):
            elements: Elements = "whole" if not self.exact else "special" if k % 3 == 2 else "plain"
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
