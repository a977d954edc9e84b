"""Values, and affine expressions over them in one canonical form: constant + sum of coefficient * atom."""

from __future__ import annotations

import os
from _thread import allocate_lock
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import count
from math import gcd
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakValueDictionary

from affdsl.frozen import Frozen, FrozenValue
from affdsl.ir.location import Location

if TYPE_CHECKING:  # a value has a type, and a memref type has a layout written with values
    from affdsl.ir.types import Type

_ids = count()


class Value:
    """A name for something computed once. Two values are the same only if they are the same object.

    `hint` is the name that the user gave it, or an empty string; printers make it unique.
    """

    __slots__ = ("hint", "id", "location", "type")

    def __init__(self, type: Type, hint: str = "", location: Location | None = None, *, id: int | None = None) -> None:
        self.type = type
        self.hint = hint
        self.location = location
        self.id = next(_ids) if id is None else id

    def __repr__(self) -> str:
        return f"%{self.hint or 'v'}.{self.id}"

    @property
    def key(self) -> Key:
        """What orders the atoms of an expression."""
        return (0, self.id)

    def __add__(self, other: Term) -> Affine:
        return Affine.of(self) + other

    def __sub__(self, other: Term) -> Affine:
        return Affine.of(self) - other

    def __rsub__(self, other: Term) -> Affine:
        return Affine.of(other) - self

    def __mul__(self, other: Term) -> Affine:
        return Affine.of(self) * other

    def __floordiv__(self, divisor: Term) -> Affine:
        return Affine.of(self) // divisor

    def __mod__(self, divisor: Term) -> Affine:
        return Affine.of(self) % divisor

    def __neg__(self) -> Affine:
        return -Affine.of(self)

    __radd__, __rmul__ = __add__, __mul__


class _Shared(Frozen):
    """What is made only once: equal ones are one object, as long as somebody holds it.

    `x mod n` reads x twice, so that an expression doubles with each mod around it, written down as a tree. So that no
    tool needs time for all of that, parts are shared: compared and hashed by identity, and visited once.
    """

    def __init__(self, *parts: object) -> None:
        """All is done by __new__."""

    @property
    @abstractmethod
    def weight(self) -> int:
        """How many atoms it takes to write it down."""

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._all)
        return f"{type(self).__name__}({fields if self.weight <= _HEAVIEST_SHOWN else '...'})"

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), tuple(self.__dict__[name] for name in self._all))


_shared: WeakValueDictionary[object, _Shared] = WeakValueDictionary()
_sharing = allocate_lock()  # two threads must not make two of one
os.register_at_fork(before=_sharing.acquire, after_in_parent=_sharing.release, after_in_child=_sharing.release)


_HEAVIEST_SHOWN = 200
"""Atoms of an expression beyond which repr leaves out what is inside."""


class FloorDiv(_Shared):
    """floor(dividend / divisor), an atom. The divisor is a positive number, or (semi-affine) a symbolic expression."""

    dividend: Affine
    divisor: int | Affine

    def __new__(cls, dividend: Affine, divisor: int | Affine) -> FloorDiv:
        """The one that there is, or a new one."""
        key = (dividend, divisor)
        with _sharing:
            found = _shared.get(key)
            if found is None:
                found = _shared[key] = object.__new__(cls)
                found.__dict__.update(dividend=dividend, divisor=divisor)
        assert isinstance(found, FloorDiv)
        return found

    @cached_property
    def key(self) -> Key:
        """What orders the atoms of an expression."""
        return (1, self.dividend.key, Affine.of(self.divisor).key)

    @cached_property
    def reads(self) -> tuple[Value, ...]:
        """Every value in it, in order, once."""
        divisor = self.divisor.values() if isinstance(self.divisor, Affine) else ()
        return tuple(dict.fromkeys((*self.dividend.values(), *divisor)))

    @cached_property
    def weight(self) -> int:
        """How many atoms it takes to write it down, those of its parts included, as often as they stand there."""
        return 1 + self.dividend.weight + (self.divisor.weight if isinstance(self.divisor, Affine) else 0)

    @cached_property
    def depth(self) -> int:
        """How many quotients are inside each other."""
        return 1 + max([atom.depth for atom, _ in self.dividend.terms if isinstance(atom, FloorDiv)], default=0)


