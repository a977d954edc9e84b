"""Leaves out of affine.min and affine.max what never decides, as far as loops, conditions and the contract show it."""

from __future__ import annotations

from collections.abc import Container, Mapping

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import with_fields
from affdsl.passes.cleanup.canonicalize import TABLES
from affdsl.passes.cleanup.canonicalize.affine_loops import never_runs
from affdsl.passes.cleanup.canonicalize.affine_values import AFFINE_VALUES
from affdsl.passes.cleanup.canonicalize.comparisons import constant_right
from affdsl.passes.cleanup.canonicalize.driver import drive
from affdsl.passes.cleanup.canonicalize.integers import constants_right
from affdsl.passes.cleanup.canonicalize.rules import Rules
from affdsl.passes.cleanup.rounds import in_rounds
from affdsl.passes.simplify import Context, simplify_bounds
from affdsl.passes.simplify.context import Definition


def affine_simplify_min_max(module: Module) -> Module:
    """The same program with fewer expressions in its minima and maxima, and none where one expression decides.

        affine.for %i = 0 to 64 step 8 {        ->      affine.for %i = 0 to 64 step 8 {
          %0 = affine.min (%i + 8, 64, %n + 64)           %0 = affine.apply (%i + 8)

    An expression goes if at each point some other one is as small (for affine.max: as large), which the loops and
    conditions around, the definitions of values, and the contract of the function may show. A minimum of minima is one
    minimum. As with mlir-opt, constants are folded on the way, and loops that they keep from running yield what they
    were given. It never refuses: what is not proved stays.

    >>> from affdsl.mlir.readers import parse
    >>> print(affine_simplify_min_max(parse('''func.func @f(%A: memref<64xf32>, %x: f32) {
    ...     affine.for %i = 0 to 64 step 8 {
    ...       affine.for %j = 0 to 8 {
    ...         %0 = affine.min affine_map<(d0, d1) -> (d0 + d1, 63)>(%i, %j)
    ...         memref.store %x, %A[%0] : memref<64xf32>
    ...       }
    ...     }
    ...     return
    ... }''')).functions[0])
    func.func @f(%A: memref<64xf32>, %x: f32) {
      affine.for %i = 0 to 64 step 8 {
        affine.for %j = 0 to 8 {
          %0 = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%i, %j)
          memref.store %x, %A[%0] : memref<64xf32>
        }
      }
      return
    }
    """
    return simplify_extremes(module, None, {})


def simplify_extremes(module: Module, chosen: Container[Value] | None, known: Mapping[Value, Definition]) -> Module:
    """`affine_simplify_min_max` of chosen minima and maxima, or of all, where more is known of some values."""

    def within(op: Op, context: Context) -> Op | None:
        context.definitions.update(known)
        return _without_losers(op, context, chosen)

    return in_rounds(module, within, lambda graph: drive(graph, _TABLES))


def _without_losers(op: Op, context: Context, chosen: Container[Value] | None) -> Op | None:
    match op:
        case affine.Min() | affine.Max() if chosen is None or op.result in chosen:
            exprs = simplify_bounds(op.exprs, "min" if isinstance(op, affine.Min) else "max", context)
            return None if exprs == op.exprs else with_fields(op, exprs=exprs)
        case affine.For():
            lower, upper = _folded(op)
            same = lower == op.lower and upper == op.upper
            return None if same else with_fields(op, lower=lower, upper=upper)
    return None


def _folded(op: affine.For) -> tuple[tuple[Affine, ...], tuple[Affine, ...]]:
    """The bounds of a loop, one on each side where they are numbers; those that keep it from running if they do."""
    lows, highs = ([b.constant for b in bounds if b.is_constant] for bounds in (op.lower, op.upper))
    never = bool(op.results and lows and highs and max(lows) >= min(highs))
    lower = (Affine((), max(lows)),) if never or len(lows) == len(op.lower) else op.lower
    upper = (Affine((), min(highs)),) if never or len(highs) == len(op.upper) else op.upper
    return lower, upper


_TABLES = (
    *(Rules(folds=table.folds) for table in TABLES),
    Rules(
        rules={
            affine.Min: AFFINE_VALUES.rules[affine.Min],
            affine.Max: AFFINE_VALUES.rules[affine.Max],
            affine.For: (never_runs,),
            arith.Binary: (constants_right,),
            arith.Compare: (constant_right,),
        }
    ),
)
"""What mlir-opt calls folding, for all operations, and the rules for minima and maxima."""
