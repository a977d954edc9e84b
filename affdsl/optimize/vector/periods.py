"""Loops that do something else with every k-th iteration: as many vectors, or steps, in a row as begin anew."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from math import gcd, lcm

from affdsl.ir.dialects import affine
from affdsl.ir.expr import FloorDiv, Value, parts_of
from affdsl.ir.traverse import affine_exprs, walk
from affdsl.optimize.nests import Nest, is_lane_by_lane, nests_in, require_loop, unfit_where_refused
from affdsl.optimize.notes import Notes
from affdsl.optimize.options import Options
from affdsl.optimize.size import is_long
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.schedule import IllegalTransform, Schedule

MOST = 8
"""How many vectors are straight code at most."""
SHORTEST = 4
"""Of so many remainders at most each has iterations of its own: more are shuffled longer than they gain."""


def take(s: Schedule, nest: Nest, lanes: int) -> tuple[Schedule, str]:
    """The schedule with an innermost loop on vectors in which remainders of its counter are numbers.

        for i: y[i] = w[i mod 3]   ->   for i by 24: { y[i : i + 8] = w[0 1 2 0 1 2 0 1]; y[i + 8 : i + 16] = ... }

    Conditions on remainders are constant masks then, and elements that they choose are loaded before the loop. Where
    that leaves quotients, as in x[i // 2], or most would be done lane by lane, each remainder has iterations of its
    own. Raises UnfitError where there are none, or too many.
    """
    loop = nest.innermost
    divisors = [part.divisor for part in _quotients(loop, loop.iv)]
    period = lcm(*(each for each in divisors if isinstance(each, int)))
    if not divisors:
        raise UnfitError
    with suppress(UnfitError):
        return _in_each_lane(s, nest, lanes, period)
    return _one_by_one(s, nest, lanes, period)


def _in_each_lane(s: Schedule, nest: Nest, lanes: int, period: int) -> tuple[Schedule, str]:
    """The schedule with so many vectors in a row that lanes have the same remainders again. Raises UnfitError."""
    loop, name = nest.innermost, nest.name(nest.innermost)
    vectors = period // gcd(period, lanes * loop.step)
    if vectors > MOST:
        raise UnfitError
    made = copy(s)
    with unfit_where_refused():
        try:
            made.vectorize(name, lanes, tail="overlapped")
        except IllegalTransform:  # what updates its elements does so once
            made.vectorize(name, lanes)
        if vectors > 1:
            made.unroll(name, vectors)
        made.hoist(name)
    if _quotients(require_loop(made, name), loop.iv) or is_lane_by_lane(made, name) or is_long(made, s):
        raise UnfitError
    several = f", {vectors} in a row" if vectors > 1 else ""
    return made, f"{name} runs on vectors of {lanes}{several}, in which each lane knows its remainders"


def _one_by_one(s: Schedule, nest: Nest, lanes: int, period: int) -> tuple[Schedule, str]:
    """The schedule with an iteration for each remainder as straight code, which has quotients of its own.

        for i < 2 * n: y[i] = x[i // 2]   ->   for i < n: { y[2 * i] = x[i]; y[2 * i + 1] = x[i] }, on vectors

    Raises UnfitError.
    """
    name, made = nest.name(nest.innermost), copy(s)
    if period > SHORTEST or nest.innermost.step != 1:
        raise UnfitError
    with unfit_where_refused():
        made.unroll(name, period).normalize(name)
        made.vectorize(name, lanes, tail="overlapped")
    if is_lane_by_lane(made, name) or is_long(made, s):
        raise UnfitError
    return made, f"{name} runs on vectors of {lanes}, for each of {period} remainders"


def _quotients(loop: affine.For, iv: Value) -> list[FloorDiv]:
    """The quotients inside of a loop that a counter decides."""
    parts = (part for op in walk(loop) if op is not loop for e in affine_exprs(op) for part in parts_of(e))
    return [part for part in parts if isinstance(part, FloorDiv) and iv in part.reads]


COLOURS = 2
"""So many iterations become straight code: each of their conditions has a loop where it holds, and one where not."""
MOST_ASKED = 16
"""So many conditions are asked before a loop at most: those that do not depend on each other double its versions."""


def take_colours(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
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
        if asked > MOST_ASKED:
            raise UnfitError
        names += [name, *(row.names[0] for row in s.made)]


def _asks_for_parity(loop: affine.For) -> bool:
    """Whether a loop holds conditions alone, one of which is an equation with a remainder by two of its counter."""
    asked = [c for op in loop.body if isinstance(op, affine.If) for c in op.condition if c.equality]
    quotients = [part for c in asked for part in parts_of(c.expr) if isinstance(part, FloorDiv)]
    are_conditions = all(isinstance(op, affine.If | affine.Yield) for op in loop.body)
    return are_conditions and any(each.divisor == COLOURS and loop.iv in each.reads for each in quotients)
