"""What can be proved of two functions for all sizes: that they do the same, that they do not, or nothing."""

from __future__ import annotations

from functools import cached_property

from affdsl.ir.dialects import memref
from affdsl.ir.dialects.func import Func, Module
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.proof.claims import Answer
from affdsl.passes.proof.dataflow import Dataflow
from affdsl.passes.proof.equivalence import Equivalence
from affdsl.passes.proof.failing import new_failures
from affdsl.passes.proof.safety import outside, races, used_after_end

MOST_ACCESSES = 300
"""Functions with more of them are not looked at: each read is asked for all writes."""
TOO_LONG = f"there are more than {MOST_ACCESSES} accesses"


class Reference:
    """A function as it was, with which others are compared: what is known of it is found once for all of them."""

    def __init__(self, function: Func, module: Module) -> None:
        self.function = function
        self.module = module

    def compared(self, after: Func, module: Module, *, reassociated: bool = False) -> Answer:
        """Whether a function does what this one did, for all sizes and all orders of parallel iterations.

        It is read as it stands; nothing is asked of what made it. Both are taken to be within the bounds of their
        arrays as far as the one before is. "races" is an answer that no run can show: iterations of a parallel band of
        the function after touch one element, while the one before has no such band.

        Parameters
        ----------
        module
            In which the function after stands.
        reassociated
            Whether sums and products of floats may have been made in another order.
        """
        try:
            return self._compared(after, module, reassociated)
        except UnknownError as error:
            return Answer("unknown", str(error))

    def _compared(self, after: Func, module: Module, reassociated: bool) -> Answer:
        if self._obstacle:
            return Answer("unknown", self._obstacle)
        ours, theirs = self._dataflow, Dataflow(after, module, "after")
        if _is_too_long(theirs):
            return Answer("unknown", TOO_LONG)
        if (race := next(races(theirs), None)) is not None:
            return Answer("races" if race.is_certain else "unknown", race.what)
        why = ours.unknown() or theirs.unknown() or _globals(self.module, module)
        if why:
            return Answer("unknown", why)
        if ours.symbols.facts() != theirs.symbols.facts():
            return Answer("unknown", "the functions have other contracts")
        if _other_sizes(ours, theirs) is not None:
            theirs = Dataflow(after, module, "after", like=ours)
        if _other_sizes(ours, theirs) is not None:
            ours = Dataflow(self.function, self.module, "before", like=theirs)
        if hidden := ours.unknown() or theirs.unknown() or _other_sizes(ours, theirs):
            return Answer("unknown", hidden)
        answer = Equivalence(ours, theirs, reassociated).answer()
        if answer.verdict == "proved" and (late := used_after_end(theirs)) is not None:
            return Answer("unknown", late)
        if (
            answer.verdict == "proved"
            and (failing := next(new_failures(self.function, theirs.accesses), None)) is not None
        ):
            return Answer("unknown", failing)
        if answer.verdict == "proved" and (beyond := next(outside(ours, theirs), None)) is not None:
            return Answer("unknown", beyond.what, beyond.sizes)
        return answer

    @cached_property
    def _dataflow(self) -> Dataflow:
        return Dataflow(self.function, self.module, "before")

    @cached_property
    def _obstacle(self) -> str:
        """Why nothing that is compared with this function can be called the same, or a race; empty if it can be."""
        if _is_too_long(self._dataflow):
            return TOO_LONG
        race = next(races(self._dataflow), None)
        return "" if race is None else f"before, {race.what}"


def race_of(function: Func, around: Module) -> str | None:
    """Two parallel iterations of a function that certainly touch one element, in words; None if there are none."""
    return next((race.what for race in races(Dataflow(function, around, "")) if race.is_certain), None)


def _is_too_long(of: Dataflow) -> bool:
    return len(of.accesses.all) > MOST_ACCESSES


def _other_sizes(before: Dataflow, after: Dataflow) -> str | None:
    """Why elements of a buffer cannot be compared: it is divided into other rows; None if that is nowhere so."""
    ours, theirs = before.outputs, after.outputs
    for key in ours.keys() & theirs.keys():
        if before.sizes(ours[key]) != after.sizes(theirs[key]):
            return f"the subscripts of {ours[key].name} are divided by other sizes"
    return None


def _globals(*modules: Module) -> str:
    """Why global buffers may hold something else at first in one of two modules; empty if they do not."""
    first, second = ({op.symbol: str(op) for op in module.body if isinstance(op, memref.Global)} for module in modules)
    changed = [symbol for symbol in first.keys() & second.keys() if first[symbol] != second[symbol]]
    return f"@{changed[0]} is declared in another way" if changed else ""
