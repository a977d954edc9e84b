"""Vectors that begin where lines of the cache do, wherever NumPy has placed the array, and lines past the caches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from copy import copy

from affdsl.codegen.targets.target import Target
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import I1, FloatType, IntegerType, MemRefType
from affdsl.optimize.machine import LINE
from affdsl.optimize.nests import Nest, bits_in_register, nest_called, unfit_where_refused
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.passes.transforms.vectorize.crossings import crossings
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import IllegalTransform, Schedule

PLACED = 128
"""To how many bits NumPy and C place arrays: vectors that are no longer never lie in two lines."""
LEAST = 64
"""From so many lines on it pays to begin with one; measured on a processor with 512 bits, for sums and updates."""
CACHE = 32 << 20
"""The last cache where nobody asked the machine, and as much as counts of a larger one, which many cores share."""
WIDTHS = {FloatType: (32, 64), IntegerType: (8, 16, 32, 64)}
"""The numbers that C stores as whole vectors, by how many bits they have."""
SHARE = 4
"""An array of a quarter of the last cache goes past it: what is read to make it takes as much, and others use it."""


def from_a_line(
    s: Schedule, nest: Nest, name: str, options: Options, *, reassociate: bool = False
) -> tuple[Schedule, str]:
    """The schedule with a loop that begins where a line of an array does, to be made vectors of, and what to say of it.

        for i: s += x[i]   ->   for i = 0 to a: s += x[i]
                                for i = a to n: s += x[i]        where x[a] begins a line

    A vector that lies in two lines takes two loads, and arrays of NumPy begin 16 bytes behind a line. It takes loops
    over arrays of one dimension, and the array that is stored, if one is; others may be loaded in several places. It
    takes none that store where data says, since under a mask that is done lane by lane. The schedule given is left as
    it is; it comes back, with nothing to say, where there is no such array.
    """
    stores = any(isinstance(op, memref.Store) and op.indices for op in walk(nest.innermost))
    found = None if stores else _array(s, nest, options.target)
    if found is None:
        return s, ""
    array, lanes = found
    made = copy(s)
    with suppress(IllegalTransform, ScheduleError):
        begin_on_lines(made, array, name, lanes, options, least=LEAST, reassociate=reassociate)
        return made, f", from where a line of {array} begins"
    return s, ""


def chunks_from_a_line(s: Schedule, name: str, options: Options) -> None:
    """Let a long loop, which threads share in chunks of whole lines, begin where a line does; the schedule is changed.

    What comes before is a loop of its own. Nothing is changed where there is no array for that.
    """
    nest = nest_called(s, name)
    found = None if nest is None else _array(s, nest, options.target)
    if found is not None:
        array, lanes = found
        with suppress(IllegalTransform, ScheduleError):
            s.align(array, name, lanes, least=LEAST)


def rows_from_a_line(s: Schedule, name: str, options: Options) -> Schedule:
    """The schedule with a long loop along rows that begins where a line of the array does that it stores.

    That holds for all rows where these are a whole number of lines. It is as it was where nothing is stored so.
    """
    nest = nest_called(s, name)
    stored = () if nest is None else [op.memref for op in nest.innermost.body if isinstance(op, affine.Store)]
    names, made = {value: array for array, value in arrays_of(s.function).items()}, copy(s)
    if options.target.width > PLACED and stored and stored[0] in names and _per_line(stored[0]):
        with suppress(IllegalTransform, ScheduleError):
            begin_on_lines(made, names[stored[0]], name, _per_line(stored[0]), options, least=LEAST)
            return made
    return s


def begin_on_lines(
    s: Schedule,
    array: str,
    name: str,
    lanes: int,
    options: Options,
    *,
    least: int | None = None,
    reassociate: bool = False,
) -> None:
    """Let a loop begin where a line of an array does, with what comes before on a vector; the schedule is changed.

    Raises as steps do, and ScheduleError for a loop that holds others.
    """
    first, *others = (row.names[0] for row in s.align(array, name, lanes, least=least).made)
    if others:
        raise ScheduleError(f"{name} holds other loops")
    if options.target.has_masks:
        with suppress(IllegalTransform):  # what an iteration hands on has no mask: these few run one by one
            s.vectorize(first, lanes, tail="folded", reassociate=reassociate)


def _array(s: Schedule, nest: Nest, target: Target) -> tuple[str, int] | None:
    """The array that a loop stores, or else loads, and how many of its elements a line has.

    None where it goes over others than arrays of one dimension, or accesses this array in several places: at most one
    of these vectors would begin where a line does. Where truth values begin does not count. None, too, where it is
    split at an element that others read, as x[k]: only the first part would begin there.
    """
    iv = nest.innermost.iv
    accesses = [
        op
        for op in walk(nest.innermost)
        if isinstance(op, affine.Load | affine.Store) and any(iv in each.values() for each in op.index)
    ]
    arrays = [*dict.fromkeys(op.memref for op in accesses if not _holds_truths(op.memref))]
    stored = {op.memref for op in accesses if isinstance(op, affine.Store)}
    places = {(op.memref, op.index) for op in accesses if op.memref in arrays}
    counted = Counter(array for array, _ in places)
    is_simple = all(len(op.index) == 1 and (op.index[0] - iv).is_constant for op in accesses)
    in_several = any(counted[each] > 1 for each in stored or arrays)
    if target.width <= PLACED or not is_simple or in_several or not all(map(_per_line, arrays)):
        return None
    if crossings(nest.innermost):
        return None
    names = {value: name for name, value in arrays_of(s.function).items()}
    array = next((each for each in sorted(arrays, key=lambda v: v not in stored) if each in names), None)
    return None if array is None else (names[array], _per_line(array))


def _holds_truths(array: Value) -> bool:
    """Whether the elements of an array are truth values, of which a vector of other numbers takes a few bytes."""
    return isinstance(array.type, MemRefType) and array.type.element == I1


def _per_line(array: Value) -> int:
    """How many numbers of an array a line has, where they lie side by side as registers have them; else 0."""
    type = array.type
    if not isinstance(type, MemRefType) or type.layout is not None:
        return 0
    element = type.element
    if not isinstance(element, FloatType | IntegerType) or element.width != bits_in_register(element):
        return 0
    return 8 * LINE // element.width


# Stores past the caches -----------------------------------------------------------------------------------------------


def past_the_caches(
    s: Schedule, nest: Nest, outer: str, name: str, lanes: int, ways: int, options: Options
) -> tuple[Schedule, str]:
    """The schedule with a loop on vectors that are stored past the caches, some rows of the loop around it at once.

        for i, j: B[i, j] = S(A[i - 1, j - 1 : j + 2], A[i, j - 1 : j + 2], A[i + 1, j - 1 : j + 2])   ->
        for i by 4: { for j = 1 to a: B[i : i + 4, j] = S(...); for j = a to M - 1 by 16: B[i : i + 4, j :+ 16] = ... }

    Lines of the result are not read first then, which is a third of what a stencil moves. It takes one array that is
    stored, which the kernel reads nowhere, and rows along which vectors overlap, since those that wait for memory alone
    are few. Raises UnfitError.
    """
    stored = {op.memref for op in nest.innermost.body if isinstance(op, affine.Store)}
    loads = [op for op in nest.innermost.body if isinstance(op, affine.Load) and op.index]
    if not options.target.streams or len(stored) != 1 or not loads:
        raise UnfitError("it stores several arrays, or nothing is loaded, or the machine has no stores past the caches")
    (array,) = stored
    if not _fills_lines(array, lanes):
        raise UnfitError("its vectors are no lines of what it stores")
    touching = [op for op in walk(s.function) if array in op.reads()]
    if any(not isinstance(op, affine.Store | affine.VectorStore) for op in touching):
        raise UnfitError("what it stores is read again")
    called = next(name for name, value in arrays_of(s.function).items() if value is array)
    least = min((options.target.caches or (CACHE,))[-1], CACHE) // SHARE
    made = copy(s)
    rows = _rows(loads, ways)
    with unfit_where_refused():
        begin_on_lines(made, called, name, lanes, options)
        made.vectorize(name, lanes, tail="overlapped")
        if rows > 1:
            made.unroll_jam(outer, rows)
        made.splice(name, ahead=True)
        made.stream(called, name, least)
    at_once = f"; {rows} iterations of {outer} run at once" * (rows > 1)
    said = (
        f"{name} runs on vectors of {lanes} that begin where lines of {called} do, and go past the caches where it has "
        f"{least >> 20} MiB or more{at_once}; each element of a row is loaded once"
    )
    return made, said


def _fills_lines(array: Value, lanes: int) -> bool:
    """Whether a vector of so many elements of an array is a line, of numbers that vectors are stored of as they are."""
    element = array.type.element if isinstance(array.type, MemRefType) else None
    return (
        isinstance(element, FloatType | IntegerType)
        and element.width in WIDTHS[type(element)]
        and element.width * lanes == 8 * LINE
    )


def _rows(loads: Sequence[affine.Load], ways: int) -> int:
    """How many rows are made at once, where so many lines of one place are near.

    Each loads a row more of every array. Lines that go past the caches do not stay, but shorter arrays have some that
    do: each counts half.
    """
    arrays, lines = {op.memref for op in loads}, {(op.memref, op.index[:-1]) for op in loads}
    return max(1, 2 * (ways + len(arrays) - len(lines)) // (2 * len(arrays) + 1))
