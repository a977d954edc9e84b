"""Elements of arrays that a loop changes under conditions, and that may as well be kept in a value meanwhile."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import combinations

from affdsl.ir.dialects import affine, func, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import holders, walk
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.transforms.hoist.faults import Faults

Place = tuple[Value, tuple[Affine, ...]]
"""An array, and the subscripts of an element of it."""


def changed_under_conditions(
    dependences: Dependences, loop: affine.For | scf.For, module: func.Module | None = None
) -> list[Place]:
    """The elements of arrays that a loop changes under conditions, and that can be kept in values all the time.

        for i: { if c[i]: A[k] += 1; if d[i]: A[k + 1] += 1 }                             gives (A, k) and (A, k + 1)

    They are then stored in any case, behind the loop: each lies inside of its array and has a content wherever the loop
    is reached, the loop touches nothing else that may be one of them, and no thread runs at the same time: neither the
    loop nor a call of its function, as far as the module shows them, stands in a parallel loop.
    """
    of = dependences.accesses
    if any(isinstance(around, affine.Parallel | scf.Parallel) for around in of.domains[loop].loops):
        return []
    if module is not None and is_called_in_parallel(of.function.symbol, module):
        return []
    branches = [op for op in walk(loop) if isinstance(op, affine.If | scf.If)]
    conditional = dict.fromkeys(op for branch in branches for op in walk(branch))  # in the order of the text
    mine = [a for a in of.all if loop.iv in a.ivs]
    inside = {v for op in walk(loop) for values in (op.defines(), op.binds()) for v in values}
    found: list[Place] = []
    for array in dict.fromkeys(op.memref for op in conditional if isinstance(op, affine.Store) and op.index):
        buffer = next(a.buffer for a in mine if isinstance(a.op, affine.Store) and a.op.memref is array)
        places = _places([a for a in mine if of.storage.may_alias(a.buffer, buffer)], array, inside)
        if all(Faults(of).are_impossible(_load(place), loop) for place in places):
            found += places
    return found


def is_called_in_parallel(symbol: str, module: func.Module) -> bool:
    """Whether a parallel loop calls a function, by way of others, too."""
    calls = {each.symbol: {op.callee for op in walk(each) if isinstance(op, func.Call)} for each in module.functions}
    reaching = {symbol}
    while more := {caller for caller, callees in calls.items() if callees & reaching} - reaching:
        reaching |= more
    at_once = (
        op for each in module.functions for op in holders(each) if isinstance(op, affine.Parallel | scf.Parallel)
    )
    return any(isinstance(op, func.Call) and op.callee in reaching for loop in at_once for op in walk(loop))


def _load(place: Place) -> affine.Load:
    array, index = place
    assert isinstance(array.type, MemRefType)
    return affine.Load(Value(array.type.element, array.hint, array.location), array, index)


def _places(touching: Sequence[Access], array: Value, inside: Container[Value]) -> list[Place]:
    """The elements that accesses touch, of which none is another one; none if that is not known."""
    places = dict[Place, None]()
    for access in touching:
        op = access.op
        if not isinstance(op, affine.Load | affine.Store) or op.memref is not array or array in inside:
            return []
        if any(v in inside for e in op.index for v in e.values()):
            return []
        places.setdefault((array, op.index))
    is_apart = all(_are_apart(a, b) for (_, a), (_, b) in combinations(places, 2))
    return [*places] if is_apart else []


def _are_apart(a: Sequence[Affine], b: Sequence[Affine]) -> bool:
    """Whether two elements differ by a number in some subscript."""
    apart = (x - y for x, y in zip(a, b, strict=True))
    return any(e.is_constant and e.constant for e in apart)
