"""The last vector of a loop, where it may run some iterations a second time."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Constraint
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


def overlapped(loop: affine.For, rest: affine.For, last: Sequence[Op], width: int) -> tuple[Op, ...]:
    """What is left over: the last vector, where there are so many iterations and some are left; else one by one."""
    (lower,), (upper,) = loop.lower, loop.upper
    enough = upper - lower - width
    if enough.is_constant and enough.constant >= 0:
        return tuple(last)  # where none were left there would be no rest
    left = Constraint(upper - rest.lower[-1] - 1)
    alone = affine.If((left,), tuple(last), location=loop.location)
    return (affine.If((Constraint(enough),), (alone,), (rest,), location=loop.location),)
