"""Leaves out operations that promise something of buffers, and do nothing else."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects.func import Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import rewrite, substitute

PROMISES = ("memref.assume_alignment", "memref.distinct_objects")
"""Their results are their operands."""


def without_promises(module: Module) -> Module:
    """The same program with buffers in the place of what is promised of them.

    >>> from affdsl.mlir.readers import parse
    >>> print(without_promises(parse('''func.func @f(%A: memref<f32>, %x: f32) {
    ...     %B = memref.assume_alignment %A, 64 : memref<f32>
    ...     memref.store %x, %B[] : memref<f32>
    ...     return
    ... }''')).functions[0].body[0])
    memref.store %x, %A[] : memref<f32>
    """
    new: dict[Value, Value] = {}

    def rule(op: Op) -> tuple[()] | None:
        if not isinstance(op, Opaque) or op.kind not in PROMISES or len(op.results) != len(op.operands):
            return None
        new.update(zip(op.results, op.operands, strict=True))
        return ()

    fewer = rewrite(module, rule)
    meant: dict[Value, Term] = {}
    for value in new:
        source = value
        while source in new:
            source = new[source]
        meant[value] = source
    return substitute(fewer, meant) if new else module
