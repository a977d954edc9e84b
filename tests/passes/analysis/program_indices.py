"""Indices of random programs: affine expressions whose smallest and largest values are known, and their text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.fuzz.affine import Division, Expr, Kind, name

Range = tuple[int, int]
"""The smallest and the largest value."""


@dataclass(eq=False)
class Scope:
    """What can be used at one place of a program; names are those of MLIR, without the percent sign.

    `dims` can stand in affine expressions, innermost loop last, and `symbols` too; `plain` only where any index can.
    `weight` is how often the place is reached at most.
    """

    dims: list[str] = field(default_factory=list)
    symbols: list[str] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)
    floats: list[str] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    ranges: dict[str, Range] = field(default_factory=dict)
    weight: int = 1
    loops: int = 0

    def inner(self, trips: int = 1, ivs: Mapping[str, Range] | None = None) -> Scope:
        """The scope inside a block that runs `trips` times, for the values of its induction variables."""
        return Scope(
            [*self.dims, *(ivs or ())], [*self.symbols], [*self.plain], [*self.floats], [*self.buffers],
            {**self.ranges, **(ivs or {})}, self.weight * trips, self.loops + len(ivs or ()),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Buffer:
    """A memref: `root` is the buffer that it is a view of, `strides` those of its elements in that one."""

    name: str
    shape: tuple[int, ...]
    type: str
    root: str
    strides: tuple[int, ...] = ()
    offset: int = 0
    space: int = 0

    @property
    def is_root(self) -> bool:
        return self.name == self.root


def range_of(expr: Expr, ranges: Mapping[str, Range]) -> Range:
    """Bounds of an expression, which need not be reached."""
    low = high = expr.constant
    for of, factor in expr.terms:
        ends = [end * factor for end in ranges[of]]
        low, high = low + min(ends), high + max(ends)
    for division in expr.divisions:
        first, last = _divided(division, range_of(division.dividend, ranges))
        low, high = low + first, high + last
    return low, high


def _divided(division: Division, ends: Range) -> Range:
    low, high = ends
    d = division.divisor
    match division.kind:
        case "floordiv":
            return low // d, high // d
        case "ceildiv":
            return -(-low // d), -(-high // d)
        case "mod":
            return (low % d, high % d) if low // d == high // d else (0, d - 1)


def difference(a: Expr, b: Expr, ranges: Mapping[str, Range]) -> int:
    """An upper bound of a - b: what they have in common falls out."""
    if a.divisions or b.divisions:
        return range_of(a, ranges)[1] - range_of(b, ranges)[0]
    factors = dict(a.terms)
    for of, factor in b.terms:
        factors[of] = factors.get(of, 0) - factor
    return range_of(Expr(a.constant - b.constant, tuple(factors.items())), ranges)[1]


class Indices:
    """Makes expressions, and spells them."""

    def __init__(self, random: Random, wanted: frozenset[str]) -> None:
        self.random = random
        self.wanted = wanted
        self.count = 0

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def below(self, probability: float) -> bool:
        return self.random.random() < probability

    def wants(self, feature: str, probability: float = 0.5) -> bool:
        """Whether to use a feature here."""
        return feature in self.wanted and self.below(probability)

    # Expressions

    def expr(self, scope: Scope) -> Expr:
        """Some expression, mostly of the inner loops."""
        random = self.random
        if not scope.dims or self.below(0.08):
            made = Expr(random.randint(0, 4))
        else:
            made = name(self.dim(scope)).plus(random.choice((0, 0, 0, 1, 1, 2, -1, -2)))
            other = self.dim(scope)
            if other not in made.names() and self.below(0.25):
                made = made.with_term(other, random.choice((1, 1, -1, 2)))
            if self.wants("scaled", 0.3):
                made = made.times(random.choice((2, 3, -1)))
        if scope.symbols and self.wants("symbol_index", 0.3):
            made = made.with_term(random.choice(scope.symbols), random.choice((1, 1, -1)))
        for kind in DIVISIONS:
            if self.wants(kind, 0.3):
                made = self.divided(made, kind)
        return made

    def divided(self, expr: Expr, kind: Kind) -> Expr:
        """The quotient of an expression, sometimes added to an index."""
        made = Expr(divisions=(Division(kind, expr, self.random.choice((2, 2, 3, 4))),))
        return made.plus(self.random.choice((0, 0, 1)))

    def dim(self, scope: Scope) -> str:
        """A loop or something computed from loops; the last ones more often."""
        return self.random.choice(scope.dims[-2:] if self.below(0.6) else scope.dims)

    def subscripts(self, buffer: Buffer, scope: Scope, reach: Sequence[int] = ()) -> list[Expr]:
        """Subscripts of a buffer, from which a box that reaches so far along the last dimensions is in bounds."""
        widths = [1] * (len(buffer.shape) - len(reach)) + [*reach]
        return [self.fitted(self.expr(scope), size, scope, w) for size, w in zip(buffer.shape, widths, strict=True)]

    def fitted(self, expr: Expr, size: int, scope: Scope, width: int = 1) -> Expr:
        """expr, shifted into a dimension if it can be; otherwise something smaller that fits."""
        room = size - width
        low, high = range_of(expr, scope.ranges)
        if high - low > room:
            if self.wants("mod", 0.7):
                return Expr(divisions=(Division("mod", expr, room + 1),))
            if self.below(0.2):
                return Expr(self.random.randint(0, room))
            simpler = (
                name(self.random.choice(scope.dims)) if expr.terms[1:] and scope.dims else self.part(expr.plus(-low))
            )
            return self.fitted(simpler, size, scope, width)
        shift = max(0, -low) - max(0, high - room)
        if self.below(0.15):
            shift = self.random.randint(-low, room - high)
        return expr.plus(shift)

    def part(self, expr: Expr) -> Expr:
        """A quarter of an expression."""
        return Expr(divisions=(Division("floordiv", expr, 4),))

    # Text

    def spell(self, scope: Scope, key: str) -> str:
        """A name where a subscript or the bound of a parallel loop stands."""
        return f"symbol(%{key})" if key in scope.symbols else f"%{key}"

    def inline(self, scope: Scope, exprs: Sequence[Expr]) -> str:
        return ", ".join(e.mlir(lambda key: self.spell(scope, key)) for e in exprs)

    def applied(self, scope: Scope, exprs: Sequence[Expr]) -> str:
        """A map with its operands."""
        inputs, operands, spelled = _parameters(scope, exprs)
        return f"affine_map<{inputs} -> ({', '.join(spelled)})>{operands}"

    def condition_text(self, scope: Scope, constraints: Sequence[tuple[Expr, bool]]) -> str:
        """A set with its operands; each constraint says that an expression is at least 0, or equal."""
        inputs, operands, spelled = _parameters(scope, [e for e, _ in constraints])
        parts = [f"{s} {'==' if e else '>='} 0" for s, (_, e) in zip(spelled, constraints, strict=True)]
        return f"affine_set<{inputs} : ({', '.join(parts)})>{operands}"


DIVISIONS: tuple[Kind, ...] = ("floordiv", "ceildiv", "mod")


def _parameters(scope: Scope, exprs: Sequence[Expr]) -> tuple[str, str, list[str]]:
    """The parameters of a map or set, its operands, and the expressions over the parameters."""
    names = list(dict.fromkeys(of for e in exprs for of in e.names()))
    dims = [of for of in names if of not in scope.symbols]
    symbols = [of for of in names if of in scope.symbols]
    spelled = {of: f"d{k}" for k, of in enumerate(dims)} | {of: f"s{k}" for k, of in enumerate(symbols)}
    inputs, operands = (
        f"({', '.join(show(of) for of in dims)})" + (f"[{', '.join(show(of) for of in symbols)}]" if symbols else "")
        for show in (spelled.__getitem__, "%{}".format)
    )
    return inputs, operands, [e.mlir(spelled.__getitem__) for e in exprs]
