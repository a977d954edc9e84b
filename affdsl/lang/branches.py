"""Branches as with-blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np

from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block
from affdsl.ir.dialects import affine, arith, scf
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.location import Location
from affdsl.lang.blocks import Bound, WithBlock, closed, yielded_values
from affdsl.lang.builder import current
from affdsl.lang.dtypes import DType, bool_
from affdsl.lang.indices import Condition, require_known
from affdsl.lang.scalars import Scalar
from affdsl.lang.source import problem
from affdsl.lang.structured import falls
from affdsl.lang.traced import Operand, Traced
from affdsl.lang.type_variables import DTypes, being_made


class _Arm(FrozenValue):
    """A condition, what computes it where those before it do not hold, and what runs where it holds."""

    before: Block
    condition: Condition | Scalar
    then: Block
    location: Location


class if_(WithBlock[Bound]):  # noqa: N801
    """A branch: `with if_(i >= 1):`, which `with elif_(i >= 0):` and `with else_():` may follow.

    With result types, `with if_(i >= 1, f32) as x:`, all blocks `yield_` a value, and after them x is it.

    Parameters
    ----------
    condition
        Comparisons of indices, combined with & | ~; or a bool_ computed from data, and then it is an `scf.if`.
    results
        The types of what it gives: one by one, or as a tuple.

    Raises
    ------
    ProgramError
        And its kinds, with the user's line: for what is no condition or no type, and where a block yields nothing.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def sign(x: af.f64[N], y: af.i32[N]):
    ...     with af.for_(N) as i:
    ...         with af.if_(x[i] > 0):
    ...             y[i] = 1
    ...         with af.elif_(x[i] < 0):
    ...             y[i] = -1
    ...         with af.else_():
    ...             y[i] = 0
    >>> y = np.empty(3, "i4")
    >>> sign(np.array([2.5, -1.0, 0.0]), y)
    >>> y.tolist()
    [1, -1, 0]
    """

    what = "if_"
    repeats = False
    advice = "name one for each result type: `with affdsl.if_(c, affdsl.f32, affdsl.f32) as (x, y):`"

    @overload
    def __init__(self: if_[None], condition: Operand, /) -> None: ...
    @overload
    def __init__(self: if_[Scalar], condition: Operand, result: DType | DTypes, /) -> None: ...
    @overload
    def __init__(
        self: if_[tuple[Scalar, Scalar]], condition: Operand, first: DType | DTypes, second: DType | DTypes, /
    ) -> None: ...
    @overload
    def __init__(
        self: if_[tuple[Scalar, ...]], condition: Operand, *results: DType | DTypes | Sequence[DType | DTypes]
    ) -> None: ...
    def __init__(self, condition: object, *results: DType | DTypes | Sequence[DType | DTypes]) -> None:
        self.condition = decided("if_", condition)
        given = [x for result in results for x in (result if isinstance(result, tuple | list) else (result,))]
        types = list(map(being_made, given))
        for dtype in types:
            if not isinstance(dtype, DType):
                raise problem(ProgramTypeError, f"the results of if_ are given by their types, got {dtype!r}")
        self.results = tuple(types)
        self.arms: list[_Arm] = []
        super().__init__()

    def gives(self) -> int:
        """The results."""
        return len(self.results)

    def begin(self, names: tuple[str, ...]) -> Scalar | tuple[Scalar, ...] | None:
        """What will be the results."""
        self.hints = names if len(names) == len(self.results) else ("",) * len(self.results)
        self.outcomes = tuple(Scalar(None, dtype) for dtype in self.results)
        block = current().open("the branch")
        block.yields, block.is_branch = self.results, True
        return None if not self.outcomes else self.outcomes[0] if len(self.outcomes) == 1 else self.outcomes

    def end(self) -> None:
        """Emit the branch; an elif_ or else_ that follows replaces it by one with its block."""
        self.extend((), self.condition, self.location)

    def extend(self, before: Block, condition: Condition | Scalar, location: Location) -> None:
        """The open block is what runs where a condition holds, and those before it do not."""
        self.arms.append(_Arm(before, condition, _ended(condition, self.location), location))
        if len(self.arms) > 1:
            self._take_back()
        if not self.results:
            current().emit(self._operation(()))
        else:
            current().require_complete()
            current().block.awaiting = self.location
        current().block.last_closed = self
        self.place = len(current().block.ops)
        """Where what follows the branch begins."""

    def finish(self) -> None:
        """The open block is what runs where no condition holds: emit the whole branch."""
        last = current().block
        orelse = _ended(self.arms[-1].condition, self.location)
        self._take_back()
        op = self._operation(orelse)
        current().emit(op)
        if not falls(op):
            current().block.ended = last.ended
        for outcome, result in zip(self.outcomes, op.results, strict=True):
            outcome.bind(result)

    def _take_back(self) -> None:
        """Undo what was done for the case that nothing follows."""
        current().block.awaiting = None
        if not self.results:
            current().block.ops.pop()

    def _operation(self, orelse: Block) -> affine.If | scf.If:
        """The branch: from its second condition on, it is one in the other block of the one before."""
        *outer, last = self.arms
        op = self._choice(last, orelse)
        for arm, inner in zip(reversed(outer), reversed(self.arms), strict=False):
            ending = (_terminator(arm.condition)(op.results, location=self.location),) if op.results else ()
            op = self._choice(arm, (*inner.before, op, *ending))
        return op

    def _choice(self, arm: _Arm, orelse: Block) -> affine.If | scf.If:
        results = tuple(Value(d.type, h, self.location) for d, h in zip(self.results, self.hints, strict=True))
        then, condition = arm.then, arm.condition
        if isinstance(condition, Scalar):
            return scf.If(condition.value, then, orelse, results, location=arm.location)
        if condition.negated:
            then, orelse = orelse, then
        constraints = condition.constraints or (Constraint(Affine()),)
        return affine.If(constraints, then, orelse, results, location=arm.location)


class _Further(WithBlock[None]):
    """A block of the branch just before."""

    def gives(self) -> int:
        """Nothing: the results are the if_'s."""
        return 0

    def _branch(self) -> if_[object]:
        """The branch that this belongs to."""
        before = current().block.last_closed
        if not isinstance(before, if_):
            raise problem(
                ProgramError,
                f"{self.what} must follow the block of an if_ directly",
                f"put `with affdsl.{self.what}({'...' * (self.what == 'elif_')}):` right after the with-block of its "
                "if_, at the same indentation",
            )
        return before


