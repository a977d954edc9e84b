"""Loops that end early, in blocks: whether an iteration of a block leaves is asked of all of them at once.

    for i = 0 to n: { if x[i] > t: { S(i); break } }
    ->
    for i = 0 to n - 31 step 32:
        any = or of x[k] > t for k = i to i + 32, which is a loop of its own, and can run on vectors
        if any: { for k = i to i + 32: { if x[k] > t: { S(k); break } }; break }
    for i = n - n mod 32 to n, unless that one was left: the same as before

That holds for loops that do nothing but to leave: an iteration that goes on changes no memory, and no value that the
loop carries. So those before the one that leaves need not be done at all, and what is asked of those behind it is
forgotten. What they load has to be inside of its array, for they would never have run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, scf
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import clone_block, definitions, fresh, with_fields
from affdsl.ir.types import I1
from affdsl.passes.analysis.early_exits import Exit, by_break, exit_of, is_constant, only_reads
from affdsl.passes.legality.early import IN_ORDER
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.transforms.loops.nests import counted
from affdsl.passes.transforms.loops.pieces import copied_loop, largest

VECTORS = 4
"""So many vectors are a block: one branch for all of them, and at its end few iterations are done again."""


class Blocks(FrozenValue):
    """What stands in the place of a loop that searches."""

    ops: Block
    asking: Value
    """The counter of the loop that asks whether an iteration of a block leaves."""


def in_blocks(
    function: Func,
    loop: affine.For,
    block: int,
    what: str,
    *,
    asked_by: Value | None = None,
    may_change: bool = False,
) -> Blocks:
    """The same search in blocks of so many iterations.

    Parameters
    ----------
    asked_by
        The counter of the loop that asks, if it is to be that one.
    may_change
        Whether an iteration that does not leave may change what the loop carries, where a condition decides that: its
        block runs as it is written, too.

    Raises
    ------
    IllegalTransform
        Where an iteration that does not leave the loop does something, or loads what may be outside of its array.
    """
    known = definitions(function)

    def refused(why: str) -> IllegalTransform:
        return refusal(loop, what, f"it ends early, by {by_break(loop, function)}: {IN_ORDER}, and {why}")

    found = exit_of(loop, function, known)
    if found is None:
        raise refused("memory that an iteration has for itself is in the way")
    if len(loop.lower) > 1 or len(loop.upper) > 1 or loop.step != 1:
        raise refused("blocks are made of a loop of step 1 with one bound at each end")
    question = _Question(loop, found, known, refused, may_change=may_change)
    leaves = question.of(found.body)
    if leaves is False:
        raise refused("no iteration of it does")
    asking, counter = (question.ops, question.value(leaves)), asked_by or fresh(loop.iv)
    return _made(loop, found.position, *asking, block, counter, may_stay=may_change)


class _Question:
    """Whether an iteration leaves, as operations that may be done for any iteration."""

    def __init__(
        self,
        loop: affine.For,
        found: Exit,
        known: Mapping[Value, Op],
        refused: Callable[[str], IllegalTransform],
        *,
        may_change: bool,
    ) -> None:
        self._may_change = may_change
        self._loop, self._exit, self._known, self._refused = loop, found, known, refused
        self._first = set(loop.body)
        self.ops: list[Op] = []

    def of(self, block: Block) -> Value | bool:
        """Whether what a block does leaves the loop. Raises IllegalTransform where it does something else."""
        *ops, last = block
        branch = ops[-1] if ops else None
        if isinstance(branch, affine.If | scf.If) and branch in self._exit.tails:
            self._take(ops[:-1])
            if isinstance(branch, affine.If):
                raise self._refused("a condition on indices decides that: end the loop before, by its bound")
            return self._either(branch.condition, self.of(branch.then), self.of(branch.orelse))
        assert isinstance(last, affine.Yield | scf.Yield)
        goes_on, at = last.values[self._exit.position], self._exit.position
        if is_constant(goes_on, False, self._known):
            return True
        changes = any(
            v is not c for k, (v, c) in enumerate(zip(last.values, self._loop.carried, strict=True)) if k != at
        )
        if changes and self._may_change:
            return True
        if changes:
            raise self._refused("one that does not leave it changes what it carries")
        self._take(ops)
        if goes_on is self._loop.carried[at] or is_constant(goes_on, True, self._known):
            return False
        return self._not(goes_on)

    def value(self, truth: Value | bool) -> Value:
        """A truth as a value."""
        if isinstance(truth, Value):
            return truth
        made = Value(I1)
        self.ops.append(arith.Constant(made, truth))
        return made

    def _take(self, ops: list[Op]) -> None:
        for op in ops:
            if not only_reads(op):
                raise self._refused(f"one that does not leave it does something: {op_name(op)} at {op.location}")
        for op in ops:
            if op in self._first:  # before the loop asks whether it goes on: for all iterations
                pass
            elif op.memory is None or op.memory.reads:
                why = f"what it loads (at {op.location}) may be outside of its array, or is stored to when it leaves"
                error = self._refused(why)
                error.may_be_for_sizes = True
                raise error
            self.ops.append(op)

    def _either(self, condition: Value, then: Value | bool, orelse: Value | bool) -> Value | bool:
        """The one truth where a condition holds, and the other where it does not."""
        match then, orelse:
            case (bool(), bool()):
                return then if then is orelse else condition if then else self._not(condition)
            case (bool(), Value()):
                return (
                    self._binary("ori", condition, orelse)
                    if then
                    else self._binary("andi", self._not(condition), orelse)
                )
            case (Value(), bool()):
                return (
                    self._binary("ori", self._not(condition), then) if orelse else self._binary("andi", condition, then)
                )
            case _:
                made = Value(I1)
                self.ops.append(arith.Select(made, condition, self.value(then), self.value(orelse)))
                return made

    def _binary(self, kind: str, left: Value, right: Value) -> Value:
        made = Value(I1)
        self.ops.append(arith.Binary(made, kind, left, right))
        return made

    def _not(self, truth: Value) -> Value:
        return self._binary("xori", truth, self.value(True))


def _made(
    loop: affine.For, at: int, ops: list[Op], leaves: Value, block: int, counter: Value, *, may_stay: bool
) -> Blocks:
    """The loop over blocks, and the one over the iterations that are left."""
    place = loop.location
    true, false = Value(I1), Value(I1)
    constants = (arith.Constant(true, True, location=place), arith.Constant(false, False, location=place))
    carried = tuple(map(fresh, loop.carried))

    so_far, any_so_far, any_leaves = Value(I1), Value(I1), Value(I1, "leaves")
    new: dict[Value, Term] = dict(zip(loop.carried, carried, strict=True))
    asked = clone_block(counted(tuple(ops), loop.iv, _in_order_of_memory(ops, loop.iv, counter, block)), new)
    leaving = new.get(leaves, leaves)
    assert isinstance(leaving, Value)
    either = arith.Binary(any_so_far, "ori", so_far, leaving, location=place)
    first, end = loop.iv + 0, loop.iv + block
    asking = affine.For(
        counter, (first,), (end,), (*asked, either, affine.Yield((any_so_far,), location=place)), 1,
        (false,), (so_far,), (any_leaves,), location=place,
    )  # fmt: skip

    inits = tuple(true if k == at else value for k, value in enumerate(carried))
    inner = with_fields(copied_loop(loop, "_in"), lower=(first,), upper=(end,), inits=inits, written=None)
    left = tuple(false if k == at and not may_stay else value for k, value in enumerate(inner.results))
    going_on = scf.Yield(carried, location=place)
    choice = scf.If(
        any_leaves, (inner, scf.Yield(left, location=place)), (going_on,), tuple(map(fresh, carried)), location=place
    )
    guard = scf.If(
        carried[at], (asking, choice, scf.Yield(choice.results, location=place)), (going_on,),
        tuple(map(fresh, carried)), location=place,
    )  # fmt: skip
    (lower,), (upper,) = loop.lower, loop.upper
    main = with_fields(
        loop, upper=(upper - (block - 1),), body=(guard, affine.Yield(guard.results, location=place)), step=block,
        carried=carried, results=tuple(map(fresh, loop.results)), written=None,
    )  # fmt: skip
    behind = largest(lower, lower + (upper - lower) // block * block)
    rest = with_fields(copied_loop(loop, "_rest"), lower=behind, inits=main.results, results=loop.results, written=None)
    return Blocks((*constants, main, rest), counter)


def _in_order_of_memory(ops: list[Op], iv: Value, counter: Value, block: int) -> Affine:
    """The iteration of a block that is asked by a counter: from the last one on, where that goes up in memory."""
    index = [op.index[-1] for op in ops if isinstance(op, affine.Load) and op.index]
    goes_down = any(each.terms and dict(each.terms).get(iv, 0) < 0 for each in index)
    return 2 * Affine.of(iv) + (block - 1) - counter if goes_down else Affine.of(counter)
