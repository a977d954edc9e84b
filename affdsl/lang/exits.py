"""Exits that tracing cannot see: `return`, `break` and `continue` that leave a with-block early."""

from __future__ import annotations

import ast

from affdsl.errors import ProgramError
from affdsl.lang.branches import elif_, else_, if_
from affdsl.lang.control import for_, parallel
from affdsl.lang.elements import elements
from affdsl.lang.source import problem
from affdsl.lang.whiles import while_
from affdsl.lang.written import Written

_BLOCKS = (for_, if_, elif_, else_, elements, parallel, while_)


def refuse_early_exits(source: Written) -> None:
    """Raise ProgramError where a return, break or continue would leave a loop or branch of the kernel.

    A with-block of the kernel runs once, while it is built: such a statement would drop the code after it for all
    iterations.
    """
    for statement in source.statements:
        _check(statement, source, block=None, loop=False)


def _check(node: ast.AST, source: Written, *, block: str | None, loop: bool) -> None:
    """Look for exits below node; `block` is the with-block around, `loop` whether a Python loop is inside of that."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
            return
        case ast.Return() if block is not None:
            raise _early("return", block, node, source)
        case ast.Break() | ast.Continue() if block is not None and not loop:
            raise _early("break" if isinstance(node, ast.Break) else "continue", block, node, source)
        case ast.With():
            entered = [name for item in node.items if (name := _block_name(item.context_expr, source))]
            if entered:
                block, loop = entered[-1], False
        case ast.For() | ast.While():
            loop = True
    for child in ast.iter_child_nodes(node):
        _check(child, source, block=block, loop=loop)


def _early(word: str, block: str, node: ast.stmt, source: Written) -> ProgramError:
    advice = {
        "return": "return after all with-blocks; to carry a value out of a loop use iter_args and yield_",
        "break": "to leave a loop of the kernel write affdsl.break_(), in the block of an affdsl.if_",
        "continue": "to skip the rest for some iterations write affdsl.continue_(), in the block of an affdsl.if_",
    }
    return problem(
        ProgramError,
        f"{word} inside of a with-block of {block}",
        "the block runs once, while the kernel is built, for all of its iterations",
        advice[word],
        location=source.place(node),
    )


def _block_name(expr: ast.expr, source: Written) -> str | None:
    """Which of our blocks the expression of a with-statement makes, if it is one."""
    found = source.meaning(expr.func) if isinstance(expr, ast.Call) else None
    return next((block.what for block in _BLOCKS if block is found), None)
