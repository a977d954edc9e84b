"""Index expressions with their ranges, buffers with their sizes, and the scopes in which a random program sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.types import INDEX, FloatType, IntegerType, MemRefType, ScalarType, Type

T = TypeVar("T")
Range = tuple[int, int] | None
"""The lowest and the highest value, or None where the code is never reached."""

SYMBOL, DIM, ANY = range(3)
"""Where an index may stand: wherever a symbol may, wherever a dimension may, or in affine.apply alone."""

LARGEST = 1_000_000  # no index expression becomes larger, so that none overflows


@dataclass(frozen=True)
class Index:
    """An affine expression, its range for each choice of the sizes, and where it may stand."""

    expr: Affine
    ranges: tuple[Range, ...]
    position: int

    @property
    def highest(self) -> int:
        """The largest absolute value."""
        return max((max(abs(r[0]), abs(r[1])) for r in self.ranges if r is not None), default=0)

    @property
    def lowest(self) -> int:
        """The smallest value."""
        return min((r[0] for r in self.ranges if r is not None), default=1)

    def fits(self, sizes: tuple[int, ...]) -> bool:
        """Whether the value always lies in 0 .. size - 1."""
        return all(r is None or (r[0] >= 0 and r[1] < s) for r, s in zip(self.ranges, sizes, strict=True))


def combine(expr: Affine, rule: Callable[..., tuple[int, int]], *parts: Index) -> Index:
    """An expression made of others, whose range follows by a rule on theirs."""
    ranges = tuple(
        None if any(r is None for r in row) else rule(*row) for row in zip(*(p.ranges for p in parts), strict=True)
    )
    return Index(expr, ranges, max(p.position for p in parts))


def add(a: Index, b: Index) -> Index:
    """a + b"""
    return combine(a.expr + b.expr, lambda x, y: (x[0] + y[0], x[1] + y[1]), a, b)


def scale(a: Index, factor: int) -> Index:
    """a * factor"""
    return combine(a.expr * factor, lambda x: (min(x[0] * factor, x[1] * factor), max(x[0] * factor, x[1] * factor)), a)


def multiply(a: Index, b: Index) -> Index:
    """a * b, of which one is a symbol"""

    def rule(x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
        corners = [p * q for p in x for q in y]
        return min(corners), max(corners)

    return combine(a.expr * b.expr, rule, a, b)


def floordiv(a: Index, b: Index) -> Index:
    """floor(a / b), where b is positive"""

    def rule(x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
        corners = [p // q for p in x for q in y]
        return min(corners), max(corners)

    return combine(a.expr // b.expr, rule, a, b)


def ceildiv(a: Index, b: Index) -> Index:
    """ceil(a / b), where b is positive"""

    def rule(x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
        corners = [-(-p // q) for p in x for q in y]
        return min(corners), max(corners)

    return combine(a.expr.ceildiv(b.expr), rule, a, b)


def modulo(a: Index, b: Index) -> Index:
    """a modulo b, where b is positive"""
    return combine(a.expr % b.expr, lambda x, y: (0, y[1] - 1), a, b)


@dataclass(eq=False)
class Buffer:
    """A memref: its sizes as expressions and as numbers for each choice of the sizes, and what may be done to it."""

    value: Value
    dims: tuple[Affine, ...]
    sizes: tuple[tuple[int, ...], ...]
    """For each dimension the number for each choice of the sizes."""
    root: Value
    is_heap: bool = False

    @property
    def element(self) -> ScalarType:
        """The type of the elements."""
        assert isinstance(self.value.type, MemRefType)
        assert not hasattr(self.value.type.element, "shape")
        return self.value.type.element  # type: ignore[return-value]

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dims)


@dataclass
class Scope:
    """What one block has made so far."""

    ops: list[Op] = field(default_factory=list)
    scalars: list[Value] = field(default_factory=list)
    indices: list[Index] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    is_barrier: bool = False
    """The block of a parallel band: it must not write to what is outside."""


NAMES = ["i", "j", "k", "x", "s", "acc", "for", "int", "exp", "A", "tmp", "café", "I", "min_i64", "N", "%q"]


class NothingError(Exception):
    """Nothing is there that a statement could be about: something is computed instead."""


class Frame:
    """A function while it is being written."""

    def __init__(self, rng: Random, choices: int, *, wild: bool) -> None:
        self.rng = rng
        self.choices = choices
        self.wild = wild
        self.scopes = [Scope()]
        self.work: tuple[int, ...] = (1,) * choices
        self.spent = 0
        self.named = rng.choice([0.0, 0.1, 0.5, 0.95])
        self.hidden: set[Value] = set()
        """Roots that must not be touched here: freed, or written by other iterations."""

    def pick(self, choices: Sequence[T]) -> T:
        """One of some choices; raises NothingError where there is none."""
        if not choices:
            raise NothingError
        return self.rng.choice(choices)

    def chance(self, share: float) -> bool:
        """True in this share of cases."""
        return self.rng.random() < share

    @property
    def depth(self) -> int:
        """How many blocks are open inside the function's own."""
        return len(self.scopes) - 1

    @property
    def scope(self) -> Scope:
        """The innermost open block."""
        return self.scopes[-1]

    def emit(self, op: Op) -> None:
        """Append an operation to the innermost block."""
        self.scope.ops.append(op)
        self.spent += max(self.work)

    def name(self) -> str:
        """A name that a user may have given, or none: the C output folds values without a name into their use."""
        return self.rng.choice(NAMES) if self.chance(self.named) else ""

    def define(self, type: Type, make: Callable[..., Op], *parts: object, name: str | None = None) -> Value:
        """Append an operation with one result."""
        result = Value(type, self.name() if name is None else name)
        self.emit(make(result, *parts))
        return result

    def constant(self, value: float, type: ScalarType) -> Value:
        """A constant of any scalar type."""
        return self.define(type, arith.Constant, value, name="")

    @contextmanager
    def block(self, trips: tuple[int, ...] | None = None) -> Iterator[Scope]:
        """Open a block that runs so often, at most, for each choice of the sizes."""
        before = self.work
        hidden = set(self.hidden)
        if trips is not None:
            self.work = tuple(w * t for w, t in zip(before, trips, strict=True))
        self.scopes.append(Scope())
        try:
            yield self.scope
        finally:
            self.scopes.pop()
            self.work, self.hidden = before, hidden

    def scalars(self, type: ScalarType) -> list[Value]:
        """The visible values of a type."""
        return [v for scope in self.scopes for v in scope.scalars if v.type == type]

    def indices(self, position: int = DIM) -> list[Index]:
        """The visible index expressions that may stand in such a position."""
        return [x for scope in self.scopes for x in scope.indices if x.position <= position]

    def buffers(self) -> list[Buffer]:
        """The buffers that may be read."""
        return [b for scope in self.scopes for b in scope.buffers if b.root not in self.hidden]

    def writable(self) -> list[Buffer]:
        """The buffers that may be written, too."""
        found: list[Buffer] = []
        for scope in reversed(self.scopes):
            found += [b for b in scope.buffers if b.root not in self.hidden]
            if scope.is_barrier:
                break
        return found

    def number(self, value: int) -> Index:
        """A constant index."""
        return Index(Affine.of(value), ((value, value),) * self.choices, SYMBOL)

    def dim_index(self, buffer: Buffer, k: int) -> Index:
        """The size of a buffer along dimension k."""
        return Index(buffer.dims[k], tuple((s, s) for s in buffer.sizes[k]), SYMBOL)

    def index(self, position: int = DIM, depth: int = 2) -> Index:
        """A random index expression."""
        visible = self.indices(position)
        if depth == 0 or self.chance(0.25):
            if not visible or self.chance(0.12):
                return self.number(self.rng.choice([0, 0, 1, 1, 2, 3, 5, 7]))
            return self.rng.choice(visible[-6:] if self.chance(0.7) else visible)
        a = self.index(position, depth - 1)
        kind = self.rng.choice("+++c*-/%^sSPp")
        made = self._operation(kind, a, position, depth)
        return made if made.highest < LARGEST else modulo(made, self.number(self.rng.choice([2, 3, 8, 100])))

    def _operation(self, kind: str, a: Index, position: int, depth: int) -> Index:
        small = self.number(self.rng.choice([1, 2, 2, 3, 4, 5, 8]))
        match kind:
            case "+":
                return add(a, self.index(position, depth - 1))
            case "-":
                return add(a, scale(self.index(position, depth - 1), -1))
            case "c":
                return add(a, self.number(self.rng.randint(-3, 3)))
            case "*":
                return scale(a, self.rng.choice([-2, -1, 2, 3]))
            case "/":
                return floordiv(a, small)
            case "%":
                return modulo(a, small)
            case "^":
                return ceildiv(a, small)
        symbols = [s for s in self.indices(SYMBOL) if s.lowest > 0 or kind in "Pp"]
        if not symbols:
            return a
        symbol = self.rng.choice(symbols)
        if kind in "Pp":
            return multiply(a, symbol)
        return floordiv(a, symbol) if kind == "s" else modulo(a, symbol)

    def subscripts(self, buffer: Buffer) -> tuple[tuple[Affine, ...], list[Constraint]]:
        """Random subscripts of a buffer, and the conditions under which they are in bounds."""
        exprs: list[Affine] = []
        guards: list[Constraint] = []
        for k, sizes in enumerate(buffer.sizes):
            found, dim = self._subscript(sizes), self.dim_index(buffer, k)
            if not found.fits(sizes) and dim.lowest > 0 and self.chance(0.5):
                is_legal = dim.expr.is_constant or all(x.position == SYMBOL for x in (dim,))
                found = modulo(found, dim) if is_legal else found
            if not found.fits(sizes):
                guards += [Constraint(found.expr), Constraint(dim.expr - 1 - found.expr)]
            exprs.append(found.expr)
        return tuple(exprs), guards

    def _subscript(self, sizes: tuple[int, ...]) -> Index:
        if self.chance(0.5):  # guards that never hold show little
            fitting = [x for x in self.indices(DIM) if x.fits(sizes) and not x.expr.is_constant]
            if fitting:
                return self.rng.choice(fitting[-4:])
        for _ in range(4):
            found = self.index(DIM, self.rng.choice([0, 0, 1, 1, 2, 3]))
            shift = -min(found.lowest, 0)
            if shift and self.chance(0.7):
                found = add(found, self.number(shift))
            if found.fits(sizes):
                break
        return found

    def as_value(self, index: Index | Affine) -> Value:
        """An index expression as a value."""
        expr = index.expr if isinstance(index, Index) else index
        if expr.value is not None and self.chance(0.8):
            return expr.value
        if expr.is_constant and self.chance(0.7):
            return self.constant(expr.constant, INDEX)
        return self.define(INDEX, affine.Apply, expr)


def closed(scope: Scope, terminator: Op | None = None) -> Block:
    """The block that a scope has become."""
    return (*scope.ops, *(() if terminator is None else (terminator,)))


def width(type: ScalarType) -> int:
    """Bits; an index has 64."""
    return type.width if isinstance(type, IntegerType | FloatType) else 64
