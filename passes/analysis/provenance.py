"""From which elements of one array the elements of another come, write by write, through all arrays between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from affdsl.frozen import Frozen
from affdsl.ir.dialects import memref
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.feeding import Feed, Feeding, UnfollowedError
from affdsl.passes.analysis.flow import Flow
from affdsl.passes.analysis.polyhedral import Dim, Map, Set, UnknownError, closure, merged, spending
from affdsl.passes.analysis.relations import map_from
from affdsl.passes.analysis.storage import Buffer

BUDGET = 5_000_000
"""How many operations isl may spend on one step: up to a second."""


class Stage(Frozen):
    """A write on the way to an output.

    Attributes
    ----------
    write
        Its instances are its iterations, each with an element that it writes there.
    needed
        From the elements of the output to the instances that they are made of.
    """

    write: Access
    needed: Map

    @cached_property
    def elements(self) -> Map:
        """From the elements of the output to those that are written here for them."""
        return merged(_elements(self.needed, len(self.write.ivs)))


class Origin(Frozen):
    """A read of what an array held before the function, for an output.

    `elements` are from those of the output to those that are read for them, and `stage` is the write that needs them.
    """

    read: Access
    stage: Stage
    elements: Map


class Provenance:
    """Where the elements come from that a function leaves in one buffer.

    Followed backwards, from the last write of each element to what it is made of, and to the last writes of that. Where
    data decides what runs, all that may be is counted. isl closes cycles of writes, as of sums or of steps in time.

    Raises UnfollowedError and UnknownError.
    """

    def __init__(self, dependences: Dependences, output: Buffer) -> None:
        self._accesses = dependences.accesses
        self._flow = Flow(dependences, BUDGET)
        self._feeding = Feeding(self._accesses)
        self._feeds: dict[Access, tuple[Feed, ...]] = {}
        self._edges: dict[Access, dict[Access, Map]] = {}
        last = {w: _with_element(pairs) for w, pairs in self._flow.final_writes(output)}
        with spending(BUDGET * 4):
            self._follow(list(last))
        self.stages: tuple[Stage, ...] = tuple(self._staged(last))
        """The writes on the way, from the output backwards."""
        self.last: tuple[Stage, ...] = tuple(Stage(w, pairs) for w, pairs in last.items())
        """The writes that leave the elements of the output, each with those that it leaves."""

    def origins(self, source: Buffer) -> Iterator[Origin]:
        """The reads of what a buffer held before, in the order in which they are met."""
        for stage in self.stages:
            for feed in self._feeds[stage.write]:
                if feed.read.buffer is source:
                    yield self._origin(stage, feed)

    def _origin(self, stage: Stage, feed: Feed) -> Origin:
        untouched = self._flow.live_in(feed.read)
        if untouched is None:
            raise UnknownError("; ".join(feed.read.unknown) or "isl needs too long for what is read")
        with spending(BUDGET):
            pairs = stage.needed.apply_range(self._fed(stage.write, feed)).intersect_range(untouched.flatten())
            return Origin(feed.read, stage, merged(_elements(pairs, len(feed.read.ivs))))

    def _follow(self, writes: list[Access]) -> None:
        """Find what writes are made of, and which writes that needs."""
        while writes:
            write = writes.pop()
            if write in self._feeds:
                continue
            self._feeds[write] = self._feeding.of(write)
            edges = self._edges[write] = {}
            for feed in self._feeds[write]:
                for last in self._flow.writers(feed.read):
                    if last.map is None:
                        raise UnknownError("; ".join(last.unknown))
                    if isinstance(last.write.op, memref.Dealloc):
                        continue
                    found = self._fed(write, feed).apply_range(_with_element(last.map))
                    if not found.is_empty():
                        known = edges.get(last.write)
                        edges[last.write] = found if known is None else merged(known.union(found))
                        writes.append(last.write)

    def _fed(self, write: Access, feed: Feed) -> Map:
        """From the instances of a write to those of a read that it needs."""
        here, there = self._instances(write), self._instances(feed.read)
        pairs = Map.from_domain_and_range(here, there)
        for k in range(feed.shared):
            pairs = pairs.equate(Dim.in_, k, Dim.out, k)
        if isinstance(write.op, memref.Copy):
            rank = write.buffer.rank
            whole = write.buffer.type, feed.read.buffer.type
            if rank != feed.read.buffer.rank or (write.op.target.type, write.op.source.type) != whole:
                raise UnfollowedError("copies a part of an array, which is not followed", write.op)
            for k in range(rank):
                last, other = here.dim(Dim.set) - rank + k, there.dim(Dim.set) - rank + k
                pairs = pairs.equate(Dim.in_, last, Dim.out, other)
        return pairs

    def _instances(self, access: Access) -> Set:
        return map_from(self._accesses.by_dimensions(access).relation).wrap().flatten()

    def _staged(self, last: dict[Access, Map]) -> Iterator[Stage]:
        needed = dict(last)
        for group in self._groups():
            with spending(BUDGET):
                here = {w: needed[w] for w in group if w in needed}
                if len(group) > 1 or group[0] in self._edges[group[0]]:
                    inside = [(group.index(w), e, group.index(v)) for w in group for v, e in self._edges[w].items()
                              if v in group]  # fmt: skip
                    here = self._closed(group, here, inside)
                for write, pairs in here.items():
                    pairs = merged(pairs)
                    yield Stage(write, pairs)
                    for other, edge in self._edges[write].items():
                        if other not in group:
                            more = pairs.apply_range(edge)
                            needed[other] = more if other not in needed else needed[other].union(more)

    def _closed(
        self, group: Sequence[Access], here: dict[Access, Map], inside: Sequence[tuple[int, Map, int]]
    ) -> dict[Access, Map]:
        """What is needed of writes in a cycle, by any number of steps from what is needed first."""
        paths = closure(len(group), inside)
        found = dict(here)
        for write, pairs in here.items():
            for k, other in enumerate(group):
                path = paths.get((group.index(write), k))
                if path is not None:
                    more = pairs.apply_range(path)
                    found[other] = more if other not in found else found[other].union(more)
        return found

    def _groups(self) -> list[list[Access]]:
        """The writes that need each other, those before which nobody else needs first."""
        reached = {w: self._reached(w) for w in self._edges}
        groups: list[list[Access]] = []
        for write in self._edges:
            if not any(write in group for group in groups):
                groups.append([v for v in self._edges if v is write or (v in reached[write] and write in reached[v])])
        # A group stands before all that it reaches: it reaches more.
        return sorted(groups, key=lambda group: -len(reached[group[0]] | {*group}))

    def _reached(self, write: Access) -> set[Access]:
        found: set[Access] = set()
        todo = [*self._edges[write]]
        while todo:
            each = todo.pop()
            if each not in found:
                found.add(each)
                todo += self._edges[each]
        return found


def _with_element(pairs: Map) -> Map:
    """From what a map to iterations maps, an element alone or one in an iteration, to iterations with that element."""
    domain = pairs.domain()
    element = domain.unwrap().range_map() if domain.is_wrapping() else domain.identity()
    return pairs.range_product(element).flatten()


def _elements(pairs: Map, loops: int) -> Map:
    """Pairs without the iterations that stand before their elements."""
    return pairs.project_out(Dim.out, 0, loops)
