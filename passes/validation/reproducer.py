"""Saves what somebody needs to see again that passes, or steps of a schedule, changed what a program does."""

from __future__ import annotations

import shlex
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from affdsl.frozen import FrozenValue
from affdsl.mlir.writers import print_op
from affdsl.passes.pipeline.manager import PassStep, Pipeline, Root
from affdsl.passes.validation.inputs import Array, names_of
from affdsl.passes.validation.outcome import Outcome
from affdsl.passes.validation.report import Checked, Failure


class Stage(FrozenValue):
    """One step of what was done to a program: a pass or a step in words, with the program around it."""

    step: PassStep | str
    before: Root
    after: Root

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"pass '{self.step.name}'" if isinstance(self.step, PassStep) else f"step '{self.step}'"


class Replay(FrozenValue):
    """What does it all again: a text, saved in a file of that name, and how to use it."""

    file: str
    text: str
    usage: str

    @classmethod
    def of(cls, pipeline: Pipeline) -> Replay:
        """By the command line."""
        command = ["affdsl", "opt", "--validate", f"--pass-pipeline={pipeline}", "input.mlir"]
        return cls("pipeline.txt", f"{pipeline}\n", shlex.join(command))


def save(
    checked: Checked, root: Root, replay: Replay, stage: Stage | None = None, folder: str | Path | None = None
) -> Path:
    """Write a reproducer of a failure into a folder, and give the folder.

        input.mlir                     the program before
        pipeline.txt                   the pipeline, as --pass-pipeline takes it; or schedule.py, which takes all steps
        report.txt                     what differs, for which arguments, after which step, and how to run it again
        arguments.npz                  the arguments of the call: arrays and numbers by name
        expected.npz, found.npz        what the program left before and after
        pass-before.mlir, pass-after.mlir    the program around the first step at fault

    Parameters
    ----------
    checked
        A function with a failure.
    stage
        The first step at fault.
    folder
        A new temporary folder if none is given; it is made if it is not there.

    Raises OSError where it cannot be written.
    """
    failure = checked.failure
    assert failure is not None
    folder = Path(tempfile.mkdtemp(prefix="affdsl-reproducer-") if folder is None else folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = names_of(failure.function)
    given = {name: np.asarray(g) for name, g in zip(names, failure.given, strict=False)}
    texts = {
        "input.mlir": _text(root),
        replay.file: replay.text,
        "report.txt": _report(checked, failure, replay, stage),
    }
    if stage is not None:
        texts |= {"pass-before.mlir": _text(stage.before), "pass-after.mlir": _text(stage.after)}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    _save(folder / "arguments.npz", given)
    _save(folder / "expected.npz", _arrays(failure.expected))
    _save(folder / "found.npz", _arrays(failure.found))
    return folder


def _report(checked: Checked, failure: Failure, replay: Replay, stage: Stage | None) -> str:
    numbers = [
        f"  {name} = {g}"
        for name, g in zip(names_of(failure.function), failure.given, strict=False)
        if not isinstance(g, np.ndarray)
    ]
    proof = checked.answer
    sections = [
        str(failure),
        f"first step at fault: {stage.step if stage is not None else 'not known'}",
        f"what was proved for all sizes: {proof.verdict}" + (f": {proof.why}" if proof.why else ""),
        "\n".join(["numbers among the arguments, whose arrays are in arguments.npz:", *(numbers or ["  none"])]),
        f"order of parallel iterations: {failure.order}",
        f"compared: {'to the last bit' if failure.exact else 'up to rounding'}",
        f"to see it again: {replay.usage}",
    ]
    return "\n".join(sections) + "\n"


def _arrays(outcome: Outcome) -> dict[str, Array]:
    return {name.replace(" ", "_").replace("@", "global_"): array for name, _, array in outcome.values}


def _save(path: Path, arrays: dict[str, Array]) -> None:
    """As np.savez does, which takes some names for itself."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def _text(root: Root) -> str:
    text = print_op(root)
    return text if text.endswith("\n") else f"{text}\n"