class elif_(_Further):  # noqa: N801
    """What runs where the blocks of the `if_` just before did not, and a condition holds: `with elif_(i >= 1):`.

    The condition is looked at only then, with what it reads: `with if_(i == 0): ...`, `with elif_(A[i - 1] > 0): ...`.

    Parameters
    ----------
    condition
        As that of `if_`.

    Raises
    ------
    ProgramError
        Where no block of an `if_` or `elif_` stands just before.

    >>> import affdsl as af
    >>> @af.kernel
    ... def size(n: af.index):
    ...     with af.if_(n < 10, af.i32) as s:
    ...         af.yield_(1)
    ...     with af.elif_(n < 100):
    ...         af.yield_(2)
    ...     with af.else_():
    ...         af.yield_(3)
    ...     return s
    >>> print(size.interpret(5), size.interpret(50), size.interpret(500))
    1 2 3
    """

    what = "elif_"
    repeats = False
    advice = "the results have their names from the if_"

    def __init__(self, condition: object) -> None:
        self.branch = self._branch()
        self._keep_casts()
        self._forget_symbols()
        self.condition = decided("elif_", condition)
        super().__init__()

    def begin(self, names: tuple[str, ...]) -> None:
        """Take what computes the condition into the other block of the branch."""
        outer = current().block
        if self._branch() is not self.branch:
            raise problem(ProgramError, "elif_ is made in one place and entered in another", "write it after `with`")
        self.before = tuple(outer.ops[self.branch.place :])
        made = current().withdraw(self.branch.place)
        block = current().open("the elif_", made, len(self.branch.arms))
        block.yields, block.is_branch = self.branch.results, True

    def end(self) -> None:
        """Emit the branch with one more condition."""
        self.branch.extend(self.before, self.condition, self.location)

    def _keep_casts(self) -> None:
        """Indices that are made of numbers known before the branch are made before it: they stay symbols."""
        outer = current().block
        ops = outer.ops[self.branch.place :]
        made = {v for op in ops for v in op.defines()}
        casts = [
            op for op in ops if isinstance(op, arith.Cast) and op.result in current().symbols and op.operand not in made
        ]
        outer.ops[self.branch.place :] = [op for op in ops if op not in casts]
        start = self.branch.place - (not self.branch.results)
        outer.ops[start:start] = casts
        self.branch.place += len(casts)

    def _forget_symbols(self) -> None:
        """What the condition computed is known only inside of the branch, where it is data.

        Raises ProgramError where it found an element by it.
        """
        builder = current()
        ops = builder.block.ops[self.branch.place :]
        symbols = {v for op in ops for v in op.defines() if v in builder.symbols}
        for op in ops:
            if isinstance(op, affine.Load | affine.Apply | affine.Min | affine.Max) and symbols & set(op.reads()):
                raise problem(
                    ProgramError,
                    "the condition of this elif_ has an index that it reads from an array, outside of all loops",
                    "read that index before the if_, under a name of its own",
                )
        builder.symbols -= symbols


