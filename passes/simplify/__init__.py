"""Affine expressions, conditions and bounds made simpler where the program around them says more of their values.

simplify(expr, context)                     an expression
simplify_constraints(constraints, context)  the condition of an affine.if
simplify_bounds(exprs, "min", context)      the bounds of a loop, affine.min and affine.max
places(root), rewrite_within(root, rule)    the context of each operation
compared(op, meant)                         a comparison of indices as a constraint
domain_of(path), Context().knowing(facts)   one context
"""

from affdsl.passes.simplify.bounds import simplify_bounds
from affdsl.passes.simplify.comparisons import Conditions, compared, without_unread_conditions
from affdsl.passes.simplify.constraints import NEVER, simplify_constraints
from affdsl.passes.simplify.context import NOTHING, Context
from affdsl.passes.simplify.expressions import simplify
from affdsl.passes.simplify.places import domain_of, places, rewrite_within

__all__ = [
    "NEVER", "NOTHING", "Conditions", "Context", "compared", "domain_of", "places", "rewrite_within", "simplify",
    "simplify_bounds", "simplify_constraints", "without_unread_conditions",
]  # fmt: skip
