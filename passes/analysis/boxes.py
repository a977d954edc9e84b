"""The smallest box around a set of elements that depends on loops and sizes, and how many elements the set has."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Literal, TypeVar

from affdsl.frozen import FrozenValue, replace
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.spelling import spell
from affdsl.ir.types import ComplexType, ElementType, FloatType, IndexType, IntegerType, VectorType
from affdsl.passes.analysis.dependence import AnalysisWarning
from affdsl.passes.analysis.polyhedral import (
    Dim,
    Map,
    Set,
    UnknownError,
    count_of,
    expr_of,
    merged,
    name_of,
    number_of,
    numbers_of,
    points_of,
    set_of,
    spending,
)
from affdsl.passes.analysis.relations import ends, first_of, iterator, last_of

Answer = TypeVar("Answer")
Choice = Literal["min", "max"]

BUDGET = 200_000
"""How many operations isl may spend on one side of a box, or one other question: up to some tenths of a second."""
MOST_COUNTED = 100_000
"""Sets with more elements are not counted one by one."""
MOST_ITERATIONS = 200
"""Nor are those that are another one in each of more iterations."""


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
    is_full
        Whether all elements of the smallest box are certainly in the set.
    """

    lower: tuple[Bound | None, ...]
    upper: tuple[Bound | None, ...]
    extents: tuple[int | None, ...]
    is_full: bool = False

    @property
    def volume(self) -> int | None:
        """How many elements a box of these extents has."""
        known = [extent for extent in self.extents if extent is not None]
        return prod(known) if len(known) == len(self.extents) else None

    def without(self, dims: int) -> Box:
        """The box without its first dimensions."""
        return replace(self, lower=self.lower[dims:], upper=self.upper[dims:], extents=self.extents[dims:])

    def __str__(self) -> str:
        sides = zip(self.lower, self.upper, strict=True)
        return " x ".join(f"[{_or(low, '-inf')}, {_or(high, '+inf')})" for low, high in sides) or "[]"


NO_BOX = Box((), (), (None,))
"""Where not even the number of dimensions is known."""


class Size(FrozenValue):
    """How many there are: exactly, and at most; None is not known."""

    exact: int | None
    at_most: int | None

    def times(self, number: int | None) -> Size:
        """So many of each."""
        if number is None:
            return Size(None, None)
        return Size(*(None if n is None else n * number for n in (self.exact, self.at_most)))

    def __str__(self) -> str:
        return str(self.exact) if self.exact is not None else "?" if self.at_most is None else f"<= {self.at_most}"


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
    full = None not in (*lower, *upper) and answer(
        what, lambda: bool(_product(flat, [_between_ends(axis) for axis in axes]).is_subset(flat))
    )
    return Box(lower, upper, extents, full is True)


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


def size_of(region: Map, what: str = "a region") -> Size:
    """How many elements each iteration of a map is mapped to: the most, over all iterations and parameters."""
    flat, _ = _flat(region, (), ())
    axes = _axes(flat, what)
    if axes is None:
        return Size(None, None)
    counts = [answer(what, partial(_count, axis)) or _Count(None, False, False) for axis in axes]
    at_most = _times([count.most for count in counts])
    # Where the numbers of several dimensions vary, they need not be greatest in the same iteration.
    together = sum(not count.is_constant for count in counts) <= 1 and all(count.is_exact for count in counts)
    if together and answer(what, lambda: _product(flat, axes).is_subset(flat)):
        return Size(at_most, at_most)
    if at_most is None or at_most > MOST_COUNTED:
        return Size(None, at_most)
    counted = answer(what, lambda: _counted(flat, axes))
    return Size(counted, at_most if counted is None else counted)


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


def _product(flat: Map, axes: Sequence[Map]) -> Map:
    """All combinations of the indices of each dimension."""
    found = flat.project_out(Dim.out, 0, flat.dim(Dim.out))
    for axis in axes:
        found = found.flat_range_product(axis)
    return found


def _between_ends(axis: Map) -> Map:
    """All indices from the smallest to the largest."""
    line = axis.range().get_space()
    return first_of(axis).apply_range(Map.lex_le(line)).intersect(last_of(axis).apply_range(Map.lex_ge(line)))


def _from_first(axis: Map) -> Map:
    """How far each index is from the smallest one of the same iteration."""
    return merged(axis.sum(first_of(axis).neg()))


def _extent(axis: Map) -> int | None:
    """The number of indices from the smallest to the largest, in the iteration where it is the greatest."""
    if axis.is_empty():
        return 0
    if not all(_is_bounded(axis)):
        return None
    furthest = _from_first(axis).range().dim_max_val(0)
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


class _Count(FrozenValue):
    """How many indices one dimension has: the most over all iterations, and whether all have as many."""

    most: int | None
    is_exact: bool
    is_constant: bool


def _count(axis: Map) -> _Count:
    extent = _extent(axis)
    if extent == 0:
        return _Count(0, True, True)
    if extent is None:
        return _Count(None, False, False)
    distances = _from_first(axis)
    is_constant = _is_constant(distances)
    stride = distances.range().get_stride(0).to_python() if extent > 1 else 1
    steps = _between_ends(distances).intersect_range(_multiples(stride))
    if steps.is_subset(distances):
        return _Count((extent - 1) // stride + 1, True, is_constant)
    if is_constant and extent <= MOST_COUNTED:
        return _Count(count_of(distances.range()), True, True)
    return _Count((extent - 1) // stride + 1, False, is_constant)


def _is_constant(relation: Map) -> bool:
    """Whether each iteration is mapped to the same elements."""
    everywhere = Map.from_domain_and_range(relation.domain(), relation.range())
    return bool(everywhere.is_subset(relation))


def _multiples(number: int) -> Set:
    """The multiples of a number."""
    index = iterator(0)
    return set_of([Constraint(index % number, equality=True)], [index])


def _times(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return prod(known) if len(known) == len(numbers) else 0 if 0 in known else None


def _counted(flat: Map, axes: Sequence[Map]) -> int | None:
    """The most elements of an iteration, by counting them; None where there are too many iterations."""
    origin = flat.project_out(Dim.out, 0, flat.dim(Dim.out))
    for axis in axes:
        origin = origin.flat_range_product(first_of(axis))
    distances = merged(flat.sum(origin.neg()))
    if _is_constant(distances):
        return count_of(distances.range())
    iterations = flat.domain()
    counts = [_breadth(iterations, k) for k in range(iterations.dim(Dim.set))]
    if any(count is None for count in counts) or prod(count or 0 for count in counts) > MOST_ITERATIONS:
        return None
    return max(count_of(_at(flat, point).range()) for point in points_of(iterations))


def _at(flat: Map, iteration: tuple[int, ...]) -> Map:
    """The map from one iteration alone."""
    for k, number in enumerate(iteration):
        flat = flat.fix_val(Dim.in_, k, number_of(number))
    return flat


def _breadth(points: Set, k: int) -> int | None:
    """How many numbers there are from the smallest to the largest value of a dimension."""
    low, high = ends(points, k)
    return None if low is None or high is None else high - low + 1


def _or(bound: Bound | None, otherwise: str) -> str:
    return otherwise if bound is None else str(bound)
