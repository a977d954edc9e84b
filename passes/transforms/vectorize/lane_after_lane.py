"""What goes from lane to lane: one lane after the other, or in all of them at once, by scans and shuffles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from affdsl.ir.core import Op, roles
from affdsl.ir.dialects import arith, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import substitute, with_fields
from affdsl.passes.transforms.vectorize.lanes import Lanes
from affdsl.passes.transforms.vectorize.linear_scans import LinearScan, linear_scan, scanned_linearly
from affdsl.passes.transforms.vectorize.scans import scanned, scans
from affdsl.passes.transforms.vectorize.widen import widen_op


def lane_after_lane(
    at: Lanes, chain: Sequence[Op], row: Mapping[Value, Value], *, reassociate: bool
) -> dict[Value, Value]:
    """A chain of operations lane after lane, and what the last lane yields for each value that is carried.

    Where all lanes run, scans and what another value was in the iteration before are made in all of them at once.
    """
    ends: dict[Value, Value] = {}
    if at.mask is None:
        chain = _without_what_is_known(at, chain, row)
        for scan in scans(at.loop, chain, row):
            if not scan.pays(at.width, reassociate=reassociate):
                continue
            ends[scan.carried] = scanned(at, scan)
            chain = [op for op in chain if op not in scan.steps]
        for carried in [v for v in row if v not in ends]:
            linear = linear_scan(at.loop, chain, row, carried)
            if linear is not None and linear.pays(at.width, reassociate=reassociate):
                ends[carried] = scanned_linearly(at, linear, partial(_last_of, at, linear))
                chain = [op for op in chain if op not in linear.steps]
        ends |= shifted(at, chain, {v: value for v, value in row.items() if v not in ends})
    row = {v: value for v, value in row.items() if v not in ends}
    lanes: dict[Value, list[Value]] = {v: [] for v in (*row, *(r for op in chain for r in op.defines()))}
    now = {v: v for v in row}
    for k in range(at.width):
        known: dict[Value, Value] = dict(now)
        for op in chain:
            read = {v: known[v] if v in known else at.in_lane(v, k) for v in op.reads()}
            results = {name: Value(getattr(op, name).type) for name in roles(type(op)).results}
            known.update((getattr(op, name), made) for name, made in results.items())
            at.emit(with_fields(substitute(op, read), **results))
        for v, found in lanes.items():
            found.append(known[v])
        new = {v: known[value] if value in known else at.in_lane(value, k) for v, value in row.items()}
        if at.mask is not None:
            runs = at.extract(at.mask, k)
            for v, value in new.items():
                made = Value(value.type)
                at.emit(arith.Select(made, runs, value, now[v]))
                new[v] = made
        now = new
    for v, found in lanes.items():
        at.define_lanes(v, found)
    return ends | now


def _last_of(at: Lanes, scan: LinearScan) -> Value:
    """What the last lane yields for a scan lane after lane."""
    return lane_after_lane(at, scan.steps, {scan.carried: scan.result}, reassociate=False)[scan.carried]


def _without_what_is_known(at: Lanes, chain: Sequence[Op], row: Mapping[Value, Value]) -> list[Op]:
    """Those operations of a chain that wait for what still goes from lane to lane; the others are made in all lanes."""
    waiting, left = set(row), list[Op]()
    for op in chain:
        if waiting.isdisjoint(op.reads()):
            widen_op(at, op)
        else:
            left.append(op)
            waiting.update(op.defines())
    return left


def made_of(op: Op, row: Mapping[Value, Value]) -> dict[Value, Value]:
    """Those of what goes from lane to lane that become what an operation defines, or what one of these was before."""
    found: dict[Value, Value] = {}
    known = set(op.defines())
    while more := {v: value for v, value in row.items() if value in known and v not in found}:
        found |= more
        known.update(more)
    return found


def shifted(at: Lanes, chain: Sequence[Op], row: Mapping[Value, Value]) -> dict[Value, Value]:
    """What the last lane yields for values that no chain makes: each lane has that of the lane before, by a shuffle."""
    made = {v for op in chain for v in op.defines()}
    order = (0, *range(at.width, 2 * at.width - 1))
    ends: dict[Value, Value] = {}
    waiting = [v for v, value in row.items() if value not in made and value not in at.exprs]
    while ready := next((v for v in waiting if row[v] not in row or row[v] in ends), None):
        waiting.remove(ready)
        yielded = at.vector(row[ready])
        first, shifted = Value(yielded.type), Value(yielded.type)
        at.emit(vector.Broadcast(first, ready))
        at.emit(vector.Shuffle(shifted, first, yielded, order))
        at.define(ready, shifted)
        ends[ready] = at.extract(yielded, at.width - 1)
    return ends
