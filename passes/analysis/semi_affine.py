"""What isl cannot express in expressions, as products of values: where it is, and values in its place."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.expr import Affine, Atom, FloorDiv, Product, Value
from affdsl.ir.types import INDEX
from affdsl.passes.analysis.polyhedral import DEEPEST_QUOTIENT


def semi_affine(expr: Affine, seen: set[Atom] | None = None) -> Iterator[Atom]:
    """The atoms of an expression that isl cannot express, innermost first."""
    passed: set[Atom] = set() if seen is None else seen
    for atom, _ in expr.terms:
        match atom:
            case FloorDiv(dividend, int()) if atom.depth <= DEEPEST_QUOTIENT:
                if atom not in passed:
                    passed.add(atom)
                    yield from semi_affine(dividend, passed)
            case FloorDiv() | Product():
                yield atom


def without_semi_affine(expr: Affine, known: dict[Atom, Value]) -> Affine:
    """An expression with a value in place of each semi-affine atom: that of `known`, or a new one, which is added."""
    while (atom := next(semi_affine(expr), None)) is not None:
        expr = with_stand_in(expr, atom, known.setdefault(atom, Value(INDEX, "semi_affine")))
    return expr


def with_stand_in(expr: Affine, atom: Atom, stand_in: Value, done: dict[Atom, Affine] | None = None) -> Affine:
    """An expression with a value in place of an atom."""
    known: dict[Atom, Affine] = {} if done is None else done
    result = Affine((), expr.constant)
    for each, c in expr.terms:
        match each:
            case _ if each == atom:
                result += stand_in * c
            case FloorDiv(dividend, int() as divisor):
                if each not in known:
                    known[each] = with_stand_in(dividend, atom, stand_in, known) // divisor
                result += known[each] * c
            case _:
                result += Affine(((each, c),))
    return result
