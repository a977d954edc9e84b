"""Products of small matrices: sums in registers, on the arrays where they stand, since caches hold all of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy

from affdsl.frozen import FrozenValue
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Constraint
from affdsl.lang.indices import Condition
from affdsl.optimize.attempts import AllOrNone
from affdsl.optimize.nests import Nest, is_lane_by_lane, lanes_of, nest_called, nests, span, unfit_where_refused
from affdsl.optimize.notes import sizes_in
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import sums
from affdsl.optimize.versions import in_other, on_average, sizes_of
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

ROWS = 4
"""How many rows of sums are in registers, a vector each: an addition waits about as many cycles for another."""
NARROW_ROWS = 8
"""The same where a row is one vector: each is loaded for so many sums."""
LARGE = (1, 48, 9)
"""How many rows and columns the result has at least, and how many terms a sum, for which copies of the factors pay."""
SMALL = (1, 4, 1)
"""The same for vectors of columns: what is smaller runs as it was."""
ALONG_ROWS = (5, 5, 2)
"""As many there are at least, for both, where the loops as they were run along rows themselves."""
FEW_ROWS, FEW_TERMS = 8, 3
"""From so many rows and terms on a result of fewer columns than `SMALL` has sums of several rows at once."""
NARROW = 48
"""Fewer columns than this make a product narrow, where their number is known: rows of B are read where they stand."""
STRAIGHT = 16
"""How many terms there are at most of which compilers make straight code, where the number of columns is known, too."""
UNEVEN = 6
"""Of so many columns at least, which are no whole vector, compilers make several vectors that are shorter."""
LEAST_PACKED = 3
"""How many vectors rows have in the mean for which copies pay where nothing else is there for small matrices."""


class Small(FrozenValue):
    """The version of a product for small matrices.

    Attributes
    ----------
    large
        From which sizes on it does not run; None if there is no such version.
    said
        What is said of it.
    loops
        Its loops over rows, columns and terms; none where it is the loops as they were.
    vectors
        How many vectors of a row are made at once: a factor of the row is multiplied and spread once for all of them.
    terms
        The loop over the terms of the version for few columns; "" where there is none.
    """

    large: Condition | None = None
    said: str = "run as written"
    loops: tuple[str, ...] = ()
    vectors: int = 1
    terms: str = ""

    def beside(self, said: str) -> str:
        """What is said of both versions, where that is said of the one for large matrices."""
        return said if self.large is None else f"for {sizes_in(self.large)}: {said}; smaller ones {self.said}"


def with_small(s: Schedule, nest: Nest, loops: tuple[affine.For, ...], bits: int, options: Options) -> Small:
    """Give a product versions for small matrices; the schedule given is changed.

        for i, j, k: S   ->   if N >= 48 and K >= 9: for i, j, k: S
                              else if N >= 4: for i, j on vectors, k: S
                              else if M >= 8 and N < 4: for i by 8, j, k: S
                              else: for i, j, k: S

    A condition is on one size each, which proofs inside of the loops take no longer for. `finish` makes the rest.

    Parameters
    ----------
    loops
        The loops of the nest over rows, columns and terms. The nest keeps them: it is the version for large matrices.
    bits
        How many bits an element has.

    References
    ----------
    Heinecke and others, "LIBXSMM: accelerating small matrix multiplications by runtime code generation", SC 2016.
    """
    around = {iv for op in nest.around for iv in op.binds()}
    if any(v in around for loop in nest.band for bound in (*loop.lower, *loop.upper) for v in bound.values()):
        return Small()  # it is a part of a large one
    lanes = options.target.lanes(bits)
    band, (i, j, k) = tuple(map(nest.name, nest.band)), map(nest.name, loops)
    with AllOrNone(s):
        least = ALONG_ROWS if nest.innermost is loops[1] else SMALL
        sizes = _at_least(s, (i, j, k), tuple(map(max, LARGE, least)))
        other = dict(zip(band, in_other(s, band[0], sizes), strict=True))
        named = other[i], other[j], other[k]
        last = dict(zip(other.values(), in_other(s, other[band[0]], _at_least(s, named, least)), strict=True))
        terms = _of_few_columns(s, last[other[band[0]]], tuple(last[each] for each in named), least[1])
        order = (*(each for each in other.values() if each not in named), *named)
        if order != tuple(other.values()):
            s.permute(order)
        s.vectorize(other[j], lanes, tail="folded" if options.target.has_masks else options.tail)
        if is_lane_by_lane(s, other[j]):
            raise UnfitError
        few = f", or {FEW_ROWS} where columns are few" if terms else ""
        return Small(
            sizes,
            f"without copies, on vectors of {other[j]}, {ROWS} rows at once{few}",
            named,
            options.target.registers // 16,
            terms,
        )
    sizes = on_average(s, (i, j, k), LEAST_PACKED * lanes)
    with suppress(UnfitError):
        in_other(s, band[0], sizes)
        return Small(sizes)
    return Small()


def _of_few_columns(s: Schedule, root: str, loops: tuple[str, ...], columns: int) -> str:
    """Let a copy of a product run sums of whole rows where it has fewer columns and some rows: its loop over terms.

    What is left is as it was. "" where sizes do not say how many there are. The schedule given is changed.
    """
    i, j, k = loops
    rows, few = _at_least(s, (i, k), (FEW_ROWS, FEW_TERMS)), sizes_of(s, (j,))
    with AllOrNone(s):
        if rows is None or len(few) != 1:
            raise UnfitError
        at_most = few[0] < columns
        assert isinstance(at_most, Condition)
        s.specialize(root, Condition((*rows.constraints, *at_most.constraints)))
        s.permute((i, j, k))
        return k
    return ""


def is_narrow(loops: Sequence[affine.For], lanes: int) -> bool:
    """Whether a product has few columns, and how many is known, but not sums so short that compilers unroll them too.

    Parameters
    ----------
    loops
        Its loops over rows, columns and terms.
    """
    columns = trips(loops[1])
    return columns is not None and 1 < columns < NARROW and not is_straight(loops, lanes)


def is_straight(loops: Sequence[affine.For], lanes: int) -> bool:
    """Whether a product has so few columns and terms, both known, that compilers make straight code on vectors of it.

    Parameters
    ----------
    loops
        Its loops over rows, columns and terms.
    lanes
        How many numbers a register has: of more columns than `STRAIGHT`, compilers leave no more than half a vector.
    """
    columns, terms = trips(loops[1]) or NARROW, trips(loops[2]) or NARROW
    is_even = columns <= STRAIGHT or columns % max(1, lanes // 2) == 0
    return columns < NARROW and terms <= STRAIGHT and is_even


def in_rows(s: Schedule, loops: tuple[str, str, str], columns: affine.For, options: Options, lanes: int) -> str:
    """Make the sums of several rows of a small product at once, in whole rows of vectors. Raises as steps do.

    Vectors have no more lanes than there are columns, if need be without the last ones. As many of
    a row as have sums in half of the registers run at once: a factor of a row is spread once for all of them.
    """
    j = loops[1]
    count = trips(columns) or lanes
    while lanes > 2 and lanes // 2 >= count:
        lanes //= 2
    s.vectorize(j, lanes, tail="folded")
    if is_lane_by_lane(s, j):
        raise UnfitError(f"vectors of {j} would be made lane by lane")
    rows, vectors = NARROW_ROWS if count <= lanes else ROWS, -(-count // lanes)
    most = max(1, options.target.registers // (2 * ROWS))
    several = max(each for each in range(1, most + 1) if vectors % each == 0)
    if several > 1:
        with suppress(IllegalTransform, ScheduleError):
            s.unroll_jam(j, several)
    finish(s, Small(loops=loops), options, rows)
    return f"a product of small matrices, where they stand: vectors of {lanes}, {rows} rows at once"


def in_one_register(s: Schedule, nest: Nest, loops: Sequence[affine.For], options: Options) -> tuple[Schedule, str]:
    """The schedule with each row of a product of few columns and terms in one register, with a mask for what is left.

        for i, j, k: C[i, j] += A[i, k] * B[j, k]   ->   b0, b1 = B[0 :+ n, 0], B[0 :+ n, 1]
                                                         for i: C[i, 0 :+ n] = A[i, 0] * b0 + A[i, 1] * b1

    The factor that is the same for all rows stays in registers. Raises UnfitError where a row does not fit into a
    register, or does not fill it and the target has no masks; and where compilers do as well: what they do badly are
    factors of which lanes take one column, unless it is short and of 32 bits, and rows of odd lengths.

    Parameters
    ----------
    loops
        The loops over rows, columns and terms, whose numbers of iterations are known but for the first.
    """
    _, j, k = loops
    columns, lanes = trips(j) or 0, lanes_of(nest, options)
    while lanes > 2 and lanes // 2 >= columns:
        lanes //= 2
    reads = [a for a in nest.accesses if a.kind == "read" and not nest.is_still(a, j) and not nest.is_still(a, k)]
    is_few = columns < UNEVEN and lanes_of(nest, options) > options.target.lanes(64)  # compilers shuffle several rows
    is_turned = not is_few and any(nest.stride(a, j).motion != "contiguous" for a in reads)
    is_odd = UNEVEN <= columns < lanes
    is_whole = columns == lanes or (columns < lanes and options.target.has_masks)
    if not is_whole or not (is_turned or is_odd):
        raise UnfitError
    made, (row, column, term) = copy(s), map(nest.name, loops)
    with unfit_where_refused():
        made.vectorize(column, lanes, tail="folded")
        with suppress(IllegalTransform):  # its sums are in a variable
            made.scalar_replace(term)
        made.unroll(term)
    with suppress(IllegalTransform):  # each row has factors of its own
        made.hoist(row)
    return made, f"{column} is one vector of {lanes}, {term} is straight code"


def trips(loop: affine.For) -> int | None:
    """How often a loop runs, where its bounds are numbers."""
    trip = span(loop)
    if trip is None or not (trip.is_constant and loop.lower[0].is_constant):
        return None
    return max(0, -(-trip.constant // loop.step))


def finish(s: Schedule, small: Small, options: Options, rows: int = ROWS) -> None:
    """Make the sums of several rows at once, in registers, after all other steps, which long code would slow down."""
    if small.terms and (nest := nest_called(s, small.terms)) is not None:
        _sums_of_rows(s, nest, options)
    if not small.loops:
        return
    i, j, k = small.loops
    known = {name for row in s.loops() for name in row.names}
    if small.vectors > 1:
        with suppress(IllegalTransform, ScheduleError):
            s.unroll_jam(j, small.vectors)
    with suppress(IllegalTransform, ScheduleError):
        s.unroll_jam(i, max(1, min(rows, options.target.registers // 2)))
    for name in [nest.name(nest.innermost) for nest in nests(s)]:
        if name == k or name not in known:
            with suppress(IllegalTransform):  # its sums stay in memory
                s.scalar_replace(name)


def _sums_of_rows(s: Schedule, nest: Nest, options: Options) -> None:
    """Make sums of several rows of a product of few columns at once, in the order of the text; the schedule is changed.

    Where rows are of floats, some of them are the lanes of a vector, which is turned in registers.
    """
    rows, terms = nest.loops[-3], nest.name(nest.innermost)
    lanes = sums.lanes_of_sums(nest, rows, options)
    with AllOrNone(s):
        s.unroll_jam(nest.name(rows), FEW_ROWS).scalar_replace(terms)
        sums.in_lanes(s, terms, lanes)


def _at_least(s: Schedule, loops: tuple[str, ...], counts: tuple[int, ...]) -> Condition | None:
    """That loops over rows, columns and terms are so long; None where sizes do not say it of all three."""
    found: list[Constraint] = []
    for loop, count in zip(loops, counts, strict=True):
        each = on_average(s, (loop,), count)
        if each is None:
            return None
        found += each.constraints if count > 1 else ()
    return Condition(tuple(dict.fromkeys(found)))
