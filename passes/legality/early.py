"""Loops that end early, and steps that would run iterations behind the end of one."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.passes.analysis.early_exits import by_break, early_loops
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name

IN_ORDER = "an iteration runs only if none before it has left the loop"


def require_to_end(op: Op, root: Op, what: str, inside: str = "") -> None:
    """Refuse what runs several iterations of a loop at once, where the loop, or one in it, may end early.

    Parameters
    ----------
    op
        The loop.
    root
        The function.
    what
        What is asked for, to follow the word "cannot".
    inside
        Why not, where a loop inside of it ends early; empty where that is nothing to it.

    Raises
    ------
    IllegalTransform
        With the line of the break_.
    """
    for loop in early_loops(op, root):
        left = by_break(loop, root)
        if loop is op:
            raise refusal(op, what, f"it ends early, by {left}: {IN_ORDER}")
        if inside:
            why = f"in it the loop {name(loop.iv)} ends early, by {left}: {inside}"
            raise refusal(op, what, why)
