"""Affine expressions as text, with `mod` and `ceildiv` restored where they were meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Product, Value
from affdsl.ir.written import MAKE, Tree, add, ceildiv, floordiv, mul

Name = Callable[[Value], str]


def hint(value: Value) -> str:
    """What messages call a value, where no printer has given it a name: that of `calling`, its hint, or its type.

    >>> from affdsl.ir.types import INDEX
    >>> hint(Value(INDEX, "i")), hint(Value(INDEX))
    ('i', 'a value of type index')
    """
    return called(value) or f"a value of type {value.type}"


def called(value: Value) -> str:
    """The name of a value; empty if it has none."""
    return _called.get()(value) or value.hint


@contextmanager
def calling(name: Callable[[Value], str]) -> Iterator[None]:
    """Let messages call values as somebody else knows them; what `name` has no name for, they call as usual.

    >>> from affdsl.ir.types import INDEX
    >>> i, n = Value(INDEX, "i"), Value(INDEX, "n")
    >>> with calling(lambda value: "i#2" if value is i else ""):
    ...     spell(i + n)
    'i#2 + n'
    """
    token = _called.set(name)
    try:
        yield
    finally:
        _called.reset(token)


_called: ContextVar[Callable[[Value], str]] = ContextVar("called", default=lambda value: "")


def as_counted(downward: Mapping[Value, Affine]) -> dict[Value, Affine]:
    """What to put in for counters of loops that run down, for text in terms of the variables that the user has.

    The IR counts how far such a loop has come from its start, so its variable is the start less the counter.

    Parameters
    ----------
    downward
        The start of each such loop, outer loops first.

    >>> from affdsl.ir.types import INDEX
    >>> i, n = Value(INDEX, "i"), Value(INDEX, "n")
    >>> start = n - 1
    >>> spell((start - i + 2).substitute(as_counted({i: start})))
    'i + 2'
    """
    found: dict[Value, Affine] = {}
    for counter, start in downward.items():
        found[counter] = start.substitute(found) - Value(counter.type, counter.hint)
    return found


def spell_constraint(constraint: Constraint, name: Name = hint) -> str:
    """constraint in MLIR's syntax."""
    return f"{spell(constraint.expr, name)} {'==' if constraint.equality else '>='} 0"


_HEAVIEST_SPELLED = 1000
"""Atoms of the longest expression that a message shows."""


def spell(expr: Affine, name: Name = hint) -> str:
    """expr in MLIR's syntax, its values called as `name` says.

    >>> from affdsl.ir.types import INDEX
    >>> i, n = Value(INDEX, "i"), Value(INDEX, "n")
    >>> spell((i + 3) % 8 - n * 2 + (i + n).ceildiv(4) - 1)
    '(i + 3) mod 8 - n * 2 + (i + n) ceildiv 4 - 1'
    >>> spell(n - 1 - i), spell(7 - i % n)
    ('n - i - 1', '7 - i mod n')
    """
    if expr.weight > _HEAVIEST_SPELLED:
        return f"an expression of {', '.join(dict.fromkeys(map(name, expr.values())))} that is too long to show"
    pieces, constant = _pieces(expr)
    text = ""
    if pieces and pieces[0][0] < 0 < constant:
        text, constant = str(constant), 0
    for factor, piece in pieces:
        if text:
            text = f"{text} {'-' if factor < 0 else '+'} {_scaled(piece, abs(factor), name)}"
        elif factor == -1:
            text = f"-{name(piece)}" if isinstance(piece, Value) else f"-({_spelled(piece, name)})"
        else:
            text = _scaled(piece, factor, name)
    if constant or not text:
        text = f"{text} {'-' if constant < 0 else '+'} {abs(constant)}" if text else str(constant)
    return text


def tree_of(expr: Affine, name: Name) -> Tree:
    """expr as MLIR has it when it has read what `spell` writes; values are positions, as `name` says.

    >>> from affdsl.ir.types import INDEX
    >>> from affdsl.ir.written import spell_tree
    >>> i, n = Value(INDEX, "d0"), Value(INDEX, "s0")
    >>> spell_tree(tree_of((n + i) % 8 - 1, hint))
    '(d0 + s0) mod 8 - 1'
    """
    pieces, constant = _pieces(expr)
    result: Tree = 0
    for factor, piece in pieces:
        result = add(result, mul(_tree(piece, name), factor))
    return add(result, constant)


def _tree(piece: _Piece, name: Name) -> Tree:
    match piece:
        case Value():
            return name(piece)
        case Product(factors) | _Times(factors):
            result: Tree = 1
            for factor in factors:
                result = mul(result, _tree(factor, name))
            return result
        case FloorDiv(dividend, int() as divisor) if dividend.constant == divisor - 1:
            return ceildiv(tree_of(dividend - dividend.constant, name), divisor)
        case FloorDiv(dividend, divisor):
            return floordiv(tree_of(dividend, name), tree_of(Affine.of(divisor), name))
        case _Quotient(dividend, kind, divisor):
            return MAKE[kind](tree_of(dividend, name), tree_of(Affine.of(divisor), name))


class _Quotient(FrozenValue):
    """dividend <kind> divisor, as found again in an expression; kind is mod or ceildiv."""

    dividend: Affine
    kind: str
    divisor: int | Affine


class _Times(FrozenValue):
    """A product with a quotient among its factors."""

    factors: tuple[Atom | _Quotient, ...]


_Piece: TypeAlias = "Atom | _Quotient | _Times"


