"""How long an iteration of an innermost loop waits for what the one before it has computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import TypeAlias

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, math, memref, scf, vector
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.expr import Affine, FloorDiv, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, MemRefType
from affdsl.optimize.machine import Machine, element_of, lanes_of
from affdsl.optimize.model.compiled import BETWEEN, always_loaded, is_branch, step_of, usual_side
from affdsl.optimize.model.units import Makers, has_products

ROUNDS = 4
"""So many iterations are followed; what one stores is found again up to so many later."""
NEVER = -inf
"""When something is there that waits for no iteration before."""
SHORT = 3.0
"""Cycles of a comparison of floats, and of what moves lanes."""
LOADS = (affine.Load, affine.VectorLoad, vector.MaskedLoad)
STORES = (affine.Store, affine.VectorStore, vector.MaskedStore)
Access: TypeAlias = "affine.Access | vector.MaskedLoad | vector.MaskedStore"
Place = tuple[Value, tuple[Affine, ...]]
"""An array, and expressions without their constants: elements of one place are some numbers apart."""


def cycles_waiting(loop: affine.For, machine: Machine, maker: Makers = lambda _: None) -> float:
    """The cycles from what an iteration leaves for the next one to what that leaves in turn; 0 if nothing is left.

    Values are handed on, or stored in an element of which a later iteration loads the number. What is loaded of an
    element that a vector beside it, or a vector under a mask, has stored waits until that is in the cache; and later
    stores wait for it, since they reach the cache in the order of the text (Intel, "Optimization reference manual",
    on store forwarding, and on forwarding and memory masking).

    >>> from affdsl.codegen.targets.baseline import BASELINE
    >>> from affdsl.mlir.readers import parse
    >>> from affdsl.optimize.machine import usual
    >>> (f,) = parse('''func.func @f(%A: memref<9xf32>, %x: f32) {
    ...   affine.for %i = 1 to 9 {
    ...     %a = affine.load %A[%i - 1] : memref<9xf32>
    ...     %b = arith.mulf %a, %x : f32
    ...     %c = arith.addf %b, %x : f32
    ...     affine.store %c, %A[%i] : memref<9xf32>
    ...   }
    ...   return
    ... }''').functions
    >>> cycles_waiting(f.body[0], usual(BASELINE))
    6.5
    """
    return waiting(loop, machine, maker)[0]


def waiting(loop: affine.For, machine: Machine, maker: Makers = lambda _: None) -> tuple[float, bool]:
    """The same, and whether the next run of the loop waits as well: its vectors lie across those that were stored."""
    of = _Followed(loop, machine, maker)
    if not (loop.results or of.both):
        return 0.0, False
    ends = [of.round() for _ in range(ROUNDS)]
    return max(0.0, (ends[-1] - ends[0]) / (ROUNDS - 1)), of.meets


@dataclass
class _Stored:
    """Neighbours that were stored: where, in which cycle they were there, and in which one they went to the cache."""

    at: tuple[int, ...]
    width: int
    end: float
    gone: float
    is_whole: bool


@dataclass
class _Followed:
    """Iterations one after the other, and after which cycle each value is there.

    Attributes
    ----------
    both
        The arrays that are loaded and stored.
    count
        How many iterations there were.
    done, blocked
        After which cycle all operations so far are done, and the last load that waited for a store.
    chosen
        After which cycle it is known whether what is at hand is done, where that is no branch.
    meets
        Whether a load waited for a vector that moves by less than its length with a counter of a loop around.
    """

    loop: affine.For
    machine: Machine
    maker: Makers
    both: set[Value] = field(default_factory=set)
    ready: dict[Value, float] = field(default_factory=dict)
    made: dict[Value, Affine] = field(default_factory=dict)
    stored: dict[Place, list[_Stored]] = field(default_factory=dict)
    places: dict[object, tuple[tuple[Affine, ...], tuple[int, ...]]] = field(default_factory=dict)
    count: int = 0
    done: float = 0.0
    blocked: float = 0.0
    chosen: float = NEVER
    meets: bool = False
    loaded: set[Place] = field(default_factory=set)

    def __post_init__(self) -> None:
        ops = [*walk(self.loop)]
        self.both = {self._array(op) for op in ops if isinstance(op, STORES)} & {
            self._array(op) for op in ops if isinstance(op, LOADS)
        }
        self.ready = dict.fromkeys(self.loop.carried, 0.0)
        self.loaded = {*always_loaded(self.loop.body)}
        if self.both:
            self.made = {op.result: op.expr for op in ops if isinstance(op, affine.Apply)}

    def _array(self, op: Access) -> Value:
        """The array of an access, and not a view of it with fewer dimensions, of which each access may have its own."""
        array = op.memref
        while isinstance(view := self.maker(array), memref.CollapseShape):
            array = view.source
        return array

    def _in_counters(self, expr: Affine) -> Affine:
        """An expression in terms of counters, unless very many values lie in between."""
        for _ in range(BETWEEN):
            new = {v: self.made[v] for v in expr.values() if v in self.made}
            if not new:
                break
            expr = expr.substitute(new)
        return expr

    def _place(self, op: Access) -> tuple[Place, tuple[int, ...]]:
        """Where an access begins: the array, the subscripts in terms of counters without their constants, and these.

        Rows of known length are one: a vector that is longer than what is left of its row reaches into the next one.
        """
        index = op.index if isinstance(op, affine.Access) else tuple(map(Affine.of, op.indices))
        shape = op.memref.type.shape if isinstance(op.memref.type, MemRefType) and not op.memref.type.layout else ()
        if (index, shape) not in self.places:
            exprs = [self._in_counters(e) for e in index]
            while len(exprs) > 1 and (length := shape[len(exprs) - 1 :][:1]) and length[0] is not None:
                *exprs, row, last = exprs
                exprs.append(row * length[0] + last)
            self.places[index, shape] = tuple(e - e.constant for e in exprs), tuple(e.constant for e in exprs)
        place, at = self.places[index, shape]
        return (self._array(op), place), at

    def round(self) -> float:
        """One iteration: the last cycle in which something is there that the next one may need."""
        yielded = self._all(self._block(self.loop.body))
        self.ready = dict(zip(self.loop.carried, yielded, strict=False))
        last = max([0.0, *yielded, *(each.end for all in self.stored.values() for each in all)])
        for place in [*self.stored]:
            self._one_later(place)
        self.count += 1
        return max(last, self.blocked)

    def _one_later(self, place: Place) -> None:
        """Say where in terms of the next iteration the elements lie that this one, and those before it, stored."""
        steps = [step_of(e, self.loop.iv) for e in place[1]]
        found = self.stored.pop(place)
        if None not in steps:
            moved = [self.loop.step * (step or 0) for step in steps]
            for each in found:
                each.at = tuple(a - by for a, by in zip(each.at, moved, strict=True))
            self.stored[place] = found

    def _all(self, values: Iterable[Value]) -> list[float]:
        return [self.ready.get(v, NEVER) for v in values]

    def _block(self, block: Block) -> Iterable[Value]:
        """The operations of a block one after the other; what it yields."""
        for op in block:
            at = max(self._all(op.reads()), default=NEVER)
            match op:
                case affine.Load() | affine.VectorLoad() | vector.MaskedLoad() if self._array(op) in self.both:
                    at = max(at, self._loaded(op))
                case memref.Load():
                    at += self.machine.forward
                case affine.Store() | affine.VectorStore() | vector.MaskedStore():
                    if self._array(op) in self.both:
                        self._store(op, at)
                case affine.Yield() | scf.Yield():
                    return op.reads()
                case affine.If() | scf.If() if (side := self._side(op)) is not None:
                    self.ready |= dict(zip(op.defines(), self._all(self._block(side)), strict=False))
                    continue
                case affine.If() | scf.If():  # what is foreseen waits for no condition, and what is chosen does
                    chosen = at + 1 if isinstance(op, scf.If) and not is_branch(op, self.loaded) else NEVER
                    before, self.chosen = self.chosen, max(self.chosen, chosen)
                    sides = [self._all(self._block(part)) for part in op.blocks()]
                    self.chosen = before
                    for k, v in enumerate(op.defines()):
                        self.ready[v] = max((side[k] for side in sides if k < len(side)), default=at)
                        self.ready[v] = max(self.ready[v], chosen)
                    continue
                case _:
                    at += latency(op, self.machine, self.maker)
            self.done = max(self.done, at)
            self.ready |= dict.fromkeys(op.defines(), at)
        return ()

    def _side(self, op: affine.If | scf.If) -> Block | None:
        """The side that this iteration takes where remainders of the counter decide; None where other things do."""
        if isinstance(op, scf.If):
            return usual_side(op, self.maker)
        exprs = [self._in_counters(c.expr) for c in op.condition]
        parts = [[atom.reads for atom, _ in e.terms if isinstance(atom, FloorDiv)] for e in exprs]
        if not all(any(self.loop.iv in reads for reads in each) for each in parts):
            return None
        at = {v: self.count * self.loop.step if v is self.loop.iv else 1 for e in exprs for v in e.values()}
        found = [(e.evaluate(at), c.equality) for e, c in zip(exprs, op.condition, strict=True)]
        return op.then if all(n == 0 if equality else n >= 0 for n, equality in found) else op.orelse

    def _store(self, op: affine.Store | affine.VectorStore | vector.MaskedStore, at: float) -> None:
        """Note what is stored in a cycle: it goes to the cache when all before it is done."""
        place, begin = self._place(op)
        whole, at = not isinstance(op, vector.MaskedStore), max(at, self.chosen)
        found = self.stored.setdefault(place, [])
        found[:] = [each for each in found if (each.at, each.width) != (begin, lanes_of(op.value.type))]
        found.append(_Stored(begin, lanes_of(op.value.type), at, max(at, self.done), whole))

    def _loaded(self, op: affine.Load | affine.VectorLoad | vector.MaskedLoad) -> float:
        """After which cycle the elements of a load are there, as far as the last store says that overlaps it."""
        place, at = self._place(op)
        end = at[-1] + lanes_of(op.result.type) if at else 1
        for each in reversed(self.stored.get(place, ())):
            begin = each.at[-1] if at else 0
            if each.at[:-1] != at[:-1] or end <= begin or begin + each.width <= (at[-1] if at else 0):
                continue
            if each.is_whole and (not at or (begin <= at[-1] and end <= begin + each.width)):
                return each.end + self._on_its_way(op)
            around = [by for v, by in place[1][-1].terms if v is not self.loop.iv] if at else []
            self.meets |= any(abs(by) < each.width for by in around)
            self.blocked = max(self.blocked + self.machine.blocked_next, each.gone + self.machine.blocked)
            return self.blocked
        return 0.0

    def _on_its_way(self, op: Access) -> float:
        """How long a number is on its way to memory and back: of the last dimension compilers keep it in a register."""
        index = op.index if isinstance(op, affine.Access) else tuple(map(Affine.of, op.indices))
        rows = {v for e in index[:-1] for v in self._in_counters(e).values()}
        return self.machine.forward if self.loop.iv in rows else 0.0


def latency(op: Op, machine: Machine, maker: Makers = lambda _: None) -> float:
    """After how many cycles the result of an operation is there."""
    kind = getattr(op, "kind", "")
    match op:
        case arith.Binary() if has_products(op, machine, maker, lanes_of(op.result.type)):
            return 2 * machine.product
        case arith.Binary() if kind in _OF_KIND:
            return float(getattr(machine, _OF_KIND[kind]))
        case arith.Binary() if kind in _WHOLE:
            return _WHOLE[kind]
        case math.Fma() | vector.Fma():
            return machine.product
        case math.Unary() | math.Binary() if kind not in ("absf", "absi", "copysign"):
            return machine.quotient if kind in ("sqrt", "rsqrt") else machine.function
        case complex_.Binary():
            return machine.product + machine.sum if kind == "mul" else machine.sum
        case vector.Reduction() if _is_float(op.source):
            return lanes_of(op.source.type) * machine.sum
        case vector.Shuffle() | vector.Extract() | vector.Insert() | vector.Broadcast():
            return SHORT
        case arith.Cast() if _is_float(op.result) != _is_float(op.operand):
            return machine.product
        case arith.Compare() if _is_float(op.left):
            return SHORT
        case vector.ShapeCast() | arith.Constant():
            return 0.0
    return 1.0


_OF_KIND = {
    **dict.fromkeys(("addf", "subf"), "sum"),
    **dict.fromkeys(("divf", "remf", "divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi"), "quotient"),
    **dict.fromkeys(("mulf", "minimumf", "maximumf", "minnumf", "maxnumf"), "product"),
}
_WHOLE = {"muli": 3.0}


def _is_float(v: Value) -> bool:
    return isinstance(element_of(v.type), FloatType)
