"""Expressions as Python that builds them again."""

from __future__ import annotations

from collections.abc import Callable

from affdsl.ir.expr import Affine, Atom, FloorDiv, Product, Value

Name = Callable[[Value], str]


def python(expr: Affine, name: Name = lambda value: value.hint) -> str:
    """An expression as Python that builds it again from names for its values."""
    text = ""
    for atom, factor in expr.terms:
        piece = _atom(atom, name)
        size = abs(factor)
        if isinstance(atom, FloorDiv) and (size != 1 or (factor < 0 and not text)):
            piece = f"({piece})"  # a sign and a factor go before //
        if size != 1:
            piece = f"{size} * {piece}"
        text = f"{text} {'-' if factor < 0 else '+'} {piece}" if text else f"-{piece}" if factor < 0 else piece
    if expr.constant or not text:
        sign, size = ("-" if expr.constant < 0 else "+"), abs(expr.constant)
        text = f"{text} {sign} {size}" if text else str(expr.constant)
    return text


def _atom(atom: Atom, name: Name) -> str:
    match atom:
        case Value():
            return name(atom)
        case FloorDiv(dividend, divisor):
            return f"{_operand(dividend, name)} // {_operand(Affine.of(divisor), name)}"
        case Product(factors):
            return " * ".join(name(f) if isinstance(f, Value) else f"({_atom(f, name)})" for f in factors)


def _operand(expr: Affine, name: Name) -> str:
    plain = expr.value is not None or (expr.is_constant and expr.constant >= 0)
    return python(expr, name) if plain else f"({python(expr, name)})"
