"""Scans of recurrences of first order: what a loop carries, times a factor and plus a number, in all lanes.

    s = f[i] * s + x[i]     two iterations are one of the same form: s = (f[1] * f[0]) * s + (f[1] * x[0] + x[1])

So lanes are combined with those before them as sums are in `scans`. Integers, which wrap, are exact in any order;
floats are rounded in another one, and a zero may have the other sign. Factors whose product is too large or too small
make NaN of what has a number, as 0 times infinity: a vector that is not finite is made lane after lane instead. Where a
condition of integers starts anew, a factor is a mask, and `and` multiplies.

References
----------
Kogge and Stone, "A Parallel Algorithm for the Efficient Solution of a General Class of Recurrence Equations", 1973.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math, scf, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import likes, walk
from affdsl.ir.types import I1, FloatType, IntegerType
from affdsl.passes.transforms.vectorize.lanes import Lanes
from affdsl.passes.transforms.vectorize.scans import LEAST_LANES, end_of_scan, is_seen_before, moved

SUMS = {"addf", "subf", "addi", "subi"}
PRODUCTS = {"mulf", "muli"}


class LinearScan(FrozenValue):
    """A number that each iteration multiplies by a factor, and adds another number to.

    Attributes
    ----------
    carried, result
        The number at the beginning of an iteration, and what it is at the end.
    steps
        The operations that make the one of the other, in the order of the text. Nothing else sees what is between.
    """

    carried: Value
    result: Value
    steps: tuple[Op, ...]

    @property
    def starts_anew(self) -> bool:
        """Whether conditions choose between the number and others, and nothing multiplies it."""
        return any(isinstance(op, arith.Select) for op in self.steps)

    def pays(self, lanes: int, *, reassociate: bool) -> bool:
        """Whether a scan in so many lanes is allowed, and faster than one lane after the other."""
        return reassociate if isinstance(self.carried.type, FloatType) else lanes >= LEAST_LANES


def linear_scan(loop: affine.For, chain: Sequence[Op], row: Mapping[Value, Value], carried: Value) -> LinearScan | None:
    """How what a loop carries is linear in what it was one iteration before; None where it is not, or unknown.

    Parameters
    ----------
    chain
        The operations that make what goes from iteration to iteration.
    row
        What is carried, and what is yielded for it.
    """
    if not isinstance(carried.type, FloatType | IntegerType) or row[carried] is carried:
        return None
    of, steps = {carried}, list[Op]()
    for op in chain:
        if of.isdisjoint(op.reads()):
            continue
        if not _is_linear(op, of) or any(v in row and v is not carried for v in op.reads()):
            return None
        steps.append(op)
        of.update(op.defines())
    result = row[carried]
    found = LinearScan(carried, result, tuple(steps))
    between = of - {carried, result}
    multiplied = any(getattr(op, "kind", "") in PRODUCTS for op in steps)
    others = (inner for op in loop.body if op not in steps for inner in walk(op))
    if result not in of or any(v in between for op in others for v in op.mentions()):
        return None
    if found.starts_anew and (multiplied or isinstance(carried.type, FloatType) or not _has_masks(steps, carried)):
        return None
    return found


def _is_linear(op: Op, of: set[Value]) -> bool:
    """Whether an operation leaves what is linear in a number so; `of` is what it may be made of."""
    match op:
        case arith.Binary() if op.kind in SUMS:
            return True
        case arith.Binary() if op.kind in PRODUCTS:
            return (op.left in of) != (op.right in of)
        case arith.Binary(kind="divf"):
            return op.right not in of
        case math.Fma():
            return not (op.a in of and op.b in of)
        case arith.Select():
            return op.condition not in of
    return False


def _has_masks(steps: Sequence[Op], carried: Value) -> bool:
    """Whether all factors are 0 or 1: sums have one side, and no difference turns a sign."""
    of = {carried}
    for op in steps:
        if isinstance(op, arith.Binary) and op.right in of and (op.left in of or op.kind == "subi"):
            return False
        of.update(op.defines())
    return True


class _Line(FrozenValue):
    """What is linear in what a loop carries: its factor and what is added, in all lanes; None where that is 0."""

    factor: Value | None = None
    added: Value | None = None


def scanned_linearly(at: Lanes, scan: LinearScan, in_a_row: Callable[[], Value]) -> Value:
    """The number at the end of the last lane; what it is in each lane is defined, as `scans.scanned` does it.

    `in_a_row` does both lane after lane.
    """
    way = _Ways(at, scan)
    seen = (scan.result, scan.carried) if is_seen_before(at, scan) else (scan.result,)
    with at.new_block() as row:  # before there are other lanes
        if way.is_float:
            last = in_a_row()
            at.emit(scf.Yield((*map(at.vector, seen), last)))
    line = _line_of(way, scan)
    factor, added = way.known(line.factor), way.known(line.added)
    distance = 1
    while distance < at.width:
        added = way.sum(added, way.times(factor, moved(at, way.number(0), added, distance)))
        factor = way.times(factor, moved(at, way.one, factor, distance))
        distance *= 2
    end = end_of_scan(at, scan, (factor, added), lambda before, f, x: way.sum(x, way.times(f, before)))
    if not row:
        return end
    found = (*map(at.vector, seen), end)
    made = likes(found)
    at.emit(scf.If(way.has_special(found[0]), tuple(row), (scf.Yield(found),), made, location=at.loop.location))
    for value, lanes in zip(seen, made, strict=False):
        at.define(value, lanes)
    return made[-1]


class _Ways:
    """How numbers of a scan are added and multiplied."""

    def __init__(self, at: Lanes, scan: LinearScan) -> None:
        self.at, self.type = at, at.scalar(scan.carried)
        self.is_float = isinstance(self.type, FloatType)
        self.product = "mulf" if self.is_float else "andi" if scan.starts_anew else "muli"
        self.one = self.number(-1 if scan.starts_anew else 1)

    def number(self, number: int) -> Value:
        """A number in all lanes."""
        return self.at.constant([float(number) if self.is_float else number] * self.at.width, self.type)

    def known(self, number: Value | None) -> Value:
        """A number in all lanes, of which None is 0."""
        return self.number(0) if number is None else number

    def times(self, a: Value, b: Value) -> Value:
        """A product, of which 1 has no part."""
        return b if a is self.one else a if b is self.one else self.at.binary(self.product, a, b)

    def has_special(self, numbers: Value) -> Value:
        """Whether a lane is an infinity, or no number at all."""
        none = self.number(0)
        each, found = Value(self.at.vector_of_type(I1)), Value(I1)
        self.at.emit(arith.Compare(each, "cmpf", "une", self.at.binary("mulf", numbers, none), none))
        self.at.emit(vector.Reduction(found, "or", each, ()))
        return found

    def sum(self, a: Value, b: Value, kind: str = "add") -> Value:
        """A sum, or a difference."""
        return self.at.binary(f"{kind}{'f' if self.is_float else 'i'}", a, b)

    def plus(self, a: Value | None, b: Value | None, kind: str) -> Value | None:
        """A sum or a difference, of which None is 0."""
        if b is None or (a is None and kind == "add"):
            return a if b is None else b
        return self.sum(self.known(a), b, kind)


def _line_of(way: _Ways, scan: LinearScan) -> _Line:
    """What an iteration makes of what it gets."""
    at = way.at
    known = {scan.carried: _Line(way.one)}

    def line(value: Value) -> _Line:
        return known[value] if value in known else _Line(None, at.vector(value))

    def product(a: Value, b: Value) -> _Line:
        of, other = (line(a), at.vector(b)) if a in known else (line(b), at.vector(a))
        return _Line(*(None if v is None else way.times(v, other) for v in (of.factor, of.added)))

    def total(a: _Line, b: _Line, kind: str = "add") -> _Line:
        return _Line(way.plus(a.factor, b.factor, kind), way.plus(a.added, b.added, kind))

    for op in scan.steps:
        match op:
            case arith.Binary() if op.kind in SUMS:
                made = total(line(op.left), line(op.right), op.kind[:3])
            case arith.Binary(kind="divf"):
                of, other = line(op.left), at.vector(op.right)
                parts = (None if v is None else at.binary("divf", v, other) for v in (of.factor, of.added))
                made = _Line(*parts)
            case arith.Binary():
                made = product(op.left, op.right)
            case math.Fma():
                made = total(product(op.a, op.b), line(op.c))
            case arith.Select():
                yes, no = line(op.if_true), line(op.if_false)
                sides = [(yes.factor, no.factor), (yes.added, no.added)]
                condition = at.vector(op.condition)
                made = _Line(*(at.select(condition, way.known(a), way.known(b)) for a, b in sides))
            case _:
                raise AssertionError(op)
        known |= dict.fromkeys(op.defines(), made)
    return known[scan.result]
