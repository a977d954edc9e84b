"""Shifts a loop: its iterations are counted from another place."""

from __future__ import annotations

from affdsl.ir.dialects import func
from affdsl.ir.expr import Value
from affdsl.ir.traverse import with_fields
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import counted, loop_of, replaced


def shift(function: func.Func, iv: Value, by: int, *, module: func.Module | None = None) -> func.Func:
    """Add a number to the counter of a loop.

        for i = l to u: S(i)      ->      for i = l + k to u + k: S(i - k)

    Nothing runs in another order, so this is always legal: it aligns loops before they are fused.

    Parameters
    ----------
    iv
        The induction variable of the loop, which it keeps.
    by
        How many iterations of a loop in steps of 1.

    Raises
    ------
    IllegalTransform
        If there is no such loop.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9xf32>, %x: f32) {
    ...   affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }
    ...   return
    ... }''').functions[0]
    >>> print(shift(f, f.body[0].iv, 3))
    func.func @f(%A: memref<9xf32>, %x: f32) {
      affine.for %i = 3 to 12 {
        affine.store %x, %A[%i - 3] : memref<9xf32>
      }
      return
    }
    """
    loop = loop_of(function, iv, f"shift loop {name(iv)} by {by}")
    if by == 0:
        return function
    moved = with_fields(
        loop,
        lower=tuple(e + by for e in loop.lower),
        upper=tuple(e + by for e in loop.upper),
        body=counted(loop.body, iv, iv - by),
        written=None,
    )
    return replaced(function, loop, moved)
