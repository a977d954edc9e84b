"""The last vector of a loop, where it may run some iterations a second time."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.expr import Affine, Constraint, Term, Value
from affdsl.ir.traverse import clone, clone_block, substitute, walk, with_fields
from affdsl.ir.types import FloatType, Type, VectorType, element_of
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.effects import effects
from affdsl.passes.legality.proposals import Proposal
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.legality.words import access_name
from affdsl.passes.transforms.vectorize.loads import MayAlias


def require_repeatable(loop: affine.For, dependences: Dependences, what: str, *, early: bool) -> None:
    """Raise IllegalTransform unless iterations of a loop may run again, after all others, and nothing changes.

    That is so where no iteration depends on another one, and none loads what it stores later. Where all that they load
    of what the loop stores is loaded `early`, before the first iteration, it may change afterwards, but not before.
    """
    if loop.results:
        raise _refused(loop, what, "it carries values, which would be combined twice")
    if loop.step != 1 or len(loop.lower) != 1 or len(loop.upper) != 1:
        raise _refused(loop, what, "its last vector has no place: it has several bounds, or a step")
    depth = len(dependences.accesses.domains[loop].ivs) + 1
    inside = [a for a in dependences.compared if loop.iv in a.ivs]
    for source in inside:
        for sink in inside:
            if "write" not in (source.kind, sink.kind):
                continue
            for at in dependences.depths(source, sink, depth):
                if early and source.kind == "read":
                    continue
                if at == depth or source.kind == "read" or (early and sink.kind == "read"):
                    how = "changes what is read by" if source.kind == "read" else "comes after"
                    why = f"{access_name(sink)} {how} {access_name(source)}"
                    raise _refused(loop, what, f"some iterations would run twice, and {why}")


def _refused(loop: affine.For, what: str, reason: str) -> IllegalTransform:
    return refusal(loop, what, reason, candidates=(Proposal(options=(("tail", "masked"),)),))


def last_vector(rest: affine.For, width: int) -> affine.For:
    """The last iterations of a loop, as many as a vector has lanes: as a loop of which a vector is one iteration."""
    (again,) = clone_block((rest,), {})
    assert isinstance(again, affine.For)
    (upper,) = rest.upper
    return with_fields(again, lower=(upper - width,), upper=(upper - width + 1,), written=None)


def loaded_early(
    loop: affine.For, last: Sequence[Op], width: int, what: str, may_alias: MayAlias
) -> tuple[tuple[Op, ...], tuple[Op, ...]]:
    """What a last vector loads of what a loop stores, to be done before the loop, and the vector without that.

        for k = n - 8: { x = A[k : k + 8]; S(x) }   ->   x = A[n - 8 : n]   and   for k = n - 8: S(x)

    It is done where there are as many iterations as lanes. Raises IllegalTransform where the last vector loads such
    elements one by one, or under conditions.
    """
    stored = {array for op in walk(loop) for array in effects(op).writes}
    (alone,) = (op for op in last if isinstance(op, affine.For))
    inside = {v for op in walk(alone) for v in op.defines()}
    (first,), (lower,), (upper,) = alone.lower, loop.lower, loop.upper

    def is_stored(op: Op) -> bool:
        return any(may_alias(array, each) for array in effects(op).reads for each in stored)

    loads = [op for op in alone.body if isinstance(op, affine.Load | affine.VectorLoad) and is_stored(op)]
    if len(loads) < sum(map(is_stored, walk(alone))) or any(v in inside for op in loads for v in op.mentions()):
        raise _refused(loop, what, "not all that it loads of what it stores lies side by side")
    if not loads:
        return (), tuple(last)
    new: dict[Value, Term] = {alone.iv: first}
    before: tuple[Op, ...] = tuple(clone(op, new) for op in loads)
    known: dict[Value, Term] = {op.result: new[op.result] for op in loads}
    enough = upper - lower - width
    if not (enough.is_constant and enough.constant >= 0):
        none = [arith.Constant(Value(op.result.type), _zeros(op.result.type)) for op in loads]
        results = [Value(op.result.type, op.result.hint) for op in loads]
        then = (*before, affine.Yield(tuple(v for op in before for v in op.defines())))
        otherwise = (*none, affine.Yield(tuple(op.result for op in none)))
        before = (affine.If((Constraint(enough),), then, otherwise, tuple(results), location=loop.location),)
        known = dict(zip((op.result for op in loads), results, strict=True))
    rest = with_fields(alone, body=tuple(op for op in alone.body if op not in loads))
    return before, tuple(substitute(rest, known) if op is alone else op for op in last)


def _zeros(type: Type) -> float | tuple[float, ...]:
    """A number of a type, or as many as a vector has."""
    element = element_of(type)
    none = 0.0 if isinstance(element, FloatType) else 0
    return (none,) * prod(type.shape) if isinstance(type, VectorType) else none


def overlapped(
    loop: affine.For, rest: affine.For, ends: Sequence[tuple[int, Sequence[Op]]], few: Sequence[Op]
) -> tuple[Op, ...]:
    """What is left over: a last vector, where there are so many iterations and some are left; else `few` of them.

    `ends` are the last vectors that there may be with how many lanes each of them has, the widest first: the narrowest
    one runs that has a lane for each iteration that is left.
    """
    (lower,), (upper,), (width, _) = loop.lower, loop.upper, ends[0]
    enough = upper - lower - width
    last = _last(upper - rest.lower[-1], ends, loop)
    if enough.is_constant and enough.constant >= 0:
        return last
    return (affine.If((Constraint(enough),), last, tuple(few), location=loop.location),)


def _last(left: Affine, ends: Sequence[tuple[int, Sequence[Op]]], loop: affine.For) -> tuple[Op, ...]:
    """The narrowest of some last vectors that has a lane for each of so many iterations; nothing where none is left."""
    found: tuple[Op, ...] = ()
    fewer = [width for width, _ in ends[1:]] + [0]
    for most, (_, last) in reversed([*zip(fewer, ends, strict=True)]):
        more = left - most - 1
        if more.is_constant:
            found = tuple(last) if more.constant >= 0 else found
        else:
            found = (affine.If((Constraint(more),), tuple(last), found, location=loop.location),)
    return found
