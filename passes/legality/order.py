"""Whether statements may run in another order: yes, or no with two iterations that prove it.

A reordering gives each access inside some operations a new *time*: a tuple of affine expressions over the induction
variables around the access, compared like words. It is legal if of every two accesses that touch one element, one of
them writing, the one that ran first still does. What is not known is not legal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise, zip_longest
from operator import sub
from typing import TypeAlias

from affdsl.frozen import Frozen
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, scf
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.messages import op_name, shown
from affdsl.ir.traverse import walk
from affdsl.ir.types import FunctionType
from affdsl.passes.analysis.access import Access, met
from affdsl.passes.analysis.alike import Alike, by_subscripts, grouped, unsettled
from affdsl.passes.analysis.dependence import Dependence, Dependences, Distance, Witness, witness_of
from affdsl.passes.analysis.effects import may_do_anything
from affdsl.passes.analysis.order import runs_later
from affdsl.passes.analysis.polyhedral import Map, UnknownError, spending
from affdsl.passes.analysis.reduction import Reduction, Update
from affdsl.passes.analysis.relations import (
    WITNESS_BUDGET,
    Relation,
    at_depth,
    distances,
    map_from,
    map_within,
    outer_distances,
    remembered,
    same_element,
    subscript_distances,
)
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.analysis.summary import Summaries

Time: TypeAlias = Callable[[Access], Sequence[Term]]
"""When an access runs after a reordering, over its induction variables and what is constant in the function.

