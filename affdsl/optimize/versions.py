"""Versions of a loop, among which the sizes of a call choose: what large ones gain by, small ones may lose by."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from collections.abc import Set as AbstractSet
from copy import copy

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.lang.indices import Condition, Index, symbols
from affdsl.optimize.nests import lanes_of, names_in, nests_in, unfit_where_refused
from affdsl.optimize.notes import Notes, only_for
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.schedule import Schedule

OfLoop = Callable[[Schedule, str, Options], tuple[Schedule, Notes]]
"""A recipe for an outermost loop of a name: the schedule after it, and what it did; no notes if it does not fit."""
LEAST_VECTORS = 2
"""How many vectors there should be of a loop, in the mean of all sizes of a nest: fewer cost more than they give."""


def on_average(s: Schedule, loops: Container[str], least: int) -> Condition | None:
    """That the sizes which say how often some loops run are at least so large, in the mean.

        for i < M: for j < N: S(i, j)   ->   M + N >= 2 * least

    None if no size of an array says so.
    """
    sizes = _sizes(s, loops)
    if not sizes:
        return None
    large = sum(sizes[1:], sizes[0]) >= least * len(sizes)
    assert isinstance(large, Condition)
    return large


def times_as_often(s: Schedule, loop: str, other: str, times: int) -> Condition | None:
    """That the size which says how often a loop runs is so many times that of another loop, at least.

        for i < M: for j < N: S(i, j)   ->   N >= times * M

    None if not one size of an array says so of each, or the same one of both.
    """
    one, two = _sizes(s, (loop,)), _sizes(s, (other,))
    if len(one) != 1 or len(two) != 1 or str(one[0]) == str(two[0]):
        return None
    often = one[0] >= two[0] * times
    assert isinstance(often, Condition)
    return often


def times_as_long(s: Schedule, loop: str, size: str, times: int) -> Condition | None:
    """That the size which says how often a loop runs is so many times another size, at least.

    None if not one size of an array says so, or the same one.
    """
    sizes = _sizes(s, (loop,))
    if len(sizes) != 1 or str(sizes[0]) == size or not size.isidentifier():
        return None
    long = sizes[0] >= symbols(size) * times
    assert isinstance(long, Condition)
    return long


def _sizes(s: Schedule, loops: Container[str]) -> list[Index]:
    """The sizes of arrays that say how often some loops run; none where a schedule has no name for one."""
    inside = {row.iv for row in s.loops() if row.names[0] in loops}
    shapes = {v for shape in s.function.shapes or () for dim in shape or () for v in dim.values()}
    found = [op for op in walk(s.function) if isinstance(op, affine.For) and op.iv in inside]
    bounds = [bound for op in found for bound in (*op.lower, *op.upper)]
    values = dict.fromkeys(v for bound in bounds for v in bound.values() if v in shapes)
    if not all(v.hint.isidentifier() for v in values):  # MLIR calls a size what a schedule cannot
        return []
    sizes: list[Index] = []
    for v in values:
        size = symbols(v.hint)
        assert isinstance(size, Index), "one name is one symbol"
        sizes.append(size)
    return sizes


def lanes_in(s: Schedule, root: str, options: Options) -> int:
    """How many lanes the vectors have that loops of a nest can be on. Raises UnfitError where there are none."""
    found = [lanes_of(nest, options) for nest in nests_in(s, root)]
    if not found:
        raise UnfitError("nothing in it touches memory")
    return max(found)


def in_other(s: Schedule, loop: str, condition: Condition | None) -> list[str]:
    """Give a loop a copy that runs where a condition does not hold: what that is called, and the loops inside of it.

    The schedule given is changed. Raises UnfitError where there is no condition, or a loop can have no versions, as one
    that is parallel already.
    """
    if condition is None:
        raise UnfitError(f"no size says how often {loop} runs")
    with unfit_where_refused():
        s.specialize(loop, condition)
    return [row.names[0] for row in s.made]


def longest(s: Schedule, loop: str, condition: Condition | None) -> None:
    """Give a loop the same copy as `in_other`; if the last step gave it one already, that step is taken back first.

    So a condition of several recipes for the same loop is asked only once: the last one stands.
    """
    last = s.steps[-1].call if s.steps else None
    if condition is not None and last is not None and (last.verb, last.arguments[0]) == ("specialize", loop):
        s.undo()
    in_other(s, loop, condition)


def chosen_by(s: Schedule, loop: str, since: int = 0) -> Condition | None:
    """The condition of the last versions of a loop, among the steps since so many."""
    found = (step.call.arguments for step in reversed(s.steps[since:]) if step.call.verb == "specialize")
    return next((what for name, what in found if name == loop and isinstance(what, Condition)), None)


def as_written(s: Schedule, known: AbstractSet[str]) -> set[str]:
    """The copies of loops for other sizes that no step has changed, by name; `known` are the loops before all steps."""
    found: set[str] = set()
    for step in s.steps:
        names = {*step.names.values()}
        if step.call.verb == "specialize":
            found |= names - known
        known = known | names
    taken = {name for step in s.steps if step.call.verb != "specialize" for name in _named(step.call.arguments)}
    return {root for root in found - taken if not taken.intersection(names_in(s, root))}


def _named(arguments: Sequence[object]) -> Iterator[str]:
    """The names among the arguments of a step."""
    for each in arguments:
        if isinstance(each, str):
            yield each
        elif isinstance(each, tuple):
            yield from _named(each)


def unless_small(recipe: OfLoop) -> OfLoop:
    """The recipe where sizes are large enough for it; smaller ones run the loops as they were."""

    def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
        both = copy(s)
        try:
            _keep_for_small(both, root, options)
        except UnfitError:
            return recipe(s, root, options)
        made, notes = recipe(both, root, options)
        if len(made.steps) == len(both.steps):
            return s, notes
        return made, only_for(chosen_by(made, root, len(s.steps)), notes)

    return take


def _keep_for_small(s: Schedule, root: str, options: Options) -> None:
    """Give a nest of loops a copy for small sizes; the schedule given is changed.

    Raises UnfitError for a loop alone, and where no size says how large it is.
    """
    loops = names_in(s, root)
    if len(loops) == 1:
        raise UnfitError(f"{root} holds no other loop")
    large = on_average(s, loops, LEAST_VECTORS * lanes_in(s, root, options))
    in_other(s, root, large)
