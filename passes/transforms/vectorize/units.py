"""Operations that run for one iteration after the other, between others that run for several at once."""

from __future__ import annotations

from collections.abc import Sequence, Set

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import clone, fresh, walk
from affdsl.ir.types import I1, MemRefType
from affdsl.passes.transforms.vectorize.lanes import Lanes, nothing

MANY = 64
"""So many lanes that data chooses elements for are a loop: what they read is kept for them."""


def one_by_one(at: Lanes, unit: Sequence[Op]) -> None:
    """All operations of a unit for the first lane, then all of them for the next one."""
    made = [v for op in unit for v in op.defines()]
    inner = {v for op in unit for each in walk(op) for v in (*each.defines(), *each.binds())}
    read = [v for v in dict.fromkeys(v for op in unit for each in walk(op) for v in each.mentions()) if v not in inner]
    differ = [v for v in read if at.varies(v)]
    if at.mask is None and at.width >= MANY and _is_for_itself(at, unit, inner) and all(v.type != I1 for v in differ):
        _in_a_loop(at, unit, differ)
        return
    lanes: list[list[Value]] = []
    for k in range(at.width):
        runs = None if at.mask is None else at.extract(at.mask, k)
        known: dict[Value, Term] = {v: at.in_lane(v, k) for v in read if at.varies(v)}
        with at.new_block() as inside:
            for op in unit:
                at.emit(_copied(at, op, known, k))
        values = [Value(v.type) for v in made] if runs is not None else [_value(known[v]) for v in made]
        if runs is not None:
            none = [nothing(v) for v in made]
            ends = [scf.Yield(tuple(_value(known[v]) for v in made))] if made else []
            otherwise = (*none, scf.Yield(tuple(c.result for c in none))) if made else ()
            inside = [scf.If(runs, (*inside, *ends), otherwise, tuple(values), location=unit[0].location)]
        for each in inside:
            at.emit(each)
        lanes.append(values)
    for k, v in enumerate(made):
        at.define_lanes(v, [values[k] for values in lanes])


def _is_for_itself(at: Lanes, unit: Sequence[Op], inner: Set[Value]) -> bool:
    """Whether data chooses the elements that a unit stores, and nothing else in the loop reads what it makes."""
    others = (op for op in at.loop.body if op not in unit)
    chosen = any(isinstance(each, memref.Store) for op in unit for each in walk(op))
    return chosen and inner.isdisjoint(v for op in others for each in walk(op) for v in each.mentions())


def _in_a_loop(at: Lanes, unit: Sequence[Op], read: Sequence[Value]) -> None:
    """A loop over the lanes of a unit, behind stores of what they read into buffers that are made once."""
    counter = fresh(at.loop.iv)
    buffers: dict[Value, Value] = {}
    for v in (v for v in read if v not in at.exprs):
        lanes = at.vector(v)
        buffers[v] = Value(MemRefType((at.width,), at.scalar(v)), v.hint)
        at.before.append(memref.Alloca(buffers[v], (), location=at.loop.location))
        at.emit(affine.VectorStore(lanes, buffers[v], (Affine.of(0),), location=at.loop.location))
    with at.new_block() as inside:
        new: dict[Value, Term] = {}
        for v, buffer in buffers.items():
            new[v] = made = Value(v.type, v.hint)
            at.emit(affine.Load(made, buffer, (Affine.of(counter),), location=unit[0].location))
        here = Affine.of(at.loop.iv) + at.loop.step * Affine.of(counter)
        for v in (v for v in read if v in at.exprs):
            new[v] = at.applied(at.exprs[v].substitute({at.loop.iv: here}))
        for op in unit:
            at.emit(clone(op, new))
    at.emit(affine.For(counter, (Affine.of(0),), (Affine.of(at.width),), tuple(inside), 1, location=at.loop.location))


def _copied(at: Lanes, op: Op, known: dict[Value, Term], k: int) -> Op:
    """An operation as it is in one lane: with its subscripts written out, where nothing else reads what they are of."""
    written = {v: at.lane(at.exprs[v], k) for v in known if v in at.exprs}
    new: dict[Value, Term] = {**known, **written}
    try:
        made = clone(op, new)
    except ValueError:
        new = dict(known)
        made = clone(op, new)
    known.update((v, new[v]) for v in op.defines())
    return made


def _value(term: Term) -> Value:
    assert isinstance(term, Value)
    return term
