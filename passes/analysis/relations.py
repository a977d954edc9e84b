"""Relations between iterations and elements by position, their isl maps, and what dependence analysis asks of those.

A `Relation` has no names: two accesses that differ only in the names of their loops have one relation, so each question
is asked of isl once, however often the same loop nest occurs.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from operator import sub
from typing import TypeVar
from weakref import WeakValueDictionary

from affdsl.frozen import Frozen
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.types import INDEX
from affdsl.passes.analysis.grid import Box, Grid, box_of, differences, grid_of
from affdsl.passes.analysis.polyhedral import (
    Dim,
    Map,
    Points,
    Set,
    UnknownError,
    map_of,
    merged,
    name_of,
    number_of,
    sample_of,
    set_of,
    spelled_anew,
)

Answer = TypeVar("Answer")
Alternatives = tuple[tuple[Constraint, ...], ...]
"""Conjunctions of which at least one holds; where there is none, nothing holds."""
Ends = tuple[int | None, int | None]
"""The smallest and the largest number of a set; None where there is none such."""

MOST_ANSWERS = 20_000
"""How many answers each thread keeps: those that were asked for last."""
BUDGET = 200_000
"""How many operations isl may spend on one question about a pair of accesses: some tens of milliseconds."""
WITNESS_BUDGET = 5_000_000
"""How many it may spend on two iterations for a person, who is told of one pair of accesses only."""


@cache
def iterator(k: int) -> Value:
    """What stands for the k-th loop around a statement, in every relation."""
    return Value(INDEX, f"i{k}")


@cache
def local(k: int) -> Value:
    """What stands for the k-th value of which a relation says only that it exists."""
    return Value(INDEX, f"q{k}")


class Relation(Frozen):
    """From the iterations of `dims` loops to the elements `index`, where all clauses hold for some `locals`.

    Made by `relation`, so that two of the same content are the same object.
    """

    dims: int
    locals: int
    params: tuple[Value, ...]
    clauses: tuple[Alternatives, ...]
    index: tuple[Affine, ...]

    @cached_property
    def inputs(self) -> tuple[Value, ...]:
        """What stands for the loops, and for the locals."""
        return (*map(iterator, range(self.dims)), *map(local, range(self.locals)))

    @cached_property
    def box(self) -> Box | None:
        """The inputs, where they plainly are a box."""
        return None if self.params else box_of(self.inputs, self.clauses)

    @cached_property
    def grid(self) -> Grid | None:
        """The elements, where they plainly are a grid."""
        return None if self.box is None else grid_of(self.box, self.index)

    @cached_property
    def from_zero(self) -> tuple[Relation, tuple[int, ...]]:
        """The relation without the constants of its index, and these: copies that differ by constants share it."""
        constants = tuple([e.constant for e in self.index])
        return self if not any(constants) else self._moved(constants, -1), constants

    def moved(self, by: tuple[int, ...]) -> Relation:
        """The relation to elements that lie so far away."""
        if not any(by):
            return self
        found = self._copies.get(by)
        if found is None:
            found = self._copies[by] = self._moved(by, 1)
        return found

    def _moved(self, by: tuple[int, ...], sign: int) -> Relation:
        index = tuple([Affine(e.terms, e.constant + sign * n) for e, n in zip(self.index, by, strict=True)])
        return relation(self.dims, self.locals, self.params, self.clauses, index)

    @cached_property
    def _copies(self) -> dict[tuple[int, ...], Relation]:
        return {}


_relations: WeakValueDictionary[object, Relation] = WeakValueDictionary()


def relation(
    dims: int,
    locals: int,
    params: tuple[Value, ...],
    clauses: tuple[Alternatives, ...],
    index: tuple[Affine, ...],
) -> Relation:
    """The relation of this content."""
    key = (dims, locals, params, clauses, index)
    found = _relations.get(key)
    if found is None:
        found = _relations[key] = Relation(dims, locals, params, clauses, index)
    return found


class Clauses(tuple[Alternatives, ...]):
    """Clauses, for all accesses of a domain: what they are found by, which takes a while, is computed once."""

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    def __hash__(self) -> int:
        return self._hash


class _Kept(threading.local):
    """What this thread has found: isl's objects must not meet those of another context."""

    def __init__(self) -> None:
        self.answers: OrderedDict[object, object] = OrderedDict()


