"""Scans: a number that a loop carries and combines with another each time, while something sees it, in all lanes.

Vectors of which not all lanes run have none. A scan of floats pays since one operation takes several cycles, which the
next one waits for; one of integers, which is exact, since a register has many of them: from 8 lanes on. Products of
integers go lane after lane: of them scans gained nothing where they were measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, IntegerType
from affdsl.passes.analysis.combining import COMBINERS
from affdsl.passes.analysis.reduction import ROUNDED
from affdsl.passes.transforms.vectorize.branches import neutral_of
from affdsl.passes.transforms.vectorize.lanes import Lanes

EXTREMES = {"maximumf", "minimumf", "maxsi", "minsi", "maxui", "minui"}
KINDS = ROUNDED | EXTREMES | {"addi"}
LEAST_LANES = 8
"""In fewer lanes a scan of integers is no faster than one addition after the other."""


class Seen(Protocol):
    """A number that a loop carries, what it is at the end of an iteration, and the operations in between."""

    @property
    def carried(self) -> Value: ...
    @property
    def result(self) -> Value: ...
    @property
    def steps(self) -> Sequence[Op]: ...


class Scan(FrozenValue):
    """A number that each iteration combines with others, while something sees what it is then.

    Attributes
    ----------
    kind
        How: one of `KINDS`.
    carried, result
        The number at the beginning of an iteration, and what it is at the end.
    steps
        The operations that combine, in the order of the text. Nothing else sees what is between them.
    others
        What each of them combines it with.
    """

    kind: str
    carried: Value
    result: Value
    steps: tuple[arith.Binary, ...]
    others: tuple[Value, ...]

    @property
    def needs_reassociation(self) -> bool:
        """Whether lanes are rounded in another way than one after the other."""
        return self.kind in ROUNDED

    def pays(self, lanes: int, *, reassociate: bool) -> bool:
        """Whether a scan in so many lanes is allowed, and faster than one lane after the other.

        Extremes of floats are exact in any order, but mostly those before stay, which processors guess: only where
        another order is allowed, and with it perhaps a plain comparison, lanes are faster.
        """
        return reassociate if isinstance(self.carried.type, FloatType) else lanes >= LEAST_LANES


def scans(loop: affine.For, chain: Sequence[Op], row: Mapping[Value, Value]) -> tuple[Scan, ...]:
    """Those of the numbers that go from iteration to iteration which scans make; sums of floats are rounded otherwise.

    Parameters
    ----------
    chain
        The operations that make what goes from iteration to iteration.
    row
        What is carried, and what is yielded for it.
    """
    found = (_scan(loop, chain, row, carried) for carried in row)
    return tuple(each for each in found if each is not None)


def _scan(loop: affine.For, chain: Sequence[Op], row: Mapping[Value, Value], carried: Value) -> Scan | None:
    if not isinstance(carried.type, FloatType | IntegerType):
        return None
    makers = {v: op for op in chain for v in op.defines()}
    value, kinds = row[carried], set[str]()
    steps: list[arith.Binary] = []
    others: list[Value] = []
    while value is not carried:
        step = makers.get(value)
        if not isinstance(step, arith.Binary) or step.kind not in COMBINERS:
            return None
        kind, side = COMBINERS[step.kind]
        kinds.add(kind)
        before = [v for v in (step.left, step.right) if v in row or v in makers]
        if len(before) != 1 or (side == "left" and before[0] is not step.left):
            return None
        steps.insert(0, step)
        others.insert(0, step.right if before[0] is step.left else step.left)
        (value,) = before
    between = {step.result for step in steps[:-1]}
    used = [v for op in loop.body for each in walk(op) for v in each.mentions() if v in between]
    if len(kinds) != 1 or not KINDS.issuperset(kinds) or len(used) > len(between):
        return None
    return Scan(kinds.pop(), carried, row[carried], tuple(steps), tuple(others))


def scanned(at: Lanes, scan: Scan) -> Value:
    """The number at the end of the last lane.

    What it is at the end of each lane is defined, and what it is at the beginning, if anything reads that.

    Lanes are combined with those before them: the next one, then the second next, then the fourth. What the loop
    carries is combined last, so that one operation is all that an iteration waits for.
    """
    lanes, none = _combined(at, scan), _nothing(at, scan)
    distance = 1
    while distance < at.width:
        lanes = at.binary(scan.kind, moved(at, none, lanes, distance), lanes)
        distance *= 2
    return end_of_scan(at, scan, (lanes,), lambda before, of: at.binary(scan.kind, before, of))


def end_of_scan(at: Lanes, scan: Seen, lanes: Sequence[Value], combined: Callable[..., Value]) -> Value:
    """The number at the end of the last lane; what it is at the end of each, and before, is defined.

    `combined` makes it of what the loop carries and of what `lanes` are, all of them or the last one.
    """
    first = Value(lanes[0].type)
    at.emit(vector.Broadcast(first, scan.carried))
    found = combined(first, *lanes)
    at.define(scan.result, found)
    if is_seen_before(at, scan):
        shifted = Value(found.type)
        at.emit(vector.Shuffle(shifted, first, found, (0, *range(at.width, 2 * at.width - 1))))
        at.define(scan.carried, shifted)
    return combined(scan.carried, *(at.extract(each, at.width - 1) for each in lanes))


def is_seen_before(at: Lanes, scan: Seen) -> bool:
    """Whether anything but the scan reads what its number is at the beginning of an iteration."""
    return any(scan.carried in each.mentions() for op in at.loop.body if op not in scan.steps for each in walk(op))


def _combined(at: Lanes, scan: Scan) -> Value:
    """What each lane is combined with, as one number: the sum of some less others."""
    found: Value | None = None
    for step, other in zip(scan.steps, scan.others, strict=True):
        number = at.vector(other)
        if found is None and step.kind == scan.kind:
            found = number
        else:
            found = at.binary(step.kind, _nothing(at, scan) if found is None else found, number)
    assert found is not None, "a scan has steps"
    return found


def moved(at: Lanes, before: Value, lanes: Value, distance: int) -> Value:
    """Each lane's number some lanes further on; those before them have the lanes of another vector."""
    made = Value(lanes.type)
    order = tuple(range(at.width - distance, 2 * at.width - distance))
    at.emit(vector.Shuffle(made, before, lanes, order))
    return made


def _nothing(at: Lanes, scan: Scan) -> Value:
    """A vector of numbers that change none with which they are combined."""
    return at.constant([neutral_of(scan.kind, scan.carried)] * at.width, at.scalar(scan.carried))
