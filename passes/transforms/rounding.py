"""What rounds in another way, in all loops of a function: for kernels that allow it as a whole."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.ir.traverse import outermost
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.approximate import approximate
from affdsl.passes.transforms.contract import contract
from affdsl.passes.transforms.reciprocal import reciprocal

STEPS: Mapping[str, Callable[[Func, Value], Func]] = {
    "reciprocal": reciprocal,
    "approximate": approximate,
    "contract": contract,
}
"""The steps, in the order in which they find work for one another: polynomials are products and sums."""


_LOOPS: tuple[type[Op], ...] = (affine.For, affine.Parallel, scf.For, scf.Parallel)


def rounded(function: Func, allowed: Collection[str]) -> Func:
    """function with what is allowed in all of its loops, where there is any work for it.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<8xf32>, %x: f32) {
    ...   affine.for %i = 0 to 8 {
    ...     %a = affine.load %A[%i] : memref<8xf32>
    ...     %q = arith.divf %a, %x : f32
    ...     %s = arith.addf %q, %x : f32
    ...     affine.store %s, %A[%i] : memref<8xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(rounded(f, {"contract", "reciprocal"}).body[-1])
    affine.for %i = 0 to 8 {
      %a = affine.load %A[%i] : memref<8xf32>
      %s = math.fma %a, %0, %x : f32
      affine.store %s, %A[%i] : memref<8xf32>
    }
    """
    for name, step in STEPS.items():
        for loop in [*outermost(function, _LOOPS)] if name in allowed else ():
            try:
                function = step(function, next(iter(loop.binds())))
            except IllegalTransform:  # no work for it in this loop
                continue
    return function
