"""Loops of which every second iteration does something: in steps of two, with one question before each row."""

from __future__ import annotations

from copy import copy

from affdsl.ir.dialects import affine
from affdsl.ir.expr import FloorDiv, parts_of
from affdsl.optimize.nests import nests_in, unfit_where_refused
from affdsl.optimize.notes import Notes
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.schedule import IllegalTransform, Schedule

COLOURS = 2
"""So many iterations become straight code: each of their conditions has a loop where it holds, and one where not."""
MOST = 16
"""So many conditions are asked before a loop at most: those that do not depend on each other double its versions."""


def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with innermost loops that ask for the parity of their counter unrolled by two, and asked before.

        for j: if (i + j) % 2 == c: S(j)
            ->   if i % 2 == c: for j by 2: S(j)    else: for j by 2: S(j + 1)

    So sweeps by colour, which store every second element in place, run without branches. Raises UnfitError.
    """
    made = copy(s)
    notes: Notes = []
    for nest in nests_in(s, root):
        if nest.has_vectors or nest.innermost.step != 1 or not _asks_for_parity(nest.innermost):
            continue
        name = nest.name(nest.innermost)
        with unfit_where_refused():
            made.unroll(name, COLOURS)
            made.unswitch(name)
        _ask_before(made, [name, *(row.names[0] for row in made.made)])
        notes.append(nest.note(f"every second iteration of {name}, which one condition before it chooses"))
    if not notes:
        raise UnfitError
    return made, notes


def _ask_before(s: Schedule, names: list[str]) -> None:
    """Ask before some loops, and those that come of them, all that does not depend on these.

    Raises UnfitError where that is too much.
    """
    asked = 1
    while names:
        name = names.pop()
        try:
            s.unswitch(name)
        except IllegalTransform:
            continue
        asked += 1
        if asked > MOST:
            raise UnfitError
        names += [name, *(row.names[0] for row in s.made)]


def _asks_for_parity(loop: affine.For) -> bool:
    """Whether a loop holds conditions alone, one of which is an equation with a remainder by two of its counter."""
    asked = [c for op in loop.body if isinstance(op, affine.If) for c in op.condition if c.equality]
    quotients = [part for c in asked for part in parts_of(c.expr) if isinstance(part, FloorDiv)]
    are_conditions = all(isinstance(op, affine.If | affine.Yield) for op in loop.body)
    return are_conditions and any(each.divisor == COLOURS and loop.iv in each.reads for each in quotients)
