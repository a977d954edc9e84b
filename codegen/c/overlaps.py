"""Loops around others whose iterations store to the same elements, which gcc 12 changes the order of.

    for i: for j: C[i + j] = B[i]        the last i that reaches an element decides what it is

Where the inner loop runs equally often, gcc 12 makes vectors of several iterations of the outer one, and does not ask
whether one store meets itself in another iteration of that: the first i of a vector is left. Other accesses it asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import walk

_LOOPS = (affine.For, affine.Parallel, scf.For, scf.Parallel)


def overwrites(loop: affine.For | scf.For) -> bool:
    """Whether a loop around innermost ones may store twice to an element that it and these choose together.

    >>> from affdsl.mlir.readers import parse
    >>> def found(place):
    ...     return overwrites(parse('''func.func @f(%C: memref<?xf32>, %x: f32, %m: index) {
    ...       affine.for %i = 0 to 9 { affine.for %j = 0 to %m {
    ...         affine.for %k = 0 to 4 { affine.store %x, %C[PLACE] : memref<?xf32> } } }
    ...       return
    ...     }'''.replace("PLACE", place)).functions[0].body[0].body[0])
    >>> found("%j + %k"), found("%j * 4 + %k"), found("%k"), found("%i + %j"), found("%i + %k")
    (True, False, False, False, False)
    """
    inner = [op for op in walk(loop) if isinstance(op, _LOOPS) and op is not loop]
    if not inner or any(isinstance(op, _LOOPS) for each in inner for op in walk(each) if op is not each):
        return False
    return any(_meets_itself(loop, each, op) for each in inner for op in walk(each))


def _meets_itself(loop: affine.For | scf.For, inner: Op, store: Op) -> bool:
    """Whether a store inside of two loops may be to one element in several iterations of the outer one."""
    match store:
        case affine.Store(index=index):
            places = [e.substitute(_computed(loop)) for e in index]
        case memref.Store(indices=indices):
            places = [Affine.of(v).substitute(_computed(loop)) for v in indices]
        case _:
            return False
    starts, spans = _starts(inner), _spans(inner)
    known = {loop.iv, *spans}
    hidden = {v for op in walk(loop) for v in (*op.defines(), *op.binds())} - known
    moves = False
    for place in places:
        e = place.substitute(starts)
        read = [*e.values()]
        if not hidden.isdisjoint(read):  # what comes from elsewhere may be any place
            moves = True
            continue
        if loop.iv not in read:
            continue
        factors = dict(e.terms)
        step = factors.get(loop.iv)
        if step is None or sum(atom in known for atom in read) != sum(atom in known for atom in factors):
            moves = True  # it is divided
            continue
        reached = [abs(factors[v]) * span if span is not None else None for v, span in spans.items() if v in factors]
        if None not in reached and abs(step * _step(loop)) > sum(r for r in reached if r is not None):
            return False
        moves = True
    return moves


def _step(loop: affine.For | scf.For) -> int:
    return loop.step if isinstance(loop, affine.For) else 1


def _computed(loop: Op) -> Mapping[Value, Term]:
    """What affine.apply makes inside of a loop."""
    made: dict[Value, Term] = {}
    for op in walk(loop):
        if isinstance(op, affine.Apply):
            made[op.result] = op.expr.substitute(made)
    return made


def _starts(inner: Op) -> Mapping[Value, Term]:
    """The counters of a loop as how far they are from where it starts, if that is one place."""
    if isinstance(inner, affine.For) and len(inner.lower) == 1:
        return {inner.iv: inner.lower[0] + inner.iv}
    return {}


def _spans(inner: Op) -> dict[Value, int | None]:
    """How far counters get from where they start; None where that is no number."""
    if not isinstance(inner, affine.For):
        return dict.fromkeys(_counters(inner))
    if len(inner.lower) != 1:
        return {inner.iv: None}
    far = [e.constant for high in inner.upper if (e := high - inner.lower[0]).is_constant]
    return {inner.iv: max(0, min(far) - 1) if far else None}


def _counters(loop: Op) -> Iterator[Value]:
    yield from (loop.iv,) if isinstance(loop, scf.For) else loop.binds()
