"""The steps of a schedule one after the other: what each changed, why, and what was refused, with a drawing of why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import pairwise

from affdsl.errors import AffdslError
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import IndexType
from affdsl.kernel import Kernel
from affdsl.mlir.naming import names_of as mlir_names_of
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.drawing.iteration_space import IterationSpace, iteration_space
from affdsl.schedule.history import Entry, changes
from affdsl.schedule.loops import LoopRow, Tree

SIZES = ((6, 4), (8, 4), (10, 4), (4, 2))
"""The sizes of arrays, and other numbers, of a drawing: the first that the kernel allows and that show something."""
MOST_POINTS, MOST_DRAWN, MOST_LOOPS = 100, 6, 8
"""Iterations that a drawing has at most, how many drawings there are, and of functions with how many loops."""
COUNTEREXAMPLE = "e.g. "
"""What stands in a refusal before two iterations that depend on each other."""


class ShownStep(FrozenValue):
    """A step as the page shows it; `before` and `after` are the loops of the nests that it changed."""

    key: str
    call: str
    place: str
    refused: bool
    changes: tuple[str, ...] = ()
    reason: str = ""
    before: str = ""
    after: str = ""
    picture: str = ""
    caption: str = ""
    open: bool = False


def timeline(kernel: Kernel) -> tuple[ShownStep, ...]:
    """The steps that made a kernel; none where no schedule did."""
    schedule = kernel.schedule
    if schedule is None:
        return ()
    before, *history = schedule.history
    drawn, found = 0, list[ShownStep]()
    for number, step in enumerate(history, 1):
        key, call, place = f"step-{number}", str(step), str(step.location)
        if step.refusal is not None:
            reason = step.refusal.unplaced
            if kernel._notes and COUNTEREXAMPLE not in reason:
                continue
            space = _drawing(before, step) if COUNTEREXAMPLE in reason and drawn < MOST_DRAWN else None
            picture = space.to_svg() if space is not None else ""
            drawn += space is not None
            shown = ShownStep(key, call, place, True, (), reason, "", "", picture, _caption(space), bool(picture))
            found.append(shown)
            continue
        old, new = _changed(before.loops, step.loops)
        changed = tuple(what for _, what in changes(before, step))
        found.append(ShownStep(key, call, place, False, changed, "", old, new))
        before = step
    return tuple(found)


def _caption(space: IterationSpace | None) -> str:
    if space is None:
        return ""
    sizes = ", ".join(f"{name} = {n}" for name, n in space.sizes.items())
    outer, inner = space.axes
    return f"The iterations of {outer} and {inner} for {sizes}, and what must run before what."


def _changed(before: Tree, after: Tree) -> tuple[str, str]:
    """The outermost loops, with what is inside of them, that are not the same before and after."""
    old, new = _by_root(before), _by_root(after)
    same = {*old} & {*new}
    was, now = ("\n".join(text for text in texts if text not in same) for texts in (old, new))
    return was, now


def _by_root(tree: Tree) -> list[str]:
    nests: list[list[LoopRow]] = []
    for row in tree:
        if row.depth == 0:
            nests.append([])
        nests[-1].append(row)
    return ["\n".join(f"{'  ' * row.depth}{row.text}" for row in nest) for nest in nests]


def _drawing(before: Entry, step: Entry) -> IterationSpace | None:
    """The iterations of the two loops that a refused step is about, where that is small enough to be drawn."""
    function = before.function
    if sum(isinstance(op, affine.For | affine.Parallel) for op in walk(function)) > MOST_LOOPS:
        return None
    pair = _pair(before, step)
    if pair is None:
        return None
    for sizes in _sizes(function):
        with suppress(AffdslError, UnknownError):  # nobody could read it, or isl would need too long
            space = iteration_space(Dependences(function, before.module), *pair, sizes)
            if 1 < len(space.points) <= MOST_POINTS and space.arrows:
                return space
    return None


def _pair(before: Entry, step: Entry) -> tuple[Value, Value] | None:
    """The first two loops that a step names, one inside the other; or the one that it names and its neighbour."""
    ways = [*_ways(before.function.body)]
    named = {iv for iv, name in before.names.items() if name in step.call.texts}
    for way in ways:
        of = [iv for iv in way if iv in named]
        if len(of) > 1:
            return of[0], of[1]
    for way in ways:
        for outer, inner in pairwise(way):
            if outer in named or inner in named:
                return outer, inner
    return None


def _ways(block: tuple[Op, ...], around: tuple[Value, ...] = ()) -> Iterator[tuple[Value, ...]]:
    """The counters of the loops around each innermost loop, outermost first."""
    for op in block:
        own = (op.iv,) if isinstance(op, affine.For) else op.ivs if isinstance(op, affine.Parallel) else ()
        way = (*around, *own)
        inner = [each for body in op.blocks() for each in _ways(body, way)]
        if inner:
            yield from inner
        elif own:
            yield way


def _sizes(function: Func) -> Iterator[Mapping[str, int]]:
    """Small numbers for the index arguments of a function."""
    lengths = {v for shape in function.shapes for expr in shape or () for v in expr.values()}
    names = mlir_names_of(function)
    for size, number in SIZES:
        given = {v: size if v in lengths else number for v in function.args if isinstance(v.type, IndexType)}
        if all(fact.holds(given) for fact in function.assumes):
            yield {names[v]: n for v, n in given.items()}
