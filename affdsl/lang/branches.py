"""Branches as with-blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.ir.core import Block
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.lang.blocks import WithBlock, closed, yielded_values
from affdsl.lang.builder import current
from affdsl.lang.dtypes import DType, bool_
from affdsl.lang.indices import Condition, require_known
from affdsl.lang.scalars import Scalar
from affdsl.lang.source import problem
from affdsl.lang.traced import Traced


class if_(WithBlock):  # noqa: N801
    """A branch: `with if_(i >= 1):`, optionally followed by `with else_():`.

    The condition is affine (comparisons of indices, combined with & | ~) or a bool_ computed from data, and then it is
    an `scf.if`. With result types, `with if_(i >= 1, f32) as x:`, both blocks `yield_` a value, and after them x is it.
    Several types are given one by one, or as a tuple.
    """

    what = "if_"
    advice = "name one for each result type: `with affdsl.if_(c, affdsl.f32, affdsl.f32) as (x, y):`"

    def __init__(self, condition: object, *results: DType | Sequence[DType]) -> None:
        if isinstance(condition, bool | np.bool_):
            condition = Condition((), negated=not condition)
        if isinstance(condition, Traced) and not isinstance(condition, Condition):
            condition = scalar = condition.scalar()
            if scalar.dtype != bool_:
                raise problem(ProgramTypeError, f"if_ needs a condition, got {scalar.describe()}", "compare it: x != 0")
        if not isinstance(condition, Condition | Scalar):
            raise problem(ProgramTypeError, f"if_ needs a condition like i < n, got {condition!r}")
        if isinstance(condition, Condition):
            require_known(tuple(c.expr for c in condition.constraints))
        if isinstance(condition, Condition) and not all(current().is_affine(c.expr) for c in condition.constraints):
            condition = condition.scalar()
        types = [x for given in results for x in (given if isinstance(given, tuple | list) else (given,))]
        for dtype in types:
            if not isinstance(dtype, DType):
                raise problem(ProgramTypeError, f"the results of if_ are given by their types, got {dtype!r}")
        self.condition = condition
        self.results = tuple(types)
        super().__init__()

    def gives(self) -> int:
        """The results."""
        return len(self.results)

    def begin(self, names: tuple[str, ...]) -> Scalar | tuple[Scalar, ...] | None:
        """What will be the results."""
        self.hints = names if len(names) == len(self.results) else ("",) * len(self.results)
        self.outcomes = tuple(Scalar(None, dtype) for dtype in self.results)
        current().open("the branch").yields = self.results
        return None if not self.outcomes else self.outcomes[0] if len(self.outcomes) == 1 else self.outcomes

    def end(self) -> None:
        """Emit the branch; an else_ that follows replaces it by one with both blocks."""
        self.then = self._block()
        if not self.results:
            current().emit(self._operation(()))
        else:
            current().require_complete()
            current().block.awaiting = self.location
        current().block.last_closed = self

    def finish(self, orelse: Block) -> None:
        """Emit the branch with both of its blocks."""
        current().block.awaiting = None
        if not self.results:
            current().block.ops.pop()
        op = self._operation(orelse)
        current().emit(op)
        for outcome, result in zip(self.outcomes, op.results, strict=True):
            outcome.bind(result)

    def _block(self) -> Block:
        yielded = yielded_values(current().block)
        return closed(affine.Yield if isinstance(self.condition, Condition) else scf.Yield, yielded, self.location)

    def _operation(self, orelse: Block) -> affine.If | scf.If:
        results = tuple(Value(d.type, h, self.location) for d, h in zip(self.results, self.hints, strict=True))
        then = self.then
        if isinstance(self.condition, Scalar):
            return scf.If(self.condition.value, then, orelse, results, location=self.location)
        if self.condition.negated:
            then, orelse = orelse, then
        constraints = self.condition.constraints or (Constraint(Affine()),)
        return affine.If(constraints, then, orelse, results, location=self.location)


class else_(WithBlock):  # noqa: N801
    """What runs where the `if_` just before did not: `with else_():`."""

    what = "else_"
    advice = "the results have their names from the if_"

    def gives(self) -> int:
        """Nothing: the results are the if_'s."""
        return 0

    def begin(self, names: tuple[str, ...]) -> None:
        """Find the if_ that this belongs to."""
        before = current().block.last_closed
        if not isinstance(before, if_):
            raise problem(
                ProgramError,
                "else_ must follow the block of an if_ directly",
                "put `with affdsl.else_():` right after the with-block of its if_, at the same indentation",
            )
        self.branch = before
        block = current().open("the else_")
        block.yields = before.results

    def end(self) -> None:
        """Emit the whole branch."""
        self.branch.finish(self.branch._block())
