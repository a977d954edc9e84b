"""Two parallel loops over the same points made one."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import rewrite, substitute, walk, with_fields
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.legality.order import Time, text_time
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.require import require_order
from affdsl.passes.transforms.fuse.between import after_both, require_values


def fuse_parallel(
    function: func.Func, first: Op, second: Op, by: Affine, what: str, module: func.Module | None
) -> func.Func:
    """Run both bodies at each point.

        parallel i: S(i);  parallel j: T(j)      ->      parallel i: { S(i); T(i) }

    Raises
    ------
    IllegalTransform
        With two points of which the second depends on the first, though it is another one; or if one is not parallel,
        yields values, or runs over other points.
    """
    if not isinstance(first, affine.Parallel) or not isinstance(second, affine.Parallel):
        raise refusal(second, what, "one of them is parallel, and the other has an order")
    block = next(b for op in walk(function) for b in op.blocks() if first in b)
    if second not in block or block.index(second) < block.index(first):
        raise refusal(second, what, "the second one does not stand behind the first one in its block")
    if first.results or second.results:
        raise refusal(first if first.results else second, what, "it combines values (reductions)")
    if by != Affine() or (first.lower, first.upper, first.steps) != (second.lower, second.upper, second.steps):
        raise refusal(second, what, "parallel loops are fused without a shift, where their bounds and steps are equal")
    dependences = Dependences(function, module)
    between = block[block.index(first) + 1 : block.index(second)]
    after = after_both(dependences, first, between)
    require_values(first, second, after, what)
    for sign in (1, -1):
        time = _time(dependences, (first, second), after, sign)
        require_order(dependences, (first, *between, second), time, what=what)
    points: dict[Value, Term] = dict(zip(second.ivs, first.ivs, strict=True))
    both = with_fields(first, body=(*first.body, *(substitute(op, points) for op in second.body)))
    new: dict[Op, Sequence[Op]] = dict.fromkeys((*between, second), ())
    new[first] = (*(op for op in between if op not in after), both, *(op for op in between if op in after))
    return rewrite(function, lambda op: new.get(op))


def _time(dependences: Dependences, loops: tuple[affine.Parallel, affine.Parallel], after: set[Op], sign: int) -> Time:
    """When accesses run if the points run forwards, or backwards: only what depends on its own point passes both."""
    around = len(dependences.accesses.domains[loops[0]].ivs)
    count = len(loops[0].ivs)
    inside = {op for loop in loops for op in walk(loop)}
    late = {inner for op in after for inner in walk(op)}

    def time(access: Access) -> Sequence[Term]:
        place, *rest = text_time(dependences, access, around)
        if access.op not in inside:
            return (2 if access.op in late else 0, place, *rest)
        points = [point * sign for point in access.ivs[around : around + count]]
        return (1, *points, place, *rest[2 * count - 1 :])

    return time