_kept = _Kept()


def remembered(question: object, find: Callable[[], Answer]) -> Answer:
    """An answer found before, or now. The relations that are part of a question live as long as its answer."""
    answers = _kept.answers
    if question in answers:
        answers.move_to_end(question)
        return answers[question]  # type: ignore[return-value]
    answer = answers[question] = find()
    if len(answers) > MOST_ANSWERS:
        answers.popitem(last=False)
    return answer


def forget() -> None:
    """Drop what this thread has found."""
    _kept.answers.clear()


def together(source: Relation, sink: Relation) -> tuple[Relation, Relation]:
    """Two relations whose pairs of iterations that touch one element are the same, moved so that the sink is at zero.

    Whatever is asked of the pairs is the same for all copies of two accesses that lie equally far apart, as unrolling
    makes them: a class of pairs has one answer.
    """
    (first, at), (second, to) = source.from_zero, sink.from_zero
    return (first if at == to else first.moved(tuple(map(sub, at, to)))), second


def map_from(of: Relation) -> Map:
    """From iterations to elements. Raises UnknownError where isl needs too long."""
    return remembered(("map", of), lambda: _map_from(of))


def domain_of(of: Relation) -> Set:
    """The iterations. Raises UnknownError where isl needs too long."""
    return remembered(("domain", of), lambda: map_from(of).domain())


def is_nowhere(of: Relation) -> bool:
    """Whether there are no iterations. Raises UnknownError where isl needs too long."""
    return remembered(("nowhere", of), lambda: bool(_inputs_of(of).is_empty()))


def elements_of(of: Relation) -> Set:
    """The elements. Raises UnknownError where isl needs too long."""
    return remembered(("elements", of), lambda: merged(map_from(of).range()))


def meet(source: Relation, sink: Relation) -> bool:
    """Whether some iterations of source and of sink touch a common element."""
    return not elements_of(source).is_disjoint(elements_of(sink))


def same_element(source: Relation, sink: Relation, within: int = 0) -> Map:
    """From the iterations of source to those of sink that touch a common element, in whatever order.

    Of so many outermost loops both are in the same iteration, whose counters are parameters of the map.
    """
    source, sink = together(source, sink)

    def find() -> Map:
        first, second = map_within(source, within), map_within(sink, within)
        return merged(first.apply_range(second.reverse()))

    return remembered(("same", source, sink, within), find)


def map_within(of: Relation, loops: int) -> Map:
    """From iterations to elements, where counters of so many outermost loops are parameters."""
    found = map_from(of)
    if not loops:
        return found
    start = found.dim(Dim.param)
    found = found.move_dims(Dim.param, start, Dim.in_, 0, loops)
    for k in range(loops):
        found = found.set_dim_name(Dim.param, start + k, name_of(iterator(k)))
    return found


def plain_distances(source: Relation, sink: Relation, depth: int, common: int) -> tuple[tuple[int, int], ...] | None:
    """What `distances` says of `at_depth`, without isl: () if there is no pair, None where it is not plain."""
    first, second = source.box, sink.box
    if first is None or second is None or not common:
        return None
    found = remembered(
        ("differences", source, sink, common),
        lambda: differences((first, source.index), (second, sink.index), source.inputs[:common]),
    )
    if found is None:
        return None
    if not all(found):
        return ()
    same, carrying, inner = found[: depth - 1], found[depth - 1 : depth], found[depth:]
    carrying = tuple(r[bisect_right(r, 0) :] for r in carrying)
    if not all(0 in r for r in same) or not all(carrying):
        return ()
    return (*((0, 0) for _ in same), *((r[0], r[-1]) for r in (*carrying, *inner)))


def outer_distances(source: Relation, sink: Relation, depth: int, common: int) -> tuple[Ends, ...]:
    """Ends between which all distances of `at_depth` lie, as far as the subscripts show it, without isl.

    None is no limit that shows; () says that there certainly is no pair.
    """
    plain = plain_distances(source, sink, depth, common)
    return subscript_distances(source, sink, depth, common) if plain is None else plain


