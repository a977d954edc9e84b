"""Elements at a stride, several iterations at once: vectors of neighbours, and shuffles between them and the lanes.

    load A[3 i], A[3 i + 1], A[3 i + 2]   ->   three vectors from A[3 i] on, and two shuffles for each of the loads

What lies between the elements is loaded with them, where no iteration stores to it, and nothing beyond the last one:
the last vector ends there. Where iterations store to it, and in stores, it is masked out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import I1, MemRefType
from affdsl.passes.lowering.shuffles import Lane, shuffled_together
from affdsl.passes.transforms.vectorize.lanes import Lanes, zero
from affdsl.passes.transforms.vectorize.strides import Group


def access_together(at: Lanes, op: Op, group: Group) -> None:
    """What a member of a group does in all lanes: the whole group where that is done, and else nothing."""
    if op is not group.place:
        return
    row, lowest = _row(at, group)
    if group.is_load:
        _load(at, group, row, lowest)
    else:
        _store(at, group, row, lowest)


def _row(at: Lanes, group: Group) -> tuple[Value, tuple[Affine, ...]]:
    """The memref with all dimensions of the row as one, and where the lowest element of all lanes lies."""
    first, offset = group.members[0], group.offsets[0]
    op, dim = first.op, first.dim
    last = at.width - 1 if first.stride < 0 else 0
    lowest = at.lane(at.expr(first.first), last) - offset
    index = (*(at.expr(e) for e in op.index[:dim]), lowest)
    type = op.memref.type
    assert isinstance(type, MemRefType)
    if len(type.shape) == dim + 1:
        return op.memref, index
    size = None if type.shape[dim] is None else prod(each or 0 for each in type.shape[dim:])
    row = Value(MemRefType((*type.shape[:dim], size), type.element, space=type.space), op.memref.hint)
    together = (*((k,) for k in range(dim)), tuple(range(dim, len(type.shape))))
    at.emit(memref.CollapseShape(row, op.memref, together, location=op.location))
    return row, index


def _positions(at: Lanes, group: Group) -> list[list[int]]:
    """How far behind the lowest element of all lanes each member has the element of each lane."""
    stride = group.members[0].stride
    begin = 0 if stride > 0 else -stride * (at.width - 1)
    return [[begin + offset + stride * k for k in range(at.width)] for offset in group.offsets]


def _load(at: Lanes, group: Group, row: Value, lowest: tuple[Affine, ...]) -> None:
    positions = _positions(at, group)
    last = max(p for of in positions for p in of) - at.width + 1
    starts: dict[int, int] = {}
    vectors: dict[int, Value] = {}
    for number, wanted in _vectors_of(positions, at.width).items():
        starts[number] = min(number * at.width, last) if group.takes_gaps else number * at.width
        index = (*lowest[:-1], lowest[-1] + starts[number])
        vectors[number] = _part(at, group, row, index, range(at.width) if group.takes_gaps else wanted)
    loads: dict[int, list[affine.Load]] = {}
    for each, of in zip(group.members, positions, strict=True):
        assert isinstance(each.op, affine.Load)
        loads.setdefault(of[0], []).append(each.op)
    lanes = {of[0]: [(vectors[p // at.width], p - starts[p // at.width]) for p in of] for of in positions}
    for first, found in zip(
        lanes, _taken(at, [*lanes.values()], [ops[0].result.hint for ops in loads.values()]), strict=True
    ):
        for op in loads[first]:
            at.define(op.result, found)


def _part(at: Lanes, group: Group, row: Value, index: tuple[Affine, ...], wanted: Collection[int]) -> Value:
    """A vector of neighbours, of which some lanes are wanted."""
    op = group.place
    assert isinstance(op, affine.Load)
    made = Value(at.vector_type(op.result), op.result.hint, op.result.location)
    if len(wanted) == at.width:
        at.emit(affine.VectorLoad(made, row, index, location=op.location))
        return made
    mask = at.constant([k in wanted for k in range(at.width)], I1)
    none = at.constant([zero(op.result)] * at.width, at.scalar(op.result))
    at.emit(vector.MaskedLoad(made, row, tuple(map(at.applied, index)), mask, none, location=op.location))
    return made


def _store(at: Lanes, group: Group, row: Value, lowest: tuple[Affine, ...]) -> None:
    op = group.place
    positions = _positions(at, group)
    where = {p: (m, k) for m, of in enumerate(positions) for k, p in enumerate(of)}
    values = [at.vector(each.op.value) for each in group.members if isinstance(each.op, affine.Store)]
    vectors = _vectors_of(positions, at.width)
    placed = [[where.get(number * at.width + k) for k in range(at.width)] for number in vectors]
    made = _taken(at, [[each and (values[each[0]], each[1]) for each in lanes] for lanes in placed])
    for (number, wanted), value in zip(vectors.items(), made, strict=True):
        index = (*lowest[:-1], lowest[-1] + number * at.width)
        if len(wanted) == at.width:
            at.emit(affine.VectorStore(value, row, index, location=op.location))
        else:
            mask = at.constant([k in wanted for k in range(at.width)], I1)
            at.emit(vector.MaskedStore(row, tuple(map(at.applied, index)), mask, value, location=op.location))


def _vectors_of(positions: Sequence[Sequence[int]], width: int) -> dict[int, set[int]]:
    """The vectors that elements lie in, by number, and their lanes there."""
    found: dict[int, set[int]] = {}
    for p in sorted(p for of in positions for p in of):
        found.setdefault(p // width, set()).add(p % width)
    return found


def _taken(at: Lanes, wanted: Sequence[Sequence[Lane | None]], hints: Sequence[str] = ()) -> list[Value]:
    """The vectors of given lanes of others."""
    made, found = shuffled_together(wanted, hints)
    for op in made:
        at.emit(op)
    return found
