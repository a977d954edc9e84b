"""Affine expressions as sums of multiples of dimensions, symbols, quotients and products, as MLIR flattens them.

The result of each function means the same as its input, for all integers.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

from affdsl.ir import written
from affdsl.ir.written import Tree, floordiv, is_pure, mul

LONGEST = 500
"""Positions, numbers and operators of an expression that is flattened: a longer one stays as it is."""


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


def coefficients(tree: Tree, dims: int, symbols: int) -> tuple[int, ...] | None:
    """The factors of all dimensions and symbols, and the constant; None if the tree is not linear in them."""
    try:
        row = _Linear(dims, symbols).row(tree)
    except _NotLinearError:
        return None
    if row is None:
        return None
    return (*[row.get(k, 0) for k in range(dims + symbols)], row.get(-1, 0))


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


MAKE: dict[str, Callable[[Tree, Tree], Tree]] = {**written.MAKE, "+": add}
