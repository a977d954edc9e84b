"""Transformations as data: a verb with its arguments, and what is legal where something else is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from affdsl.frozen import Frozen, FrozenValue, field
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.passes.legality.assumptions import assuming, promised
from affdsl.passes.legality.words import name

Argument: TypeAlias = "Value | Affine | Constraint | int | str | bool | tuple[Argument, ...] | Mapping[int, int]"
"""A loop by its induction variable, a buffer by its memref, a number, a place; some of them; widths of dimensions."""


class Step(FrozenValue):
    """One transformation: `verb(func, *arguments, **options)`, which `affdsl.passes.advice.verbs` does to a function.

    Values keep their identity from one step to the next, so arguments may be those of a function to which other steps
    were done before.

    Attributes
    ----------
    verb
        The name of a primitive, as "skew".
    arguments
        What it is given after the function: induction variables, memrefs, numbers.
    options
        What it is given by name.

    >>> from affdsl.ir.types import INDEX
    >>> print(Step("skew", (Value(INDEX, "i"), Value(INDEX, "j"), 1)))
    skew(func, i, j, 1)
    """

    verb: str
    arguments: tuple[Argument, ...] = ()
    options: tuple[tuple[str, Argument], ...] = ()

    def __str__(self) -> str:
        given = (*map(_shown, self.arguments), *(f"{key}={_shown(value)}" for key, value in self.options))
        return f"{self.verb}({', '.join(('func', *given))})"


class Request(Frozen):
    """A step that is asked for, the function, and the module that it is part of."""

    step: Step
    function: Func
    module: Module | None = None


class Proposal(FrozenValue):
    """What is legal where something else is not: steps before it, other options for it, or steps in its place.

    Attributes
    ----------
    assumes
        What the author of the function would have to promise of its arguments, before all else.
    steps
        What is done first, one after the other; or in its place, if it is not asked for again.
    options
        What the request is given by name when it is asked for again, beside or instead of what it was given.
    asks_again
        Whether the request follows.
    is_tried
        Whether it is known that all this can be done.

    >>> from affdsl.ir.types import INDEX
    >>> i, j = Value(INDEX, "i"), Value(INDEX, "j")
    >>> print(Proposal((Step("skew", (i, j, 1)),)))
    skew(func, i, j, 1) first
    >>> print(Proposal(options=(("reassociate", True),)))
    the same with reassociate=True
    >>> print(Proposal((Step("parallelize", (j,)),), asks_again=False))
    parallelize(func, j)
    >>> print(Proposal((Step("make_perfect", (i, j)),), assumes=(Constraint(Value(INDEX, "n") - 1),)))
    promise n >= 1 (affdsl.assume), then make_perfect(func, i, j) first
    """

    steps: tuple[Step, ...] = ()
    options: tuple[tuple[str, Argument], ...] = ()
    asks_again: bool = True
    assumes: tuple[Constraint, ...] = ()
    is_tried: bool = field(default=False, compare=False)

    @property
    def promise(self) -> str:
        """What is to be promised, as Python: `N >= 1`; empty if nothing is."""
        return ", ".join(map(promised, self.assumes))

    def before(self, function: Func) -> Func:
        """The function where what is to be promised holds."""
        return assuming(function, self.assumes)

    def __str__(self) -> str:
        steps = " and ".join(map(str, self.steps))
        options = ", ".join(f"{key}={_shown(value)}" for key, value in self.options)
        parts = (
            f"promise {self.promise} (affdsl.assume)" if self.assumes else "",
            f"{steps} first" if steps and self.asks_again else steps,
            f"the same with {options}" if options and self.asks_again else "",
        )
        return ", then ".join(part for part in parts if part)


def _shown(argument: Argument) -> str:
    match argument:
        case Value():
            return name(argument)
        case tuple():
            return f"({', '.join(map(_shown, argument))}{',' if len(argument) == 1 else ''})"
    return repr(argument)
