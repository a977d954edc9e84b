"""The shapes of a drawing, for whoever turns them into a file."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from affdsl.frozen import FrozenValue

Point = tuple[float, float]


class Rectangle(FrozenValue):
    """A box with round corners, from its upper left corner on."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    stroke: str = ""
    radius: float = 0.0
    dashes: tuple[int, ...] = ()


class Curve(FrozenValue):
    """A line: a start, then pieces: (end,) is a straight one, (control, control, end) a Bézier curve."""

    start: Point
    pieces: tuple[tuple[Point, ...], ...]
    stroke: str
    dashes: tuple[int, ...] = ()
    width: float = 1.5


class Triangle(FrozenValue):
    """The head of an arrow."""

    corners: tuple[Point, Point, Point]
    fill: str


class Text(FrozenValue):
    """One line of text in a font whose characters are all as wide; y is its base line."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", printable(self.text))


Shape = Rectangle | Curve | Triangle | Text


class Picture(FrozenValue):
    """Shapes, later ones above earlier ones, on white; y grows downward."""

    title: str
    width: float
    height: float
    shapes: tuple[Shape, ...]


def moved(shape: Shape, by: float) -> Shape:
    """A shape so far to the right."""
    match shape:
        case Rectangle() | Text():
            return replace(shape, x=shape.x + by)
        case Curve(start=(x, y), pieces=pieces):
            there = tuple(tuple((px + by, py) for px, py in piece) for piece in pieces)
            return replace(shape, start=(x + by, y), pieces=there)
        case Triangle(corners=((ax, ay), (bx, b_y), (cx, cy))):
            return replace(shape, corners=((ax + by, ay), (bx + by, b_y), (cx + by, cy)))


def printable(text: str) -> str:
    """Text with a mark for each character that has no picture, such as the end of a line.

    >>> printable("a\\x07b")
    'a\ufffdb'
    """
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


ADVANCE = 0.605
"""How wide a character is, for a font of size 1."""
FONTS = ("DejaVu Sans Mono", "Menlo", "Liberation Mono", "Consolas", "monospace")
