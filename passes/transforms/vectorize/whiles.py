"""Loops that end when a condition on data says so, in several iterations of a loop around them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import scf, vector
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import clone_block, walk, with_fields
from affdsl.ir.types import I1
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.vectorize.lanes import Lanes

Widen = Callable[[Lanes, Block], None]
"""What adds the operations of a block, in all lanes, to the block that is being made."""


def require_carried(loop: Op, what: str) -> None:
    """Refuse loops inside of one that carry nothing: lanes that have left one must keep what it had for them."""
    for op in walk(loop):
        if isinstance(op, scf.While) and not (op.after and isinstance(op.after[-1], scf.Yield)):
            why = (
                "in it is a loop that ends by a condition, and carries nothing that a lane could keep when it has left"
            )
            raise refusal(op, what, why, "iter_args for what its condition reads")


def widen_while(at: Lanes, op: scf.While, widen: Widen) -> None:
    """A while loop in all lanes: until the condition, which is the same in each of them, or differs, holds in none.

        while c(x): x = S(x)   ->   m = c(x); while any(m): x = m ? S(x) : x; m = m and c(x)

    A lane in which the condition does not hold keeps what it has, and neither loads nor stores from then on.
    """
    condition, last = op.before[-1], op.after[-1]
    assert isinstance(condition, scf.Condition), "the first block ends so"
    assert isinstance(last, scf.Yield), "the second block ends so"
    if at.varies(condition.condition):
        _differing(at, op, condition, last, widen)
    else:
        _alike(at, op, condition, last, widen)


def _alike(at: Lanes, op: scf.While, condition: scf.Condition, last: scf.Yield, widen: Widen) -> None:
    """A loop that all lanes leave at once."""

    def shown(value: Value, like: Value) -> Value:
        return at.vector(value) if at.varies(like) else value

    inits = tuple(map(shown, op.inits, op.before_args))
    asked, carried, results = (
        tuple(_like(at, v) if at.varies(v) else v for v in values)
        for values in (op.before_args, op.after_args, op.results)
    )
    with at.new_block() as before:
        _define(at, op.before_args, asked)
        widen(at, op.before)
        at.emit(with_fields(condition, values=tuple(map(shown, condition.values, op.after_args))))
    with at.new_block() as after:
        _define(at, op.after_args, carried)
        widen(at, op.after)
        at.emit(with_fields(last, values=tuple(map(shown, last.values, op.before_args))))
    made = with_fields(
        op, inits=inits, before_args=asked, before=tuple(before), after_args=carried, after=tuple(after),
        results=results,
    )  # fmt: skip
    at.emit(made)
    _define(at, op.results, results)


def _differing(at: Lanes, op: scf.While, condition: scf.Condition, last: scf.Yield, widen: Widen) -> None:
    """A loop that lanes leave one after the other: each asks before the loop, and after each turn of it."""
    given = [v for v in dict.fromkeys(condition.values) if v not in op.before_args]
    place = {v: k for k, v in enumerate((*op.before_args, *given))}

    def asked(state: Sequence[Value], before: Sequence[Value]) -> list[Value]:
        """What is asked with and handed on, and the mask of the lanes that go on; the others keep what was before."""
        _define(at, op.before_args, state)
        widen(at, op.before)
        runs = at.both(at.vector(condition.condition))
        new = [at.vector(v) for v in given]
        new = [at.select(at.mask, v, old) for v, old in zip(new, before, strict=True)] if at.mask and before else new
        return [*state, *new, runs]

    inits = [at.vector(v) for v in op.inits]
    with at.new_block() as first:
        inits = asked(inits, ())
    new: dict[Value, Term] = {}
    for each in clone_block(tuple(first), new):
        at.emit(each)
    starts = tuple(v for each in inits if isinstance(v := new.get(each, each), Value))
    asks, carried, results = ([_like(at, v) for v in place] for _ in range(3))
    masks = [Value(at.vector_of_type(I1)) for _ in range(3)]
    with at.new_block() as before:
        some = Value(I1)
        at.emit(vector.Reduction(some, "or", masks[0]))
        at.emit(with_fields(condition, condition=some, values=(*asks, masks[0])))
    with at.new_block() as after, at.where(masks[1]):
        _define(at, op.after_args, [carried[place[v]] for v in condition.values])
        widen(at, op.after)
        olds = carried[: len(op.before_args)]
        state = [at.vector(v) for v in last.values]
        state = [v if v is old else at.select(masks[1], v, old) for v, old in zip(state, olds, strict=True)]
        at.emit(with_fields(last, values=tuple(asked(state, carried[len(olds) :]))))
    made = with_fields(
        op, inits=starts, before_args=(*asks, masks[0]), before=tuple(before), after_args=(*carried, masks[1]),
        after=tuple(after), results=(*results, masks[2]),
    )  # fmt: skip
    at.emit(made)
    _define(at, op.results, [results[place[v]] for v in condition.values])


def _like(at: Lanes, value: Value) -> Value:
    """A vector for a value."""
    return Value(at.vector_type(value), value.hint, value.location)


def _define(at: Lanes, olds: Sequence[Value], new: Sequence[Value]) -> None:
    """Let vectors stand for values, of which some may stand for themselves."""
    for old, made in zip(olds, new, strict=True):
        if old is not made:
            at.define(old, made)
