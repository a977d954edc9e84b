"""The programs of the table of cases: small, with sizes, each with one thing that makes a step legal or not.

Those in the language are in kernels.txt, those in MLIR in programs.mlir. Above each one are the steps that are legal,
those that are refused with a counterexample, and those that are refused for another reason, of which a part is quoted.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path

import affdsl as af
from affdsl.ir.dialects.func import Module
from affdsl.mlir.readers import parse

KERNELS, TEXTS = (Path(__file__).with_name(name) for name in ("kernels.txt", "programs.mlir"))
STEPS = re.compile(r"^(?:#|//) (legal|counterexample|\"[^\"]*\"): (.*)\n", re.M)


def _parted(path: Path) -> tuple[str, dict[str, str]]:
    """What is in front of the programs of a file, and each by its name."""
    front, *chunks = re.split(r"^(?:#|//) ----- ", path.read_text(encoding="utf-8"), flags=re.M)
    return front, {name: text for name, _, text in (chunk.partition("\n") for chunk in chunks)}


def steps() -> Iterator[tuple[str, str, str]]:
    """The name of a program, a step, and what is to be said of it."""
    for path in (KERNELS, TEXTS):
        for name, text in _parted(path)[1].items():
            for expected, listed in STEPS.findall(text):
                yield from ((name, step, expected.strip('"')) for step in listed.split("; "))


@functools.cache
def _kernels() -> dict[str, af.Kernel]:
    names = dict(zip(("N", "M"), af.symbols("N M"), strict=True))
    found = {"af": af, **names}
    exec(compile(KERNELS.read_text(encoding="utf-8"), KERNELS, "exec"), found)
    return {name: kernel for name, kernel in found.items() if isinstance(kernel, af.Kernel)}


@functools.cache
def module_of(name: str) -> Module:
    """The module of a program."""
    if name in _kernels():
        return _kernels()[name].module
    around, texts = _parted(TEXTS)
    text = STEPS.sub("", texts[name])
    return parse(text if "@f(" in text else around.replace("BODY\n", text), "case.mlir")
