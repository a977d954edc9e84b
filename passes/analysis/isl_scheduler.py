"""isl's scheduler: orders of statements that keep the order of pairs of iterations, and the parts of what it finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from affdsl.ir.expr import Affine, Value
from affdsl.passes.analysis.polyhedral import (
    BasicMap,
    Dim,
    Function,
    Functions,
    Map,
    Orders,
    ScheduleConstraints,
    Set,
    UnionMap,
    UnionSet,
    UnknownError,
    context,
    name_of,
    number_of,
    pieces_of,
)


def scheduled(domains: Sequence[Set], pairs: Iterable[tuple[int, Map, int]], most: int) -> Orders:
    """What isl's scheduler finds for statements, numbered from 0, by their iterations and pairs that keep their order.

    Iterations of the two of a pair are near each other, and in one iteration of an outer loop, where that can be.
    Numbers may be large: with a bound for them isl may search for hours, and counts no operations meanwhile. So it may
    where pairs are in many parts, or where a counter is a multiple of another one: UnknownError is raised for `most`
    parts or more, and for multiples. Raises isl's errors, too: see `spending`.
    """
    context().set_schedule_maximize_coincidence(1)
    named = [each.set_tuple_name(f"k{k}") for k, each in enumerate(domains)]
    everywhere = UnionSet.from_set(named[0])
    for each in named[1:]:
        everywhere = everywhere.union(UnionSet.from_set(each))
    order = UnionMap.empty(everywhere.get_space())
    for start, part, end in pairs:
        known = part.set_tuple_name(Dim.in_, f"k{start}").set_tuple_name(Dim.out, f"k{end}")
        order = order.union(UnionMap.from_map(known))
    parts: list[BasicMap] = []
    order.foreach_map(lambda each: parts.extend(each.get_basic_maps()))
    if any(map(_has_multiples, parts)):
        raise UnknownError("it is not asked where a counter is a multiple of another one")
    if len(parts) >= most:
        raise UnknownError(f"it is not asked about pairs in {len(parts)} parts")
    asked = ScheduleConstraints.on_domain(everywhere).set_validity(order)
    return asked.set_coincidence(order).set_proximity(order).compute_schedule().get_root()


def _has_multiples(part: BasicMap) -> bool:
    """Whether a counter of pairs is a multiple of others, or a quotient."""
    places = [(kind, k) for kind in (Dim.in_, Dim.out) for k in range(part.dim(kind))]
    equations = [each for each in part.get_constraints() if each.is_equality()]
    factors = (each.get_coefficient_val(*place) for each in equations for place in places)
    return bool(part.dim(Dim.div)) or any(factor.abs().gt(number_of(1)) for factor in factors)


def statements_of(filter: Orders) -> list[int]:
    """The numbers of the statements of one part of what `scheduled` gives."""
    found: list[int] = []
    filter.filter_get_filter().foreach_set(lambda each: found.append(int(each.get_tuple_name()[1:])))
    return sorted(found)


def rows_of(band: Orders, dims: Sequence[Sequence[Value]], params: Sequence[Value]) -> list[dict[int, Affine | None]]:
    """The expressions by which a band orders statements, outermost first, of each over its own dimensions.

    None is one that is not affine, or has other parameters.
    """
    named = {name_of(value): value for value in params}
    found: list[dict[int, Affine | None]] = []
    partial = band.band_get_partial_schedule()
    for k in range(partial.dim(Dim.set)):
        row: dict[int, Affine | None] = {}
        for part in _parts(partial.get_union_pw_aff(k)):
            number = int(part.get_tuple_id(Dim.in_).get_name()[1:])
            row[number] = _plain(part, dims[number], named)
        found.append(row)
    return found


def _parts(of: Functions) -> list[Function]:
    found: list[Function] = []
    of.foreach_pw_aff(found.append)
    return found


def _plain(of: Function, dims: Sequence[Value], named: dict[str, Value]) -> Affine | None:
    """A function of one piece, without divisions, over dimensions and parameters; None if it is none."""
    pieces = pieces_of(of)
    if len(pieces) != 1 or pieces[0][1].dim(Dim.div):
        return None
    aff = pieces[0][1]
    found = Affine.of(aff.get_constant_val().to_python())
    for k, value in enumerate(dims):
        found += value * aff.get_coefficient_val(Dim.in_, k).to_python()
    for k in range(aff.dim(Dim.param)):
        factor = aff.get_coefficient_val(Dim.param, k).to_python()
        name = aff.get_dim_name(Dim.param, k)
        if factor and (name is None or name not in named):
            return None
        found += named[name] * factor if factor and name else 0
    return found
