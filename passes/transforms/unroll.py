"""Unrolls affine loops: several iterations in each turn, or all of them one after the other without a loop."""

from __future__ import annotations

from affdsl.ir.dialects import scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.messages import shown
from affdsl.passes.legality.proposals import Proposal, Step
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.loops.data_bounds import unrolled
from affdsl.passes.transforms.loops.nests import any_loop_of, loop_of
from affdsl.passes.transforms.loops.pieces import with_loop
from affdsl.passes.transforms.loops.unrolling import Unroller


def unroll(function: Func, iv: Value, factor: int, *, module: Module | None = None) -> Func:
    """Run several iterations of a loop in each turn.

        for i = 0 to n: S(i)   ->   for i = 0 to n floordiv 4 * 4 step 4: S(i) S(i + 1) S(i + 2) S(i + 3)
                                    for i_tail = max(0, n floordiv 4 * 4) to n: S(i_tail)

    Any bounds will do, also those that come from data. Each upper bound that the factor may not divide gets a loop for
    what is left over; with several lower bounds, each turn asks whether it is a whole one.

    Parameters
    ----------
    iv
        The induction variable of the loop, which is afterwards that of the first loop.
    factor
        How many iterations one turn has, at least 2.

    Raises
    ------
    IllegalTransform
        The loop certainly runs less often, or too many operations would be made.

    References
    ----------
    Dongarra, Hinds, "Unrolling Loops in Fortran", Software: Practice and Experience 9 (1979).

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
    ...     affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xf32> }
    ...     return
    ... }''').functions[0]
    >>> print(unroll(f, f.body[0].iv, 2))
    func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
      affine.for %i = 0 to affine_map<()[s0] -> ((s0 floordiv 2) * 2)>()[%n] step 2 {
        affine.store %x, %A[%i] : memref<?xf32>
        %i_0 = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
        affine.store %x, %A[%i_0] : memref<?xf32>
      }
      affine.for %i_tail = max affine_map<()[s0] -> (0, (s0 floordiv 2) * 2)>()[%n] to %n {
        affine.store %x, %A[%i_tail] : memref<?xf32>
      }
      return
    }
    """
    what = f"unroll loop {shown(iv)} by {factor}"
    loop = any_loop_of(function, iv, what)
    if factor < 2:
        raise refusal(loop, what, "the factor must be at least 2")
    if isinstance(loop, scf.For):
        return unrolled(function, loop, factor, what)
    unroller = Unroller(function, module)
    count = unroller.count(loop)
    if count.high is not None and count.high < factor:
        whole = Proposal((Step("unroll_full", (iv,)),), asks_again=False)
        raise refusal(loop, what, f"it runs at most {count.high} times", "" if count.number is None else whole)
    unroller.require_size(loop, factor, what)
    made = unroller.by_factor(loop, factor, count.number)
    ops, replaced = made if made is not None else unroller.by_tests(loop, factor)
    return with_loop(function, loop, ops, replaced)


def unroll_full(function: Func, iv: Value, *, module: Module | None = None) -> Func:
    """Put the iterations of a loop one after the other in its place.

        for i = 0 to 3: S(i)   ->   S(0) S(1) S(2)

    Refuses if the trip count is not one number, or if the first iteration has no one lower bound to begin at.

    Raises
    ------
    IllegalTransform
        With the trip count.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9xf32>, %x: f32, %n: index) {
    ...     affine.for %i = %n to affine_map<()[s0] -> (s0 + 2)>()[%n] { affine.store %x, %A[%i] : memref<9xf32> }
    ...     return
    ... }''').functions[0]
    >>> print(unroll_full(f, f.body[0].iv))
    func.func @f(%A: memref<9xf32>, %x: f32, %n: index) {
      affine.store %x, %A[%n] : memref<9xf32>
      %i = affine.apply affine_map<()[s0] -> (s0 + 1)>()[%n]
      affine.store %x, %A[%i] : memref<9xf32>
      return
    }
    """
    what = f"unroll loop {shown(iv)} entirely"
    loop = loop_of(function, iv, what)
    unroller = Unroller(function, module)
    count = unroller.count(loop)
    if count.number is None:
        why = f"its trip count is {count}, not a number" + "".join(f"; {reason}" for reason in count.unknown)
        most = 4 if count.high is None else min(4, count.high)
        in_part = Proposal((Step("unroll", (iv, most)),), asks_again=False)
        raise refusal(loop, what, why, in_part if most > 1 else "")
    unroller.require_size(loop, count.number, what)
    made = unroller.fully(loop, count.number)
    if made is None:
        raise refusal(loop, what, "it begins at the largest of several lower bounds, which is no affine expression")
    return with_loop(function, loop, *made)
