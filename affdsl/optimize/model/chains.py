"""How long an iteration of an innermost loop waits for what the one before it has computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, math, memref, scf, vector
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType
from affdsl.optimize.machine import Machine
from affdsl.optimize.model.compiled import BETWEEN
from affdsl.optimize.model.sizes import element_of, lanes_of

ROUNDS = 4
"""So many iterations are followed; what one stores is found again up to so many later."""
NEVER = -inf
"""When something is there that waits for no iteration before."""
SHORT = 2.0
"""Cycles of a comparison of floats, and of what moves lanes."""
Cell = tuple[Value, tuple[Affine, ...]]
"""An element of an array."""


def cycles_waiting(loop: affine.For, machine: Machine) -> float:
    """The cycles from what an iteration leaves for the next one to what that leaves in turn; 0 if nothing is left.

    Values are handed on, or stored in an element of which a later iteration loads the number.

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
    of = _Followed(loop, machine)
    if not (loop.results or of.both):
        return 0.0
    ends = [of.round() for _ in range(ROUNDS)]
    return max(0.0, (ends[-1] - ends[0]) / (ROUNDS - 1))


@dataclass
class _Followed:
    """Iterations one after the other, and after which cycle each value is there.

    Attributes
    ----------
    both
        The arrays that are loaded and stored.
    """

    loop: affine.For
    machine: Machine
    both: set[Value] = field(default_factory=set)
    ready: dict[Value, float] = field(default_factory=dict)
    applied: dict[Value, Affine] = field(default_factory=dict)
    cells: dict[Cell, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ops = [*walk(self.loop)]
        stored = {op.memref for op in ops if isinstance(op, affine.Store | affine.VectorStore)}
        self.both = stored & {op.memref for op in ops if isinstance(op, affine.Load | affine.VectorLoad)}
        self.ready = dict.fromkeys(self.loop.carried, 0.0)
        applied = [op for op in ops if isinstance(op, affine.Apply)]
        for op in applied if len(applied) <= BETWEEN else ():
            self.applied[op.result] = op.expr.substitute(self.applied)

    def _cell(self, op: affine.Access) -> Cell:
        """The element that is accessed, in terms of counters."""
        return op.memref, tuple(e.substitute(self.applied) for e in op.index) if self.applied else op.index

    def round(self) -> float:
        """One iteration: the last cycle in which something is there that the next one may need."""
        yielded = [*self._block(self.loop.body)]
        last = max([0.0, *self._all(yielded), *self.cells.values()])
        self.ready = dict(zip(self.loop.carried, self._all(yielded), strict=False))
        before = {self.loop.iv: self.loop.iv - self.loop.step}
        self.cells = {(array, tuple(e.substitute(before) for e in at)): end for (array, at), end in self.cells.items()}
        return last

    def _all(self, values: Iterable[Value]) -> list[float]:
        return [self.ready.get(v, NEVER) for v in values]

    def _block(self, block: Block) -> Iterable[Value]:
        """The operations of a block one after the other; what it yields."""
        for op in block:
            at = max(self._all(op.reads()), default=NEVER)
            match op:
                case affine.Load() | affine.VectorLoad() if op.memref in self.both:
                    stored = self.cells.get(self._cell(op))
                    at = max(at, 0.0 if stored is None else stored + self._on_its_way(op.index))
                case memref.Load():
                    at += self.machine.forward
                case affine.Store() | affine.VectorStore():
                    if op.memref in self.both:
                        self.cells[self._cell(op)] = at
                case affine.Yield() | scf.Yield():
                    return op.reads()
                case affine.If() | scf.If():  # what is foreseen waits for no condition
                    sides = [self._all(self._block(part)) for part in op.blocks()]
                    for k, v in enumerate(op.defines()):
                        self.ready[v] = max((side[k] for side in sides if k < len(side)), default=at)
                    continue
                case _:
                    at += latency(op, self.machine)
            self.ready |= dict.fromkeys(op.defines(), at)
        return ()

    def _on_its_way(self, index: tuple[Affine, ...]) -> float:
        """How long a number is on its way to memory and back: of the last dimension compilers keep it in a register."""
        return self.machine.forward if any(self.loop.iv in e.values() for e in index[:-1]) else 0.0


def latency(op: Op, machine: Machine) -> float:
    """After how many cycles the result of an operation is there."""
    kind = getattr(op, "kind", "")
    match op:
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
    **dict.fromkeys(("addf", "subf", "minimumf", "maximumf", "minnumf", "maxnumf"), "sum"),
    **dict.fromkeys(("divf", "remf", "divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi"), "quotient"),
    "mulf": "product",
}
_WHOLE = {"muli": 3.0}


def _is_float(v: Value) -> bool:
    return isinstance(element_of(v.type), FloatType)
