"""What an access must keep to so that it lies inside of its array: numbers that are not negative."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from affdsl.frozen import Frozen, FrozenValue, field
from affdsl.ir.core import Op
from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Product, Value
from affdsl.ir.spelling import as_counted
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.early_exits import LEFT
from affdsl.passes.analysis.relations import Alternatives

Verb = Literal["reads", "writes", "views", "copies", "calls", "divides"]
End = Literal["lower", "upper", "size", "call", "divisor", "apart"]


class Claim(Frozen):
    """That an expression is not negative: a subscript, or what is left of the dimension behind it.

    `end` is the side on which the subscript of dimension `axis` would leave it; "size" is of the sizes of two arrays
    that are copied, "call" of what a function that is called needs, "divisor" of a division by a number that is known
    only at run time: the dialect defines it for divisors from 1 on. "apart" is of two parts of one array, with an
    element of both for which it never holds.
    """

    expr: Affine
    axis: int
    end: End
    is_fixed: bool = False
    """Whether the dimension has a size that is a number."""


class Division(FrozenValue):
    """An expression in which something is divided, and by what: as it is written, before anything is put in."""

    whole: Affine
    divisor: Affine


class Demand(Frozen):
    """What one operation must keep to in every iteration in which it runs.

    Attributes
    ----------
    op, verb
        The operation, and what it does.
    memref
        The array, or view, on which it is written. None where any may be touched.
    domain
        When it runs. All expressions are over its induction variables and locals, and over symbols. Claims are affine.
        Of a loop that may end early it has all iterations that there would be.
    index
        The subscripts, those of any lane; None where they are not known. Of a division the divisors.
    sizes
        Of the array, as far as they are known.
    claims
        What must hold.
    unknown
        Why the claims say less than there is to say.
    """

    op: Op
    verb: Verb
    memref: Value | None
    domain: Domain
    index: tuple[Affine, ...] | None = None
    sizes: tuple[Affine | None, ...] = ()
    claims: tuple[Claim, ...] = ()
    unknown: tuple[str, ...] = ()
    needed: str = ""
    """What the function that is called needs; then `index` are the arguments that it is about, called so:"""
    names: tuple[str, ...] = ()
    breaks: tuple[Constraint, ...] = ()
    """With what values, of those with which it runs, the claims do not hold: the arguments of a call."""

    @property
    def from_data(self) -> tuple[str, ...]:
        """Why data decides whether it runs; not that a loop may have ended before, which no access may count on."""
        return tuple(reason for reason in self.domain.unknown if reason != LEFT)

    divisions: tuple[Division, ...] = ()
    """As they are written, where the operation divides: one for each claim."""
    downward: Mapping[Value, Affine] = field(default_factory=dict, compare=False)
    """Where loops start that run down, by their counters: words are about the variables that the user has of them."""

    def written(self, expr: Affine) -> Affine:
        """An expression in terms of the variables of loops that the user has."""
        return expr.substitute(dict(as_counted(self.downward))) if self.downward else expr

    def counted(self, iv: Value) -> Affine:
        """The user's variable of a loop, by the counter and what is around."""
        return self.downward[iv] - iv if iv in self.downward else Affine.of(iv)

    @property
    def is_apart(self) -> bool:
        """Whether it is that two parts of an array do not overlap."""
        return any(c.end == "apart" for c in self.claims)

    @property
    def key(self) -> Key:
        """What it is about, whatever the numbers are with which it is asked."""
        return self.op, self.verb == "divides"


Key = tuple[Op, bool]


class Need(FrozenValue):
    """What a call of a function must keep to.

    Attributes
    ----------
    against
        Sizes with which it must not be called: over its arguments, at least one alternative holds for them.
    text
        What it needs, in words.
    by_numbers
        The demands that are decided only when products and quotients of its arguments are numbers.
    unknown
        An access of which nothing is known, as it is written; "" if there is none.
    """

    against: Alternatives
    text: str
    by_numbers: frozenset[Key] = frozenset()
    unknown: str = ""


def divisions(exprs: Iterable[Affine]) -> list[Division]:
    """The divisions by what is not a number, those inside others too: one for each divisor.

    >>> from affdsl.ir.types import INDEX
    >>> i, p = Value(INDEX, "i"), Value(INDEX, "p")
    >>> [d.divisor == p + 1 for d in divisions([i % 4, (i % (p + 1)) // 2])]
    [True]
    """
    found: dict[Affine, Division] = {}
    for expr in exprs:
        for quotient in quotients((expr,)):
            divisor = Affine.of(quotient.divisor)
            found.setdefault(divisor, Division(expr, divisor))
    return [*found.values()]


def quotients(exprs: Iterable[Affine]) -> Iterator[FloorDiv]:
    """The quotients by what is no number, each once."""
    left = deque[Affine | Atom](e for e in exprs if any(not isinstance(atom, Value) for atom, _ in e.terms))
    seen: set[Atom] = set()
    while left:
        match left.popleft():
            case Affine(terms=terms):
                new = dict.fromkeys(atom for atom, _ in terms if atom not in seen)
                seen.update(new)
                left += new
            case FloorDiv(dividend, divisor) as quotient:
                if isinstance(divisor, Affine):
                    yield quotient
                    left.append(divisor)
                left.append(dividend)
            case Product(factors):
                left += map(Affine.of, factors)
