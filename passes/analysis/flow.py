"""Which write each read sees: value-based flow, the last writer of every element that is read, in a whole function."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

from affdsl.frozen import Frozen
from affdsl.ir.expr import Affine
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import AnalysisWarning, Dependences, described
from affdsl.passes.analysis.nearby import Nearby
from affdsl.passes.analysis.polyhedral import Map, Points, Set, UnknownError, map_of, merged, space_of, spending
from affdsl.passes.analysis.relations import at_depth, iterator, last_of, map_from, named
from affdsl.passes.analysis.storage import Buffer

BUDGET = 5_000_000
"""How many operations isl may spend on the writers of one read: up to a second."""


class LastWrite(Frozen):
    """That a write is the last one before a read to the elements that it reads.

    Attributes
    ----------
    map
        From an iteration of the read and an element that it reads there, to the iteration of the write. None where isl
        needs too long: then it may be any. Elements are counted as in regions.
    unknown
        Why it may be another write, or none, that the read sees; empty if this one is certain.
    """

    write: Access
    read: Access
    map: Map | None
    unknown: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether the read certainly sees this write."""
        return not self.unknown

    def instances(self) -> Map | None:
        """From iterations of the write to the iterations of the read that see it; None if they are not known."""
        if self.map is None:
            return None
        names = [iv.hint for iv in self.write.ivs], [f"{iv.hint}'" for iv in self.read.ivs]
        found = [a if a.recovered is None else a.by_dimensions for a in (self.write, self.read)]
        params = [v for access in found for v in access.relation.params]
        return named(merged(self.map.domain_factor_domain().reverse()), *names, params)


