"""How much work a task is: calls of functions, which are the same on any day, and processor time."""

from __future__ import annotations

from cProfile import Profile
from time import process_time
from typing import NamedTuple

from affdsl.errors import AffdslError
from affdsl.passes.analysis.relations import forget
from tests.steps.shapes import Shape
from tests.steps.tasks import Task


class Measured(NamedTuple):
    """One run of a task; a refusal is an answer too."""

    calls: int
    seconds: float
    refused: str


def measured(task: Task, shape: Shape, n: int) -> Measured:
    """A run of a task with nothing remembered, on a kernel of n steps."""
    kernel = task.before(task.situation(shape, n))
    forget()
    profile = Profile()
    refused = ""
    start = process_time()
    profile.enable()
    try:
        task.run(kernel)
    except AffdslError as error:
        refused = f"{type(error).__name__}: {error}".replace("\n", " ")
    finally:
        profile.disable()
    return Measured(sum(entry.callcount for entry in profile.getstats()), process_time() - start, refused)
