"""Splits the iterations of a loop at a number: those below it, then the others."""

from __future__ import annotations

from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.messages import shown
from affdsl.ir.spelling import spell
from affdsl.passes.affine.positions import are_valid, positions_of
from affdsl.passes.affine.subscripts import exact_indices, with_affine_subscripts
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.loops.nests import loop_of
from affdsl.passes.transforms.loops.pieces import (
    Piece,
    as_it_is,
    in_pieces,
    largest,
    smallest,
    visible_before,
    with_loop,
)
from affdsl.passes.transforms.loops.wrap_around import peeled_off


def index_set_split(function: Func, iv: Value, at: Term, *, module: Module | None = None) -> Func:
    """Split a loop in two: the iterations below a number, then the others.

        for i = 0 to n: S(i)   ->   for i = 0 to min(n, k): S(i)
                                    for i_rest = max(0, k) to n: S(i_rest)

    Behind the first iteration, a carried value is known that is affine in the counter of the iteration before: with
    `yield i`, `A[k]` is `A[i_rest - 1]`.

    The number may lie anywhere; then one of the loops does not run. Refuses where the second loop cannot say in which
    step it begins: if the step is not 1 and there are several lower bounds.

    Parameters
    ----------
    iv
        The induction variable of the loop, afterwards that of the first one.
    at
        The number, over values that may stand in bounds before the loop.

    Raises
    ------
    IllegalTransform
        With the value that is not known before the loop, or may not stand in bounds.

    References
    ----------
    Griebl, Feautrier, Lengauer, "Index Set Splitting", Int. J. of Parallel Programming 28 (2000).

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<?xf32>, %x: f32, %n: index, %k: index) {
    ...     affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xf32> }
    ...     return
    ... }''').functions[0]
    >>> print(index_set_split(f, f.body[0].iv, f.args[3]))
    func.func @f(%A: memref<?xf32>, %x: f32, %n: index, %k: index) {
      affine.for %i = 0 to min affine_map<()[s0, s1] -> (s0, s1)>()[%n, %k] {
        affine.store %x, %A[%i] : memref<?xf32>
      }
      affine.for %i_rest = max affine_map<()[s0] -> (0, s0)>()[%k] to %n {
        affine.store %x, %A[%i_rest] : memref<?xf32>
      }
      return
    }
    """
    at = Affine.of(at)
    what = f"split loop {shown(iv)} at {spell(at)}"
    loop = loop_of(function, iv, what)
    visible = visible_before(function, loop)
    unknown = [shown(v) for v in at.values() if v not in visible]
    if unknown:
        raise refusal(loop, what, f"{unknown[0]} is not known before the loop")
    positions = positions_of(function)
    if not are_valid([at], positions):
        raise refusal(loop, what, f"{next(positions.misplaced([at]))}, so it cannot be a bound")
    start = at
    if loop.step > 1:
        if len(loop.lower) > 1:
            raise refusal(
                loop, what, f"with step {loop.step}, where the second part begins depends on which of several lower "
                "bounds is the largest",
            )  # fmt: skip
        start = loop.lower[0] + (at - loop.lower[0]).ceildiv(loop.step) * loop.step
    pieces = [
        Piece(as_it_is(loop, "lower"), smallest(*loop.upper, at)),
        Piece(largest(*loop.lower, start), as_it_is(loop, "upper"), "_rest"),
    ]
    below, above = in_pieces(loop, pieces)
    if not all((start - low).is_constant and (start - low).constant > 0 for low in loop.lower):
        return with_loop(function, loop, (below, above))
    above = peeled_off(above, function)
    made = with_loop(function, loop, (below, above))
    return with_affine_subscripts(made, exact_indices(above), positions_of(made))
