"""Whether an expression is not negative because of bounds that can be read off: most subscripts need nothing more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from affdsl.ir.expr import Affine, Atom
from affdsl.passes.analysis.domain import Domain

Facts = Mapping[Atom, Sequence[tuple[int, Affine]]]
"""For each atom the expressions that are not negative and have it, with its coefficient there."""

_STEPS = 4


def facts_of(domain: Domain) -> Facts:
    """What a domain says, by atom."""
    found: dict[Atom, list[tuple[int, Affine]]] = defaultdict(list)
    for clause in domain.clauses:
        if len(clause) != 1:
            continue
        for constraint in clause[0]:
            for expr in (constraint.expr, -constraint.expr) if constraint.equality else (constraint.expr,):
                for atom, c in expr.terms:
                    found[atom].append((c, expr))
    return found


def is_obvious(expr: Affine, facts: Facts, steps: int = _STEPS) -> bool:
    """Whether an expression is a sum of a few facts and a number that is not negative. False says nothing.

    >>> from affdsl.ir.expr import Constraint, Value
    >>> from affdsl.ir.types import INDEX
    >>> i, n = Value(INDEX, "i"), Value(INDEX, "N")
    >>> domain = Domain((i,)).where(((Constraint(Affine.of(i)), Constraint(n - i - 3)),))
    >>> is_obvious(n - 1 - (i + 2), facts_of(domain)), is_obvious(n - 1 - (i + 3), facts_of(domain))
    (True, False)
    """
    if not expr.terms:
        return expr.constant >= 0
    if steps == 0:
        return False
    atom, c = expr.terms[-1]
    return any(
        c % k == 0 and c // k > 0 and is_obvious(expr - fact * (c // k), facts, steps - 1)
        for k, fact in facts.get(atom, ())
    )
