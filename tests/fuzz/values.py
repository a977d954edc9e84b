"""Random values and indices: what the statements of random programs compute, and where they read and write."""

from __future__ import annotations

from random import Random

from tests.fuzz.affine import Division, Expr, name
from tests.fuzz.features import Features
from tests.fuzz.program import Binary, Buffer, Cast, Constant, Element, Extreme, Load, Name, Value

INTEGER = ("addi", "addi", "addi", "subi", "muli", "maxsi", "minsi", "xori")
FLOAT = ("addf", "addf", "subf", "maximumf", "minimumf")

Ivs = tuple[str, ...]
"""The names that indices may use: of loops, and of what affine.apply gave."""
Scope = tuple[str, ...]
"""The elements that expressions may use."""


class Values:
    """Makes values and indices at random; the indices may be anything, and are moved into bounds later."""

    def __init__(self, random: Random, features: Features) -> None:
        self.random = random
        self.features = features
        self.count = 0
        self.element: Element = self.element_type()
        self.symbols: Ivs = random.choice((("N",), ("N",), ("N", "M"))) if self.chance("sym") else ()
        self.buffers = self.make_buffers()

    # Choices

    def chance(self, feature: str) -> bool:
        probability: float = getattr(self.features, feature)
        return self.below(probability)

    def below(self, probability: float) -> bool:
        return self.random.random() < probability

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def element_type(self) -> Element:
        x = self.random.random()
        if x < self.features.f64:
            return "f64"
        return "i32" if x < self.features.f64 + self.features.i32 else "i64"

    def kind(self) -> str:
        return self.random.choice(FLOAT if self.element == "f64" else INTEGER)

    def make_buffers(self) -> tuple[Buffer, ...]:
        made = []
        for k in range(self.random.randint(2, 4)):
            rank = self.random.choice((1, 1, 1, 2, 2))
            is_local = k > 0 and self.chance("local")
            dynamic = tuple(not is_local and self.chance("dyn") for _ in range(rank))
            made.append(Buffer("ABCDEFG"[k], (0,) * rank, dynamic, is_local))
        return tuple(made)

    # Values and indices

    def value(self, ivs: Ivs, scope: Scope, depth: int) -> Value:
        if depth <= 0 or self.below(0.3):
            return self.leaf(ivs, scope)
        left = self.value(ivs, scope, depth - 1)
        right = self.load(ivs) if self.below(0.6) else self.value(ivs, scope, depth - 1)
        return Binary(self.kind(), left, right)

    def leaf(self, ivs: Ivs, scope: Scope) -> Value:
        x = self.random.random()
        if scope and x < 0.35:
            return Name(self.random.choice(scope))
        if ivs and self.chance("extreme"):
            exprs = tuple(self.index(ivs) for _ in range(self.random.choice((1, 2, 2, 3))))
            return Extreme(self.random.choice(("min", "max")), exprs)
        if ivs and x < 0.5:
            return Cast(name(self.random.choice(ivs)))
        if x < 0.65:
            return Constant(self.random.randint(-4, 9))
        return self.load(ivs)

    def load(self, ivs: Ivs) -> Load:
        buffer = self.random.choice(self.buffers)
        return Load(buffer.name, self.access(buffer, ivs), not self.chance("nonaffine"))

    def access(self, buffer: Buffer, ivs: Ivs) -> tuple[Expr, ...]:
        """Indices: mostly one loop for each dimension, sometimes shifted."""
        random, rank = self.random, buffer.rank
        if len(ivs) < rank or self.below(0.45):
            return tuple(self.index(ivs) for _ in range(rank))
        chosen = ivs[-rank:] if self.below(0.7) else tuple(random.sample(ivs, rank))
        index = [name(iv) for iv in chosen]
        if self.below(0.35):
            k = random.randrange(rank)
            index[k] = index[k].plus(random.choice((-1, 1, 1, -2, 2)))
        if rank == 2 and self.below(0.2):
            index[1] = index[1].plus(random.choice((-1, 1)))
        return tuple(index)

    def index(self, ivs: Ivs) -> Expr:
        random, x = self.random, self.random.random()
        if not ivs:
            return Expr(random.randint(0, 3))
        expr = name(random.choice(ivs))
        if x < self.features.rev:
            expr = expr.times(-1).plus(random.randint(3, 9))
        elif x < self.features.rev + self.features.stride:
            expr = expr.times(random.choice((2, 2, 3)))
        elif self.chance("divmod"):
            expr = self.division(ivs)
        elif self.below(0.08):
            return Expr(random.randint(0, 4))
        elif self.symbols and self.below(0.07):
            expr = name(random.choice(self.symbols))
        elif len(ivs) > 1 and self.below(0.07):
            first, second = random.sample(ivs, 2)
            expr = name(first).with_term(second, random.choice((1, 1, -1, 2)))
        return expr.plus(random.choice((-2, -1, -1, 1, 1, 2))) if self.below(0.4) else expr

    def division(self, ivs: Ivs) -> Expr:
        random = self.random
        dividend = name(random.choice(ivs)).plus(random.choice((0, 0, 1, 3, -1)))
        if self.below(0.3):
            dividend = dividend.with_term(random.choice(ivs), 2)
        made = Division(random.choice(("floordiv", "mod", "ceildiv")), dividend, random.choice((2, 3, 4)))
        return Expr(0, ((random.choice(ivs), 1),) if self.below(0.3) else (), (made,))
