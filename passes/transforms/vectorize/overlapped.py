"""The last vector of a loop, where it may run some iterations a second time."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Constraint
from affdsl.ir.traverse import clone_block, with_fields
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import access_name


def require_repeatable(loop: affine.For, dependences: Dependences, what: str) -> None:
    """Raise IllegalTransform unless iterations of a loop may run again, after all others, and nothing changes.

    That is so where no iteration depends on another one, and none loads what it stores later.
    """
    if loop.results:
        raise refusal(loop, what, "it carries values, which would be combined twice", 'tail="masked"')
    if loop.step != 1 or len(loop.lower) != 1 or len(loop.upper) != 1:
        raise refusal(loop, what, "its last vector has no place: it has several bounds, or a step", 'tail="masked"')
    depth = len(dependences.accesses.domains[loop].ivs) + 1
    inside = [a for a in dependences.compared if loop.iv in a.ivs]
    for source in inside:
        for sink in inside:
            if "write" not in (source.kind, sink.kind):
                continue
            for at in dependences.depths(source, sink, depth):
                if at == depth or source.kind == "read":
                    how = "changes what is read by" if source.kind == "read" else "comes after"
                    why = f"{access_name(sink)} {how} {access_name(source)}"
                    raise refusal(loop, what, f"some iterations would run twice, and {why}", 'tail="masked"')


def last_vector(rest: affine.For, width: int) -> affine.For:
    """The last iterations of a loop, as many as a vector has lanes: as a loop of which a vector is one iteration."""
    (again,) = clone_block((rest,), {})
    assert isinstance(again, affine.For)
    (upper,) = rest.upper
    return with_fields(again, lower=(upper - width,), upper=(upper - width + 1,), written=None)


def overlapped(loop: affine.For, rest: affine.For, ends: Sequence[tuple[int, Sequence[Op]]]) -> tuple[Op, ...]:
    """What is left over: a last vector, where there are so many iterations and some are left; else one by one.

    `ends` are the last vectors that there may be with how many lanes each of them has, the widest first: the narrowest
    one runs that has a lane for each iteration that is left.
    """
    (lower,), (upper,), (width, _) = loop.lower, loop.upper, ends[0]
    enough = upper - lower - width
    last = _last(upper - rest.lower[-1], ends, loop)
    if enough.is_constant and enough.constant >= 0:
        return last
    return (affine.If((Constraint(enough),), last, (rest,), location=loop.location),)


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
