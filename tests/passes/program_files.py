"""Files of programs for a pass: mlir-opt makes the same of each, or it becomes what is said, or stays as it is.

In front are the pass with its options, once or several times, and how its programs are tested:

    // RUN: affine-loop-unroll{unroll-factor=3}
    // CLEAN: canonicalize,cse      passes of mlir-opt that follow, on both sides
    // MEANT: 5 runs=12 size=9      programs are run before and after, and so many runs have a meaning, at least
    // FIXED POINT: yes             the pass leaves what it has made
    // WITHOUT: overflow<nsw>       a flag that only mlir-opt sets

What follows there stands around each program, in the place of BODY. A program comes after `// ----- ` and its name,
with `stays: ` between them if the pass leaves it; `// BECOMES` stands before what it makes. `// EXCEPT:` names the pass
with options of which mlir-opt makes something else, or `mlir-opt` if it always does, or `run` for what cannot be run.
"""

from __future__ import annotations

import functools
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("programs")
DIRECTIVE = re.compile(r"^// (RUN|CLEAN|MEANT|FIXED POINT|WITHOUT|EXCEPT): (.*)\n", re.M)


@dataclass(frozen=True)
class Program:
    """A program of a file, what it becomes if that is said, and what it has no part in."""

    name: str
    text: str
    becomes: str
    stays: bool
    excepted: frozenset[str]


@dataclass(frozen=True, eq=False)
class ProgramFile:
    """A pass with options, what follows it, how programs are run, and programs by name."""

    runs: tuple[str, ...]
    clean: tuple[str, ...]
    meant: int
    given: dict[str, int]
    is_fixed_point: bool
    flags: tuple[str, ...]
    programs: dict[str, Program]


@functools.cache
def program_file(name: str) -> ProgramFile:
    """The file of a pass."""
    head, *chunks = (FOLDER / f"{name}.mlir").read_text(encoding="utf-8").split("// ----- ")
    said, around = _parted(head)
    (meant, *given) = said.get("MEANT", ["0"])[0].split()
    programs = [_program(chunk, around) for chunk in chunks]
    return ProgramFile(
        tuple(said["RUN"]),
        tuple(said["CLEAN"][0].split(",")) if "CLEAN" in said else (),
        int(meant),
        {key: int(number) for key, _, number in (part.partition("=") for part in given)},
        "FIXED POINT" in said,
        tuple(said.get("WITHOUT", ())),
        {program.name: program for program in programs},
    )


def text(file: str, name: str) -> str:
    """A program of a file."""
    return program_file(file).programs[name].text


def _program(chunk: str, around: str) -> Program:
    title, _, body = chunk.partition("\n")
    said, body = _parted(body)
    before, _, after = (
        around.replace("BODY", textwrap.indent(part, "  ").strip()) if "BODY" in around else part
        for part in body.partition("// BECOMES\n")
    )
    name = title.removeprefix("stays: ")
    becomes = after if "// BECOMES\n" in body else ""
    return Program(name, before, becomes, name != title, frozenset(said.get("EXCEPT", ())))


def _parted(text: str) -> tuple[dict[str, list[str]], str]:
    """What directives say, and the text without them."""
    said: dict[str, list[str]] = {}
    for name, value in DIRECTIVE.findall(text):
        said.setdefault(name, []).append(value)
    return said, DIRECTIVE.sub("", text)
