"""What to write, or to allow, so that a loop can be faster: what makes it slow is looked for in the source.

It is only said of operations that are on numbers one by one after all steps, unless vectors pay as much for it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from affdsl.explained import Hint, Note, SourceLoop
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math, memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import definitions, walk
from affdsl.ir.types import FloatType, IntegerType, VectorType
from affdsl.optimize.machine import LINE, usual
from affdsl.optimize.model.chains import cycles_waiting, latency
from affdsl.optimize.model.units import EXTREME, FUNCTIONS, QUOTIENTS, Units, units_of
from affdsl.optimize.nests import Nest, bits_in_register, nests
from affdsl.optimize.notes import Source
from affdsl.optimize.options import Options
from affdsl.optimize.vector import inner_loops
from affdsl.passes.analysis.access import Access
from affdsl.passes.legality.words import element_in_source
from affdsl.passes.transforms.approximate import POLYNOMIALS
from affdsl.schedule.schedule import Schedule

WORTH = 1.2
"""So many times as fast a loop should be by what is proposed."""
SUMS = 4
"""So many vectors of a sum do not wait for each other."""
EXTREMES = {
    "minimumf": ("af.min", "<"),
    "maximumf": ("af.max", ">"),
    "minnumf": ("af.fmin", "<"),
    "maxnumf": ("af.fmax", ">"),
}
"""What the lesser and the greater of two floats are called, and the comparison that can stand for them."""
ONE_BY_ONE = "each lane is loaded by itself"
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
    told, done = [*notes], _Done(after, small, source)
    for nest in nests(before):
        loop = SourceLoop(source.name(nest.name(nest.innermost)), nest.innermost.location)
        at = next((k for k, note in enumerate(told) if loop in note.loops), None)
        if at is not None:
            found = dict.fromkeys((*told[at].instead, *_Slow(nest, done, loop.name, options).hints()))
            told[at] = replace(told[at], instead=tuple(found))
    return told


class _Done:
    """What became of operations after all steps, by where they were written."""

    def __init__(self, s: Schedule, small: Container[str], source: Source) -> None:
        self._source = source
        large = [nest for nest in nests(s) if not any(name in small for name in map(nest.names.get, _roots(nest)))]
        self._wide = {self._kind(op) for nest in large for op in walk(nest.innermost) if _has_vectors(op)}
        self._bodies = [[self._kind(op) for op in walk(nest.innermost)] for nest in large]
        self._there = {kind for body in self._bodies for kind in body}

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


def _has_vectors(op: Op) -> bool:
    return any(isinstance(v.type, VectorType) for v in (*op.defines(), *op.reads()))


class _Slow:
    """What makes an innermost loop slow, as it is written."""

    def __init__(self, nest: Nest, done: _Done, name: str, options: Options) -> None:
        self.nest, self.loop, self.name, self.options, self.done = nest, nest.innermost, name, options, done
        self.ops = [op for op in walk(self.loop) if op is not self.loop]
        self.scalar = [op for op in self.ops if done.is_one_by_one(op)]
        self.machine = usual(options.target)

    def hints(self) -> Iterator[Hint]:
        """What to try: permissions first, then what is to be written in another way."""
        yield from self._sum()
        yield from self._quotients()
        yield from self._functions()
        yield from self._extremes()
        yield from self._types()
        yield from self._subscripts()
        yield from self._columns()

    def _sum(self) -> Iterator[Hint]:
        """A sum of floats in the order of the text."""
        if self.options.reassociate or self.nest.ends_early or not inner_loops.is_sum(self.nest, self.loop):
            return
        if any(map(self._is_far, self.nest.accesses)):  # lanes of them would be put together one by one
            return
        sums = [op for op in self.scalar if isinstance(op, arith.Binary) and op.kind in ("addf", "subf")]
        waits = cycles_waiting(self.loop, self.machine)
        addition = latency(sums[-1], self.machine) if sums else 0.0
        if not sums or not addition <= waits <= 2 * addition:  # what waits is another thing, or more than one addition
            return
        lanes, at_once, computes = self._lanes(), self.done.at_once(sums[-1]), self._cycles(self.ops)
        now, then = max(waits / at_once, computes), max(waits / (SUMS * lanes), computes / lanes)
        if now > WORTH * then:
            several = f", and {at_once} of them run at once" if at_once > 1 else ""
            how = f"in the order of the text each addition waits {waits:.2g} cycles for the one before it{several}"
            yield Hint("reassociate", f"reassociate=True, for its sum in {lanes} lanes: {how}", now / then)

    def _quotients(self) -> Iterator[Hint]:
        """Divisions by what the loop does not change."""
        quotients = [op for op in self.ops if isinstance(op, arith.Binary) and op.kind == "divf"]
        found = [op for op in quotients if self._is_still(op.right)]
        if self.options.reciprocal or not found:
            return
        products = [replace(op, kind="mulf") if op in found else op for op in self.ops]
        turn = self.machine.turn  # of a loop of one vector an iteration
        gain = max(turn, self._cycles(self.ops)) / max(turn, self._cycles(products))
        if gain > WORTH:
            busy = QUOTIENTS.get(_bits(found[0]), QUOTIENTS[64])
            how = f"a division keeps its unit for {busy:g} cycles, and the loop does not change what it divides by"
            yield Hint("reciprocal", f"reciprocal=True, for products instead: {how}", gain, _line(found[0]))

    def _functions(self) -> Iterator[Hint]:
        """Functions of the C library that a polynomial can stand for."""
        found = [op for op in self.scalar if isinstance(op, math.Unary) and op.kind in POLYNOMIALS]
        if found and not self.options.approximate:
            op = found[0]
            how = f"the C library computes one number at a time, in about {2 * FUNCTIONS[op.kind]:g} cycles"
            text = f"approximate=True, for af.{op.kind} in {self._lanes()} lanes by a polynomial: {how}"
            yield Hint("approximate", text, line=_line(op))

    def _extremes(self) -> Iterator[Hint]:
        """The lesser of two floats for which the next iteration waits: NaN and -0 cost more than a comparison."""
        found = [op for op in self.scalar if isinstance(op, arith.Binary) and op.kind in EXTREMES]
        if found and cycles_waiting(self.loop, self.machine):
            called, sign = EXTREMES[found[0].kind]
            how = f"the next iteration waits for {EXTREME:g} operations of {called}, which tells NaN and -0 from others"
            yield Hint("select", f"af.select(a {sign} b, a, b), if neither occurs: {how}", line=_line(found[0]))

    def _types(self) -> Iterator[Hint]:
        """Numbers of two widths, of which the wider one says how many lanes there are."""
        casts = [op for op in self.ops if isinstance(op, arith.Cast) and op.kind in ("extf", "truncf")]
        types = [v.type for op in casts for v in (op.operand, op.result) if isinstance(v.type, FloatType)]
        widths = {bits_in_register(type): type.name for type in types}
        if len(widths) > 1:
            few, many = (max(1, self.options.target.lanes(bits)) for bits in (max(widths), min(widths)))
            gain = many / few * self._cycles(self.ops) / self._cycles([op for op in self.ops if op not in casts])
            narrow, wide = widths[min(widths)], widths[max(widths)]
            text = f"{narrow} alone: beside {wide} a vector has {few} lanes, and {many} without"
            yield Hint("type", text, gain, _line(casts[0]))

    def _subscripts(self) -> Iterator[Hint]:
        """Subscripts that wrap around, or are clamped, or are data."""
        if any(isinstance(op, scf.For | scf.While) for op in self.ops):
            return  # how often a loop inside of it runs is data as well
        for op in self.scalar:
            match op:
                case affine.Load() if "%" in element_in_source(op):
                    yield self._edge(op, f"{element_in_source(op)} wraps around")
                case memref.Load():
                    made, array = [*self._subscript(op)], op.memref.hint or "the table"
                    if any(isinstance(each, affine.Load | memref.Load) for each in made):
                        if op.memref in self._stored or not self._computes(made) or self._has_vectors:
                            continue  # the order counts, nothing else would run on vectors, or it does
                        text = f"what {array} has looked up in a loop of its own, and kept in an array for this one"
                        yield Hint("table", f"{text}: data chooses its elements, so {ONE_BY_ONE}", line=_line(op))
                    elif any(isinstance(each, affine.Min | affine.Max) or _clamps(each) for each in made):
                        yield self._edge(op, f"the subscript of {array} is clamped")

    def _edge(self, op: Op, where: str) -> Hint:
        text = f"a loop of its own for those {self.name} where {where}, or a copy of the array that goes on at its ends"
        return Hint("edge", f"{text}: such a subscript is no row, so {ONE_BY_ONE}", line=_line(op))

    def _columns(self) -> Iterator[Hint]:
        """An access that goes down a column."""
        for access in self.nest.accesses:
            if access.op in self.scalar and self._is_far(access):
                how = f"{element_in_source(access.op)} is in another line of the cache for each {self.name}"
                text = f"{access.buffer.name} with its dimensions swapped, or another loop inside: {how}"
                yield Hint("layout", text, line=_line(access.op))
                return

    def _is_far(self, access: Access) -> bool:
        """Whether an access is in another line of the cache in each iteration, or nearly so."""
        stride, type = self.nest.stride(access, self.loop), access.buffer.type.element
        bits = bits_in_register(type) if isinstance(type, FloatType | IntegerType) else 8 * LINE
        near = stride.elements is not None and 2 * abs(stride.elements) * bits <= 8 * LINE
        return stride.motion == "strided" and not near

    @property
    def _has_vectors(self) -> bool:
        return any(map(self.done.is_on_vectors, self.ops))

    def _computes(self, but: Sequence[Op]) -> bool:
        """Whether the loop computes something beside some operations."""
        return any(
            isinstance(op, arith.Binary | math.Unary | math.Binary | math.Fma) for op in self.ops if op not in but
        )

    @cached_property
    def _stored(self) -> set[Value]:
        return {op.memref for op in self.ops if isinstance(op, affine.Store | memref.Store)}

    @cached_property
    def _makers(self) -> Mapping[Value, Op]:
        return definitions(self.nest.function)

    def _subscript(self, load: memref.Load) -> Iterator[Op]:
        """What computes the subscript of a load, inside of the loop."""
        seen, waiting = set[Value](), [*load.indices]
        while waiting:
            value = waiting.pop()
            op = self._makers.get(value)
            if op is not None and value not in seen and op in self.ops:
                seen.add(value)
                yield op
                waiting += [] if isinstance(op, affine.Load | memref.Load) else op.reads()

    def _is_still(self, value: Value) -> bool:
        """Whether a value is the same in each iteration."""
        op = self._makers.get(value)
        if op is None or op not in self.ops:
            return value is not self.loop.iv and value not in self.loop.carried
        if isinstance(op, affine.Load):
            return op.memref not in self._stored and not any(self.loop.iv in e.values() for e in op.index)
        return isinstance(op, arith.Constant)

    def _lanes(self) -> int:
        types = [a.buffer.type.element for a in self.nest.accesses]
        bits = [bits_in_register(type) for type in types if isinstance(type, FloatType | IntegerType)]
        return max(1, self.options.target.lanes(max(bits))) if bits else 1

    def _cycles(self, ops: Sequence[Op]) -> float:
        """What an iteration computes, if nothing waits."""
        units = Units()
        for op in ops:
            units.add(units_of(op, self.machine, self._makers.get))
        return max(units.cycles(self.machine), 1 / self.machine.issue)


def _clamps(op: Op) -> bool:
    """Whether an operation is the lesser or the greater of two integers."""
    return isinstance(op, arith.Binary) and op.kind in ("minsi", "maxsi", "minui", "maxui")


def _bits(op: Op) -> int:
    type = next(iter(op.defines())).type
    return type.width if isinstance(type, FloatType) else 64


def _line(op: Op) -> int | None:
    return op.location.line if op.location is not None else None