class else_(_Further):  # noqa: N801
    """What runs where the `if_` just before did not, nor an `elif_`: `with else_():`.

    Raises
    ------
    ProgramError
        Where no block of an `if_` or `elif_` stands just before.

    >>> import affdsl as af
    >>> @af.kernel
    ... def larger(a: af.f64, b: af.f64):
    ...     with af.if_(a > b, af.f64) as x:
    ...         af.yield_(a)
    ...     with af.else_():
    ...         af.yield_(b)
    ...     return x
    >>> print(larger.interpret(1.0, 2.5))
    2.5
    """

    what = "else_"
    repeats = False
    advice = "the results have their names from the if_"

    def begin(self, names: tuple[str, ...]) -> None:
        """Find the if_ that this belongs to."""
        self.branch = self._branch()
        if len(current().block.ops) > self.branch.place:
            current().block.last_closed = None
            self._branch()
        block = current().open("the else_", more=len(self.branch.arms) - 1)
        block.yields, block.is_branch = self.branch.results, True

    def end(self) -> None:
        """Emit the whole branch."""
        self.branch.finish()


def decided(what: str, condition: object) -> Condition | Scalar:
    """What is asked: affine conditions, or a truth value where one is data."""
    if isinstance(condition, bool | np.bool_):
        condition = Condition((), negated=not condition)
    if isinstance(condition, Traced) and not isinstance(condition, Condition):
        condition = scalar = condition.scalar()
        if scalar.dtype != bool_:
            raise problem(ProgramTypeError, f"{what} needs a condition, got {scalar.describe()}", "compare it: x != 0")
    if not isinstance(condition, Condition | Scalar):
        raise problem(ProgramTypeError, f"{what} needs a condition like i < n, got {condition!r}")
    if isinstance(condition, Condition):
        require_known(tuple(c.expr for c in condition.constraints))
        if not all(current().is_affine(c.expr) for c in condition.constraints):
            return condition.scalar()
    return condition


def _terminator(condition: Condition | Scalar) -> type[affine.Yield] | type[scf.Yield]:
    return affine.Yield if isinstance(condition, Condition) else scf.Yield


def _ended(condition: Condition | Scalar, location: Location) -> Block:
    """The open block, closed, with what ends a block of a branch on this condition."""
    return closed(_terminator(condition), yielded_values(current().block), location)
