"""`Kernel.optimize()`: what recipes decide, or have decided before, or the fastest of what was timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from affdsl.codegen.targets.target import Target
from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.kernel import Kernel
from affdsl.lang.source import problem
from affdsl.optimize.choices import Choices
from affdsl.optimize.fortran_order import in_both_orders
from affdsl.optimize.options import Options, available_threads, targets

if TYPE_CHECKING:
    from affdsl.signatures import Step


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
