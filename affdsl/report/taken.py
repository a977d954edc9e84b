"""What the steps of a schedule have done to each loop of the source, of what runs in a call."""

from __future__ import annotations

from dataclasses import dataclass, field

from affdsl.ir.traverse import walk
from affdsl.report.loops import Origin, loops_of
from affdsl.report.subject import Subject
from affdsl.seeing.loop_names import Loop, counters


@dataclass
class Taken:
    """What steps have done to loops of the source that run in this call, by the keys of these.

    Attributes
    ----------
    vectors, together
        How many iterations are lanes of vectors, or run statement by statement.
    steps
        The verbs of all steps.
    """

    vectors: dict[str, int] = field(default_factory=dict)
    together: dict[str, int] = field(default_factory=dict)
    steps: dict[str, list[str]] = field(default_factory=dict)


def by_steps(of: Subject, origin: Origin) -> Taken:
    """What the steps of the kernel's schedule have done; nothing where no schedule made it."""
    schedule, found = of.kernel.schedule, Taken()
    before = None if schedule is None else schedule.history[0]
    running = {iv for op in loops_of(of.running.module) for iv in counters(op)}
    for step in () if schedule is None else schedule.steps:
        assert before is not None, "a schedule has a beginning"
        named = {iv for iv, name in before.names.items() if name in step.call.texts}
        for op in walk(before.function) if named else ():
            for iv in counters(op) if isinstance(op, Loop) else ():
                own = origin.of(op, iv) if iv in named else None
                if own is not None:
                    found.steps.setdefault(own.key, []).append(step.call.verb)
                    counts = {"vectorize": found.vectors, "unroll_jam": found.together}.get(step.call.verb)
                    if counts is not None and iv in running:
                        counts[own.key] = _width(step.call.arguments[1])
        before = step
    return found


def _width(lanes: object) -> int:
    """The lanes that a step makes, of the last loop where it makes them of several."""
    last = lanes[-1] if isinstance(lanes, tuple | list) else lanes
    return last if isinstance(last, int) else 0
