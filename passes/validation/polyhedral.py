"""What can be proved of two functions for all sizes: that they do the same, that they do not, or nothing."""

from __future__ import annotations

from affdsl.ir.dialects import memref
from affdsl.ir.dialects.func import Func, Module
from passes.analysis.polyhedral import UnknownError
from passes.validation.claims import Answer
from passes.validation.dataflow import Dataflow
from passes.validation.equivalence import Equivalence
from passes.validation.safety import outside, races, used_after_end

MOST_ACCESSES = 300
"""Functions with more of them are not looked at: each read is asked for all writes."""


def compared(before: Func, after: Func, around: tuple[Module, Module], *, reassociated: bool = False) -> Answer:
    """Whether a function does what another did, for all sizes and all orders of parallel iterations.

    It is read as it stands; nothing is asked of what made it. Both are taken to be within the bounds of their arrays
    as far as the one before is. "races" is an answer that no run can show: iterations of a parallel band of the
    function after touch one element, while the one before has no such band.

    Parameters
    ----------
    around
        The modules in which they stand.
    reassociated
        Whether sums and products of floats may have been made in another order.
    """
    try:
        return _compared(before, after, around, reassociated)
    except UnknownError as error:
        return Answer("unknown", str(error))


def race_of(function: Func, around: Module) -> str | None:
    """Two parallel iterations of a function that certainly touch one element, in words; None if there are none."""
    return next((race.what for race in races(Dataflow(function, around, "")) if race.is_certain), None)


def _compared(before: Func, after: Func, around: tuple[Module, Module], reassociated: bool) -> Answer:
    ours, theirs = Dataflow(before, around[0], "before"), Dataflow(after, around[1], "after")
    for of in (ours, theirs):
        if len(of.of.accesses) > MOST_ACCESSES:
            return Answer("unknown", f"there are more than {MOST_ACCESSES} accesses")
    if (race := next(races(ours), None)) is not None:
        return Answer("unknown", f"before, {race.what}")
    if (race := next(races(theirs), None)) is not None:
        return Answer("races" if race.is_certain else "unknown", race.what)
    why = ours.unknown() or theirs.unknown() or _globals(around)
    if why:
        return Answer("unknown", why)
    if ours.symbols.facts() != theirs.symbols.facts():
        return Answer("unknown", "the functions have other contracts")
    answer = Equivalence(ours, theirs, reassociated).answer()
    if answer.verdict == "proved" and (late := used_after_end(theirs)) is not None:
        return Answer("unknown", late)
    if answer.verdict == "proved" and (beyond := next(outside(ours, theirs), None)) is not None:
        return Answer("unknown", beyond.what, beyond.sizes)
    return answer


def _globals(around: tuple[Module, Module]) -> str:
    """Why global buffers may hold something else at first; empty if they do not."""
    first, second = ({op.symbol: str(op) for op in module.body if isinstance(op, memref.Global)} for module in around)
    changed = [symbol for symbol in first.keys() & second.keys() if first[symbol] != second[symbol]]
    return f"@{changed[0]} is declared in another way" if changed else ""
