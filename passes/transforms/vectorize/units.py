"""Operations that run for one iteration after the other, between others that run for several at once."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import scf
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import clone, walk
from affdsl.passes.transforms.vectorize.lanes import Lanes, nothing


def one_by_one(at: Lanes, unit: Sequence[Op]) -> None:
    """All operations of a unit for the first lane, then all of them for the next one."""
    made = [v for op in unit for v in op.defines()]
    inner = {v for op in unit for each in walk(op) for v in (*each.defines(), *each.binds())}
    read = [v for v in dict.fromkeys(v for op in unit for each in walk(op) for v in each.mentions()) if v not in inner]
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
