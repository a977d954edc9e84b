"""Loops around others whose iterations store to the same elements, which gcc 12 changes the order of.

    for i: for j: C[i + j] = B[i]        the last i that reaches an element decides what it is

gcc 12 makes vectors of several iterations of a loop around others, and does not ask whether a store meets itself in
another one of them. It asks of two accesses, so that it is right where the element is loaded, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import walk

_LOOPS = (affine.For, affine.Parallel, scf.For, scf.Parallel)
_Loop = affine.For | affine.Parallel | scf.For | scf.Parallel
_Stored = tuple[tuple[_Loop, ...], tuple[Affine, ...]]


def overwrites(loop: affine.For | scf.For) -> bool:
    """Whether loops inside of a loop store to elements that several of its iterations may store to, and do not load.

    >>> from affdsl.mlir.readers import parse
    >>> def found(place):
    ...     return overwrites(parse('''func.func @f(%C: memref<?xf32>, %x: f32, %m: index) {
    ...       affine.for %i = 0 to %m {
    ...         affine.for %j = 0 to 4 { affine.store %x, %C[PLACE] : memref<?xf32> } }
    ...       return
    ...     }'''.replace("PLACE", place)).functions[0].body[0])
    >>> found("%i + %j"), found("%j"), found("%i"), found("%i * 4 + %j"), found("%i * 3 + %j")
    (True, True, False, False, True)
    """
    if not any(isinstance(op, _LOOPS) for op in walk(loop) if op is not loop):
        return False
    inside = {v for op in walk(loop) for v in (*op.defines(), *op.binds())}
    read = {v for op in walk(loop) for v in op.reads()}
    return any(
        around and not any(_tells_apart(place, loop, around, inside) for place in places)
        for around, places in _only_stored(loop.body, (), {}, read)
    )


def _only_stored(
    block: Block, around: tuple[_Loop, ...], made: dict[Value, Term], read: set[Value]
) -> Iterator[_Stored]:
    """The places to which a block stores and that it has not loaded before, with the loops around them."""
    loaded = set[object]()
    for op in block:
        match op:
            case affine.Apply(result=result, expr=expr):
                made[result] = expr.substitute(made)
            case affine.Load(index=index) | memref.Load(indices=index) if op.result in read:
                loaded.add((op.memref, index))
            case affine.Store(index=index) | memref.Store(indices=index) if (op.memref, index) not in loaded:
                yield around, tuple([Affine.of(e).substitute(made) for e in index])
        inner = (*around, op) if isinstance(op, _LOOPS) else around
        for each in op.blocks():
            yield from _only_stored(each, inner, made, read)


def _tells_apart(place: Affine, loop: affine.For | scf.For, around: Sequence[_Loop], inside: set[Value]) -> bool:
    """Whether a subscript is another one in each iteration of a loop, whatever those inside do: a step is too far."""
    spans: dict[Value, int | None] = {}
    for inner in reversed(around):
        place = place.substitute(_start(inner))
        spans |= _spans(inner)
    factors = dict(place.terms)
    step = factors.pop(loop.iv, 0) * (loop.step if isinstance(loop, affine.For) else 1)
    reached = 0
    for atom, factor in factors.items():
        span = spans.get(atom) if isinstance(atom, Value) else None
        if span is not None:
            reached += abs(factor) * span
        elif not inside.isdisjoint((atom,) if isinstance(atom, Value) else atom.reads):
            return False
    return abs(step) > reached


def _start(inner: _Loop) -> Mapping[Value, Term]:
    """The counter of a loop as how far it is from where it starts, if that is one place."""
    return {inner.iv: inner.lower[0] + inner.iv} if isinstance(inner, affine.For) and len(inner.lower) == 1 else {}


def _spans(inner: Op) -> dict[Value, int | None]:
    """How far a counter gets from where it starts, if that is a number."""
    if not isinstance(inner, affine.For) or len(inner.lower) != 1:
        return {}
    far = [e.constant for high in inner.upper if (e := high - inner.lower[0]).is_constant]
    return {inner.iv: max(0, min(far) - 1)} if far else {}
