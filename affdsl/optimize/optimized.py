"""`Kernel.optimize()`: what recipes decide, or have decided before, or the fastest of what was timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from affdsl.codegen.targets.target import Target
from affdsl.errors import ProgramError
from affdsl.kernel import Kernel
from affdsl.lang.source import problem
from affdsl.optimize.fortran_order import in_both_orders
from affdsl.optimize.options import Options, available_threads, targets


def optimized(
    kernel: Kernel,
    *,
    target: str = "native",
    threads: int | None = None,
    contract: bool = False,
    reassociate: bool = False,
    reciprocal: bool = False,
    approximate: bool = False,
    no_nans: bool = False,
    no_signed_zeros: bool = False,
    sizes: Mapping[str, int] | None = None,
    tune: bool | Mapping[str, int] = False,
    validate: bool = False,
) -> Kernel:
    """The kernel with a schedule that recipes have chosen; see `Kernel.optimize`."""
    threads = available_threads() if threads is None else threads
    allowed = (contract, reassociate, reciprocal, approximate, no_nans, no_signed_zeros)
    options = Options(named_target(target), threads, *allowed)
    if sizes is not None and tune is not False:
        what = f"cannot optimize {kernel.name} for sizes and tune it"
        raise problem(ProgramError, what, "give the sizes as tune={...}: the loops as written are timed then, too")
    if tune is False and sizes is None:
        made = in_both_orders(kernel, options)
    else:
        tuned: Callable[..., Kernel] = import_module("affdsl.optimize.tuning").tuned
        made = tuned(kernel, options, tune) if sizes is None else tuned(kernel, options, sizes, others=False)
    if validate and made.schedule is not None:
        made.schedule.kernel(validate=True)
    return made


def named_target(name: str) -> Target:
    """The target of a name. Raises ScheduleError where there is none."""
    known = targets()
    if name not in known:
        error: type[ProgramError] = import_module("affdsl.schedule.loops").ScheduleError
        raise problem(error, f"there is no target {name!r}", f"they are {', '.join(known)}")
    return known[name]
