"""Copies that belong to the loops around: allocated once, and taken back where something sees what they hold."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import rewrite, walk, way_to
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences, unwarned
from affdsl.passes.analysis.flow import Flow
from affdsl.passes.analysis.polyhedral import Dim, Set, UnknownError, hull_of, merged, spending
from affdsl.passes.analysis.relations import BUDGET, domain_of
from affdsl.passes.transforms.loops.pieces import visible_before


def outermost(function: Func, loop: Op, needed: set[Value]) -> Op:
    """The outermost loop around one, or that one, before which what needs these values can be allocated for all.

    No parallel loop and no condition stands in between.
    """
    outer = loop
    for op in reversed(way_to(function, loop)):
        if not isinstance(op, affine.For) or not needed <= visible_before(function, op):
            break
        outer = op
    return outer


def only_where_seen(function: Func, back: Block, module: Module | None = None) -> Func:
    """The function with stores to an array only in those iterations of the loops around of which something is seen.

        for t: { S(p_fast); p = p_fast }      ->      for t: { S(p_fast); if t == last: p = p_fast }

    That is by the flow of values: who reads each element before it is written again, and what is there in the end.
    Where that is not known, and where nothing is saved, the function comes back as it is.

    Parameters
    ----------
    back
        Operations that stand one behind the other in a block, and do nothing but copy elements to one array.
    """
    if not back:
        return function
    try:
        with unwarned(), spending(BUDGET):
            dependences = Dependences(function, module)
            inside = {op for each in back for op in walk(each)}
            stores = [a for a in dependences.compared if a.kind == "write" and a.op in inside]
            around = dependences.accesses.domains[back[0]]
            every = domain_of(around.relation(()))
            seen = _seen(dependences, stores, len(around.ivs), every)
            if seen.is_empty():
                return _instead(function, back, ())
            visible = visible_before(function, back[0])
            usable = [*function.args, *(v for op in function.body for v in op.defines() if v in visible)]
            known = hull_of(seen.gist(every), around.ivs, usable)
            loops = zip(around.ivs, around.loops, strict=True)
            counters = {iv for iv, loop in loops if isinstance(loop, affine.For | affine.Parallel)}
            asked = [(each, {*each.expr.values()} & {*around.ivs}) for each in known]
            conditions = [each for each, of in asked if of and of <= counters]
    except UnknownError:
        return function
    if not conditions:
        return function
    return _instead(function, back, (affine.If(tuple(conditions), back, location=back[0].location),))


def _seen(dependences: Dependences, stores: Sequence[Access], depth: int, every: Set) -> Set:
    """The iterations of so many loops around some stores in which they store what something sees.

    Raises UnknownError.
    """
    flow, storage = Flow(dependences), dependences.accesses.storage
    found = every.subtract(every)
    for buffer in {store.buffer for store in stores}:
        reads = [a for a in dependences.compared if a.kind == "read" and storage.may_alias(a.buffer, buffer)]
        pairs = [(last.write, last.map) for read in reads for last in flow.writers(read)]
        if buffer.kind != "local" or buffer.escapes or buffer.is_returned:
            pairs += flow.final_writes(buffer)
        for write, to in pairs:
            if write in stores:
                if to is None:
                    raise UnknownError("isl needs too long")
                found = found.union(to.range().project_out(Dim.set, depth, len(write.ivs) - depth))
    return merged(found)


def _instead(function: Func, old: Block, new: Block) -> Func:
    """The function with other operations in the place of some that stand one behind the other."""
    first: dict[Op, Block] = {old[0]: new} | dict.fromkeys(old[1:], ())
    return rewrite(function, first.get)
