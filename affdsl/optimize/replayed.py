"""The schedule of a decision that was kept: its steps are taken again when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from affdsl.errors import InternalError
from affdsl.ir.location import Location
from affdsl.kernel import Kernel
from affdsl.lang.source import located
from affdsl.optimize.optimizer import started, trying
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule
from affdsl.schedule.written import Step, take


def replayed(
    kernel: Kernel, place: Location, name: str, steps: Sequence[Step], is_same: Callable[[Kernel], bool]
) -> Schedule:
    """The schedule of a kernel that takes steps at a place of the user's, where it has a name.

    Raises InternalError where a step is refused, or `is_same` says of the result that it is not what was kept.
    """
    with located(place), trying():
        s = started(kernel)
        s._name = name or s._name
        try:
            take(s, steps)
        except (ValueError, IllegalTransform, ScheduleError) as error:
            raise _other(kernel) from error
        made = s.kernel()
    if made.schedule is None or not is_same(made):
        raise _other(kernel)
    return made.schedule


def _other(kernel: Kernel) -> InternalError:
    return InternalError(f"what the cache has of optimizing {kernel.name} is not what its steps make; remove the cache")
