"""A drawing in pixels, by matplotlib, which is only needed here."""

from __future__ import annotations

import importlib
import io
import warnings
from types import ModuleType

from affdsl.passes.drawing.layout import DrawingError
from affdsl.passes.drawing.picture import FONTS, Curve, Picture, Rectangle, Text, Triangle

SCALE = 2
"""Pixels for each unit of the drawing."""
LARGEST = 30_000
"""The most pixels a side may have: beyond that the scale falls."""
ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def png(of: Picture) -> bytes:
    """The bytes of a PNG file. Raises DrawingError where matplotlib is not installed."""
    figures, patches, paths = (_matplotlib(part) for part in ("figure", "patches", "path"))
    scale = min(SCALE, LARGEST / max(of.width, of.height))
    figure = figures.Figure(figsize=(of.width / 72, of.height / 72), dpi=72 * scale, facecolor="#ffffff")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, of.width)
    axes.set_ylim(of.height, 0)
    axes.axis("off")
    for order, shape in enumerate(of.shapes):
        match shape:
            case Rectangle(x, y, width, height, fill, stroke, radius, dashes):
                style = {"facecolor": fill, "edgecolor": stroke or "none", "linewidth": 1.0, "zorder": order}
                if width == height == 2 * radius:
                    patch = patches.Circle((x + radius, y + radius), radius, **style)
                else:
                    box = f"round,pad=0,rounding_size={radius}"
                    patch = patches.FancyBboxPatch((x, y), width, height, boxstyle=box, **style)
                axes.add_patch(_dashed(patch, dashes))
            case Curve(start, pieces, stroke, dashes, width):
                points = [start, *(point for piece in pieces for point in piece)]
                path = paths.Path
                codes = [path.MOVETO]
                for piece in pieces:
                    codes += [path.LINETO] if len(piece) == 1 else [path.CURVE4] * 3
                patch = patches.PathPatch(
                    path(points, codes), facecolor="none", edgecolor=stroke, linewidth=width, zorder=order
                )
                axes.add_patch(_dashed(patch, dashes))
            case Triangle(corners, fill):
                axes.add_patch(patches.Polygon(corners, closed=True, facecolor=fill, linewidth=0, zorder=order))
            case Text(x, y, text, size, fill, anchor, bold):
                axes.text(
                    x, y, text.replace("$", r"\$"), fontsize=size, color=fill, ha=ANCHORS[anchor], va="baseline",
                    family=FONTS[0], weight="bold" if bold else "normal", zorder=order,
                )  # fmt: skip
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # a name in letters that the font lacks
        figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def _dashed(patch: object, dashes: tuple[int, ...]) -> object:
    if dashes:
        patch.set_linestyle((0, dashes))  # type: ignore[attr-defined]
    return patch


def _matplotlib(part: str) -> ModuleType:
    try:
        return importlib.import_module(f"matplotlib.{part}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise DrawingError(
            "a PNG needs matplotlib, which is not installed: pip install 'affdsl[draw]', or draw an SVG"
        ) from None
