"""What is known at one place of a program: facts about the values that are in scope there, and questions about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from math import gcd

from affdsl.frozen import Frozen, FrozenValue, field
from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Value, parts_of
from affdsl.passes.analysis import polyhedral
from affdsl.passes.simplify.ranges import ANY, Range, RangeOf, between, range_of

ROUNDS = 4
"""How often ranges are carried from fact to fact; without a limit they could creep on for ever."""
MOST_ANSWERS = 100_000
"""How many answers a context keeps."""
MOST_FACTS = 40
"""How many facts isl is given for one question: those that share values with it, the nearest first."""

MOST_QUOTIENTS = 5
"""How many different quotients may stand in one question to isl, where facts bring them in: each is a variable there,
and through definitions, one of which reads what the one before defines, each is tied to all the others."""


class Definition(FrozenValue):
    """What a value's definition says of it: true wherever the value is in scope."""

    facts: tuple[Constraint, ...] = ()
    range: Range = ANY


class Context(Frozen):
    """Facts that hold at a place. `facts` come from the loops and conditions around, `definitions` from the values.

    Each answer is proved: `proves(claim)` is False where the claim is wrong and where nothing is known.

    >>> from affdsl.ir.types import INDEX
    >>> i, n = Value(INDEX, "i"), Value(INDEX, "n")
    >>> inside = Context().knowing([Constraint(Affine.of(i)), Constraint(n - 1 - i)])
    >>> inside.proves(Constraint(n - 1)), inside.proves(Constraint(i - 1))
    (True, False)
    >>> inside.range_of(n * 4 + 1)
    Range(low=5, high=None, modulus=4, residue=1)
    """

    facts: tuple[Constraint, ...] = ()
    definitions: dict[Value, Definition] = field(default_factory=dict)
    """One table for a whole program, which grows as it is walked: it is true wherever a value is in scope."""
    around: Context | None = field(default=None, repr=False)
    """The context of which this one has all facts, and then more."""
    _seen: dict[object, object] = field(default_factory=dict, repr=False)
    """Answers found before."""

    def knowing(self, facts: Iterable[Constraint]) -> Context:
        """This context where more facts hold."""
        known = {*self.facts}
        new = tuple(dict.fromkeys(f for f in facts if f not in known))
        return Context((*self.facts, *new), self.definitions, self) if new else self

    @property
    def ranges(self) -> Mapping[Value, Range]:
        """What the facts say of single values."""
        return self._learned.ranges

    @cached_property
    def _learned(self) -> _Learned:
        """Found when first asked for, since many places are only passed."""
        if self.around is None:
            return _NOTHING_LEARNED
        new = self.facts[len(self.around.facts) :]
        found = self.definitions
        defined = tuple([(v, found[v].range) for fact in new for v in fact.reads if v in found])
        return _learned(self.around._learned, new, defined)

    @property
    def is_contradictory(self) -> bool:
        """Whether the ranges of the facts exclude each other: nothing gets here, and every claim holds."""
        return any(r.is_empty for r in self.ranges.values())

    def excludes(self, constraints: Sequence[Constraint]) -> bool:
        """Whether the constraints certainly do not all hold here."""
        for constraint in constraints:
            where = self.range_of(constraint.expr)
            if 0 not in where if constraint.equality else where.high is not None and where.high < 0:
                return True
        facts = (*self._asked([c.expr for c in constraints]), *constraints)
        return any(_may_gain(facts, c.expr) for c in constraints) and polyhedral.is_empty(facts) is True

    def meant(self, value: Value) -> Affine:
        """The expression by which a value is defined, or the value itself."""
        for fact in self.definitions.get(value, Definition()).facts:
            if fact.equality and dict(fact.expr.terms).get(value) == 1:
                return value - fact.expr
        return Affine.of(value)

    def recall(self, key: object) -> object:
        """What was remembered here under a key, or None."""
        return self._seen.get(key)

    def remember(self, key: object, answer: object) -> None:
        """Keep an answer, so that it need not be found again."""
        if len(self._seen) >= MOST_ANSWERS:
            self._seen.clear()
        self._seen[key] = answer

    def starts_of(self, value: Value) -> list[Constraint]:
        """The facts value - start >= 0 that are no bounds of loops inside of the one that counts the value.

        There are none of a value that bounds another one before anything bounds it: that is no counter.
        """
        first: dict[Value, int] = {}
        found: list[Constraint] = []
        for k, fact in enumerate(self.facts):
            for each in fact.reads:
                first.setdefault(each, k)
            if value not in fact.reads:
                continue
            is_lower = not fact.equality and dict(fact.expr.terms).get(value) == 1
            if not is_lower:
                if first[value] == k:
                    return []
                continue
            if all(first[each] <= first[value] or first[each] == k for each in fact.reads):
                found.append(fact)
        return found

    def range_of_value(self, value: Value) -> Range:
        """Where a value lies."""
        found = self.ranges.get(value)
        if found is not None:
            return found
        return self.definitions[value].range if value in self.definitions else ANY

    def range_of(self, expr: Affine) -> Range:
        """Where an expression lies, found without isl."""
        found = self.recall(("range", expr))
        if not isinstance(found, Range):
            found = range_of(expr, self.range_of_value)
            self.remember(("range", expr), found)
        return found

    def proves(self, claim: Constraint) -> bool:
        """Whether a claim certainly holds here."""
        found = self.recall(("proves", claim))
        if found is None:
            found = self._proves(claim)
            self.remember(("proves", claim), found)
        return found is True

    def quotient_of(self, expr: Affine, divisor: int) -> int | None:
        """floor(expr / divisor), where that is certainly one number."""
        whole = self.range_of(expr).floordiv(divisor)
        if whole.value is not None:
            return whole.value
        facts = self._asked((expr,))
        if not _may_gain(facts, expr):
            return None
        found = self.recall(("quotient", expr, divisor))
        if not isinstance(found, tuple):
            found = self._quotients(expr, divisor, whole.low, facts)
            self.remember(("quotient", expr, divisor), found)
        return found[0] if found else None

    def relevant(self, exprs: Sequence[Affine]) -> tuple[Constraint, ...]:
        """The facts and definitions that say something of the values of exprs, directly or through other values."""
        values = frozenset([v for e in exprs for v in e.values()])
        found = self.recall(("relevant", values))
        if not isinstance(found, tuple):
            found = self._relevant(values)
            self.remember(("relevant", values), found)
        return found

    def _relevant(self, values: frozenset[Value]) -> tuple[Constraint, ...]:
        reached = {*values}
        found: dict[Constraint, None] = {}
        fresh, left = reached, self.facts
        while fresh and len(found) < MOST_FACTS:
            new = [f for f in left if not fresh.isdisjoint(f.reads)]
            left = tuple([f for f in left if fresh.isdisjoint(f.reads)])
            for value in sorted(fresh, key=lambda v: v.id):
                new.extend(self.definitions[value].facts if value in self.definitions else ())
            found.update(dict.fromkeys(new))
            fresh = {v for f in new for v in f.reads} - reached
            reached |= fresh
        return tuple(found)[:MOST_FACTS]

    def _asked(self, exprs: Sequence[Affine]) -> tuple[Constraint, ...]:
        """The relevant facts, less those with which there would be too many quotients in a question about exprs.

        They are in the order of the context: questions about different values are about one list then, which isl knows.
        """
        nearest = dict.fromkeys(_with_few_quotients(self.relevant(exprs), exprs))
        return tuple(dict.fromkeys((*(f for f in self.facts if f in nearest), *nearest)))

    def _quotients(self, expr: Affine, divisor: int, low: int | None, facts: Sequence[Constraint]) -> tuple[int, ...]:
        """The one number that floor(expr / divisor) can be, or nothing if there are others or it is not known."""
        least = polyhedral.minimum(expr, facts)
        if least is not None:
            low = least // divisor
        if low is None or not self.proves(Constraint(low * divisor + divisor - 1 - expr)):
            return ()
        return (low,) if least is not None or self.proves(Constraint(expr - low * divisor)) else ()

    def _proves(self, claim: Constraint) -> bool:
        found = self.range_of(claim.expr)
        if found.value == 0 if claim.equality else found.low is not None and found.low >= 0:
            return True
        if 0 not in found if claim.equality else found.high is not None and found.high < 0:
            return False
        facts = self._asked((claim.expr,))
        if not _may_gain(facts, claim.expr):
            return False
        return self._follows(claim, facts) or polyhedral.implies(facts, claim) is True

    def _follows(self, claim: Constraint, facts: Sequence[Constraint]) -> bool:
        """Whether a claim is the sum of a fact and something that is at least 0, as most claims are that hold.

        Only facts about the value that was made last are tried: others would leave that value in the rest.
        """
        expr = claim.expr
        last = max((v for v, _ in expr.terms if isinstance(v, Value)), key=lambda v: v.id, default=None)
        if claim.equality or last is None:
            return False
        factor = dict(expr.terms)[last]
        for fact in facts:
            if fact.equality or last not in fact.reads or dict(fact.expr.terms).get(last) != factor:
                continue
            low = self.range_of(expr - fact.expr).low
            if low is not None and low >= 0:
                return True
        return False


