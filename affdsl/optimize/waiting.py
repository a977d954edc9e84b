"""How long an iteration of a loop waits for the one before it, and how long it would take if it need not."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType
from affdsl.optimize.computing import AT_ONCE, SLOW, WAIT

QUOTIENT = 13
"""How many cycles pass until the result of a quotient or a square root is there."""
CHOICE = 8
"""How many operations the lesser of two floats is made of, as long as one of them may be no number."""

_CHOICES = frozenset(("minimumf", "maximumf", "minnumf", "maxnumf"))


def cycles_waiting(loop: affine.For) -> int:
    """The cycles from what an iteration leaves for the next one to what that leaves in turn; 0 if it leaves no floats.

    What it leaves is stored in an element of which the next iteration loads the one before.

    >>> from affdsl.mlir.readers import parse
    >>> (f,) = parse('''func.func @f(%A: memref<9xf32>, %x: f32) {
    ...   affine.for %i = 1 to 9 {
    ...     %a = affine.load %A[%i - 1] : memref<9xf32>
    ...     %b = arith.mulf %a, %x : f32
    ...     %c = arith.addf %b, %x : f32
    ...     affine.store %c, %A[%i] : memref<9xf32>
    ...   }
    ...   return
    ... }''').functions
    >>> cycles_waiting(f.body[0]), cycles_computing(f.body[0])
    (8, 1.0)
    """
    stores = [op for op in walk(loop) if isinstance(op, affine.Store) and isinstance(op.value.type, FloatType)]
    return max((_cycle(loop, store) for store in stores), default=0)


def _cycle(loop: affine.For, store: affine.Store) -> int:
    """The cycles from a load of what the iteration before has stored to that store, by values and elements."""
    known: dict[Value, Term] = {}
    for op in walk(loop):
        if isinstance(op, affine.Apply):
            known[op.result] = op.expr.substitute(known)

    def element(op: affine.Load | affine.Store) -> tuple[Value, tuple[Affine, ...]]:
        return op.memref, tuple(e.substitute(known) for e in op.index)

    array, stored = element(store)
    before = tuple(e.substitute({loop.iv: loop.iv - loop.step}) for e in stored)
    since: dict[Value, int] = {}
    left = {(array, before): 0}
    for op in walk(loop):
        if isinstance(op, affine.Load):
            if element(op) in left:
                since[op.result] = left[element(op)]
            continue
        reached = [since[v] for v in op.reads() if v in since]
        if not reached:
            continue
        if op is store:
            return max(reached)
        if isinstance(op, affine.Store):
            left[element(op)] = max(reached)
        since |= dict.fromkeys(op.defines(), max(reached) + _latency(op))
    return 0


def cycles_computing(loop: affine.For) -> float:
    """The cycles that an iteration takes if it waits for nothing."""
    memory = others = 0
    for op in walk(loop):
        if isinstance(op, affine.Load | affine.Store):
            memory += 1
        elif any(isinstance(v.type, FloatType) for v in op.defines()):
            kind = getattr(op, "kind", "")
            others += SLOW if _is_slow(op) else CHOICE if kind in _CHOICES else isinstance(op, arith.Binary | math.Fma)
    return max(memory, others) / AT_ONCE


def _latency(op: Op) -> int:
    if _is_slow(op):
        return QUOTIENT
    return WAIT if isinstance(op, arith.Binary | math.Fma) and getattr(op, "kind", "")[-1:] != "i" else 0


def _is_slow(op: Op) -> bool:
    return isinstance(op, math.Unary) or getattr(op, "kind", "") in ("divf", "remf")