def subscript_distances(source: Relation, sink: Relation, depth: int, common: int) -> tuple[Ends, ...]:
    """The same by the subscripts alone, whatever the iterations are."""
    fixed: dict[Value, int] = {}
    inputs = {*source.inputs, *sink.inputs}
    varying = inputs.difference(source.inputs[: min(depth - 1, common)])
    for a, b in zip(source.index, sink.index, strict=True):
        moving = [(atom, factor) for atom, factor in a.terms if not isinstance(atom, Value) or atom in inputs]
        match moving:
            case _ if a.terms != b.terms:
                continue
            case _ if a.constant != b.constant and varying.isdisjoint(a.values()):
                return ()  # what it is made of is the same in both
            case []:
                if a.constant != b.constant:
                    return ()
            case [(Value() as v, factor)] if v in source.inputs[:common]:
                apart, rest = divmod(a.constant - b.constant, factor)
                if rest or fixed.setdefault(v, apart) != apart:
                    return ()
    found: list[Ends] = []
    for k, v in enumerate(source.inputs[:common]):
        low, high = (0, 0) if k < depth - 1 else (1 if k == depth - 1 else None, None)
        number = fixed.get(v)
        if number is not None and ((low is not None and number < low) or (high is not None and number > high)):
            return ()
        found.append((low, high) if number is None else (number, number))
    return tuple(found)


def elements(source: Relation, sink: Relation, pairs: Map) -> Map:
    """From some pairs of iterations of source and sink to the elements that both touch."""
    meeting = map_from(source).reverse().range_product(map_from(sink).reverse()).reverse()
    return meeting.intersect_domain(pairs.wrap())


def at_depth(pairs: Map, depth: int, common: int) -> Map:
    """The pairs of which the sink runs after the source by the loop of this depth, from 1 on, of `common` loops around
    both; or, where depth is common + 1, of which all common loops are in the same iteration."""
    for k in range(depth - 1):
        pairs = pairs.equate(Dim.in_, k, Dim.out, k)
    return pairs.order_lt(Dim.in_, depth - 1, Dim.out, depth - 1) if depth <= common else pairs


def fixed(points: Points, sizes: Mapping[Value, int]) -> Points:
    """The points for which the parameters are these numbers."""
    for value, number in sizes.items():
        k = points.find_dim_by_name(Dim.param, name_of(value))
        if k >= 0:
            points = points.fix_val(Dim.param, k, number_of(number))
    return points


def distances(pairs: Map, common: int) -> tuple[Ends, ...]:
    """For each of the common loops the smallest and the largest difference, sink minus source, over all parameters."""
    inner_in, inner_out = pairs.dim(Dim.in_) - common, pairs.dim(Dim.out) - common
    deltas = pairs.project_out(Dim.in_, common, inner_in).project_out(Dim.out, common, inner_out).deltas()
    return tuple(ends(deltas, k) for k in range(common))


def ends(points: Set, k: int) -> Ends:
    """The smallest and the largest value of dimension k, over all parameters."""
    low, high = points.dim_min_val(k), points.dim_max_val(k)
    return (low.to_python() if low.is_int() else None, high.to_python() if high.is_int() else None)


def named(pairs: Map, inputs: Sequence[str], outputs: Sequence[str], params: Sequence[Value]) -> Map:
    """A map for people: its dimensions and parameters are called so; what has no name, or that of another, gets one."""
    used: set[str] = set()
    hints = {name_of(value): value.hint for value in params}
    of_params = [hints.get(str(pairs.get_dim_name(Dim.param, k)), "") for k in range(pairs.dim(Dim.param))]
    for kind, names, start in ((Dim.param, of_params, "p"), (Dim.in_, inputs, "i"), (Dim.out, outputs, "m")):
        for k in range(pairs.dim(kind)):
            wanted = re.sub(r"[^A-Za-z0-9_']", "_", names[k]) if k < len(names) and names[k] else f"{start}{k}"
            wanted = wanted if wanted[0].isalpha() else f"v{wanted}"
            while wanted in used:
                wanted += "_"
            used.add(wanted)
            pairs = pairs.set_dim_name(kind, k, wanted)
    return pairs