A shorter tuple is filled up with zeros. Two accesses at one time are in no order, which is not legal. It is also asked
for the affine.yield of a loop that carries values, and for operations that may do anything."""
Roots: TypeAlias = Op | Sequence[Op]
Apart: TypeAlias = Callable[[Access], Hashable]
"""What tells accesses apart."""
PlainDistances: TypeAlias = Callable[[Relation, Relation, int, int], Sequence[tuple[int | None, int | None]]]
"""Ends of distances, as `outer_distances` gives them."""


class Violation(Frozen):
    """A dependence whose sink would no longer run after its source; `find` looks for two such iterations."""

    dependence: Dependence
    find: Callable[[], Witness | None] = lambda: None

    @cached_property
    def witness(self) -> Witness | None:
        """Two such iterations, if they are known: looked for when they are asked for, which may take a while."""
        return self.find()


def new_order(
    dependences: Dependences,
    root: Roots,
    time: Time,
    *,
    reductions: Collection[Reduction] = (),
    commuting: Collection[Reduction] = (),
    stricter: Time | None = None,
) -> Violation | None:
    """The first dependence that a new order violates; None if the order is legal.

    Memory, numbers carried by loops (`iter_args`) and operations that may do anything keep their order. That carried
    numbers still arrive where they are used is for the caller to see to.

    Parameters
    ----------
    root
        The outermost operation whose inside is reordered, or several of one block. The loops around are in the same
        iteration: other pairs of accesses keep their order whatever happens inside.
    time
        When each access runs. Made by changing `text_time`, no two statements get one time.
    reductions
        What may be combined in any order, each update as a whole: allowed by the caller, where it rounds.
    commuting
        Updates that may change places within an iteration, too, as `Reductions.commuting` gives them. Whoever asks
        keeps each of them whole: no statement runs between its load and its store that did not before.
    stricter
        A time that is quicker to ask about: all pairs that keep their order by it keep it by `time`, too.

    >>> from affdsl.mlir.readers import parse
    >>> from affdsl.passes.analysis.dependence import dependences
    >>> module = parse('''
    ... func.func @f(%A: memref<9x9xf32>) {
    ...   affine.for %i = 1 to 9 {
    ...     affine.for %j = 0 to 8 {
    ...       %a = affine.load %A[%i - 1, %j + 1] : memref<9x9xf32>
    ...       affine.store %a, %A[%i, %j] : memref<9x9xf32>
    ...     }
    ...   }
    ...   return
    ... }''')
    >>> found, outer = dependences(module.functions[0]), module.functions[0].body[0]
    >>> swapped = new_order(found, outer, lambda a: (a.ivs[1], a.ivs[0], a.order))
    >>> print(swapped.dependence, swapped.witness.source, swapped.witness.sink)
    flow dependence of A at depth 1: [1, 1][-1, -1] (1, 1) (2, 0)
    >>> new_order(found, outer, lambda a: (a.ivs[0], a.ivs[0] + a.ivs[1], a.order)) is None
    True
    """
    roots = roots_of(dependences, root)
    around = len(dependences.accesses.domains[roots[0]].ivs)
    inside = dict.fromkeys(op for each in roots for op in walk(each))
    own = {access: k for k, r in enumerate(reductions) for u in r.updates for access in u.accesses}
    places = {access: (k, u) for k, r in enumerate(commuting) for u in r.updates for access in u.accesses}
    carried = {r.value for r in reductions if r.value is not None}
    order = _Order(dependences, time, stricter)
    accesses = _accesses(dependences, roots, inside)
    some = order.outermost(accesses, lambda access: (own.get(access), places.get(access)))
    found = _violated(order, some, around, own, places)
    if found is not None and len(some) < len(accesses):  # the first one in the text is what is told
        found = _violated(order, accesses, around, own, places)
    if found is not None:
        return found
    for source, sink, depths in _beyond_memory(dependences, inside, carried):
        common = dependences.common(source, sink)
        for depth in depths:
            if depth > around and not (depth == common + 1 and source.order >= sink.order):
                found = order.violated(source, sink, depth, common)
                if found is not None:
                    return found
    return None


def _violated(
    order: _Order,
    accesses: Sequence[Access],
    around: int,
    own: Mapping[Access, int],
    places: Mapping[Access, tuple[int, Update]],
) -> Violation | None:
    """The first dependence between some accesses that a new order violates."""

    def depths(source: Access, sink: Access, common: int) -> Iterator[int]:
        """At which the order of two accesses is to be kept."""
        if "write" not in (source.kind, sink.kind) or not may_alias(source.buffer, sink.buffer):
            return
        if source in places and sink in places:
            (a, first), (b, second) = places[source], places[sink]
            if a == b and first is not second:
                return
        is_one = source in own and own[source] == own.get(sink)
        for depth in range(around + 1, common + 2):
            if not (source.order >= sink.order if depth == common + 1 else is_one):
                yield depth

    def is_kept(source: Access, sink: Access) -> bool:
        common = order.dependences.common(source, sink)
        return all(order.is_kept_anywhere(source, sink, d, common) for d in depths(source, sink, common))

    may_alias = order.dependences.accesses.storage.may_alias
    kept: set[Hashable] = set()
    for source, sinks in order.sinks(accesses, lambda access: (own.get(access), places.get(access)), is_kept):
        for sink in sinks:
            if "write" not in (source.kind, sink.kind) or not may_alias(source.buffer, sink.buffer):
                continue
            key = (order.kind(source, sink), source in own and own[source] == own.get(sink))
            if key in kept:
                continue
            common = order.dependences.common(source, sink)
            for depth in depths(source, sink, common):
                found = order.violated(source, sink, depth, common)
                if found is not None:
                    return found
            kept.add(key)
    return None


def text_time(dependences: Dependences, access: Access, around: int = 0) -> tuple[Affine, ...]:
    """When an access runs as the program is written, within one iteration of the outermost `around` loops.

    That is, of each further loop its place in the text and its induction variable, and then the place of the access.
    """
    order = dependences.accesses.order
    found: list[Affine] = []
    for iv, loop in zip(access.ivs[around:], access.domain.loops[around:], strict=True):
        found += [Affine.of(order[loop]), Affine.of(iv)]
    return (*found, Affine.of(access.order))


def substituted(time: Time, new: dict[Value, Term]) -> Time:
    """A time where other expressions stand for induction variables."""
    return lambda access: [Affine.of(term).substitute(new) for term in time(access)]


def is_barrier(op: Op, summaries: Summaries) -> bool:
    """Whether an operation itself, without its blocks, may do what shows outside of memory."""
    if isinstance(op, func.Call):
        return summaries.of(op.callee).anything
    return may_do_anything(op)


def roots_of(dependences: Dependences, root: Roots) -> tuple[Op, ...]:
    """The operations whose inside is reordered. Raises ValueError if one is not in the function."""
    roots = (root,) if isinstance(root, Op) else tuple(root)
    for each in roots:
        if each not in dependences.accesses.domains:
            raise ValueError(f"{op_name(each)} is no operation of the function whose dependences these are")
    if not roots:
        raise ValueError("there is nothing to reorder: no operation is given")
    return roots


def _end_as_in_the_text(parts: Sequence[tuple[object, int, bool]]) -> bool:
    """Whether one part of several times tells those that end there from the others, as the text does.

    Of each time, in the order of the text: the terms of the part, its constant, and whether it is the last one.
    """
    return not any(terms for terms, _, _ in parts) and all(
        first < second or (first == second and not first_ends and not second_ends)
        for (_, first, first_ends), (_, second, second_ends) in pairwise(parts)
    )


class _Order:
    """Asks, for two accesses, whether a new order violates their dependence at a depth."""

    def __init__(self, dependences: Dependences, time: Time, stricter: Time | None = None) -> None:
        self.dependences = dependences
        self._stricter = None if stricter is None else _Order(dependences, stricter)
        self.time = time
        self._times: dict[Access, tuple[Affine, ...]] = {}
        self._apart: dict[Access, tuple[tuple[object, ...], tuple[int, ...]]] = {}
        self._relations: dict[tuple[Access, tuple[Affine, ...]], tuple[Relation, tuple[str, ...]]] = {}

    def violated(self, source: Access, sink: Access, depth: int, common: int) -> Violation | None:
        """The dependence at a depth, if some of its pairs no longer run in its order."""
        if self._is_plainly_kept(source, sink, depth, common):
            return None
        if self._stricter is not None and self._stricter.violated(source, sink, depth, common) is None:
            return None
        at_source, at_sink, unknown = self._times_of(source, sink)
        first, second = met(source, sink)
        one_buffer = source.buffer is sink.buffer
        unknown = (*first.unknown, *second.unknown, *unknown)
        if not one_buffer:
            unknown = (*unknown, f"{source.buffer.name} and {sink.buffer.name} may be one buffer")
        ends = tuple(Distance(0, 0) if k < depth - 1 else Distance(None, None) for k in range(common))

        def find() -> tuple[bool, tuple[Distance, ...]]:
            within = depth - 1  # these loops are in the same iteration, which need not be said of pairs
            with spending(self.dependences.budget):
                pairs = _pairs(source, sink, depth, common, within)
                if pairs.is_empty():  # of most accesses, and quicker to find than what their times make of that
                    return False, ()
                wrong = pairs.intersect(map_within(at_source, within).lex_ge_map(map_within(at_sink, within)))
                if wrong.is_empty():
                    return False, ()
                found = (Distance(*each) for each in distances(pairs, common - within))
                return True, (*[Distance(0, 0)] * within, *found)

        key = ("order", first.relation, second.relation, one_buffer, at_source, at_sink, depth, common)
        try:
            is_wrong, ends = remembered(key, find)
        except UnknownError as error:
            return Violation(Dependence(source, sink, depth, ends, (*unknown, str(error))))
        if not is_wrong:
            return None
        found = Dependence(source, sink, depth, ends, tuple(dict.fromkeys(unknown)))
        if unknown:
            return Violation(found)
        return Violation(found, lambda: self._witness(found, at_source, at_sink))

    def outermost(self, accesses: Sequence[Access], apart: Apart) -> Sequence[Access]:
        """Of those that differ by their place in a body alone, the first and the last: enough to tell of all pairs.

        Of places `kind` says only which is first. So of accesses that are like each other but for them, as a variable
        has them that many statements change, each pair is like a pair of first and last ones: one before the other, or
        behind it.
        """
        alike = self._alike(accesses, lambda access: (access.relation, access.recovered, apart(access)))
        chosen = {access for each in alike for access in (each[0], each[-1])}
        return [access for access in accesses if access in chosen]

    def sinks(
        self, accesses: Sequence[Access], apart: Apart, is_kept: Callable[[Access, Access], bool]
    ) -> Iterator[tuple[Access, Sequence[Access]]]:
        """Each access, with those of which something is to be asked: `is_kept` is asked of first and last ones only."""

        def are_kept(sources: Alike, sinks: Alike) -> bool:
            return all(is_kept(a, b) for a in (sources[0], sources[-1]) for b in (sinks[0], sinks[-1]))

        kinds = self._alike(accesses, lambda a: (by_subscripts(a), apart(a)))
        return unsettled(accesses, kinds, accesses, kinds, are_kept)

    def _alike(self, accesses: Sequence[Access], apart: Apart) -> Sequence[Alike]:
        """Accesses that differ by their places in the text alone, or by what `apart` says nothing of.

        That needs places by which times compare as the text does: each access is alone else.
        """
        parts = [self._parts(access) for access in accesses]
        if any(a.order >= b.order for a, b in pairwise(accesses)) or not all(constants for _, constants in parts):
            return [[access] for access in accesses]
        places: set[int] = set()
        for k in range(max((len(constants) for _, constants in parts), default=0)):
            here = [
                (terms[k], constants[k], len(constants) == k + 1) for terms, constants in parts if len(constants) > k
            ]
            later = [second > first for (_, first, _), (_, second, _) in pairwise(here)]
            if not any(terms for terms, _, _ in here) and all(later):
                places.add(k)
            elif any(is_end for *_, is_end in here) and not _end_as_in_the_text(here):
                return [[access] for access in accesses]

        def kind(access: Access) -> Hashable:
            terms, constants = self._parts(access)
            fixed = tuple([c for k, c in enumerate(constants[:-1]) if k not in places])
            return access.buffer, access.kind, access.ivs, terms, fixed, apart(access)

        return grouped(accesses, kind)

    def is_kept_anywhere(self, source: Access, sink: Access, depth: int, common: int) -> bool:
        """Whether the subscripts and times of two accesses alone show that all pairs keep their order."""
        orders = (self,) if self._stricter is None else (self, self._stricter)
        return any(each._is_plainly_kept(source, sink, depth, common, subscript_distances) for each in orders)

    def kind(self, source: Access, sink: Access) -> Hashable:
        """What two accesses have in common with their copies that lie, and run, equally far apart: one answer for all.

        Where neither time has a term, only which comes first counts.
        """
        one, other = met(source, sink)
        (start, at), (end, to) = one.relation.from_zero, other.relation.from_zero
        (first, when), (second, then) = self._parts(source), self._parts(sink)
        later = []
        for k in range(max(len(when), len(then))):
            a, x = (first[k], when[k]) if k < len(when) else ((), 0)
            b, y = (second[k], then[k]) if k < len(then) else ((), 0)
            later.append(x - y if a or b else (x > y) - (x < y))
        far = tuple(map(sub, at, to))
        # The last part only tells two cases apart: its opposite would do as well.
        return (source.buffer, sink.buffer, source.ivs, sink.ivs, start, end, far, first, second, tuple(later),
                source.order < sink.order)  # fmt: skip

    def _parts(self, access: Access) -> tuple[tuple[object, ...], tuple[int, ...]]:
        """The time of an access with its constants apart."""
        found = self._apart.get(access)
        if found is None:
            time = self._time_of(access)
            found = self._apart[access] = tuple([e.terms for e in time]), tuple([e.constant for e in time])
        return found

    def _is_plainly_kept(
        self, source: Access, sink: Access, depth: int, common: int, distances: PlainDistances = outer_distances
    ) -> bool:
        """Whether there is no pair, or the distances alone show that all pairs keep their order: isl is not asked."""
        if source.buffer is not sink.buffer:
            return False
        first, second = met(source, sink)
        apart = distances(first.relation, second.relation, depth, common)
        if common and not apart:
            return True
        scope = self.dependences.accesses.scope
        known = dict(zip(source.ivs, apart, strict=False))
        return runs_later(self._time_of(source), self._time_of(sink), known, lambda value: not scope.varies(value))

    def _times_of(self, source: Access, sink: Access) -> tuple[Relation, Relation, tuple[str, ...]]:
        """From iterations of source and of sink to their times, of one length; and what is not known of these.

        Of two places in a body that differ only which is first counts, and nothing that follows them; where they are
        the same they tell nothing. So isl is asked about few terms, and for many accesses about the same ones.
        """
        times: list[tuple[Affine, Affine]] = []
        for a, b in zip_longest(self._time_of(source), self._time_of(sink), fillvalue=Affine()):
            if not (a.is_constant and b.is_constant):
                times.append((a, b))
            elif a.constant != b.constant:
                times.append((Affine((), int(a.constant > b.constant)), Affine((), int(a.constant < b.constant))))
                break
        one, other = zip(*times, strict=True) if times else ((Affine(),), (Affine(),))
        first, second = self._relation(source, one), self._relation(sink, other)
        return first[0], second[0], (*first[1], *second[1])

    def _relation(self, access: Access, time: tuple[Affine, ...]) -> tuple[Relation, tuple[str, ...]]:
        """From iterations of an access to a time, and what is not known of that."""
        key = access, time
        if key not in self._relations:
            around = access.domain if access.recovered is None else access.recovered.domain
            known, domain = self.dependences.accesses.scope.exprs(time, around)
            unknown = tuple(reason for reason in domain.unknown if reason not in around.unknown)
            self._relations[key] = domain.relation(known), unknown
        return self._relations[key]

    def _time_of(self, access: Access) -> tuple[Affine, ...]:
        if access not in self._times:
            self._times[access] = tuple(map(Affine.of, self.time(access)))
        return self._times[access]

    def _witness(self, of: Dependence, at_source: Relation, at_sink: Relation) -> Witness | None:
        """The first two iterations that would run in the wrong order."""
        source, sink = met(of.source, of.sink)
        others = (*at_source.params, *at_sink.params)
        try:
            with spending(WITNESS_BUDGET):
                pairs = _pairs(of.source, of.sink, of.depth, len(of.distances))
                wrong = pairs.intersect(map_from(at_source).lex_ge_map(map_from(at_sink)))
                return witness_of(source, sink, wrong, self.dependences.accesses.scope.semi_affine_facts, others)
        except UnknownError:
            return None


def _accesses(dependences: Dependences, roots: Sequence[Op], inside: Collection[Op]) -> Sequence[Access]:
    """The accesses inside, in the order of the text, without a look at all the others where that is not needed."""
    if dependences.compared is not dependences.accesses.all:
        return [access for access in dependences.compared if access.op in inside]
    return sorted(
        (access for root in roots for access in dependences.accesses.inside(root)), key=lambda access: access.order
    )


def _pairs(source: Access, sink: Access, depth: int, common: int, within: int = 0) -> Map:
    """The pairs of iterations that touch a common element, or may, at a depth; `within` as in `same_element`."""
    source, sink = met(source, sink)
    if source.buffer is sink.buffer:
        pairs = same_element(source.relation, sink.relation, within)
    else:
        domains = (map_within(each.relation, within).domain() for each in (source, sink))
        pairs = Map.from_domain_and_range(*domains)
    return at_depth(pairs, depth - within, common - within)


_OUTSIDE = Buffer(Value(FunctionType((), ()), "outside"), "unknown", "what shows outside of memory")
"""What operations that may do anything write to."""


def _beyond_memory(
    dependences: Dependences, inside: Collection[Op], carried: Collection[Value]
) -> Iterator[tuple[Access, Access, Iterable[int]]]:
    """Sources and sinks of another kind than memory, with the depths at which they depend."""
    summaries, barriers = Summaries(dependences.accesses.module), []
    for op in inside:
        if op not in dependences.accesses.domains:
            continue
        if isinstance(op, affine.For | scf.For) and any(v not in carried for v in op.carried):
            name = next(shown(v) for v in op.carried if v not in carried)
            last = op.body[-1]
            domain = dependences.accesses.domains[last]
            outer = domain.ivs[:-1]
            buffer = Buffer(op.carried[0], "local", name, len(outer))
            index = tuple(map(Affine.of, outer))
            order = dependences.accesses.order[last]
            write = Access(last, "write", buffer, domain, index, order)
            yield write, Access(last, "read", buffer, domain, index, order), (len(domain.ivs),)
        if is_barrier(op, summaries):
            domain = dependences.accesses.domains[op].lacking(f"{op_name(op)} may do anything")
            barriers.append(Access(op, "write", _OUTSIDE, domain, (), dependences.accesses.order[op]))
    for source in barriers:
        for sink in barriers:
            yield source, sink, range(1, dependences.common(source, sink) + 2)
