"""Recurrences along lines that do not wait for each other: several lines at once, in lanes."""

from __future__ import annotations

from contextlib import suppress
from copy import copy

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math, vector
from affdsl.ir.traverse import walk
from affdsl.ir.types import VectorType
from affdsl.optimize.nests import Nest, lanes_of, names_in
from affdsl.optimize.options import Options
from affdsl.optimize.recipes.unfit import UnfitError, in_one_line
from affdsl.passes.analysis.parallelism import of_loop
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

GATHERED = 0.75
"""How many vectors may be put together from lanes, or taken apart, for each operation on vectors."""

VECTORS = 2
"""How many vectors of lines run at once: one divides while the other waits, and lines far apart are loaded for both."""
ROOMY = 32
"""How many registers a target has that can hold what several vectors of lines hand on."""

SLOW = 4
"""How many additions a division takes as long as, or a square root."""


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with the loop around a recurrence on vectors, and with it all that this loop holds.

        for i: { for j: A[i, j] = S(A[i, j - 1]); for j down: B[j, i] = T(B[j + 1, i], A[i, j]) }

    What a line leaves for its next element stays in a register, in lanes. A recurrence waits for each of its
    iterations, so that lanes pay even where elements of several lines lie far apart. Raises UnfitError.

    References
    ----------
    Hockney and Jesshope, "Parallel Computers 2", ch. 5: many tridiagonal systems at once.
    """
    loops = [op for op in (*nest.around, *nest.band[:-1]) if isinstance(op, affine.For)]
    found = of_loop(nest.dependences, nest.innermost.iv)
    if not loops or found is None or found.verdict != "sequential":
        raise UnfitError  # nothing stands in the way of what it is not
    outer, lanes = nest.names[loops[-1].iv], lanes_of(nest, options)
    made = copy(s)
    for name in names_in(s, outer)[1:]:
        with suppress(IllegalTransform, ScheduleError):
            made.scalar_replace(name)
    try:
        made.vectorize(outer, lanes)
    except (IllegalTransform, ScheduleError) as error:
        raise UnfitError(in_one_line(error)) from None
    ivs = {row.iv for row in made.loops() if row.names[0] == outer}
    if any(isinstance(op, affine.For) and op.iv in ivs and not _pays(op) for op in walk(made.function)):
        raise UnfitError(f"most of {outer} would run lane after lane")
    at_once = lanes
    if options.target.registers >= ROOMY:
        with suppress(IllegalTransform, ScheduleError):
            made.unroll_jam(outer, VECTORS)
            at_once = VECTORS * lanes
    shared = ""
    if options.threads > 1 and len(loops) > 1 and _waits(nest, loops[0]):
        with suppress(IllegalTransform, ScheduleError):
            made.parallel(outer)
            shared = ", on threads"
    return made, f"a recurrence: {at_once} iterations of {outer} run at once, in lanes{shared}"


def _waits(nest: Nest, loop: affine.For) -> bool:
    """Whether iterations of a loop cannot run on threads as they are."""
    found = of_loop(nest.dependences, loop.iv)
    return found is None or found.verdict != "parallel"


def take_carried(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The same for a recurrence that carries its values: vectors of its own iterations are out of the question."""
    if not nest.innermost.results:
        raise UnfitError
    return take(s, nest, options)


def _pays(loop: Op) -> bool:
    """Whether vectors are put together, or taken apart, seldom enough."""
    ops = [*walk(loop)]
    apart = {op.source for op in ops if isinstance(op, vector.Extract)}
    gathered = len(apart) + sum(isinstance(op, vector.FromElements) for op in ops)
    return gathered <= GATHERED * sum(map(_weight, ops))


def _weight(op: Op) -> int:
    """How many additions an operation on vectors takes as long as."""
    if not isinstance(op, arith.Binary | math.Unary | math.Binary | math.Fma):
        return 0
    if not any(isinstance(v.type, VectorType) for v in op.defines()):
        return 0
    return SLOW if isinstance(op, math.Unary) or getattr(op, "kind", "") == "divf" else 1
