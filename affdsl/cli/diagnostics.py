"""What is wrong with a text and where, in the shape that mlir-opt gives it."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias, get_args

from affdsl.frozen import FrozenValue, replace
from affdsl.ir.location import Location
from affdsl.later import pattern
from affdsl.mlir.registry import OPERATIONS

Severity: TypeAlias = Literal["error", "warning", "remark", "note"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

_SEVERITY = "|".join(SEVERITIES)
_HEAD = pattern(
    rf"(?P<file>[^\n]+?):(?P<line>\d+)(?::(?P<column>\d+))?: (?:(?P<severity>{_SEVERITY}): )?(?P<message>.*)"
)
_CARET = pattern(r"\s*\^~*\s*")


class Diagnostic(FrozenValue):
    """One message. Lines and columns count from 1; 0 where they are not known, and the file is then empty."""

    severity: Severity
    message: str
    file: str = ""
    line: int = 0
    column: int = 0

    def shown(self, text: str, file: str) -> str:
        """`file:line:column: error: message`, then the line of `text` and a caret, if it is in `file`.

        A message without a place is one about the whole file.
        """
        if not self.file:
            return f"{file}: {self.severity}: {self.message}"
        head = f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.message}"
        lines = text.split("\n")
        if self.file != file or not 1 <= self.line <= len(lines):
            return head
        line = lines[self.line - 1].rstrip("\r")
        if not self.column:
            return f"{head}\n{line}"
        before = re.sub(r"[^\t]", " ", line[: self.column - 1])
        return f"{head}\n{line}\n{before.ljust(self.column - 1)}^"


def _of_operation(message: str) -> str:
    """`affine.load: what is wrong` in the form of mlir-opt: `'affine.load' op what is wrong`."""
    name, colon, rest = message.partition(": ")
    dialect, _, what = name.partition(".")
    return f"'{name}' op {rest}" if colon and what in OPERATIONS.get(dialect, ()) else message


def diagnostics_of(error: Exception, file: str, at: Location | None = None) -> list[Diagnostic]:
    """The messages of an error of the reader, the verifier or a pass: one for each place that it names.

    The line of the text and the caret that some errors carry are left out: `Diagnostic.shown` adds them. `file` is
    what the input is called, which may have spaces in its name, and `at` is the place of an error that names none.
    """
    found: list[Diagnostic] = []
    lines = str(error).split("\n")
    skip = 0
    for number, line in enumerate(lines):
        if skip:
            skip -= 1
            continue
        head = _HEAD.fullmatch(line)
        if head is not None and (head["file"] == file or " " not in head["file"]):
            severity: Severity = next((s for s in SEVERITIES if s == head["severity"]), "error")
            place = int(head["line"]), int(head["column"] or 0)
            found.append(Diagnostic(severity, _of_operation(head["message"]), head["file"], *place))
            skip = 2 if number + 2 < len(lines) and _CARET.fullmatch(lines[number + 2]) else 0
        elif found and line.startswith(" "):
            found[-1] = replace(found[-1], message=f"{found[-1].message}\n{line}")
        elif line:
            found.append(Diagnostic("error", line))
    found = found or [Diagnostic("error", str(error) or type(error).__name__)]
    if at is None or found[0].file:
        return found
    return [replace(found[0], file=at.file, line=at.line, column=at.column), *found[1:]]
