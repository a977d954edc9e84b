"""Affine maps with their operands: composed, flattened and put in order in the way of MLIR's canonicalizer.

The result of each function means the same as its input, for all integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd
from typing import Protocol

from affdsl.frozen import replace
from affdsl.ir import written
from affdsl.ir.applied import Applied
from affdsl.ir.expr import Value
from affdsl.ir.written import Tree, floordiv, is_pure, mul


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


def add(left: Tree, right: Tree) -> Tree:
    """left + right as `written.add` has it, and x - (x floordiv q) * q as x mod q."""
    match right:
        case ("*", ("floordiv", x, int(q)), int(c)) if q > 0 and c == -q:
            if x == left:
                return written.mod(x, q)
            match left:
                case ("+", inner, last) if last == x:
                    return ("+", inner, written.mod(x, q))
        case ("*", ("*", ("floordiv", x, q), again), -1) if x == left and again == q:
            return written.mod(x, q)
    return written.add(left, right)


def _with(map: Applied, trees: tuple[Tree, ...]) -> Applied:
    """The same operands under other trees."""
    return map if trees == map.trees else replace(map, trees=trees)


LONGEST = 500
"""Positions, numbers and operators of an expression that is flattened: a longer one stays as it is."""
LONGEST_COMPOSED = 150
"""And of one into which affine.apply is written out."""


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


def flatten(tree: Tree, dims: int, symbols: int) -> Tree:
    """tree as a sum of multiples of dimensions, symbols, quotients and products.

    >>> written.spell_tree(flatten(("+", ("*", ("+", "d0", "s0"), 2), ("floordiv", ("*", "d0", 4), 6)), 1, 1))
    'd0 * 2 + s0 * 2 + (d0 * 2) floordiv 3'
    """
    if isinstance(tree, int | str):
        return tree
    pure = is_pure(tree)
    if not pure:
        tree = _by_symbols(tree)
    form = _Form(dims, symbols)
    try:
        row = form.row(tree)
    except _TooLongError:
        return tree
    if row is None:
        return tree
    plain = form.tree(row)
    return plain if pure or plain == tree else form.semi_affine_tree(row)


class _TooLongError(Exception):
    """Flattened, an expression would be too long: x mod n reads x twice then, and so does each mod around it."""


class _Form:
    """Rows of coefficients: of dimensions, symbols, the quotients and products met so far, the constant under -1."""

    def __init__(self, dims: int, symbols: int) -> None:
        self.dims, self.symbols = dims, symbols
        self.places = [f"d{k}" for k in range(dims)] + [f"s{k}" for k in range(symbols)]
        self.order = {place: k for k, place in enumerate(self.places)}
        self.locals: list[Tree] = []

    def row(self, tree: Tree) -> dict[int, int] | None:
        """The coefficients of a tree; None if it divides by a number that is not positive."""
        match tree:
            case int():
                return {-1: tree} if tree else {}
            case str():
                return {self.order[tree]: 1}
            case (operator, left, right):
                a, b = self.row(left), self.row(right)
                if a is None or b is None:
                    return None
                if operator == "+":
                    return _sum(a, b, 1)
                number = b.get(-1, 0) if not b or set(b) == {-1} else None
                if number is None:
                    return {self._place(MAKE[operator](self.tree(a), self.tree(b))): 1}
                if operator == "*":
                    return {k: c * number for k, c in a.items() if number}
                if number <= 0:
                    return None
                return self._remainder(a, number) if operator == "mod" else self._quotient(a, number, operator)

    def tree(self, row: dict[int, int]) -> Tree:
        """A row as a tree: dimensions, symbols, then what was met, in order."""
        made: Tree = 0
        for k in sorted(k for k in row if k >= 0):
            made = add(made, mul(self._piece(k), row[k]))
        return add(made, row.get(-1, 0))

    def semi_affine_tree(self, row: dict[int, int]) -> Tree:
        """A row as a tree: each dimension with its multiples by symbols, each symbol, then all else."""
        places: dict[tuple[int, int], int] = {}
        base, above, below = len(self.places), max(self.dims, self.symbols), -1
        for k in range(self.dims, base):
            if row.get(k, 0):
                places[k - self.dims, above] = k
                above += 1
        for k in range(base, base + len(self.locals)):
            match self.locals[k - base]:
                case (_, str() as left, str() | int() as right) if row.get(k, 0):
                    if left[0] == "d" and isinstance(right, str):
                        places[int(left[1:]), int(right[1:])] = k
                    elif left[0] == "d":
                        places[int(left[1:]), below] = k
                        below -= 1
                    else:
                        places[int(left[1:]), above] = k
                        above += 1
        for k in range(self.dims):
            if row.get(k, 0):
                places[k, below] = k
                below -= 1
        order = [places[key] for key in sorted(places)]
        order += [k for k in sorted(row) if k >= 0 and k not in order]
        made: Tree = 0
        for k in order:
            made = add(made, mul(self._piece(k), row[k]))
        return add(made, row.get(-1, 0))

    def _piece(self, k: int) -> Tree:
        return self.places[k] if k < len(self.places) else self.locals[k - len(self.places)]

    def _remainder(self, row: dict[int, int], number: int) -> dict[int, int]:
        if all(c % number == 0 for c in row.values()):
            return {}
        common = gcd(number, *row.values())
        divided = {k: c // common for k, c in row.items()}
        place = self._place(floordiv(self.tree(divided), number // common))
        return _sum(row, {place: 1}, -number)

    def _quotient(self, row: dict[int, int], number: int, operator: str) -> dict[int, int]:
        common = gcd(number, *row.values())
        divided = {k: c // common for k, c in row.items()}
        if common == number:
            return divided
        return {self._place(MAKE[operator](self.tree(divided), number // common)): 1}

    def _place(self, tree: Tree) -> int:
        if written.is_longer(tree, LONGEST):
            raise _TooLongError
        if tree not in self.locals:
            self.locals.append(tree)
        return len(self.places) + self.locals.index(tree)


class _NotLinearError(Exception):
    """A quotient or a product with a symbol is left in an expression."""


class _Linear(_Form):
    """Rows without quotients and products: the first one ends the search, before anything is made of it."""

    def _place(self, tree: Tree) -> int:
        raise _NotLinearError


def _sum(a: dict[int, int], b: dict[int, int], factor: int) -> dict[int, int]:
    total = dict(a)
    for k, c in b.items():
        total[k] = total.get(k, 0) + c * factor
    return {k: c for k, c in total.items() if c}


def _by_symbols(tree: Tree) -> Tree:
    """tree with multiples of a symbol divided by it, and 0 for the remainders of differences that are multiples."""
    match tree:
        case (operator, left, right):
            left, right = _by_symbols(left), _by_symbols(right)
            if operator == "mod" and _is_less_its_remainder(left, right):
                return 0
            if operator in ("floordiv", "ceildiv", "mod") and isinstance(right, str) and right[0] == "s":
                quotient = _divided(left, right, operator)
                if quotient is not None:
                    return 0 if operator == "mod" else quotient
            return MAKE[operator](left, right)
    return tree


def _is_less_its_remainder(tree: Tree, divisor: Tree) -> bool:
    """Whether a tree is x - x mod divisor."""
    summands = _summands(tree)
    for each in summands:
        match each:
            case ("*", ("mod", x, number), -1) if number == divisor:
                others = [other for other in summands if other is not each]
                return sorted(map(str, others)) == sorted(map(str, _summands(x)))
    return False


def _summands(tree: Tree) -> list[Tree]:
    match tree:
        case ("+", left, right):
            return [*_summands(left), *_summands(right)]
    return [tree]


def _divided(tree: Tree, symbol: str, rounding: str = "") -> Tree | None:
    """tree / symbol, if that is exact whatever the symbol is.

    It may be rounded up or down in one summand, which is a quotient that is rounded in the same way: it makes no
    difference then which divisor comes first.
    """
    match tree:
        case 0:
            return 0
        case str() if tree == symbol:
            return 1
        case ("+", left, right):
            for first, second in dict.fromkeys(((rounding, ""), ("", rounding))):  # once where nothing may be rounded
                a, b = _divided(left, symbol, first), _divided(right, symbol, second)
                if a is not None and b is not None:
                    return add(a, b)
        case ("*", left, right):
            if (a := _divided(left, symbol)) is not None:
                return mul(a, right)
            if (b := _divided(right, symbol)) is not None:
                return mul(left, b)
        case ("mod", left, right):
            a, b = _divided(left, symbol), _divided(right, symbol)
            return None if a is None or b is None else written.mod(a, b)
        case (operator, left, right) if operator == rounding and (a := _divided(left, symbol, rounding)) is not None:
            return MAKE[operator](a, right)
    return None


def coefficients(tree: Tree, dims: int, symbols: int) -> tuple[int, ...] | None:
    """The factors of all dimensions and symbols, and the constant; None if the tree is not linear in them."""
    try:
        row = _Linear(dims, symbols).row(tree)
    except _NotLinearError:
        return None
    if row is None:
        return None
    return (*[row.get(k, 0) for k in range(dims + symbols)], row.get(-1, 0))


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


MAKE: dict[str, Callable[[Tree, Tree], Tree]] = {**written.MAKE, "+": add}
