"""Loops of quick iterations that stay without vectors: several iterations as straight code, and two rows at once."""

from __future__ import annotations

from copy import copy

from affdsl.ir.core import Lanewise
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.ir.types import ComplexType, FloatType
from affdsl.optimize.attempts import where_legal
from affdsl.optimize.machine import has_large_cache
from affdsl.optimize.nests import Nest, unfit_where_refused
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.passes.analysis.lookups import lookups
from affdsl.passes.analysis.parallelism import of_loop
from affdsl.schedule.schedule import Schedule

ITERATIONS = 4
ROWS = 2
"""How many rows run at once where each is added to the one before it, and how many iterations of both in a row."""
MOST_OPERATIONS = 32
"""How many operations and accesses an iteration has at most: beside more, to count iterations takes no time."""


def take(s: Schedule, nest: Nest) -> tuple[Schedule, str]:
    """The schedule with several iterations of a loop in a row where each may wait for the one before it.

        for i: counts[x[i]] += 1   ->   for i by 4: { counts[x[i]] += 1; counts[x[i + 1]] += 1; ... }

    Additions of integers take so little time that counting iterations counts; others would wait for each other all the
    same. An iteration that only looks small elements up takes little time, too. Raises UnfitError.
    """
    name = nest.name(nest.innermost)
    _require_few(nest)
    if not lookups(nest.innermost):
        _require_quick_order(nest)
    made = copy(s)
    where_legal(made.scalar_replace, [name])
    with unfit_where_refused():
        return made.unroll(name, ITERATIONS), f"{ITERATIONS} of them as straight code"


def take_rows(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with two rows at once, of which one is made of the other and of what is summed up along it.

        for i: { t = 0; for j: { t += x[i, j]; A[i + 1, j] = A[i, j] + t } }

    What one row has just stored is then in a register for the next one. Not where the second cache is large: such
    machines are slow to store in two rows in turn. Raises UnfitError.
    """
    if has_large_cache(options.target):
        raise UnfitError
    _require_few(nest)
    _require_quick_order(nest)
    name, path = nest.name(nest.innermost), nest.loops[:-1]
    if not path or not _reads_row_before(nest.innermost, path[-1]):
        raise UnfitError("no row is made of the one before it")
    outer = nest.names[path[-1].iv]
    with unfit_where_refused():
        made = copy(s).unroll_jam(outer, ROWS).scalar_replace(name).unroll(name, ROWS)
    return made, f"{ROWS} iterations of {outer} at once, and {ROWS} of {name} as straight code"


def _reads_row_before(loop: affine.For, outer: affine.For) -> bool:
    """Whether what a loop loads of arrays that it stores was stored there one iteration of another one before."""
    stored = {op.memref: op.index for op in loop.body if isinstance(op, affine.Store) and op.index}
    loads = [op for op in walk(loop) if isinstance(op, affine.Load) and op.memref in stored]
    next_row = {outer.iv: outer.iv + outer.step}
    return bool(loads) and all(tuple(e.substitute(next_row) for e in op.index) == stored[op.memref] for op in loads)


def _require_few(nest: Nest) -> None:
    """Raise UnfitError for a loop with many operations, and for one that may end after each iteration."""
    if nest.ends_early:
        raise UnfitError
    if sum(isinstance(op, Lanewise | affine.Load | affine.Store) for op in walk(nest.innermost)) > MOST_OPERATIONS:
        raise UnfitError


def _require_quick_order(nest: Nest) -> None:
    """Raise UnfitError for a loop with floats, or whose iterations wait for none before them."""
    loop = nest.innermost
    found = of_loop(nest.dependences, loop.iv)
    ops = [op for op in walk(loop) if op is not loop]
    if found is None or found.verdict == "parallel":
        raise UnfitError  # the compiler of C may make vectors of it
    if any(isinstance(v.type, FloatType | ComplexType) for op in ops for v in (*op.defines(), *op.reads())):
        raise UnfitError
