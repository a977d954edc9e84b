"""Exits that tracing cannot see: `return`, `break` and `continue` that leave a with-block early."""

from __future__ import annotations

import ast
import contextlib
import inspect
from types import FunctionType

from affdsl.errors import ProgramError
from affdsl.ir.location import Location
from affdsl.lang.branches import elif_, else_, if_
from affdsl.lang.control import for_, parallel
from affdsl.lang.source import problem
from affdsl.lang.whiles import while_

_BLOCKS = (for_, if_, elif_, else_, parallel, while_)


def refuse_early_exits(function: FunctionType) -> None:
    """Raise ProgramError where a return, break or continue would leave a loop or branch of the kernel.

    A with-block of the kernel runs once, while it is built: such a statement would drop the code after it for all
    iterations. Where the source is not to be had (typed at a plain prompt of an old Python), nothing is checked.
    """
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError:
        return
    inside = lines[0][:1].isspace()
    try:
        tree = ast.parse("if True:\n" * inside + "".join(lines))
    except SyntaxError:
        return  # the file was changed after it was imported
    names = {**function.__globals__, **_nonlocals(function)}
    for node in ast.walk(tree) if inside else tree.body:
        if isinstance(node, ast.FunctionDef):
            for statement in node.body:
                start = Location(function.__code__.co_filename, first - 1 - inside)
                _check(statement, names, start, block=None, loop=False)
            return


def _nonlocals(function: FunctionType) -> dict[str, object]:
    """The variables of enclosing functions that are assigned by now: the kernel's own name is not."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):
            found[name] = cell.cell_contents
    return found


def _check(node: ast.AST, names: dict[str, object], start: Location, *, block: str | None, loop: bool) -> None:
    """Look for exits below node; `block` is the with-block around, `loop` whether a Python loop is inside of that."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
            return
        case ast.Return() if block is not None:
            raise _early("return", block, node, start)
        case ast.Break() | ast.Continue() if block is not None and not loop:
            raise _early("break" if isinstance(node, ast.Break) else "continue", block, node, start)
        case ast.With():
            entered = [name for item in node.items if (name := _block_name(item.context_expr, names))]
            if entered:
                block, loop = entered[-1], False
        case ast.For() | ast.While():
            loop = True
    for child in ast.iter_child_nodes(node):
        _check(child, names, start, block=block, loop=loop)


def _early(word: str, block: str, node: ast.stmt, start: Location) -> ProgramError:
    advice = {
        "return": "return after all with-blocks; to carry a value out of a loop use iter_args and yield_",
        "break": "a loop that ends by a condition is `with affdsl.while_(lambda: ...):`",
        "continue": "to skip the rest for some iterations write `with affdsl.if_(condition):` around it",
    }
    return problem(
        ProgramError,
        f"{word} inside of a with-block of {block}",
        "the block runs once, while the kernel is built, for all of its iterations",
        advice[word],
        location=Location(start.file, start.line + node.lineno),
    )


def _block_name(expr: ast.expr, names: dict[str, object]) -> str | None:
    """Which of our blocks the expression of a with-statement makes, if it is one."""
    if not isinstance(expr, ast.Call):
        return None
    found = _look_up(expr.func, names)
    return next((b.what for b in _BLOCKS if b is found), None)


def _look_up(expr: ast.expr, names: dict[str, object]) -> object:
    match expr:
        case ast.Name(id=name):
            return names.get(name)
        case ast.Attribute(value=inner, attr=name):
            return getattr(_look_up(inner, names), name, None)
    return None
