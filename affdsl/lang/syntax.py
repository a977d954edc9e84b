"""The part of the user's source that runs now, as a syntax tree, where the source is to be had."""

from __future__ import annotations

import ast
import builtins
import linecache
from types import FrameType


def running(frame: FrameType, at: int | None = None) -> list[ast.AST]:
    """The expression that a frame computes, or did at an instruction, what that is part of, and so on outwards.

    It is found by its columns. Nothing is found where there is no source, where that was changed after it was compiled,
    and where Python was told to forget columns.
    """
    position = list(frame.f_code.co_positions())[(frame.f_lasti if at is None else at) // 2]
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    try:
        path: list[ast.AST] = [ast.parse("".join(lines))]
    except SyntaxError:
        return []
    found: list[ast.AST] = []
    while path:  # down to the innermost expression around the position
        if _columns(path[-1]) == position:
            found = path[::-1]
        inside = (child for child in ast.iter_child_nodes(path[-1]) if _holds(child, position))
        inner = next(inside, None)
        if inner is None:
            break
        path = [*path, inner]
    return found


def meaning(frame: FrameType, expr: ast.expr) -> object:
    """What a name, or an attribute of it, stands for in a frame; None where that is not known."""
    match expr:
        case ast.Name(id=name):
            return next((x[name] for x in (frame.f_locals, frame.f_globals, vars(builtins)) if name in x), None)
        case ast.Attribute(value=inner, attr=name):
            return getattr(meaning(frame, inner), name, None)
    return None


def _columns(node: ast.AST) -> tuple[int | None, ...]:
    return tuple(getattr(node, name, None) for name in ("lineno", "end_lineno", "col_offset", "end_col_offset"))


def _holds(node: ast.AST, position: tuple[int | None, ...]) -> bool:
    """Whether the source of a node, or of some node in it where it has none, is around a position."""
    first, last, left, right = _columns(node)
    line, end, column, end_column = position
    if line is None or end is None or column is None or end_column is None:
        return False
    if first is None or last is None or left is None or right is None:
        return any(_holds(child, position) for child in ast.iter_child_nodes(node))
    return (first, left) <= (line, column) and (end, end_column) <= (last, right)
