"""Loads and stores of several iterations at once: of neighbours by a vector, of other elements lane after lane."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref, scf, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.layouts import has_rows
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import I1, MemRefType
from affdsl.passes.transforms.vectorize import table
from affdsl.passes.transforms.vectorize.interleaved import access_together
from affdsl.passes.transforms.vectorize.lanes import Lanes, nothing, zero

Access = affine.Load | affine.Store | memref.Load | memref.Store
"""Operations that access one element."""


def access(at: Lanes, op: Access) -> None:
    """What a load or a store does in all lanes."""
    exprs = _exprs(at, op)
    steps = [None if e is None else at.step(e) for e in exprs]
    type = op.memref.type
    in_a_row = bool(steps) and all(step == 0 for step in steps[:-1])
    is_plain = in_a_row and isinstance(type, MemRefType) and _may_be_a_vector(op, type)
    if isinstance(op, affine.Load | memref.Load) and not at.varies(op.result):
        at.emit(op)
    elif (group := at.groups.get(op)) is not None and at.mask is None:
        access_together(at, op, group)
    elif all(step == 0 for step in steps) and (at.mask is None or isinstance(op, affine.Load | memref.Load)):
        _same_element(at, op)
    elif is_plain and steps[-1] == 1:
        _neighbours(at, op)
    elif is_plain and steps[-1] == -1 and at.mask is None:
        _backwards(at, op)
    elif isinstance(op, memref.Load) and (places := table.places(at, op)) is not None:
        table.look_up(at, op, places)
    elif isinstance(op, memref.Load) and at.mask is not None and op.memref in at.filled:
        _chosen_by_mask(at, op)
    else:
        _lane_by_lane(at, op)


def _may_be_a_vector(op: Access, type: MemRefType) -> bool:
    """Whether neighbours by subscript are accessed by one operation, also where strides are known only at run time."""
    rows = has_rows(type)
    return rows is True or (rows is None and isinstance(op, affine.Load | affine.Store))


def _exprs(at: Lanes, op: Access) -> list[Affine | None]:
    """The subscripts over the induction variable; None for those that are no such expression."""
    given = op.index if isinstance(op, affine.Load | affine.Store) else tuple(map(Affine.of, op.indices))
    return [at.expr(e) if all(at.is_affine(v) for v in e.values()) else None for e in given]


def _same_element(at: Lanes, op: Access) -> None:
    """All lanes access one element: each loads the same, if any of them runs, and the last one stores last."""
    if isinstance(op, affine.Store | memref.Store):
        at.emit(_of_lane(at, op, at.width - 1, value=at.in_lane(op.value, at.width - 1)))
        return
    made = Value(op.result.type, op.result.hint)
    load = _of_lane(at, op, 0, result=made)
    if at.mask is not None:
        somewhere = Value(I1)
        at.emit(vector.Reduction(somewhere, "or", at.mask, (), location=op.location))
        load = _guarded(op, somewhere, [load])
        (made,) = load.results
    at.emit(load)
    wide = Value(at.vector_type(op.result))
    at.emit(vector.Broadcast(wide, made))
    at.define(op.result, wide)


def _neighbours(at: Lanes, op: Access) -> None:
    if isinstance(op, affine.Load | memref.Load):
        made = Value(at.vector_type(op.result), op.result.hint, op.result.location)
        at.define(op.result, made)
        at.emit(_wide_load(at, op, made, 0))
    else:
        at.emit(_wide_store(at, op, at.vector(op.value), 0))


def _backwards(at: Lanes, op: Access) -> None:
    """Neighbours of which the last lane has the first."""
    order = tuple(reversed(range(at.width)))
    last = at.width - 1
    if isinstance(op, affine.Load | memref.Load):
        found, made = (Value(at.vector_type(op.result), op.result.hint, op.result.location) for _ in range(2))
        at.emit(_wide_load(at, op, found, last))
        at.emit(vector.Shuffle(made, found, found, order))
        at.define(op.result, made)
    else:
        value = at.vector(op.value)
        turned = Value(value.type)
        at.emit(vector.Shuffle(turned, value, value, order))
        at.emit(_wide_store(at, op, turned, last))


def _wide_load(at: Lanes, op: affine.Load | memref.Load, made: Value, k: int) -> Op:
    """The load of neighbours, of which lane k has the first."""
    if at.mask is not None:
        none = at.constant([zero(op.result)] * at.width, at.scalar(op.result))
        return vector.MaskedLoad(made, op.memref, _indices(at, op, k), at.mask, none, location=op.location)
    if isinstance(op, affine.Load):
        return affine.VectorLoad(made, op.memref, _index(at, op, k), location=op.location)
    return vector.Load(made, op.memref, _indices(at, op, k), location=op.location)


def _wide_store(at: Lanes, op: affine.Store | memref.Store, value: Value, k: int) -> Op:
    """The store of neighbours, of which lane k has the first."""
    if at.mask is not None:
        return vector.MaskedStore(op.memref, _indices(at, op, k), at.mask, value, location=op.location)
    if isinstance(op, affine.Store):
        return affine.VectorStore(value, op.memref, _index(at, op, k), location=op.location)
    return vector.Store(value, op.memref, _indices(at, op, k), location=op.location)


def _lane_by_lane(at: Lanes, op: Access) -> None:
    loaded: list[Value] = []
    for k in range(at.width):
        runs = None if at.mask is None else at.extract(at.mask, k)
        with at.new_block() as inside:
            if isinstance(op, affine.Load | memref.Load):
                made = Value(op.result.type)
                at.emit(_of_lane(at, op, k, result=made))
            else:
                at.emit(_of_lane(at, op, k, value=at.in_lane(op.value, k)))
        if runs is not None:
            inside = [_guarded(op, runs, inside)]
        for each in inside:
            at.emit(each)
        loaded += list(inside[-1].defines())
    if isinstance(op, affine.Load | memref.Load):
        at.define_lanes(op.result, loaded)


def _chosen_by_mask(at: Lanes, op: memref.Load) -> None:
    """Loads in all lanes, without a condition for each: those that do not run load the first element."""
    which = [at.chosen(at.vector(v), 0) for v in op.indices]
    loaded: list[Value] = []
    for k in range(at.width):
        loaded.append(Value(op.result.type))
        at.emit(with_fields(op, result=loaded[-1], indices=tuple(at.extract(v, k) for v in which)))
    at.define_lanes(op.result, loaded)


def _guarded(op: Access, runs: Value, inside: Sequence[Op]) -> scf.If:
    """An access that runs in one lane alone if that lane runs."""
    made = tuple(inside[-1].defines())
    if not made:
        return scf.If(runs, tuple(inside), location=op.location)
    (value,) = made
    none, result = nothing(value), Value(value.type)
    otherwise = (none, scf.Yield((none.result,)))
    return scf.If(runs, (*inside, scf.Yield(made)), otherwise, (result,), location=op.location)


def _of_lane(at: Lanes, op: Access, k: int, **new: Value) -> Op:
    """The access of lane k."""
    if isinstance(op, affine.Load | affine.Store):
        return with_fields(op, index=_index(at, op, k), written=None, **new)
    return with_fields(op, indices=tuple(at.in_lane(v, k) for v in op.indices), **new)


def _index(at: Lanes, op: affine.Load | affine.Store, k: int) -> tuple[Affine, ...]:
    return tuple(at.lane(at.expr(e), k) for e in op.index)


def _indices(at: Lanes, op: Access, k: int) -> tuple[Value, ...]:
    if isinstance(op, affine.Load | affine.Store):
        return tuple(at.applied(e) for e in _index(at, op, k))
    return tuple(at.in_lane(v, k) for v in op.indices)
