"""What would make a loop run once at least: promises of sizes, or the first iteration of another loop apart."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Constraint
from affdsl.ir.traverse import walk
from affdsl.passes.legality.proposals import Step


def so_that_it_runs(function: func.Func, loop: affine.For) -> tuple[Constraint, ...]:
    """Facts about the arguments of a function with which a loop runs once at least; none if no such facts say that.

    >>> from affdsl.mlir.readers import parse
    >>> from affdsl.passes.legality.assumptions import promised
    >>> f = parse('''func.func @f(%A: memref<?xf32>, %x: f32, %n: index, %m: index) {
    ...     affine.for %i = 2 to min affine_map<()[s, t] -> (s, t + 1)>()[%n, %m] {
    ...       affine.store %x, %A[%i] : memref<?xf32>
    ...     }
    ...     return
    ... }''').functions[0]
    >>> print(*map(promised, so_that_it_runs(f, f.body[0])), sep=" and ")
    n >= 3 and m >= 2
    """
    facts = [Constraint(upper - lower - 1) for upper in loop.upper for lower in loop.lower]
    unsaid = tuple(fact for fact in facts if not (fact.expr.is_constant and fact.expr.constant >= 0))
    are_known = all(value in function.args for fact in unsaid for value in fact.values())
    return unsaid if are_known and not any(fact.expr.is_constant for fact in unsaid) else ()


def peeled_first(function: func.Func, loop: affine.For) -> Iterator[Step]:
    """The first iteration of a loop around apart, of which it depends how often a loop runs: as in a triangle.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
    ...     affine.for %i = 0 to %n {
    ...       affine.for %j = 0 to affine_map<(d) -> (d)>(%i) { affine.store %x, %A[%j] : memref<?xf32> }
    ...     }
    ...     return
    ... }''').functions[0]
    >>> print(*peeled_first(f, f.body[0].body[0]))
    peel(func, i, first=1)
    """
    mentioned = {value for bound in (*loop.lower, *loop.upper) for value in bound.values()}
    for op in walk(function):
        if isinstance(op, affine.For) and op.iv in mentioned:
            yield Step("peel", (op.iv,), (("first", 1),))
