"""Checks the messages of a run against what comments in the input expect, as `mlir-opt --verify-diagnostics` does.

// expected-error @+1 {{text}}          an error on the next line whose message has this text
// expected-warning, -remark, -note     the same for others
@-2 @above @below @unknown              lines counted from the comment, the neighbours, no place at all
// expected-error-re {{a {{[0-9]+}}}}   with regular expressions inside the inner braces
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from affdsl.cli.diagnostics import SEVERITIES, Diagnostic, Severity
from affdsl.frozen import FrozenValue
from affdsl.later import pattern

Strictness: TypeAlias = Literal["all", "only-expected"]

_COMMENT = pattern(
    r"expected-(?P<severity>error|note|remark|warning)(?P<regex>-re)? *"
    r"(?:@(?P<where>[+-]\d+|above|below|unknown))? *\{\{(?P<text>.*)\}\}\s*$"
)
_STARTED = pattern(r"//.*(expected-(?:error|note|remark|warning)\b)")
_INNER = pattern(r"\{\{(.*?)\}\}")


class Expectation(FrozenValue):
    """A message that a comment asks for; `target` is the line that it should name, None for no place."""

    severity: Severity
    target: int | None
    text: str
    pattern: re.Pattern[str]
    line: int
    column: int

    def fits(self, diagnostic: Diagnostic) -> bool:
        """Whether the place and the message of a diagnostic are what is expected, whatever its severity."""
        place = diagnostic.line if diagnostic.file else None
        return place == self.target and self.pattern.search(diagnostic.message) is not None


def compare(text: str, file: str, produced: Iterable[Diagnostic], strictness: Strictness) -> list[str]:
    """What is wrong, as messages to print; nothing if each expectation was met and nothing else was produced.

    An expectation may be met several times. "only-expected" allows messages that nobody expected.
    """
    problems: list[str] = []
    expectations = list(_read(text, file, problems))
    met: set[int] = set()
    for diagnostic in produced:
        fitting = [n for n, e in enumerate(expectations) if e.fits(diagnostic)]
        exact = [n for n in fitting if expectations[n].severity == diagnostic.severity]
        met.update(exact[:1])
        if exact or strictness == "only-expected":
            continue
        if fitting:
            near = expectations[fitting[-1]]
            what = f"'{diagnostic.severity}' diagnostic emitted when expecting a '{near.severity}'"
            problems.append(Diagnostic("error", what, file, near.line, near.column).shown(text, file))
        else:
            what = f"unexpected {diagnostic.severity}: {diagnostic.message}"
            place = diagnostic.file, diagnostic.line, diagnostic.column
            problems.append(Diagnostic("error", what, *place).shown(text, file))
    for n, e in enumerate(expectations):
        if n not in met:
            what = f'expected {e.severity} "{e.text}" was not produced'
            if e.target is None:
                problems.append(f"<unknown>:0: error: {what}")
            else:
                shown = Diagnostic("error", what, file, e.line, e.column).shown(text, file)
                problems.append(shown + "~" * (len(e.text) - 1))
    return problems


def ignored(text: str, file: str) -> list[str]:
    """Warnings for comments that look like an expectation and are none: mlir-opt passes over them without a word."""
    what = "this is no expectation that is understood, and is ignored: write expected-error @+1 {{text}}"
    return [
        Diagnostic("warning", what, file, number, started.start(1) + 1).shown(text, file)
        for number, line in enumerate(text.split("\n"), 1)
        if (started := _STARTED.search(line)) is not None and _COMMENT.search(line) is None
    ]


def _read(text: str, file: str, problems: list[str]) -> Iterator[Expectation]:
    """The expectations of a text; what is wrong with one is added to `problems`."""
    lines = text.split("\n")
    comments = [_COMMENT.search(line) for line in lines]
    for number, found in enumerate(comments, 1):
        if found is None:
            continue
        severity = next(s for s in SEVERITIES if s == found["severity"])
        column = found.start() + 1
        try:
            pattern = _pattern(found["text"], regex=found["regex"] is not None)
        except re.error as error:
            problems.append(Diagnostic("error", f"invalid regex: {error}", file, number, column).shown(text, file))
            continue
        yield Expectation(severity, _target(found["where"], number, comments), found["text"], pattern, number, column)


def _target(where: str | None, line: int, comments: Sequence[object]) -> int | None:
    """The line that a comment means; `@above` and `@below` pass over lines that have such comments themselves."""
    match where:
        case None:
            return line
        case "above":
            return next((n for n in range(line - 1, 0, -1) if comments[n - 1] is None), 0)
        case "below":
            last = len(comments)
            return next((n for n in range(line + 1, last + 1) if comments[n - 1] is None), last)
        case "unknown":
            return None
        case distance:
            return line + int(distance)


def _pattern(text: str, *, regex: bool) -> re.Pattern[str]:
    """A regular expression for the text: all of it literal, or all but what stands in inner braces."""
    if not regex:
        return re.compile(re.escape(text))
    parts = _INNER.split(text)
    return re.compile("".join(f"({part})" if n % 2 else re.escape(part) for n, part in enumerate(parts)))
