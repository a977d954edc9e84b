"""The rules of the loops and choices of scf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import scf
from affdsl.ir.expr import Value
from affdsl.ir.messages import shown
from affdsl.ir.types import I1, INDEX
from affdsl.ir.verifier.context import Context, Rules
from affdsl.ir.verifier.types import must_agree, must_have


def while_loop(op: scf.While, context: Context) -> Iterator[str]:
    """Initial values for the first block, and results for the second, each of one type."""
    yield from _pairs("initial values", op.inits, "arguments of the first block", op.before_args)
    yield from _pairs("results", op.results, "arguments of the second block", op.after_args)


def _pairs(what: str, values: Sequence[Value], other: str, others: Sequence[Value]) -> Iterator[str]:
    if len(values) != len(others):
        yield f"has {len(values)} {what} and {len(others)} {other}, which must be equally many"
        return
    for value, argument in zip(values, others, strict=True):
        yield from must_agree(value, argument)


def condition(op: scf.Condition, context: Context) -> Iterator[str]:
    """The condition is i1."""
    yield from must_have(I1, op.condition)


def parallel(op: scf.Parallel, context: Context) -> Iterator[str]:
    """At least one counter, each with bounds and a positive step; an initial value for each result."""
    counts = len(op.ivs), len(op.lower), len(op.upper), len(op.steps)
    if len(set(counts)) > 1:
        text = "has {} counters, {} lower bounds, {} upper bounds and {} steps, which must be equally many"
        yield text.format(*counts)
    if not op.ivs:
        yield "needs at least one counter"
    yield from must_have(INDEX, *op.ivs, *op.lower, *op.upper, *op.steps)
    for step in op.steps:
        if context.positions.constants.get(step, 1) <= 0:
            yield f"the step must be positive, but is {context.positions.constants[step]}"
    yield from _pairs("initial values", op.inits, "results", op.results)


def reduce(op: scf.Reduce, context: Context) -> Iterator[str]:
    """A block for each value, which combines two values of its type."""
    if len(op.values) != len(op.combiners):
        yield f"has {len(op.values)} values and {len(op.combiners)} blocks, which must be equally many"
        return
    for value, combiner in zip(op.values, op.combiners, strict=True):
        if not isinstance(combiner, scf.Combiner):
            yield f"the block for {shown(value)} is a {combiner.name}"
        else:
            yield from must_agree(value, combiner.left, combiner.right)


def index_switch(op: scf.IndexSwitch, context: Context) -> Iterator[str]:
    """An index; cases for different numbers."""
    yield from must_have(INDEX, op.argument)
    cases = [case for case in op.cases if isinstance(case, scf.Case)]
    if len(cases) != len(op.cases):
        yield "has something else than cases among its cases"
    numbers = [case.number for case in cases]
    for number in sorted({n for n in numbers if numbers.count(n) > 1}):
        yield f"has more than one case for {number}"


def nothing(op: Op, context: Context) -> Iterator[str]:
    """No rule of its own."""
    return iter(())


RULES: Rules = {
    scf.While: while_loop,
    scf.Condition: condition,
    scf.Parallel: parallel,
    scf.Reduce: reduce,
    scf.Combiner: nothing,
    scf.ReduceReturn: nothing,
    scf.IndexSwitch: index_switch,
    scf.Case: nothing,
    scf.ExecuteRegion: nothing,
}
"""What each class of these operations must keep; how their blocks end is in `endings`."""
