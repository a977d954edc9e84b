"""Which values differ between iterations of a loop that run as lanes of vectors."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.blocks import yielded
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, math, memref, scf
from affdsl.ir.expr import Value
from affdsl.passes.transforms.hoist.faults import OPEN_CASTS, OPEN_KINDS


class Varying:
    """The values of a loop that may differ from lane to lane; all others are the same in each lane.

    What may fail where not every lane runs counts as varying: lanes that do not run load nothing.

    Parameters
    ----------
    differing
        Values that differ in any case: those that the loop carries, but for those that it yields as they are, and what
        is made for one iteration after the other.
    may_idle
        Whether all lanes may be ones that do not run.
    """

    def __init__(self, loop: affine.For, differing: frozenset[Value], *, may_idle: bool = False) -> None:
        self._values: set[Value] = {loop.iv, *differing}
        before = -1
        while before != len(self._values):  # what inner loops carry may vary because of what they yield
            before = len(self._values)
            self._block(loop.body, masked=may_idle)

    def __contains__(self, value: Value) -> bool:
        return value in self._values

    def of(self, op: Op) -> bool:
        """Whether an operation reads something that varies."""
        return any(v in self._values for v in op.reads())

    def add(self, op: Op) -> None:
        """An operation that takes the place of others in the loop."""
        if self.of(op):
            self._values.update(op.defines())

    def _block(self, block: Block, *, masked: bool) -> None:
        for op in block:
            match op:
                case affine.For() | scf.For():
                    self._loop(op, masked=masked)
                case affine.If() | scf.If():
                    self._condition(op, masked=masked)
                case scf.While():
                    self._while(op, masked=masked)
                case _:
                    if self.of(op) or (masked and _may_fail(op)):
                        self._values.update(op.defines())

    def _loop(self, loop: affine.For | scf.For, *, masked: bool) -> None:
        differs = any(v in self._values for v in bounds_of(loop))
        self._block(loop.body, masked=masked or differs)
        yielded = loop.body[-1].values if loop.body and isinstance(loop.body[-1], affine.Yield | scf.Yield) else ()
        for init, carried, value, result in zip(loop.inits, loop.carried, yielded, loop.results, strict=True):
            if differs or any(each in self._values for each in (init, carried, value)):
                self._values.update((carried, result))

    def _while(self, loop: scf.While, *, masked: bool) -> None:
        condition = loop.before[-1]
        assert isinstance(condition, scf.Condition), "the first block ends so"
        differs = condition.condition in self._values
        self._block(loop.before, masked=masked)
        for arg, init, value in zip(loop.before_args, loop.inits, yielded(loop.after), strict=True):
            if differs or init in self._values or value in self._values:
                self._values.add(arg)
        for arg, result, value in zip(loop.after_args, loop.results, condition.values, strict=True):
            if differs or value in self._values:
                self._values.update((arg, result))
        self._block(loop.after, masked=False)  # it runs only if some lane does

    def _condition(self, op: affine.If | scf.If, *, masked: bool) -> None:
        differs = self.of(op)
        for block in op.blocks():
            self._block(block, masked=masked or differs)
            last = block[-1] if block else None
            for result, value in zip(op.results, getattr(last, "values", ()), strict=False):
                if differs or value in self._values:
                    self._values.add(result)


def bounds_of(loop: affine.For | scf.For) -> Iterator[Value]:
    """The values that say which iterations a loop runs."""
    if isinstance(loop, scf.For):
        yield from (loop.lower, loop.upper, loop.step)
        return
    for e in (*loop.lower, *loop.upper):
        yield from e.values()


def _may_fail(op: Op) -> bool:
    match op:
        case arith.Binary(kind=kind):
            return kind in OPEN_KINDS
        case arith.Cast(kind=kind):
            return kind in OPEN_CASTS
        case math.Binary(kind=kind):
            return kind == "ipowi"
    return isinstance(op, affine.Load | memref.Load)
