"""What a helper is: a small static function that emitted C may call."""

from __future__ import annotations

import re

from affdsl.frozen import FrozenValue


class Helper(FrozenValue):
    """A function's text, the other helpers that it calls, and the headers that it needs."""

    text: str
    needs: tuple[str, ...] = ()
    headers: tuple[str, ...] = ("stdint.h",)


def inline_function(result: str, name: str, parameters: str, body: str) -> str:
    """The text of a `static inline` function."""
    lines = "\n".join(line if line[:1] == "#" else f"    {line}" for line in _one_statement_a_line(body))
    return f"static inline {result} {name}({parameters})\n{{\n{lines}\n}}"


def _one_statement_a_line(body: str) -> list[str]:
    lines: list[str] = []
    for line in body.split("\n"):
        match = re.fullmatch(r"((?:if|for|while) \(.*\)) ((?:return\b|\+\+|result).*;)", line.strip())
        indent = line[: len(line) - len(line.lstrip())]
        lines += [line] if match is None else [f"{indent}{match[1]}", f"{indent}    {match[2]}"]
    return lines
