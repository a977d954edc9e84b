"""The loops of a function by their induction variables: found, with the loops around, as bands, and replaced."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import fresh, holders, rewrite, substitute, walk, with_fields
from affdsl.passes.legality.proposals import Proposal, Step
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name


def loop_of(function: func.Func, iv: Value, what: str) -> affine.For:
    """The affine.for with an induction variable.

    Raises
    ------
    IllegalTransform
        If there is none: with the loops that there are.
    """
    loops = [op for op in holders(function) if isinstance(op, affine.For)]
    for loop in loops:
        if loop.iv is iv:
            return loop
    names = ", ".join(name(loop.iv) for loop in loops)
    known = f"its loops are {names}" if names else "it has none"
    raise refusal(function, what, f"@{function.symbol} has no affine.for over {name(iv)}; {known}")


def any_loop_of(function: func.Func, iv: Value, what: str) -> affine.For | scf.For:
    """The loop with an induction variable, whose bounds may come from data. Raises IllegalTransform as `loop_of`."""
    found = next((op for op in holders(function) if isinstance(op, scf.For) and op.iv is iv), None)
    return loop_of(function, iv, what) if found is None else found


def loop_of_any_kind(
    function: func.Func, iv: Value, what: str
) -> affine.For | affine.Parallel | scf.For | scf.Parallel:
    """The loop with an induction variable, which may be parallel. Raises IllegalTransform as `loop_of`."""
    parallel = (op for op in holders(function) if isinstance(op, affine.Parallel | scf.Parallel))
    return next((op for op in parallel if iv in op.ivs), None) or any_loop_of(function, iv, what)


def band_of(
    function: func.Func,
    ivs: Sequence[Value],
    what: str,
    *,
    carrying: bool = False,
) -> tuple[affine.For, ...]:
    """Perfectly nested loops, outermost first, in whatever order their induction variables are given.

    `carrying` loops may carry values, if the outer ones do nothing with them but to hand them on. Where the loops are
    not perfectly nested, `make_perfect` is proposed.

    Raises
    ------
    IllegalTransform
        If one of them is missing, given twice, carries values, or does not hold the next one and nothing else.
    """
    loops = [loop_of(function, iv, what) for iv in ivs]
    for k, loop in enumerate(loops):
        if loop in loops[:k]:
            raise refusal(loop, what, f"{name(loop.iv)} is given twice")
    inside = {loop: sum(other in set(walk(loop)) for other in loops) for loop in loops}
    band = sorted(loops, key=lambda loop: -inside[loop])
    for loop in band:
        if loop.results and not carrying:
            reason = f"the loop {name(loop.iv)} carries values (iter_args) from each iteration to the next"
            raise refusal(loop, what, reason)
    for outer, inner in pairwise(band):
        if _holds_only(outer, inner):
            continue
        if inner.results and outer.body[:1] == (inner,):
            carries = f"the loop {name(inner.iv)} carries values (iter_args) from each iteration to the next"
            raise refusal(inner, what, f"{carries}, and the loop {name(outer.iv)} does not just hand them on")
        reason = f"the loop {name(outer.iv)} does not hold the loop {name(inner.iv)} and nothing else"
        perfect = Proposal((Step("make_perfect", (outer.iv, inner.iv)),))
        raise refusal(outer, what, reason, candidates=(perfect,))
    return tuple(band)


def _holds_only(outer: affine.For, inner: affine.For) -> bool:
    """Whether a loop holds another and nothing else, to which it hands what it carries, and the other way round."""
    if not outer.results or not inner.results:
        return outer.body == (inner,) and not outer.results and not inner.results
    match outer.body:
        case (op, affine.Yield(values=values)) if op is inner:
            return inner.inits == outer.carried and values == inner.results
    return False


def replaced(function: func.Func, old: Op, *new: Op) -> func.Func:
    """A function with other operations in the place of one."""
    return rewrite(function, lambda op: new if op is old else None)


def with_arrays_outside(function: func.Func, old: Op, new: Sequence[Op]) -> func.Func:
    """A function with other operations in the place of one, where what these allocate stands before all loops.

    LLVM gives what is allocated in a loop back when the function ends, and not before. In a parallel band it stays.
    """
    if any(isinstance(op, affine.Parallel | scf.Parallel) and old in walk(op) for op in walk(function)):
        return replaced(function, old, *new)
    arrays = tuple(op for op in new if isinstance(op, memref.Alloca))
    function = replaced(function, old, *(op for op in new if not isinstance(op, memref.Alloca)))
    return with_fields(function, body=(*arrays, *function.body))


def counted(body: Block, iv: Value, expr: Affine) -> Block:
    """A body where an expression stands for an induction variable.

    It goes into the affine maps, or is computed first by affine.apply if something else reads the variable.
    """
    try:
        return tuple(substitute(op, {iv: expr}) for op in body)
    except ValueError:
        computed = fresh(iv)
        place = body[0].location
        return (affine.Apply(computed, expr, location=place), *(substitute(op, {iv: computed}) for op in body))


def instead(module: func.Module, before: func.Func, function: func.Func) -> func.Module:
    """A module with another function in the place of one."""
    return with_fields(module, body=tuple(function if op is before else op for op in module.body))
