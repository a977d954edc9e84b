"""Index expressions of random programs: a constant, multiples of names, and divisions by numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["floordiv", "ceildiv", "mod"]

PYTHON: dict[Kind, str] = {"floordiv": "(({}) // {})", "ceildiv": "-(-({}) // {})", "mod": "(({}) % {})"}


@dataclass(frozen=True)
class Division:
    """The quotient or rest of an expression by a positive number."""

    kind: Kind
    dividend: Expr
    divisor: int


@dataclass(frozen=True)
class Expr:
    """constant + the sum of factor * name + the sum of divisions."""

    constant: int = 0
    terms: tuple[tuple[str, int], ...] = ()
    divisions: tuple[Division, ...] = ()

    @property
    def is_constant(self) -> bool:
        return not self.terms and not self.divisions

    def plus(self, number: int) -> Expr:
        return replace(self, constant=self.constant + number)

    def times(self, factor: int) -> Expr:
        """A multiple of an expression that has no divisions."""
        assert not self.divisions
        return Expr(self.constant * factor, tuple((name, c * factor) for name, c in self.terms))

    def with_term(self, name: str, factor: int) -> Expr:
        """self with the factor of a name set."""
        others = tuple(term for term in self.terms if term[0] != name)
        return replace(self, terms=(*others, (name, factor)))

    def names(self) -> Iterator[str]:
        """The names that occur, repeated where they occur again."""
        for name, _ in self.terms:
            yield name
        for division in self.divisions:
            yield from division.dividend.names()

    def substitute(self, name: str, new: int) -> Expr:
        """self with a number for a name."""
        constant = self.constant + sum(c * new for n, c in self.terms if n == name)
        divisions = tuple(replace(d, dividend=d.dividend.substitute(name, new)) for d in self.divisions)
        return Expr(constant, tuple(term for term in self.terms if term[0] != name), divisions)

    def python(self) -> str:
        """The expression in Python."""
        parts = [name if c == 1 else f"{c} * {name}" for name, c in self.terms]
        parts += [PYTHON[d.kind].format(d.dividend.python(), d.divisor) for d in self.divisions]
        return " + ".join([*parts, str(self.constant)] if self.constant or not parts else parts)

    def mlir(self, spell: Callable[[str], str]) -> str:
        """The expression in MLIR; `spell` says how a name is written."""
        parts = [spell(name) if c == 1 else f"{spell(name)} * {c}" for name, c in self.terms]
        parts += [f"(({d.dividend.mlir(spell)}) {d.kind} {d.divisor})" for d in self.divisions]
        if not parts:
            return str(self.constant)
        sign = "-" if self.constant < 0 else "+"
        return " + ".join(parts) + (f" {sign} {abs(self.constant)}" if self.constant else "")


def name(of: str) -> Expr:
    """A name as an expression."""
    return Expr(terms=((of, 1),))
