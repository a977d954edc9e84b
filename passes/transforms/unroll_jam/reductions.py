"""Numbers that a loop combines, one for each of its copies: where they start, and how they become one again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.expr import Value
from affdsl.ir.messages import shown
from affdsl.ir.types import I1, FloatType, IndexType, IntegerType, ScalarType
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.reduction import DECLARED, Reductions
from affdsl.passes.legality.refusal import refusal

_DECLARED_AS = {kind: declared for declared, kind in DECLARED.items() if kind not in ("maxnumf", "minnumf")}


def kinds_of(loop: affine.For, dependences: Dependences, what: str, reassociate: bool) -> tuple[str | None, ...]:
    """How each value that a loop carries is combined; None where it is yielded as it is.

    Raises IllegalTransform for a recurrence, and for a sum or product of floats unless `reassociate` allows it.
    """
    reductions, found = Reductions(dependences), list[str | None]()
    for k, value in enumerate(loop.carried):
        if reductions.is_invariant(loop, k):
            found.append(None)
            continue
        reduction = reductions.carried(loop, k)
        known = isinstance(value.type, IndexType | IntegerType | FloatType)
        if reduction is None or reduction.kind not in _DECLARED_AS or not known:
            reason = f"it carries {shown(value)} from each iteration to the next, and that is no reduction"
            raise refusal(loop, what, reason)
        if reduction.needs_reassociation and not reassociate:
            reason = (
                f"{shown(value)} is reduced by {reduction.kind} of floats, which another order rounds in another way"
            )
            raise refusal(loop, what, reason, "reassociate=True, where that is allowed")
        found.append(reduction.kind)
    return tuple(found)


def started(loop: affine.For, kinds: Sequence[str | None], factor: int) -> tuple[Block, list[tuple[Value, ...]]]:
    """The values that each copy starts with, and the constants among them: what the loop starts with counts once."""
    constants: list[Op] = []
    others: list[Value] = []
    for value, kind in zip(loop.inits, kinds, strict=True):
        if kind is None:
            others.append(value)
            continue
        start = Value(value.type)
        constants.append(arith.Constant(start, _neutral(kind, value), location=loop.location))
        others.append(start)
    return tuple(constants), [loop.inits, *[tuple(others)] * (factor - 1)]


def together(
    loop: affine.For, kinds: Sequence[str | None], copies: Sequence[Sequence[Value]], results: Sequence[Value]
) -> Block:
    """Operations that combine what each copy of a loop gives; a value that is yielded needs none."""
    out: list[Op] = []
    for k, kind in enumerate(kinds):
        if kind is None:
            continue
        total = copies[0][k]
        for copy in copies[1:]:
            into = results[k] if copy is copies[-1] else Value(total.type)
            out.append(arith.Binary(into, kind, total, copy[k], location=loop.location))
            total = into
    return tuple(out)


def _neutral(kind: str, like: Value) -> int | float | bool:
    """The number that changes nothing when it is combined."""
    assert isinstance(like.type, IndexType | IntegerType | FloatType), "asked before"
    # What operations mean comes with NumPy, for which no loop that carries nothing needs to wait.
    neutral: Callable[[str, ScalarType], int | float] = import_module("affdsl.ir.semantics").neutral
    number = neutral(_DECLARED_AS[kind], like.type)
    return float(number) if isinstance(like.type, FloatType) else bool(number) if like.type == I1 else int(number)
