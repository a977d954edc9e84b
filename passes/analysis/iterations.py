"""How often what stands in loops and branches runs with the sizes of one call, counted exactly.

Loops are not run. The iterations of a loop are told apart only where something inside of it depends on its counter, a
bound or a condition; then each number that matters is a lane of an array, with how often it occurs. A product of
matrices is one lane, and a triangle has one for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affdsl.errors import AffdslError
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, memref, scf
from affdsl.ir.expr import Affine, Constraint, FloorDiv, Product, Value
from affdsl.ir.messages import where
from affdsl.ir.traverse import operands_first, walk
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.work import Work, reductions_of, work_of

Numbers: TypeAlias = NDArray[Any]
MOST = 30_000_000
"""So many iterations are told apart before it is given up: some seconds."""
CHUNK = 1 << 21
"""So many at once."""


VIEWS = (
    memref.Part, memref.Cast, memref.ExpandShape, memref.CollapseShape, memref.View, memref.Reshape,
    memref.ExtractStridedMetadata,
)  # fmt: skip


class UncountedError(AffdslError):
    """How often something runs is not known before it runs, or would take too long to count: why."""


class Lanes(FrozenValue):
    """Iterations that are told apart: the numbers that values have in each of them, and how often each occurs."""

    values: Mapping[Value, Numbers]
    often: Numbers

    @property
    def total(self) -> int:
        """How many iterations there are."""
        return int(self.often.sum())

    def chosen(self, which: Numbers) -> Lanes:
        """Those of them for which something holds."""
        which = np.broadcast_to(which, self.often.shape)
        return Lanes({v: numbers[which] for v, numbers in self.values.items()}, self.often[which])


def one() -> Lanes:
    """One run."""
    return Lanes({}, np.ones(1, np.int64))


class Range(FrozenValue):
    """The numbers of a counter: from `lower` on, `count` of them, `step` apart; and what they are computed of."""

    iv: Value
    step: Callable[[Lanes], Numbers]
    lower: Callable[[Lanes], Numbers]
    upper: Callable[[Lanes], Numbers]
    reads: tuple[Value, ...]

    def count(self, lanes: Lanes) -> Numbers:
        """How many numbers there are in each lane."""
        step = np.asarray(self.step(lanes))
        span = np.asarray(self.upper(lanes)) - self.lower(lanes)
        # Loops have positive steps: of others it is not told how often they run.
        found = np.where(step > 0, np.maximum(-(-span // np.maximum(step, 1)), 0), 0)
        return np.broadcast_to(found, lanes.often.shape)


class Iterations:
    """Counts the runs of what is in functions of a module, and evaluates index values in them."""

    def __init__(
        self,
        module: func.Module,
        known: Mapping[Value, int] | None = None,
        shapes: Mapping[Value, Sequence[int]] | None = None,
        most: int | None = None,
    ) -> None:
        self.known = dict(known or {})
        """The numbers that arguments of the function that is called have."""
        self.functions = {f.symbol: f for f in module.functions}
        self.shapes = dict(shapes or {})
        """The sizes of the arrays that are arguments."""
        self._makers: dict[Value, Op] = {v: op for f in module.functions for op in walk(f) for v in op.defines()}
        self._bound = {v for f in module.functions for op in walk(f) for v in op.binds()}
        self._roots: dict[Value, frozenset[Value]] = {}
        self._needed: dict[int, tuple[Block, frozenset[Value]]] = {}
        self._told_apart, self._most = 0, most

    def work(self, block: Block, lanes: Lanes) -> Work:
        """What a block does, in all lanes, with all that is inside of it.

        Raises UncountedError where data decides how often something in it runs.
        """
        found = Work()
        self._block(block, lanes, found)
        return found

    # Values ----------------------------------------------------------------------------------------------------------

    def value(self, value: Value, lanes: Lanes) -> Numbers:
        """The numbers that a value has. Raises UncountedError where they depend on data."""
        if value in lanes.values:
            return lanes.values[value]
        found = dict(lanes.values)
        inside = Lanes(found, lanes.often)
        for each in operands_first(value, lambda v: () if v in found else self._operands(v)):
            if each not in found:
                found[each] = self._made(each, inside)
        return found[value]

    def _operands(self, value: Value) -> Iterable[Value]:
        """What the numbers of a value are computed from."""
        op = self._makers.get(value)
        match op:
            case _ if value in self.known:
                return ()
            case (
                affine.Apply() | affine.Min() | affine.Max() | arith.Select() | arith.Cast(kind="index_cast" | "extsi")
            ):
                return op.reads()
            case arith.Binary() if op.kind in _BINARY:
                return op.reads()
            case arith.Compare(kind="cmpi") if op.predicate in _PREDICATES:
                return op.reads()
        return ()

    def _made(self, value: Value, lanes: Lanes) -> Numbers:
        """The numbers that a value has where those of its operands are known."""
        if value in self.known:
            return np.asarray(self.known[value])
        op = self._makers.get(value)
        match op:
            case arith.Constant(value=bool() | int() as number):
                return np.asarray(number)
            case affine.Apply():
                return self.expression(op.expr, lanes)
            case affine.Min() | affine.Max():
                return self._extreme(op.exprs, "min" if isinstance(op, affine.Min) else "max", lanes)
            case arith.Binary() if op.kind in _BINARY:
                return _BINARY[op.kind](self.value(op.left, lanes), self.value(op.right, lanes))
            case arith.Compare(kind="cmpi") if op.predicate in _PREDICATES:
                return _PREDICATES[op.predicate](self.value(op.left, lanes), self.value(op.right, lanes))
            case arith.Select():
                parts = (self.value(v, lanes) for v in (op.condition, op.if_true, op.if_false))
                return np.where(*parts)
            case arith.Cast(kind="index_cast" | "extsi"):
                return self.value(op.operand, lanes)
            case memref.Dim():
                axis = int(self.value(op.index, lanes).ravel()[0])
                return self.sizes(op.memref, lanes)[axis]
        raise UncountedError(f"{where(op) if op is not None else value.hint or 'a value'}: data decides")

    def expression(self, expr: Affine, lanes: Lanes) -> Numbers:
        """The numbers that an expression has. Raises UncountedError as `value`."""
        total = np.asarray(expr.constant, np.int64)
        for atom, factor in expr.terms:
            match atom:
                case Value():
                    part = self.value(atom, lanes)
                case FloorDiv(dividend, divisor):
                    by = self.expression(Affine.of(divisor), lanes)
                    if (by <= 0).any():
                        raise UncountedError("it divides by a number that is not positive")
                    part = self.expression(dividend, lanes) // by
                case Product(factors):
                    part = reduce(np.multiply, [self.expression(Affine.of(f), lanes) for f in factors])
            total = total + part * factor
        return total

    def resolved(self, expr: Affine) -> Affine:
        """An expression in terms of what the values in it are computed of, as far as those are affine, too."""
        new: dict[Value, Affine] = {}
        for value in dict.fromkeys(expr.values()):
            for each in operands_first(value, lambda v: () if v in new else self._applied(v).values()):
                if isinstance(self._makers.get(each), affine.Apply):
                    new[each] = self._applied(each).substitute(new)
        return expr.substitute(new)

    def _applied(self, value: Value) -> Affine:
        """The expression of the affine.apply that makes a value; nothing for other values."""
        op = self._makers.get(value)
        return op.expr if isinstance(op, affine.Apply) else Affine()

    def sizes(self, array: Value, lanes: Lanes) -> list[Numbers]:
        """The sizes of an array, an argument or one that is allocated. Raises UncountedError of others."""
        if array in self.shapes:
            return [np.asarray(size) for size in self.shapes[array]]
        op = self._makers.get(array)
        type = array.type
        if isinstance(type, MemRefType) and None not in type.shape:
            return [np.asarray(size) for size in type.shape]
        if isinstance(op, memref.Allocation) and isinstance(type, MemRefType):
            given = iter(op.sizes)
            return [np.asarray(s) if s is not None else self.value(next(given), lanes) for s in type.shape]
        if isinstance(op, memref.Cast):
            return self.sizes(op.source, lanes)
        raise UncountedError(f"the sizes of {array.hint or 'an array'} are not known")

    def holds(self, constraints: Iterable[Constraint], lanes: Lanes) -> Numbers:
        """In which lanes all constraints hold."""
        found = np.ones(lanes.often.shape, bool)
        for constraint in constraints:
            number = self.expression(constraint.expr, lanes)
            found = found & ((number == 0) if constraint.equality else (number >= 0))
        return found

    def _extreme(self, exprs: Sequence[Affine], which: str, lanes: Lanes) -> Numbers:
        pick = np.maximum if which == "max" else np.minimum
        return reduce(pick, [self.expression(e, lanes) for e in exprs])

    def maker(self, value: Value) -> Op | None:
        """The operation that defines a value."""
        return self._makers.get(value)

    def root(self, array: Value, arrays: Mapping[Value, Value]) -> Value:
        """The array that one is, or is a view of; `arrays` says what the arguments of the function around are."""
        op = self._makers.get(array)
        while array not in arrays and isinstance(op, memref.Cast):
            array = op.source
            op = self._makers.get(array)
        return arrays.get(array, array)

    def base(self, array: Value, arrays: Mapping[Value, Value]) -> Value:
        """The array that one is, or is any part or other shape of."""
        while array not in arrays and isinstance(op := self._makers.get(array), VIEWS):
            array = op.source
        return arrays.get(array, array)

    # What depends on what --------------------------------------------------------------------------------------------

    def roots(self, values: Iterable[Value]) -> frozenset[Value]:
        """The counters, arguments and data of which values are computed."""
        return frozenset[Value]().union(*map(self._roots_of, values))

    def _roots_of(self, value: Value) -> frozenset[Value]:
        if value not in self._roots:
            op = self._makers.get(value)
            known = isinstance(
                op, affine.Apply | affine.Min | affine.Max | arith.Binary | arith.Compare | arith.Select | arith.Cast
            )
            if op is None or value in self._bound or not known:
                is_number = isinstance(op, arith.Constant) or value in self.known
                self._roots[value] = frozenset() if is_number else frozenset((value,))
            else:
                self._roots[value] = self.roots(op.reads())
        return self._roots[value]

    def needed(self, block: Block) -> frozenset[Value]:
        """On which numbers it depends how often something in a block runs."""
        key = id(block)
        if key not in self._needed:
            self._needed[key] = block, frozenset[Value]().union(*map(self.needed_by, block))
        return self._needed[key][1]

    def needed_by(self, op: Op) -> frozenset[Value]:
        """On which numbers it depends how often something in the blocks of an operation runs."""
        if isinstance(op, func.Call):
            callee = self.functions[op.callee]
            inner = self.needed(callee.body)
            return self.roots(given for given, own in zip(op.args, callee.args, strict=True) if own in inner)
        found = frozenset[Value]().union(*map(self.needed, op.blocks()))
        own: Iterable[Value] = ()
        match op:
            case affine.For() | affine.Parallel() | scf.For() | scf.Parallel():
                own = (v for each in self.ranges(op) for v in each.reads)
            case affine.If():
                own = (v for c in op.condition for v in c.values())
            case scf.If():
                own = (op.condition,)
            case scf.IndexSwitch():
                own = (op.argument,)
        return (found | self.roots(own)) - frozenset(op.binds())

    # Loops -----------------------------------------------------------------------------------------------------------

    def ranges(self, op: affine.For | affine.Parallel | scf.For | scf.Parallel) -> list[Range]:
        """The numbers of the counters of a loop."""
        if isinstance(op, affine.For):
            return [self._affine_range(op.iv, op.lower, op.upper, op.step)]
        if isinstance(op, affine.Parallel):
            parts = zip(op.ivs, op.lower, op.upper, op.steps, strict=True)
            return [self._affine_range(iv, low, high, step) for iv, low, high, step in parts]
        if isinstance(op, scf.For):
            return [self._range(op.iv, op.lower, op.upper, op.step)]
        whole = zip(op.ivs, op.lower, op.upper, op.steps, strict=True)
        return [self._range(iv, low, high, step) for iv, low, high, step in whole]

    def _affine_range(self, iv: Value, lower: Sequence[Affine], upper: Sequence[Affine], step: int) -> Range:
        reads = tuple(v for e in (*lower, *upper) for v in e.values())
        return Range(
            iv, lambda _: np.asarray(step), lambda lanes: self._extreme(lower, "max", lanes),
            lambda lanes: self._extreme(upper, "min", lanes), reads,
        )  # fmt: skip

    def _range(self, iv: Value, lower: Value, upper: Value, step: Value) -> Range:
        return Range(
            iv, lambda lanes: self.value(step, lanes), lambda lanes: self.value(lower, lanes),
            lambda lanes: self.value(upper, lanes), (lower, upper, step),
        )  # fmt: skip

    def entered(self, ranges: Sequence[Range], needed: frozenset[Value], lanes: Lanes) -> Lanes:
        """The iterations of loops; those are told apart by whose counters something that is `needed` differs."""
        for k, each in enumerate(ranges):
            count = each.count(lanes)
            if each.iv in needed:
                later = self.roots(v for other in ranges[k + 1 :] for v in other.reads)
                lanes = self.spread(each, count, needed | later, lanes)
            else:
                lanes = Lanes(lanes.values, lanes.often * count)
        return lanes

    def spread(self, each: Range, count: Numbers, keep: frozenset[Value], lanes: Lanes) -> Lanes:
        """A lane for each number of a counter (it is kept), where those that differ in nothing that is kept are one."""
        total = int(count.sum())
        self.tell_apart(total)
        lower = np.broadcast_to(each.lower(lanes), count.shape)
        step = np.broadcast_to(each.step(lanes), count.shape)
        ends = np.cumsum(count)
        kept = {v: numbers for v, numbers in lanes.values.items() if v in keep and v is not each.iv}
        parts: list[Lanes] = []
        are_merged = len(kept) < len(lanes.values.keys() - {each.iv})  # otherwise all lanes differ
        for start in range(0, total, CHUNK):
            place = np.arange(start, min(start + CHUNK, total))
            lane = np.repeat(np.arange(count.size), count) if total <= CHUNK else np.searchsorted(ends, place, "right")
            counter = lower[lane] + step[lane] * (place - (ends[lane] - count[lane]))
            values = {v: np.broadcast_to(numbers, count.shape)[lane] for v, numbers in kept.items()}
            part = Lanes({**values, each.iv: counter}, lanes.often[lane])
            parts.append(_merged(part) if are_merged else part)
        if not parts:
            none = np.empty(0, np.int64)
            return Lanes(dict.fromkeys((*kept, each.iv), none), none)
        if len(parts) == 1:
            return parts[0]
        joined = {v: np.concatenate([part.values[v] for part in parts]) for v in parts[0].values}
        whole = Lanes(joined, np.concatenate([part.often for part in parts]))
        return _merged(whole) if are_merged else whole

    def tell_apart(self, count: int) -> None:
        """So many iterations more are told apart. Raises UncountedError where that would take too long."""
        self._told_apart += count
        most = MOST if self._most is None else self._most
        if self._told_apart > most:
            raise UncountedError(f"there are more than {most} iterations that differ")

    def branches(self, op: Op, lanes: Lanes) -> list[tuple[Block, Lanes]]:
        """The blocks of a condition, each with the lanes in which it runs."""
        match op:
            case affine.If():
                holds = self.holds(op.condition, lanes)
                return [(op.then, lanes.chosen(holds)), (op.orelse, lanes.chosen(~holds))]
            case scf.If():
                holds = self.value(op.condition, lanes).astype(bool)
                return [(op.then, lanes.chosen(holds)), (op.orelse, lanes.chosen(~holds))]
            case scf.IndexSwitch():
                number = np.broadcast_to(self.value(op.argument, lanes), lanes.often.shape)
                cases = [case for case in op.cases if isinstance(case, scf.Case)]
                other = np.isin(number, [case.number for case in cases], invert=True)
                found = [(case.body, lanes.chosen(number == case.number)) for case in cases]
                return [*found, (op.default, lanes.chosen(other))]
        raise UncountedError(f"{where(op)}: data decides how often it runs")

    def called(self, op: func.Call, lanes: Lanes) -> tuple[func.Func, Lanes]:
        """The function of a call, with the numbers of its arguments that matter in it."""
        callee = self.functions[op.callee]
        needed = self.needed(callee.body)
        pairs = [(own, given) for own, given in zip(callee.args, op.args, strict=True) if own in needed]
        values = {own: np.broadcast_to(self.value(given, lanes), lanes.often.shape) for own, given in pairs}
        return callee, Lanes(values, lanes.often)

    # Work ------------------------------------------------------------------------------------------------------------

    def _block(self, block: Block, lanes: Lanes, found: Work) -> None:
        runs = lanes.total
        if not runs:
            return
        for op in block:
            for kind, count in work_of(op).items():
                found[kind] += count * runs
            match op:
                case affine.For() | affine.Parallel() | scf.For() | scf.Parallel():
                    inside = self.entered(self.ranges(op), self.needed(op.body), lanes)
                    if isinstance(op, affine.Parallel):
                        for kind, count in reductions_of(op).items():
                            found[kind] += count * inside.total
                    self._block(op.body, inside, found)
                case affine.If() | scf.If() | scf.IndexSwitch():
                    if any(work_inside(part) for part in op.blocks()):
                        for part, chosen in self.branches(op, lanes):
                            self._block(part, chosen, found)
                case func.Call():
                    callee, inside = self.called(op, lanes)
                    self._block(callee.body, inside, found)
                case scf.ExecuteRegion():
                    self._block(op.body, lanes, found)
                case scf.Reduce():
                    for combiner in op.combiners:
                        for part in combiner.blocks():
                            self._block(part, lanes, found)
                case scf.While():
                    raise UncountedError(f"{where(op)}: data decides how often it runs")


def work_inside(block: Block) -> bool:
    """Whether something in a block is counted, or calls what may be."""
    return any(work_of(op) or isinstance(op, func.Call) for outer in block for op in walk(outer))


def _merged(lanes: Lanes) -> Lanes:
    """The lanes that do not differ as one."""
    if lanes.often.size < 2:
        return lanes
    key = np.zeros(lanes.often.shape, np.int64)
    room = 1
    for numbers in lanes.values.values():
        low, span = int(numbers.min()), int(numbers.max()) - int(numbers.min()) + 1
        if room * span >= 2**62:
            return lanes
        key = key * span + (numbers - low)
        room *= span
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    often = np.add.reduceat(lanes.often[order], first)
    return Lanes({v: numbers[order[first]] for v, numbers in lanes.values.items()}, often)


def _floordiv(a: Numbers, b: Numbers) -> Numbers:
    if (np.asarray(b) == 0).any():
        raise UncountedError("it divides by 0")
    return np.floor_divide(a, b)


_BINARY: Mapping[str, Callable[[Numbers, Numbers], Numbers]] = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "maxsi": np.maximum,
    "minsi": np.minimum,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "floordivsi": _floordiv,
}
_PREDICATES: Mapping[str, Callable[[Numbers, Numbers], Numbers]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
}