NOTHING = Context()
"""Where nothing is known: what holds there holds for all integers."""


def _may_gain(facts: Sequence[Constraint], expr: Affine) -> bool:
    """Whether isl could know more than the ranges: not where each fact is about one value and nothing divides."""
    return not _is_linear(expr) or any(len(f.reads) > 1 or not _is_linear(f.expr) for f in facts)


def _is_linear(expr: Affine) -> bool:
    return all(isinstance(atom, Value) for atom, _ in expr.terms)


def _with_few_quotients(facts: Sequence[Constraint], exprs: Sequence[Affine]) -> Iterator[Constraint]:
    there: set[Atom] = set(parts_of(*exprs))
    for fact in facts:
        together = there | fact.parts if fact.parts else there
        if len(together) <= max(MOST_QUOTIENTS, len(there)):
            there = together
            yield fact


class _Learned(Frozen):
    """What facts, with what defines their values, say of single values."""

    facts: tuple[Constraint, ...] = ()
    defined: Mapping[Value, Range] = field(default_factory=dict)
    ranges: Mapping[Value, Range] = field(default_factory=dict)


_NOTHING_LEARNED = _Learned()


@lru_cache(maxsize=2000)
def _learned(before: _Learned, new: tuple[Constraint, ...], defined: tuple[tuple[Value, Range], ...]) -> _Learned:
    """What new facts add: each step of a schedule asks about the same places again."""
    facts, known, ranges = (*before.facts, *new), {**before.defined, **dict(defined)}, dict(before.ranges)
    pending = new
    for _ in range(ROUNDS):
        changed: set[Value] = set()
        for fact in pending:
            changed |= _learn(fact, ranges, known)
        pending = tuple([f for f in facts if not changed.isdisjoint(f.reads)])
        if not pending:
            break
    return _Learned(facts, known, ranges)


