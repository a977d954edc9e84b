"""Unrolls affine loops: several iterations in each turn, or all of them one after the other without a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.messages import shown
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import rewrite, walk
from passes.affine.arithmetic import MOST
from passes.legality.require import refusal
from passes.legality.steps import Proposal, Step
from passes.transforms.loops.data_bounds import unrolled
from passes.transforms.loops.nests import any_loop_of, loop_of
from passes.transforms.loops.pieces import split_body, with_loop
from passes.transforms.loops.unrolling import Made, Unroller, constant_trips


def affine_loop_unroll(
    module: Module,
    *,
    unroll_factor: int = 4,
    unroll_up_to_factor: bool = False,
    unroll_num_reps: int = 1,
    unroll_full_threshold: int = 1,
    cleanup_unroll: bool = False,
) -> Module:
    """The same program with its innermost affine loops unrolled.

        affine.for %i = 0 to 10 { S(%i) }   ->   affine.for %i = 0 to 8 step 4 { S(%i) S(%i + 1) S(%i + 2) S(%i + 3) }
                                                 affine.for %i = 8 to 10 { S(%i) }

    Loops stay that run less often than the factor says, and those with several bounds on one side, unless the factor
    divides every trip count. So do loops of which more than `MOST_OPERATIONS` operations would be made.

    Parameters
    ----------
    unroll_factor
        How many iterations one turn has; -1 is all of them, of loops whose trip count is a number.
    unroll_up_to_factor
        Loops that run less often than that are unrolled entirely.
    unroll_num_reps
        How often the innermost loops, those that are so by then, are unrolled.
    unroll_full_threshold
        With the factor -1, any number but 1: all loops that run that often at most, not only the innermost.
    cleanup_unroll
        Where iterations would be left over, unroll the loop entirely, or leave it if its trip count is no number.

    Raises
    ------
    AffdslError
        The factor is 0 or below -1.

    >>> from affdsl.mlir.readers import parse
    >>> print(affine_loop_unroll(parse('''func.func @f(%A: memref<10xf32>, %x: f32) {
    ...     affine.for %i = 0 to 10 { affine.store %x, %A[%i] : memref<10xf32> }
    ...     return
    ... }'''), unroll_factor=2).functions[0])
    func.func @f(%A: memref<10xf32>, %x: f32) {
      affine.for %i = 0 to 10 step 2 {
        affine.store %x, %A[%i] : memref<10xf32>
        %i_0 = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
        affine.store %x, %A[%i_0] : memref<10xf32>
      }
      return
    }
    """
    if unroll_factor < -1 or unroll_factor == 0:
        raise AffdslError(f"'unroll-factor' should be greater than 0, or -1 for all iterations; got {unroll_factor}")

    def unrolled_once(func: Func, full: Callable[[affine.For], bool]) -> Func:
        unroller = Unroller(func)

        def rule(loop: affine.For) -> Made | None:
            number = constant_trips(loop)
            if not split_body(loop.body)[0] and number != 1:
                return None
            if unroll_factor == -1 or (number is not None and number < unroll_factor and unroll_up_to_factor):
                return unroller.fully(loop, number) if number else None
            return unroller.by_factor(loop, unroll_factor, number, cleanup_unroll=cleanup_unroll, one_upper=True)

        return _each(func, full, rule)

    def of_function(op: Op) -> Func | None:
        if not isinstance(op, Func) or op.external:
            return None
        if unroll_factor == -1 and unroll_full_threshold != 1:
            return unrolled_once(op, lambda loop: (constant_trips(loop) or MOST) <= unroll_full_threshold)
        func = op
        for _ in range(unroll_num_reps):
            innermost = _innermost(func)
            before, func = func, unrolled_once(func, innermost.__contains__)
            if func is before:
                break
        return func

    return rewrite(module, of_function)


def unroll(func: Func, iv: Value, factor: int) -> Func:
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
    loop = any_loop_of(func, iv, what)
    if factor < 2:
        raise refusal(loop, what, "the factor must be at least 2")
    if isinstance(loop, scf.For):
        return unrolled(func, loop, factor, what)
    unroller = Unroller(func)
    count = unroller.count(loop)
    if count.high is not None and count.high < factor:
        whole = Proposal((Step("unroll_full", (iv,)),), asks_again=False)
        raise refusal(loop, what, f"it runs at most {count.high} times", "" if count.number is None else whole)
    unroller.require_size(loop, factor, what)
    made = unroller.by_factor(loop, factor, count.number)
    ops, replaced = made if made is not None else unroller.by_tests(loop, factor)
    return with_loop(func, loop, ops, replaced)


def unroll_full(func: Func, iv: Value) -> Func:
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
    loop = loop_of(func, iv, what)
    unroller = Unroller(func)
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
    return with_loop(func, loop, *made)


# --- Below: how


def _innermost(func: Func) -> set[affine.For]:
    """The loops without an affine.for inside."""
    return {
        op
        for op in walk(func)
        if isinstance(op, affine.For)
        and not any(isinstance(inner, affine.For) for inner in walk(op) if inner is not op)
    }


def _each(func: Func, chosen: Callable[[affine.For], bool], rule: Callable[[affine.For], Made | None]) -> Func:
    """func with what a rule makes of the chosen loops; inner ones first."""
    wanted = {op.iv for op in walk(func) if isinstance(op, affine.For) and chosen(op)}
    replaced: dict[Value, Value] = {}

    def on_op(op: Op) -> Iterable[Op] | None:
        if not isinstance(op, affine.For) or op.iv not in wanted:
            return None
        loop = renamed(op, replaced)  # before it is copied: copies read copies
        made = rule(loop)
        if made is None:
            return (loop,)
        replaced.update(made[1])
        return made[0]

    return renamed(rewrite(func, on_op), replaced)
