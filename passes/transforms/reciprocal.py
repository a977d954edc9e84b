"""Multiplies by the reciprocal of what all iterations divide by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, vector
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import clone, rewrite, walk
from affdsl.ir.types import VectorType
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import loop_of_any_kind


def reciprocal(function: Func, iv: Value, *, module: Module | None = None) -> Func:
    """Divide once by what is divided by everywhere in a loop, and multiply by the result instead.

        for i: A[i] = A[i] / x   ->   r = 1 / x; for i: A[i] = A[i] * r

    The results round in another way: they are at most 1.5 ulp away from the exact quotients where the reciprocal and
    the quotient are normal numbers, and may be infinite, zero or NaN where one of them is too large or small for that.

    Parameters
    ----------
    iv
        The induction variable of the loop, which may be parallel.
    module
        What the function stands in. Nothing is asked of it here.

    Raises
    ------
    IllegalTransform
        If nothing in the loop is divided by a constant, or by what is known before it, perhaps in another type
        or in all lanes.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<8xf32>, %x: f32) {
    ...   affine.for %i = 0 to 8 {
    ...     %a = affine.load %A[%i] : memref<8xf32>
    ...     %q = arith.divf %a, %x : f32
    ...     affine.store %q, %A[%i] : memref<8xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(reciprocal(f, f.body[0].iv))
    func.func @f(%A: memref<8xf32>, %x: f32) {
      %cst = arith.constant 1.000000e+00 : f32
      %0 = arith.divf %cst, %x : f32
      affine.for %i = 0 to 8 {
        %a = affine.load %A[%i] : memref<8xf32>
        %q = arith.mulf %a, %0 : f32
        affine.store %q, %A[%i] : memref<8xf32>
      }
      return
    }
    """
    what = f"multiply by reciprocals in loop {name(iv)}"
    loop = loop_of_any_kind(function, iv, what)
    inside = {v: op for op in walk(loop) for v in (*op.defines(), *op.binds())}
    before: dict[Value, list[Op]] = {}

    def rule(op: Op) -> tuple[Op, ...] | None:
        if not isinstance(op, arith.Binary) or op.kind != "divf":
            return None
        divisor = op.right
        makers = _makers(divisor, inside)
        if makers is None:
            return None
        if divisor not in before:
            before[divisor] = _inverse(divisor, makers, loop)
        (factor,) = before[divisor][-1].defines()
        return (arith.Binary(op.result, "mulf", op.left, factor, location=op.location),)

    changed = rewrite(loop, rule)
    if not before:
        raise refusal(
            loop, what, "nothing in it is divided by a constant, or by a value that is known before it", "hoist"
        )
    made = (*(op for ops in before.values() for op in ops), changed)
    return rewrite(function, lambda op: made if op is loop else None)


def _makers(divisor: Value, inside: Mapping[Value, Op]) -> list[Op] | None:
    """What computes a divisor in the loop of what is known before it, in order; None where it may vary.

    That is a constant, a number in another type, or one in all lanes; not an integer of a float, which may be none.
    """
    found: list[Op] = []
    while (maker := inside.get(divisor)) is not None:
        found.insert(0, maker)
        if isinstance(maker, arith.Constant):
            break
        if isinstance(maker, vector.Broadcast):
            divisor = maker.source
        elif isinstance(maker, arith.Cast) and maker.kind not in ("fptosi", "fptoui"):
            divisor = maker.operand
        else:
            return None
    return found


def _inverse(divisor: Value, makers: Sequence[Op], loop: Op) -> list[Op]:
    """1 / divisor; what computes that in the loop is done again before it."""
    type = divisor.type
    ones = (1.0,) * prod(type.shape) if isinstance(type, VectorType) else 1.0
    one = arith.Constant(Value(type), ones, location=loop.location)
    new: dict[Value, Term] = {}
    again = [clone(op, new) for op in makers]
    known = new.get(divisor, divisor)
    assert isinstance(known, Value)
    return [one, *again, arith.Binary(Value(type), "divf", one.result, known, location=loop.location)]
