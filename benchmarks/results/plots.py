"""The plots of the page and of the README, as SVG that is readable on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from benchmarks.results import story
from benchmarks.results.colours import COLOURS, INK, MUTED, PAPER, SLOWER, STYLE, svg
from benchmarks.results.page import SUITES
from benchmarks.results.rows import Results, names

TICKS = (0.5, 1, 2, 4, 8, 16, 32, 64, 128)


def drawn(results: Results) -> Mapping[str, str]:
    """The files of the plots, by their names."""
    return {"results.svg": speed(results), "story.svg": story.drawn(results)}


def speed(results: Results) -> str:
    """Each kernel as a point for each row, sorted: how many times longer the best peer takes."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.4, 4.6), facecolor=PAPER)
        suites = ("polybench", "everyday", "matmul")
        counts = [len(names(results.of(suite, "strict"))) for suite in suites]
        parts = figure.subplots(1, 3, sharey=True, width_ratios=[count + 6 for count in counts])
        for axes, suite in zip(parts, suites, strict=True):
            panel(axes, results, suite)
        ratios = [row.ratio for suite in suites for kind in COLOURS for row in results.of(suite, kind)]
        parts[0].set_ylim(min(0.45, 0.9 * min(ratios)))
        parts[0].set_ylabel("times as fast as the peer", color=INK)
        parts[0].set_yticks([tick for tick in TICKS if tick <= max(ratios)])
        for axes in parts:
            axes.axhspan(parts[0].get_ylim()[0], 1, color=SLOWER, zorder=0, linewidth=0)
        handles = [parts[0].plot([], [], "o", color=COLOURS[kind], markersize=4)[0] for kind in COLOURS]
        words = ["strict: the same to the bit", "everything allowed, here and there"]
        parts[0].legend(handles, words, loc="upper left", frameon=False, labelcolor=INK)
        figure.subplots_adjust(left=0.06, right=0.995, top=0.85, bottom=0.27, wspace=0.03)
        return svg(figure, "How many times as fast as its peers affdsl is, for each kernel")


def panel(axes: Axes, results: Results, suite: str) -> None:
    """One suite, sorted by its first row."""
    found = {kind: {row.name: row for row in results.of(suite, kind)} for kind in COLOURS}
    order = sorted(found["strict"], key=lambda name: found["strict"][name].ratio)
    for kind, rows in found.items():
        places = [place for place, name in enumerate(order) if name in rows]
        ratios = [rows[name].ratio for name in order if name in rows]
        axes.plot(places, ratios, "o", color=COLOURS[kind], markersize=3.6, zorder=3)
    for place, name in enumerate(order):
        both = [rows[name].ratio for rows in found.values() if name in rows]
        axes.plot([place, place], [min(both), max(both)], color=MUTED, linewidth=0.8, zorder=2)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.axhline(1, color=INK, linewidth=1, zorder=1)
    axes.set_xlim(-1, len(order))
    axes.set_xticks(range(len(order)), order, rotation=90, fontsize=6.5)
    about = SUITES[suite]
    words = f"{about.title}\nbeside {about.peers}\n{means(results, suite)}"
    axes.set_title(words, color=INK, fontsize=8.5, loc="right" if len(order) < 12 else "center")
    axes.set_facecolor(PAPER)
    axes.tick_params(colors=INK, length=2)
    axes.grid(axis="y", color=MUTED, alpha=0.35, linewidth=0.5)
    for spine in axes.spines.values():
        spine.set_visible(False)


def means(results: Results, suite: str) -> str:
    """Geometric means, as the table has them."""
    return f"mean {results.mean(suite, 'strict'):.2f}, {results.mean(suite, 'allowed'):.2f}"
