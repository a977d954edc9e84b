"""What validation found: for each function how it was checked, and the call for which it does something else."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from affdsl.frozen import Frozen
from affdsl.ir.dialects.func import Func
from affdsl.ir.interpreter import Argument, Order
from affdsl.passes.proof.claims import NOT_ASKED, Answer
from affdsl.passes.validation.inputs import names_of
from affdsl.passes.validation.outcome import Fresh, Outcome


class Failure(Frozen):
    """What shows that the program after does something else than the program before: a call, or a race of its own.

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
    is_race
        Whether parallel iterations after touch one element, for all that runs show: then there is no call.
    """

    function: Func
    what: str
    given: tuple[Argument, ...] = ()
    order: Order = "forward"
    expected: Outcome = field(default_factory=Outcome)
    found: Outcome = field(default_factory=Outcome)
    exact: bool = True
    fresh: Fresh = "poison"
    is_race: bool = False

    @property
    def call(self) -> str:
        """The call, with the numbers and the sizes of arrays: f(n = 3, A: 3x3)."""
        parts = [
            f"{name}: {'x'.join(map(str, g.shape)) or 'one element'}" if isinstance(g, np.ndarray) else f"{name} = {g}"
            for name, g in zip(names_of(self.function), self.given, strict=False)
        ]
        return f"{self.function.symbol}({', '.join(parts)})"

    def __str__(self) -> str:
        if self.is_race:
            return f"@{self.function.symbol}: {self.what}"
        order = "" if self.order == "forward" else f", parallel iterations in {self.order} order"
        return f"{self.call}{order}: {self.what}"


class Checked(Frozen):
    """How one function was checked.

    Attributes
    ----------
    symbol
        Its name.
    runs
        In how many runs both programs did the same.
    failure
        Where they did not, or what else is wrong.
    unchecked
        Why nothing is known.
    answer
        What could be proved for all sizes.
    """

    symbol: str
    runs: int = 0
    failure: Failure | None = None
    unchecked: str = ""
    answer: Answer = NOT_ASKED

    @property
    def how(self) -> str:
        """What decided: "polyhedral", "execution", or nothing."""
        if self.answer.verdict in ("proved", "races"):
            return "polyhedral"
        return "execution" if self.runs or self.failure is not None else ""

    def __str__(self) -> str:
        if self.failure is not None:
            return str(self.failure)
        if self.answer.verdict == "proved":
            return f"@{self.symbol}: proved for all sizes"
        why = f"; not proved: {self.answer.why}" if self.answer.why else ""
        return (
            f"@{self.symbol}: {f'not checked: {self.unchecked}' if self.unchecked else f'{self.runs} runs agree'}{why}"
        )


class Report(Frozen):
    """What was found about each function."""

    functions: tuple[Checked, ...]

    @property
    def failure(self) -> Failure | None:
        """The first difference that was found."""
        return None if self.failed is None else self.failed.failure

    @property
    def failed(self) -> Checked | None:
        """The first function with a difference."""
        return next((each for each in self.functions if each.failure is not None), None)

    @property
    def unchecked(self) -> tuple[Checked, ...]:
        """Of what nothing is known: functions that can be given nothing with a meaning, and buffers that are gone."""
        return tuple(each for each in self.functions if each.unchecked)

    def __str__(self) -> str:
        return "\n".join(map(str, self.functions))
