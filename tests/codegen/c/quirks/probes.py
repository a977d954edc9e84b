"""Programs that show whether a compiler does what a row of `affdsl.codegen.c.quirks` says: one for each of most rows.

The first lines of `NAME.c` say how its row is seen, and with which flags:

    run: FLAGS                      it ends with something else than 0, or not in time
    compile: FLAGS                  it is refused, or not without words
    assembly: FLAGS                 its assembly has
    shows: EXPRESSION, N times      so many matches, or one where no number is given
"""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

from affdsl.codegen.c.quirks import QUIRKS, Quirk, Versions

TIMEOUT = 20
_HOW = re.compile(r"// (run|compile|assembly): (.*)\n(?:// shows: (.*?)(?:, (\d+) times)?\n)?")
UNSHOWN = frozenset({"inlined_entry", "long_lanes_chosen", "loads_behind_stores", "many_rows", "masks_across_tiles"})
"""The rows that no small program shows, beside those of compilers that only take long."""


def shown() -> list[str]:
    """The rows that have a program, in the order of the table."""
    return [name for name in QUIRKS if _file(name).exists()]


def flags(name: str) -> list[str]:
    """The flags of the program for a row."""
    return _read(name)[1]


def does(compiler: str, name: str, folder: Path) -> bool:
    """Whether a compiler does what the row says."""
    how, given, pattern, least = _read(name)
    if how == "assembly":
        made = _ran([compiler, *given, "-w", "-S", "-o", "-", str(_file(name))])
        made.check_returncode()
        return len(re.findall(pattern, made.stdout)) >= least
    program = str(folder / name)
    made = _ran([compiler, *given, *(["-c"] if how == "compile" else []), "-o", program, str(_file(name))])
    if how == "compile":
        return made.returncode != 0 or bool(made.stderr)
    made.check_returncode()
    return _ran([program]).returncode != 0


def says(row: Quirk, kind: str, version: int) -> bool:
    """Whether the row has it that a version of gcc or clang does so."""
    known: Versions | None = row.clang if kind == "clang" else row.gcc
    return known is not None and known[0] <= version <= known[1]


@cache
def identity(compiler: str) -> tuple[str, int]:
    """Whether a compiler is gcc or clang, and its version."""
    macros = _ran([compiler, "-dM", "-E", "-x", "c", "/dev/null"]).stdout
    kind = "clang" if "#define __clang__ " in macros else "gcc"
    name = {"clang": "__clang_major__", "gcc": "__GNUC__"}[kind]
    found = re.search(rf"^#define {name} (\d+)$", macros, re.MULTILINE)
    assert found is not None, f"{compiler} is neither gcc nor clang"
    return kind, int(found[1])


@cache
def _read(name: str) -> tuple[str, list[str], str, int]:
    found = _HOW.match(_file(name).read_text())
    assert found is not None, f"{name}.c does not say how its row is seen"
    return found[1], found[2].split(), found[3] or "", int(found[4] or 1)


def _file(name: str) -> Path:
    return Path(__file__).with_name(f"{name}.c")


def _ran(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
