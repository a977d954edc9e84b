"""`Kernel.optimize()`: what recipes decide, or have decided before, or the fastest of what was timed.

A call with strided arrays that lie in Fortran order runs loops in another order, which goes along their memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING

import numpy as np

from affdsl.codegen.caller import Turned
from affdsl.codegen.targets.target import Target
from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.explained import Note
from affdsl.kernel import Kernel
from affdsl.lang.source import problem
from affdsl.lang.turned import is_turned, turned
from affdsl.optimize.decision import decide
from affdsl.optimize.options import Choices, Options, available_threads, targets
from affdsl.optimize.unfit import RecipeWarning
from affdsl.progress import progress

if TYPE_CHECKING:
    from affdsl.signatures import Step

IN_FORTRAN_ORDER = Note(
    (),
    "where all strided arrays of a call lie in Fortran order, other loops run, which are made at the first such call",
)


def optimizing(
    target: str,
    threads: int | None,
    *,
    sizes: Mapping[str, int] | None,
    tune: bool | Mapping[str, int],
    validate: bool,
    **allowed: bool,
) -> Step:
    """What makes of a kernel the one with a schedule that recipes have chosen; see `Kernel.optimize`.

    Raises ScheduleError for a target that nobody knows, and ProgramError for other options that are none.
    """
    given: Mapping[str, object] = allowed
    for option, value in given.items():
        if not isinstance(value, bool):
            raise problem(ProgramTypeError, f"{option} is {value!r}", "it is True or False")
    asked: object = available_threads() if threads is None else threads
    if not hasattr(asked, "__index__") or isinstance(asked, bool) or asked.__index__() < 1:
        raise problem(ProgramTypeError, f"threads is {asked!r}", "it is a number from 1 on, or None for all there are")
    if sizes is not None and tune is not False:
        advice = "give the sizes as tune={...}: the loops as written are timed then, too"
        raise problem(ProgramError, "cannot optimize a kernel for sizes and tune it", advice)
    options = Options(_target(target), asked.__index__(), choices=Choices(), **allowed)
    return partial(_optimized, options=options, sizes=sizes, tune=tune, validate=validate)


def _optimized(
    kernel: Kernel, *, options: Options, sizes: Mapping[str, int] | None, tune: bool | Mapping[str, int], validate: bool
) -> Kernel:
    if tune is False and sizes is None:
        made = in_both_orders(kernel, options)
    else:
        tuned: Callable[..., Kernel] = import_module("affdsl.optimize.tuning").tuned
        made = tuned(kernel, options, tune) if sizes is None else tuned(kernel, options, sizes, others=False)
    if validate and made.schedule is not None:
        made.schedule.kernel(validate=True)
    return made


def _target(name: str) -> Target:
    """The target of a name. Raises ScheduleError where there is none."""
    known = targets()
    if name not in known:
        error: type[ProgramError] = import_module("affdsl.schedule.loops").ScheduleError
        raise problem(error, f"there is no target {name!r}", f"they are {', '.join(known)}")
    return known[name]


def in_both_orders(kernel: Kernel, options: Options) -> Kernel:
    """The kernel that recipes make of one, and for strided arrays in Fortran order of the one on their transposes."""
    decided = decide(kernel, options)
    other = _on_transposes(kernel, options)
    return decided.kernel(kernel) if other is None else decided.kernel(kernel, IN_FORTRAN_ORDER, turned=other)


def _on_transposes(kernel: Kernel, options: Options) -> Turned | None:
    """What answers calls by a kernel that takes the transposes of strided arrays; None where there are no such arrays.

    It is made at the first of these calls.
    """
    program = turned(kernel.program)
    function = getattr(kernel, "__wrapped__", None)
    if program is None or not isinstance(function, FunctionType):
        return None
    parameters = kernel.program.parameters
    made: list[Kernel] = []

    def take(arguments: tuple[object, ...], keywords: Mapping[str, object]) -> tuple[object, object]:
        if not made:
            what = f"ordering the loops of {kernel.name} for arrays in Fortran order"
            with progress(what), warnings.catch_warnings():
                warnings.simplefilter("ignore", RecipeWarning)  # nobody asks for recipes here
                on_transposes = Kernel(function, {}, program=program)
                made.append(decide(on_transposes, options).kernel(on_transposes))
        given = {**dict(zip([p.name for p in parameters], arguments, strict=False)), **keywords}
        arrays = {p.name: np.transpose(np.asarray(given[p.name])) for p in parameters if is_turned(p)}
        call: Callable[..., object] = made[0]
        return call(**{**given, **arrays}), made[0].taken()

    return take
