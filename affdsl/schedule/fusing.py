"""`kernel.fuse()`: a kernel whose nests run as one, with the schedule that makes it, and why it is that one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import takewhile

from affdsl.codegen.native import native_target
from affdsl.explained import Explained
from affdsl.frames import plain_tracebacks
from affdsl.ir.expr import Value
from affdsl.kernel import Kernel
from affdsl.passes.legality.assumptions import assuming_all
from affdsl.passes.legality.proposals import Argument, Step
from affdsl.passes.optimize.explained import explained
from affdsl.passes.optimize.figures import Goal
from affdsl.passes.optimize.fusion import Fusion, fusion
from affdsl.passes.optimize.program import Program
from affdsl.schedule.history import counted
from affdsl.schedule.loops import counters
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import Schedule
from affdsl.schedule.taking import with_last
from affdsl.signatures import P, R

USUAL = Goal()
"""What is aimed at where nothing is said."""


@plain_tracebacks()
class FusedKernel(Kernel[P, R]):
    """A kernel whose nests run as one."""

    def __init__(self, schedule: Schedule[P, R], found: Fusion) -> None:
        made = schedule.kernel()
        super().__init__(made._function, made._namespace, program=made.program, written=made._written)
        self._steps = schedule
        self._fusion = found

    @property
    def schedule(self) -> Schedule[P, R]:
        """The steps that make it: printed, it is Python that replays them."""
        return self._steps

    def explain(self, sizes: Mapping[str, int] | None = None) -> Explained:
        """Why it is this schedule: the figures of each two nests, and what lies between them before and after.

        Of each producer and consumer these are, for each depth at which a slice of the producer could run, how much
        more would be computed and how many times less be stored; then what was chosen, or which dependence or which
        cost keeps the two apart. With sizes, as for any kernel, also how long a call ought to take.
        """
        return super().explain(sizes)

    def _explained(self) -> str:
        count = counted(len(self.schedule.steps), "step")
        return f"{self.name}: {count}\n{explained(self._fusion, list(map(str, self.schedule.steps)))}"


def fused(
    kernel: Kernel[P, R], sizes: Mapping[str, int] | None = None, compute_tolerance: float = USUAL.tolerance
) -> FusedKernel[P, R]:
    """The kernel with its nests run as one where that is legal and pays, as `Kernel.fuse` has it.

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
    return FusedKernel(schedule, fusing_steps(schedule, sizes, compute_tolerance))


def fusing_steps(
    schedule: Schedule,
    sizes: Mapping[str, int] | None = None,
    compute_tolerance: float = USUAL.tolerance,
    until: Callable[[Step], bool] = lambda _: False,
) -> Fusion:
    """Take the steps by which the nests of a schedule run as one where that is legal and pays, and say why these.

    Only the first ones are taken, before the first of which `until` says so.
    """
    known_sizes = {} if sizes is None else dict(sizes)
    goal = Goal(known_sizes, native_target().caches or USUAL.caches, compute_tolerance)
    now = schedule._now
    function = assuming_all(now.function, schedule._accepted)
    found = fusion(function, with_last(now.module, function), goal)
    for step, program in takewhile(lambda each: not until(each[0]), found.steps):
        known = _names(program, schedule)
        options = {key: _named(value, known) for key, value in step.options}
        getattr(schedule, step.verb)(*(_named(each, known) for each in step.arguments), **options)
    return found


def _names(program: Program, schedule: Schedule) -> Mapping[Value, str]:
    """What the schedule calls the loops and arrays of a program that is the same as its own."""
    now = schedule._now
    loops = zip(counters(program.function), counters(now.function), strict=True)
    arrays = zip(arrays_of(program.function).values(), arrays_of(now.function), strict=True)
    return {**{own: now.names[theirs] for own, theirs in loops}, **dict(arrays)}


def _named(argument: Argument, names: Mapping[Value, str]) -> object:
    """An argument of a step as a user writes it."""
    return names[argument] if isinstance(argument, Value) else argument
