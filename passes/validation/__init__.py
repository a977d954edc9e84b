"""Checks that what passes made of a program does what the program did.

It is proved for all sizes where both are affine (`polyhedral`); otherwise both are run on small ones (`execution`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from affdsl.ir.dialects import memref
from affdsl.ir.dialects.func import Call, Func, Module
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, IndexType, IntegerType
from passes.validation.claims import NOT_ASKED
from passes.validation.execution import FIRST_RUN, MOST_ITERATIONS, Trial
from passes.validation.outcome import Subject, TooLongError, difference
from passes.validation.polyhedral import compared, race_of
from passes.validation.report import Checked, Failure, Report

__all__ = ["Checked", "Failure", "Report", "still_fails", "validate"]

Half = Literal["polyhedral", "execution"]
HALVES: tuple[Half, ...] = ("polyhedral", "execution")


def validate(
    before: Module,
    after: Module,
    *,
    reassociated: bool = False,
    seed: int = 0,
    most_iterations: int = MOST_ITERATIONS,
    halves: Collection[Half] = HALVES,
) -> Report:
    """Whether each function that others can call does after what it did before.

    First it is tried to prove it, for all sizes: the loops after are read as they stand, and every value that is left
    must come from the same values by the same operations; every access must be within bounds; and no two iterations of
    a parallel band may touch one element, unless they only read it.

    Where that is not proved, both are run by the interpreter: on the sizes with which the proof failed, 0, 1, primes,
    and the neighbours of the steps of loops; on arrays of random elements, among them infinities, NaN and zeros of both
    signs; the iterations of parallel bands in three orders. What the program before does to such arguments must have a
    meaning: no index is out of bounds, and no result depends on the order of parallel iterations. Then what both leave
    must be the same to the last bit, but for elements that are copies of what nobody wrote. A difference that was
    proved counts only if a run shows it: x + 0 is no other value than x, though it is computed in another way.

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
    halves
        Whether to prove, to run, or both.

    >>> from affdsl.mlir.readers import parse
    >>> text = '''func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
    ...     affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xf32> }
    ...     return
    ... }'''
    >>> print(validate(parse(text), parse(text.replace("0 to", "1 to"))))  # doctest: +ELLIPSIS
    f(A: 1, x = ..., n = 1): A[0] is ... instead of ...
    >>> print(validate(parse(text), parse(text.replace("%i", "%k"))))
    @f: proved for all sizes
    """
    return Report(tuple(_modules(before, after, _Plan(reassociated, seed, most_iterations, tuple(halves)))))


def still_fails(failure: Failure, after: Module) -> str | None:
    """What differs when the call of a failure is made on another module, or what races there; None if nothing does."""
    symbol = failure.function.symbol
    found = next((f for f in after.functions if f.symbol == symbol and not f.external), None)
    shown = [name for name, *_ in failure.expected.values if name.startswith("@")]
    global_of = {f"@{op.symbol}": op for op in after.body if isinstance(op, memref.Global)}
    if found is None or not _same_arguments(failure.function, found) or not global_of.keys() >= set(shown):
        return failure.what
    if failure.is_race:
        return race_of(found, after)
    subject = Subject(after, [global_of[name] for name in shown])
    try:
        outcome = subject.call(symbol, failure.given, failure.order, FIRST_RUN, failure.fresh)
    except TooLongError as problem:
        return str(problem)
    return difference(failure.expected, outcome, exact=failure.exact)


# --- Below: modules and functions


@dataclass(frozen=True)
class _Plan:
    """How functions are checked."""

    reassociated: bool
    seed: int
    most_iterations: int
    halves: tuple[Half, ...]

    def checked(self, before: Func, after: Func, pair: _Pair) -> Checked:
        """One function, of which both modules are given."""
        answer = NOT_ASKED
        if "polyhedral" in self.halves:
            answer = compared(before, after, pair.modules, reassociated=self.reassociated)
        if answer.verdict == "proved":
            return Checked(before.symbol, answer=answer)
        if answer.verdict == "races":
            return Checked(before.symbol, failure=Failure(before, answer.why, is_race=True), answer=answer)
        if "execution" not in self.halves:
            return Checked(before.symbol, unchecked=answer.why, answer=answer)
        trial = Trial(
            before, *pair.subjects, answer,
            reassociated=self.reassociated, seed=self.seed, most_iterations=self.most_iterations,
        )  # fmt: skip
        return trial.checked()


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two modules."""

    modules: tuple[Module, Module]

    @cached_property
    def subjects(self) -> tuple[Subject, Subject]:
        """They as they are run."""
        buffers = _common_buffers(*self.modules)
        return Subject(self.modules[0], buffers), Subject(self.modules[1], buffers)


def _modules(before: Module, after: Module, plan: _Plan) -> Iterator[Checked]:
    if before is after:
        return
    after_of = {f.symbol: f for f in after.functions}
    candidates = [f for f in before.functions if not f.external]
    public = [f for f in candidates if not f.private] or candidates
    pair = _Pair((before, after))
    for function in public:
        new = after_of.get(function.symbol)
        if new is function and not _reaches_out(function):
            continue
        if new is None or new.external:
            if not function.private:
                yield Checked(function.symbol, failure=Failure(function, "the function is gone"))
        elif not _same_arguments(function, new):
            yield Checked(function.symbol, unchecked="its arguments or results have other types now")
        else:
            yield plan.checked(function, new, pair)
    inner = [op for op in after.body if isinstance(op, Module)]
    for op in before.body:
        if isinstance(op, Module):
            same = next((m for m in inner if m.symbol == op.symbol), None)
            if same is not None:
                yield from _modules(op, same, plan)


def _same_arguments(a: Func, b: Func) -> bool:
    return a.type == b.type


def _reaches_out(function: Func) -> bool:
    """Whether what a function does depends on other operations of its module."""
    return any(isinstance(op, Call | memref.GetGlobal) for op in walk(function))


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