class Product(_Shared):
    """A product of two or more atoms, an atom (semi-affine): at most one factor varies, the others are symbols."""

    factors: tuple[Atom, ...]

    def __new__(cls, factors: tuple[Atom, ...]) -> Product:
        """The one that there is, or a new one."""
        with _sharing:
            found = _shared.get(factors)
            if found is None:
                found = _shared[factors] = object.__new__(cls)
                found.__dict__.update(factors=factors)
        assert isinstance(found, Product)
        return found

    @cached_property
    def key(self) -> Key:
        """What orders the atoms of an expression."""
        return (2, tuple(factor.key for factor in self.factors))

    @cached_property
    def reads(self) -> tuple[Value, ...]:
        """Every value in it, in order, once."""
        return tuple(dict.fromkeys(v for factor in self.factors for v in Affine.of(factor).values()))

    @cached_property
    def weight(self) -> int:
        """How many atoms it takes to write it down, those of its parts included, as often as they stand there."""
        return 1 + sum(Affine.of(factor).weight for factor in self.factors)


class Affine(FrozenValue):
    """constant + sum(coefficient * atom), atoms in one fixed order: equal expressions are equal objects.

    Operators build new expressions: `+ - *` by a number or another expression, `// %` by a positive number or
    a symbolic expression, `ceildiv`. What they build is simplified as far as holds for all integers:

    >>> from affdsl.ir.types import INDEX
    >>> i = Value(INDEX, "i")
    >>> (i * 4 + 5) // 4 == i + 1 + (i * 0)
    True
    """

    terms: tuple[tuple[Atom, int], ...] = ()
    constant: int = 0

    def __init__(self, terms: tuple[tuple[Atom, int], ...] = (), constant: int = 0) -> None:
        fields = self.__dict__  # the constructor of a frozen dataclass takes twice as long, and these are very many
        fields["terms"] = terms
        fields["constant"] = constant

    def __eq__(self, other: object) -> bool:
        if type(other) is not Affine:
            return NotImplemented
        return self.terms == other.terms and self.constant == other.constant

    @staticmethod
    def of(term: Term) -> Affine:
        """Any term as an expression."""
        if isinstance(term, Affine):
            return term
        if isinstance(term, int):
            return Affine((), int(term))
        return Affine(((term, 1),))

    @cached_property
    def key(self) -> Key:
        """What orders expressions inside atoms."""
        return (tuple((atom.key, c) for atom, c in self.terms), self.constant)

    @cached_property
    def _hash(self) -> int:
        return hash((self.terms, self.constant))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def weight(self) -> int:
        """How many atoms it takes to write it down, those of its parts included, as often as they stand there."""
        return sum([1 if isinstance(atom, Value) else atom.weight for atom, _ in self.terms])

    @property
    def is_constant(self) -> bool:
        """Whether the expression is a number."""
        return not self.terms

    @property
    def value(self) -> Value | None:
        """The one value that the expression is, if it is nothing else."""
        match self.terms:
            case ((Value() as v, 1),) if self.constant == 0:
                return v
        return None

    def __add__(self, other: Term) -> Affine:
        other = Affine.of(other)
        if not other.terms:
            return Affine(self.terms, self.constant + other.constant)
        return _sum({}, (self, 1), (other, 1))

    def __sub__(self, other: Term) -> Affine:
        other = Affine.of(other)
        if not other.terms:
            return Affine(self.terms, self.constant - other.constant)
        return _sum({}, (self, 1), (other, -1))

    def __rsub__(self, other: Term) -> Affine:
        return Affine.of(other) - self

    def __neg__(self) -> Affine:
        return self * -1

    def __mul__(self, other: Term) -> Affine:
        other = Affine.of(other)
        if not other.terms:
            factor = other.constant
            return Affine(tuple((a, c * factor) for a, c in self.terms if factor), self.constant * factor)
        if not self.terms:
            return other * self.constant
        return _product(self, other)

    def __floordiv__(self, divisor: Term) -> Affine:
        divisor = Affine.of(divisor)
        if divisor.terms:
            return Affine(((FloorDiv(self, divisor), 1),)) if self.terms or self.constant else self
        return _floor(self, divisor.constant)

    def __mod__(self, divisor: Term) -> Affine:
        return self - (self // divisor) * divisor

    def ceildiv(self, divisor: Term) -> Affine:
        """The smallest integer that is at least self / divisor."""
        divisor = Affine.of(divisor)
        if divisor.terms:
            return -((-self) // divisor)
        return _floor(self + (divisor.constant - 1), divisor.constant)

    __radd__, __rmul__ = __add__, __mul__

    def values(self) -> Iterator[Value]:
        """Every value read, in order, repeated where another term reads it again."""
        found: list[Value] = []
        for atom, _ in self.terms:
            if isinstance(atom, Value):
                found.append(atom)
            else:
                found += atom.reads
        return iter(found)

    def substitute(self, new: Mapping[Value, Term]) -> Affine:
        """self with values replaced by other expressions."""
        match self.terms:
            case ((Value() as value, c),):  # most expressions are no more than that
                if value not in new:
                    return self
                by = new[value]
                return Affine(((by, c),), self.constant) if isinstance(by, Value) else Affine.of(by) * c + self.constant
        return _substituted(self, new, {})

    def evaluate(self, env: Mapping[Value, int]) -> int:
        """The integer that the expression stands for.

        Raises ZeroDivisionError where a symbolic divisor is not positive.
        """
        return _evaluated(self, env, {} if self.weight > _WORTH_REMEMBERING else None)


Atom: TypeAlias = Value | FloorDiv | Product
Term: TypeAlias = Affine | Value | FloorDiv | Product | int
Key: TypeAlias = tuple[object, ...]


class Constraint(FrozenValue):
    """expr >= 0, or expr == 0 where `equality`."""

    expr: Affine
    equality: bool = False

    def __init__(self, expr: Affine, equality: bool = False) -> None:
        fields = self.__dict__  # as in Affine
        fields["expr"] = expr
        fields["equality"] = equality

    def __eq__(self, other: object) -> bool:
        if type(other) is not Constraint:
            return NotImplemented
        return self.expr == other.expr and self.equality == other.equality

    def __hash__(self) -> int:
        return self.expr._hash + self.equality

    @cached_property
    def reads(self) -> frozenset[Value]:
        """Every value read, once."""
        return frozenset(self.expr.values())

    @cached_property
    def parts(self) -> frozenset[Atom]:
        """The quotients and products in it, as `parts_of` has them."""
        return frozenset(parts_of(self.expr))

    def values(self) -> Iterator[Value]:
        """Every value read."""
        return self.expr.values()

    def substitute(self, new: Mapping[Value, Term]) -> Constraint:
        """self with values replaced by expressions."""
        expr = self.expr.substitute(new)
        return self if expr is self.expr else Constraint(expr, self.equality)

    def holds(self, env: Mapping[Value, int]) -> bool:
        """Whether the constraint is true where the values are as `env` says."""
        number = self.expr.evaluate(env)
        return number == 0 if self.equality else number >= 0


def parts_of(*exprs: Affine) -> Iterator[FloorDiv | Product]:
    """The quotients and products in expressions, and those inside of them: each once, however often it stands there."""
    seen: set[Atom] = set()
    left: list[Affine | Atom] = [*exprs]
    while left:
        match left.pop():
            case Affine() as expr:
                left += [atom for atom, _ in expr.terms]
            case FloorDiv() as atom if atom not in seen:
                seen.add(atom)
                yield atom
                left += (atom.dividend, Affine.of(atom.divisor))
            case Product() as atom if atom not in seen:
                seen.add(atom)
                yield atom
                left += atom.factors


def _sum(start: dict[Atom, int], *parts: tuple[Affine, int]) -> Affine:
    """start plus factor * expression for each part, in canonical order."""
    sums, constant = start, 0
    for expr, factor in parts:
        constant += expr.constant * factor
        for atom, c in expr.terms:
            sums[atom] = sums.get(atom, 0) + c * factor
    return Affine(tuple(sorted(((a, c) for a, c in sums.items() if c), key=lambda t: t[0].key)), constant)


def _product(left: Affine, right: Affine) -> Affine:
    parts: list[tuple[Affine, int]] = [(left, right.constant), (right, left.constant)]
    for a, c in left.terms:
        for b, d in right.terms:
            factors = tuple(sorted((*factors_of(a), *factors_of(b)), key=lambda f: f.key))
            parts.append((Affine(((Product(factors), 1),)), c * d))
    return _sum({}, *parts) + -left.constant * right.constant


def factors_of(atom: Atom) -> tuple[Atom, ...]:
    """The atoms that a product multiplies; of another atom, itself."""
    return atom.factors if isinstance(atom, Product) else (atom,)


def _floor(expr: Affine, divisor: int) -> Affine:
    """floor(expr / divisor): whole multiples come out, a common factor cancels, nested divisions merge.

    No coefficient and no constant grows by it, so that 64-bit arithmetic overflows nowhere where it did not before.
    """
    if divisor <= 0:
        raise ZeroDivisionError(f"division of an index needs a positive divisor, got {divisor}")
    multiples = [(a, c, _multiples(c, divisor)) for a, c in expr.terms]
    terms = tuple([(a, c - m * divisor) for a, c, m in multiples if c - m * divisor])
    outside = expr.constant // divisor if not terms else _multiples(expr.constant, divisor)
    whole = Affine(tuple([(a, m) for a, _, m in multiples if m]), outside)
    if not terms:
        return whole
    common = gcd(divisor, *[c for _, c in terms])
    constant, divisor = (expr.constant - outside * divisor) // common, divisor // common
    more = _multiples(constant, divisor)  # of what is left, rounded down: (3 * x - 4) // 6 is (x - 2) // 2
    whole += more
    rest = Affine(tuple([(a, c // common) for a, c in terms]), constant - more * divisor)
    match rest:
        case Affine(((FloorDiv(dividend, int() as inner), 1),), 0):  # floor(floor(x / a) / b) = floor(x / (a*b))
            return whole + _floor(dividend, inner * divisor)
    return whole + Affine(((FloorDiv(rest, divisor), 1),))


def _multiples(number: int, divisor: int) -> int:
    """How many whole divisors come out of a number, towards zero: what stays is never larger than it was."""
    return number // divisor if number >= 0 else -(-number // divisor)


def _substituted(expr: Affine, new: Mapping[Value, Term], done: dict[Atom, Affine]) -> Affine:
    """expr with values replaced; `done` remembers the atoms that stand in it several times."""
    if not any(v in new for v in expr.values()):
        return expr
    parts = [(_substitute(atom, new, done), c) for atom, c in expr.terms]
    return _sum({}, (Affine((), expr.constant), 1), *parts)


def _substitute(atom: Atom, new: Mapping[Value, Term], done: dict[Atom, Affine]) -> Affine:
    if isinstance(atom, Value):
        return Affine.of(new.get(atom, atom))
    found = done.get(atom)
    if found is None:
        match atom:
            case FloorDiv(dividend, divisor):
                by = _substituted(divisor, new, done) if isinstance(divisor, Affine) else divisor
                found = _substituted(dividend, new, done) // by
            case Product(factors):
                found = Affine((), 1)
                for factor in factors:
                    found *= _substitute(factor, new, done)
        done[atom] = found
    return found


_WORTH_REMEMBERING = 40
"""Atoms of an expression, from which on it is quicker to look up than to compute again."""


def _evaluated(expr: Affine, env: Mapping[Value, int], done: dict[Atom, int] | None) -> int:
    return expr.constant + sum([c * _evaluate(atom, env, done) for atom, c in expr.terms])


def _evaluate(atom: Atom, env: Mapping[Value, int], done: dict[Atom, int] | None) -> int:
    if isinstance(atom, Value):
        return env[atom]
    if done is not None and atom in done:
        return done[atom]
    match atom:
        case FloorDiv(dividend, int() as divisor):
            result = _evaluated(dividend, env, done) // divisor
        case FloorDiv(dividend, divisor):
            number = _evaluated(Affine.of(divisor), env, done)
            if number <= 0:
                raise ZeroDivisionError(f"the divisor of a floordiv or mod must be positive, but is {number}")
            result = _evaluated(dividend, env, done) // number
        case Product(factors):
            result = 1
            for factor in factors:
                result *= _evaluate(factor, env, done)
    if done is not None:
        done[atom] = result
    return result
