"""`kernel.fuse()`: a kernel whose nests run as one, with the schedule that makes it, and why it is that one."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.frames import plain_tracebacks
from affdsl.ir.expr import Value
from affdsl.kernel import Kernel
from affdsl.schedule.loops import counters
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import Schedule
from passes.legality.proposals import Argument
from passes.optimize.fusion import Fusion, fusion
from passes.optimize.program import Program


@plain_tracebacks()
class FusedKernel(Kernel):
    """A kernel whose nests run as one.

    Attributes
    ----------
    schedule
        The steps that make it: printed, it is Python that replays them.
    """

    def __init__(self, schedule: Schedule, found: Fusion) -> None:
        made = schedule.kernel()
        super().__init__(made._function, made._namespace, program=made.program, written=made._written)
        self.schedule = schedule
        self._fusion = found


def fused(kernel: Kernel) -> FusedKernel:
    """The kernel with its nests run as one where that is legal and pays.

    >>> import affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def twice(x: af.f64[N, N], y: af.f64[N, N]):
    ...     t = af.alloc(af.f64[N, N])
    ...     with af.for_(N) as i, af.for_(N) as j:
    ...         t[i, j] = x[i, j] + 1.0
    ...     with af.for_(1, N) as k, af.for_(N) as m:
    ...         y[k, m] = t[k, m] * t[k - 1, m]
    >>> for step in fused(twice).schedule.steps:
    ...     print(step)
    fuse("i", "k", guarded=True)
    fold("t", 0, 2)
    """
    schedule = Schedule(kernel)
    schedule._name = "s"
    found = fusion(schedule._now.function, schedule._now.module)
    for step, program in found.steps:
        known = _names(program, schedule)
        options = {key: _named(value, known) for key, value in step.options}
        getattr(schedule, step.verb)(*(_named(each, known) for each in step.arguments), **options)
    return FusedKernel(schedule, found)


def _names(program: Program, schedule: Schedule) -> Mapping[Value, str]:
    """What the schedule calls the loops and arrays of a program that is the same as its own."""
    now = schedule._now
    loops = zip(counters(program.function), counters(now.function), strict=True)
    arrays = zip(arrays_of(program.function).values(), arrays_of(now.function), strict=True)
    return {**{own: now.names[theirs] for own, theirs in loops}, **dict(arrays)}


def _named(argument: Argument, names: Mapping[Value, str]) -> object:
    """An argument of a step as a user writes it."""
    return names[argument] if isinstance(argument, Value) else argument
