"""What to write, or to allow, so that a loop can be faster: what makes it slow as it was written, and still does.

Causes are those that reports name (`passes/advice/causes.py`). They are only told of operations that are on numbers one
by one after all steps, unless vectors pay as much for them.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from affdsl.explained import Hint, Note, SourceLoop
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math, memref, scf, vector
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import definitions, walk
from affdsl.ir.types import FloatType, VectorType
from affdsl.optimize.machine import LINE, usual
from affdsl.optimize.model.chains import cycles_waiting, latency
from affdsl.optimize.model.units import Units, has_products, units_of
from affdsl.optimize.nests import Nest, bits_in_register, lanes_for, nests
from affdsl.optimize.notes import Source
from affdsl.optimize.options import Options
from affdsl.optimize.vector import sums
from affdsl.passes.advice.causes import Cause, Looked, causes
from affdsl.schedule.schedule import Schedule

WORTH = 1.2
"""So many times as fast a loop should be by what is proposed."""
SUMS = 4
"""So many vectors of a sum do not wait for each other."""
KINDS = {
    "sum": "reassociate", "division": "reciprocal", "function": "approximate", "extreme": "select", "mixed": "type",
    "clamp": "edge", "wrapped": "edge", "gather": "table", "columns": "layout",
}  # fmt: skip
"""What is proposed against which cause."""
ONCE = ("reciprocal", "approximate", "select", "type", "layout")
"""Proposals that are made once for all operations of a loop."""
Kind = tuple[Location | None, str]
"""Where an operation was written, and what it computes or which array it accesses."""


def with_hints(
    notes: Sequence[Note], before: Schedule, after: Schedule, small: Container[str], source: Source, options: Options
) -> list[Note]:
    """The notes with what to try, each at the first one that says what became of its loop.

    Parameters
    ----------
    before, after
        The schedules with the loops as written, and with all steps.
    small
        The outermost loops that run for small sizes alone.
    source
        What things are called in the source.
    """
    told, done, makers = [*notes], _Done(after, small, source), definitions(before.function)
    for nest in nests(before):
        loop = SourceLoop(source.name(nest.name(nest.innermost)), nest.innermost.location)
        at = next((k for k, note in enumerate(told) if loop in note.loops), None)
        if at is not None:
            found = dict.fromkeys((*told[at].instead, *_Slow(nest, done, loop.name, makers, options).hints()))
            told[at] = replace(told[at], instead=tuple(found))
    return told


class _Done:
    """What became of operations after all steps, by where they were written."""

    def __init__(self, s: Schedule, small: Container[str], source: Source) -> None:
        self._source = source
        large = [nest for nest in nests(s) if not any(name in small for name in map(nest.names.get, _roots(nest)))]
        self._wide = {self._kind(op) for nest in large for op in walk(nest.innermost) if _has_vectors(op)}
        self._bodies = [[self._kind(op) for op in walk(nest.innermost)] for nest in large]
        self._there: set[Kind] = set()
        seen: set[Kind] = set()
        for nest, body in zip(large, self._bodies, strict=True):
            wide = {self._kind(op) for op in walk(nest.innermost) if _has_vectors(op) and not isinstance(op, _PUT)}
            if not wide <= seen or self._wide.isdisjoint(body):  # others are what vectors leave over
                self._there.update(body)
            seen |= wide

    def _kind(self, op: Op) -> Kind:
        array = getattr(op, "memref", None)
        if isinstance(array, Value):
            return op.location, self._source.name(array.hint)
        return op.location, str(getattr(op, "kind", type(op).__name__))

    def is_one_by_one(self, op: Op) -> bool:
        """Whether an operation still is in some innermost loop, and on vectors in none."""
        return self._kind(op) in self._there - self._wide

    def is_on_vectors(self, op: Op) -> bool:
        """Whether an operation is on vectors in some innermost loop."""
        return self._kind(op) in self._wide

    def at_once(self, op: Op) -> int:
        """How many times an operation stands in one innermost loop."""
        return max([1, *(body.count(self._kind(op)) for body in self._bodies)])


def _roots(nest: Nest) -> Iterator[Value]:
    """The counters of the outermost loop of a nest."""
    yield from (*nest.around, *nest.band)[0].binds()


_PUT = (vector.FromElements, vector.Broadcast)
"""What puts vectors together of numbers: it may stand in front of a loop."""


def _has_vectors(op: Op) -> bool:
    return any(isinstance(v.type, VectorType) for v in (*op.defines(), *op.reads()))


class _Slow:
    """What makes an innermost loop slow, as it is written, and still does."""

    def __init__(self, nest: Nest, done: _Done, name: str, makers: Mapping[Value, Op], options: Options) -> None:
        self.nest, self.loop, self.options, self.done = nest, nest.innermost, options, done
        self.ops = tuple(op for op in walk(self.loop) if op is not self.loop)
        self.scalar = {op for op in self.ops if done.is_one_by_one(op)}
        self.machine, self.makers = usual(options.target), makers
        of_op = {access.op: access for access in nest.accesses}

        def stride(op: affine.Access) -> int | None:
            found = nest.stride(of_op[op], self.loop) if op in of_op else None
            if found is None or found.motion != "strided":
                return None
            return found.elements if found.elements is not None else 8 * LINE

        sums_up = sums.is_sum(nest, self.loop)
        self.looked = Looked(self.loop, name, self.ops, self.makers, stride, None, sums_up)

    def hints(self) -> Iterator[Hint]:
        """What to try: permissions first, then what is to be written in another way."""
        found = [cause for cause in causes(self.looked) if cause.kind in KINDS]
        told = set[str]()
        for cause in sorted(found, key=lambda each: [*KINDS].index(each.kind)):
            kind, gain = KINDS[cause.kind], self._gain(cause, found)
            if gain is None or (gain and gain <= WORTH) or (kind in ONCE and kind in told):
                continue
            told.add(kind)
            line = None if kind == "reassociate" or cause.location is None else cause.location.line
            yield Hint(kind, f"{cause.instead}: {cause.why}", gain or None, line)

    def _gain(self, cause: Cause, all: Sequence[Cause]) -> float | None:
        """How many times as fast a loop is without a cause; 0 where that is not known, None where it is not told."""
        is_left = not self.scalar.isdisjoint(cause.ops)
        match cause.kind:
            case "sum":
                return self._of_sum(cause) if is_left and not self.options.reassociate else None
            case "division" if self._has_products(cause.ops[-1]):
                return None
            case "division":
                same = [op for each in all if each.kind == "division" for op in each.ops]
                products = [
                    replace(op, kind="mulf") if isinstance(op, arith.Binary) and op in same else op for op in self.ops
                ]
                turn = self.machine.turn  # of a loop of one vector an iteration
                gain = max(turn, self._cycles(self.ops)) / max(turn, self._cycles(products))
                return None if self.options.reciprocal else gain
            case "function":
                return None if self.options.approximate or not is_left else 0.0
            case "extreme":
                return 0.0 if is_left and cycles_waiting(self.loop, self.machine) else None
            case "mixed":
                return self._of_types()
            case "columns":
                return 0.0 if is_left else None
        return 0.0 if is_left and self._may_be_apart(cause) else None

    def _has_products(self, op: Op) -> bool:
        """Whether a quotient is in lanes, and made of products as it is."""
        lanes = lanes_for((v.type for v in op.defines()), self.options)
        return self.done.is_on_vectors(op) and has_products(op, self.machine, self.makers.get, lanes)

    def _of_sum(self, sum: Cause) -> float | None:
        """What lanes gain, where what waits is one addition, and lanes are not put together one by one."""
        if self.nest.ends_early or any(each.kind == "columns" for each in causes(self.looked)):
            return None
        waits, addition = cycles_waiting(self.loop, self.machine), latency(sum.ops[-1], self.machine)
        if not addition <= waits <= 2 * addition:
            return None
        lanes, at_once, computes = self._lanes(), self.done.at_once(sum.ops[-1]), self._cycles(self.ops)
        return max(waits / at_once, computes) / max(waits / (SUMS * lanes), computes / lanes)

    def _of_types(self) -> float | None:
        """What more lanes gain, and no conversions, of floats of two widths."""
        casts = [op for op in self.ops if isinstance(op, arith.Cast) and op.kind in ("extf", "truncf")]
        types = [v.type for op in casts for v in (op.operand, op.result) if isinstance(v.type, FloatType)]
        widths = {*map(bits_in_register, types)}
        if len(widths) < 2:
            return None
        few, many = (max(1, self.options.target.lanes(bits)) for bits in (max(widths), min(widths)))
        return many / few * self._cycles(self.ops) / self._cycles([op for op in self.ops if op not in casts])

    def _may_be_apart(self, cause: Cause) -> bool:
        """Whether what a subscript gives may be of a loop of its own, and that is worth one."""
        if any(isinstance(op, scf.For | scf.While) for op in self.ops):
            return False  # how often a loop inside of it runs is data as well
        (op,) = cause.ops
        if not isinstance(op, affine.Load | memref.Load):
            return False
        if cause.kind != "gather" or not isinstance(op, memref.Load):
            return True
        made, stored = self.looked.subscript(op), {op.memref for op in self.ops if isinstance(op, memref.Store)}
        arithmetic = (arith.Binary, math.Unary, math.Binary, math.Fma)
        computes = any(isinstance(each, arithmetic) for each in self.ops if each not in made)
        return op.memref not in stored and computes and not any(map(self.done.is_on_vectors, self.ops))

    def _lanes(self) -> int:
        return max(1, lanes_for((a.buffer.type.element for a in self.nest.accesses), self.options))

    def _cycles(self, ops: Sequence[Op]) -> float:
        """What an iteration computes, if nothing waits."""
        units = Units()
        for op in ops:
            units.add(units_of(op, self.machine, self.makers.get))
        return max(units.cycles(self.machine), 1 / self.machine.issue)
