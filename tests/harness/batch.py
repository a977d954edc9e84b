"""Compiles many programs into one, and runs cases of them in a process that may die, perhaps between red zones."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.oracles import OPTIONAL, optional, require

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion")
STRICT = ("-std=c11", "-ffp-contract=off", *WARNINGS)
TIME_LIMIT = 600  # seconds, for one run of a compiler or of a batch, on a machine that may be busy
RED_ZONE = b"\xa5" * 128
_TABLES = {"entry": "entries", "results": "results"}


@dataclass(frozen=True)
class C:
    """A C compiler with its flags."""

    compiler: str
    flags: tuple[str, ...]
    checked: bool = False
    """Whether every access is checked."""
    runner: tuple[str, ...] = ()
    """What runs programs that are compiled for another machine."""
    first: tuple[str, ...] = ()
    """What stands before all flags."""
    order: Literal["<", ">"] = "<"
    """Which byte of a number comes first in memory: the least, or the greatest."""

    def __str__(self) -> str:
        return f"{self.compiler} {' '.join(self.flags)}{' with checks' if self.checked else ''}"

    def path(self) -> str:
        """Where the compiler is; the test is skipped where it, or what runs its programs, is missing."""
        if not self.runner:
            return require(self.compiler, self.flags)
        for tool in (self.runner[0], self.compiler):
            path = optional(tool) if tool in OPTIONAL else require(tool)
        return path

    def start(self) -> tuple[str, ...]:
        """What a program is given to, which runs it."""
        if self.runner[:1] == ("wasmtime",):
            return sys.executable, str(Path(__file__).with_name("wasi.py")), *self.runner[1:]
        return self.runner

    @property
    def has_usual_tools(self) -> bool:
        """Whether `.ci/run` installs what it needs."""
        return not OPTIONAL.keys() & {self.compiler, *self.runner[:1]}

    def command(self) -> tuple[str, ...]:
        """How every call of the compiler begins."""
        return self.path(), *self.first


# Warnings that gcc makes up where it optimizes, about paths that no call takes.
UNREACHABLE = (
    "-Wno-array-bounds",
    "-Wno-stringop-overflow",
    "-Wno-restrict",
    "-Wno-aggressive-loop-optimizations",
    "-Wno-maybe-uninitialized",
)
CHECKED = C("gcc", ("-O1", "-fopenmp", "-fwrapv", *UNREACHABLE), checked=True)
LEVELS = tuple(C("gcc", (level, *UNREACHABLE)) for level in ("-O1", "-O2", "-Os"))
"""People compile what they are given as they like: right at one level is not right at all."""
GCC = LEVELS[0]
COMPILERS = (
    *LEVELS,
    C("gcc", ("-O2", "-fopenmp", *UNREACHABLE)),
    C("clang-22", ("-Os",)),
    C("clang-22", ("-O2",)),
    C("gcc", ("-O3", "-march=native", *UNREACHABLE)),
    CHECKED,
    C("gcc", ("-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")),
    C("clang-22", ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")),
)


def build(folder: Path, texts: Sequence[str], ways: Sequence[C]) -> dict[int, str]:
    """Make folder/batch of texts of C, each compiled in one of some ways; gives what was said to those refused."""
    for k, text in enumerate(texts):
        renamed = "".join(f"#define affdsl_{part} {part}_{k}\n" for part in (*_TABLES, "failure", "threads", "misfit"))
        (folder / f"p{k}.c").write_text(renamed + text)
    said = ""
    for share, way in enumerate(ways):
        if units := [f"p{k}.c" for k in range(len(texts))][share :: len(ways)]:
            # Of several files zig compiles one, and says nothing.
            for share_of in [[unit] for unit in units] if way.compiler == "zig" else [units]:
                command = [*way.command(), *STRICT, *way.flags, "-c", *share_of]
                said += subprocess.run(command, cwd=folder, capture_output=True, timeout=TIME_LIMIT, text=True).stderr
    refused = {}
    for k in range(len(texts)):
        lines = [line for line in said.splitlines() if line.startswith(f"p{k}.c")]
        if lines or not (folder / f"p{k}.o").exists():
            refused[k] = "compiler: " + "\n".join(lines[:8])
    tables = {
        part: [None if k in refused or f"affdsl_{part}(" not in text else f"{part}_{k}" for k, text in enumerate(texts)]
        for part in _TABLES
    }
    link(folder, [f"p{k}.o" for k in range(len(texts)) if k not in refused], tables, ways[0])
    return refused


def link(folder: Path, objects: Sequence[str], tables: dict[str, list[str | None]], way: C = GCC) -> None:
    """Make folder/batch of objects: for the number of each program its entry, and what says how large results are."""
    driver = Path(__file__).with_name("batch.c").read_text()
    for part, name in _TABLES.items():
        symbols = tables[part]
        declared = "".join(f"extern {part}_function {s};\n" for s in symbols if s)
        table = f"static {part}_function *const {name}[] = {{{', '.join(s or 'NULL' for s in symbols) or 'NULL'}}};\n"
        driver = driver.replace(f"extern {part}_function *const {name}[];\n", declared + table)
    (folder / "batch.c").write_text(driver)
    command = [*way.command(), *way.flags, "-o", "batch", "batch.c", *objects, "-lm"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=TIME_LIMIT)


@dataclass(frozen=True)
class Case:
    """A call: of which program, what the memory holds, the sizes, and those that the array results must have.

    `firsts` says how many bytes behind the beginning of its buffer each pointer points; none where all point there.
    """

    program: int
    buffers: Sequence[bytes]
    sizes: Sequence[int]
    results: Sequence[int] = ()
    firsts: Sequence[int] = ()

    def packed(self, zone: bytes, order: Literal["<", ">"] = "<") -> bytes:
        """As batch.c reads it on a machine with that order of bytes; what the memory holds is in that order already."""
        parts = [struct.pack(f"{order}qq", self.program, len(self.buffers))]
        for data in self.buffers:
            parts += [struct.pack(f"{order}q", len(data) + 2 * len(zone)), zone, data, zone]
        for numbers in (self.sizes, self.results, self.firsts):
            parts.append(struct.pack(f"{order}q{len(numbers)}q", len(numbers), *numbers))
        return b"".join(parts)


@dataclass(frozen=True)
class Answer:
    """What a call left: why there is nothing, or the status, the memory, and beside which buffer something changed."""

    crash: str = ""
    status: int = 0
    buffers: Sequence[bytes] = ()
    spoilt: tuple[str, int] | None = None


GUARDS = {"end": -1, "start": -2}
"""Which end of each buffer lies where memory ends, so that one byte outside ends the process."""


def execute(folder: Path, cases: Sequence[Case], zone: bytes = b"", guard: str = "", way: C = GCC) -> list[Answer]:
    """Run folder/batch on cases. Behind one that ends the process it is started anew.

    With a `guard` there is no red zone. `way` is how it was linked.
    """
    zone = b"" if guard else zone
    first = GUARDS.get(guard, len(zone))
    answers: list[Answer] = []
    while len(answers) < len(cases):
        left = cases[len(answers) :]
        given = struct.pack(f"{way.order}q", first) + b"".join(case.packed(zone, way.order) for case in left)
        done = subprocess.run(
            [*way.start(), str(folder / "batch")], input=given, capture_output=True, timeout=TIME_LIMIT
        )
        output = io.BytesIO(done.stdout)
        for case in left:
            sizes = [8, *(len(data) + 2 * len(zone) for data in case.buffers)]
            status, *buffers = parts = [output.read(size) for size in sizes]
            if [*map(len, parts)] != sizes:
                said = done.stderr.decode(errors="replace").strip() or f"exit status {done.returncode}"
                answers.append(Answer(crash=f"crash: {said[:1500]}"))
                break
            answers.append(_answer(status, buffers, zone, way.order))
    return answers


def _answer(status: bytes, buffers: Sequence[bytes], zone: bytes, order: str) -> Answer:
    edge = len(zone)
    spoilt = [
        (side, k)
        for k, data in enumerate(buffers)
        for side, found in (("before", data[:edge]), ("after", data[len(data) - edge :]))
        if found != zone
    ]
    inner = [data[edge : len(data) - edge] for data in buffers]
    return Answer("", *struct.unpack(f"{order}q", status), inner, next(iter(spoilt), None))