class Flow:
    """The last writers of one function.

    >>> from affdsl.mlir.readers import parse
    >>> from affdsl.passes.analysis.dependence import dependences
    >>> module = parse('''
    ... func.func @f(%A: memref<100xf32>, %x: f32) {
    ...   affine.for %i = 0 to 100 {
    ...     affine.store %x, %A[0] : memref<100xf32>
    ...     affine.store %x, %A[%i] : memref<100xf32>
    ...     %a = affine.load %A[0] : memref<100xf32>
    ...   }
    ...   return
    ... }''')
    >>> flow = Flow(dependences(module.functions[0]))
    >>> for last in flow.all():
    ...     print(last.instances())
    { [i] -> [i' = i] : 0 < i <= 99 }
    { [i = 0] -> [i' = 0] }
    """

    def __init__(self, dependences: Dependences, budget: int = BUDGET) -> None:
        self.dependences = dependences
        self.budget = budget
        self._storage = dependences.accesses.storage
        self._depth = max((len(a.ivs) for a in dependences.compared), default=0)
        self._writers: dict[Access, tuple[LastWrite, ...]] = {}
        self._live_in: dict[Access, Set | None] = {}
        self._doubted: set[Access] = set()
        self._writes_nearby: dict[Buffer, Nearby] = {}

    def all(self) -> Iterator[LastWrite]:
        """The last writes of all reads, in the order of the text."""
        for access in self.dependences.compared:
            if access.kind == "read":
                yield from self.writers(access)

    def writers(self, read: Access) -> tuple[LastWrite, ...]:
        """The writes that a read sees, or may see."""
        found = self._writers.get(read)
        if found is None:
            try:
                with spending(self.budget):
                    found = self._last_writes(read)
            except UnknownError as error:
                reason = self._warned(read, error)
                writes = self._writes(read.buffer)
                unknown = (*self._seen(read).unknown, reason)
                found = tuple(LastWrite(w, read, None, (*self._seen(w).unknown, *unknown)) for w in writes)
            self._writers[read] = found
        return found

    def live_in(self, read: Access) -> Set | None:
        """The iterations and elements of a read that see what was there before the function; None if not known.

        Of a buffer that the function makes they read what nobody wrote.
        """
        if read not in self._live_in:
            try:
                with spending(self.budget):
                    self._live_in[read] = self._unwritten(read)
            except UnknownError as error:
                self._warned(read, error)
                self._live_in[read] = None
        return self._live_in[read]

    def _warned(self, read: Access, error: UnknownError) -> str:
        """Why nothing is known of what a read sees."""
        reason = f"{error}, for {described(read)}"
        if read not in self._doubted:
            self._doubted.add(read)
            warnings.warn(reason, AnalysisWarning, stacklevel=4)
        return reason

    def final_writes(self, buffer: Buffer) -> tuple[tuple[Access, Map], ...]:
        """The writes that leave the last value in a buffer: each with a map from elements to its last iterations.

        Where a write of which something is not known may come later, both are given. Raises UnknownError where isl
        needs too long.
        """
        with spending(self.budget):
            writes = self._writes(buffer)
            times = {w: self._reached(w, buffer).reverse().apply_range(self._times(w)) for w in writes}
            last = _latest([last_of(t) for w, t in times.items() if self._seen(w).is_exact and w.buffer is buffer])
            found = []
            for write in writes:
                is_certain = self._seen(write).is_exact and write.buffer is buffer
                pairs = self._at(write, last if is_certain and last is not None else _after(times[write], last))
                if not pairs.is_empty():
                    found.append((write, merged(pairs)))
            return tuple(found)

    def stored_meanwhile(self, last: LastWrite, other: Access) -> Map:
        """What a write stores after the last write before a read, and before that read.

        From an iteration of the read, with the element that it reads there, to elements that `other` stores in between.
        Raises UnknownError where isl needs too long, or the last write is not known.
        """
        if last.map is None:
            raise UnknownError("; ".join(last.unknown))
        with spending(self.budget):
            wrote = last.map.apply_range(self._times(last.write))
            reads = last.map.domain().unwrap().domain_map().apply_range(self._times(last.read))
            space = wrote.get_space().range()
            between = wrote.apply_range(Map.lex_lt(space)).intersect(reads.apply_range(Map.lex_gt(space)))
            stored = self._touched(other).reverse().apply_range(self._times(other))
            return merged(between.apply_range(stored.reverse()))

    def _seen(self, access: Access) -> Access:
        return self.dependences.accesses.by_dimensions(access)

    def _touched(self, access: Access) -> Map:
        return map_from(self._seen(access).relation)

    def _reached(self, write: Access, buffer: Buffer) -> Map:
        """The elements of a buffer that a write may touch: of another that may be this one, all."""
        if write.buffer is buffer:
            return self._touched(write)
        dims = [iterator(k) for k in range(buffer.loops + self.dependences.accesses.dimensions(buffer).rank)]
        return Map.from_domain_and_range(self._touched(write).domain(), Set.universe(space_of(dims)))

    def _nearby(self, buffer: Buffer) -> Nearby:
        if buffer not in self._writes_nearby:
            self._writes_nearby[buffer] = Nearby(self._writes(buffer))
        return self._writes_nearby[buffer]

    def _writes(self, buffer: Buffer) -> list[Access]:
        """The writes that may touch a buffer. What touches another that may be this one may touch anything of it."""
        return [a for a in self.dependences.compared if a.kind == "write" and self._storage.may_alias(a.buffer, buffer)]

    def _unwritten(self, read: Access) -> Set:
        """What a read touches and nobody wrote before. Most often that is known after the first writes in the text."""
        touched = self._touched(read)
        rest = touched.wrap()
        for write in self._nearby(read.buffer).to(read):
            if self._is_certain(write, read):
                for pairs in self._earlier(write, read, touched):
                    rest = rest.subtract(pairs.domain())
                if rest.is_empty():
                    break
        return merged(rest)

    def _is_certain(self, write: Access, read: Access) -> bool:
        return self._seen(write).is_exact and write.buffer is read.buffer

    def _last_writes(self, read: Access) -> tuple[LastWrite, ...]:
        touched = self._touched(read)
        certain: dict[Access, Map] = {}
        doubtful: dict[Access, Map] = {}
        for write in self._nearby(read.buffer).to(read):
            earlier = self._earlier(write, read, touched)
            is_certain = self._is_certain(write, read)
            pairs = _last(earlier) if is_certain else _union(earlier)
            if pairs is not None:
                (certain if is_certain else doubtful)[write] = pairs
        last = _latest([pairs.apply_range(self._times(w)) for w, pairs in certain.items()])
        maybe = [
            LastWrite(write, read, merged(pairs), self._doubts(write, read))
            for write, times in doubtful.items()
            if not (pairs := self._at(write, _after(times.apply_range(self._times(write)), last))).is_empty()
        ]
        reasons = tuple(dict.fromkeys((*self._seen(read).unknown, *(r for m in maybe for r in m.unknown))))
        overshadowed = _union([m.map.domain() for m in maybe if m.map is not None])
        found: list[LastWrite] = []
        for write in certain:
            assert last is not None
            pairs = self._at(write, last)
            sure = pairs if overshadowed is None else pairs.subtract_domain(overshadowed)
            for part, unknown in ((sure, self._seen(read).unknown), (pairs.subtract(sure), reasons)):
                if not part.is_empty():
                    found.append(LastWrite(write, read, merged(part), unknown))
        return tuple(sorted((*maybe, *found), key=lambda f: f.write.order))

    def _doubts(self, write: Access, read: Access) -> tuple[str, ...]:
        alias = (
            () if write.buffer is read.buffer else (f"{write.buffer.name} and {read.buffer.name} may be one buffer",)
        )
        return tuple(dict.fromkeys((*self._seen(read).unknown, *self._seen(write).unknown, *alias)))

    def _earlier(self, write: Access, read: Access, touched: Map) -> list[Map]:
        """From iterations of a read, each with an element, to those of a write of it that run before, latest first.

        In each map they have more of the common loops in the same iteration than in the next.
        """
        if write.buffer is read.buffer:
            pairs = touched.range_map().apply_range(self._touched(write).reverse())
        else:
            pairs = Map.from_domain_and_range(touched.wrap(), self._touched(write).domain())
        found = []
        common = self.dependences.common(write, read)
        for depth in range(common + 1, 0, -1):
            if depth <= common:
                here = at_depth(pairs.reverse(), depth, common).reverse()
            elif write.order < read.order:
                here = at_depth(pairs, depth, common)
            else:
                continue
            if not here.is_empty():
                found.append(here)
        return found

    def _at(self, write: Access, times: Map) -> Map:
        """The iterations of a write that run at some times."""
        return times.apply_range(self._times(write).reverse())

    def _times(self, access: Access) -> Map:
        """From the iterations of an access to when they run, so that what is smaller in the order of words runs first.

        Before each induction variable stands where its loop stands in the text, and in the end where the operation
        stands, and whether it reads (0) or writes (1) then.
        """
        order = self.dependences.accesses.order
        words: list[Affine] = []
        for k, loop in enumerate(access.domain.loops):
            words += [Affine.of(order[loop]), Affine.of(iterator(k))]
        words += [Affine.of(access.order), Affine.of(int(access.kind == "write"))]
        words += [Affine()] * (2 * self._depth + 2 - len(words))
        domain = self._touched(access).domain()
        dims = [iterator(k) for k in range(len(access.ivs))]
        return map_of(words, (), dims).intersect_domain(domain)


def _last(earlier: Sequence[Map]) -> Map | None:
    """The last of the iterations of one write, of which those in the first maps are later than those in the next."""
    found: Map | None = None
    for k, pairs in enumerate(earlier):
        rest = pairs
        for later in earlier[:k]:
            rest = rest.subtract_domain(later.domain())
        last = merged(last_of(rest))
        found = last if found is None else merged(found.union(last))
    return found


def _latest(times: Sequence[Map]) -> Map | None:
    """The last of all times."""
    union = _union(times)
    return union if union is None or len(times) == 1 else merged(last_of(union))


def _after(times: Map, last: Map | None) -> Map:
    """The times that lie after the last one."""
    if last is None:
        return times
    return times.subtract(last.apply_range(Map.lex_ge(last.get_space().range())))


def _union(parts: Sequence[Points]) -> Points | None:
    """All parts together; None where there is none."""
    whole: Points | None = None
    for part in parts:
        whole = part if whole is None else whole.union(part)
    return whole
