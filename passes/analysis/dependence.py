"""Which iteration must run before which: the dependences between the accesses of a function, exactly.

A source access depends on, or rather is followed by, a sink access at depth d if the sink runs after the source by the
d-th of the loops around both, the outer ones being in the same iteration, and both touch a common element. At the depth
below the last common loop, both run in the same iteration of all of them, the source first in the text.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import sub
from types import MappingProxyType
from typing import Literal

from affdsl.errors import public
from affdsl.frozen import Frozen, FrozenValue, field
from affdsl.ir.dialects import func
from affdsl.ir.expr import Constraint, Value
from affdsl.passes.analysis.access import Access, Accesses, accesses_of, met
from affdsl.passes.analysis.alike import Alike, by_subscripts, grouped, unsettled
from affdsl.passes.analysis.grid import overlap
from affdsl.passes.analysis.linearized import Chain, adjusted
from affdsl.passes.analysis.polyhedral import Map, UnknownError, name_of, spending
from affdsl.passes.analysis.relations import (
    BUDGET,
    WITNESS_BUDGET,
    Relation,
    at_depth,
    distances,
    elements,
    fixed,
    meet,
    named,
    outer_distances,
    plain_distances,
    remembered,
    same_element,
    some_point,
    subscript_distances,
    together,
)
from affdsl.shown import ShownAsText, html_table

Kind = Literal["flow", "anti", "output", "input"]
KINDS: dict[tuple[str, str], Kind] = {
    ("write", "read"): "flow",
    ("read", "write"): "anti",
    ("write", "write"): "output",
    ("read", "read"): "input",
}
"""What a dependence is called whose source and sink do this."""


@public
class AnalysisWarning(UserWarning):
    """An analysis gave up on a question; its answer is "unknown", and that counts as a dependence.

    >>> import affdsl as af
    >>> import warnings
    >>> warnings.simplefilter("error", af.AnalysisWarning)      # whoever wants to know: now it is raised
    >>> warnings.simplefilter("default", af.AnalysisWarning)
    >>> issubclass(af.AnalysisWarning, UserWarning)
    True
    """


@contextmanager
def unwarned() -> Iterator[None]:
    """Where nobody need hear what the analysis gives up on: it counts as unknown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnalysisWarning)
        yield


class Distance(FrozenValue):
    """How much larger an induction variable is in the sink than in the source: at least low, at most high.

    None is no such number: the distance grows with a size, or is not known.
    """

    low: int | None
    high: int | None

    @property
    def direction(self) -> str:
        """`<`, `=`, `>`, `<=`, `>=`, or `*` where it may be any of them. `<` is a sink in a later iteration."""
        at_least = "<" if _above(self.low, 0) else "<=" if _above(self.low, -1) else ""
        at_most = ">" if _above(_minus(self.high), 0) else ">=" if _above(_minus(self.high), -1) else ""
        if at_least == "<=" and at_most == ">=":
            return "="
        return at_least or at_most or "*"

    @property
    def value(self) -> int | None:
        """The distance, where it is one number."""
        return self.low if self.low is not None and self.low == self.high else None

    def __str__(self) -> str:
        low = "-inf" if self.low is None else self.low
        high = "+inf" if self.high is None else self.high
        return f"[{low}, {high}]"


class Witness(FrozenValue):
    """Two iterations that touch one element.

    `params` has the sizes by name, `source` and `sink` the values of the induction variables around each, outermost
    first, and `element` the indices of the element in its buffer.
    """

    params: dict[str, int]
    source: tuple[int, ...]
    sink: tuple[int, ...]
    element: tuple[int, ...]


