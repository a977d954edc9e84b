"""How many bytes move to and from caches: lines that loops touch, as boxes, and of iterations the one in the middle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, memref, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import operands_first
from affdsl.ir.types import MemRefType
from affdsl.optimize.machine import LINE
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.analysis.iterations import Iterations, UncountedError, one
from affdsl.passes.analysis.touched import accesses_of
from affdsl.passes.simplify.ranges import between, range_of

Interval: TypeAlias = tuple[int, int]
"""The least number that something is, and the greatest."""
Numbers: TypeAlias = Mapping[Value, Interval]
DEEP = 8
"""Of so many loops around each other the bounds are told apart."""
LOOPS = (affine.For, affine.Parallel, scf.For, scf.Parallel)
NEAR = 1.25
"""A box around two boxes has at most so many times their elements."""
MOST = 16
"""So many boxes of an array are kept apart."""


class Box(FrozenValue):
    """Neighbours in an array; without sides it may be any elements.

    Attributes
    ----------
    most
        How many lines are touched at most, since so many elements are.
    """

    sides: tuple[Interval, ...] | None
    is_read: bool
    is_written: bool
    most: float = inf

    def joined(self, other: Box) -> Box:
        """The smallest box around two."""
        sides = None
        if self.sides is not None and other.sides is not None:
            sides = tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(self.sides, other.sides, strict=True))
        most = self.most + other.most
        return Box(sides, self.is_read or other.is_read, self.is_written or other.is_written, most)

    def bytes(self, sizes: Sequence[float], width: int) -> float:
        """How many bytes are touched in an array of these sizes: all of each line."""
        return min(self.lines(sizes, width), self.most) * LINE

    def lines(self, sizes: Sequence[float], width: int) -> float:
        """How many lines lie in it, if it may begin with any element."""
        sides = [(0, size - 1) for size in sizes] if self.sides is None else self.sides
        lengths = [max(0, min(b, size - 1) - max(a, 0) + 1) for (a, b), size in zip(sides, sizes, strict=True)]
        run, runs = float(width), 1.0
        is_whole = True
        for length, size in zip(lengths[::-1], sizes[::-1], strict=True):
            run, runs = (run * length, runs) if is_whole else (run, runs * length)
            is_whole = is_whole and length == size
        return runs * ((run - width) / LINE + 1) if run else 0.0


@dataclass
class Boxes:
    """What is touched of an array: boxes that lie apart."""

    width: int
    sizes: Sequence[float]
    boxes: list[Box]

    def add(self, box: Box) -> None:
        """Another box, which becomes one with the first that is not far."""
        for k, other in enumerate(self.boxes):
            both = box.joined(other)
            apart = sum(each.lines(self.sizes, self.width) for each in (box, other))
            if len(self.boxes) == MOST or both.lines(self.sizes, self.width) <= NEAR * apart:
                self.boxes[k] = both
                return
        self.boxes.append(box)

    def bytes(self, *, moved: bool = False) -> float:
        """How many bytes that is, or how many are moved: those that are read and written twice."""
        counted = ((box, box.is_read + box.is_written if moved else 1) for box in self.boxes)
        return min(sum(times * box.bytes(self.sizes, self.width) for box, times in counted), inf)


class Moving:
    """What the loops of a module move, where the arguments of its function are known.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''func.func @f(%A: memref<100x100xf64>, %x: memref<100xf64>) {
    ...   affine.for %t = 0 to 10 { affine.for %i = 0 to 100 { affine.for %j = 0 to 100 {
    ...     %a = affine.load %A[%i, %j] : memref<100x100xf64>
    ...     affine.store %a, %x[%j] : memref<100xf64>
    ...   } } }
    ...   return
    ... }''')
    >>> of = Moving(Iterations(module))
    >>> [of.moved(module.functions[0].body[0], {}, {}, [size]) for size in (100_000, 10_000, 10)]
    [[80912.0], [809120.0], [12800000.0]]
    """

    def __init__(self, of: Iterations) -> None:
        self._of = of
        self._counted: dict[Value, Value] = {}
        self._lower: dict[Value, Affine] = {}
        self._spans: dict[Value, list[Affine]] = {}
        self._exprs: dict[Affine, Affine] = {}
        self._lies: dict[tuple[Affine, tuple[Interval, ...]], Interval] = {}
        self._shapes: dict[Value, list[int] | None] = {}

    def moved(
        self,
        op: Op,
        at: Numbers,
        arrays: Mapping[Value, Value],
        caches: Sequence[int],
        footprint: tuple[float, float] | None = None,
    ) -> list[float]:
        """Bytes that each cache gets and gives away while an operation runs once, the caches by their bytes.

        What one iteration of a loop touches stays in a cache that is large enough for it until the next one. Where a
        cache is too small, each iteration moves what it needs.

        Parameters
        ----------
        at
            The counters of the loops around it.
        arrays
            Which array each argument of the function around is, where that was called.
        footprint
            What it moves if it stays in the cache in between, and what it touches, where that is known.
        """
        once, whole = footprint or self._footprint((op,), at, arrays)
        times, inside, blocks = self._entered(op, at)
        small = [cache for cache in caches if cache < whole]
        if not (small and blocks):
            return [once] * len(caches)
        ops, of_one = [each for block in blocks for each in block], None
        if isinstance(op, LOOPS):
            of_one = self._footprint(ops, inside, arrays)
            small = [cache for cache in small if cache < of_one[1]]
        if not small:
            return [once] * len(caches)
        of_one = of_one if len(ops) == 1 else None
        parts = [self.moved(each, inside, arrays, small, of_one) for each in ops]
        found = {cache: max(once, times * sum(part[k] for part in parts)) for k, cache in enumerate(small)}
        return [found.get(cache, once) for cache in caches]

    def touched(self, ops: Iterable[Op], arrays: Mapping[Value, Value]) -> float:
        """The bytes that operations touch."""
        return self._footprint(ops, {}, arrays)[1]

    def _entered(self, op: Op, at: Numbers) -> tuple[int, Numbers, list[Block]]:
        """How often what is inside of an operation runs, with which counters in the middle, and the blocks that run."""
        times, inside = 1, dict(at)
        if isinstance(op, LOOPS):
            for iv, low, high, step in self._ranges(op, inside):
                count = max(0, -(-(sum(high) - sum(low)) // (2 * step)))
                times *= count
                middle = sum(low) // 2 + count // 2 * step
                inside[self._counted.get(iv, iv)] = middle, middle
        return times, inside, self._chosen(op, inside) if times else []

    def _footprint(self, ops: Iterable[Op], at: Numbers, arrays: Mapping[Value, Value]) -> tuple[float, float]:
        """The bytes that operations move if they stay in the cache in between, and those that they touch."""
        touched, inner = dict[Value, Boxes](), dict(at)
        own: set[Value] = set()
        for op in ops:
            self._touch(op, inner, arrays, touched, own)
        once, whole = (sum(each.bytes(moved=moved) for each in touched.values()) for moved in (True, False))
        return once, whole

    def _touch(
        self,
        op: Op,
        at: dict[Value, Interval],
        arrays: Mapping[Value, Value],
        found: dict[Value, Boxes],
        own: set[Value],
        often: float = 1.0,
    ) -> None:
        """Note what an operation touches, without what it allocates."""
        if isinstance(op, memref.Allocation):
            own.add(op.result)
        elif isinstance(op, memref.Copy):
            self._note("read", op.source, None, 1, at, arrays, found, own, inf)
            self._note("write", op.target, None, 1, at, arrays, found, own, inf)
        elif isinstance(op, func.Call) and not self._of.functions[op.callee].external:
            callee = self._of.functions[op.callee]
            pairs = [*zip(callee.args, op.args, strict=True)]
            inner = dict(arrays) | {a: self._of.base(v, arrays) for a, v in pairs if isinstance(a.type, MemRefType)}
            for each in callee.body:
                self._touch(each, at, inner, found, own, often)
        for kind, array, index, width, _, _ in accesses_of(op):
            self._note(kind, array, index if width is not None else None, width or 1, at, arrays, found, own, often)
        if isinstance(op, LOOPS):
            for iv, low, high, step in self._ranges(op, at):
                if low[0] >= high[1]:
                    return
                at[self._counted.get(iv, iv)] = low[0], high[1] - 1
                often *= max(1.0, (sum(high) - sum(low)) / (2 * step))
        for block in self._chosen(op, at):
            for each in block:
                self._touch(each, at, arrays, found, own, often)

    def _note(
        self, kind: str, array: Value, index: Sequence[Affine] | None, width: int, at: Numbers,
        arrays: Mapping[Value, Value], found: dict[Value, Boxes], own: set[Value], often: float,
    ) -> None:  # fmt: skip
        root = self._of.base(array, arrays)
        if root in own or not isinstance(root.type, MemRefType):
            return
        sides: list[Interval] | None = None
        if index is not None and root is self._of.root(array, arrays):
            try:
                sides = [self.interval(expr, at) for expr in index]
            except UncountedError:  # data decides
                sides = None
        if sides:
            sides[-1] = sides[-1][0], sides[-1][1] + width - 1
        if root not in found:
            sizes: Sequence[float] = self._sizes(root) or [inf if n is None else float(n) for n in root.type.shape]
            found[root] = Boxes(width_of(root.type.element) or 1, sizes, [])
        lines = often * (1 + (width - 1) * found[root].width / LINE)
        found[root].add(Box(tuple(sides) if sides is not None else None, kind == "read", kind == "write", lines))

    def _from_lower(self, op: affine.For, at: Numbers) -> tuple[Interval, Interval]:
        """Where a loop begins and ends, counted from its lower bound where that moves with loops around.

        So the rows of a tile are as many in each tile, wherever that is.
        """
        if len(op.lower) == 1 and not op.lower[0].is_constant:
            lower = op.lower[0]
            if op.iv not in self._counted:
                self._counted[op.iv] = Value(op.iv.type, op.iv.hint)
                self._lower[op.iv] = lower + self._counted[op.iv]
                self._spans[op.iv] = [e - lower for e in op.upper]
            return (0, 0), _extreme(min, [self.interval(e, at) for e in self._spans[op.iv]])
        lows, highs = ([self.interval(e, at) for e in exprs] for exprs in (op.lower, op.upper))
        return _extreme(max, lows), _extreme(min, highs)

    def _sizes(self, array: Value) -> list[int] | None:
        if array not in self._shapes:
            try:
                self._shapes[array] = [int(size.max(initial=0)) for size in self._of.sizes(array, one())]
            except UncountedError:
                self._shapes[array] = None
        return self._shapes[array]

    def _ranges(
        self, op: affine.For | affine.Parallel | scf.For | scf.Parallel, at: Numbers
    ) -> Iterator[tuple[Value, Interval, Interval, int]]:
        """Each counter of a loop, where it begins, where it ends, and its step. Where data decides, it runs once."""
        if isinstance(op, affine.For):
            yield op.iv, *self._from_lower(op, at), op.step
            return
        if isinstance(op, affine.Parallel):
            for iv, lower, upper, step in zip(op.ivs, op.lower, op.upper, op.steps, strict=True):
                lows, highs = ([self.interval(e, at) for e in exprs] for exprs in (lower, upper))
                yield iv, _extreme(max, lows), _extreme(min, highs), step
            return
        pairs = (
            [(op.iv, op.lower, op.upper)] if isinstance(op, scf.For) else zip(op.ivs, op.lower, op.upper, strict=True)
        )
        for iv, begin, end in pairs:
            try:
                yield iv, self._value(begin, dict(at)), self._value(end, dict(at)), 1
            except UncountedError:
                yield iv, (0, 0), (1, 1), 1

    def _chosen(self, op: Op, at: Numbers) -> list[Block]:
        """The blocks of an operation that may run."""
        if not isinstance(op, affine.If):
            return [*op.blocks()]
        sides = [(self.interval(c.expr, at), c.equality) for c in op.condition]
        may = all(low <= 0 <= high if equality else high >= 0 for (low, high), equality in sides)
        must = all(low == high == 0 if equality else low >= 0 for (low, high), equality in sides)
        return [*([op.then] if may else []), *([op.orelse] if not must else [])]

    def interval(self, expr: Affine, at: Numbers) -> Interval:
        """Between which numbers an expression lies. Raises UncountedError where data decides."""
        if expr not in self._exprs:
            found = expr
            for _ in range(DEEP):
                new = {v: self._lower[v] for v in found.values() if v in self._lower}
                found = found.substitute(new) if new else found
            self._exprs[expr] = found
        expr, ends = self._exprs[expr], at
        if missing := [v for v in expr.values() if v not in at]:
            ends = dict(at)
            for value in missing:
                self._value(value, ends)
        key = expr, tuple([ends[v] for v in expr.values()])
        lies = self._lies.get(key)
        if lies is None:
            where = range_of(expr, lambda v: between(*ends[v]))
            if where.low is None or where.high is None:
                raise UncountedError("it divides by a number that is not positive")
            lies = self._lies[key] = where.low, where.high
        return lies

    def _value(self, value: Value, ends: dict[Value, Interval]) -> Interval:
        """Where a value lies; added to the ends that are known are its own, and those of what it is computed from."""
        for each in operands_first(value, lambda v: () if v in ends else self._operands(v)):
            if each not in ends:
                ends[each] = self._made(each, ends)
        return ends[value]

    def _operands(self, value: Value) -> Iterable[Value]:
        op = self._of.maker(value)
        is_map = value not in self._of.known and isinstance(op, affine.Apply | affine.Min | affine.Max)
        return op.reads() if op is not None and is_map else ()

    def _made(self, value: Value, at: Numbers) -> Interval:
        if value in self._of.known:
            return self._of.known[value], self._of.known[value]
        if value in self._lower:
            return self.interval(self._lower[value], at)
        match self._of.maker(value):
            case arith.Constant(value=int() as number):
                return number, number
            case affine.Apply() as op:
                return self.interval(op.expr, at)
            case affine.Min() as op:
                return _extreme(min, [self.interval(e, at) for e in op.exprs])
            case affine.Max() as op:
                return _extreme(max, [self.interval(e, at) for e in op.exprs])
        raise UncountedError(f"{value.hint or 'a value'}: data decides")


def _extreme(choose: Callable[[Iterable[int]], int], sides: Sequence[Interval]) -> Interval:
    """Between which numbers the least, or the greatest, of some lies."""
    return choose(low for low, _ in sides), choose(high for _, high in sides)
