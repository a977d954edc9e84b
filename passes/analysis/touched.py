"""Which bytes of memory a loop reads and writes with the sizes of one call, each counted once.

The elements that an access touches are counted as runs of neighbours: for the counter of one loop around it a run has
both ends, and the other counters on which it depends are told apart as in `iterations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

import numpy as np

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref, scf, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import subscripts
from affdsl.ir.types import MemRefType, VectorType
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.analysis.iterations import Iterations, Lanes, Numbers, Range, UncountedError, one

Step: TypeAlias = "tuple[Op, Block]"
"""An operation with a block, or a call, and the block that is entered."""


@dataclass
class Touched:
    """The bytes of memory that are read and written, each counted once.

    Attributes
    ----------
    read, written, together
        The bytes that are read, those that are written, and those of which either is true.
    moved
        The bytes that must come from elsewhere, because they are certainly read before they are written, and those that
        go there.
    fetched, stored
        Both apart, without the arrays of which it is not certain how much of them is touched.
    at_most
        The names of the arrays of which these are upper bounds, because data or a mask decides which elements it is.
    """

    read: int = 0
    written: int = 0
    together: int = 0
    moved: int = 0
    fetched: int = 0
    stored: int = 0
    at_most: tuple[str, ...] = ()


class Access(FrozenValue):
    """One of an array: whether it reads or writes, which elements, and the loops and conditions around it."""

    kind: str
    subscripts: tuple[Affine | int, ...] | None
    path: tuple[Step, ...]
    matters: frozenset[Value]
    """What decides which elements it touches."""


def _runs_before(first: Access, later: Access) -> bool:
    """Whether all that an access does in the first iteration of the loops around both is all that it ever does."""
    common = [a[0] for a, b in zip(first.path, later.path, strict=False) if a[0] is b[0]]
    loops = [op for op in common if any(op.binds())]
    if loops and any(isinstance(op, func.Call) for op in common):
        return False  # its subscripts are not in terms of their counters
    return not any(first.matters.intersection(op.binds()) for op in loops)


@dataclass
class ArrayRuns:
    """The runs of elements of one array that were found: where they begin and end."""

    value: Value
    size: int
    width: int
    runs: dict[str, list[tuple[Numbers, Numbers]]] = field(default_factory=lambda: {"read": [], "write": []})
    accesses: list[Access] = field(default_factory=list)
    is_exact: bool = True
    is_inside: bool = False
    """Whether it is allocated in the loop, so that nothing of it comes from elsewhere."""

    @property
    def is_read_first(self) -> bool:
        """Whether each element that is read and written is certainly read first: the store is an update, as in
        A[i] += 1; or no loop is around both, or none that matters to what is read, and the reads stand before it."""
        reads = [(k, each) for k, each in enumerate(self.accesses) if each.kind == "read"]
        for k, write in enumerate(self.accesses):
            before = [read for position, read in reads if position < k]
            is_update = any(
                read.subscripts == write.subscripts is not None and read.path == write.path for read in before
            )
            are_before = len(before) == len(reads) and all(_runs_before(read, write) for read in before)
            if write.kind == "write" and not (is_update or are_before):
                return False
        return True


Footprint: TypeAlias = dict[Value, ArrayRuns]
"""The runs of elements that are touched of each array."""


def touched(
    of: Iterations, ops: Iterable[Op], lanes: Lanes, arrays: Mapping[Value, Value], path: tuple[Step, ...] = ()
) -> Footprint:
    """What operations, and all that is inside of them, touch in some lanes, one after the other.

    `arrays` says which array each argument of the function around is: one of the call, or one that was allocated.
    `path` leads from where the lanes are to the operations, from the outside.
    """
    found: Footprint = {}
    visitor = _Touching(of, found)
    for op in ops:
        visitor.visit(op, lanes, path, dict(arrays))
    return found


def iterations_of(of: Iterations, path: Sequence[Step], values: Iterable[Value]) -> Lanes:
    """The iterations at the end of a path in which some values differ. Raises UncountedError where data decides."""
    return _Touching(of, {})._lanes(path, values, (), one())[0]


def joined(footprints: Iterable[Footprint]) -> Footprint:
    """What is touched by one after the other."""
    found: Footprint = {}
    for each in footprints:
        for value, array in each.items():
            other = found.setdefault(value, ArrayRuns(value, array.size, array.width))
            for kind, runs in array.runs.items():
                other.runs[kind] += runs
            other.accesses += array.accesses
            other.is_exact = other.is_exact and array.is_exact
            other.is_inside = other.is_inside or array.is_inside
    return found


def summary(footprint: Footprint) -> Touched:
    """How many bytes that is."""
    total = Touched()
    inexact = []
    for array in footprint.values():
        read, written, together = (
            _length(runs) * array.width
            for runs in (array.runs["read"], array.runs["write"], [*array.runs["read"], *array.runs["write"]])
        )
        total.read += read
        total.written += written
        total.together += together
        if not array.is_inside:
            fetched = read if array.is_read_first else together - written
            total.moved += written + fetched
            if array.is_exact:
                total.fetched, total.stored = total.fetched + fetched, total.stored + written
        if not array.is_exact:
            inexact.append(array.value.hint.removeprefix("%") or "an array")
    total.at_most = tuple(dict.fromkeys(inexact))
    return total


class _Touching:
    """Visits the accesses inside of an operation, each with the loops and conditions around it."""

    def __init__(self, of: Iterations, found: Footprint) -> None:
        self.of, self.found = of, found

    def visit(self, op: Op, start: Lanes, path: tuple[Step, ...], arrays: dict[Value, Value]) -> None:
        """All accesses of an operation."""
        match op:
            case func.Call():
                callee = self.of.functions[op.callee]
                inner = dict(arrays)
                for own, given in zip(callee.args, op.args, strict=True):
                    if isinstance(own.type, MemRefType):
                        inner[own] = self.of.root(given, arrays)
                for each in callee.body:
                    self.visit(each, start, (*path, (op, callee.body)), inner)
                return
            case memref.Allocation():
                with suppress(UncountedError):  # data decides how large it is: what is accessed of it is left out
                    self._array(op.result, start).is_inside = True
                return
            case memref.Copy():
                self._whole(op.source, "read", path, start, arrays)
                self._whole(op.target, "write", path, start, arrays)
                return
            case affine.DmaStart() | memref.DmaStart():
                self._whole(op.source, "read", path, start, arrays, exact=False)
                self._whole(op.target, "write", path, start, arrays, exact=False)
                return
        for kind, array, index, width, clipped, exact in accesses_of(op):
            if width is None:
                self._whole(array, kind, path, start, arrays, exact=False)
                continue
            try:
                self._access(kind, array, index, width, clipped, path, start, arrays)
            except UncountedError:
                self._whole(array, kind, path, start, arrays, exact=False)
                continue
            if not exact:
                self._array(self.of.root(array, arrays), start).is_exact = False
        for block in op.blocks():
            for each in block:
                self.visit(each, start, (*path, (op, block)), arrays)

    def _array(self, root: Value, start: Lanes) -> ArrayRuns:
        if root not in self.found:
            width = width_of(root.type.element) if isinstance(root.type, MemRefType) else None
            sizes = self.of.sizes(root, start)
            self.found[root] = ArrayRuns(root, prod(int(np.max(s, initial=0)) for s in sizes), width or 1)
        return self.found[root]

    def _whole(
        self, array: Value, kind: str, path: tuple[Step, ...], start: Lanes, arrays: Mapping[Value, Value], *,
        exact: bool = True,
    ) -> None:  # fmt: skip
        """An access to a whole array, or to some of its elements that are not known."""
        root = self.of.base(array, arrays)
        try:
            of = self._array(root, start)
        except UncountedError:
            return  # a view of which nothing is known, or an array whose size data decides: it is allocated here
        of.accesses.append(Access(kind, None, path, frozenset()))
        of.is_exact = of.is_exact and exact
        of.runs[kind].append((np.zeros(1, np.int64), np.array([of.size])))

    def _access(
        self, kind: str, array: Value, index: Sequence[Affine], width: int, clipped: bool, path: Sequence[Step],
        start: Lanes, arrays: Mapping[Value, Value],
    ) -> None:  # fmt: skip
        """The elements of an access, as runs. Raises UncountedError where data decides which they are."""
        root = self.of.root(array, arrays)
        if root is not self.of.base(array, arrays):
            raise UncountedError("it is a view")
        index = [self.of.resolved(e) for e in index]
        of = self._array(root, start)
        lanes, free = self._lanes(path, [v for e in index for v in e.values()], index, start)
        if not lanes.total:
            return
        bounds = (_own(self.of, each) for each, _ in path)
        matters = self.of.roots(v for e in index for v in e.values()).union(*bounds)
        of.accesses.append(Access(kind, (*index, width), tuple(path), matters))
        sizes = self.of.sizes(root, start)
        flat, last = np.zeros(lanes.often.shape, np.int64), np.zeros(lanes.often.shape, np.int64)
        steps = 0
        for expr, size in zip(index, sizes, strict=True):
            last = self.of.expression(expr, lanes)
            flat = flat * size + last
            steps = steps * int(np.max(size)) + (_factor(expr, free.iv) if free is not None else 0)
        count = np.ones(lanes.often.shape, np.int64) if free is None else free.count(lanes)
        by = steps * (1 if free is None else int(np.max(free.step(lanes))))
        within = (flat - last, flat - last + sizes[-1]) if clipped else (np.zeros(1, np.int64), np.array([of.size]))
        self._add(of, kind, flat, width, count, by, within)

    def _add(
        self, of: ArrayRuns, kind: str, start: Numbers, width: int, count: Numbers, by: int,
        within: tuple[Numbers, Numbers],
    ) -> None:  # fmt: skip
        """Runs of `width` elements, `count` of them, `by` apart; of each what lies between two elements."""
        start, count, first, end = np.broadcast_arrays(start, count, *within)
        ends = start + (count - 1) * by
        low, high = np.minimum(start, ends), np.maximum(start, ends)
        if abs(by) > width:
            self.of.tell_apart(int(count.sum()))
            lane = np.repeat(np.arange(count.size), count)
            place = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
            low = high = start[lane] + place * by
            first, end = first[lane], end[lane]
        low = np.maximum(low, first)
        of.runs[kind].append((low, np.maximum(np.minimum(high + width, end), low)))
        if len(of.runs[kind]) > 64:
            of.runs[kind] = [_joined(of.runs[kind])]

    def _lanes(
        self, path: Sequence[Step], values: Iterable[Value], index: Sequence[Affine], start: Lanes
    ) -> tuple[Lanes, Range | None]:
        """The iterations of an access that differ in its index; and the loop of which a run takes all iterations."""
        free = self._free(path, index)
        ends = free.reads if free is not None else ()
        needs = [self.of.roots((*values, *ends))]  # by step, from the inside: what matters there and further in
        for op, _ in reversed(path):
            needs.append(_before(self.of, op, needs[-1]))
        needs.reverse()
        lanes = start
        for (op, block), needed in zip(path, needs[1:], strict=True):
            match op:
                case affine.For() | affine.Parallel() | scf.For() | scf.Parallel():
                    ranges = self.of.ranges(op)
                    for k, each in enumerate(ranges):
                        later = self.of.roots(v for other in ranges[k + 1 :] for v in other.reads)
                        if free is not None and each.iv is free.iv:
                            count = each.count(lanes)
                            values_of = {**lanes.values, each.iv: np.broadcast_to(each.lower(lanes), count.shape)}
                            lanes = Lanes(values_of, lanes.often).chosen(count > 0)
                        else:
                            lanes = _some(self.of.entered([each], needed | later, lanes))
                case func.Call():
                    lanes = self._called(op, needed, lanes)
                case scf.ExecuteRegion():
                    pass
                case _:
                    lanes = next(part for inside, part in self.of.branches(op, lanes) if inside is block)
            if not lanes.often.size:
                break
        return lanes, free

    def _called(self, op: func.Call, needed: frozenset[Value], lanes: Lanes) -> Lanes:
        callee = self.of.functions[op.callee]
        pairs = [(own, given) for own, given in zip(callee.args, op.args, strict=True) if own in needed]
        values = {own: np.broadcast_to(self.of.value(given, lanes), lanes.often.shape) for own, given in pairs}
        return Lanes({**lanes.values, **values}, lanes.often)

    def _free(self, path: Sequence[Step], index: Sequence[Affine]) -> Range | None:
        """The loop on whose counter neither a bound nor a condition depends, and that moves the access least."""
        within: list[Range] = []
        for op, _ in path:
            if isinstance(op, affine.For | affine.Parallel | scf.For | scf.Parallel):
                within += self.of.ranges(op)
        bounding = frozenset[Value]().union(*(_own(self.of, op) for op, _ in path)) if path else frozenset()
        good: list[tuple[int, Range]] = []
        for each in within:
            moves = [_factor(e, each.iv) for e in index]
            if each.iv in bounding or not any(moves) or not all(self._is_plain(e, each.iv) for e in index):
                continue
            if not any(moves[:-1]):
                good.append((abs(moves[-1]), each))
        return min(good, key=lambda pair: pair[0])[1] if good else None

    def _is_plain(self, expr: Affine, iv: Value) -> bool:
        """Whether a counter is only a term of an expression, and no quotient, product or value depends on it."""
        return all(atom is iv or iv not in self.of.roots(Affine.of(atom).values()) for atom, _ in expr.terms)


def _before(of: Iterations, op: Op, inside: frozenset[Value]) -> frozenset[Value]:
    """What matters in front of an operation, where some numbers do inside of it."""
    if isinstance(op, func.Call):
        callee = of.functions[op.callee]
        return of.roots(given for given, own in zip(op.args, callee.args, strict=True) if own in inside)
    return (inside | _own(of, op)) - frozenset(op.binds())


def _own(of: Iterations, op: Op) -> frozenset[Value]:
    """What the bounds or the condition of an operation are computed of."""
    match op:
        case affine.For() | affine.Parallel() | scf.For() | scf.Parallel():
            return of.roots(v for each in of.ranges(op) for v in each.reads)
        case affine.If():
            return of.roots(v for c in op.condition for v in c.values())
        case scf.If():
            return of.roots((op.condition,))
        case scf.IndexSwitch():
            return of.roots((op.argument,))
        case func.Call():
            return of.roots(v for v in op.args if not isinstance(v.type, MemRefType))
    return frozenset()


def _some(lanes: Lanes) -> Lanes:
    """The lanes that run at all, each once: how often does not matter for what is touched."""
    lanes = lanes.chosen(lanes.often > 0)
    return Lanes(lanes.values, np.ones_like(lanes.often))


def _factor(expr: Affine, iv: Value) -> int:
    return next((factor for atom, factor in expr.terms if atom is iv), 0)


def accesses_of(op: Op) -> Iterator[tuple[str, Value, Sequence[Affine], int | None, bool, bool]]:
    """What an operation accesses: how, which array, from which index on, how many elements in a row, whether those
    outside of the row are left out, and whether it is certainly all of them. None for a number is any elements."""
    match op:
        case affine.Load() | affine.VectorLoad() | memref.Load() | vector.Load():
            yield "read", op.memref, subscripts(op), *_reach(op.result), False, True
        case affine.Store() | affine.VectorStore() | memref.Store() | vector.Store():
            yield "write", op.memref, subscripts(op), *_reach(op.value), False, True
        case memref.AtomicRMW():
            yield "read", op.memref, subscripts(op), 1, False, True
            yield "write", op.memref, subscripts(op), 1, False, True
        case vector.TransferRead() if _is_a_row(op):
            yield "read", op.memref, subscripts(op), *_reach(op.result), True, not op.mask
        case vector.TransferWrite() if _is_a_row(op):
            yield "write", op.memref, subscripts(op), *_reach(op.value), True, not op.mask
        case vector.MaskedLoad():
            yield "read", op.memref, subscripts(op), *_reach(op.result), True, False
        case vector.MaskedStore():
            yield "write", op.memref, subscripts(op), *_reach(op.value), True, False
        case vector.TransferRead() | vector.Gather() | vector.ExpandLoad():
            yield "read", op.memref, (), None, False, False
        case vector.TransferWrite() | vector.Scatter() | vector.CompressStore():
            yield "write", op.memref, (), None, False, False


def _is_a_row(op: vector.TransferRead | vector.TransferWrite) -> bool:
    """Whether a transfer is of neighbours along the last dimension."""
    value = op.result if isinstance(op, vector.TransferRead) else op.value
    rank = len(op.indices)
    return isinstance(value.type, VectorType) and op.map == vector.minor_identity(rank, 1) and rank > 0


def _reach(value: Value) -> tuple[int | None]:
    """How many neighbours along the last dimension a number or a vector is; None for one of several dimensions."""
    shape = value.type.shape if isinstance(value.type, VectorType) else ()
    return (None if len(shape) > 1 else shape[0] if shape else 1,)


def _joined(runs: Sequence[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    """Runs of which no two touch."""
    begin = np.concatenate([b for b, _ in runs]) if runs else np.empty(0, np.int64)
    end = np.concatenate([e for _, e in runs]) if runs else np.empty(0, np.int64)
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], np.maximum.accumulate(end[order]) if end.size else end
    if not begin.size:
        return begin, end
    first = np.flatnonzero(np.concatenate(([True], begin[1:] > end[:-1])))
    last = np.append(first[1:] - 1, begin.size - 1)
    return begin[first], end[last]


def _length(runs: Sequence[tuple[Numbers, Numbers]]) -> int:
    begin, end = _joined(runs)
    return int((end - begin).sum())