class Dependence(Frozen):
    """That a sink runs after a source and touches an element that the source touches too.

    Attributes
    ----------
    depth
        Which of the common loops is the outermost in which they differ, from 1 on; `len(distances) + 1` where they run
        in one iteration of all of them.
    distances
        For each of the loops around both, outermost first.
    unknown
        Why there may be none, or fewer: what is not known of the accesses, or that isl needs too long. Empty if the
        dependence is exact: then there are two such iterations, and both ends of each distance occur.
    """

    source: Access
    sink: Access
    depth: int
    distances: tuple[Distance, ...]
    unknown: tuple[str, ...] = ()
    facts: tuple[Constraint, ...] = field(default=(), repr=False)
    """What the contract says of the sizes that isl cannot express: a witness has to keep to it."""

    @property
    def kind(self) -> Kind:
        """What it is called: flow, anti, output or input."""
        return KINDS[self.source.kind, self.sink.kind]

    @property
    def is_exact(self) -> bool:
        """Whether it certainly exists."""
        return not self.unknown

    @property
    def loop(self) -> Value | None:
        """The induction variable of the loop that carries it; None where both run in one iteration."""
        return self.source.ivs[self.depth - 1] if self.depth <= len(self.distances) else None

    @property
    def directions(self) -> tuple[str, ...]:
        """The direction of each distance."""
        return tuple(d.direction for d in self.distances)

    def map(self) -> Map:
        """The dependence polyhedron as an isl map, from iterations of the source to those of the sink.

        Raises UnknownError where isl needs too long.
        """
        source, sink = met(self.source, self.sink)
        with spending(BUDGET):
            pairs = _pairs(source.relation, sink.relation, self.depth, len(self.distances))
            params = (*source.relation.params, *sink.relation.params)
            return named(pairs, [v.hint for v in self.source.ivs], [f"{v.hint}'" for v in self.sink.ivs], params)

    def at_sizes(self, sizes: Mapping[Value, int]) -> tuple[Distance, ...] | None:
        """The distances where some sizes and other symbols are these numbers; None if nothing depends then.

        Raises UnknownError where isl needs too long.
        """
        if self.source.buffer is not self.sink.buffer:
            return self.distances
        source, sink = met(self.source, self.sink)
        with spending(BUDGET):
            pairs = fixed(_pairs(source.relation, sink.relation, self.depth, len(self.distances)), sizes)
            return _distances(pairs, len(self.distances))

    def witness(self) -> Witness | None:
        """Two iterations that depend, the first ones where there are first ones; None if that is not known."""
        if not self.is_exact:
            return None
        try:
            with spending(WITNESS_BUDGET):
                return _witness(self)
        except UnknownError:
            return None

    def __str__(self) -> str:
        vector = "".join(map(str, self.distances)) or "no loop stands around both"
        return f"{self.kind} dependence of {self.sink.buffer.name} at depth {self.depth}: {vector}"


def _line(access: Access) -> str:
    """What an access does in which line."""
    at = access.location
    does = "reads" if access.kind == "read" else "writes"
    return does if at is None else f"{does}, line {at.line}"


