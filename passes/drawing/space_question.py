"""What the analysis says of two loops at given sizes: their iterations, and which of them must run before which."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from numbers import Integral
from typing import TypeAlias

from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Value
from affdsl.ir.messages import nearest
from affdsl.ir.types import INDEX
from affdsl.mlir.naming import names_of, numbered
from affdsl.passes.analysis.access import Access, met
from affdsl.passes.analysis.alike import by_subscripts, grouped
from affdsl.passes.analysis.dependence import KINDS, Dependences
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.nodes import ivs_of
from affdsl.passes.analysis.polyhedral import (
    Dim,
    Map,
    Set,
    UnknownError,
    count_of,
    number_of,
    points_of,
    spending,
)
from affdsl.passes.analysis.relations import Relation, at_depth, domain_of, fixed, same_element
from affdsl.passes.drawing.layout import DrawingError
from affdsl.passes.drawing.space_view import Arrow, Kind

Iteration: TypeAlias = tuple[int, ...]
"""The values of the induction variables of some loops, outermost first."""

MOST_RUNS = 20_000
"""How many iterations the loops around the points have at most."""
MOST_PAIRS = 100_000
"""How many arrows there are at most between two accesses, before those that follow from others are left out."""
BUDGET = 50_000_000
"""How many operations isl may spend on one list of points: some seconds."""


class Question:
    """Two loops of a function, one inside of the other, with numbers for its sizes and for other loops.

    Raises
    ------
    DrawingError
        Where there are no such loops or sizes.
    """

    def __init__(
        self,
        dependences: Dependences,
        loops: tuple[Value | str, Value | str],
        sizes: Mapping[str, int],
        at: Mapping[str, int] | Mapping[Value, int],
    ) -> None:
        function = dependences.accesses.function
        self.dependences = dependences
        self.what = f"cannot draw loops of @{function.symbol}"
        for given, example in ((sizes, '{"N": 8}'), (at, '{"t": 0}')):
            if not isinstance(given, Mapping):
                raise DrawingError(f"{self.what}: numbers are given by name, as {example}; got {given!r}")
        self.names = names_of(function)
        self._domains = dict(_domains(dependences))
        self.outer, self.inner = (self._loop(loop) for loop in loops)
        self.domain = self._domains[self.inner]
        if self.outer is self.inner or self.outer not in self.domain.ivs:
            inner, outer = self.names[self.inner], self.names[self.outer]
            raise DrawingError(f"{self.what}: {inner} is not inside of {outer}; name the outer of two loops first")
        self.at = {self._loop(loop): _number(number, f"the loop {loop}", self.what) for loop, number in at.items()}
        if self.outer in self.at or self.inner in self.at:
            raise DrawingError(f"{self.what}: a loop that is drawn cannot be held at one iteration")
        self.sizes = {self._size(name): _number(number, name, self.what) for name, number in sizes.items()}
        self._inside = [access for access in dependences.compared if self.inner in access.ivs]

    def runs(self) -> tuple[Iteration, ...]:
        """The iterations of all loops around the body of the inner one, in the order in which they run."""
        relation = self.domain.relation(())
        self._require_sizes(relation)
        with self._asking():
            found = fixed(domain_of(relation), self.sizes)
            for iv, number in self.at.items():
                if iv in self.domain.ivs:
                    found = found.fix_val(Dim.set, self.domain.ivs.index(iv), number_of(number))
            runs = _points(found, MOST_RUNS)
        if runs is None:
            raise DrawingError(f"{self.what}: there are more than {MOST_RUNS} iterations; take smaller sizes")
        return tuple(sorted(runs))

    def arrows(self) -> tuple[Arrow, ...]:
        """What must run before what: the dependences that are no pair of reads, between two iterations of the loops."""
        found: set[Arrow] = set()
        for sources, sinks in product(grouped(self._inside, by_subscripts), repeat=2):
            source, sink = sources[0], sinks[0]
            kind = KINDS[source.kind, sink.kind]
            if kind == "input" or source.buffer is not sink.buffer:
                continue
            for one, other in (*((each, sink) for each in sources), *((source, each) for each in sinks)):
                self._require_sizes(*(access.relation for access in met(one, other)))
            if not self.dependences.never_meet(source, sink, self._depths(source, sink)):
                for some, others in product(grouped(sources, _where), grouped(sinks, _where)):
                    found.update(self._between(some[0], others[0], kind))
        return tuple(sorted(found, key=lambda arrow: (arrow.source, arrow.sink, arrow.kind)))

    def notes(self) -> tuple[str, ...]:
        """What is not known, and what has no arrow."""
        found: dict[str, None] = {}
        known = [access if access.recovered is None else access.by_dimensions for access in self._inside]
        unknown = dict.fromkeys((*self.domain.unknown, *(r for access in known for r in access.unknown)))
        if unknown:
            found[f"some of this may not be there: {'; '.join(unknown)}"] = None
        may_alias = self.dependences.accesses.storage.may_alias
        for k, a in enumerate(self._inside):
            for b in self._inside[:k]:
                if a.buffer is not b.buffer and "write" in (a.kind, b.kind) and may_alias(a.buffer, b.buffer):
                    found[f"{b.buffer.name} and {a.buffer.name} may be one buffer, which has no arrows"] = None
        for iv, loop in zip(self.domain.ivs, self.domain.loops, strict=True):
            if isinstance(loop, affine.For | scf.For) and loop.carried:
                found[f"{self.names[iv]} hands values to its next iteration (iter_args), which has no arrows"] = None
        return tuple(found)

    def within(self) -> tuple[str, ...]:
        """The names of the loops inside of both that touch memory, without those that are held."""
        around = len(self.domain.ivs)
        return tuple(dict.fromkeys(self.names[iv] for a in self._inside for iv in a.ivs[around:] if iv not in self.at))

    def is_parallel(self) -> tuple[bool, ...]:
        """Of each loop around the points whether its iterations run in any order."""
        return tuple(isinstance(loop, affine.Parallel | scf.Parallel) for loop in self.domain.loops)

    def _between(self, source: Access, sink: Access, kind: Kind) -> Iterator[Arrow]:
        common, depths = self.dependences.common(source, sink), self._depths(source, sink)
        source, sink = met(source, sink)
        for depth in depths:
            with self._asking():
                pairs = at_depth(fixed(same_element(source.relation, sink.relation), self.sizes), depth, common)
                pairs = self._side(self._side(pairs, Dim.in_, source), Dim.out, sink)
                found = _points(pairs.wrap().flatten(), MOST_PAIRS)
            if found is None:
                raise DrawingError(f"{self.what}: there are more than {MOST_PAIRS} arrows; take smaller sizes")
            for a, b, c, d in found:
                if (a, b) != (c, d):
                    yield Arrow(kind, (a, b), (c, d))

    def _depths(self, source: Access, sink: Access) -> range:
        """The depths of the loops around both: both stand in the loops that are drawn, where one iteration is one
        point."""
        return range(1, self.dependences.common(source, sink) + 1)

    def _side(self, pairs: Map, side: Dim, access: Access) -> Map:
        """A map of which on one side only the two loops are left, and others are held where they are."""
        for iv, number in self.at.items():
            if iv in access.ivs:
                pairs = pairs.fix_val(side, access.ivs.index(iv), number_of(number))
        for k in reversed(range(pairs.dim(side))):
            if access.ivs[k] not in (self.outer, self.inner):
                pairs = pairs.project_out(side, k, 1)
        return pairs

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            with spending(BUDGET):
                yield
        except UnknownError as error:
            raise DrawingError(f"{self.what}: {error}; take smaller sizes") from error

    def _loop(self, loop: Value | str) -> Value:
        if isinstance(loop, Value):
            found = [iv for iv in self._domains if iv is loop]
        else:
            name, _, number = str(loop).partition("#")
            found = [iv for iv in self._domains if self.names[iv] == name]
            if number.isdecimal():
                found = found[int(number) - 1 : int(number)] if int(number) else []
        called = self.names.get(loop, repr(loop)) if isinstance(loop, Value) else str(loop)
        if len(found) == 1:
            return found[0]
        if found:
            choice = " or ".join(f"{called}#{k + 1}" for k in range(len(found)))
            raise DrawingError(f"{self.what}: {len(found)} are called {called}; write {choice}, as the text has them")
        known = numbered([self.names[iv] for iv in self._domains])
        listed = f"its loops are {', '.join(known)}" if known else "it has none"
        raise DrawingError(f"{self.what}: none is called {called}{nearest(called, known)}; {listed}")

    def _size(self, name: object) -> Value:
        known = {n: v for v, n in self.names.items() if v.type == INDEX and v not in self._domains}
        if not isinstance(name, str) or name not in known:
            name = str(name)
            listed = f"its sizes are {', '.join(known)}" if known else "it has none"
            raise DrawingError(f"{self.what}: no size is called {name}{nearest(name, list(known))}; {listed}")
        return known[name]

    def _require_sizes(self, *relations: Relation) -> None:
        params = [value for relation in relations for value in relation.params if value in self.names]
        missing = dict.fromkeys(self.names[value] for value in params if value not in self.sizes)
        if missing:
            raise DrawingError(f"{self.what}: give a number for {', '.join(missing)} among the sizes")


def _where(access: Access) -> Hashable:
    """What accesses to the same elements have in common if they run in the same iterations, too."""
    return access.relation, access.recovered


def _number(number: object, name: str, what: str) -> int:
    """A whole number, also one of NumPy."""
    if isinstance(number, bool) or not isinstance(number, Integral):
        raise DrawingError(f"{what}: {name} is a whole number, got {number!r}")
    return int(number)


def _domains(dependences: Dependences) -> Iterator[tuple[Value, Domain]]:
    """Every induction variable, with the iterations in which the body of its loop runs."""
    for op, domain in dependences.accesses.domains.items():
        for iv in ivs_of(op):
            inside, _ = next(iter(dependences.accesses.scope.blocks(op, domain)))
            yield iv, inside


def _points(points: Set, most: int) -> set[Iteration] | None:
    """All points of a set, whatever its parameters are; None if there are more than so many, or no end of them."""
    points = points.project_out(Dim.param, 0, points.dim(Dim.param))
    if points.is_empty():
        return set()
    try:
        return {*points_of(points)} if count_of(points) <= most else None
    except UnknownError:
        return None
