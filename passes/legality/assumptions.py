"""What the author of a function may promise of its sizes: a function where it holds, and how it is written."""

from __future__ import annotations

from collections.abc import Iterable

from affdsl.ir.dialects import func
from affdsl.ir.expr import Constraint
from affdsl.ir.python_expressions import python
from affdsl.ir.traverse import with_fields
from affdsl.passes.analysis.relations import Alternatives


def assuming(function: func.Func, facts: Iterable[Constraint]) -> func.Func:
    """The function whose contract also has some facts, as `affdsl.assume` adds them: those about its own arguments."""
    known = set(function.args)
    new = tuple(fact for fact in facts if fact not in function.assumes and known.issuperset(fact.values()))
    return with_fields(function, assumes=(*function.assumes, *new)) if new else function


def assuming_all(function: func.Func, accepted: Alternatives) -> func.Func:
    """The function whose contract also has what holds in all of some alternatives."""
    return assuming(function, (fact for fact in accepted[0] if all(fact in case for case in accepted)))


def promised(fact: Constraint) -> str:
    """A fact as it is written in Python.

    >>> from affdsl.ir.expr import Value
    >>> from affdsl.ir.types import INDEX
    >>> n, m = Value(INDEX, "n"), Value(INDEX, "m")
    >>> promised(Constraint(n - 1)), promised(Constraint(8 - n)), promised(Constraint(n - m, equality=True))
    ('n >= 1', 'n <= 8', 'n - m == 0')
    """
    rest, number = fact.expr - fact.expr.constant, fact.expr.constant
    if fact.equality:
        return f"{python(rest)} == {-number}"
    if all(factor < 0 for _, factor in rest.terms):
        return f"{python(-rest)} <= {number}"
    return f"{python(rest)} >= {-number}"
