"""Loops that end when a condition on data says so."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence, Set
from typing import TYPE_CHECKING, overload

from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.lang.blocks import Bound, WithBlock, closed, yielded_values
from affdsl.lang.branches import decided
from affdsl.lang.builder import current
from affdsl.lang.control import C, Carried, carried_by, emit_loop, initial, require_own_names
from affdsl.lang.indices import Condition
from affdsl.lang.scalars import Scalar
from affdsl.lang.source import problem
from affdsl.lang.structured import unless_left, without_marks
from affdsl.lang.traced import Operand, Traced
from affdsl.lang.vectors import Vector

if TYPE_CHECKING:
    from affdsl.lang import annotated


class while_(WithBlock[Bound]):  # noqa: N801 - reads as the keyword that it stands for
    """A loop that runs as long as a condition holds: `with while_(lambda: error > 1e-9):`.

    The condition is a function, since it is asked before each iteration, the first one too. What is carried from one
    iteration to the next stands in `iter_args` and is handed on by `yield_(...)` as the last thing in the block; after
    it, x is what the condition did not hold for.

    How often it runs is known to nobody before: analyses know what is in it, and that it may run any number of times.
    That it ends is for the kernel to see to; a bound on the iterations in the condition makes sure of it.

    Parameters
    ----------
    condition
        A function of what the loop carries, which gives a comparison. It may read arrays and variables (`affdsl.var`).
    iter_args
        A number or a vector that is carried, or several.

    Raises
    ------
    ProgramError
        And its kinds, with the user's line: for what is no function of so many numbers, and for a condition that is the
        same each time.

    Examples
    --------
    >>> import affdsl as af
    >>> @af.kernel
    ... def root(a: af.f64):
    ...     with af.while_(lambda x: af.abs(x * x - a) > 1e-12 * a, iter_args=a) as x:
    ...         af.yield_((x + a / x) / 2)
    ...     return x
    >>> print(f"{root(2.0):.9f}")
    1.414213562
    """

    what = "while_"
    advice = "one name for each of iter_args: `as (x, y)`"

    @overload
    def __init__(self: while_[None], condition: Callable[[], Operand]) -> None: ...
    @overload
    def __init__(self: while_[Vector], condition: Callable[[Vector], Operand], *, iter_args: Vector) -> None: ...
    @overload
    def __init__(
        self: while_[Scalar], condition: Callable[[Scalar], Operand], *, iter_args: annotated.Scalar
    ) -> None: ...
    @overload
    def __init__(self: while_[tuple[C, ...]], condition: Callable[..., Operand], *, iter_args: Sequence[C]) -> None: ...
    def __init__(self, condition: object, *, iter_args: object = ()) -> None:
        if isinstance(condition, Traced) or not callable(condition):
            got = condition.describe() if isinstance(condition, Traced) else repr(condition)
            raise problem(
                ProgramTypeError,
                f"while_ takes a function that gives its condition, got {got}",
                "it is asked before each iteration: write `with affdsl.while_(lambda: ...):`, or, with iter_args=x, "
                "`with affdsl.while_(lambda x: ..., iter_args=x) as x:`",
            )
        self.condition: Callable[..., object] = condition
        self.inits = initial(iter_args)
        super().__init__()

    def gives(self) -> int:
        """What is carried."""
        return len(self.inits)

    def begin(self, names: tuple[str, ...]) -> Carried | tuple[Carried, ...] | None:
        """The carried values."""
        self.names = names
        self.asked = carried_by(self.inits, names, self.location)
        self.before = self._asked()
        self.carried = carried_by(self.inits, names, self.location)
        block = current().open("the while_", [c.value for c in self.carried])
        block.yields = tuple(c if isinstance(c, Vector) else c.dtype for c in self.carried)
        block.is_loop = True
        return None if not self.carried else self.carried[0] if len(self.carried) == 1 else tuple(self.carried)

    def _asked(self) -> Block:
        """The block that computes the condition."""
        builder = current()
        depth = len(builder.blocks)
        builder.open("the condition of the while_", [c.value for c in self.asked])
        try:
            self._require_arity()
            holds = decided("while_", self.condition(*(+c for c in self.asked)))
            value = (holds.scalar() if isinstance(holds, Condition) else holds).value
            builder.require(value)
            self.changes = self._may_change(builder.block.ops, value)
            block = builder.close()
        finally:
            while len(builder.blocks) > depth:
                builder.discard()
        return (*block, scf.Condition(value, tuple(c.value for c in self.asked), location=self.location))

    def _require_arity(self) -> None:
        """Raise ProgramTypeError unless the condition takes what the loop carries."""
        try:
            inspect.signature(self.condition).bind(*self.asked)
        except TypeError as error:
            names = self.names if len(self.names) == len(self.inits) else [f"x{k}" for k in range(len(self.inits))]
            takes = ", ".join(names)
            raise problem(
                ProgramTypeError,
                f"the condition of this while_ is given {len(self.inits) or 'no'} "
                f"value{'s' * (len(self.inits) != 1)}: {error}",
                "it gets what iter_args carries: write `lambda" + f" {takes}" * bool(takes) + ": ...`",
            ) from None
        except ValueError:
            pass  # nobody knows what it takes

    def _may_change(self, ops: Sequence[Op], value: Value) -> bool:
        """Whether something that the condition looks at can ever change."""
        carried = {c.value for c in self.asked}
        inside = [inner for op in ops for inner in walk(op)]
        looks = [op for op in inside if op.memory is None or op.memory.reads or carried & set(op.reads())]
        return bool(looks) or value in carried

    def _require_end(self, exits: Set[str]) -> None:
        """Raise ProgramError for a loop that nothing can end, once it has begun."""
        if not self.changes and "break_" not in exits:
            raise problem(
                ProgramError,
                "the condition of this while_ is the same each time: the loop would run never, or for ever",
                "it may look at an array, at a variable (affdsl.var), or at what the loop carries (iter_args)",
                "or end the loop from inside: affdsl.break_(), in the block of an affdsl.if_",
                location=self.location,
            )

    def end(self) -> None:
        """Emit the loop; the carried values become its results."""
        require_own_names(self.carried, self.names, "the while_")
        block = current().block
        self._require_end(block.exits)
        after = closed(scf.Yield, yielded_values(block), self.location)
        inits, asked, carried = (tuple(x.value for x in xs) for xs in (self.inits, self.asked, self.carried))
        early = without_marks(after, carried, block.exits, scf.Yield, self.location)
        before, own = unless_left(early, self.before, self.location)
        arguments = (*early.carried, *carried)
        results = tuple(Value(v.type, v.hint, self.location) for v in arguments)
        op = scf.While(
            (*early.inits, *inits), (*own, *asked), before, arguments, early.body, results, location=self.location
        )
        emit_loop(early, op)
        for each, result in zip(self.carried, results[len(own) :], strict=True):
            each.bind(result)
