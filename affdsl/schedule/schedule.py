"""Schedules: a kernel transformed step by step by the names of its loops, each step proved legal or refused."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Generic, Self

import numpy as np

from affdsl.errors import AffdslError, InternalError, VerificationError
from affdsl.explained import Note
from affdsl.frames import plain_tracebacks
from affdsl.ir.dialects.func import Call, Func, Module
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.kernel import Kernel
from affdsl.lang.source import assigned_name, here, problem
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.relations import Alternatives
from affdsl.passes.cleanup.inline import inline_into_loops
from affdsl.passes.cleanup.through_parts import through_parts
from affdsl.passes.legality.refusal import IllegalTransform as IllegalTransform
from affdsl.schedule.again import once
from affdsl.schedule.history import Entry, counted, explained
from affdsl.schedule.in_python import begun, instead
from affdsl.schedule.loops import LoopRow, Tree, find, named, names_of
from affdsl.schedule.loops import ScheduleError as ScheduleError
from affdsl.schedule.primitives import Primitives
from affdsl.schedule.spelling import literal
from affdsl.schedule.taking import Taking, with_last
from affdsl.schedule.verbs import VerbCall
from affdsl.shown import ShownAsText, Text
from affdsl.signatures import P, R

if TYPE_CHECKING:
    from affdsl.passes.drawing.iteration_space import IterationSpace


@plain_tracebacks()
class Schedule(Primitives, ShownAsText, Generic[P, R]):
    """How a kernel's loops run: steps that are taken at once, each of which keeps what the kernel does, or is refused.

    Loops are called by the names of their variables. After a step the inner loops keep their names; new loops have the
    old name with something behind it (`i_tile`), made unique, or one that is given: that of no other loop, size or
    array, and no word of Python. Where several loops of the kernel have one name they are `i#1`, `i#2`, in the order of
    the text. `loops()` shows them all.

    Every step gives the schedule itself, so that steps can be written in a chain. `print(schedule)` is Python that
    replays it, `explain()` says what each step did and what was refused, and `kernel()` is the kernel that came out.

    Parameters
    ----------
    kernel
        What is transformed; it stays as it is.
    validate
        Check after each step, beside the proof that it is legal, that the result does what the kernel does.
    inline
        Begin with the bodies of the kernels that it calls in the place of the calls, so that steps reach their loops.

    Raises
    ------
    IllegalTransform
        By a step that would change what the kernel does, or may: with both statements, two iterations that prove it,
        and the nearest step that is legal. The schedule stays as it was.
    ScheduleError
        By a step that names no loop, or several, or an impossible number: with the loops that there are.
    ValidationError
        By a step whose result does something else: a bug of affdsl.

    Examples
    --------
    >>> import affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def transpose(A: af.f64[N, N], B: af.f64[N, N]):
    ...     with af.for_(N) as i, af.for_(N) as j:
    ...         B[j, i] = A[i, j]
    >>> s = af.Schedule(transpose)
    >>> s.tile(("i", "j"), (32, 32)).parallel("i_tile")
    <Schedule of transpose: 2 steps>
    >>> for loop in s.loops():
    ...     print("  " * loop.depth + loop.text)
    parallel i_tile = 0 to N step 32
      j_tile = 0 to N step 32
        i = i_tile to min(i_tile + 32, N)
          j = j_tile to min(j_tile + 32, N)
    >>> s.undo()
    'parallel("i_tile")'
    >>> tuned = s.kernel()
    """

    def __init__(self, kernel: Kernel[P, R], *, validate: bool = False, inline: bool = False) -> None:
        if not isinstance(kernel, Kernel):
            raise problem(
                ScheduleError,
                f"Schedule takes a kernel, got {reprlib.repr(kernel)}",
                "write @affdsl.kernel above the function whose loops it is about",
            )
        self._is_inlined = inline and any(isinstance(op, Call) for op in walk(kernel.func))
        module = through_parts(inline_into_loops(kernel.module) if self._is_inlined else kernel.module)
        function = named(module.functions[-1])
        self._kernel = kernel
        self._validate = validate
        self._name = assigned_name() or "s"
        self._start = Entry(VerbCall("start", ()), here(), with_last(module, function), names_of(function))
        self._steps: list[Entry] = []
        self._history: list[Entry] = []
        self._verifies_each = True

    @property
    def steps(self) -> tuple[Entry, ...]:
        """The steps that were taken and not undone."""
        return tuple(self._steps)

    @property
    def refusals(self) -> tuple[Entry, ...]:
        """The steps that were refused, with the reason as their `error`; also before steps that were undone."""
        return tuple(step for step in self._history if step.refusal is not None)

    @property
    def history(self) -> tuple[Entry, ...]:
        """The program before all steps, and the steps in the order in which they were asked for, refused ones too."""
        return (self._start, *self._history)

    def undo(self) -> str:
        """Take back the last step, and give it as a call. Raises ScheduleError if there is none."""
        if not self._steps:
            raise problem(ScheduleError, f"there is no step of {self._name} to undo")
        last = self._steps.pop()
        self._history.remove(last)
        return str(last)

    def loops(self) -> Tree:
        """The loops as they are now, with their names, bounds and places; printed, a tree."""
        return self._now.loops

    @property
    def made(self) -> tuple[LoopRow, ...]:
        """The loops that the last step made, in the order of the text; all others have kept their names."""
        new = {*self._now.made}
        return tuple(row for row in self.loops() if row.iv in new)

    def picture(
        self, outer: str, inner: str, sizes: Mapping[str, int], *, at: Mapping[str, int] | None = None
    ) -> IterationSpace:
        """The iterations of two loops as they are now, and which must run before which, as `Kernel.picture` has it."""
        now = self._now
        what = f"{self._name}.picture({literal(outer)}, {literal(inner)}, ...)"
        held = at if at is not None else {}
        if not isinstance(held, Mapping):
            raise problem(ScheduleError, f"cannot {what}: at gives numbers by the names of loops, got {held!r}")
        chosen = {find(now.function, now.names, k, what, now.gone): held[k] for k in held}
        first, second = (find(now.function, now.names, name, what, now.gone) for name in (outer, inner))
        drawn: Callable[..., IterationSpace] = import_module("affdsl.passes.drawing.iteration_space").iteration_space
        return drawn(Dependences(now.function, now.module), first, second, sizes, at=chosen)

    @property
    def function(self) -> Func:
        """The affine IR after all steps."""
        return self._now.function

    @property
    def module(self) -> Module:
        """The affine IR after all steps, with that of all kernels that it calls."""
        return self._now.module

    def kernel(self, *, validate: bool = False, notes: Sequence[Note] = ()) -> Kernel[P, R]:
        """The kernel after all steps: called, printed and shipped as any other. Its `schedule` has these steps.

        Parameters
        ----------
        validate
            Check that it does what the kernel did before all steps.
        notes
            What its `explain()` says instead of the steps.

        Raises
        ------
        ValidationError
            It does something else: with the first step at fault, and where all that shows it was saved.
        """
        require_verified(self)
        if validate:
            self._check(self._start, self._steps, str(self))
        made = copy(self)
        made._verifies_each = True
        return self._kernel.with_module(self._now.module, schedule=made, notes=notes)

    def explain(self) -> str:
        """What each step did to which loop, what was refused and why, and the loops as they are now.

        In the end it says of each loop whether it runs as vectors, may, or what is in the way.
        """
        return Text(f"{self._kernel.name}: {explained(self._start, self._history, self._accepted)}")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """What a schedule has not: with what has it."""
            said = instead(name, self.__dict__.get("_name", "s"), dir(Schedule))
            raise AttributeError(f"a Schedule has no {name}{said}")

    def __str__(self) -> str:
        symbols = dict.fromkeys(n for step in self._steps for n in step.call.symbols)
        name, lines = begun(self._kernel, self._name, symbols, inline=self._is_inlined)
        return "\n".join([*lines, *(f"{name}.{step}" for step in self._steps)])

    def _repr_html_(self) -> str:
        """What a notebook shows: the steps, the loops as they are now, and a picture where that is small."""
        shown: Callable[[Schedule[P, R]], str] = import_module("affdsl.notebook").of_schedule
        return shown(self)

    def __copy__(self) -> Self:
        """A schedule of its own that has taken the same steps: to try others from here on."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, _steps=[*self._steps], _history=[*self._history])
        return made

    def __repr__(self) -> str:
        return f"<Schedule of {self._kernel.name}: {counted(len(self._steps), 'step')}>"

    @property
    def _now(self) -> Entry:
        return self._steps[-1] if self._steps else self._start

    def _take(self, verb: str, *arguments: object, **options: object) -> Self:
        given = tuple(_frozen(each) for each in arguments)
        frozen = {key: _frozen(each) for key, each in options.items()}
        for key, value in frozen.items():
            kind, words = _KINDS.get(key, (object, ""))
            if not isinstance(value, kind):
                what = f"cannot {self._name}.{verb}(...): {key} is {words}, got {literal(value)}"
                raise problem(ScheduleError, what)
        call, now = VerbCall(verb, given, tuple(frozen.items())), self._now
        try:
            steps = once(Taking(self._name, self._kernel.name, lambda: self._accepted).after, call, now)
        except IllegalTransform as refusal:
            self._history.append(Entry(call, here(), now.module, now.names, refusal.message, now.gone))
            raise refusal from None
        except ValueError as error:
            if isinstance(error, AffdslError):
                raise
            raise problem(ScheduleError, f"cannot {self._name}.{call.text}: {error}") from None
        for before, step in pairwise((now, *steps)):
            if self._verifies_each:
                _verify(step)
            if self._validate:
                self._check(before, [step], f"{self}\n{self._name}.{step}")
        self._steps += steps
        self._history += steps
        return self

    def _together(self, steps: Callable[[Schedule], None]) -> Self:
        before = [*self._steps], [*self._history]
        try:
            steps(self)
        except IllegalTransform:
            self._steps, self._history = before[0], [*before[1], *self._history[-1:]]
            raise
        except (ScheduleError, ValueError):
            self._steps, self._history = before
            raise
        return self

    @cached_property
    def _accepted(self) -> Alternatives:
        """What holds of the sizes in every call of the kernel, since it is checked: found once for all steps."""
        return self._kernel._accepted

    def _check(self, before: Entry, steps: Sequence[Entry], replay: str) -> None:
        reassociated = any(dict(step.call.options).get("reassociate") or step.call.verb in _ROUNDING for step in steps)
        states = [(f"{self._name}.{step}", step.module) for step in steps]
        require_same: Callable[..., None] = import_module("affdsl.passes.validation.pipeline").require_same
        require_same(before.module, states, reassociated=reassociated, replay=f"{replay}\n")


