"""Gives a loop two versions, and chooses between them each time."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Constraint, Value
from affdsl.ir.messages import shown
from affdsl.passes.affine.positions import are_valid, positions_of
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.loops.nests import loop_of
from affdsl.passes.transforms.loops.pieces import MOST_OPERATIONS, defined_inside, operations_in, with_loop
from affdsl.passes.transforms.unswitch import either, may_fail


def specialize(function: Func, iv: Value, condition: Sequence[Constraint], *, module: Module | None = None) -> Func:
    """Run a copy of a loop where a condition on sizes does not hold.

        for i = 0 to n: S(i)   ->   if n >= 64: for i = 0 to n: S(i)
                                    else:       for i_else = 0 to n: S(i_else)

    Later steps can then change the two loops each in its own way. The condition reads sizes, and loops around.

    Parameters
    ----------
    iv
        The induction variable of the loop, afterwards that of the loop where the condition holds.
    condition
        Constraints that all have to hold.

    Raises
    ------
    IllegalTransform
        With what is in the way of asking.

    References
    ----------
    Ragan-Kelley and others, "Halide: A language and compiler for optimizing parallelism, locality, and recomputation in
    image processing pipelines" (PLDI 2013): the directive of this name.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
    ...     affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xf32> }
    ...     return
    ... }''').functions[0]
    >>> print(specialize(f, f.body[0].iv, [Constraint(f.args[2] - 64)]))
    func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
      affine.if affine_set<()[s0] : (s0 - 64 >= 0)>()[%n] {
        affine.for %i = 0 to %n {
          affine.store %x, %A[%i] : memref<?xf32>
        }
      } else {
        affine.for %i_else = 0 to %n {
          affine.store %x, %A[%i_else] : memref<?xf32>
        }
      }
      return
    }
    """
    what = f"specialize loop {shown(iv)}"
    loop = loop_of(function, iv, what)
    inside = defined_inside(loop)
    read = [v for c in condition for v in c.values()]
    if not read:
        raise refusal(loop, what, "its condition reads no size, so one of the two would never run")
    if known_inside := [v for v in read if v in inside]:
        raise refusal(loop, what, f"its condition depends on {shown(known_inside[0])}, which is only known inside")
    if any(may_fail(c.expr) for c in condition):
        raise refusal(loop, what, "its condition divides by a symbol, which may be 0")
    if not are_valid([c.expr for c in condition], positions_of(function)):
        raise refusal(loop, what, "its condition reads what may not stand in one")
    if 2 * operations_in((loop,)) > MOST_OPERATIONS:
        raise refusal(loop, what, f"that makes more than {MOST_OPERATIONS} operations")
    return with_loop(function, loop, [either(tuple(condition), loop, loop, loop)])
