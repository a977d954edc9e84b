"""Affine maps with their operands: composed, flattened and put in order in the way of MLIR's canonicalizer.

The result of each function means the same as its input, for all integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Protocol

from affdsl.frozen import replace
from affdsl.ir import written
from affdsl.ir.applied import Applied
from affdsl.ir.expr import Value
from affdsl.ir.written import Tree, floordiv
from affdsl.passes.affine.flattening import MAKE, coefficients, flatten


class Facts(Protocol):
    """What a program says of the values in maps."""

    def apply_of(self, value: Value) -> Applied | None:
        """The map of one result that defines a value by affine.apply."""

    def number_of(self, value: Value) -> int | None:
        """The number that a value is."""

    def is_symbol(self, value: Value) -> bool:
        """Whether a value may stand as a symbol."""

    def is_dim(self, value: Value) -> bool:
        """Whether a value may stand as a dimension."""

    def loop_of(self, value: Value) -> tuple[Applied, Applied, int] | None:
        """The lower bounds, upper bounds and step of the affine.for whose counter a value is."""


def _with(map: Applied, trees: tuple[Tree, ...]) -> Applied:
    """The same operands under other trees."""
    return map if trees == map.trees else replace(map, trees=trees)


LONGEST_COMPOSED = 150
"""Positions, numbers and operators of an expression into which affine.apply is written out: a longer one stays."""


def composed(map: Applied, facts: Facts) -> Applied:
    """map with every operand that affine.apply computes written out, then in canonical form and flattened."""
    dims: list[Value | None] = list(map.dims)
    symbols: list[Value | None] = list(map.symbols)
    trees = map.trees
    while (found := _first_apply(dims, symbols, facts)) is not None:
        place, inner = found
        (expr,) = shifted(inner, len(dims), len(symbols))
        (dims if place[0] == "d" else symbols)[int(place[1:])] = None
        dims += inner.dims
        symbols += inner.symbols
        trees = tuple([written.replace(t, lambda p, x=place, e=expr: e if p == x else p) for t in trees])  # type: ignore[misc]
        if any(written.is_longer(t, LONGEST_COMPOSED) for t in trees):
            return canonical(map, facts)  # what affine.apply shares would be written out again and again
    names: dict[str, Tree] = {}
    for letter, values in (("d", dims), ("s", symbols)):
        left = [position for position, value in enumerate(values) if value is not None]
        names |= {f"{letter}{position}": f"{letter}{new}" for new, position in enumerate(left)}
    made = Applied(
        tuple([written.replace(t, names.__getitem__) for t in trees]),
        tuple([v for v in dims if v is not None]),
        tuple([v for v in symbols if v is not None]),
        map.equalities,
    )
    return flattened(canonical(made, facts))


def shifted(map: Applied, dims: int, symbols: int) -> tuple[Tree, ...]:
    """The trees of a map with its positions counted from other numbers on."""

    def moved(position: str) -> Tree:
        return f"{position[0]}{int(position[1:]) + (dims if position[0] == 'd' else symbols)}"

    return tuple([written.replace(t, moved) for t in map.trees])


def _first_apply(
    dims: Sequence[Value | None], symbols: Sequence[Value | None], facts: Facts
) -> tuple[str, Applied] | None:
    for letter, values in (("d", dims), ("s", symbols)):
        for position, value in enumerate(values):
            if value is not None and (inner := facts.apply_of(value)) is not None:
                return f"{letter}{position}", canonical(inner, facts)
    return None


def canonical(map: Applied, facts: Facts) -> Applied:
    """map with each operand once, unused ones left out, constants written in, and symbols where a value may be one."""
    if not map.dims and not map.symbols:
        return map
    map = _as_others(map, "d", [facts.is_symbol(v) for v in map.dims])
    map = _as_others(map, "s", [not facts.is_symbol(v) and facts.is_dim(v) for v in map.symbols])
    used = {p for t in map.trees for p in written.positions(t)}
    names: dict[str, Tree] = {}
    dims: dict[Value, str] = {}
    symbols: dict[Value, str] = {}
    for position, value in enumerate(map.dims):
        if f"d{position}" in used:
            names[f"d{position}"] = dims.setdefault(value, f"d{len(dims)}")
    for position, value in enumerate(map.symbols):
        if f"s{position}" in used:
            number = facts.number_of(value)
            if number is not None:
                names[f"s{position}"] = number
            else:
                names[f"s{position}"] = symbols.setdefault(value, f"s{len(symbols)}")
    trees = tuple([written.replace(t, names.__getitem__) for t in map.trees])
    return Applied(trees, tuple(dims), tuple(symbols), map.equalities)


def _as_others(map: Applied, letter: str, moved: Sequence[bool]) -> Applied:
    """Some of the dimensions ("d") as symbols, or of the symbols ("s") as dimensions, behind the others."""
    if not any(moved):
        return map
    is_of_dims, left = letter == "d", list[Value]()
    values, others = (map.dims, [*map.symbols]) if is_of_dims else (map.symbols, [*map.dims])
    names: dict[str, str] = {}
    for position, (value, goes) in enumerate(zip(values, moved, strict=True)):
        group, to = (others, "s" if is_of_dims else "d") if goes else (left, letter)
        names[f"{letter}{position}"] = f"{to}{len(group)}"
        group.append(value)
    trees = tuple([written.replace(t, lambda p: names.get(p, p)) for t in map.trees])
    dims, symbols = (left, others) if is_of_dims else (others, left)
    return Applied(trees, tuple(dims), tuple(symbols), map.equalities)


def flattened(map: Applied) -> Applied:
    """map with each tree as dimensions, symbols, quotients and a number, in this order."""
    return _with(map, tuple([flatten(t, len(map.dims), len(map.symbols)) for t in map.trees]))


def with_numbers(map: Applied, facts: Facts) -> Applied:
    """map with its constant operands written into the trees; all operands stay."""
    numbers = {
        f"{letter}{position}": number
        for letter, values in (("d", map.dims), ("s", map.symbols))
        for position, value in enumerate(values)
        if (number := facts.number_of(value)) is not None
    }
    if not numbers:
        return map
    return replace(map, trees=tuple([written.replace(t, lambda p: numbers.get(p, p)) for t in map.trees]))


def simplified(map: Applied, facts: Facts) -> Applied:
    """map with quotients and remainders left out that the ranges and steps of the enclosing loops decide."""
    return _with(map, tuple([_simplified(t, map, facts) for t in map.trees]))


def _simplified(tree: Tree, map: Applied, facts: Facts) -> Tree:
    match tree:
        case (operator, left, right):
            tree = MAKE[operator](_simplified(left, map, facts), _simplified(right, map, facts))
    match tree:
        case ("floordiv" | "ceildiv" | "mod" as operator, left, int(number)) if number > 0:
            return _decided(operator, left, number, map, facts)
    return tree


def _decided(operator: str, left: Tree, number: int, map: Applied, facts: Facts) -> Tree:
    """left floordiv, ceildiv or mod number, as something simpler if that is possible."""
    tree: Tree = (operator, left, number)
    low, high = bounds(left, map, facts)
    if low is not None and high is not None:
        if operator == "floordiv" and low // number == high // number:
            return low // number
        if operator == "ceildiv" and -(-low // number) == -(-high // number):
            return -(-low // number)
        if operator == "mod" and 0 <= low < number and high < number:
            return left
    parts = _multiple_and_rest(left, map, facts)
    if parts is not None:
        multiple, rest, divisor = parts
        if operator == "floordiv" and number % divisor == 0:
            return floordiv(multiple, number)
        if operator == "mod" and divisor % number == 0:
            return written.mod(rest, number)
        return tree
    if operator == "floordiv" and _lies_below(left, number, map, facts):
        return 0
    if operator == "mod" and _divisor(left, map, facts) % number == 0:
        return 0
    return tree


def _multiple_and_rest(tree: Tree, map: Applied, facts: Facts) -> tuple[Tree, Tree, int] | None:
    """tree as a multiple of a number and a rest between 0 and this number."""
    match tree:
        case ("+", left, right):
            for multiple, rest in ((left, right), (right, left)):
                divisor = _divisor(multiple, map, facts)
                if _lies_below(rest, divisor, map, facts):
                    return multiple, rest, divisor
    return None


def _divisor(tree: Tree, map: Applied, facts: Facts) -> int:
    """A number that divides a tree; for a loop counter it comes from the lower bound and the step."""
    if not (isinstance(tree, str) and tree[0] == "d"):
        return written.divisor(tree)
    loop = facts.loop_of(map.value(tree))
    if loop is None:
        return 1
    lower, _, step = loop
    return gcd(step, *[written.divisor(t) for t in lower.trees])


def _lies_below(tree: Tree, limit: int, map: Applied, facts: Facts) -> bool:
    """Whether a number, or the counter of a loop with constant bounds, is at least 0 and below limit."""
    if isinstance(tree, int):
        return 0 <= tree < limit
    if not (isinstance(tree, str) and tree[0] == "d"):
        return False
    low, high = range_of(map.value(tree), facts)
    return low is not None and high is not None and low >= 0 and high < limit


def range_of(value: Value, facts: Facts) -> tuple[int | None, int | None]:
    """The least and the greatest number that a loop counter can be; None where that is not known."""
    loop = facts.loop_of(value)
    if loop is None:
        return None, None
    lower, upper, step = loop
    low, high = _single(lower), _single(upper)
    if high is None:
        return low, None
    if low is None:
        return None, high - 1
    last = high - low - 1
    return low, high - 1 - (last % step if last >= 0 else -(-last % step))  # a loop that never runs has any range


def _single(map: Applied) -> int | None:
    return map.trees[0] if len(map.trees) == 1 and isinstance(map.trees[0], int) else None


def bounds(tree: Tree, map: Applied, facts: Facts) -> tuple[int | None, int | None]:
    """The least and the greatest number that a tree can be, as far as the loop counters in it say."""
    match tree:
        case ("floordiv" | "ceildiv" as operator, left, int(number)) if number > 0:
            low, high = bounds(left, map, facts)
            sign = 1 if operator == "floordiv" else -1
            return tuple([None if b is None else sign * (sign * b // number) for b in (low, high)])  # type: ignore[return-value]
        case ("mod", left, int(number)) if number > 0:
            low, high = bounds(left, map, facts)
            if low is not None and high is not None and low // number == high // number:
                return low % number, high % number
            return 0, number - 1
    row = coefficients(tree, len(map.dims), len(map.symbols))
    if row is None:
        return None, None
    low, high = row[-1], row[-1]
    for factor, value in zip(row[:-1], map.operands, strict=True):
        if factor:
            ends = range_of(value, facts)
            least, most = ends if factor > 0 else ends[::-1]
            low = None if low is None or least is None else low + factor * least
            high = None if high is None or most is None else high + factor * most
    return low, high


def unique(map: Applied) -> Applied:
    """map without results that it has already."""
    return _with(map, tuple(dict.fromkeys(map.trees)))


def irredundant(map: Applied, facts: Facts, *, is_max: bool) -> Applied:
    """map without results that never decide its maximum or minimum, and numbers for those that are always the same."""
    if not map.dims and not map.symbols:
        return map
    ranges = [bounds(t, map, facts) for t in map.trees]
    if not is_max:  # the minimum of some numbers is the maximum of the opposite ones
        ranges = [(None if b is None else -b, None if a is None else -a) for a, b in ranges]
    kept = list(range(len(ranges)))
    for k, (_, high) in enumerate(ranges):
        if high is not None and any(_hides(ranges[other], ranges[k], k < other) for other in kept if other != k):
            kept.remove(k)  # where a loop never runs, its counter has no range, and all results may hide each other
    trees = [map.trees[k] for k in kept]
    for place, k in enumerate(kept):
        low, high = ranges[k]
        if low is not None and low == high:
            trees[place] = low if is_max else -low
    return _with(map, tuple(trees))


def _hides(other: tuple[int | None, int | None], one: tuple[int | None, int | None], is_first: bool) -> bool:
    """Whether another number is never below one; of two numbers that are known to be equal the first one stays."""
    least, most = other
    low, high = one
    if least is None or high is None or least < high:
        return False
    return least > high or not (is_first and low == high and most == least)


def in_order(map: Applied) -> Applied | None:
    """map with its results sorted by their coefficients; None if they are sorted, or not all linear."""
    rows = [coefficients(t, len(map.dims), len(map.symbols)) for t in map.trees]
    known = [row for row in rows if row is not None]
    if len(known) < len(rows) or known == sorted(known):
        return None
    order = sorted(range(len(known)), key=known.__getitem__)
    return replace(map, trees=tuple([map.trees[k] for k in order]))
