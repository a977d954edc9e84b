"""One picture of what affdsl is about: a refusal with its two iterations, the schedule that is legal, and the speed."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import affdsl as af
from benchmarks.results.colours import ALLOWED, COLOURS, INK, MUTED, PAPER, SLOWER, STRICT, STYLE, svg
from benchmarks.results.page import TITLES
from benchmarks.results.rows import ROWS, Results

N = af.symbols("N")
TILE, SIZES = (2, 3), {"steps": 4, "N": 8}
PROGRAM = "seidel-2d"
"""The program of PolyBench that has the loops of the picture."""


@af.kernel
def seidel(A: af.f64[N, N], steps: af.index):
    """Sweeps in place."""
    with af.for_(steps) as t, af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:  # noqa: F841 - what the loop is called
        A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5


def drawn(results: Results) -> str:
    """The picture, as SVG."""
    found, advice = refusal()
    schedule = af.Schedule(seidel).skew("t", "i", 1)
    schedule.tile(("t", "i"), TILE)  # which is legal now, or would raise
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.4, 3.3), facecolor=PAPER)
        before, after, speed = figure.subplots(1, 3, width_ratios=(1, 1.35, 1.1))
        space(before, f's.tile(("t", "i"), {TILE})  is refused', found, skew=0)
        before.set_xlabel(f"the arrow leads into a tile that runs earlier\nlegal: {advice}", color=INK)
        space(after, f's.skew("t", "i", 1).tile(("t", "i"), {TILE})  is legal', found, skew=1)
        after.set_xlabel("every arrow leads into the same tile or a later one,\nproved for all N and steps", color=INK)
        bars(speed, results)
        figure.subplots_adjust(left=0.04, right=0.985, top=0.88, bottom=0.24, wspace=0.22)
        return svg(figure, "A refusal with two iterations, a schedule that is legal, and the speed")


def refusal() -> tuple[Sequence[tuple[int, ...]], str]:
    """Two iterations that the tiles would run in the wrong order, and what is legal instead, as affdsl says it."""
    try:
        af.Schedule(seidel).tile(("t", "i"), TILE)
    except af.IllegalTransform as error:
        if error.witness is not None:
            return (error.witness.source, error.witness.sink), str(error.alternative)
    raise AssertionError("these tiles are refused, with two iterations")


def space(axes: Axes, title: str, wrong: Sequence[tuple[int, ...]], *, skew: int) -> None:
    """The iterations of `t` and `i` with tiles around them, and the two of the refusal."""
    rows, last = SIZES["steps"], SIZES["N"] - 2
    for t_tile in range(0, rows, TILE[0]):
        for i_tile in range(1 + skew * t_tile, last + 1 + skew * (rows - 1), TILE[1]):
            corner = i_tile - 0.45, t_tile - 0.45
            axes.add_patch(Rectangle(corner, TILE[1] - 0.1, TILE[0] - 0.1, facecolor=SLOWER, edgecolor=MUTED, zorder=0))
    points = [(i + skew * t, t) for t in range(rows) for i in range(1, last + 1)]
    axes.plot(*zip(*points, strict=True), "o", color=STRICT, markersize=4)
    (t0, i0, *_), (t1, i1, *_) = wrong
    ends = (i0 + skew * t0, t0), (i1 + skew * t1, t1)
    axes.annotate("", ends[1], ends[0], arrowprops={"arrowstyle": "-|>", "color": ALLOWED, "lw": 1.6, "shrinkB": 4})
    axes.plot(*zip(*ends, strict=True), "o", color=ALLOWED, markersize=6)
    axes.set_title(title, color=INK, fontsize=8.5, family="monospace")
    axes.set_ylabel("t", color=INK, rotation=0)
    axes.set_aspect("equal")
    _plain(axes)


def bars(axes: Axes, results: Results) -> None:
    """How many times as fast as the best peer such a program is."""
    rows = [row for kind in reversed(ROWS) for row in results.of("polybench", kind) if row.name == PROGRAM]
    for place, row in enumerate(rows):
        axes.barh([place], [row.ratio], color=COLOURS[row.row], height=0.5)
        axes.text(row.ratio, place, f" {row.ratio:.2f} x {row.best}", color=INK, va="center")
    axes.set_yticks(range(len(rows)), [TITLES[row.row].replace(" ", "\n") for row in rows])
    axes.axvline(1, color=INK, linewidth=1)
    axes.set_xlim(0, 1.5 * max(row.ratio for row in rows))
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.set_title("seidel.optimize()", color=INK, fontsize=8.5, family="monospace")
    axes.set_xlabel(f"{PROGRAM} of PolyBench on one thread: times\nas fast as the best of gcc, clang, Polly", color=INK)
    _plain(axes)


def _plain(axes: Axes) -> None:
    axes.set_facecolor(PAPER)
    axes.tick_params(colors=INK, length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
