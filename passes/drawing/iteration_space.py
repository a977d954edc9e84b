"""The iterations of two loops at given sizes, which of them must run before which, and the drawing of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from affdsl.frozen import Frozen
from affdsl.ir.expr import Value
from affdsl.ir.messages import nearest
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.drawing.layout import DrawingError
from affdsl.passes.drawing.picture import Picture
from affdsl.passes.drawing.png import png
from affdsl.passes.drawing.space_layout import space_layout
from affdsl.passes.drawing.space_question import Iteration, Question
from affdsl.passes.drawing.space_view import Arrow, Place, View, direct
from affdsl.passes.drawing.svg import svg


def iteration_space(
    dependences: Dependences,
    outer: Value | str,
    inner: Value | str,
    sizes: Mapping[str, int],
    *,
    at: Mapping[str, int] | Mapping[Value, int] | None = None,
) -> IterationSpace:
    """The iterations of two loops of a function, one inside the other, and which must run before which.

    A point stands for everything that runs there: all iterations of the loops inside of both, and of those outside
    and between. An arrow says that something in the one point must run before something in the other one.

    Parameters
    ----------
    outer, inner
        The loops, by their induction variables or by the names that they have in the MLIR text. Where several loops
        have one name, they are `i#1`, `i#2`, in the order of the text.
    sizes
        A number for each size, and for each other index that the loops and accesses read.
    at
        Numbers for other loops, given in the same way: only these iterations of them are shown.

    Raises
    ------
    DrawingError
        Where there are no such loops, where a size is missing or too large for a picture, and where isl needs too long.

    >>> from affdsl.mlir.readers import parse
    >>> function = parse('''func.func @f(%A: memref<?x?xf32>, %n: index) {
    ...   affine.for %i = 1 to %n {
    ...     affine.for %j = 0 to affine_map<(d) -> (d)>(%i) {
    ...       %a = affine.load %A[%i - 1, %j + 1] : memref<?x?xf32>
    ...       affine.store %a, %A[%i, %j] : memref<?x?xf32>
    ...     }
    ...   }
    ...   return
    ... }''').functions[0]
    >>> space = iteration_space(Dependences(function), "i", "j", {"n": 4})
    >>> list(space.points)
    [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]
    >>> print(*space.arrows)
    flow (2, 1) -> (3, 0)
    """
    question = Question(dependences, (outer, inner), sizes, {} if at is None else at)
    names = question.names
    return IterationSpace(
        function=dependences.accesses.function.symbol,
        axes=(names[question.outer], names[question.inner]),
        loops=tuple(names[iv] for iv in question.domain.ivs),
        is_parallel=question.is_parallel(),
        within=question.within(),
        sizes={names[size]: number for size, number in question.sizes.items()},
        at={names[iv]: number for iv, number in question.at.items()},
        runs=question.runs(),
        arrows=question.arrows(),
        notes=question.notes(),
    )


class IterationSpace(Frozen):
    """The iterations of two loops at given sizes. Made by `iteration_space`.

    Attributes
    ----------
    function
        Its symbol.
    axes
        The names of the two loops, the outer one first.
    loops, is_parallel
        The names of all loops around the body of the inner one, outermost first, and whether their iterations run in
        any order. The axes are two of them.
    within
        The names of the loops inside of both: all of their iterations belong to the point.
    sizes, at
        What was given.
    runs
        The values of these loops, in the order in which they run.
    arrows
        What must run before what: pairs of points between which there is a dependence. Those within one point, and
        those between two reads, are left out.
    notes
        What is not known, and what has no arrow.
    """

    function: str
    axes: tuple[str, str]
    loops: tuple[str, ...]
    is_parallel: tuple[bool, ...]
    within: tuple[str, ...]
    sizes: Mapping[str, int]
    at: Mapping[str, int]
    runs: tuple[Iteration, ...]
    arrows: tuple[Arrow, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def points(self) -> Mapping[Place, tuple[Iteration, ...]]:
        """The values of the two loops, in the order in which they first run, with the values of all loops there."""
        outer, inner = map(self.loops.index, self.axes)
        found: dict[Place, list[Iteration]] = {}
        for run in self.runs:
            found.setdefault((run[outer], run[inner]), []).append(run)
        return {place: tuple(of) for place, of in found.items()}

    def to_svg(self, *, colour: str | None = None, order: bool = False, complete: bool = False) -> str:
        """The drawing as the text of an SVG file.

        The outer loop runs from top to bottom and the inner one from left to right: so a nest in its first order is
        read like a text. The number and the colour of a point say in which step it runs. What runs in one iteration of
        the loops outside of both is in a box. Arrows that follow from others are left out, and counted.

        Parameters
        ----------
        colour
            The loop whose iterations are the steps; by default the outermost one.
        order
            Draw the order in which the points run as a line beneath them. It ends where a parallel loop goes on to
            another iteration.
        complete
            Draw all arrows.

        Raises
        ------
        DrawingError
            Where nobody could read it, and where no loop is called `colour`.
        """
        return svg(self.picture(colour=colour, order=order, complete=complete))

    def to_png(self, *, colour: str | None = None, order: bool = False, complete: bool = False) -> bytes:
        """The drawing of `to_svg` in pixels. Raises DrawingError without matplotlib."""
        return png(self.picture(colour=colour, order=order, complete=complete))

    def save(self, path: str | Path, *, colour: str | None = None, order: bool = False, complete: bool = False) -> None:
        """Write the drawing of `to_svg` into a file whose name ends in .svg or .png."""
        match Path(path).suffix:
            case ".svg":
                Path(path).write_text(self.to_svg(colour=colour, order=order, complete=complete), encoding="utf-8")
            case ".png":
                Path(path).write_bytes(self.to_png(colour=colour, order=order, complete=complete))
            case _:
                raise DrawingError(f"cannot draw into {path}: the name must end in .svg or .png")

    def picture(self, *, colour: str | None = None, order: bool = False, complete: bool = False) -> Picture:
        """The shapes of the drawing of `to_svg`."""
        return space_layout(self.view(colour=colour, order=order, complete=complete))

    def view(self, *, colour: str | None = None, order: bool = False, complete: bool = False) -> View:
        """What the drawing of `to_svg` shows, wherever it will stand."""
        step = self._step(colour)
        at = self.loops.index(step)
        number = {value: k for k, value in enumerate(sorted({run[at] for run in self.runs}))}
        shown = self.arrows if complete else direct(tuple(self.points), self.arrows)
        tiles = self._tiles()
        return View(
            title=", ".join([f"iterations of {self.axes[0]} and {self.axes[1]} in @{self.function}", *self._given()]),
            axes=self.axes,
            numbers={place: number[of[0][at]] for place, of in self.points.items()},
            tiles=tiles,
            arrows=shown,
            paths=tuple(self._paths()) if order else (),
            notes=(*self._words(step, bool(tiles), len(self.arrows) - len(shown)), *self.notes),
        )

    def _repr_svg_(self) -> str | None:
        try:
            return self.to_svg()
        except DrawingError:  # nobody could read it: notebooks show the words then
            return None

    def __repr__(self) -> str:
        return f"<iterations of {_listed(self.axes)}: {len(self.points)} points, {len(self.arrows)} arrows>"

    def _step(self, colour: str | None) -> str:
        """The loop whose iterations are the steps."""
        if colour is None:
            return next(name for name in self.loops if name not in self.at)
        if colour not in self.loops:
            known = ", ".join(self.loops)
            raise DrawingError(
                f"no loop around the points is called {colour}{nearest(colour, self.loops)}: it is {known}"
            )
        return colour

    def _given(self) -> Iterator[str]:
        yield from (f"{name} = {number}" for name, number in (*self.sizes.items(), *self.at.items()))

    def _tiles(self) -> tuple[tuple[Place, ...], ...]:
        """The points of each iteration of the loops outside, where each point is in one and there are several."""
        outside = self.loops.index(self.axes[0])
        tiles: dict[Iteration, list[Place]] = {}
        for place, of in self.points.items():
            if len({run[:outside] for run in of}) > 1:
                return ()
            tiles.setdefault(of[0][:outside], []).append(place)
        return tuple(map(tuple, tiles.values())) if 1 < len(tiles) < len(self.points) else ()

    def _paths(self) -> Iterator[tuple[Place, ...]]:
        """The points in the order in which they first run, cut where that is no order."""
        path: list[Place] = []
        last: Iteration = ()
        for place, (run, *_) in self.points.items():
            first = next((k for k, (a, b) in enumerate(zip(last, run, strict=False)) if a != b), None)
            if first is not None and self.is_parallel[first]:
                yield tuple(path)
                path = []
            path.append(place)
            last = run
        if path:
            yield tuple(path)

    def _words(self, step: str, has_tiles: bool, left_out: int) -> Iterator[str]:
        yield f"number and colour: the iteration of {step}, counted from 0"
        if has_tiles:
            yield f"box: one iteration of {_listed(self.loops[: self.loops.index(self.axes[0])])}"
        if self.within:
            yield f"a point stands for the whole of {_listed(self.within)}"
        if len(self.runs) > len(self.points):
            others = [name for name in self.loops if name not in (*self.axes, *self.at)]
            yield f"a point stands for all iterations of {_listed(others)}, and has the number of the first"
        if left_out:
            yield f"{left_out} arrow{'s that follow' if left_out > 1 else ' that follows'} from others not shown"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
