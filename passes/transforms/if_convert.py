"""Conditions that decide which number is computed become choices between numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from affdsl.ir.blocks import yielded
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import map_blocks, walk, with_fields
from affdsl.ir.types import FloatType, MemRefType
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.lowering.carried_variables import variables_replaced
from affdsl.passes.transforms.hoist.faults import never_fails
from affdsl.passes.transforms.loops.nests import loop_of, replaced
from affdsl.passes.transforms.vectorize.unconditional import loaded_before_conditions

NEUTRAL = {"addf": -0.0, "subf": 0.0, "mulf": 1.0, "divf": 1.0}
"""What changes no float by an operation, whatever that float is: 0.0 would make 0.0 of -0.0."""
EITHER = ("addf", "mulf")
REASON = "each of them stores, calls, loops, asks about counters alone, or keeps something from failing"


def if_convert(function: func.Func, iv: Value, *, module: func.Module | None = None) -> func.Func:
    """Compute both sides of conditions in a loop, and choose; what is added under a condition is added in any case.

        for i, s: { r = if m[i]: yield s + x[i] else: yield s; yield r }   ->   for i, s: yield s + (m[i] ? x[i] : -0.0)
        for i: A[i] = if c[i]: x[i] * 2 else: y[i]                         ->   for i: A[i] = c[i] ? x[i] * 2 : y[i]

    A processor guesses where a branch goes, and is wrong every second time where data decides at random, which takes
    as long as 15 to 20 operations. A sum waits for one addition in each iteration then, and for nothing else. Results
    are the same to the bit: -0.0 changes no float by an addition (but makes a quiet NaN of a signaling one).

    Variables that the conditions set are carried by the loop then, as `scalar_replace` does it. Conditions stay that
    store, call or loop, or that keep something from failing: a load outside of its array, a
    division of integers by 0.

    Parameters
    ----------
    iv
        The induction variable of the loop, an affine.for.
    module
        What the function stands in: it shows which arguments are one buffer, and what calls do.

    Raises
    ------
    IllegalTransform
        If no condition of the loop can become a choice.

    References
    ----------
    Allen, Kennedy, Porterfield, Warren, "Conversion of control dependence to data dependence", POPL 1983.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%m: memref<9xi1>, %x: memref<9xf64>, %zero: f64) -> f64 {
    ...   %t = affine.for %i = 0 to 9 iter_args(%s = %zero) -> (f64) {
    ...     %c = affine.load %m[%i] : memref<9xi1>
    ...     %r = scf.if %c -> (f64) {
    ...       %a = affine.load %x[%i] : memref<9xf64>
    ...       %b = arith.addf %s, %a : f64
    ...       scf.yield %b : f64
    ...     } else {
    ...       scf.yield %s : f64
    ...     }
    ...     affine.yield %r : f64
    ...   }
    ...   return %t : f64
    ... }''').functions[0]
    >>> print(if_convert(f, f.body[0].iv).body[0])
    %t = affine.for %i = 0 to 9 iter_args(%s = %zero) -> (f64) {
      %c = affine.load %m[%i] : memref<9xi1>
      %a = affine.load %x[%i] : memref<9xf64>
      %cst = arith.constant -0.000000e+00 : f64
      %a_0 = arith.select %c, %a, %cst : f64
      %r = arith.addf %s, %a_0 : f64
      affine.yield %r : f64
    }
    """
    loop = loop_of(function, iv, what := f"make choices of the conditions in loop {name(iv)}")
    if not any(isinstance(op, affine.If | scf.If) for op in walk(loop)):
        raise refusal(loop, what, "there are no conditions in it")
    carried = variables_replaced(function, loop, ())
    if carried is not None:
        function, loop = carried, loop_of(carried, iv, what)
    conditions = [op for op in walk(loop) if isinstance(op, affine.If | scf.If)]
    loaded = loaded_before_conditions(loop, Dependences(function, module).accesses, module)
    numbers = {op.result: op.value for op in walk(function) if isinstance(op, arith.Constant)}
    made = with_fields(loaded, body=(*_block(loaded.body, numbers),))
    if sum(isinstance(op, affine.If | scf.If) for op in walk(made)) == len(conditions):
        raise refusal(loop, what, REASON)
    return replaced(function, loop, made)


def _block(block: Block, numbers: Mapping[Value, object]) -> Iterator[Op]:
    """A block with choices in place of conditions."""
    for op in block:
        if isinstance(op, scf.If):
            inside = with_fields(op, then=(*_block(op.then, numbers),), orelse=(*_block(op.orelse, numbers),))
            yield from _chosen(inside) if _is_free(inside, numbers) else (inside,)
        else:
            yield map_blocks(op, lambda inner: (*_block(inner, numbers),)) if any(op.blocks()) else op


def _is_free(condition: scf.If, numbers: Mapping[Value, object]) -> bool:
    """Whether both sides of a condition may be computed in any case, and something comes of them."""
    inside = [op for block in condition.blocks() for op in block]
    if not condition.results or any(isinstance(v.type, MemRefType) for v in condition.results):
        return False
    return all(
        op.is_terminator or (not any(op.blocks()) and bool(op.defines()) and never_fails(op, numbers)) for op in inside
    )


def _chosen(condition: scf.If) -> Iterator[Op]:
    """What a condition computes, without it."""
    ways = [*zip(condition.results, yielded(condition.then), yielded(condition.orelse), strict=True)]
    used = [v for block in condition.blocks() for op in block for v in op.reads()]
    updates = {a.result: a for a in condition.then if isinstance(a, arith.Binary) and used.count(a.result) == 1}
    combined = {
        result: (update, moved)
        for result, a, b in ways
        if (update := updates.get(a)) is not None and (moved := _added(update, b)) is not None
    }
    gone = {update for update, _ in combined.values()}
    yield from (op for op in (*condition.then[:-1], *condition.orelse[:-1]) if op not in gone)
    for result, a, b in ways:
        if result not in combined:
            yield arith.Select(result, condition.condition, a, b, location=condition.location)
            continue
        update, moved = combined[result]
        kept, least = Value(result.type, moved.hint), Value(result.type, "cst")
        yield arith.Constant(least, NEUTRAL[update.kind], location=update.location)
        yield arith.Select(kept, condition.condition, moved, least, location=condition.location)
        yield with_fields(update, result=result, left=b, right=kept)


def _added(update: arith.Binary, before: Value) -> Value | None:
    """What an operation combines a float with; None if it is of something else."""
    if update.kind not in NEUTRAL or not isinstance(before.type, FloatType):
        return None
    if update.left is before:
        return update.right
    return update.left if update.right is before and update.kind in EITHER else None
