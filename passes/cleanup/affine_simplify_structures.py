"""Simplifies affine maps and sets where they stand, and the loops and conditions that this decides."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Affine, Constraint
from affdsl.ir.traverse import with_fields
from affdsl.passes.affine import maps as affine_maps
from affdsl.passes.cleanup.canonicalize import TABLES
from affdsl.passes.cleanup.canonicalize.affine_loops import AFFINE_LOOPS
from affdsl.passes.cleanup.canonicalize.affine_values import AFFINE_VALUES
from affdsl.passes.cleanup.canonicalize.graph import AFFINE_FIELDS, Graph, OpNode
from affdsl.passes.cleanup.canonicalize.rules import Fold, Known, Rule
from affdsl.passes.cleanup.rounds import in_rounds
from affdsl.passes.simplify import Context, simplify, simplify_bounds, simplify_constraints

MOST_PAIRS = 64
"""Loops with more pairs of a lower and an upper bound are not asked whether they are empty."""


def affine_simplify_structures(module: Module) -> Module:
    """The same program with simpler subscripts, bounds and conditions, less what these show never to run.

        affine.for %i = 0 to 8 {                        ->      affine.for %i = 0 to 8 {
          %0 = affine.apply (%i floordiv 8)
          affine.if (%i >= 0) {
            affine.store %x, %A[%0 * 8 + %i mod 8]                affine.store %x, %A[%i]
          }
          affine.for %j = %i to min(%i, %n) { S }
        }                                                       }

    Each expression is simplified by what the loops and conditions around it, the definitions of its values and the
    contract of the function say. A condition that always holds, or never, leaves the operations of one block, and what
    that block yields. A loop that never runs leaves what it would have yielded at first. affine.apply becomes part
    of the bounds, conditions and other affine.apply that use it. It never refuses: what is not proved stays.

    >>> from affdsl.mlir.readers import parse
    >>> print(affine_simplify_structures(parse('''func.func @f(%A: memref<8x8xf32>, %x: f32) {
    ...     affine.for %i = 0 to 64 {
    ...       affine.if affine_set<(d0) : (63 - d0 >= 0)>(%i) {
    ...         affine.store %x, %A[%i floordiv 8, (%i mod 8 + 8) mod 8] : memref<8x8xf32>
    ...       }
    ...     }
    ...     return
    ... }''')).functions[0])
    func.func @f(%A: memref<8x8xf32>, %x: f32) {
      affine.for %i = 0 to 64 {
        affine.store %x, %A[%i floordiv 8, %i mod 8] : memref<8x8xf32>
      }
      return
    }
    """
    return in_rounds(module, _simplified, _settle)


def _simplified(op: Op, context: Context) -> Op | tuple[()] | None:
    """op with simpler expressions; None if they stay."""
    if context.is_contradictory or type(op) not in AFFINE_FIELDS:
        return None
    new: dict[str, object]
    match op:
        case affine.For():
            if _is_empty([(op.lower, op.upper)], context):
                new = {"lower": (Affine(),), "upper": (Affine(),)}
            else:
                lower, upper = simplify_bounds(op.lower, "max", context), simplify_bounds(op.upper, "min", context)
                new = {"lower": lower, "upper": upper}
        case affine.Parallel():
            if not op.results and _is_empty(list(zip(op.lower, op.upper, strict=True)), context):
                return ()
            lowers = tuple([simplify_bounds(group, "max", context) for group in op.lower])
            uppers = tuple([simplify_bounds(group, "min", context) for group in op.upper])
            new = {"lower": lowers, "upper": uppers}
        case affine.If():
            new = {"condition": simplify_constraints(op.condition, context) or ALWAYS}
        case affine.Apply():
            new = {"expr": simplify(op.expr, context)}
        case _:
            new = {
                name: tuple([simplify(expr, context) for expr in getattr(op, name)]) for name in AFFINE_FIELDS[type(op)]
            }
    return None if all(getattr(op, name) == part for name, part in new.items()) else with_fields(op, **new)


ALWAYS = (Constraint(Affine(), equality=True),)
"""The condition that always holds: 0 == 0, as MLIR writes it."""


def _is_empty(bounds: Sequence[tuple[Sequence[Affine], Sequence[Affine]]], context: Context) -> bool:
    """Whether certainly no point lies between the lower and the upper bounds of each loop of a band."""
    pairs = [(low, high) for lower, upper in bounds for low in lower for high in upper]
    return len(pairs) <= MOST_PAIRS and context.excludes([Constraint(high - low - 1) for low, high in pairs])


def _without_iterations(graph: Graph, node: OpNode, op: affine.For) -> bool:
    """What a loop that does not run yields is what it was given."""
    lower, upper = node.maps["lower"].constants, node.maps["upper"].constants
    if lower is None or upper is None or max(lower) < min(upper):
        return False
    graph.replace(node, op.inits)
    return True


_FOLDS: dict[type[Op], Fold] = {cls: fold for table in TABLES for cls, fold in table.folds.items()}
_RULES: dict[type[Op], tuple[Rule, ...]] = {
    affine.For: (_without_iterations, *AFFINE_LOOPS.rules[affine.For]),
    affine.If: tuple(AFFINE_LOOPS.rules[affine.If]),
    affine.Apply: tuple(AFFINE_VALUES.rules[affine.Apply]),
    affine.Min: (),
    affine.Max: (),
}


def _settle(graph: Graph) -> None:
    """Write all maps as sums, then apply the rules until none applies: to loops, conditions and what these touch."""
    for each in reversed(list(graph.walk())):
        sums = {name: affine_maps.flattened(m) for name, m in each.maps.items()}
        if not graph.remap(each, sums) and type(each.op) in _RULES:
            graph.push(each)
    while (node := graph.pop()) is not None:
        op = node.op
        if graph.is_dead(node):
            graph.erase(node)
        elif (fold := _FOLDS.get(type(op))) is not None and (found := fold(graph, op)) is not None:
            (old,) = op.defines()
            new = graph.constant(found.payload, old.type, node) if isinstance(found, Known) else found
            graph.replace(node, (new,))
        else:
            any(rule(graph, node, op) for rule in _RULES.get(type(op), ()))
