"""Colours of plots that are readable on a light and on a dark page."""

from __future__ import annotations

import io
import re

from matplotlib.figure import Figure

INK, PAPER, MUTED, STRICT, ALLOWED, SLOWER = "#1f2328", "#fefefe", "#8c959f", "#0b5fa5", "#d97a06", "#f3f4f6"
DARK = {INK: "#e6edf3", PAPER: "#131416", MUTED: "#7d8590", STRICT: "#58a6ff", ALLOWED: "#f0a33e", SLOWER: "#22262c"}
"""What each colour is where the reader's page is dark. The picture brings its own background, so that it is readable
wherever a page is of another opinion than the browser."""
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "affdsl", "font.family": "sans-serif", "font.size": 9}
COLOURS = {"strict": STRICT, "allowed": ALLOWED}
"""Of the rows."""


def svg(figure: Figure, title: str) -> str:
    """A figure as text, whose colours follow the reader's page."""
    out = io.StringIO()
    figure.savefig(out, format="svg", facecolor=PAPER, metadata={"Date": None, "Creator": None, "Title": title})
    rules = "".join(
        f'[style*="{kind}: {light}"]{{{kind}:{dark} !important}}'
        for light, dark in DARK.items()
        for kind in ("fill", "stroke")
    )
    style = f"<style>@media (prefers-color-scheme: dark) {{{rules}}}</style>"
    text = re.sub(r"(</style>)", rf"\1\n  {style}", out.getvalue(), count=1)
    return re.sub(r"[ \t]+$", "", text, flags=re.M)
