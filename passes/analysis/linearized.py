"""The dimensions that a linearized subscript hides: `i * M + j` with 0 <= j < M is column j of row i.

A subscript is a polynomial: a sum of products of symbols, which never change, and of at most one number that does. The
sizes of the inner dimensions are read off these products: `i * M * K + j * K + k` may be the element (i, j, k) of rows
of K elements, M of which make a plane; `i * M + 2 * i + j` may have rows of M + 2 elements.

A size is only a proposal. Division by it gives a quotient and a rest, `i` and `j`, and that is taken only where the
rest is proved to lie in 0 <= j < M in all iterations: then M is positive in all of them, and two elements are the same
one exactly if their quotients and their rests are the same. A rest that is proved to lie in -2 * M <= j < 3 * M is
carried over: a local says how often M goes into it. What cannot be proved stays what it was, and unknown.

References
----------
Grosser, Ramanujam, Pouchet, Sadayappan, Pop, "Optimistic Delinearization of Parametrically Sized Arrays", ICS 2015: the
sizes are guessed as there; where that paper checks at run time that rests are within them, it is proved here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, product
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING

from affdsl.frozen import Frozen
from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Product, Value, factors_of
from affdsl.passes.analysis.polyhedral import DEEPEST_QUOTIENT, Dim, UnknownError, number_of, spending
from affdsl.passes.analysis.relations import BUDGET, elements_of, remembered

if TYPE_CHECKING:  # which stand above: what is recovered is part of them
    from affdsl.passes.analysis.access import Access
    from affdsl.passes.analysis.domain import Domain
    from affdsl.passes.analysis.scope import Scope
    from affdsl.passes.analysis.storage import Buffer

Chain = tuple[Affine, ...]
"""The sizes of the inner dimensions, the innermost one first."""
Index = tuple[Affine, ...]

MOST_CARRIED = 2
"""How often a size may go into a rest, in either direction."""
MOST_CHAINS = 12
"""How many proposals are tried for one subscript, and for one buffer."""


class Recovered(Frozen):
    """The elements of an access by the dimensions that its subscripts hide.

    Attributes
    ----------
    domain
        That of the access, with locals for what is carried.
    index
        The subscripts, several in the place of one that is linearized.
    chains
        For each dimension of the buffer the sizes that it hides.
    is_needed
        Whether the subscripts as they are written are not affine.
    """

    domain: Domain
    index: Index
    chains: tuple[Chain, ...]
    is_needed: bool


def recovered(
    accesses: Sequence[Access],
    linearized: Mapping[Access, tuple[Index, Domain]],
    scope: Scope,
    first: Mapping[Value, tuple[Chain, ...]] = MappingProxyType({}),
) -> dict[Access, Recovered]:
    """The dimensions of the accesses to the buffers that have linearized subscripts, as far as they can be proved.

    `linearized` are the accesses with such subscripts: these as polynomials, and the domain that they are over. Of one
    buffer, all that are recovered have the same sizes, so that each can be compared with each. `first` are sizes that
    are tried before others, by the memref of the buffer.
    """
    found: dict[Access, Recovered] = {}
    for buffer in dict.fromkeys(access.buffer for access in linearized):
        written: dict[Access, tuple[Index, Domain]] = {}
        for access in accesses:
            if access.buffer is buffer and access in linearized:
                written[access] = linearized[access]
            elif access.buffer is buffer and access.index is not None:
                written[access] = access.index[buffer.loops :], access.domain
        best: dict[Access, Recovered] = {}
        tries = _proposals([linearized[access] for access in written if access in linearized], scope)
        for chains in (*filter(None, [first.get(buffer.root)]), *tries):
            made: dict[Access, Recovered] = {}
            for access, (index, domain) in written.items():
                outer = tuple(map(Affine.of, domain.ivs[: buffer.loops]))
                one = by_dimensions(index, chains, scope, domain)
                if one is not None:
                    made[access] = Recovered(one[1], (*outer, *one[0]), chains, access in linearized)
            if len(made) == len(written) and _divide(chains, buffer, scope):
                best = made
                break
            if len(made) > len(best):
                best = made
        found |= best
    return found


def _divide(chains: Sequence[Chain], buffer: Buffer, scope: Scope) -> bool:
    """Whether sizes divide those of a buffer, where these are products at all."""
    for axis, chain in enumerate(chains):
        size = scope.size_of(buffer.root, axis) if chain else None
        is_product = size is not None and not all(map(is_affine, (size, *_equal_ones(size, scope))))
        if is_product and size is not None and outermost(size, chain, scope) is None:
            return False
    return True


def by_dimensions(index: Index, chains: Sequence[Chain], scope: Scope, domain: Domain) -> tuple[Index, Domain] | None:
    """The subscripts of one access by the dimensions that they hide; None where these are not proved."""
    found: list[Affine] = []
    for expr, chain in zip(index, chains, strict=True):
        made = _digits(expr, chain, scope, domain)
        if made is None:
            return None
        digits, domain = made
        found += digits
    return tuple(found), domain


def outermost(size: Affine, chain: Chain, scope: Scope) -> Affine | None:
    """The size of the outermost dimension of an array of this size; None where the others do not divide it."""
    for each in (size, *_equal_ones(size, scope)):
        for inner in chain:
            parts = _divided(each, inner)
            if parts is None or parts[1] != Affine():
                break
            each = parts[0]
        else:
            return each
    return None


def at_least_zero(expr: Affine, scope: Scope, domain: Domain) -> tuple[Affine, Domain] | None:
    """An affine expression that is not negative exactly if a polynomial is not; None where none is found.

    Divided by a size, with a rest that is in range, a number is negative exactly if its quotient is. What is assumed to
    be 0 may be added first.
    """
    for each in (expr, *_equal_ones(expr, scope)):
        for chain in islice(_chains(each, scope, domain), MOST_CHAINS):
            found = _digits(each, chain, scope, domain)
            if found is not None:
                (first, *_), inside = found
                return first, inside
    return None


def _equal_ones(expr: Affine, scope: Scope) -> Iterator[Affine]:
    """What is equal by what is assumed."""
    zeros = [fact.expr for fact in scope.semi_affine_facts if fact.equality]
    yield from (expr - zero for zero in zeros)
    yield from (expr + zero for zero in zeros)


def is_proved(expr: Affine, scope: Scope, domain: Domain) -> bool:
    """Whether a polynomial is certainly not negative, perhaps because of something semi-affine that is assumed."""
    for each in (expr, *(expr - fact.expr for fact in scope.semi_affine_facts)):
        found = (each, domain) if is_affine(each) else at_least_zero(each, scope, domain)
        if found is not None and _holds(*found):
            return True
    return False


def adjusted(numbers: Mapping[Value, int], facts: Sequence[Constraint]) -> dict[Value, int]:
    """Numbers of symbols that keep to facts, where that takes only other numbers for symbols that add up with the rest.

    >>> from affdsl.ir.types import INDEX
    >>> n, m, size = Value(INDEX, "N"), Value(INDEX, "M"), Value(INDEX, "L")
    >>> [*adjusted({n: 2, m: 3, size: 0}, [Constraint(size - Affine.of(n) * m)]).values()]
    [2, 3, 6]
    """
    found = dict(numbers)
    for fact in facts:
        if any(v not in found for v in fact.values()) or fact.holds(found):
            continue
        several = Counter(fact.values())
        for atom, factor in fact.expr.terms:
            if isinstance(atom, Value) and several[atom] == 1 and abs(factor) == 1:
                found[atom] -= fact.expr.evaluate(found) * factor
                break
    return found


@lru_cache(maxsize=1000)
def is_affine(expr: Affine) -> bool:
    """Whether isl can express a polynomial: nothing in it is multiplied with a symbol, divided by one, or too deep."""
    return all(
        isinstance(atom, Value)
        or (
            isinstance(atom, FloorDiv)
            and isinstance(atom.divisor, int)
            and atom.depth <= DEEPEST_QUOTIENT
            and is_affine(atom.dividend)
        )
        for atom, _ in expr.terms
    )


def _proposals(written: Sequence[tuple[Index, Domain]], scope: Scope) -> Iterator[tuple[Chain, ...]]:
    """Sizes for all dimensions of a buffer, those that most subscripts propose first."""
    rank = len(written[0][0])
    counts: list[Counter[Chain]] = [Counter() for _ in range(rank)]
    for index, domain in written:
        for axis, expr in enumerate(index):
            if not is_affine(expr):
                counts[axis].update(dict.fromkeys(islice(_chains(expr, scope, domain), MOST_CHAINS), 1))
    each = [[chain for chain, _ in count.most_common()] or [()] for count in counts]
    return islice(product(*each), MOST_CHAINS)


def _chains(expr: Affine, scope: Scope, domain: Domain) -> Iterator[Chain]:
    """Sizes by which a polynomial can be divided, one after the other, until what is left is affine."""
    if is_affine(expr):
        yield ()
        return
    for size in _sizes(expr, scope, domain):
        parts = _divided(expr, size)
        if parts is not None and is_affine(parts[1]):
            for rest in _chains(parts[0], scope, domain):
                yield (size, *rest)


def _sizes(expr: Affine, scope: Scope, domain: Domain) -> Iterator[Affine]:
    """The sizes that the products of a polynomial propose, those of the fewest factors first."""
    varying = {*domain.ivs, *domain.locals}
    terms = dict(expr.terms)
    found: dict[tuple[int, int], dict[Affine, None]] = {}
    for atom, factor in expr.terms:
        if not isinstance(atom, Product):
            continue
        symbols = tuple(f for f in atom.factors if isinstance(f, Value) and f not in varying and not scope.varies(f))
        others = tuple(f for f in atom.factors if f not in symbols)
        if not symbols or not others:
            continue
        for lead in {symbols, *((f,) for f in symbols)}:
            left = list(atom.factors)
            for symbol in lead:
                left.remove(symbol)
            for number in (n for n in range(1, min(abs(factor), MOST_CHAINS) + 1) if factor % n == 0):
                # of i * M and 2 * i: the size may be M + 2
                more, rest = divmod(terms.get(_product(left), 0) * number, factor)
                for constant in dict.fromkeys((0 if rest else more, 0)):
                    size = Affine.of(_product(lead)) * number + constant
                    found.setdefault((len(lead), number == 1), {})[size] = None
    for key in sorted(found):
        yield from found[key]


def _product(factors: Sequence[Atom]) -> Atom:
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


@lru_cache(maxsize=1000)
def _divided(expr: Affine, size: Affine) -> tuple[Affine, Affine] | None:
    """Quotient and rest of a polynomial by a size, whose first term is the one that does not stay in the rest."""
    ((lead, number),) = size.terms
    wanted = Counter(factors_of(lead))
    quotient, rest = Affine(), expr
    while True:
        for atom, factor in rest.terms:  # noqa: B007
            left = Counter(factors_of(atom))
            if not wanted - left:
                break
        else:
            return quotient, rest
        if factor % number:
            return None
        more = prod((Affine.of(f) for f in (left - wanted).elements()), start=Affine.of(factor // number))
        quotient, rest = quotient + more, rest - more * size


def _digits(expr: Affine, chain: Chain, scope: Scope, domain: Domain) -> tuple[Index, Domain] | None:
    """The digits of a number in the sizes of a chain, the most significant first; None where rests are not in range."""
    found: list[Affine] = []
    for size in chain:
        parts = _divided(expr, size)
        if parts is None or not is_affine(parts[1]):
            return None
        expr, rest = parts
        below, domain = scope.expr(size, domain)
        made = _in_range(rest, below, domain)
        if made is None:
            return None
        carried, rest, domain = made
        expr += carried
        found.append(rest)
    return ((expr, *reversed(found)), domain) if is_affine(expr) else None


def _in_range(rest: Affine, size: Affine, domain: Domain) -> tuple[Affine, Affine, Domain] | None:
    """What is carried of a rest, and the rest that then lies in 0 <= rest < size; None where it is not proved to be.

    Where it is proved, the size is positive: there is a number that is not negative and smaller.
    """
    for k in sorted(range(-MOST_CARRIED, MOST_CARRIED + 1), key=abs):
        if _is_within(rest, size * k, size * (k + 1), domain):
            return Affine.of(k), rest - size * k, domain
    for times in range(1, MOST_CARRIED + 1):
        if not _is_within(rest, -size * times, size * (times + 1), domain):
            continue
        carried, inside = domain.some("carried")
        left, inside = inside.some("rest")
        return (
            Affine.of(carried),
            Affine.of(left),
            inside.where(
                tuple(
                    (
                        Constraint(carried - k, equality=True),
                        Constraint(rest - size * k - left, equality=True),
                        Constraint(Affine.of(left)),
                        Constraint(size - 1 - left),
                    )
                    for k in range(-times, times + 1)
                )
            ),
        )
    return None


def _is_within(expr: Affine, lower: Affine, upper: Affine, domain: Domain) -> bool:
    return _holds(expr - lower, domain) and _holds(upper - 1 - expr, domain)


def _holds(expr: Affine, domain: Domain) -> bool:
    """Whether an affine expression is certainly not negative in a domain."""
    if expr.is_constant and expr.constant >= 0:
        return True
    relation = domain.relation((expr,))

    def find() -> bool:
        with spending(BUDGET):
            return bool(elements_of(relation).upper_bound_val(Dim.set, 0, number_of(-1)).is_empty())

    try:
        return remembered(("natural", relation), find)
    except UnknownError:
        return False
