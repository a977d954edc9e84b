"""Lines of C: their indentation, and long ones broken where a person would break them."""

from __future__ import annotations

WIDTH = 110
_OPERATORS = frozenset([*"-+*/%|&^<>?:", "<=", ">=", "==", "!=", "&&", "||"])


def indent_of(line: str) -> int:
    """The number of spaces that a line starts with."""
    return len(line) - len(line.lstrip())


def wrapped(line: str) -> list[str]:
    """line in pieces of at most WIDTH columns where that can be: broken outside of as many parentheses as possible.

    >>> for piece in wrapped("    x = " + " + ".join(["f(a, b)"] * 14) + ";"):
    ...     print(piece)
        x = f(a, b) + f(a, b) + f(a, b) + f(a, b) + f(a, b) + f(a, b) + f(a, b) + f(a, b) + f(a, b) + f(a, b)
                + f(a, b) + f(a, b) + f(a, b) + f(a, b);
    """
    if len(line) <= WIDTH or line.lstrip().startswith(("#", "/*")):
        return [line]
    further = " " * (indent_of(line) + 8)
    pieces: list[str] = []
    indent, begin, start = "", 0, line.find(" = ") + 3
    while len(indent) + len(line) - begin > WIDTH:
        shown = indent + line[begin : begin + 2 * WIDTH]  # no more of it matters for where the next piece ends
        at = _best_break(shown, start)
        if at is None:
            break
        pieces.append(shown[:at])
        begin += at + 1 - len(indent)
        indent, start = further, len(further)
    return [*pieces, indent + line[begin:]]


def _best_break(line: str, start: int) -> int | None:
    """The last of the outermost places where a line can be broken."""
    depths: list[int] = []
    depth = 0
    for character in line:
        depth += (character in "([{") - (character in ")]}")
        depths.append(depth)
    half = start + (WIDTH - start) // 3
    first = max(start, indent_of(line) + 1)
    places = [p for p in range(first, min(len(line), WIDTH + 1)) if line[p] == " " and _may_break(line, p)]
    good = [p for p in places if p >= half] or places
    return min(good, key=lambda p: (depths[p], line[p + 1] in "*/%", -p), default=None)


def _may_break(line: str, at: int) -> bool:
    """Whether a space stands behind a comma or in front of an operator."""
    return line[at - 1] in ",;" or line[at + 1 : line.find(" ", at + 1)] in _OPERATORS
