"""The source of a kernel as a tree, where it is to be had, with what its names stand for."""

from __future__ import annotations

import ast
import contextlib
import inspect
from types import FunctionType

from affdsl.frozen import Frozen
from affdsl.ir.location import Location


class Written(Frozen):
    """The statements of a kernel.

    Attributes
    ----------
    statements
        Of its body.
    names
        What names stand for that are not its own.
    start
        Where to count the lines of the tree from.
    """

    statements: tuple[ast.stmt, ...]
    names: dict[str, object]
    start: Location

    def place(self, node: ast.expr | ast.stmt) -> Location:
        """Where a part of the tree stands in the user's file."""
        return Location(self.start.file, self.start.line + node.lineno)

    def meaning(self, expr: ast.expr) -> object:
        """What a name, or an attribute of it, stands for; None where that is not known."""
        match expr:
            case ast.Name(id=name):
                return self.names.get(name)
            case ast.Attribute(value=inner, attr=name):
                return getattr(self.meaning(inner), name, None)
        return None


def source_of(function: FunctionType) -> Written | None:
    """The source of a kernel; None where it is not to be had, as typed at a plain prompt of an old Python."""
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError:
        return None
    inside = lines[0][:1].isspace()
    try:
        tree = ast.parse("if True:\n" * inside + "".join(lines))
    except SyntaxError:
        return None  # the file was changed after it was imported
    found = next((x for x in (ast.walk(tree) if inside else tree.body) if isinstance(x, ast.FunctionDef)), None)
    if found is None:
        return None
    own = set(function.__code__.co_varnames) | set(function.__code__.co_cellvars)
    names = {**function.__globals__, **_nonlocals(function)}
    known = {name: x for name, x in names.items() if name not in own}
    return Written(tuple(found.body), known, Location(function.__code__.co_filename, first - 1 - inside))


def _nonlocals(function: FunctionType) -> dict[str, object]:
    """The variables of enclosing functions that are assigned by now: the kernel's own name is not."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):
            found[name] = cell.cell_contents
    return found
