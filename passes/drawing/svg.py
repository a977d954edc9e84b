"""A drawing as the text of an SVG file."""

from __future__ import annotations

from html import escape

from affdsl.passes.drawing.picture import FONTS, Curve, Picture, Point, Rectangle, Shape, Text, Triangle, printable


def svg(of: Picture) -> str:
    """The text of a file that browsers and editors show.

    >>> print(svg(Picture("a <box>", 40, 20, (Rectangle(5, 5, 30, 10, "#ffffff", "#000000"),))))
    <svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" viewBox="0 0 40 20" role="img">
    <title>a &lt;box&gt;</title>
    <rect width="100%" height="100%" fill="#ffffff"/>
    <rect x="5" y="5" width="30" height="10" fill="#ffffff" stroke="#000000"/>
    </svg>
    <BLANKLINE>
    """
    width, height = _n(of.width), _n(of.height)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{escape(printable(of.title), quote=False)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *map(_shape, of.shapes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _shape(shape: Shape) -> str:
    match shape:
        case Rectangle(x=x, y=y, width=width, height=height, fill=fill, stroke=stroke, radius=radius, dashes=dashes):
            round_ = f' rx="{_n(radius)}"' if radius else ""
            line = f' stroke="{stroke}"{_dashes(dashes)}' if stroke else ""
            place = f'x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'
            return f'<rect {place}{round_} fill="{fill}"{line}/>'
        case Curve(start=start, pieces=pieces, stroke=stroke, dashes=dashes, width=width):
            path = f"M{_point(start)}" + "".join(
                ("L" if len(piece) == 1 else "C") + " ".join(map(_point, piece)) for piece in pieces
            )
            return f'<path d="{path}" fill="none" stroke="{stroke}" stroke-width="{_n(width)}"{_dashes(dashes)}/>'
        case Triangle(corners=corners, fill=fill):
            return f'<polygon points="{" ".join(map(_point, corners))}" fill="{fill}"/>'
        case Text(x=x, y=y, text=text, size=size, fill=fill, anchor=anchor, bold=bold):
            rest = f' text-anchor="{anchor}"' if anchor != "start" else ""
            rest += ' font-weight="bold"' if bold else ""
            family = f'"{escape(", ".join(FONTS))}"'
            return (
                f'<text x="{_n(x)}" y="{_n(y)}" font-family={family} font-size="{_n(size)}" fill="{fill}"{rest} '
                f'xml:space="preserve">{escape(text, quote=False)}</text>'
            )


def _point(point: Point) -> str:
    return f"{_n(point[0])},{_n(point[1])}"


def _dashes(dashes: tuple[int, ...]) -> str:
    return f' stroke-dasharray="{" ".join(map(str, dashes))}"' if dashes else ""


def _n(number: float) -> str:
    """A number with at most one digit behind the point."""
    text = f"{number:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
