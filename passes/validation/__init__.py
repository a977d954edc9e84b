"""Checks that what passes made of a program does what the program did.

It is proved for all sizes where both are affine (`polyhedral`); otherwise both are run on small ones (`execution`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

from affdsl.frozen import FrozenValue
from affdsl.ir.dialects import memref
from affdsl.ir.dialects.func import Call, Func, Module
from affdsl.ir.dialects.opaque import Opaque, symbol_of
from affdsl.ir.traverse import walk
from affdsl.ir.types import NumberType
from affdsl.passes.proof.claims import NOT_ASKED
from affdsl.passes.proof.polyhedral import Reference, race_of
from affdsl.passes.validation.execution import FIRST_RUN, MOST_ITERATIONS, Original, Trial
from affdsl.passes.validation.outcome import Subject, TooLongError, difference
from affdsl.passes.validation.report import Checked, Failure, Report
from affdsl.progress import progress

__all__ = ["Checked", "Failure", "Report", "Validator", "still_fails", "validate"]

Half = Literal["polyhedral", "execution"]
HIDDEN = "others can no longer call the function: it is private"
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
    validator = Validator(before, seed=seed, most_iterations=most_iterations, halves=halves)
    return validator.validate(after, reassociated=reassociated)


class Validator:
    """A module, with which several others are compared one after the other: what is found out of it is kept.

    The parameters are those of `validate`, and so is what is found.

    >>> from affdsl.mlir.readers import parse
    >>> text = "func.func @f(%x: f32) -> f32 {{ %y = arith.addf %x, {} : f32 return %y : f32 }}"
    >>> validator = Validator(parse(text.format("%x")))
    >>> print(validator.validate(parse(text.format("%x"))))
    @f: proved for all sizes
    """

    def __init__(
        self,
        before: Module,
        *,
        seed: int = 0,
        most_iterations: int = MOST_ITERATIONS,
        halves: Collection[Half] = HALVES,
    ) -> None:
        self.before = before
        self._plan = _Checks(seed, most_iterations, tuple(halves))
        self._sides: dict[Module, _Side] = {}

    def validate(self, after: Module, *, reassociated: bool = False) -> Report:
        """Whether each function that others can call does in another module what it does in this one."""
        return Report(tuple(self._modules(self.before, after, reassociated)))

    def _modules(self, before: Module, after: Module, reassociated: bool) -> Iterator[Checked]:
        if before is after:
            return
        side = self._sides.setdefault(before, _Side(before))
        for function, new in _pairs(before, after):
            if new is None or new.external:
                if not function.private:
                    yield Checked(function.symbol, failure=Failure(function, "the function is gone"))
            elif new.private and not function.private:
                yield Checked(function.symbol, failure=Failure(function, HIDDEN))
            elif not _same_arguments(function, new):
                yield Checked(function.symbol, unchecked="its arguments or results have other types now")
            else:
                yield self._plan.checked(function, new, side, after, reassociated)
        shown = {op.symbol for op in after.body if isinstance(op, memref.Global) and not op.private}
        for op in before.body:
            if isinstance(op, memref.Global) and not op.private and op.symbol not in shown:
                yield Checked(op.symbol, unchecked="others can no longer reach the global buffer")
        for opaque in _changed_opaque(before, after):
            reason = f"it changed, and a {opaque.kind} of this form can be neither compared nor run"
            yield Checked(symbol_of(opaque) or opaque.kind, unchecked=reason)
        inner = [op for op in after.body if isinstance(op, Module)]
        for op in before.body:
            if isinstance(op, Module):
                same = next((m for m in inner if m.symbol == op.symbol), Module(()))
                inner = [m for m in inner if m is not same]  # several may have no name: they stay in their order
                yield from self._modules(op, same, reassociated)


def still_fails(failure: Failure, after: Module) -> str | None:
    """What differs when the call of a failure is made on another module, or what races there; None if nothing does."""
    symbol = failure.function.symbol
    found = next((f for f in after.functions if f.symbol == symbol and not f.external), None)
    shown = [name for name, *_ in failure.expected.values if name.startswith("@")]
    global_of = {f"@{op.symbol}": op for op in after.body if isinstance(op, memref.Global)}
    if found is None or not _same_arguments(failure.function, found) or not global_of.keys() >= set(shown):
        return failure.what
    if found.private and not failure.function.private:
        return HIDDEN
    if failure.is_race:
        return race_of(found, after)
    subject = Subject(after, [global_of[name] for name in shown])
    try:
        outcome = subject.call(symbol, failure.given, failure.order, FIRST_RUN, failure.fresh)
    except TooLongError as problem:
        return str(problem)
    return difference(failure.expected, outcome, exact=failure.exact)


class _Side:
    """The module before: its functions as they are compared, and as they are run."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._references: dict[Func, Reference] = {}
        self._subjects: dict[tuple[memref.Global, ...], Original] = {}

    def reference(self, function: Func) -> Reference:
        """A function of it as it is compared."""
        if function not in self._references:
            self._references[function] = Reference(function, self.module)
        return self._references[function]

    def subjects(self, after: Module) -> tuple[Original, Subject]:
        """Both modules as they are run."""
        buffers = _common_buffers(self.module, after)
        if buffers not in self._subjects:
            self._subjects[buffers] = Original(self.module, buffers)
        return self._subjects[buffers], Subject(after, buffers)


class _Checks(FrozenValue):
    """How functions are checked."""

    seed: int
    most_iterations: int
    halves: tuple[Half, ...]

    def checked(self, function: Func, new: Func, before: _Side, after: Module, reassociated: bool) -> Checked:
        """One function, as it was and as it is."""
        with progress(f"validating {function.symbol}") as bar:
            answer = NOT_ASKED
            if "polyhedral" in self.halves:
                bar.at("a proof for all sizes")
                answer = before.reference(function).compared(new, after, reassociated=reassociated)
            if answer.verdict == "proved":
                return Checked(function.symbol, answer=answer)
            if answer.verdict == "races":
                return Checked(function.symbol, failure=Failure(function, answer.why, is_race=True), answer=answer)
            if "execution" not in self.halves:
                return Checked(function.symbol, unchecked=answer.why, answer=answer)
            trial = Trial(
                function, *before.subjects(after), answer,
                reassociated=reassociated, seed=self.seed, most_iterations=self.most_iterations,
            )  # fmt: skip
            return trial.checked(bar)


def _pairs(before: Module, after: Module) -> Iterator[tuple[Func, Func | None]]:
    """The functions that others can call, each with the one of its name after, but those that stayed as they are."""
    after_of = {f.symbol: f for f in after.functions}
    candidates = [f for f in before.functions if not f.external]
    for function in [f for f in candidates if not f.private] or candidates:
        new = after_of.get(function.symbol)
        if new is not function or _reaches_out(function):
            yield function, new


def _changed_opaque(before: Module, after: Module) -> Iterator[Opaque]:
    """What the IR has no class for and is not what it was, as functions that jump between blocks."""
    of_both = [[op for op in module.body if isinstance(op, Opaque)] for module in (before, after)]
    if of_both[0] != of_both[1]:
        there = set(map(str, of_both[1]))
        yield from (op for op in of_both[0] if str(op) not in there)


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
        and isinstance(op.type.element, NumberType)
    )
