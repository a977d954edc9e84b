"""Where the iterations of a loop reach an element that others of them access at another time: the place to split it."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import holders, walk
from affdsl.passes.transforms.index_set_split import index_set_split
from affdsl.passes.transforms.settle import settled

MOST = 3
"""At so many places a loop is tried to be split, one after the other."""


def crossings(loop: affine.For) -> list[Affine]:
    """The iterations at which a store meets another access of its memref, where that is one number: at most a few.

    for j: D[i, j] = min(D[i, j], D[i, k] + ...)   ->   k
    for i: A[i] = A[n - i]                         ->   n ceildiv 2
    """
    accesses = [op for op in walk(loop) if isinstance(op, affine.Load | affine.Store)]
    elements = {(op.memref, op.index): op for op in accesses}  # an access meets itself, and the same element, nowhere
    stores = {(op.memref, op.index): op for op in accesses if isinstance(op, affine.Store)}
    inside = {v for op in walk(loop) for v in (*op.defines(), *op.binds()) if v is not loop.iv}
    found: dict[Affine, None] = {}
    for store in stores.values():
        for other in elements.values():
            if store.memref is other.memref and store.index != other.index:
                found.update(dict.fromkeys(_meeting(loop.iv, store, other)))
    return [at for at in found if not inside & set(at.values())][:MOST]


def _meeting(iv: Value, store: affine.Store, other: affine.Load | affine.Store) -> Iterator[Affine]:
    for a, b in zip(store.index, other.index, strict=True):
        distance = a - b
        rate = dict(distance.terms).get(iv, 0)
        if rate:
            left = (Affine.of(iv) * rate - distance) * (1 if rate > 0 else -1)
            if iv not in left.values():
                yield left.ceildiv(abs(rate))


def split_at(function: Func, iv: Value, at: Affine, module: Module | None) -> tuple[Func, tuple[Value, ...]]:
    """A loop as the iterations before one, that one, and those behind it; the counters of the first and the last loop.

    A loop that is known to run once, or never, is none. Raises IllegalTransform where the place cannot be a bound.
    """
    split = index_set_split(function, iv, at + 1, module=module)
    last = _new_loop(split, function)
    made = settled(index_set_split(split, iv, at, module=module), function)
    return made.function, tuple(each for each in (iv, last) if each not in made.gone)


def _new_loop(function: Func, before: Func) -> Value:
    """The counter of the first loop that was not there before."""
    known = {op.iv for op in holders(before) if isinstance(op, affine.For)}
    return next(op.iv for op in holders(function) if isinstance(op, affine.For) and op.iv not in known)
