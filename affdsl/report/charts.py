"""The roofline of this machine with the nests of a kernel below it, as an SVG by matplotlib."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence

from affdsl.codegen.roofline import Roofline
from affdsl.report.packages import package
from affdsl.report.times import NestTime

INK, LINES = "#808a97", ("#3b82c4", "#c4803b")
"""Colours that can be read on a light page and on a dark one."""


def roofline_chart(rooflines: Mapping[int, Roofline], nests: Sequence[NestTime], type: str) -> str:
    """The drawing: operations a second by operations a byte, for numbers of a type; empty where nothing is to be drawn.

    A nest without floating-point operations, or of which it is not known how many they are, is not in it.
    """
    shown = [nest for nest in nests if nest.intensity > 0 and nest.flops_per_second > 0]
    if not shown:
        return ""
    figure = package("matplotlib.figure").Figure(figsize=(7.5, 3.6))
    figure.patch.set_alpha(0)
    axes = figure.add_axes((0.09, 0.14, 0.89, 0.83))
    axes.patch.set_alpha(0)
    low = min(0.03, *(nest.intensity / 2 for nest in shown))
    high = max(100.0, *(nest.intensity * 2 for nest in shown))
    for (threads, roof), colour in zip(sorted(rooflines.items()), LINES, strict=False):
        top = roof.flops.get(type, roof.flops["f32"]) * 1e-9
        of = f"{threads} thread{'s' * (threads > 1)}"
        for level, dashes in zip(roof.levels, ("-", "--", "-.", ":"), strict=False):
            slope = level.bandwidth * 1e-9
            places = sorted({low, min(max(low, top / slope), high), high})  # where it bends
            axes.plot(
                places,
                [min(top, place * slope) for place in places],
                dashes,
                color=colour,
                linewidth=1.2,
                label=f"{level.name}, {of}",
            )
    for number, nest in enumerate(shown, 1):
        axes.plot([nest.intensity], [nest.flops_per_second * 1e-9], "o", color="#d0405c", markersize=6)
        place = (nest.intensity, nest.flops_per_second * 1e-9)
        axes.annotate(str(number), place, xytext=(6, 4), textcoords="offset points", color="#d0405c")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("operations for each byte that has to move", color=INK)
    axes.set_ylabel(f"GFLOP/s of {type}", color=INK)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(package("matplotlib.ticker").NullLocator())
        axis.set_major_formatter("{x:g}")
    axes.tick_params(colors=INK)
    for spine in axes.spines.values():
        spine.set_color(INK)
    axes.grid(visible=True, which="major", color=INK, alpha=0.25)
    axes.legend(fontsize=7, frameon=False, labelcolor=INK, loc="lower right")
    return _svg(figure.savefig)


def _svg(save: Callable[..., None]) -> str:
    """The text, without what stands before it in a file of its own."""
    file = io.StringIO()
    with package("matplotlib").rc_context({"svg.fonttype": "none", "svg.hashsalt": "affdsl"}):
        save(file, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    return text.replace("<svg ", '<svg role="img" aria-label="The nests below the roofline" ', 1)
