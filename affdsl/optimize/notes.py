"""What recipes say of the loops of a schedule, as notes about the loops of the source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from affdsl.explained import Note, SourceLoop
from affdsl.ir.expr import Affine, Constraint
from affdsl.ir.messages import in_language
from affdsl.ir.python_expressions import python
from affdsl.lang.indices import Condition
from affdsl.passes.legality.assumptions import promised
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import Schedule

Notes = list[Note]
_NAME = re.compile(r"%?\b[A-Za-z_]\w*(?:#\d+)?")
SMALLER = "smaller sizes"
"""The sizes of a version for which another note says when it does not run."""


def of(s: Schedule, names: str | Sequence[str], done: str = "", why: str = "") -> Note:
    """A note about loops of a schedule, which gives each its place in the source."""
    wanted = (names,) if isinstance(names, str) else names
    places = {name: row.location for row in s.loops() for name in row.names}
    return Note(tuple(SourceLoop(name, places.get(name)) for name in wanted), done, (why,) if why else ())


def only_for(condition: Condition | None, notes: Iterable[Note], smaller: str = "run as written") -> Notes:
    """Notes that hold for some sizes alone; those that say for which already keep that."""
    if condition is None:
        return [*notes]
    told: Notes = []
    for note in notes:
        if note.done and not note.sizes:  # what smaller ones do is said once
            note = replace(note, sizes=sizes_in(condition), smaller="" if any(each.sizes for each in told) else smaller)
        told.append(note)
    return told


def for_smaller(notes: Sequence[Note]) -> Notes:
    """Notes about the version for sizes that are too small for another one."""
    told = (note.sizes and f", {note.sizes}" for note in notes)
    return [replace(note, sizes=SMALLER + more) if note.done else note for note, more in zip(notes, told, strict=True)]


def sizes_in(condition: Condition) -> str:
    """For which sizes a condition holds, in words that follow "for".

    >>> from affdsl.lang.indices import symbols
    >>> M, N = symbols("M N")
    >>> sizes_in(M + N >= 16), sizes_in((M >= 48) & (N < 9))
    ('M + N of 16 and more', 'M of 48 and more, N of at most 8')
    >>> sizes_in(N >= 8 * M)
    'N of at least 8 * M'
    """
    return ", ".join(map(_sizes, condition.constraints))


def _sizes(constraint: Constraint) -> str:
    expr, number = constraint.expr - constraint.expr.constant, constraint.expr.constant
    gains = Affine(tuple((atom, factor) for atom, factor in expr.terms if factor > 0))
    costs = gains - expr
    if constraint.equality or not expr.terms:
        return promised(constraint)
    if not costs.terms and number < 0:
        return f"{python(gains)} of {-number} and more"
    if not gains.terms:
        return f"{python(costs)} of at most {number}"
    return f"{python(gains)} of at least {python(costs - number)}"


class Source:
    """What loops, arrays and sizes are called in the source: names that steps make up are told by how they begin.

    A schedule calls the second half of a loop `i_2`, the loop over its tiles `i_tile`, one of two loops of the name
    `i#2`, and an array that it copies `A_made`. Nobody wrote these.
    """

    def __init__(self, s: Schedule) -> None:
        arrays = {name.partition("#")[0] for name in arrays_of(s.function)}
        self._loops = {name.partition("#")[0] for row in s.loops() for name in row.names}
        self._own = self._loops | arrays | {v.hint for v in s.function.args}
        self._bases = self._loops | arrays

    def name(self, made: str) -> str:
        """What the user calls what a schedule calls so; the same where the user has no name for it."""
        own = made.removeprefix("%").partition("#")[0]
        stem = own
        while stem:
            if stem in self._own:
                return stem
            stem = stem.rpartition("_")[0]
        copied = own.partition("_")[0].rstrip("0123456789")  # a loop over the elements of an array that is copied
        return f"the copy of {copied}" if copied in self._bases else made

    def text(self, text: str) -> str:
        """A text in which everything has the name that the user gave to it."""
        return _NAME.sub(lambda found: self.name(found[0]), in_language(text))

    def note(self, note: Note) -> Note:
        """A note about the loops of the source, in their names."""
        named = [replace(loop, name=self.name(loop.name)) for loop in note.loops]
        return replace(
            note,
            loops=tuple(dict.fromkeys(named)),
            done=_without_repetition(self.text(note.done)),
            why=tuple(dict.fromkeys(map(self.text, note.why))),
            sizes=self.text(note.sizes),
            more=tuple(map(self.text, note.more)),
        )


def _without_repetition(text: str) -> str:
    """A list of things done without those that were said before: of parts of one loop the same may be true.

    >>> _without_repetition("a; b; a"), _without_repetition("in strips (a; a; b)")
    ('a; b', 'in strips (a; b)')
    """
    inner = re.fullmatch(r"(.*)\((.*)\)", text)
    if inner is not None:
        return f"{_without_repetition(inner[1])}({_without_repetition(inner[2])})"
    return "; ".join(dict.fromkeys(text.split("; ")))


def told(notes: Iterable[Note], source: Source) -> Notes:
    """Notes in the order in which they were made, in names of the source, each thing said once.

    Versions and parts of a loop are one loop of the source: of those of which the same was done, the first stands.
    """
    found: dict[tuple[object, ...], Note] = {}
    for note in map(source.note, notes):
        found.setdefault((note.loops, note.done, note.sizes, note.more) if note.done else (note.loops, note.why), note)
    return [*found.values()]
