"""The body of a loop that is left early, in terms of branches: operations of the IR end where their blocks end.

While a kernel is built, `break_()` and `continue_()` are marks at the end of a block. When their loop ends, what stands
behind a branch with a mark in it goes into the other block of the branch, or into a branch on whether it was left:

    if c: S; break          ->      goes_on = if c { S; yield false, s } else { T; yield goes_on, t }
    T; yield t

`goes_on` is a truth value that the loop carries, with s, which it carries for the user. An iteration in which it does
not hold does nothing, and hands on what it is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import TypeAlias

from affdsl.frozen import FrozenValue
from affdsl.ir.blocks import split_body
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, memref, scf
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.expr import Term, Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import fresh, substitute, with_fields
from affdsl.ir.types import I1, ComplexType, FloatType


class Break(Op):
    """A mark: leave the loop around."""

    name = "break_"


class Continue(Op):
    """A mark: end this iteration of the loop around."""

    name = "continue_"


Mark: TypeAlias = Break | Continue
Branch: TypeAlias = affine.If | scf.If
_Yield: TypeAlias = type[affine.Yield] | type[scf.Yield]


class Ends(FrozenValue):
    """What a block yields: first some truth values, and then what it yields for the user."""

    falls: tuple[Value, ...]
    """The truth values where it ends behind its last operation,"""
    broken: tuple[Value, ...]
    """all of it where it ends with a break,"""
    continued: tuple[Value, ...]
    """and where it ends with a continue."""
    hints: tuple[str, ...] = ()
    """What the truth values are called."""

    def of(self, mark: Op) -> tuple[Value, ...]:
        """What it yields where a mark ends it."""
        return self.broken if isinstance(mark, Break) else self.continued

    def results(self) -> tuple[Value, ...]:
        """New values like those that it yields."""
        values = max(self.continued, self.broken, key=len)
        hints = (*self.hints[: len(values)], *[""] * (len(values) - len(self.hints)))
        return tuple(fresh(value, hint) for value, hint in zip(values, hints, strict=True))


class Truths(FrozenValue):
    """The values true and false, which are made before the loop."""

    true: Value
    false: Value


def truths(location: Location) -> tuple[Truths, Block]:
    """The values true and false, and what makes them."""
    made = Truths(Value(I1, "", location), Value(I1, "", location))
    ops = (arith.Constant(made.true, True, location=location), arith.Constant(made.false, False, location=location))
    return made, ops


def ended(body: Block, ends: Ends, yields: _Yield, known: Truths) -> Block:
    """A block without marks: all ways through it come to its end, and yield there what `ends` says."""
    at = next((n for n, op in enumerate(body) if isinstance(op, Mark) or _marks(op)), None)
    if at is None:
        ops, values = split_body(body)
        return (*ops, *_yielding(yields, (*ends.falls, *values), body[-1].location if body else None))
    before, op, rest = body[:at], body[at], body[at + 1 :]
    if not isinstance(op, Branch):
        return (*before, *rest, *_yielding(yields, ends.of(op), op.location))
    own = {value for inner in before for value in inner.defines()}
    freed = tuple(x for x in rest if isinstance(x, memref.Dealloc) and x.memref in own)
    rest = tuple(x for x in rest if x not in freed)
    if _falls(op.then) and _falls(op.orelse):
        made, values = _guarded(op, rest, ends, known)
    else:
        chosen = _ended_branch(op, _followed(op.then, op, rest), _followed(op.orelse, op, rest), ends, known)
        made, values = (chosen,), chosen.results
    return (*before, *made, *freed, *_yielding(yields, values, op.location))


def _followed(block: Block, op: Branch, rest: Block) -> Block:
    """A block of a branch, and behind it what follows the branch, where it comes so far."""
    if not _falls(block):
        return block
    ops, values = split_body(block)
    new: dict[Value, Term] = dict(zip(op.results, values, strict=True))
    return (*ops, *(substitute(x, new) for x in rest))


def _guarded(op: Branch, rest: Block, ends: Ends, known: Truths) -> tuple[Block, tuple[Value, ...]]:
    """A branch that says whether it was left, one on that around what stands behind it, and what that one gives."""
    words = {type(mark) for mark in _marks(op)}
    count = len(words)
    fillers = [_filler(result) for result in op.results]
    filled = tuple(v for filler in fillers for v in filler.defines())
    yes, no = known.true, known.false
    inner = Ends((yes, yes)[:count], ((no, no)[:count] + filled), ((no, yes)[:count] + filled), ("stays", "goes_on"))
    chosen = _ended_branch(op, op.then, op.orelse, inner, known)
    new: dict[Value, Term] = dict(zip(op.results, chosen.results[count:], strict=True))
    behind = ended(tuple(substitute(x, new) for x in rest), ends, scf.Yield, known)
    place = next((mark.location for mark in _marks(op) if isinstance(mark, Break)), op.location)
    continued, broken = (_yielding(scf.Yield, values, place) for values in (ends.continued, ends.broken))
    if count == 1:
        left = broken if Break in words else continued
    else:
        which = scf.If(chosen.results[1], continued, broken, ends.results(), location=op.location)
        left = (which, *_yielding(scf.Yield, which.results, op.location))
    guard = scf.If(chosen.results[0], behind, left, ends.results(), location=op.location)
    return (*fillers, chosen, guard), guard.results


def _ended_branch(op: Branch, then: Block, orelse: Block, ends: Ends, known: Truths) -> Branch:
    """A branch like another one, of two blocks that are ended."""
    yields = affine.Yield if isinstance(op, affine.If) else scf.Yield
    then, orelse = (ended(block, ends, yields, known) for block in (then, orelse))
    return with_fields(op, then=then, orelse=orelse, results=ends.results(), ends=())


def _yielding(yields: _Yield, values: Sequence[Value], location: Location | None) -> Block:
    return (yields(tuple(values), location=location),) if values else ()


def _falls(block: Block) -> bool:
    """Whether a way through a block comes to what follows it."""
    for op in block:
        if isinstance(op, Mark):
            return False
        if isinstance(op, Branch) and _marks(op) and not (_falls(op.then) or _falls(op.orelse)):
            return False
    return True


def _marks(op: Op) -> list[Mark]:
    """The marks in the blocks of a branch, which are those of the loop around."""
    return list(_found(op)) if isinstance(op, Branch) else []


def _found(op: Branch) -> Iterator[Mark]:
    for inner in (*op.then, *op.orelse):
        if isinstance(inner, Mark):
            yield inner
        elif isinstance(inner, Branch):
            yield from _found(inner)


def falls(op: Op) -> bool:
    """Whether what stands behind an operation may run, as far as marks say."""
    return not isinstance(op, Branch) or not _marks(op) or _falls(op.then) or _falls(op.orelse)


def _filler(result: Value) -> Op:
    """A number for what a branch gives, where it is left and nobody reads that."""
    made = fresh(result)
    match result.type:
        case ComplexType():
            return complex_.Constant(made, 0j)
        case FloatType():
            return arith.Constant(made, 0.0)
        case type:
            return arith.Constant(made, False if type == I1 else 0)


class Early(FrozenValue):
    """A loop that may end early, or iterations of which may."""

    before: Block
    """What stands before the loop,"""
    inits: tuple[Value, ...]
    """what it carries beside what it carries for the user, at first,"""
    carried: tuple[Value, ...]
    """and as its body knows it,"""
    body: Block
    """which has no marks any more."""


def without_marks(
    body: Block, carried: tuple[Value, ...], words: Set[str], yields: _Yield, location: Location
) -> Early:
    """The body of a loop without marks, whose words are given: it carries whether it goes on, where one is break_."""
    if not words:
        return Early((), (), (), body)
    known, made = truths(location)
    if "break_" not in words:
        return Early(made, (), (), ended(body, Ends((), (), carried), yields, known))
    goes_on = Value(I1, "goes_on", location)
    ends = Ends((goes_on,), (known.false, *carried), (goes_on, *carried), ("goes_on",))
    return Early(made, (known.true,), (goes_on,), ended(body, ends, yields, known))


def guarded(early: Early, carried: tuple[Value, ...], yields: _Yield, location: Location) -> Block:
    """The body of a `for`, which does nothing in the iterations after the one that left it."""
    if not early.carried:
        return early.body
    values = (*early.carried, *carried)
    results = tuple(map(fresh, values))
    inner = _ended_by(scf.Yield, early.body)
    return (
        scf.If(early.carried[0], inner, _yielding(scf.Yield, values, location), results, location=location),
        *_yielding(yields, results, location),
    )


def _ended_by(yields: _Yield, body: Block) -> Block:
    """The same block, in an operation of another dialect."""
    *ops, last = body
    assert isinstance(last, affine.Yield | scf.Yield)
    return (*ops, yields(last.values, location=last.location))


def unless_left(early: Early, before: Block, location: Location) -> tuple[Block, tuple[Value, ...]]:
    """The condition of a `while`, which is not asked any more when an iteration has left it, and what it is given."""
    if not early.carried:
        return before, ()
    *ops, condition = before
    assert isinstance(condition, scf.Condition)
    goes_on, holds = fresh(early.carried[0]), fresh(condition.condition, "holds")
    asked, left = (scf.Yield((value,), location=location) for value in (condition.condition, goes_on))
    return (
        scf.If(goes_on, (*ops, asked), (left,), (holds,), location=location),
        with_fields(condition, condition=holds, values=(goes_on, *condition.values)),
    ), (goes_on,)