def _learn(fact: Constraint, ranges: dict[Value, Range], defined: Mapping[Value, Range]) -> set[Value]:
    """Narrow the ranges of the values of a fact; returns those that changed."""

    def of(value: Value) -> Range:
        return ranges.get(value) or defined.get(value, ANY)

    changed: set[Value] = set()
    for value, found in _consequences(fact, of):
        old = of(value)
        new = old.both(found)
        if new != old:
            ranges[value] = new
            changed.add(value)
    return changed


def _consequences(fact: Constraint, of: RangeOf) -> Iterator[tuple[Value, Range]]:
    """What a fact says of each of its values, given where the others lie."""
    expr = fact.expr
    if fact.equality:
        yield from _congruences(expr, of)
    for sign in (1, -1) if fact.equality else (1,):
        yield from _ends_of_terms(expr * sign, of)


def _ends_of_terms(expr: Affine, of: RangeOf) -> Iterator[tuple[Value, Range]]:
    """What expr >= 0 says of the values in it."""
    values = [(atom, c) for atom, c in expr.terms if isinstance(atom, Value)]
    if len(values) == len(expr.terms):
        yield from _ends_of_values(values, expr.constant, of)
        return
    for k, (atom, c) in enumerate(expr.terms):
        most = range_of(Affine((*expr.terms[:k], *expr.terms[k + 1 :]), expr.constant), of).high
        if most is None:
            continue
        low, high = (-(most // c), None) if c > 0 else (None, most // -c)  # c * atom >= -most
        match atom:
            case Value():
                yield atom, between(low, high)
            case FloorDiv(dividend, int() as divisor):
                inner = dividend - low * divisor if low is not None else (high or 0) * divisor + divisor - 1 - dividend
                yield from _ends_of_terms(inner, of)


def _ends_of_values(terms: Sequence[tuple[Value, int]], constant: int, of: RangeOf) -> Iterator[tuple[Value, Range]]:
    """As `_ends_of_terms` of a sum of multiples of values, which most facts are: it makes no expressions for that."""
    for value, c in terms:
        most = constant
        for other, factor in terms:
            if other is not value:
                end = of(other).high if factor > 0 else of(other).low
                if end is None:
                    break
                most += factor * end
        else:
            yield value, between(-(most // c), None) if c > 0 else between(None, most // -c)


def _congruences(expr: Affine, of: RangeOf) -> Iterator[tuple[Value, Range]]:
    """What expr == 0 says of the residues of the values in it: x mod d == 0 is k * x - k * d * floor(x / d) == 0."""
    for atom, c in expr.terms:
        match atom:
            case FloorDiv() if len(expr.terms) > 1:
                factor, rest = abs(c), (expr - Affine(((atom, c),)))
                for value, k in rest.terms:
                    if isinstance(value, Value) and abs(k) == 1:  # value == -k * others, by the modulus c
                        others = range_of((rest - Affine(((value, k),))) * -k, of)
                        modulus = gcd(factor, others.modulus)
                        yield value, between(None, None, modulus, others.residue)
