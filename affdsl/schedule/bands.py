"""Bands of loops as the author of a schedule names them: in the right order, without gaps, and perfectly nested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import walk, ways
from affdsl.lang.source import problem
from affdsl.passes.legality.proposals import Proposal, Request, Step
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.legality.running import peeled_first, so_that_it_runs
from affdsl.passes.legality.words import accessed_element
from affdsl.schedule.loops import ScheduleError, loop_by
from affdsl.schedule.place import Place


def require_band(at: Place, request: Request, asked: str, *, ordered: bool) -> None:
    """Refuse loops that are no band: each holds the next one and nothing else.

    Parameters
    ----------
    request
        What is asked for, of the loops that it is given first; if `ordered`, the outermost first.
    asked
        That in words, to follow the word "cannot", with places for the names of loops, or one for all of them.

    Raises
    ------
    ScheduleError
        If they are named in another order.
    IllegalTransform
        If they are not inside of each other, or something else is in between: with that, and what can be done.
    """
    try:
        _require_band(at, request, asked, ordered=ordered)
    except IllegalTransform as error:
        error.request = request
        raise


def _require_band(at: Place, request: Request, asked: str, *, ordered: bool) -> None:
    first = request.step.arguments[0]
    given = first if isinstance(first, tuple) else request.step.arguments[:2]
    ivs = tuple(v for v in given if isinstance(v, Value))
    names = [at.names[iv] for iv in ivs]
    what = asked.format(*names) if first is not given else asked.format(", ".join(names))
    wanted = () if ordered else ivs if first is given else ivs[::-1]
    loops = sorted((loop_by(at.function, iv) for iv in ivs), key=lambda loop: len(_around(at.function, loop)))
    called = at.names
    for outer, inner in pairwise(loops):
        if outer not in _around(at.function, inner):
            raise refusal(
                inner, what, f"the loop {called[_iv(inner)]} is not inside of the loop {called[_iv(outer)]}: "
                f"{_place(at, inner)}, and {_place(at, outer)}",
            )  # fmt: skip
    in_order = [called[_iv(loop)] for loop in loops]
    if ordered and in_order != [called[iv] for iv in ivs]:
        listed = ", ".join(f'"{name}"' for name in in_order)
        raise problem(
            ScheduleError,
            f"cannot {at.call}: the loops are named outermost first, and {in_order[0]} is around {in_order[1]}",
            f"write them as ({listed}), each with its own size; or change their order by permute first",
        )
    for outer, inner in pairwise(loops):
        if isinstance(outer, affine.For) and isinstance(inner, affine.For) and not _is_perfect(outer, inner):
            raise _apart(at, outer, inner, what, ivs, wanted)


def _is_perfect(outer: affine.For, inner: affine.For) -> bool:
    """Whether a loop holds another one, and else only what yields the values that both carry."""
    return outer.body == (inner,) or (bool(outer.results) and outer.body[0] is inner and len(outer.body) == 2)


def _apart(
    at: Place, outer: affine.For, inner: affine.For, what: str, ivs: Sequence[Value], order: Sequence[Value]
) -> IllegalTransform:
    """The refusal of two loops with something in between."""
    between = [op for op in _around(at.function, inner) if op in set(walk(outer)) and op is not outer]
    own, held = at.names[outer.iv], at.names[inner.iv]
    others = [at.names[op.iv] for op in between if isinstance(op, affine.For)]
    if others and len(others) == len(between):
        listed = f"is the loop {others[0]}" if len(others) == 1 else f"are the loops {', '.join(others)}"
        them = "it" if len(others) == 1 else "them"
        reason = f"between {own} and {held} there {listed}: a band has no gaps; name {them}, too, or move {them} away"
        middle = [op.iv for op in between if isinstance(op, affine.For)]
        tries = _without_gap(outer, inner, middle, order)
    elif between:
        reason = f"between {own} and {held} there is {_said(at, next(op for op in between if _is_other(op)))}"
        tries = iter(())
    else:
        beside = min((op for op in outer.body if op is not inner and not op.is_terminator), key=_tells)
        reason = f"the loop {own} does not hold the loop {held} and nothing else: {_said(at, beside)} stands beside it"
        tries = _perfect(at, outer, inner, ivs)
    return refusal(outer, what, reason, candidates=tries)


def _perfect(at: Place, outer: affine.For, inner: affine.For, wanted: Sequence[Value]) -> Iterator[Proposal]:
    """What makes two loops perfectly nested: conditions in the inner one, or another loop for the rest."""
    steps = (Step("make_perfect", (outer.iv, inner.iv)),)
    yield Proposal(steps)
    yield from (Proposal((first, *steps)) for first in peeled_first(at.function, inner))
    around = [op.iv for op in _around(at.function, outer) if isinstance(op, affine.For) and op.iv in wanted]
    apart = [Step("distribute", (iv,)) for iv in (outer.iv, *reversed(around))]
    for last in range(len(apart), 0, -1):
        yield Proposal(tuple(apart[:last]), asks_again=False)
    facts = so_that_it_runs(at.function, inner)
    if facts:
        yield Proposal(steps, assumes=facts)


def _without_gap(
    outer: affine.For, inner: affine.For, middle: Sequence[Value], order: Sequence[Value]
) -> Iterator[Proposal]:
    """What takes loops out of the way: they change places, too, or the inner one moves out first."""
    if tuple(order) == (inner.iv, outer.iv):
        yield Proposal((Step("permute", ((inner.iv, *middle, outer.iv),)),), asks_again=False)
    elif not order:
        yield Proposal((Step("permute", ((inner.iv, *middle),)),))


def _said(at: Place, op: Op) -> str:
    """An operation in words, with its line."""
    line = f" at line {op.location.line}" if op.location is not None else ""
    if isinstance(op, affine.For | affine.Parallel):
        counter = op.iv if isinstance(op, affine.For) else op.ivs[0]
        return f"another loop {at.names[counter]}{line}"
    if isinstance(op, affine.If | scf.If):
        return f"a condition{line}"
    return f"{accessed_element(op) or op_name(op)}{line}"


def _tells(op: Op) -> int:
    """How much it tells that an operation stands beside a loop: stores and loops before numbers."""
    if isinstance(op, affine.Store | memref.Store) or any(True for _ in op.blocks()):
        return 0
    return 2 if isinstance(op, arith.Constant) else 1


def _is_other(op: Op) -> bool:
    return not isinstance(op, affine.For)


def _iv(loop: Op) -> Value:
    assert isinstance(loop, affine.For | scf.For)
    return loop.iv


def _place(at: Place, loop: Op) -> str:
    """Where a loop stands, by the loops around it."""
    around = [at.names[op.iv] for op in _around(at.function, loop) if isinstance(op, affine.For)]
    return f"{at.names[_iv(loop)]} stands {f'in {around[-1]}' if around else 'outside of all loops'}"


def _around(function: Op, loop: Op) -> tuple[Op, ...]:
    """The operations around a loop, but for the function, outermost first."""
    return next((way[1:-1] for way in ways(function) if way[-1] is loop), ())