_ROUNDING = ("contract", "approximate", "reciprocal", "extremes")
"""The steps after which results are rounded in another way."""


def verified_last(schedule: Schedule[P, R]) -> Schedule[P, R]:
    """The schedule, whose IR is verified by `kernel()` and not after each step: for those who take many."""
    schedule._verifies_each = False
    return schedule


def require_verified(schedule: Schedule[P, R]) -> None:
    """Raise InternalError, for the first step at fault, if the IR of a `verified_last` schedule breaks a rule."""
    if not schedule._verifies_each and schedule._steps:
        try:
            _verify(schedule._steps[-1])
        except InternalError:
            for step in schedule._steps:
                _verify(step)
            raise


def _verify(step: Entry) -> None:
    """Raise InternalError if the IR after a step breaks a rule."""
    try:
        verify(step.module)
    except VerificationError as error:
        raise InternalError(f"{step.call.text} made IR that breaks a rule: {error}") from error


_KINDS: Mapping[str, tuple[type, str]] = {
    **dict.fromkeys(("ahead", "reassociate", "separate", "dma", "grid", "guarded"), (bool, "True or False")),
    **dict.fromkeys(("first", "last", "space"), (int, "a whole number")),
}
"""What the options of steps are."""


def _frozen(argument: object) -> object:
    """An argument that can no longer change with what the user gave."""
    if isinstance(argument, list | tuple):
        return tuple(_frozen(each) for each in argument)
    if isinstance(argument, Mapping):
        return dict(argument)
    if isinstance(argument, bool | np.bool_):
        return bool(argument)
    return int(argument) if isinstance(argument, Integral) else argument  # those of NumPy, too
