"""Saves what somebody needs to see again that a pipeline changed what a program does."""

from __future__ import annotations

import shlex
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from affdsl.mlir.printer import print_op
from passes.manager import PassStep, Pipeline, Root
from passes.validation import Failure
from passes.validation.inputs import Array, names_of
from passes.validation.outcome import Outcome


def save(
    failure: Failure,
    root: Root,
    pipeline: Pipeline,
    around: tuple[PassStep, Root, Root] | None = None,
    folder: Path | None = None,
) -> Path:
    """Write a reproducer into a folder, and give the folder.

        input.mlir                     the program before
        pipeline.txt                   the pipeline, as --pass-pipeline takes it
        report.txt                     what differs, for which arguments, after which pass, and how to run it again
        arguments.npz                  the arguments of the call: arrays and numbers by name
        expected.npz, found.npz        what the program left before and after the pipeline
        pass-before.mlir, pass-after.mlir    the program around the first pass at fault

    Parameters
    ----------
    around
        The first pass at fault, with the program before and after it.
    folder
        A new temporary folder if none is given; it is made if it is not there.

    Raises OSError where it cannot be written.
    """
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="affdsl-reproducer-"))
    folder.mkdir(parents=True, exist_ok=True)
    names = names_of(failure.function)
    given = {name: np.asarray(g) for name, g in zip(names, failure.given, strict=False)}
    texts = {
        "input.mlir": _text(root),
        "pipeline.txt": f"{pipeline}\n",
        "report.txt": _report(failure, pipeline, around),
    }
    if around is not None:
        texts |= {"pass-before.mlir": _text(around[1]), "pass-after.mlir": _text(around[2])}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    _save(folder / "arguments.npz", given)
    _save(folder / "expected.npz", _arrays(failure.expected))
    _save(folder / "found.npz", _arrays(failure.found))
    return folder


def _report(failure: Failure, pipeline: Pipeline, around: tuple[PassStep, Root, Root] | None) -> str:
    command = ["affdsl", "opt", "--validate", f"--pass-pipeline={pipeline}", "input.mlir"]
    numbers = [
        f"  {name} = {g}"
        for name, g in zip(names_of(failure.function), failure.given, strict=False)
        if not isinstance(g, np.ndarray)
    ]
    sections = [
        str(failure),
        f"first pass at fault: {around[0] if around is not None else 'not known'}",
        "\n".join(["numbers among the arguments, whose arrays are in arguments.npz:", *(numbers or ["  none"])]),
        f"order of parallel iterations: {failure.order}",
        f"compared: {'to the last bit' if failure.exact else 'up to rounding'}",
        f"to see it again: {shlex.join(command)}",
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
