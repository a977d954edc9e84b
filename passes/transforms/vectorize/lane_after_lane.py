"""What goes from lane to lane: one lane after the other, or in all of them at once, by scans and shuffles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce

from affdsl.ir.core import Op, roles
from affdsl.ir.dialects import arith, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import substitute, walk, with_fields
from affdsl.passes.transforms.vectorize.lanes import Lanes
from affdsl.passes.transforms.vectorize.linear_scans import LinearScan, linear_scan, scanned_linearly
from affdsl.passes.transforms.vectorize.scans import scanned, scans
from affdsl.passes.transforms.vectorize.widen import widen_op

ANY_ORDER = {"addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"}
"""What gives the same result in whatever order several numbers are combined."""


def lane_after_lane(
    at: Lanes, chain: Sequence[Op], row: Mapping[Value, Value], *, reassociate: bool
) -> dict[Value, Value]:
    """A chain of operations lane after lane, and what the last lane yields for each value that is carried.

    Where all lanes run, scans and what another value was in the iteration before are made in all of them at once.
    """
    ends: dict[Value, Value] = {}
    if at.mask is None:
        chain = _without_what_is_known(at, _late_ones_last(at, chain, row), row)
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


def _late_ones_last(at: Lanes, chain: Sequence[Op], row: Mapping[Value, Value]) -> list[Op]:
    """The same chain, in which several integers are combined in another order: first those that wait for no lane.

        max(d, max(h, f))   ->   max(max(d, f), h)      where h goes from lane to lane, and d and f do not

    All lanes do at once what comes first, and there is less of which the next lane waits.
    """
    waiting = set(row)
    for op in chain:
        if not waiting.isdisjoint(op.reads()):
            waiting.update(op.defines())
    uses = Counter(v for op in walk(at.loop) for v in op.reads())
    made = {op.result: op for op in chain if isinstance(op, arith.Binary) and op.kind in ANY_ORDER}

    def parts(op: arith.Binary) -> Iterator[Value | arith.Binary]:
        """The numbers that are combined, and the operations that do it, but for the last one."""
        for v in (op.left, op.right):
            inner = made.get(v)
            if v in waiting and inner is not None and inner.kind == op.kind and uses[v] == 1:
                yield from parts(inner)
                yield inner
            else:
                yield v

    new, gone = dict[Op, list[Op]](), set[Op]()
    for op in reversed(made.values()):
        if op in gone:
            continue
        found = [*parts(op)]
        numbers = [v for v in found if isinstance(v, Value)]
        early, late = [v for v in numbers if v not in waiting], [v for v in numbers if v in waiting]
        if len(early) > 1 and late:
            steps: list[Op] = []

            def combined(left: Value, right: Value, op: arith.Binary = op, steps: list[Op] = steps) -> Value:
                made = Value(op.result.type)
                steps.append(with_fields(op, left=right, right=left, result=made))
                at.varying.add(steps[-1])
                return made

            last = late.pop()
            left = reduce(combined, [*early, *late])
            new[op] = [*steps, with_fields(op, left=last, right=left)]
            gone.update(each for each in found if isinstance(each, Op))
    return [each for op in chain if op not in gone for each in new.get(op, [op])]


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