class Dependences(ShownAsText):
    """The dependences of one function; printed, a line for each.

    Every question is answered for certain: what is not known is a dependence whose `unknown` says why.
    """

    def __init__(
        self,
        function: func.Func,
        module: func.Module | None = None,
        budget: int = BUDGET,
        hidden: Mapping[Value, tuple[Chain, ...]] = MappingProxyType({}),
    ) -> None:
        self.accesses = Accesses(function, module, hidden=hidden) if hidden else accesses_of(function, module)
        self.compared = self.accesses.all
        """Those between which `all` and others look for dependences: fewer where some are left out on purpose."""
        self.budget = budget
        self._depths: dict[object, tuple[int, ...]] = {}
        self._any: dict[object, bool] = {}
        self._inside: tuple[Sequence[Access], Mapping[Value, Sequence[Access]]] | None = None

    def common(self, source: Access, sink: Access) -> int:
        """How many loops stand around both."""
        count = 0
        for a, b in zip(source.ivs, sink.ivs, strict=False):
            if a is not b:
                break
            count += 1
        return count

    def at(self, source: Access, sink: Access, depth: int) -> Dependence | None:
        """The dependence of sink on source at a depth, from 1 to one more than the common loops; None if there is none.

        Raises ValueError for another depth.
        """
        common = self.common(source, sink)
        if not 1 <= depth <= common + 1:
            raise ValueError(f"two accesses with {common} loops around both have depths 1 to {common + 1}, not {depth}")
        if depth == common + 1 and not _precedes(source, sink):
            return None
        if not self.accesses.storage.may_alias(source.buffer, sink.buffer):
            return None
        first, second = met(source, sink)
        unknown = tuple(dict.fromkeys((*first.unknown, *second.unknown)))
        if source.buffer is not sink.buffer:
            both = f"{source.buffer.name} and {sink.buffer.name} may be one buffer"
            return Dependence(source, sink, depth, _any(depth, common), (*unknown, both))

        try:
            found = self._found(first.relation, second.relation, depth, common)
        except UnknownError as error:
            reason = f"{error}, for {described(source)} and {described(sink)}"
            warnings.warn(reason, AnalysisWarning, stacklevel=2)
            return Dependence(source, sink, depth, _any(depth, common), (*unknown, reason))
        if found is None:
            return None
        return Dependence(source, sink, depth, found, unknown, self.accesses.scope.semi_affine_facts)

    def _found(self, source: Relation, sink: Relation, depth: int, common: int) -> tuple[Distance, ...] | None:
        """The distances, None if there is no pair. Raises UnknownError where isl needs too long."""
        if not common and source.grid is not None and sink.grid is not None:
            return () if overlap(source.grid, sink.grid) else None
        source, sink = together(source, sink)
        plain = plain_distances(source, sink, depth, common)
        if plain is not None:
            return tuple(Distance(*ends) for ends in plain) or None
        if common and not outer_distances(source, sink, depth, common):
            return None

        def find() -> tuple[Distance, ...] | None:
            with spending(self.budget):
                if not common:  # nothing is asked but whether there is a pair
                    return () if meet(source, sink) else None
                within = depth - 1  # these loops are in the same iteration, which need not be said of pairs
                found = _distances(at_depth(same_element(source, sink, within), 1, common - within), common - within)
                return found if found is None else (*[Distance(0, 0)] * within, *found)

        return remembered(("distances", source, sink, depth, common), find)

    def depths(self, source: Access, sink: Access, first: int = 1) -> tuple[int, ...]:
        """The depths, from the first on, at which sink depends on source: one answer for each class of copies."""
        one, other = met(source, sink)
        (start, at), (end, to) = one.relation.from_zero, other.relation.from_zero
        common, apart = self.common(source, sink), tuple(map(sub, at, to))
        key = (source.buffer, sink.buffer, start, end, apart, _precedes(source, sink), common, first)
        found = self._depths.get(key)
        if found is None:
            asked = range(first, common + 2)
            found = self._depths[key] = tuple([d for d in asked if self.at(source, sink, d) is not None])
        return found

    def any_between(self, source: Access, sink: Access) -> bool:
        """Whether sink depends on source at any depth, or may: in loops one answer for each class of copies."""
        common = self.common(source, sink)
        if not common:
            return any(True for _ in self.between(source, sink))
        one, other = met(source, sink)
        (start, at), (end, to) = one.relation.from_zero, other.relation.from_zero
        apart = tuple(map(sub, at, to))
        key = (source.buffer, sink.buffer, start, end, apart, _precedes(source, sink), common)
        found = self._any.get(key)
        if found is None:
            found = self._any[key] = any(True for _ in self.between(source, sink))
        return found

    def between(self, source: Access, sink: Access) -> Iterator[Dependence]:
        """The dependences of sink on source, by depth."""
        for depth in range(1, self.common(source, sink) + 2):
            found = self.at(source, sink, depth)
            if found is not None:
                yield found

    def at_depths(
        self, sources: Sequence[Access], sinks: Sequence[Access], depths: Sequence[int]
    ) -> Iterator[Dependence]:
        """The dependences at some depths, but those between two reads: by sources, then sinks, then depths."""
        if not depths:
            return
        kinds, kinds_of_sinks = grouped(sources, by_subscripts), grouped(sinks, by_subscripts)

        def never_meet(some: Alike, others: Alike) -> bool:
            return self.never_meet(some[0], others[0], depths)

        for source, rest in unsettled(sources, kinds, sinks, kinds_of_sinks, never_meet):
            for sink in rest:
                if "write" in (source.kind, sink.kind):
                    for depth in depths:
                        found = self.at(source, sink, depth)
                        if found is not None:
                            yield found

    def all(self, *, inputs: bool = False) -> Iterator[Dependence]:
        """Every dependence of the function; those between two reads only where asked for."""
        for source in self.compared:
            for sink in self.compared:
                if inputs or "write" in (source.kind, sink.kind):
                    yield from self.between(source, sink)

    def __str__(self) -> str:
        found = [*self.all()]
        lines = [f"    {each}" + f" ({'; '.join(each.unknown)})" * bool(each.unknown) for each in found]
        return "\n".join([self._title(len(found)), *lines])

    def _repr_html_(self) -> str:
        found = [*self.all()]
        rows = [
            (
                f"{each.kind} of {each.sink.buffer.name}",
                _line(each.source),
                _line(each.sink),
                "the same iteration" if each.loop is None else each.loop.hint,
                "".join(map(str, each.distances)),
                "; ".join(each.unknown),
            )
            for each in found
        ]
        head = ("dependence", "from", "to", "carried by", "distance of each loop", "if any")
        return html_table(head, rows, title=self._title(len(found)), code=(0, 3, 4))

    def _title(self, count: int) -> str:
        return f"{self.accesses.function.symbol}: {count or 'no'} dependence{'s' * (count != 1)}"

    def carried_by(self, iv: Value) -> Iterator[Dependence]:
        """The dependences, but those between two reads, of which the loop of an induction variable is the outermost."""
        inside = self._inside_of(iv)
        if not inside:
            return
        depth = inside[0].ivs.index(iv) + 1
        independent: set[object] = set()
        kinds = grouped(inside, by_subscripts)
        for source, sinks in unsettled(
            inside, kinds, inside, kinds, lambda a, b: self.never_meet(a[0], b[0], (depth,))
        ):
            for sink in sinks:
                if "write" not in (source.kind, sink.kind):
                    continue
                one, other = met(source, sink)
                (start, at), (end, to) = one.relation.from_zero, other.relation.from_zero
                key = (source.buffer, sink.buffer, start, end, tuple(map(sub, at, to)), source.ivs, sink.ivs)
                if key in independent:  # as are other copies of the two that lie equally far apart
                    continue
                found = self.at(source, sink, depth)
                if found is None:
                    independent.add(key)
                else:
                    yield found

    def never_meet(self, source: Access, sink: Access, depths: Iterable[int]) -> bool:
        """Whether there plainly is no dependence at some depths, whatever conditions stand around.

        So it is of all that are alike by their subscripts, if the depths are those of common loops.
        """
        if "write" not in (source.kind, sink.kind) or not self.accesses.storage.may_alias(source.buffer, sink.buffer):
            return True
        if source.buffer is not sink.buffer:
            return False
        first, second = met(source, sink)
        common = self.common(source, sink)
        if not common:
            return False
        return not any(subscript_distances(first.relation, second.relation, depth, common) for depth in depths)

    def _inside_of(self, iv: Value) -> Sequence[Access]:
        """The compared accesses inside of a loop."""
        if self._inside is None or self._inside[0] is not self.compared:
            found: dict[Value, list[Access]] = {}
            for access in self.compared:
                for each in access.ivs:
                    found.setdefault(each, []).append(access)
            self._inside = self.compared, found
        return self._inside[1].get(iv, ())


