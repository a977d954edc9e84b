"""What the iteration before had, in lanes: a loop carries the vector that it is the last lane of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, users, with_fields
from affdsl.ir.types import VectorType


class _HandedOn(FrozenValue):
    """A number that a loop carries: the vectors that have it in all lanes, and the one whose last lane is next."""

    everywhere: tuple[vector.Broadcast, ...]
    last: vector.Extract

    @property
    def lanes(self) -> Value:
        """The vector."""
        return self.last.source


def as_vectors(loop: affine.For) -> tuple[Op, ...]:
    """A loop that carries vectors in place of numbers, each of which is the last lane of one, before all other lanes.

        for i, p = p0: { u = shuffle([p, p, ..], v); ...; yield v[n - 1] }
        ->
        for i, w = [p0, p0, ..]: { u = shuffle(w, v); ...; yield v }

    One instruction shifts the lanes of both; otherwise one takes the lane out, and one spreads it over a register.
    """
    if not loop.carried or not isinstance(last := loop.body[-1], affine.Yield):
        return (loop,)
    made, used = definitions(loop), users(loop)
    pairs = enumerate(zip(loop.carried, last.values, strict=True))
    found = {k: each for k, (v, end) in pairs if (each := _handed_on(loop, v, end, made, used))}
    if not found:
        return (loop,)
    inits, carried, results = list(loop.inits), list(loop.carried), list(loop.results)
    before, after, vectors = list[Op](), list[Op](), dict[Value, Value]()
    for k, each in found.items():
        start = vector.Broadcast(Value(each.lanes.type), loop.inits[k], location=loop.location)
        before.append(start)
        inits[k] = start.result
        carried[k], results[k] = (Value(each.lanes.type, v.hint) for v in (carried[k], results[k]))
        after.append(vector.Extract(loop.results[k], results[k], (), (_count(each.lanes) - 1,), location=loop.location))
        vectors.update((op.result, carried[k]) for op in each.everywhere)
    gone: set[Op] = {each.last for each in found.values() if len(used[each.last.result]) == 1}
    gone.update(op for each in found.values() for op in each.everywhere)
    body = _body(loop, {k: each.lanes for k, each in found.items()}, vectors)
    wide = with_fields(
        loop, inits=tuple(inits), carried=tuple(carried), results=tuple(results), written=None,
        body=tuple(op for op in body if op not in gone),
    )  # fmt: skip
    return (*before, wide, *after)


def _handed_on(
    loop: affine.For, carried: Value, end: Value, made: Mapping[Value, Op], used: Mapping[Value, Sequence[Op]]
) -> _HandedOn | None:
    """What is known of a value that a loop carries, if it is only shifted into the lanes of vectors."""
    last, readers = made.get(end), used.get(carried, ())
    if not isinstance(last, vector.Extract) or last.static_position != (_count(last.source) - 1,):
        return None
    everywhere = tuple(op for op in readers if isinstance(op, vector.Broadcast) and op.result.type == last.source.type)
    if not everywhere or len(everywhere) < len(readers):
        return None
    shifted = [(op, each.result) for each in everywhere for op in used.get(each.result, ())]
    if {*loop.body}.issuperset((*everywhere, *(op for op, _ in shifted))) and all(
        _is_shifted(*each) for each in shifted
    ):
        return _HandedOn(everywhere, last)
    return None


def _is_shifted(op: Op, everywhere: Value) -> bool:
    """Whether an operation takes one lane of a vector that has the same number in all of them, before other lanes."""
    if not isinstance(op, vector.Shuffle) or op.left is not everywhere or op.right is everywhere:
        return False
    count = _count(everywhere)
    return op.mask[:1] == (0,) and all(lane >= count for lane in op.mask[1:])


def _body(loop: affine.For, lanes: Mapping[int, Value], vectors: Mapping[Value, Value]) -> Iterator[Op]:
    """The operations of a loop with vectors that it carries, and what it yields."""
    for op in loop.body:
        if isinstance(op, vector.Shuffle) and op.left in vectors:
            yield with_fields(op, left=vectors[op.left], mask=(_count(op.left) - 1, *op.mask[1:]))
        elif op is loop.body[-1] and isinstance(op, affine.Yield):
            yield with_fields(op, values=tuple(lanes.get(k, v) for k, v in enumerate(op.values)))
        else:
            yield op


def _count(value: Value) -> int:
    """How many lanes a vector of one dimension has; 0 for anything else."""
    return value.type.shape[0] if isinstance(value.type, VectorType) and value.type.rank == 1 else 0
