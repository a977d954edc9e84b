"""Loops around others whose iterations store to the same elements, which gcc changes the order of: `stores_that_meet`.

    for i: for j: C[i + j] = B[i]        the last i that reaches an element decides what it is

gcc makes vectors of several iterations of a loop that holds another one, and does not ask whether a store writes to
one element in several of them. It asks that of two accesses, so it is right where the element is loaded first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.expr import Affine, Atom, FloorDiv, Term, Value
from affdsl.ir.traverse import outermost, walk

_LOOPS: tuple[type[_Loop], ...] = (affine.For, affine.Parallel, scf.For, scf.Parallel)
SHORT = 64
"""Loops of fewer iterations are not counted: gcc may make straight code of them."""
_Loop = affine.For | affine.Parallel | scf.For | scf.Parallel
_Stored = tuple[Value, tuple[_Loop, ...], tuple[Affine, ...]]


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
    if not any(isinstance(op, _LOOPS) for op in walk(loop) if op is not loop) or not _is_one_nest(loop):
        return False
    inside = {v for op in walk(loop) for v in (*op.defines(), *op.binds())}
    read = {v for op in walk(loop) for v in op.reads()}
    return any(
        around and array not in inside and not any(_tells_apart(place, loop, around, inside) for place in places)
        for array, around, places in _only_stored(loop.body, (), {}, read)
    )


def _is_one_nest(op: Op) -> bool:
    """Whether each loop inside holds one long loop at most: elsewhere gcc makes vectors of innermost loops only."""
    long = [inner for inner in outermost(op, _LOOPS) if (span := _span(inner)) is None or span >= SHORT]
    return len(long) < 2 and all(map(_is_one_nest, outermost(op, _LOOPS)))


def _only_stored(
    block: Block, around: tuple[_Loop, ...], made: dict[Value, Term], read: set[Value]
) -> Iterator[_Stored]:
    """The arrays, and places, to which a block stores and that it has not loaded before, with the loops around them."""
    loaded = set[object]()
    for op in block:
        match op:
            case affine.Apply(result=result, expr=expr):
                made[result] = expr.substitute(made)
            case affine.Load(index=index) | memref.Load(indices=index) if op.result in read:
                loaded.add((op.memref, index))
            case affine.Store(index=index) | memref.Store(indices=index) if (op.memref, index) not in loaded:
                yield op.memref, around, tuple([Affine.of(e).substitute(made) for e in index])
        inner = (*around, op) if isinstance(op, _LOOPS) else around
        for each in op.blocks():
            yield from _only_stored(each, inner, made, read)


def _tells_apart(place: Affine, loop: affine.For | scf.For, around: Sequence[_Loop], inside: set[Value]) -> bool:
    """Whether a subscript is never the same in two iterations: each step is further than the loops inside reach."""
    spans: dict[Value, int | None] = {}
    for inner in reversed(around):
        if isinstance(inner, affine.For):
            place, spans[inner.iv] = place.substitute(_start(inner)), _span(inner)
    by, reached = loop.step if isinstance(loop, affine.For) else 1, 0
    moving: list[int] = []
    for atom, factor in place.terms:
        span = spans.get(atom) if isinstance(atom, Value) else None
        if span is not None:
            reached += abs(factor) * span
        elif (step := _step(atom, loop.iv, by, inside)) is None:
            return False
        elif loop.iv in Affine.of(atom).values():
            moving.append(abs(factor) * step)
    return len(moving) == 1 and moving[0] > reached  # two may move against each other, as in i mod 8


def _step(atom: Atom, iv: Value, by: int, inside: set[Value]) -> int | None:
    """How far an atom moves at least with each iteration of a loop; 0 if it stays; None if that is not known."""
    match atom:
        case Value():
            return by if atom is iv else 0 if atom not in inside else None
        case FloorDiv(dividend, int() as divisor):
            factors = dict(dividend.terms)
            factor = factors.pop(iv, 0)
            if inside.isdisjoint(v for each in factors for v in Affine.of(each).values()):
                return abs(factor) * by // divisor
        case _ if inside.isdisjoint(atom.reads):
            return 0
    return None


def _start(inner: affine.For) -> Mapping[Value, Term]:
    """The counter of a loop as how far it is from where it starts, if that is one place."""
    return {inner.iv: inner.lower[0] + inner.iv} if len(inner.lower) == 1 else {}


def _span(inner: _Loop) -> int | None:
    """How far the counter of a loop gets from where it starts, if that is a number."""
    if not isinstance(inner, affine.For) or len(inner.lower) != 1:
        return None
    far = [e.constant for high in inner.upper if (e := high - inner.lower[0]).is_constant]
    return max(0, min(far) - 1) if far else None
