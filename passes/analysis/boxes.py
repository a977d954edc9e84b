"""The smallest box around a set of elements that depends on loops and sizes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Literal, TypeVar

from affdsl.frozen import FrozenValue, replace
from affdsl.ir.expr import Affine, Value
from affdsl.ir.spelling import spell
from affdsl.ir.types import ComplexType, ElementType, FloatType, IndexType, IntegerType, VectorType
from affdsl.passes.analysis.dependence import AnalysisWarning
from affdsl.passes.analysis.polyhedral import (
    Dim,
    Map,
    UnknownError,
    expr_of,
    merged,
    name_of,
    numbers_of,
    spending,
)
from affdsl.passes.analysis.relations import first_of

Answer = TypeVar("Answer")
Choice = Literal["min", "max"]

BUDGET = 200_000
"""How many operations isl may spend on one side of a box, or one other question: up to some tenths of a second."""


class Bound(FrozenValue):
    """One side of a box: the least, or the greatest, of some expressions over outer induction variables and symbols.

    Attributes
    ----------
    choice
        "min" or "max"; either where there is one expression.
    is_tight
        Whether there is an element at this side in each iteration in which anything is touched. Otherwise the side may
        lie further out.
    """

    exprs: tuple[Affine, ...]
    choice: Choice
    is_tight: bool = True

    def evaluate(self, env: Mapping[Value, int]) -> int:
        """The number that it is where the values are these."""
        numbers = [expr.evaluate(env) for expr in self.exprs]
        return min(numbers) if self.choice == "min" else max(numbers)

    def __str__(self) -> str:
        spelled = [spell(expr) for expr in self.exprs]
        return spelled[0] if len(spelled) == 1 else f"{self.choice}({', '.join(spelled)})"


class Box(FrozenValue):
    """For each dimension of a buffer the indices from `lower` to `upper`, which is one more than the last.

    What is said of it holds in each iteration in which anything is touched.

    Attributes
    ----------
    lower, upper
        None where there is no such side, or none is known.
    extents
        The largest difference of upper and lower over all iterations and sizes; None where there is no constant
        limit, or none is known.
    """

    lower: tuple[Bound | None, ...]
    upper: tuple[Bound | None, ...]
    extents: tuple[int | None, ...]

    def without(self, dims: int) -> Box:
        """The box without its first dimensions."""
        return replace(self, lower=self.lower[dims:], upper=self.upper[dims:], extents=self.extents[dims:])

    def __str__(self) -> str:
        sides = zip(self.lower, self.upper, strict=True)
        return " x ".join(f"[{_or(low, '-inf')}, {_or(high, '+inf')})" for low, high in sides) or "[]"


NO_BOX = Box((), (), (None,))
"""Where not even the number of dimensions is known."""


def width_of(element: ElementType) -> int | None:
    """How many bytes an element takes; None where that is not known."""
    match element:
        case IndexType():
            return 8
        case IntegerType(width=width) | FloatType(width=width) | ComplexType(part=FloatType(width=width)):
            width *= 2 if isinstance(element, ComplexType) else 1
            return (width + 7) // 8
        case VectorType(shape=shape, element=scalar, scalable=scalable) if not any(scalable):
            lane = width_of(scalar)
            return None if lane is None else prod(shape) * lane
    return None


def answer(what: str, find: Callable[[], Answer]) -> Answer | None:
    """What isl finds, or None where that takes too long, with a warning that says about what."""
    try:
        with spending(BUDGET):
            return find()
    except UnknownError as error:
        warnings.warn(f"{error}, for {what}", AnalysisWarning, stacklevel=3)
        return None


def box_of(region: Map, params: Sequence[Value], ivs: Sequence[Value], what: str = "a region") -> Box:
    """The smallest box around what each iteration of a map is mapped to; of what, in warnings."""
    flat, columns = _flat(region, params, ivs)
    axes = _axes(flat, what)
    if axes is None:
        nothing = (None,) * flat.dim(Dim.out)
        return Box(nothing, nothing, nothing)
    lower, upper = _sides(axes, columns, what)
    extents = tuple(answer(what, partial(_extent, axis)) for axis in axes)
    return Box(lower, upper, extents)


def sides_of(
    region: Map, params: Sequence[Value], ivs: Sequence[Value], what: str = "a region"
) -> tuple[tuple[Bound | None, ...], tuple[Bound | None, ...]]:
    """`lower` and `upper` of `box_of`, without what else there is to find of a box."""
    flat, columns = _flat(region, params, ivs)
    axes = _axes(flat, what)
    nothing = (None,) * flat.dim(Dim.out)
    return (nothing, nothing) if axes is None else _sides(axes, columns, what)


def _sides(
    axes: Sequence[Map], columns: Sequence[Value], what: str
) -> tuple[tuple[Bound | None, ...], tuple[Bound | None, ...]]:
    lower = tuple(answer(what, partial(_side, axis, columns, "min")) for axis in axes)
    upper = tuple(answer(what, partial(_side, axis, columns, "max")) for axis in axes)
    return lower, upper


def _flat(region: Map, params: Sequence[Value], ivs: Sequence[Value]) -> tuple[Map, tuple[Value, ...]]:
    """The map from parameters and iterations, and the values of these dimensions."""
    values = {name_of(value): value for value in params}
    count = region.dim(Dim.param)
    names = [str(region.get_dim_name(Dim.param, k)) for k in range(count)] if params else []
    return region.move_dims(Dim.in_, 0, Dim.param, 0, count), (*(values[name] for name in names), *ivs)


def _axes(flat: Map, what: str) -> list[Map] | None:
    """The indices in each dimension."""
    return answer(what, lambda: [_axis(flat, k) for k in range(flat.dim(Dim.out))])


def _axis(flat: Map, k: int) -> Map:
    """The indices in one dimension."""
    after = flat.dim(Dim.out) - k - 1
    return merged(flat.project_out(Dim.out, k + 1, after).project_out(Dim.out, 0, k))


def _is_bounded(axis: Map) -> tuple[bool, bool]:
    """Whether there is a smallest and a largest index in each iteration."""
    points, k = axis.wrap(), axis.dim(Dim.in_)
    return bool(points.dim_has_lower_bound(Dim.set, k)), bool(points.dim_has_upper_bound(Dim.set, k))


def _extent(axis: Map) -> int | None:
    """The number of indices from the smallest to the largest, in the iteration where it is the greatest."""
    if axis.is_empty():
        return 0
    if not all(_is_bounded(axis)):
        return None
    furthest = axis.sum(first_of(axis).neg()).range().dim_max_val(0)  # of the distances from the smallest one
    return furthest.to_python() + 1 if furthest.is_int() else None


def _side(axis: Map, columns: Sequence[Value], choice: Choice) -> Bound | None:
    """The smallest index, or one more than the largest, of one dimension."""
    if axis.is_empty():
        return Bound((Affine(),), choice)
    if not _is_bounded(axis)[choice == "max"]:
        return None
    found = axis.dim_min(0) if choice == "min" else axis.dim_max(0)
    pieces = numbers_of(axis, found)
    exprs = []
    for _, end in pieces:
        exprs.append(expr_of(end, columns))
    # One of the ends is always right; the outermost of all of them is never too far in.
    chosen: Choice
    for chosen in ("min", "max"):
        if all(
            (here.gt_set(other) if chosen == "min" else here.lt_set(other)).intersect(where).is_empty()
            for where, here in pieces
            for _, other in pieces
            if here is not other
        ):
            return _bound(exprs, choice, chosen, is_tight=True)
    return _bound(exprs, choice, choice, is_tight=False)


def _bound(exprs: Sequence[Affine], side: Choice, chosen: Choice, *, is_tight: bool) -> Bound:
    after = 1 if side == "max" else 0
    return Bound(tuple(dict.fromkeys(e + after for e in exprs)), chosen, is_tight)


def _or(bound: Bound | None, otherwise: str) -> str:
    return otherwise if bound is None else str(bound)