def dependences(function: func.Func, module: func.Module | None = None) -> Dependences:
    """What can be asked of the dependences of a function; `module` shows what its calls do.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''
    ... func.func @f(%A: memref<100xf32>, %x: f32) {
    ...   affine.for %i = 2 to 100 {
    ...     %a = affine.load %A[%i - 2] : memref<100xf32>
    ...     affine.store %a, %A[%i] : memref<100xf32>
    ...   }
    ...   return
    ... }''')
    >>> [str(d) for d in dependences(module.functions[0]).all()]
    ['flow dependence of A at depth 1: [2, 2]']
    """
    return Dependences(function, module)


def witness_of(
    source: Access, sink: Access, pairs: Map, facts: Sequence[Constraint], others: Sequence[Value] = ()
) -> Witness | None:
    """The first of some pairs of iterations that touch a common element, with sizes of which the facts hold.

    `others` are parameters beside those of the accesses, which are as `met` gives them. None where none is found.
    """
    first, second = source.relation, sink.relation
    names = {name_of(v): v for v in (*first.params, *second.params, *others)}
    found = some_point(elements(first, second, pairs).wrap())
    if found is not None and facts:
        numbers = {names[name]: n for name, n in found[0].items()}
        right = adjusted(numbers, facts)
        if right != numbers:
            found = some_point(elements(first, second, fixed(pairs, right)).wrap())
    if found is None:
        return None
    params, point = found
    start, end = first.dims, first.dims + second.dims
    element = source.element(point[end:], {names[name]: n for name, n in params.items()})
    shown = {names[name].hint or name: n for name, n in params.items()}
    return Witness(shown, point[:start], point[start:end], element)


def described(access: Access) -> str:
    """What messages call an access."""
    where = f" at {access.location}" if access.location is not None else ""
    return f"the {access.kind} of {access.buffer.name}{where}"


def _precedes(source: Access, sink: Access) -> bool:
    """Whether, within one iteration of the common loops, the source comes first."""
    return source.order < sink.order


def _pairs(source: Relation, sink: Relation, depth: int, common: int) -> Map:
    return at_depth(same_element(source, sink), depth, common)


def _distances(pairs: Map, common: int) -> tuple[Distance, ...] | None:
    return None if pairs.is_empty() else tuple(Distance(*ends) for ends in distances(pairs, common))


def _any(depth: int, common: int) -> tuple[Distance, ...]:
    """What is known of the distances at a depth where nothing else is."""
    outer = [Distance(0, 0)] * min(depth - 1, common)
    rest = [Distance(1, None), *[Distance(None, None)] * (common - depth)] if depth <= common else []
    return (*outer, *rest)


def _witness(of: Dependence) -> Witness | None:
    source, sink = met(of.source, of.sink)
    return witness_of(source, sink, _pairs(source.relation, sink.relation, of.depth, len(of.distances)), of.facts)


def _above(number: int | None, limit: int) -> bool:
    return number is not None and number > limit


def _minus(number: int | None) -> int | None:
    return None if number is None else -number