def last_of(pairs: Map) -> Map:
    """For each input the last output, in the order of words. Raises UnknownError where isl loses an input.

    Of some sets with redundant constraints islpy 2026.2 says that they have no last point, and has to be asked once
    more in other words. It is not asked for the set without those constraints: of a set that it made so, lexmax has
    divided by zero, which ends the process.
    """
    return _end_of(pairs, lambda each: each.lexmax())


def first_of(pairs: Map) -> Map:
    """For each input the first output, as `last_of` has the last one."""
    return _end_of(pairs, lambda each: each.lexmin())


def _end_of(pairs: Map, find: Callable[[Map], Map]) -> Map:
    inputs = pairs.domain()
    for each in _in_other_words(pairs):
        found = find(each)
        if inputs.is_subset(found.domain()):
            return found
    raise UnknownError("isl finds no end of the outputs for an input that has some")


def some_point(points: Set) -> tuple[dict[str, int], tuple[int, ...]] | None:
    """A point of a set, the first one where there is a first: its parameters by name, and its dimensions."""
    params, dims = points.dim(Dim.param), points.dim(Dim.set)
    names = [str(points.get_dim_name(Dim.param, k)) for k in range(params)]
    flat = points.flatten().move_dims(Dim.set, 0, Dim.param, 0, params)
    if flat.is_empty():
        return None
    numbers: list[int] = []
    for k in range(params + dims):  # not by lexmin, which islpy 2026.2 gets wrong for some sets with divisions
        low, high = ends(flat, k)
        number = low if low is not None else high if high is not None else 0
        rest = flat.fix_val(Dim.set, k, number_of(number))
        if rest.is_empty():  # there is no end, or isl gives one beside the points, which happens where steps meet
            number = sample_of(flat)[k]
            rest = flat.fix_val(Dim.set, k, number_of(number))
        numbers.append(number)
        flat = rest
    return dict(zip(names, numbers[:params], strict=True)), tuple(numbers[params:])


def _in_other_words(pairs: Map) -> Iterator[Map]:
    yield pairs
    yield pairs.detect_equalities()
    yield spelled_anew(pairs)


def _map_from(of: Relation) -> Map:
    dims, hidden = of.inputs, {*of.inputs[of.dims :]}
    found = map_of(of.index, _always(of), dims, of.params)
    alternatives = [clause for clause in of.clauses if len(clause) != 1]
    within = [clause for clause in alternatives if any(not hidden.isdisjoint(c.reads) for p in clause for c in p)]
    for clause in within:
        found = found.intersect_domain(_any_of(clause, dims, of.params))
    if of.locals:
        found = found.project_out(Dim.in_, of.dims, of.locals)
        found = merged(found) if within else found
    if len(within) < len(alternatives):  # what says nothing of locals is the same for all that is touched there
        clauses = tuple([c for c in of.clauses if all(hidden.isdisjoint(each.reads) for p in c for each in p)])
        found = found.intersect_domain(_iterations(of.dims, of.params, clauses))
    return found


def _iterations(dims: int, params: tuple[Value, ...], clauses: tuple[Alternatives, ...]) -> Set:
    """Where clauses without locals hold."""
    of = relation(dims, 0, params, clauses, ())
    return remembered(("iterations", of), lambda: merged(_inputs_of(of)))


def _inputs_of(of: Relation) -> Set:
    """The iterations, each with the locals that go with it."""
    found = set_of(_always(of), of.inputs, of.params)
    for clause in of.clauses:
        if len(clause) != 1:
            found = found.intersect(_any_of(clause, of.inputs, of.params))
    return found


def _always(of: Relation) -> list[Constraint]:
    """The constraints that hold in every iteration."""
    return [c for clause in of.clauses if len(clause) == 1 for c in clause[0]]


def _any_of(alternatives: Alternatives, dims: tuple[Value, ...], params: tuple[Value, ...]) -> Set:
    if not alternatives:
        nothing = set_of((), dims, params)
        return nothing.subtract(nothing)
    parts = [set_of(constraints, dims, params) for constraints in alternatives]
    found = parts[0]
    for part in parts[1:]:
        found = found.union(part)
    return found
