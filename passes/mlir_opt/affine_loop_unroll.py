"""mlir-opt's choice of what to unroll: innermost loops, by one factor."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from affdsl.errors import AffdslError
from affdsl.ir.blocks import split_body
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import rewrite, walk, with_fields
from affdsl.passes.affine.arithmetic import MOST
from affdsl.passes.mlir_opt.function_like import on_function
from affdsl.passes.transforms.loops.unrolling import Made, Unroller, constant_trips


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
        constants: list[Op] = []
        unroller = Unroller(func, constants=constants)

        def rule(loop: affine.For) -> Made | None:
            number = constant_trips(loop)
            if not split_body(loop.body)[0] and number != 1:
                return None
            if unroll_factor == -1 or (number is not None and number < unroll_factor and unroll_up_to_factor):
                return unroller.fully(loop, number) if number else None
            return unroller.by_factor(loop, unroll_factor, number, cleanup_unroll=cleanup_unroll, one_upper=True)

        made = _each(func, full, rule)
        return with_fields(made, body=(*reversed(constants), *made.body)) if constants else made

    def of_function(func: Func) -> Func:
        if unroll_factor == -1 and unroll_full_threshold != 1:
            return unrolled_once(func, lambda loop: (constant_trips(loop) or MOST) <= unroll_full_threshold)
        for _ in range(unroll_num_reps):
            innermost = _innermost(func)
            before, func = func, unrolled_once(func, innermost.__contains__)
            if func is before:
                break
        return func

    return rewrite(module, lambda op: on_function(op, of_function))


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
