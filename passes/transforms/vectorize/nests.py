"""Runs iterations of several perfectly nested loops at once, as the lanes of vectors with as many dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.dialects.vector import MOST_LANES
from affdsl.ir.expr import Atom, Term, Value
from affdsl.ir.traverse import with_fields
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.semi_affine import without_semi_affine
from affdsl.passes.analysis.trip_count import trip_count
from affdsl.passes.legality.proposals import Proposal
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.require import require_order
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import band_of, replaced
from affdsl.passes.transforms.vectorize.boxes import Box, widen
from affdsl.passes.transforms.vectorize.statements import numbered


def require_lanes(loop: Op, what: str, lanes: int) -> None:
    """Refuse vectors that are too long."""
    if lanes > MOST_LANES:
        raise refusal(loop, what, f"a vector would have {lanes} lanes, and {MOST_LANES} is the most")


def vectorize_nest(
    function: Func, ivs: Value | Sequence[Value], widths: int | Sequence[int], *, tail: str, module: Module | None
) -> Func:
    """Run a box of iterations of perfectly nested loops at once: each statement for all of them.

        for i: for j: B[j, i] = A[i, j]   ->   for i step 4: for j step 8: B[j : j + 8, i : i + 4] = A[...] transposed

    Dimension k of the vectors is the loop that is given as the k-th. Iterations that are left over are lanes of
    vectors of which not all run, if `tail` is "masked" or "folded". Raises IllegalTransform.
    """
    if not isinstance(ivs, Sequence) or not isinstance(widths, Sequence):
        raise ValueError("each loop has a width of its own: give as many of them as loops")
    what = f"vectorize loops {', '.join(map(name, ivs))} by {', '.join(map(str, widths))}"
    if len(ivs) != len(widths) or any(width < 2 for width in widths):
        raise ValueError(f"each loop has a width of 2 lanes or more: got {len(ivs)} loops and {list(widths)}")
    band = band_of(function, ivs, what)
    require_lanes(band[0], what, prod(widths))
    dependences = Dependences(function, module)
    width_of = dict(zip(ivs, widths, strict=True))
    _require_rectangle(band, what)
    counts = [trip_count(loop, loop.iv, dependences.accesses) for loop in band]
    parts = frozenset(
        loop.iv
        for loop, trips in zip(band, counts, strict=True)
        if trips.unknown or trips.divisor % width_of[loop.iv] != 0
    )
    for loop in band:
        if loop.iv in parts and tail not in ("masked", "folded"):
            reason = f"the number of iterations of {name(loop.iv)} is not known to be a multiple of {width_of[loop.iv]}"
            raise refusal(loop, what, reason, Proposal(options=(("tail", "masked"),)))
    _require_order(band, width_of, dependences, what)
    loops = {loop.iv: loop for loop in band}
    box = Box(band[0], [loops[iv] for iv in ivs], tuple(widths), parts, what)
    with box.new_block() as inside:
        widen(box, band[-1].body)
    body: Block = tuple(inside)
    for loop in reversed(band):
        wide = with_fields(loop, step=loop.step * width_of[loop.iv], body=body, written=None)
        body = (wide,)
    return replaced(function, band[0], *body)


def _require_rectangle(band: Sequence[affine.For], what: str) -> None:
    """Raise IllegalTransform if bounds differ from lane to lane, or are several at the start."""
    ivs = {loop.iv for loop in band}
    for loop in band:
        if len(loop.lower) > 1:
            raise refusal(loop, what, f"{name(loop.iv)} begins at the largest of several numbers")
        outer = next((v for e in (*loop.lower, *loop.upper) for v in e.values() if v in ivs), None)
        if outer is not None:
            raise refusal(loop, what, f"the bounds of {name(loop.iv)} depend on {name(outer)}", "one loop alone")


def _require_order(band: Sequence[affine.For], width_of: dict[Value, int], dependences: Dependences, what: str) -> None:
    """Raise IllegalTransform unless every dependence within a box runs from earlier statements to later ones."""
    fixed: dict[Atom, Value] = {}
    groups = [(loop.iv - without_semi_affine(loop.lower[0], fixed)) // (loop.step * width_of[loop.iv]) for loop in band]
    places: dict[Op, tuple[Term, ...]] = {}
    numbered(band[-1].body, (), places)

    def time(access: Access) -> Sequence[Term]:
        return (*groups, *places[access.op], *(loop.iv for loop in band), access.order)

    require_order(dependences, band[0], time, what=what)
