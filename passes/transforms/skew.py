"""Skews a loop by one around it: its iterations are counted from another place in each iteration of that."""

from __future__ import annotations

from affdsl.ir.dialects import func
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk, with_fields
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import counted, loop_of, replaced


def skew(
    function: func.Func, outer: Value, inner: Value, factor: int, *, module: func.Module | None = None
) -> func.Func:
    """Add a multiple of the counter of one loop to that of another inside of it.

        for i: for j = l to u: S(i, j)      ->      for i: for j = l + f * i to u + f * i: S(i, j - f * i)

    Nothing runs in another order, so this is always legal: it makes interchange and tiling legal, or a loop parallel.

    Parameters
    ----------
    outer, inner
        The induction variables of the loops, which they keep. There may be other loops and statements between them.
    factor
        How many iterations of the inner loop; negative to the other side.

    Raises
    ------
    IllegalTransform
        If one loop is not inside the other.

    References
    ----------
    Wolfe, "Loop skewing: the wavefront method revisited", IJPP 15(4), 1986.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9x9xf32>, %x: f32) {
    ...   affine.for %i = 0 to 9 { affine.for %j = 0 to 9 { affine.store %x, %A[%i, %j] : memref<9x9xf32> } }
    ...   return
    ... }''').functions[0]
    >>> print(skew(f, f.body[0].iv, f.body[0].body[0].iv, 2))
    func.func @f(%A: memref<9x9xf32>, %x: f32) {
      affine.for %i = 0 to 9 {
        affine.for %j = affine_map<(d0) -> (d0 * 2)>(%i) to affine_map<(d0) -> (d0 * 2 + 9)>(%i) {
          affine.store %x, %A[%i, %j - %i * 2] : memref<9x9xf32>
        }
      }
      return
    }
    """
    what = f"skew loop {name(inner)} by {factor} * {name(outer)}"
    around, loop = loop_of(function, outer, what), loop_of(function, inner, what)
    if loop is around or loop not in set(walk(around)):
        raise refusal(loop, what, f"the loop {name(inner)} is not inside the loop {name(outer)}")
    if factor == 0:
        return function
    moved = with_fields(
        loop,
        lower=tuple(e + outer * factor for e in loop.lower),
        upper=tuple(e + outer * factor for e in loop.upper),
        body=counted(loop.body, inner, inner - outer * factor),
        written=None,
    )
    return replaced(function, loop, moved)
