"""Computes exponentials, logarithms, sines and others by polynomials: with a stated error, in all lanes at once."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import math
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.formats import FORMATS
from affdsl.ir.traverse import rewrite, walk
from affdsl.ir.types import FloatType, element_of
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.lowering.maker import Maker
from affdsl.passes.transforms.approximate import circular
from affdsl.passes.transforms.approximate.functions import FUNCTIONS
from affdsl.passes.transforms.loops.nests import loop_of_any_kind

POLYNOMIALS = (*FUNCTIONS, *circular.NAMES)
"""The functions of math for which there are polynomials, in f32 and f64."""


def approximate(function: Func, iv: Value, *, module: Module | None = None) -> Func:
    """Compute exp, exp2, log, log2, log10, erf, tanh, sin and cos of f32 and f64 in a loop by operations of arith.

    The results are at most 1.5 ulp (units in the last place) away from the exact ones, and of log2 and log10 at most 3;
    also where `contract` fuses products and sums later. Numbers too small for the format's normal ones are results and
    arguments as others are; infinities, zeros and NaN give what IEEE 754 asks for. The same operations give the same
    bits in the interpreter, in C and in MLIR.

    Of sin and cos, results are at most 1.5 ulp away for angles up to 2**20. Where one is larger, or of a vector some
    lane is, the function of the C library is called as before.

    Parameters
    ----------
    iv
        The induction variable of the loop, which may be parallel.
    module
        What the function stands in. Nothing is asked of it here.

    Raises
    ------
    IllegalTransform
        If no such function of such numbers is computed in the loop.

    References
    ----------
    Cody and Waite, "Software Manual for the Elementary Functions", 1980; Tang, "Table-driven implementation of the
    exponential function in IEEE floating-point arithmetic", TOMS 1989. The coefficients are those of interpolation at
    Chebyshev points, see `functions`.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<8xf32>) {
    ...   affine.for %i = 0 to 8 {
    ...     %a = affine.load %A[%i] : memref<8xf32>
    ...     %e = math.exp %a : f32
    ...     affine.store %e, %A[%i] : memref<8xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> sum(isinstance(op, math.Unary) for op in walk(approximate(f, f.body[0].iv)))
    0
    """
    what = f"approximate functions in loop {name(iv)}"
    loop = loop_of_any_kind(function, iv, what)
    if not any(_is_known(op) for op in walk(loop)):
        raise refusal(loop, what, f"no {', '.join(POLYNOMIALS)} of f32 or f64 is computed in it")

    def rule(op: Op) -> tuple[Op, ...] | None:
        if not isinstance(op, math.Unary) or not _is_known(op):
            return None
        if op.kind in circular.NAMES:
            return circular.circular(op, FORMATS[_element(op.result)])
        maker = Maker(op.result.type, FORMATS[_element(op.result)], op.location)
        found = FUNCTIONS[op.kind](maker, op.operand)
        return maker.giving(found, op.result)

    inside = rewrite(loop, rule)
    return rewrite(function, lambda op: inside if op is loop else None)


def _is_known(op: Op) -> bool:
    if not isinstance(op, math.Unary) or op.kind not in POLYNOMIALS or circular.is_far(op):
        return False
    return _element(op.result) in FORMATS


def _element(value: Value) -> str:
    type = element_of(value.type)
    return type.name if isinstance(type, FloatType) else ""
