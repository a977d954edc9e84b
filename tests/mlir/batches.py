"""Gives mlir-opt's verdict on each of many programs, from few runs of it."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.oracles import TIMEOUT, require

SEPARATOR = "// -----"  # wherever it stands, mlir-opt splits there
GENERIC_ONLY = "// Of the operations on tensors we read the generic form only."  # in a program that has such
DIAGNOSTIC = re.compile(r"^<stdin>:(\d+):(\d+): error: (.*)$", re.M)
FLAGS = re.compile(r"// RUN-FLAGS: (.*)\n")


@dataclass(frozen=True)
class Chunk:
    """One program of a file: its text, and the line of the file on which it begins."""

    path: Path
    text: str
    line: int

    @property
    def name(self) -> str:
        return f"{self.path.name}:{self.line}"

    def in_place(self) -> str:
        """The text at the line that it has in its file."""
        return "\n" * (self.line - 1) + self.text


@dataclass(frozen=True)
class Verdict:
    """What mlir-opt says of a program: what it prints, or None; its errors as (line of the program, message)."""

    output: str | None
    errors: tuple[tuple[int, str], ...] = ()
    crashed: bool = False


def split(path: Path) -> list[Chunk]:
    """The programs of a file."""
    found, line = [], 1
    for text in path.read_text(encoding="utf-8").split(SEPARATOR):
        found.append(Chunk(path, text, line))
        line += text.count("\n")
    return found


def flags(path: Path) -> tuple[str, ...]:
    """What the first line of a file asks mlir-opt to be called with."""
    found = FLAGS.match(path.read_text(encoding="utf-8"))
    return tuple(found[1].split()) if found else ()


def judge(programs: Sequence[str], *arguments: str) -> list[Verdict]:
    """mlir-opt's verdict on each program; where it crashes, the programs that crash it are found by bisection."""
    if not programs:
        return []
    assert not any(SEPARATOR in program for program in programs), "a program with a separator is several"
    command = [require("mlir-opt-22"), "--split-input-file", "--mlir-disable-threading", *arguments, "-"]
    try:
        done = subprocess.run(
            command, input=f"\n{SEPARATOR}\n".join(programs).encode(), capture_output=True, timeout=TIMEOUT
        )
        crashed = done.returncode not in (0, 1)
    except subprocess.TimeoutExpired:
        crashed = True
    if crashed:
        if len(programs) == 1:
            return [Verdict(None, crashed=True)]
        half = len(programs) // 2
        return judge(programs[:half], *arguments) + judge(programs[half:], *arguments)
    outputs = done.stdout.decode(errors="replace").split(SEPARATOR)
    assert len(outputs) == len(programs), done.stderr.decode(errors="replace")
    said = [(int(line), message) for line, _, message in DIAGNOSTIC.findall(done.stderr.decode(errors="replace"))]
    verdicts, first = [], 1
    for program, output in zip(programs, outputs, strict=True):
        count = program.count("\n") + 1
        errors = tuple((line - first + 1, message) for line, message in said if first <= line < first + count)
        verdicts.append(Verdict(output.strip("\n") + "\n" if output.strip() else None, errors))
        first += count + 1
    return verdicts
