"""Runs the iterations of a loop backwards."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import with_fields
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.legality.order import text_time
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.require import carried_reductions, require_order
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import counted, loop_of, replaced


def reverse(
    function: func.Func, iv: Value, *, reassociate: bool = False, module: func.Module | None = None
) -> func.Func:
    """Run the last iteration of a loop first.

        for i = l to u: S(i)      ->      for i = l to u: S(l + u - 1 - i)

    A loop with several lower or upper bounds counts the negative of what it counted before. Refuses if the loop
    carries a dependence, or may carry one.

    Parameters
    ----------
    iv
        The induction variable of the loop, which it keeps.
    reassociate
        Allow sums and products of floats to be made in another order, which may round in another way.
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        With the dependence, its distance and two iterations; or if the loop carries values (iter_args) that are not
        only combined, or begins at the largest of several numbers in steps of more than 1.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
    ...   affine.for %i = 0 to 9 {
    ...     %a = affine.load %A[%i] : memref<9xf32>
    ...     affine.store %a, %B[%i] : memref<9xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(reverse(f, f.body[0].iv))
    func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
      affine.for %i = 0 to 9 {
        %a = affine.load %A[-%i + 8] : memref<9xf32>
        affine.store %a, %B[-%i + 8] : memref<9xf32>
      }
      return
    }
    """
    what = f"reverse loop {name(iv)}"
    loop = loop_of(function, iv, what)
    dependences = Dependences(function, module)

    def time(access: Access) -> Sequence[Term]:
        return [expr.substitute({iv: -iv}) for expr in text_time(dependences, access)]

    require_order(
        dependences,
        loop,
        time,
        what=what,
        reductions=carried_reductions(dependences, (loop,), what, reassociate=reassociate),
        combining=(iv,),
        reassociate=reassociate,
    )
    if loop.step > 1 and len(loop.lower) > 1:
        raise refusal(loop, what, f"it begins at the largest of several numbers, in steps of {loop.step}")
    return replaced(function, loop, _backwards(loop))


def _backwards(loop: affine.For) -> affine.For:
    if len(loop.lower) == len(loop.upper) == 1:
        total = loop.lower[0] + _last(loop, loop.upper[0])
        return with_fields(loop, body=counted(loop.body, loop.iv, total - loop.iv))
    return with_fields(
        loop,
        lower=tuple(-_last(loop, upper) for upper in loop.upper),
        upper=tuple(1 - lower for lower in loop.lower),
        body=counted(loop.body, loop.iv, -loop.iv),
        written=None,
    )


def _last(loop: affine.For, upper: Affine) -> Affine:
    """The last number before an upper bound, on the steps of a loop."""
    if loop.step == 1:
        return upper - 1
    (lower,) = loop.lower
    return lower + (upper - 1 - lower) // loop.step * loop.step
