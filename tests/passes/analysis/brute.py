"""Dependences by looking at all pairs of accesses that a run made: slow, and obviously right.

Dependences are those of memory: a write between two accesses does not end what there is between them. Those of values
are `last_writers`. Distances are differences of induction variables, not of iterations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affdsl.ir.core import Op
from affdsl.ir.expr import Value
from affdsl.ir.interpreter.buffers import Index
from affdsl.ir.traverse import definitions, walk
from tests.passes.analysis.touched import Role, origin, sides
from tests.passes.analysis.traced import Instance, Root, Trace

Kind = Literal["flow", "anti", "output", "input"]
Distances: TypeAlias = tuple[tuple[int, int], ...]
"""For each common loop, outermost first, the smallest and largest of: sink's iv - source's iv."""

ROLES: dict[Kind, tuple[Role, Role]] = {
    "flow": ("write", "read"),
    "anti": ("read", "write"),
    "output": ("write", "write"),
    "input": ("read", "read"),
}
"""What the source and the sink of each kind of dependence do."""


@dataclass(frozen=True)
class Query:
    """Whether some instance of `sink` depends on an earlier one of `source`, at a depth.

    Depth d, from 1 to the number of common loops: the outer d - 1 of these have the same values, and number d has a
    smaller one at the source. At the depth behind the last one, all are the same, and the source comes first.
    """

    source: Op
    sink: Op
    kind: Kind
    depth: int


class Brute:
    """The answers to all questions about the dependences of one run."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._touched = _tables(trace)
        self._origins = _origins(trace)
        self._pairs: dict[tuple[Op, Op, Kind], Mapping[int, Distances]] = {}

    def common(self, a: Op, b: Op) -> tuple[Value, ...]:
        """The induction variables of the loops that enclose both."""
        found = []
        for v, w in zip(self.trace.loops[a], self.trace.loops[b], strict=False):
            if v is not w:
                break
            found.append(v)
        return tuple(found)

    def accesses(self) -> Iterator[tuple[Op, Role]]:
        """Everything in the function that reads or writes memory, whether it was executed or not."""
        return iter(self._origins)

    def queries(self) -> Iterator[Query]:
        """Every question about two accesses of one buffer, also those whose answer is that nothing depends."""
        for (source, role), some in self._origins.items():
            for (sink, other), others in self._origins.items():
                if some & others:
                    kind = next(k for k, roles in ROLES.items() if roles == (role, other))
                    for depth in range(1, len(self.common(source, sink)) + 2):
                        yield Query(source, sink, kind, depth)

    def distances(self, query: Query) -> Distances | None:
        """The ends of each distance, over all pairs of instances that meet; None if there are none."""
        key = (query.source, query.sink, query.kind)
        if key not in self._pairs:
            self._pairs[key] = self._all_depths(*key)
        return self._pairs[key].get(query.depth)

    @cached_property
    def dependences(self) -> Mapping[Query, Distances]:
        """All dependences there are, those between reads among them."""
        found = ((query, self.distances(query)) for query in self.queries())
        return {query: distances for query, distances in found if distances is not None}

    def carried(self, iv: Value) -> list[Query]:
        """The dependences that a loop carries: those for which its iterations must run in order."""
        return [
            query
            for query in self.dependences
            if query.kind != "input" and self.common(query.source, query.sink)[query.depth - 1 : query.depth] == (iv,)
        ]

    @cached_property
    def last_writers(self) -> Mapping[tuple[Instance, Index], Instance | None]:
        """For each read instance and each element that it reads, the write that it sees; None where there was none."""
        written: dict[tuple[Root, Index], Instance] = {}
        found: dict[tuple[Instance, Index], Instance | None] = {}
        for instance in self.trace.instances:
            for element in instance.elements:
                if instance.role == "write":
                    written[instance.buffer, element] = instance
                else:
                    found[instance, element] = written.get((instance.buffer, element))
        return found

    def _all_depths(self, source: Op, sink: Op, kind: Kind) -> Mapping[int, Distances]:
        first, second = (self._touched.get(key) for key in zip((source, sink), ROLES[kind], strict=True))
        if first is None or second is None:
            return {}
        a, b = np.nonzero(first.elements[:, None] == second.elements[None, :])
        count = len(self.common(source, sink))
        distance = second.ivs[b, :count] - first.ivs[a, :count]
        earlier = first.time[a] < second.time[b]
        earlier &= first.execution[a] != second.execution[b]  # what one execution does is no dependence
        found: dict[int, Distances] = {}
        same = np.ones(len(a), np.bool_)
        for depth in range(1, count + 2):
            here = same & (distance[:, depth - 1] > 0) if depth <= count else same & earlier
            assert earlier[here].all(), "an earlier iteration runs before a later one"
            if here.any():
                low, high = distance[here].min(axis=0).tolist(), distance[here].max(axis=0).tolist()
                found[depth] = tuple(zip(low, high, strict=True))
            if depth <= count:
                same &= distance[:, depth - 1] == 0
        return found


@dataclass(frozen=True, eq=False)
class _Table:
    """Everything that the instances of one access touch: a row for each instance and element."""

    elements: NDArray[np.int64]
    ivs: NDArray[np.int64]
    time: NDArray[np.int64]
    execution: NDArray[np.int64]


def _tables(trace: Trace) -> Mapping[tuple[Op, Role], _Table]:
    numbers: dict[tuple[Root, Index], int] = {}
    rows: dict[tuple[Op, Role], list[tuple[int, Instance]]] = defaultdict(list)
    for instance in trace.instances:
        for element in instance.elements:
            number = numbers.setdefault((instance.buffer, element), len(numbers))
            rows[instance.op, instance.role].append((number, instance))
    return {
        (op, role): _Table(
            np.array([number for number, _ in of], np.int64),
            np.array([i.ivs for _, i in of], np.int64).reshape(len(of), len(trace.loops[op])),
            np.array([i.time for _, i in of], np.int64),
            np.array([i.execution for _, i in of], np.int64),
        )
        for (op, role), of in rows.items()
    }


def _origins(trace: Trace) -> Mapping[tuple[Op, Role], set[Value | str]]:
    """Which buffers each access is one of: those that it may name, and those that it was seen to touch."""
    defined = definitions(trace.function)
    found: dict[tuple[Op, Role], set[Value | str]] = defaultdict(set)
    for op in walk(trace.function):
        for role, value in sides(op):
            found[op, role].add(origin(value, defined))
    for instance in trace.instances:
        found[instance.op, instance.role].add(instance.buffer.origin)
    return found
