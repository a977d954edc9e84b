"""What a page says, as data: the names that `files/page.html` reads."""

from __future__ import annotations

from dataclasses import dataclass

from affdsl import __version__
from affdsl.report.considered import ConsideredNest
from affdsl.report.timeline import ShownStep


@dataclass(frozen=True)
class ShownCause:
    """A cause with the line that it is about."""

    what: str
    instead: str
    place: str
    line_key: str


@dataclass(frozen=True)
class ShownLoop:
    """A loop of the source with its verdict."""

    key: str
    name: str
    place: str
    depth: int
    line_key: str
    lines: str
    time: str
    percent: int
    tags: tuple[str, ...]
    sentences: tuple[str, ...]
    roof: str
    causes: tuple[ShownCause, ...]
    steps: str


@dataclass(frozen=True)
class ShownTry:
    """Something to try, with what it gains."""

    kind: str
    title: str
    gain: str
    time: str
    percent: int
    why: str
    code: str
    loops: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ShownLine:
    """A line of a column, in HTML; `stop` if it is where the Tab key enters the column: from there arrows move."""

    number: str
    html: str
    of: str
    id: str
    stop: bool


@dataclass(frozen=True)
class ShownColumn:
    """A column of lines."""

    id: str
    title: str
    note: str
    lines: tuple[ShownLine, ...]


@dataclass(frozen=True)
class Report:
    """All that a page says: the names that `files/page.html` reads."""

    name: str
    signature: str
    lead: str
    facts: tuple[tuple[str, str], ...]
    advice: ShownTry | None
    loops_note: str
    loops: tuple[ShownLoop, ...]
    next_note: str
    tried: tuple[ShownTry, ...]
    no_gain: tuple[ShownTry, ...]
    advised: tuple[ShownCause, ...]
    columns: tuple[ShownColumn, ...]
    steps_note: str
    notes: str
    steps: tuple[ShownStep, ...]
    search_note: str
    considered: tuple[ConsideredNest, ...]
    roofs_note: str
    roofline: str
    profile: str
    version: str = __version__
