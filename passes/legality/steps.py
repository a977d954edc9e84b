"""A transformation as data: the verb of a primitive and its arguments, said in words or done to a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from typing import TypeAlias

from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Constraint, Value
from passes.legality.assumptions import assuming, promised
from passes.legality.words import name

Argument: TypeAlias = "Value | int | str | bool | tuple[Argument, ...]"
"""A loop by its induction variable, a buffer by its memref, or a number; some of them."""

PRIMITIVES: dict[str, str] = {
    "demote": "demote", "distribute": "distribute", "expand": "expand", "interchange": "interchange",
    "make_perfect": "sink",
    "parallelize": "parallelize", "peel": "peel", "permute": "interchange", "privatize": "privatize",
    "reverse": "reverse", "scalar_replace": "scalar_replace.carried", "shift": "shift", "skew": "skew",
    "unroll": "unroll", "unroll_full": "unroll",
}  # fmt: skip
"""The module of `passes.transforms` that has each verb, for those that are proposed: imported where one is done."""


@dataclass(frozen=True)
class Step:
    """One transformation: `verb(func, *arguments, **options)`.

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

    def done_to(self, function: Func, module: Module | None = None) -> Func:
        """The function after the step; `module` is what it stands in, if the primitive asks for that.

        Raises IllegalTransform as the primitive does.
        """
        primitive: Callable[..., Func] = getattr(import_module(f"passes.transforms.{PRIMITIVES[self.verb]}"), self.verb)
        given: dict[str, object] = dict(self.options)
        if "module" in signature(primitive).parameters:
            given["module"] = module
        return primitive(function, *self.arguments, **given)

    def __str__(self) -> str:
        given = (*map(_shown, self.arguments), *(f"{key}={_shown(value)}" for key, value in self.options))
        return f"{self.verb}({', '.join(('func', *given))})"


@dataclass(frozen=True)
class Proposal:
    """What is legal where something else is not: steps before it, other options for it, or steps in its place.

    Attributes
    ----------
    is_shown
        Whether a new order showed that all dependences are kept, so that it need not be asked step by step again.
    assumes
        What the author of the function would have to promise of its arguments, before all else.
    steps
        What is done first, one after the other; or in its place, if it is not asked for again.
    options
        What the request is given by name when it is asked for again, beside or instead of what it was given.
    asks_again
        Whether the request follows.

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
    is_shown: bool = field(default=False, compare=False)

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