def _scaled(piece: _Piece, factor: int, name: Name) -> str:
    text = _spelled(piece, name)
    if factor == 1:
        return text
    return f"({text}) * {factor}" if isinstance(piece, _Quotient | FloorDiv) else f"{text} * {factor}"


def _spelled(piece: _Piece, name: Name) -> str:
    match piece:
        case Value():
            return name(piece)
        case Product(factors) | _Times(factors):
            return " * ".join([name(f) if isinstance(f, Value) else f"({_spelled(f, name)})" for f in factors])
        case FloorDiv(dividend, int() as divisor) if dividend.constant == divisor - 1:
            return f"{_operand(dividend - dividend.constant, name)} ceildiv {divisor}"
        case FloorDiv(dividend, divisor):
            return f"{_operand(dividend, name)} floordiv {_operand(Affine.of(divisor), name)}"
        case _Quotient(dividend, kind, divisor):
            return f"{_operand(dividend, name)} {kind} {_operand(Affine.of(divisor), name)}"


def _operand(expr: Affine, name: Name) -> str:
    text = spell(expr, name)
    plain = expr.value is not None or (expr.is_constant and expr.constant >= 0)
    return text if plain else f"({text})"


def _pieces(expr: Affine) -> tuple[list[tuple[int, _Piece]], int]:
    """expr as factors and pieces, quotients restored; a positive one leads if there is one."""
    if all(isinstance(atom, Value) for atom, _ in expr.terms):
        pieces: list[tuple[int, _Piece]] = [(c, atom) for atom, c in expr.terms]
        rest = expr
    else:
        rest, mods = _mods(expr)
        place = {atom: position for position, (atom, _) in enumerate(expr.terms)}
        placed: list[tuple[int, int, _Piece]] = [(place[a], *_ceiling(a, c)) for a, c in rest.terms]
        placed += [(place[first], factor, mod) for first, factor, mod in mods]
        placed.sort(key=lambda part: part[0])
        pieces = [(factor, piece) for _, factor, piece in placed]
    if pieces and pieces[0][0] < 0:
        leader = next((p for p in pieces if p[0] > 0), None)
        if leader is not None:
            pieces.remove(leader)
            pieces.insert(0, leader)
    return pieces, rest.constant


def _mods(expr: Affine) -> tuple[Affine, list[tuple[Atom, int, _Quotient]]]:
    """expr without its remainders k * (x - d * floor(x / d)); these as: the atom whose place it takes, k, x mod d."""
    rest, found = expr, []
    # The outermost first: (x mod 6) mod 4 is spelled as that, not by x mod 6 and a quotient of it, which doubles it.
    for atom, c in sorted(expr.terms, key=lambda term: -Affine.of(term[0]).weight):
        for dividend, divisor, floor in _divisions(atom, expr):
            whole = Affine.of(floor) * divisor  # d * floor(x / d)
            share = dict(whole.terms).get(atom)
            if share is None or c % share:
                continue
            factor = -c // share
            coefficients = dict(rest.terms)
            if any(coefficients.get(a, 0) != -factor * x for a, x in whole.terms) or not _has(rest, dividend * factor):
                continue
            rest = rest + (whole - dividend) * factor
            first = dividend.terms[0][0] if dividend.terms else atom
            found.append((first, factor, _Quotient(dividend, "mod", divisor)))
    return rest, found


def _divisions(atom: Atom, expr: Affine) -> Iterator[tuple[Affine, int | Affine, FloorDiv]]:
    """The divisions floor(x / d) that the atom may be a multiple of, as x, d and the division."""
    match atom:
        case FloorDiv(dividend, divisor):
            yield dividend, divisor, atom
            for other, _ in expr.terms:  # floor(y / ab) is also floor(floor(y / a) / b)
                match other:
                    case FloorDiv(Affine(terms, constant), int() as a) if (
                        isinstance(divisor, int)
                        and a < divisor
                        and divisor % a == 0
                        and terms == dividend.terms
                        and (dividend.constant - constant) % a == 0
                    ):
                        yield Affine.of(other) + (dividend.constant - constant) // a, divisor // a, atom
        case Product(factors):
            for floor in factors:
                if isinstance(floor, FloorDiv):
                    yield floor.dividend, floor.divisor, floor


def _has(expr: Affine, part: Affine) -> bool:
    """Whether taking part away from expr makes no coefficient larger."""
    coefficients = dict(expr.terms)
    if part.is_constant:
        return 0 <= part.constant <= expr.constant or expr.constant <= part.constant <= 0
    return all(x * (had := coefficients.get(a, 0)) > 0 and abs(had) >= abs(x) for a, x in part.terms)


def _ceiling(atom: Atom, factor: int) -> tuple[int, _Piece]:
    """factor * atom, where -floor(-x / s) and floor((x + s - 1) / s), for a symbol s, have become x ceildiv s."""
    match atom:
        case FloorDiv(dividend, Affine() as divisor):
            if all(c < 0 for _, c in dividend.terms) and dividend.constant <= 0:
                return -factor, _Quotient(-dividend, "ceildiv", divisor)
            rounded = dividend - divisor + 1
            if len(rounded.terms) == len(dividend.terms) - len(divisor.terms):
                return factor, _Quotient(rounded, "ceildiv", divisor)
        case Product(factors):
            shown: list[Atom | _Quotient] = []
            for inner in factors:
                sign, piece = _ceiling(inner, 1)
                factor *= sign
                assert not isinstance(piece, _Times), "products are flat"
                shown.append(piece)
            if any(isinstance(piece, _Quotient) for piece in shown):
                return factor, _Times(tuple(shown))
    return factor, atom
