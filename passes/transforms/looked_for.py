"""Loops that keep what the first, or the last, iteration with a condition has: they may end where that is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affdsl.ir.blocks import yielded
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, memref, scf
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import clone_block, fresh, substitute, with_fields
from affdsl.ir.types import I1
from affdsl.passes.analysis.early_exits import only_reads
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.loops.nests import counted, replaced
from affdsl.passes.transforms.vectorize.choices import Choice, computing, selects_of
from affdsl.passes.transforms.vectorize.searches import in_blocks


def last_found(function: Func, loop: affine.For, choice: Choice, strip: int, what: str) -> Func:
    """The function with a loop that only keeps values of the last iteration with a condition, in strips from its end.

        p = for i = 0 to n, p = -1: yield select(x[i] == 0, i, p)
        ->
        p = for s = 0 to n step 64, p = -1:
                if none was found: if any x[i] == 0 of the strip that ends s before the end: p = the last such i

    Iterations only read, and what they choose needs nothing of those before. So nobody sees that those before the last
    one that is chosen do not run. Raises IllegalTransform where a loop has a step, or several bounds at one end.
    """
    if len(loop.lower) > 1 or len(loop.upper) > 1 or loop.step != 1:
        raise refusal(loop, what, "its end is not one number, or it has a step")
    selects = dict(zip(choice.values, selects_of(loop, choice), strict=True))
    chosen = [selects[k].if_true for k in range(len(selects))]
    start, stop = (arith.Constant(Value(I1), truth, location=loop.location) for truth in (True, False))
    asks, rest = _early(loop, (), selects[0].condition, chosen, (stop,), stop.result)
    (lower,), (upper,), before = loop.lower, loop.upper, fresh(loop.iv)
    body = tuple(op for ops in (asks, rest) if ops for op in counted(ops, loop.iv, upper - 1 - before))
    turned = with_fields(loop, iv=before, lower=(Affine(),), upper=(upper - lower,), body=body)
    return _in_strips(function, loop, (start,), start.result, turned, strip, what)


def first_found(function: Func, loop: affine.For, strip: int, what: str) -> Func | None:
    """The function with a loop that changes what it carries only while that has not been done, in strips.

        p = for i = 0 to n, p = -1: yield select(p < 0 and x[i] == 0, i, p)
        ->
        p = for s = 0 to n step 64, p = -1:
                if p < 0: if any x[i] == 0 of the strip: the same for the strip, until p < 0 does not hold

    An iteration in which p < 0 does not hold changes nothing, and nor do those behind it, whatever they load: the
    loop ends there. None where it is no such loop. Raises IllegalTransform as `in_blocks` does.
    """
    made = {v: op for op in loop.body for v in op.defines()}
    selects = [op for v in yielded(loop.body) if isinstance(op := made.get(v), arith.Select)]
    if [op.if_false for op in selects] != [*loop.carried] or len({op.condition for op in selects}) != 1:
        return None
    own: list[Value] = []
    asked: list[Value] = []
    for each in _conjuncts(selects[0].condition, made):
        needs_carried = any(v in loop.carried for op in computing(loop, (each,)) for v in op.mentions())
        (own if needs_carried else asked).append(each)
    deciding = computing(loop, own)
    if not own or not asked or any(not _only_computes(op) or loop.iv in op.mentions() for op in deciding):
        return None
    ops, holds = _all_of(own)
    ways = (loop.inits, tuple(op.if_true for op in selects))
    starts, after = (_instead((*deciding, *ops), holds, dict(zip(loop.carried, way, strict=True))) for way in ways)
    asks, rest = _early(loop, *_all_of(asked), ways[1], *after)
    before = fresh(loop.iv)
    body = tuple(substitute(op, {loop.iv: before}) for op in (*asks, *rest))
    same = with_fields(loop, iv=before, body=body)
    return _in_strips(function, loop, *starts, same, strip, what, may_change=True)


def _early(
    loop: affine.For, together: Block, condition: Value, chosen: Sequence[Value], after: Block, goes_on: Value
) -> tuple[Block, Block]:
    """What an iteration asks, which may be asked of any, and what it does if the loop goes on and the condition holds.

    `after` computes whether the loop goes on then. The truth that the loop carries for this is the yielded one's first.
    """
    place = loop.location
    asks = (*computing(loop, (condition, *(v for op in together for v in op.reads()))), *together)
    needed = [op for op in computing(loop, (*chosen, *(v for op in after for v in op.reads()))) if op not in asks]
    holds = Value(I1, "goes_on", place)
    kept = (holds, *loop.carried)
    stays = (scf.Yield(kept, location=place),)
    changes = (*needed, *after, scf.Yield((goes_on, *chosen), location=place))
    asked = scf.If(condition, changes, stays, tuple(map(fresh, kept)), location=place)
    inside = (asked, scf.Yield(asked.results, location=place))
    guard = scf.If(holds, inside, stays, tuple(map(fresh, kept)), location=place)
    return asks, (guard, affine.Yield(guard.results, location=place))


def _in_strips(
    function: Func, loop: affine.For, before: Block, start: Value, made: affine.For, strip: int, what: str, *,
    may_change: bool = False,
) -> Func:  # fmt: skip
    """The function with a loop in strips, made of one whose body asks first whether it goes on, as `_early` has it."""
    if any(isinstance(op, memref.Load) for op in loop.body):
        raise refusal(
            loop, what, "data chooses what it loads, and each place is to be checked that is outside of an array"
        )
    guard = made.body[-2]
    assert isinstance(guard, scf.If)
    early = with_fields(
        made, inits=(start, *loop.inits), carried=(guard.condition, *loop.carried),
        results=(Value(I1, "goes_on"), *loop.results), written=None, attributes=(),
    )  # fmt: skip
    whole = replaced(function, loop, *before, early)
    return replaced(whole, early, *in_blocks(whole, early, strip, what, asked_by=loop.iv, may_change=may_change).ops)


def _conjuncts(value: Value, made: Mapping[Value, Op]) -> list[Value]:
    """The truths of which a truth is the conjunction."""
    op = made.get(value)
    if isinstance(op, arith.Binary) and op.kind == "andi":
        return [*_conjuncts(op.left, made), *_conjuncts(op.right, made)]
    return [value]


def _all_of(truths: Sequence[Value]) -> tuple[Block, Value]:
    """What computes whether all of some hold, and that truth."""
    ops = list[Op]()
    both = truths[0]
    for each in truths[1:]:
        ops.append(arith.Binary(Value(I1), "andi", both, each))
        (both,) = ops[-1].defines()
    return tuple(ops), both


def _instead(ops: Block, value: Value, new: dict[Value, Term]) -> tuple[Block, Value]:
    """Copies of operations with other values, and what they make of one."""
    made = clone_block(ops, new)
    found = new.get(value, value)
    assert isinstance(found, Value)
    return made, found


def _only_computes(op: Op) -> bool:
    return only_reads(op) and op.memory is not None and not op.memory.reads
