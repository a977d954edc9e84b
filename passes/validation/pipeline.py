"""Runs a pipeline and checks its result against its input; where they differ, names the first pass at fault."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from affdsl.errors import AffdslError, public
from affdsl.ir.dialects.func import Module
from affdsl.passes.pipeline.manager import Event, Observer, PassStep, Pipeline, Root, module_of, steps_of
from affdsl.passes.validation import still_fails, validate
from affdsl.passes.validation.report import Failure, Report
from affdsl.passes.validation.reproducer import Replay, Stage, save
from affdsl.progress import tracked

REASSOCIATING = frozenset(
    (
        *(("affdsl-optimize", option) for option in ("contract", "reassociate", "reciprocal")),
        ("affine-parallelize", "parallel-reductions"),
        ("affine-super-vectorize", "vectorize-reductions"),
    )
)
"""The options by which a pass may round in another way, as by sums of floats in another order."""


@public
class ValidationError(AffdslError):
    """What passes, or steps of a schedule, made of a program does something else than the program: a bug of ours.

    Attributes
    ----------
    failure
        The call that shows it.
    step
        The first pass after which it does, or the first step of a schedule in its words.
    folder
        Where all that is needed to see it again was saved; None where it could not be.

    >>> import affdsl as af
    >>> issubclass(af.ValidationError, af.AffdslError)
    True
    """

    def __init__(self, failure: Failure, stage: Stage | None, folder: Path | None, why: str = "") -> None:
        at_fault = f"after {stage.name}" if stage is not None else "after the pipeline"
        super().__init__(
            f"the program does something else {at_fault}: {failure}\n"
            f"    this is a bug of affdsl: please report it; "
            + (f"all that shows it is in {folder}" if folder is not None else f"nothing was saved: {why}")
        )
        self.failure = failure
        self.step = None if stage is None else stage.step
        self.folder = folder


def run_validated(
    pipeline: Pipeline,
    root: Root,
    *,
    observe: Observer | None = None,
    verify_each: bool = True,
    folder: str | Path | None = None,
) -> tuple[Root, Report]:
    """root after all passes, checked against root, and what the check found.

    Parameters
    ----------
    observe, verify_each
        As `Pipeline.run` takes them.
    folder
        Where a reproducer is saved, if it is needed; a new temporary folder if none is given.

    Raises
    ------
    ValidationError
        With what shows that they differ, the first pass at fault, and the folder of the reproducer.
    PassError, PipelineError
        As `Pipeline.run` raises them.
    """
    stages: list[Stage] = []
    found: list[Root] = []

    def watch(event: Event) -> None:
        if event.when == "before":
            found.append(event.root())
        elif event.when == "after":
            stages.append(Stage(event.step, found[-1], event.root()))
        if observe is not None:
            observe(event)

    made = pipeline.run(root, observe=watch, verify_each=verify_each)
    reassociated = any(map(_reassociates, steps_of(pipeline)))
    return made, _checked(root, made, stages, Replay.of(pipeline), folder, reassociated=reassociated)


def require_same(
    before: Module,
    states: Sequence[tuple[str, Module]],
    *,
    reassociated: bool = False,
    replay: str = "",
    folder: str | Path | None = None,
) -> Report:
    """What was found of the last state of a program, if it does what the program did before.

    Parameters
    ----------
    states
        Each step in words, with the program after it.
    reassociated
        Whether sums and products of floats may have been made in another order.
    replay
        Python that takes the steps again, saved as schedule.py with what shows the fault.
    folder
        As `run_validated` takes it.

    Raises
    ------
    ValidationError
        With what shows that they differ, the first step at fault in its words, and the folder of the reproducer.
    """
    modules = [before, *(module for _, module in states)]
    stages = [Stage(text, modules[k], modules[k + 1]) for k, (text, _) in enumerate(states)]
    how = Replay("schedule.py", replay, "python schedule.py")
    return _checked(before, modules[-1], stages, how, folder, reassociated=reassociated)


def _checked(
    root: Root, made: Root, stages: Sequence[Stage], replay: Replay, folder: str | Path | None, *, reassociated: bool
) -> Report:
    """What was found, if it is no fault. Raises ValidationError."""
    report = validate(module_of(root), module_of(made), reassociated=reassociated)
    if report.failed is None or report.failure is None:
        return report
    guilty = next(_at_fault(report.failure, module_of(root), stages), None)
    place, why = None, ""
    try:
        place = save(report.failed, root, replay, guilty, folder)
    except OSError as problem:
        why = str(problem)
    raise ValidationError(report.failure, guilty, place, why)


def _at_fault(failure: Failure, root: Module, stages: Sequence[Stage]) -> Iterator[Stage]:
    """The steps after which a failure shows; none for a function of a module inside of the whole."""
    if failure.function in root.functions:
        for stage in tracked(stages, "looking for the step at fault"):
            if still_fails(failure, module_of(stage.after)) is not None:
                yield stage


def _reassociates(step: PassStep) -> bool:
    return any((step.name, option) in REASSOCIATING and bool(value) for option, value in step.options.items())
