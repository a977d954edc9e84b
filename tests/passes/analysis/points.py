"""The points of isl's sets, where symbols are numbers."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from affdsl.ir.expr import Value
from affdsl.passes.analysis.polyhedral import Dim, Set, name_of


def numbers_in(points: Set, sizes: Mapping[Value, int]) -> list[tuple[int, ...]]:
    """The points of a set, or of a wrapped map, where the symbols are these numbers."""
    for value, number in sizes.items():
        k = points.find_dim_by_name(Dim.param, name_of(value))
        if k >= 0:
            points = points.fix_val(Dim.param, k, isl.Val.int_from_si(points.get_ctx(), number))
    flat = points.project_out(Dim.param, 0, points.dim(Dim.param)).flatten()
    found: list[tuple[int, ...]] = []
    flat.foreach_point(lambda p: found.append(tuple(_coordinates(p, flat.dim(Dim.set)))))
    return found


def _coordinates(point: isl.Point, count: int) -> list[int]:
    return [point.get_coordinate_val(Dim.set, k).to_python() for k in range(count)]
