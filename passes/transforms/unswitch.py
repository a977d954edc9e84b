"""Asks a condition once before a loop instead of in each of its iterations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from affdsl.frozen import Frozen
from affdsl.ir.blocks import split_body
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Constraint, FloorDiv, Term, Value, parts_of
from affdsl.ir.messages import shown
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import clone, likes, rewrite, walk, with_fields
from affdsl.ir.verifier.positions import Positions
from affdsl.passes.affine.positions import are_valid, positions_of
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.loops.nests import loop_of
from affdsl.passes.transforms.loops.pieces import (
    MOST_OPERATIONS,
    defined_inside,
    ended,
    operations_in,
    with_loop,
)

Path = tuple[Op, ...]
"""Operations each of which holds the next one in a block."""
CROSSED = (affine.For, affine.Parallel, affine.If)
"""What a condition can be moved out of."""


def unswitch(function: Func, iv: Value, *, module: Module | None = None) -> Func:
    """Ask the first condition in a loop that does not depend on the loop before it.

        for i = 0 to n:            ->   if m >= 8:
            if m >= 8: S(i)                 for i = 0 to n: S(i) U(i)
            else:      T(i)             else:
            U(i)                            for i_else = 0 to n: T(i_else) U(i_else)

    The condition may stand inside of further loops and conditions. Refuses if each one reads something that is only
    known inside, or divides by a symbol: that must not be asked where the loop does not run.

    Parameters
    ----------
    iv
        The induction variable of the loop, afterwards that of the loop where the condition holds.

    Raises
    ------
    IllegalTransform
        With what the first condition depends on.

    References
    ----------
    Allen, Cocke, "A Catalogue of Optimizing Transformations" (1972).
    """
    what = f"unswitch loop {shown(iv)}"
    loop = loop_of(function, iv, what)
    reason, inside = "", Inside(function, loop)
    for path in conditions_in((loop,), ()):
        reason_here = obstacle(function, path, loop, inside)
        if not reason_here:
            return unswitched(function, path)
        reason = reason or reason_here
    if any(isinstance(op, scf.If) for op in walk(loop)):
        reason = reason or "there is no affine.if in it: what scf.if asks comes from data"
    raise refusal(loop, what, reason or "there is no affine.if in it")


def conditions_in(block: Block, around: Path) -> Iterator[Path]:
    """The ways to all conditions in a block, inner ones first, from the outermost operation on that holds them."""
    for op in block:
        for inner in op.blocks():
            yield from conditions_in(inner, (*around, op))
        if isinstance(op, affine.If) and around:
            yield (*around, op)


class Inside(Frozen):
    """What is asked of a loop for each of the conditions in it, found once."""

    function: Func
    loop: Op

    @cached_property
    def defined(self) -> set[Value]:
        """All that is defined inside, with the counter."""
        return defined_inside(self.loop)

    @cached_property
    def applies(self) -> dict[Value, Term]:
        """What affine.apply computes inside."""
        return {op.result: op.expr for op in walk(self.loop) if isinstance(op, affine.Apply)}

    @cached_property
    def positions(self) -> Positions:
        """Where values may stand in conditions."""
        return positions_of(self.function)

    @cached_property
    def is_long(self) -> bool:
        """Whether twice as many operations are too many."""
        return 2 * operations_in((self.loop,)) > MOST_OPERATIONS


def obstacle(function: Func, path: Path, outermost: Op, inside: Inside | None = None) -> str:
    """Why the condition at the end of a path cannot be asked before an operation around it; empty if it can."""
    *around, last = path
    assert isinstance(last, affine.If)
    inside = inside or Inside(function, outermost)
    condition = _composed(last.condition, inside.applies)
    known_inside = [v for c in condition for v in c.values() if v in inside.defined]
    if known_inside:
        return f"its condition depends on {shown(known_inside[0])}, which is only known inside"
    if any(may_fail(c.expr) for c in condition):
        return "its condition divides by a symbol, which may be 0 where the loop does not run"
    others = [op for op in around[around.index(outermost) :] if not isinstance(op, CROSSED)]
    if others:
        return f"it stands inside of {others[0].name or 'an operation that is not known'}"
    if not are_valid([c.expr for c in condition], inside.positions):
        return "its condition reads what may not stand in one"
    if inside.is_long:
        return f"that makes more than {MOST_OPERATIONS} operations"
    return ""


def _composed(condition: Sequence[Constraint], applies: Mapping[Value, Term]) -> tuple[Constraint, ...]:
    """A condition with what affine.apply computes on the way to it written out."""
    found: list[Constraint] = []
    for constraint in condition:
        while computed := {v: applies[v] for v in constraint.values() if v in applies}:
            constraint = constraint.substitute(computed)
        found.append(constraint)
    return tuple(found)


def may_fail(expr: Affine) -> bool:
    """Whether an expression divides by what may not be positive."""
    return any(isinstance(part, FloorDiv) and isinstance(part.divisor, Affine) for part in parts_of(expr))


def unswitched(function: Func, path: Path) -> Func:
    """The function with the last operation of a path, a condition, around the first one."""
    outermost, last = path[0], path[-1]
    assert isinstance(last, affine.If)
    condition = _composed(last.condition, Inside(function, outermost).applies)
    then, orelse = _with_block(outermost, last, last.then), _with_block(outermost, last, last.orelse)
    return with_loop(function, outermost, [either(condition, then, orelse, last)])


def either(condition: tuple[Constraint, ...], then: Op, orelse: Op, like: Op) -> affine.If:
    """An operation where a condition holds, else a copy of another one, with the results of the first one.

    `like` has the place in the source and the attributes.
    """
    results = tuple(then.defines())
    new: dict[Value, Term] = {}
    orelse = clone(orelse, new)
    _rename_loops(orelse)
    hands_on = likes(results)
    then = _redefined(then, dict(zip(results, hands_on, strict=True)))
    return affine.If(
        condition,
        ended([then], hands_on, like),
        ended([orelse], tuple(orelse.defines()), like) if _does_something(orelse) else (),
        results,
        location=like.location,
        attributes=like.attributes if isinstance(like, affine.If) else (),
        written=like.written if isinstance(like, affine.If) else None,
    )


def _with_block(outermost: Op, condition: affine.If, block: Block) -> Op:
    """An operation where a condition inside is replaced by one of its blocks."""
    body, values = split_body(block)
    replaced = dict(zip(condition.results, values, strict=True))
    made = rewrite(outermost, lambda op: body if op is condition else None)
    return renamed(made, replaced) if replaced else made


def _redefined(op: Op, new: dict[Value, Value]) -> Op:
    """A loop or condition that defines other results."""
    if not new:
        return op
    assert isinstance(op, affine.For | affine.If | affine.Parallel)
    return with_fields(op, results=tuple(new[v] for v in op.results))


def _rename_loops(copy: Op) -> None:
    if isinstance(copy, affine.For) and copy.iv.hint:
        copy.iv.hint += "_else"  # nobody else holds it yet


def _does_something(op: Op) -> bool:
    return bool(tuple(op.defines())) or any(block for block in op.blocks())
