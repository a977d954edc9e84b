"""Loops in lanes, a strip at a time: elements that lie apart from one lane to the next are copied side by side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import copy

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import holders, walk
from affdsl.ir.types import MemRefType
from affdsl.optimize.attempts import names_made, where_legal
from affdsl.optimize.nests import (
    loop_called,
    names_in,
    nest_called,
    on_vectors,
    require_loop,
    unfit_where_refused,
)
from affdsl.optimize.options import Options
from affdsl.optimize.order import transposes
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import Schedule

VECTORS = 4
"""How many vectors a strip has: what several arrays have of it, for rows of 1000 numbers, is in the second cache."""
TURNED = 2
"""How many it has where squares are turned in registers, which hold no more."""
GATHERED = 2
"""So many vectors that are put together, or taken apart, take as long as one that is copied in a block of lines."""


def take(s: Schedule, name: str, lanes: int, gathered: int, options: Options) -> tuple[Schedule, str]:
    """The schedule with a loop around others on vectors, in strips, with copies in which each vector is in one piece.

        for t, i: { for j: p[i, j] = S(p[i, j - 1], u[j, i]); for j down: v[j, i] = T(v[j + 1, i], p[i, j]) }
            ->  for t, i by 16: for lanes i: { for j: p_fast[j, i] = ...; for j down: v[j, i] = ... p_fast[j, i] }

    What every iteration of a loop around writes again before anything reads it is in the copy alone, and taken back in
    the last one. What else lies apart is turned in registers (`turned`), or copied as well where that cannot be: then
    it pays where few vectors are copied in place of many that are `gathered` in each iteration, lane by lane. Raises
    UnfitError.

    References
    ----------
    Tu and Padua, "Automatic array privatization", LCPC 1993; Zhang, Cohen and Owens, "Fast tridiagonal solvers on the
    GPU", PPoPP 2010, for many systems in lanes.
    """
    with suppress(UnfitError):
        return _in_strips(s, name, lanes, None, options)
    return _in_strips(s, name, lanes, gathered, options)


def turned(s: Schedule, name: str, lanes: int) -> Schedule:
    """The schedule with as many iterations of the loops inside of one on vectors at once as make squares.

        for i in 8 lanes: for j: x[i, j] = S(x[i, j - 1])   ->   for i in 8 lanes: for j by 8: { load rows; turn; ... }

    Raises UnfitError where a loop that gathers lanes has no squares, and where none does.
    """
    made = copy(s)
    gathering = [each for each in names_in(s, name)[1:] if lanes_apart(require_loop(s, each))]
    if not gathering:
        raise UnfitError
    for inner in gathering:
        with unfit_where_refused():
            made.unroll(inner, lanes)
        loop = loop_called(made, inner)
        if loop is None or lanes_apart(loop):
            raise UnfitError("its lanes lie in no squares")
    return made


def lanes_apart(loop: Op) -> int:
    """How many vectors are put together, or taken apart, in a loop."""
    ops = [*walk(loop)]
    apart = {op.source for op in ops if isinstance(op, vector.Extract)}
    return len(apart) + sum(isinstance(op, vector.FromElements) for op in ops)


def _in_strips(s: Schedule, name: str, lanes: int, gathered: int | None, options: Options) -> tuple[Schedule, str]:
    """The schedule as `take` has it, with copies of all that lies apart, or of what no copy is taken back of (None)."""
    made = copy(s)
    with unfit_where_refused():
        apart = [*_apart(made, name)]
        made.strip_mine(name, VECTORS * lanes)
        (strip,) = names_made(made)
        if options.threads > 1:
            where_legal(made.parallel, [strip])
        left = 0
        for array, layout in apart:
            made.copy(array, name, layout=layout, private=True)
            if gathered is None and _beside(made, name):
                made.undo()
                left += 1
        if left == len(apart):
            raise UnfitError
        copied = _beside(made, name)
        if gathered is not None and GATHERED * len(copied) >= gathered:
            raise UnfitError
        where_legal(made.scalar_replace, names_in(made, name)[1:])
        if left:
            made.vectorize(name, lanes, tail=options.tail).unroll_jam(name, TURNED)
            made = turned(made, name, lanes)
        else:
            on_vectors(made, name, lanes, options.tail).unroll_jam(name, VECTORS)
    for each in copied:
        nest = nest_called(made, each)
        if nest is not None:
            with suppress(UnfitError):
                made, _ = transposes.take(made, nest, options)
    shared = ", which threads share" if any(r.is_parallel for r in made.loops() if r.names[0] == strip) else ""
    rows = TURNED if left else VECTORS
    said = f"a recurrence: {rows * lanes} iterations of {name} run at once, in lanes"
    in_registers = ", or turned in registers" if left else ""
    return made, f"{said}, on copies in which these are side by side{in_registers}{shared}"


def _beside(s: Schedule, name: str) -> list[str]:
    """The innermost loops of the copies that are made in front of a loop, or behind it, under no condition."""
    loop = require_loop(s, name)
    block = next(block for op in holders(s.function) for block in op.blocks() if loop in block)
    found = {op.iv: op for op in block if isinstance(op, affine.For) and op is not loop}
    return [names_in(s, row.names[0])[-1] for row in s.loops() if row.iv in found]


def _apart(s: Schedule, name: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The arrays that a loop moves through in large steps, with the order of dimensions in which these are small.

    Raises UnfitError where that is none, or another one for each access.
    """
    loop = require_loop(s, name)
    axes: dict[Value, set[int]] = {}
    for op in walk(loop):
        if isinstance(op, affine.Access):
            axes.setdefault(op.memref, set()).update(k for k, e in enumerate(op.index) if loop.iv in e.values())
    for array, value in arrays_of(s.function).items():
        rank, found = value.type.rank if isinstance(value.type, MemRefType) else 0, axes.get(value, set())
        if found <= {rank - 1}:
            continue
        if len(found) > 1:
            raise UnfitError
        (axis,) = found
        yield array, (*(k for k in range(rank) if k != axis), axis)
