"""What loops that load for the next iteration have in common: which may, and the last one, which loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from affdsl.ir.core import Block
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Value
from affdsl.ir.traverse import clone_block
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import access_name, accessed_element
from affdsl.passes.transforms.loops.unrolling import is_multiple


def require_whole_steps(loop: affine.For, what: str) -> None:
    """Raise IllegalTransform unless the last iteration of a loop is a step before its end, and hands on nothing."""
    if loop.results:
        raise refusal(loop, what, "it carries values")
    one = len(loop.lower) == len(loop.upper) == 1
    if not one or not is_multiple(loop.upper[0] - loop.lower[0], loop.step):
        raise refusal(loop, what, f"its last iteration is not certainly {loop.step} before its end")


def last_iteration(loop: affine.For, ahead: AbstractSet[Value]) -> Block:
    """The last iteration of a loop, up to its old end, with what the one before hands on, less the loads ahead."""
    *body, end = loop.body
    assert isinstance(end, affine.Yield), "a loop with results ends with a yield"
    plain = tuple(op for op in body if ahead.isdisjoint(op.defines()))
    (upper,) = loop.upper
    given = dict(zip(loop.carried, loop.results, strict=True))
    return clone_block(plain, {loop.iv: upper - loop.step, **given})


def why_it_is_stored(load: affine.VectorLoad, accesses: Sequence[Access], dependences: Dependences) -> str:
    """What in a loop may store elements before a load gives them; `accesses` are those of the loop."""
    (mine,) = (a for a in accesses if a.op is load)
    depth = len(mine.ivs)
    for access in accesses:
        if access.kind != "write" or not dependences.accesses.storage.may_alias(access.buffer, mine.buffer):
            continue
        if dependences.depths(access, mine, depth):
            return f"{access_name(access)} may have stored what it loads"
    return ""


def named(load: affine.VectorLoad) -> str:
    """A load as its author wrote it, and where."""
    at = f" at line {load.location.line}" if load.location is not None else ""
    return f"{accessed_element(load)}{at}"
