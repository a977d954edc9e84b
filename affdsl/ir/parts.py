"""Parallel bands whose results affine.parallel cannot combine, as bands that combine nothing: an element for each part.

MLIR has no reduction of affine.parallel for the least and greatest of integers without a sign, which all integers of
arith are, nor for exclusive or, maxnumf, minnumf, and numbers of type index. Any kind will do where each part of the
iterations has a number of its own, and one loop combines these in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan

from affdsl.ir import semantics
from affdsl.ir.attributes import Attributes
from affdsl.ir.blocks import yielded
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.location import Location
from affdsl.ir.numeric import quiet
from affdsl.ir.traverse import like, likes, walk
from affdsl.ir.types import I1, INDEX, FloatType, MemRefType, ScalarType
from affdsl.ir.verifier.types import reduction

PARTS = 64
"""How many parts there are: as many threads may share the iterations."""
IN_A_ROW = 4096
"""How many iterations a part takes in a row, where these hold no loop: they may read what lies side by side."""
LONGEST_STEP = 1 << 32
"""The longest step of a loop whose iterations are taken in a row: so many parts of these fit into 64 bits."""

ALSO = {"xori": "xori", "maxnumf": "maxnumf", "minnumf": "minnumf"}
"""The kinds of reductions that affine.parallel has for no type."""
COMBINING = {**semantics.REDUCTION_KINDS, **ALSO}
"""What each kind of reduction is in arith."""


def fits(kind: str, result: Value) -> bool:
    """Whether affine.parallel itself has a kind of reduction for a type."""
    return next(reduction(kind, result), None) is None


def neutral(kind: str, result: Value) -> arith.Constant:
    """What changes nothing that is combined with it, as the constant that defines a value."""
    type = result.type
    assert isinstance(type, ScalarType), "who asks has seen to it that numbers are combined"
    with quiet():
        number = nan if kind in ("maxnumf", "minnumf") else semantics.neutral(kind, type)
    held = float(number) if isinstance(type, FloatType) else bool(number) if type == I1 else int(number)
    return arith.Constant(result, held, location=result.location)


def in_parts(band: affine.Parallel) -> tuple[Op, ...]:
    """The same as a band, each of its kinds being one of COMBINING, without a reduction of affine.parallel.

        r = parallel i = 0 to n reduce (maxs): x(i)
        ->
        parallel part = 0 to 64:
            s = for first = 4096 * part to n step 262144, s = least:
                    for i = first to min(n, first + 4096), s: s max x(i)
            parts[part] = s
        r = for part = 0 to 64, r = least: r max parts[part]

    The parts take turns, so nothing is divided by a number that is not known. Of a band of several loops the iterations
    of the outermost one are parted.
    """
    at, hint, step = band.location, band.ivs[0].hint, band.steps[0]
    has_loops = any(isinstance(op, affine.For) for op in walk(band)) or len(band.ivs) > 1
    row = step if has_loops or step > LONGEST_STEP else step * IN_A_ROW
    part = Value(INDEX, f"{hint}_part" if hint else "part", band.ivs[0].location)
    first = band.ivs[0] if row == step else Value(INDEX, f"{hint}_row" if hint else "row", band.ivs[0].location)
    starts = tuple(low + part * row for low in band.lower[0])
    loops = [(first, starts, band.upper[0], row * PARTS)]
    if row != step:
        loops.append((band.ivs[0], (Affine.of(first),), (*band.upper[0], first + row), step))
    loops += zip(band.ivs[1:], band.lower[1:], band.upper[1:], band.steps[1:], strict=True)

    constants = [neutral(kind, like(result)) for kind, result in zip(band.reductions, band.results, strict=True)]
    inits = tuple(constant.result for constant in constants)
    own = likes(band.results)
    combined, totals = _combined(band.reductions, own, yielded(band.body))
    body: Block = (*band.body[:-1], *combined, affine.Yield(totals, location=at))
    for k, (iv, lower, upper, by) in reversed([*enumerate(loops)]):
        results, around = likes(band.results), likes(band.results)
        loop = affine.For(iv, lower, upper, body, by, around if k else inits, own, results, location=at)
        body, own = (loop, affine.Yield(results, location=at)), around
    arrays = arrays_of_parts(band.results, hint, at)
    stores = stores_of_part(results, arrays, part, at)
    shared = over_parts(part, (loop, *stores), at, band.attributes)

    def combine(left: Sequence[Value], right: Sequence[Value]) -> tuple[Block, tuple[Value, ...]]:
        return _combined(band.reductions, left, right)

    total = one_of_parts(like(part), arrays, combine, inits, likes(band.results), band.results, at)
    return (*constants, *(memref.Alloca(array, location=at) for array in arrays), shared, total)


def arrays_of_parts(values: Sequence[Value], hint: str, at: Location | None) -> list[Value]:
    """For each of some numbers an array with such a number for each part."""
    found = []
    for value in values:
        assert isinstance(value.type, ScalarType), "who asks has seen to it that numbers are combined"
        found.append(Value(MemRefType((PARTS,), value.type), f"{value.hint or hint}_parts".lstrip("_"), at))
    return found


def stores_of_part(values: Sequence[Value], arrays: Sequence[Value], part: Value, at: Location | None) -> Block:
    """What a part has, stored into arrays."""
    pairs = zip(values, arrays, strict=True)
    return tuple(affine.Store(value, array, (Affine.of(part),), location=at) for value, array in pairs)


def loads_of_part(values: Sequence[Value], arrays: Sequence[Value], part: Value, at: Location | None) -> Block:
    """What a part has, loaded from arrays as values that are like some."""
    pairs = zip(values, arrays, strict=True)
    return tuple(affine.Load(like(value), array, (Affine.of(part),), location=at) for value, array in pairs)


def over_parts(part: Value, body: Block, at: Location | None, attributes: Attributes) -> affine.Parallel:
    """The band in which all parts run."""
    bounds = ((Affine(),),), ((Affine.of(PARTS),),), (1,)
    return affine.Parallel((part,), *bounds, body, location=at, attributes=attributes)


def one_of_parts(
    part: Value,
    arrays: Sequence[Value],
    combine: Callable[[Sequence[Value], Sequence[Value]], tuple[Block, tuple[Value, ...]]],
    inits: tuple[Value, ...],
    carried: tuple[Value, ...],
    results: tuple[Value, ...],
    at: Location | None,
) -> affine.For:
    """The loop that combines what it carries with what arrays have of each part, one after the other."""
    loads = loads_of_part(carried, arrays, part, at)
    combined, totals = combine(carried, [value for load in loads for value in load.defines()])
    body = (*loads, *combined, affine.Yield(totals, location=at))
    return affine.For(part, (Affine(),), (Affine.of(PARTS),), body, 1, inits, carried, results, location=at)


def _combined(kinds: Sequence[str], left: Sequence[Value], right: Sequence[Value]) -> tuple[Block, tuple[Value, ...]]:
    """What combines numbers by pairs, and what these come to."""
    made = tuple(
        arith.Binary(like(a), COMBINING[kind], a, b, location=a.location)
        for kind, a, b in zip(kinds, left, right, strict=True)
    )
    return made, tuple(op.result for op in made)
