"""Versions of a loop, among which the sizes of a call choose: what large ones gain by, small ones may lose by."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import prod

from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import holders
from affdsl.ir.types import MemRefType
from affdsl.lang.indices import Condition, Index, symbols
from affdsl.optimize.nests import loop_called, names_in, nests_in, span, unfit_where_refused
from affdsl.optimize.unfit import UnfitError
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.analysis.storage import Buffer
from affdsl.schedule.schedule import Schedule

MOST = 2**16
"""Lines are not longer where all arrays of a loop fit into a cache."""


def on_average(s: Schedule, loops: Container[str], least: int) -> Condition | None:
    """That the sizes which say how often some loops run are at least so large, in the mean.

        for i < M: for j < N: S(i, j)     ->   M + N >= 2 * least
        for i < M: for j < 2 * N: S(i, j) ->   M + 2 * N >= 2 * least

    None if no size of an array says so.
    """
    times: dict[str, int] = {}
    for atom, factor in (term for end in _ends(s, loops) for term in end.terms):
        if isinstance(atom, Value):
            times[atom.hint] = max(1, factor, times.get(atom.hint, 1))
    sizes = [size * times.get(str(size), 1) for size in sizes_of(s, loops)]
    return at_least(sum(sizes[1:], sizes[0]), least * len(sizes)) if sizes else None


def times_as_long(s: Schedule, loop: str, sizes: Sequence[Index], times: int) -> Condition | None:
    """That the size which says how often a loop runs is so many times another one, at least.

        for i < M: for j < N: S(i, j)   ->   N >= times * M

    None if not one size of an array says so, or the same one, or if the `sizes` are not one.
    """
    own = sizes_of(s, (loop,))
    if len(own) != 1 or len(sizes) != 1 or str(own[0]) == str(sizes[0]):
        return None
    return at_least(own[0], sizes[0] * times)


def longer_than(s: Schedule, root: str, count: int) -> Condition | None:
    """That sizes, and loops around, are such that a loop runs more often than `count` times.

    None if its bounds are other than sums of them and numbers, or if nothing is asked.
    """
    loop = loop_called(s, root)
    found = None if loop is None or loop.step != 1 else span(loop)
    if found is None:
        return None
    known = {v: v.hint for v in s.function.args} | {row.iv: row.names[0] for row in s.loops()}
    trips = in_names(found, known)
    return None if trips is None or trips.expr.is_constant else at_least(trips, count + 1)


def larger_than(s: Schedule, root: str, cache: int) -> Condition | None:
    """That the sizes are so large that the arrays of a loop, with all sizes alike, take more bytes than a cache has.

    None if it is not known how large they are. Raises UnfitError if they always fit.
    """
    shapes = dict(zip(s.function.args, s.function.shapes, strict=False))
    arrays: dict[Value, tuple[Sequence[Affine], int]] = {}
    for buffer in (access.buffer for nest in nests_in(s, root) for access in nest.accesses):
        shape, bytes = shapes.get(buffer.root) or _known(buffer), width_of(buffer.type.element)
        if shape is None or bytes is None:
            return None
        arrays[buffer.root] = shape, bytes

    def taken(n: int) -> int:
        return sum(prod(e.evaluate(dict.fromkeys(e.values(), n)) for e in dims) * of for dims, of in arrays.values())

    rank = max((len(shape) for shape, _ in arrays.values()), default=0)
    names = sorted({v.hint for shape, _ in arrays.values() if len(shape) == rank for e in shape for v in e.values()})
    if not names and taken(0) <= cache:
        raise UnfitError("its arrays fit into the second cache")
    if not names or not all(map(str.isidentifier, names)):  # MLIR calls a size what a schedule cannot
        return None
    least = 1 + bisect_right(range(1, MOST), cache, key=taken)
    return Condition(tuple(c for name in names for c in at_least(symbols(name), least).constraints))


def _known(buffer: Buffer) -> Sequence[Affine] | None:
    """The shape of an array whose type says it."""
    if not isinstance(buffer.type, MemRefType) or None in buffer.type.shape:
        return None
    return [Affine.of(size) for size in buffer.type.shape if size is not None]


def sizes_of(s: Schedule, loops: Container[str]) -> list[Index]:
    """The sizes of arrays that say how often some loops run; none where a schedule has no name for one."""
    shapes = {v for shape in s.function.shapes or () for dim in shape or () for v in dim.values()}
    values = dict.fromkeys(v for bound in _ends(s, loops) for v in bound.values() if v in shapes)
    if not all(v.hint.isidentifier() for v in values):  # MLIR calls a size what a schedule cannot
        return []
    return [symbols(v.hint) for v in values]


def _ends(s: Schedule, loops: Container[str]) -> list[Affine]:
    """Where some loops begin and end."""
    inside = {row.iv for row in s.loops() if row.names[0] in loops}
    found = [op for op in holders(s.function) if isinstance(op, affine.For) and op.iv in inside]
    return [bound for op in found for bound in (*op.lower, *op.upper)]


def in_names(expr: Affine, known: Mapping[Value, str]) -> Index | None:
    """An expression over the names of sizes and of loops; None where it has another value."""
    if not all(known.get(v, "").isidentifier() for v in expr.values()):
        return None
    return Index(expr.substitute({v: symbols(known[v]).expr for v in expr.values()}))


def at_least(size: Index, least: Index | int) -> Condition:
    """That a size is at least so large."""
    found = size >= least
    assert isinstance(found, Condition)
    return found


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
    """The condition of the first versions of a loop, among the steps since so many."""
    found = (step.call.arguments for step in s.steps[since:] if step.call.verb == "specialize")
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
