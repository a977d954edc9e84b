"""A domain without the loops that a question does not read: the same answer from far fewer dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.passes.analysis.domain import Domain

_Facts = dict[Affine, int]
"""Of each sum the constant with which it is at least 0: the smallest, which says most."""


def projected(domain: Domain, exprs: Sequence[Affine]) -> Domain:
    """A domain in fewer loops, whose points give the expressions the values that those of the domain give.

        0 <= i < n, 0 <= j < n, i <= k < i + 4, asked about n - j      ->      0 <= j < n, 1 <= n

    An induction variable that no expression reads is eliminated as Fourier and Motzkin do: each of its lower bounds is
    at most each of its upper bounds. Here that is exact for integers too, as its factor is 1 or -1 in all constraints,
    so that the largest lower bound itself is an integer that satisfies them. What stands in an equality, a division or
    one of several alternatives is kept, and so is what would leave more constraints than there were.

    >>> from affdsl.ir.types import INDEX
    >>> i, j, n = (Value(INDEX, hint) for hint in "ijn")
    >>> within = (Constraint(i * 1), Constraint(n - i - 1), Constraint(j * 1), Constraint(n - j - 1))
    >>> found = projected(Domain((i, j), (), ((within,),)), [n - j])
    >>> [iv.hint for iv in found.ivs], len(found.clauses[0][0])
    (['j'], 3)
    """
    facts, others = _parted(domain)
    kept = {v for e in exprs for v in e.values()}
    kept.update(v for clause in others for part in clause for c in part for v in c.values())
    reading: dict[Value, list[Affine]] = {}
    for terms in facts:
        _note(terms, reading)
    dropped = {iv for iv in reversed(domain.ivs) if iv not in kept and _eliminate(iv, facts, reading)}
    if not dropped:
        return domain
    left = tuple(Constraint(terms + constant) for terms, constant in facts.items())
    loops = tuple(op for iv, op in zip(domain.ivs, domain.loops, strict=False) if iv not in dropped)
    ivs = tuple(iv for iv in domain.ivs if iv not in dropped)
    return domain.changed(ivs=ivs, loops=loops, clauses=(*others, *(((left,),) if left else ())))


def _parted(domain: Domain) -> tuple[_Facts, list[tuple[tuple[Constraint, ...], ...]]]:
    """The inequalities that hold everywhere in a domain, and the rest of its clauses."""
    facts: _Facts = {}
    others = []
    for clause in domain.clauses:
        if len(clause) != 1:
            others.append(clause)
            continue
        equalities = tuple(c for c in clause[0] if c.equality)
        if equalities:
            others.append((equalities,))
        for c in clause[0]:
            if not c.equality:
                _add(c.expr, facts)
    return facts, others


def _add(expr: Affine, facts: _Facts) -> Affine:
    """Take in that an expression is at least 0; its terms."""
    terms = Affine(expr.terms)
    facts[terms] = min(facts.get(terms, expr.constant), expr.constant)
    return terms


def _note(terms: Affine, reading: dict[Value, list[Affine]]) -> None:
    for value in dict.fromkeys(terms.values()):
        reading.setdefault(value, []).append(terms)


def _eliminate(iv: Value, facts: _Facts, reading: dict[Value, list[Affine]]) -> bool:
    """Put what an induction variable implies in the place of what says something of it; False where it has to stay."""
    about = [terms for terms in dict.fromkeys(reading.get(iv, ())) if terms in facts]
    lows: list[Affine] = []
    highs: list[Affine] = []
    for terms in about:
        factor = dict(terms.terms).get(iv, 0)
        rest = terms - iv * factor
        if factor not in (1, -1) or iv in rest.values():
            return False
        (lows if factor == 1 else highs).append(rest + facts[terms])
    if len(lows) * len(highs) > len(about):
        return False
    for terms in about:
        del facts[terms]
    for low in lows:
        for high in highs:
            if not (low + high).is_constant or (low + high).constant < 0:
                _note(_add(low + high, facts), reading)
    return True
