"""Gives the first or the last iterations of a loop a loop of their own."""

from __future__ import annotations

from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.messages import shown
from affdsl.passes.affine.arithmetic import MOST
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.loops.nests import loop_of
from affdsl.passes.transforms.loops.pieces import Piece, as_it_is, in_pieces, largest, smallest, with_loop


def peel(function: Func, iv: Value, *, first: int = 0, last: int = 0, module: Module | None = None) -> Func:
    """Give the first or the last iterations of a loop a loop of their own.

        for i = 0 to n: S(i)   ->   for i_first = 0 to min(1, n): S(i_first)
                                    for i = 1 to n - 2: S(i)
                                    for i_last = max(1, n - 2) to n: S(i_last)

    A loop with fewer iterations has them all in the first part, then in the last. Refuses where these cannot be
    counted from the bounds: the first ones from the largest of several lower bounds, the last ones from the smallest of
    several upper bounds.

    Parameters
    ----------
    iv
        The induction variable of the loop, afterwards that of the iterations in between.
    first, last
        How many iterations, not both 0.

    Raises
    ------
    IllegalTransform
        With the bound that is in the way.

    References
    ----------
    Bacon, Graham, Sharp, "Compiler Transformations for High-Performance Computing", ACM Computing Surveys 26 (1994).

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
    ...     affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xf32> }
    ...     return
    ... }''').functions[0]
    >>> print(peel(f, f.body[0].iv, last=1))
    func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
      affine.for %i = 0 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
        affine.store %x, %A[%i] : memref<?xf32>
      }
      affine.for %i_last = max affine_map<()[s0] -> (0, s0 - 1)>()[%n] to %n {
        affine.store %x, %A[%i_last] : memref<?xf32>
      }
      return
    }
    """
    what = f"peel loop {shown(iv)}"
    loop = loop_of(function, iv, what)
    if first < 0 or last < 0 or first == last == 0 or max(first, last) * loop.step > MOST:
        raise refusal(loop, what, f"it takes a number of first or last iterations, got first={first} and last={last}")
    if first and len(loop.lower) > 1:
        raise refusal(
            loop, what, f"the first {first} iterations end at the largest of several lower bounds and a distance, "
            "but an upper bound can only be the smallest of several",
        )  # fmt: skip
    lower, upper = as_it_is(loop, "lower"), as_it_is(loop, "upper")
    pieces: list[Piece] = []
    starts = loop.lower
    if first:
        starts = (loop.lower[0] + first * loop.step,)
        pieces.append(Piece(lower, smallest(*loop.upper, *starts), "_first"))
        lower = starts
    if not last:
        pieces.append(Piece(lower, upper))
    else:
        ends = _last(loop, last, what)
        pieces.append(Piece(lower, ends))
        pieces.append(Piece(largest(*starts, *ends), upper, "_last"))
    return with_loop(function, loop, in_pieces(loop, pieces, kept=1 if first else 0))


def _last(loop: affine.For, last: int, what: str) -> tuple[Affine, ...]:
    """Where the last iterations of a loop begin."""
    if len(loop.upper) > 1:
        raise refusal(
            loop, what, f"the last {last} iterations begin at the smallest of several upper bounds less a distance, "
            "but a lower bound can only be the largest of several",
        )  # fmt: skip
    if loop.step == 1:
        return (loop.upper[0] - last,)
    if len(loop.lower) > 1:
        raise refusal(
            loop, what, f"with step {loop.step}, the last {last} iterations depend on which lower bound is the largest",
        )  # fmt: skip
    trips = (loop.upper[0] - loop.lower[0]).ceildiv(loop.step)
    return (loop.lower[0] + (trips - last) * loop.step,)
