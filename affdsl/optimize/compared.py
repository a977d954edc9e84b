"""Whether the loops of one schedule ought to take longer than those of another, by the model of what they compute."""

from __future__ import annotations

from affdsl.ir.dialects import memref
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import IndexType, MemRefType
from affdsl.optimize.computing import slots
from affdsl.passes.analysis.iterations import Iterations, one
from affdsl.schedule.schedule import Schedule

SIZE = 200
"""What each size is, and each index argument."""


def lines_begin(module: Module) -> dict[Value, int]:
    """Where arrays lie, for loops that begin with their lines (`align`): as if each were at the start of one."""
    return {op.result: 0 for op in walk(module) if isinstance(op, memref.ExtractAlignedPointerAsIndex)}


def instructions(s: Schedule) -> float:
    """How many instructions a call takes the time of where each size is 200, what waits for others counted as long.

    Raises UncountedError where data decides how often loops run.

    >>> import affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def sums(x: af.f64[N, N], y: af.f64[N]):
    ...     with af.for_(N) as i, af.for_(N) as j:
    ...         y[i] += x[i, j]
    >>> s = af.Schedule(sums).scalar_replace("j")
    >>> before = instructions(s)
    >>> instructions(af.Schedule(sums).unroll_jam("i", 4).scalar_replace("j")) < before / 3
    True
    """
    function, shapes = s.function, {}
    known = {v: SIZE for v in function.args if isinstance(v.type, IndexType)}
    for v, shape in zip(function.args, function.shapes, strict=False):
        if isinstance(v.type, MemRefType) and shape is not None:
            shapes[v] = [e.evaluate(known) for e in shape]
    of = Iterations(s.module, known | lines_begin(s.module), shapes)
    return sum(slots(of, op, one()) for op in function.body if any(op.blocks()))
