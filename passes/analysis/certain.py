"""What certainly holds where an operation stands, and what must hold so that its affine expressions have a value."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.core import Op
from affdsl.ir.expr import Affine, Constraint, FloorDiv, parts_of
from affdsl.ir.traverse import affine_exprs
from affdsl.passes.analysis.bounds.obvious import facts_of, is_obvious
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.polyhedral import UnknownError, spending
from affdsl.passes.analysis.relations import BUDGET, domain_of, remembered


def holds(expr: Affine, domain: Domain) -> bool:
    """Whether an expression is certainly not negative in a domain."""
    if is_obvious(expr, facts_of(domain)):
        return True
    relation = domain.where(((Constraint(-expr - 1),),)).relation(())

    def find() -> bool:
        with spending(BUDGET):
            return bool(domain_of(relation).is_empty())

    try:
        return remembered(("empty", relation), find)
    except UnknownError:
        return False


def divisors(op: Op) -> Iterator[Affine]:
    """What the affine expressions of an operation divide by that is no number: it must be positive."""
    for part in parts_of(*affine_exprs(op)):
        if isinstance(part, FloorDiv) and isinstance(part.divisor, Affine):
            yield part.divisor
