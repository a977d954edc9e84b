"""What stands between two operations that are to run together: before them, or behind them."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.messages import shown
from affdsl.ir.traverse import walk
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.summary import Summaries
from affdsl.passes.legality.order import is_barrier
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name


def after_both(dependences: Dependences, first: Op, between: Sequence[Op]) -> set[Op]:
    """What stands behind an operation, before another one, and must not run before the first one."""
    summaries = Summaries(dependences.accesses.module)
    late: list[Op] = [first]
    for op in between:
        if any(_depends(dependences, summaries, each, op) for each in late):
            late.append(op)
    return set(late[1:])


def require_values(
    first: affine.For | affine.Parallel, second: affine.For | affine.Parallel, after: set[Op], what: str
) -> None:
    """Refuse where the second loop uses a value that is known only after the first one, or after what runs then.

    Raises
    ------
    IllegalTransform
        With the value.
    """
    known = {value: op for op in (first, *after) for value in op.defines()}
    for op in walk(second):
        for value in op.mentions():
            if value in known:
                names = [name(next(iter(loop.binds()))) for loop in (second, first)]
                reason = f"the loop {names[0]} uses {shown(value)}, which is known only after the loop {names[1]}"
                raise refusal(known[value], what, reason)


def _depends(dependences: Dependences, summaries: Summaries, source: Op, sink: Op) -> bool:
    """Whether an operation of a block must run after another one before it."""
    made = set(source.defines())
    if any(not made.isdisjoint(inner.mentions()) for inner in walk(sink)):
        return True
    if all(any(is_barrier(inner, summaries) for inner in walk(op)) for op in (source, sink)):
        return True
    depth = len(dependences.accesses.domains[source].ivs) + 1
    return any(
        dependences.at(a, b, depth) is not None
        for a in dependences.accesses.inside(source)
        for b in dependences.accesses.inside(sink)
        if "write" in (a.kind, b.kind)
    )
