"""Runs a pipeline and checks its result against its input; where they differ, names the first pass at fault."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from affdsl.errors import AffdslError
from affdsl.ir.dialects.func import Module
from passes.manager import Event, Observer, PassStep, Pipeline, Root
from passes.validation import Failure, Report, still_fails, validate
from passes.validation.reproducer import save

REASSOCIATING = frozenset(
    (("affine-parallelize", "parallel-reductions"), ("affine-super-vectorize", "vectorize-reductions"))
)
"""The options by which a pass may make sums and products of floats in another order."""


class ValidationError(AffdslError):
    """What passes made of a program does something else than the program: a bug of a pass.

    Attributes
    ----------
    failure
        The call that shows it.
    step
        The first pass after which it does.
    folder
        Where all that is needed to see it again was saved; None where it could not be.
    """

    def __init__(self, failure: Failure, step: PassStep | None, folder: Path | None, why: str = "") -> None:
        at_fault = f"after pass '{step.name}'" if step is not None else "after the pipeline"
        super().__init__(
            f"the program does something else {at_fault}: {failure}\n"
            f"    this is a bug of affdsl: please report it; "
            + (f"all that shows it is in {folder}" if folder is not None else f"nothing was saved: {why}")
        )
        self.failure = failure
        self.step = step
        self.folder = folder


@dataclass(frozen=True)
class _State:
    """The whole as a pass found it, and as it left it."""

    step: PassStep
    before: Root
    after: Root


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
        With a call for which they differ, the first pass at fault, and the folder of the reproducer.
    PassError, PipelineError
        As `Pipeline.run` raises them.
    """
    states: list[_State] = []
    found: list[Root] = []

    def watch(event: Event) -> None:
        if event.when == "before":
            found.append(event.root())
        elif event.when == "after":
            states.append(_State(event.step, found[-1], event.root()))
        if observe is not None:
            observe(event)

    made = pipeline.run(root, observe=watch, verify_each=verify_each)
    report = validate(_module(root), _module(made), reassociated=any(map(_reassociates, _steps(pipeline))))
    if report.failure is None:
        return made, report
    guilty = next(_at_fault(report.failure, _module(root), states), None)
    around = None if guilty is None else (guilty.step, guilty.before, guilty.after)
    place, why = None, ""
    try:
        place = save(report.failure, root, pipeline, around, None if folder is None else Path(folder))
    except OSError as problem:
        why = str(problem)
    raise ValidationError(report.failure, None if guilty is None else guilty.step, place, why)


def _at_fault(failure: Failure, root: Module, states: Sequence[_State]) -> Iterator[_State]:
    """The states in which the call of a failure fails; none for a function of a module inside of the whole."""
    if failure.function in root.functions:
        yield from (state for state in states if still_fails(failure, _module(state.after)) is not None)


def _module(root: Root) -> Module:
    return root if isinstance(root, Module) else Module((root,))


def _steps(pipeline: Pipeline) -> Iterator[PassStep]:
    for item in pipeline.items:
        if isinstance(item, PassStep):
            yield item
        else:
            yield from _steps(item)


def _reassociates(step: PassStep) -> bool:
    return any((step.name, option) in REASSOCIATING and bool(value) for option, value in step.options.items())
