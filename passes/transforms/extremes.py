"""Minima and maxima of numbers of which some are left out: one comparison and a choice, which is one instruction."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import arith
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.emitter import Emitter
from affdsl.ir.expr import Value
from affdsl.ir.traverse import rewrite
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import loop_of_any_kind

_BETTER = {"maximumf": "ogt", "minimumf": "olt", "maxnumf": "ogt", "minnumf": "olt"}
"""The minima and maxima of arith, and how the first of two numbers compares where it is the result."""
_OTHER = ("maxnumf", "minnumf")
"""Those that are the other number where one is NaN."""


def extremes(
    function: Func, iv: Value, *, no_nans: bool = False, no_signed_zeros: bool = False, module: Module | None = None
) -> Func:
    """Let minima and maxima everywhere in a loop be those of numbers without sign of zero, and perhaps without NaN.

        m = maximum(a, b)   ->   m = a > b ? a : b

    The maximum of 0 and -0 may then be either of them. Without NaN, that is all; where one may come, it is asked for.
    If zeros have signs, nothing is simpler: which of two zeros is the result takes as long as before.

    Parameters
    ----------
    iv
        The induction variable of the loop, which may be parallel.
    no_nans
        No operand is NaN: if one is, the result may be any number.
    no_signed_zeros
        Which of two zeros is the result does not matter.
    module
        What the function stands in. Nothing is asked of it here.

    Raises
    ------
    IllegalTransform
        If zeros have signs, or no minimum or maximum of floats is computed in the loop.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<8xf32>, %x: f32) {
    ...   affine.for %i = 0 to 8 {
    ...     %a = affine.load %A[%i] : memref<8xf32>
    ...     %m = arith.maximumf %a, %x : f32
    ...     affine.store %m, %A[%i] : memref<8xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(extremes(f, f.body[0].iv, no_nans=True, no_signed_zeros=True).body[0])
    affine.for %i = 0 to 8 {
      %a = affine.load %A[%i] : memref<8xf32>
      %0 = arith.cmpf ogt, %a, %x : f32
      %m = arith.select %0, %a, %x : f32
      affine.store %m, %A[%i] : memref<8xf32>
    }
    """
    what = f"simplify minima and maxima in loop {name(iv)}"
    loop = loop_of_any_kind(function, iv, what)
    if not no_signed_zeros:
        raise refusal(loop, what, "which of 0 and -0 is the result matters, unless no_signed_zeros=True says otherwise")
    changed = False

    def rule(op: Op) -> tuple[Op, ...] | None:
        nonlocal changed
        if not isinstance(op, arith.Binary) or op.kind not in _BETTER:
            return None
        changed = True
        return _plain(op, no_nans=no_nans)

    inside = rewrite(loop, rule)
    if not changed:
        raise refusal(loop, what, "no minimum or maximum of floats is computed in it")
    return rewrite(function, lambda op: inside if op is loop else None)


def _plain(op: arith.Binary, *, no_nans: bool) -> tuple[Op, ...]:
    """A minimum or maximum as a comparison and a choice; where NaN may come, it is asked for first."""
    made = Emitter(op.location)
    result = made.select(made.compare(_BETTER[op.kind], op.left, op.right), op.left, op.right)
    if not no_nans:  # the choice is the second operand where one of the two is NaN
        asked, instead = (op.right, op.left) if op.kind in _OTHER else (op.left, op.left)
        result = made.select(made.compare("uno", asked, asked), instead, result)
    return made.giving(result, op.result)
