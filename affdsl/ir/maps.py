"""Affine maps and integer sets by position, for people who think in d0, d1 and s0."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from affdsl.frozen import FrozenValue, field
from affdsl.ir.expr import Affine, Constraint, Term, Value
from affdsl.ir.spelling import spell, spell_constraint
from affdsl.ir.types import INDEX
from affdsl.ir.written import Tree, WrittenConstraint, spell_tree

_FIRST_DIM, _FIRST_SYMBOL = -2_000_000_000, -1_000_000_000


@cache
def dim(position: int) -> Value:
    """The dimension d<position> of maps and sets: always the same value."""
    return _placeholder(f"d{position}", _FIRST_DIM + position)


@cache
def symbol(position: int) -> Value:
    """The symbol s<position> of maps and sets: always the same value."""
    return _placeholder(f"s{position}", _FIRST_SYMBOL + position)


def _placeholder(name: str, id: int) -> Value:
    return Value(INDEX, name, id=id)


class AffineMap(FrozenValue):
    """(d0, ...)[s0, ...] -> (results): expressions over positions.

    Parameters
    ----------
    dims, symbols
        How many dimensions and symbols it has.
    results
        The expressions, over `maps.dim(k)` and `maps.symbol(k)`.
    written
        The results as some text had them, or empty: they are printed, and mean nothing more.

    >>> print(AffineMap(2, 1, (dim(0) + symbol(0), dim(1) // 8)))
    (d0, d1)[s0] -> (d0 + s0, d1 floordiv 8)
    """

    dims: int
    symbols: int
    results: tuple[Affine, ...]
    written: tuple[Tree, ...] = field(default=(), compare=False, repr=False)

    def apply(self, dims: Sequence[Term], symbols: Sequence[Term] = ()) -> tuple[Affine, ...]:
        """The results with positions replaced by the given terms. Raises ValueError if their number is wrong."""
        new = _bind(self, dims, symbols)
        return tuple(result.substitute(new) for result in self.results)

    def __str__(self) -> str:
        shown = [spell_tree(t) for t in self.written] if self.written else [spell(r) for r in self.results]
        return f"{_heading(self)} -> ({', '.join(shown)})"


class IntegerSet(FrozenValue):
    """(d0, ...)[s0, ...] : (constraints): the points where all constraints hold.

    Parameters
    ----------
    dims, symbols
        How many dimensions and symbols it has.
    constraints
        The constraints, over `maps.dim(k)` and `maps.symbol(k)`.
    written
        The constraints as some text had them, or empty: they are printed, and mean nothing more.

    >>> print(IntegerSet(1, 1, (Constraint(symbol(0) - dim(0) - 1), Constraint(dim(0) % 2, equality=True))))
    (d0)[s0] : (s0 - d0 - 1 >= 0, d0 mod 2 == 0)
    """

    dims: int
    symbols: int
    constraints: tuple[Constraint, ...]
    written: tuple[WrittenConstraint, ...] = field(default=(), compare=False, repr=False)

    def apply(self, dims: Sequence[Term], symbols: Sequence[Term] = ()) -> tuple[Constraint, ...]:
        """The constraints with positions replaced by the given terms. Raises ValueError if their number is wrong."""
        new = _bind(self, dims, symbols)
        return tuple(constraint.substitute(new) for constraint in self.constraints)

    def __str__(self) -> str:
        if self.written:
            shown = [f"{spell_tree(tree)} {'==' if equality else '>='} 0" for tree, equality in self.written]
        else:
            shown = [spell_constraint(c) for c in self.constraints]
        return f"{_heading(self)} : ({', '.join(shown)})"


def _bind(of: AffineMap | IntegerSet, dims: Sequence[Term], symbols: Sequence[Term]) -> dict[Value, Term]:
    if (len(dims), len(symbols)) != (of.dims, of.symbols):
        raise ValueError(f"{of} takes {of.dims} dims and {of.symbols} symbols, got {len(dims)} and {len(symbols)}")
    return {dim(i): d for i, d in enumerate(dims)} | {symbol(i): s for i, s in enumerate(symbols)}


def _heading(of: AffineMap | IntegerSet) -> str:
    dims = ", ".join(f"d{i}" for i in range(of.dims))
    symbols = ", ".join(f"s{i}" for i in range(of.symbols))
    return f"({dims}){f'[{symbols}]' if symbols else ''}"
