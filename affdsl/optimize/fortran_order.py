"""Strided arrays in Fortran order: a call with them runs loops in another order, which goes along their memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import FunctionType

import numpy as np

from affdsl.codegen.caller import TakeOver
from affdsl.explained import Note
from affdsl.kernel import Kernel
from affdsl.lang.turned import is_turned, turned
from affdsl.optimize.decision import decide
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import RecipeWarning
from affdsl.progress import progress

IN_FORTRAN_ORDER = Note(
    (),
    "where all strided arrays of a call lie in Fortran order, other loops run, which are made at the first such call",
)


def in_both_orders(kernel: Kernel, options: Options) -> Kernel:
    """The kernel that recipes make of one, and for strided arrays in Fortran order of the one on their transposes."""
    decided = decide(kernel, options)
    other = _on_transposes(kernel, options)
    return decided.kernel(kernel) if other is None else decided.kernel(kernel, IN_FORTRAN_ORDER, turned=other)


def _on_transposes(kernel: Kernel, options: Options) -> TakeOver | None:
    """What answers calls by a kernel that takes the transposes of strided arrays; None where there are no such arrays.

    It is made at the first of these calls.
    """
    program = turned(kernel.program)
    function = getattr(kernel, "__wrapped__", None)
    if program is None or not isinstance(function, FunctionType):
        return None
    parameters = kernel.program.parameters
    made: list[Callable[..., object]] = []

    def take(arguments: tuple[object, ...], keywords: Mapping[str, object]) -> tuple[object]:
        if not made:
            what = f"ordering the loops of {kernel.name} for arrays in Fortran order"
            with progress(what), warnings.catch_warnings():
                warnings.simplefilter("ignore", RecipeWarning)  # nobody asks for recipes here
                on_transposes = Kernel(function, {}, program=program)
                made.append(decide(on_transposes, options).kernel(on_transposes))
        given = {**dict(zip([p.name for p in parameters], arguments, strict=False)), **keywords}
        arrays = {p.name: np.transpose(np.asarray(given[p.name])) for p in parameters if is_turned(p)}
        return (made[0](**{**given, **arrays}),)

    return take
