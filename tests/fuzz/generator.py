"""Random affine programs: valid, in bounds and defined by construction, a function of the seed and the features."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.fuzz.affine import Division, Expr, name
from tests.fuzz.features import MIXES, Features
from tests.fuzz.program import (
    Apply,
    Binary,
    Buffer,
    Carried,
    Cast,
    Condition,
    For,
    If,
    Let,
    Load,
    Name,
    Outlined,
    Program,
    Statement,
    Store,
    Value,
    nodes,
    rebuilt,
)
from tests.fuzz.reference import UnusableError, evaluate, placed, races
from tests.fuzz.values import Ivs, Scope, Values

INTEGER_REDUCTIONS = ("addi", "addi", "muli", "maxsi", "minsi", "andi", "ori")
FLOAT_REDUCTIONS = ("addf", "maximumf", "minimumf")

ATTEMPTS = 500
"""So often a program that is of no use is made anew."""


def generate(seed: int, features: Features | None = None) -> Program:
    """The program of a seed: in bounds, exact, and defined with each of its valuations.

    Raises ValueError where the features leave no such program, as where no loop ever runs.

    >>> generate(1) == generate(1)
    True
    """
    random = Random(seed)
    chosen = features or MIXES[seed % len(MIXES)]
    for _ in range(ATTEMPTS):
        try:
            program = placed(_Generator(random, chosen).program(seed), random)
            evaluate(program)
            program = with_parallel_loops(program, random, chosen.par)
        except UnusableError:
            continue
        return program
    raise ValueError(f"no program of seed {seed} with {chosen} stores anything and is defined")


def with_parallel_loops(program: Program, random: Random, probability: float) -> Program:
    """The program with some of the loops whose iterations do not meet parallel."""
    loops = [node for node in nodes(program.body) if isinstance(node, For) and not node.carried]
    chosen = {loop.iv for loop in loops if random.random() < probability and not races(program, loop.iv)}
    return rebuilt(program, lambda n: replace(n, is_parallel=n.iv in chosen) if isinstance(n, For) else n)


class _Generator(Values):
    """Builds one program: its nests, and the statements in them."""

    def __init__(self, random: Random, features: Features) -> None:
        super().__init__(random, features)
        self.nest_bounds: list[_Bounds] = []
        self.previous_bounds: list[_Bounds] = []

    # The program

    def program(self, seed: int) -> Program:
        valuations = [tuple(self.random.randint(0, 9) for _ in self.symbols) for _ in range(2)]
        sizes = {b.name: tuple(self.random.randint(5, 12) for _ in range(b.rank)) for b in self.buffers}
        local = [b for b in self.buffers if b.is_local]
        body = [self.first_writes(b, sizes[b.name]) for b in local]
        scope: Scope = ()
        for _ in range(self.random.choice((1, 2, 2, 3, 3, 4))):
            depth = self.random.choice((1, 1, 2, 2, 3))
            if self.chance("call"):
                body.append(Outlined(self.fresh("part"), self.nest_and_use((), 0, depth, ())[0]))
                continue
            made, results = self.nest_and_use((), 0, depth, scope)
            body += made
            scope += results
        body += [self.copy_out(b, sizes[b.name]) for b in local if self.below(0.7)]
        kept = valuations if self.symbols else valuations[:1]
        return Program(seed, self.element, self.buffers, self.symbols, tuple(kept), tuple(body))

    def first_writes(self, buffer: Buffer, sizes: tuple[int, ...]) -> Statement:
        """A nest that gives each element of a local buffer a value."""
        random = self.random
        ivs = tuple(self.fresh("i") for _ in sizes)
        terms = tuple((iv, random.choice((1, 2, 3))) for iv in ivs)
        value: Value = Cast(Expr(random.randint(-3, 3), terms))
        if self.below(0.5):
            other = random.choice([b for b in self.buffers if not b.is_local])
            value = Binary(self.kind(), value, Load(other.name, tuple(name(random.choice(ivs)) for _ in other.shape)))
        return self.rectangle(ivs, sizes, Store(buffer.name, tuple(map(name, ivs)), value))

    def copy_out(self, buffer: Buffer, sizes: tuple[int, ...]) -> Statement:
        """A nest that makes a local buffer visible to the caller."""
        random = self.random
        ivs = tuple(self.fresh("i") for _ in sizes)
        other = random.choice([b for b in self.buffers if not b.is_local])
        index = tuple(name(random.choice(ivs)).plus(random.choice((0, 0, 1))) for _ in other.shape)
        within = tuple(max(1, n - random.choice((0, 0, 1, 2))) for n in sizes)
        return self.rectangle(ivs, within, Store(other.name, index, Load(buffer.name, tuple(map(name, ivs)))))

    def rectangle(self, ivs: Ivs, sizes: tuple[int, ...], inner: Statement) -> Statement:
        for iv, size in reversed(list(zip(ivs, sizes, strict=True))):
            inner = For(iv, (Expr(0),), (Expr(size),), 1, (), (inner,))
        return inner

    # Loops

    def nest_and_use(self, ivs: Ivs, depth: int, deepest: int, scope: Scope) -> tuple[tuple[Statement, ...], Scope]:
        """A nest and, mostly, a store of what its outer loop carried; and the names of that."""
        made = self.nest(ivs, depth, deepest, scope)
        results = tuple(c.result for c in made.carried)
        if results and self.below(0.8):
            return (made, self.store(ivs, scope + results, results[0])), results
        return (made,), results

    def nest(self, ivs: Ivs, depth: int, deepest: int, scope: Scope) -> For:
        bounds = self.bounds(ivs)
        self.nest_bounds = [*self.nest_bounds[:depth], bounds]
        iv = self.fresh("i")
        inner_ivs, inner = (*ivs, iv), scope
        carried: list[tuple[str, Value]] = []
        if self.chance("iterargs"):
            carried = [(self.fresh("a"), self.value(ivs, scope, 1)) for _ in range(self.random.choice((1, 1, 1, 2)))]
            inner += tuple(key for key, _ in carried)
        body: tuple[Statement, ...] = ()
        if depth + 1 < deepest:
            if self.chance("imperfect"):
                body += self.statements(inner_ivs, inner, 1)
            nested, results = self.nest_and_use(inner_ivs, depth + 1, deepest, inner)
            body, inner = body + nested, inner + results
            if self.chance("imperfect"):
                if self.below(0.5):
                    body += self.statements(inner_ivs, inner, 1)
                else:
                    body += (self.nest(inner_ivs, depth + 1, deepest, inner),)
        else:
            body += self.statements(inner_ivs, inner, self.random.choice((1, 1, 2, 3)))
        updated = tuple(Carried(key, init, self.update(key, inner_ivs, inner)) for key, init in carried)
        if len(updated) == 2 and self.below(0.3):
            updated = (replace(updated[0], update=Name(updated[1].name)), updated[1])
        if depth == 0:
            self.previous_bounds = self.nest_bounds
        return For(iv, bounds.lower, bounds.upper, bounds.step, updated, body)

    def update(self, key: str, ivs: Ivs, scope: Scope) -> Value:
        value = self.value(ivs, scope, 1)
        if self.below(0.25):
            return value
        kinds = FLOAT_REDUCTIONS if self.element == "f64" else INTEGER_REDUCTIONS
        return Binary(self.random.choice(kinds), Name(key), value)

    def bounds(self, ivs: Ivs) -> _Bounds:
        """The bounds of a new loop: often those of the nest before, so that the two can be fused."""
        random, depth = self.random, len(ivs)
        if depth < len(self.previous_bounds) and not self.features.mult and self.below(0.55):
            same = self.previous_bounds[depth]
            if same.free <= set(self.symbols):
                return same
        low = random.choice((0, 0, 0, 0, 1, 2, -1, -3))
        if self.features.mult:
            return _Bounds((Expr(low),), (Expr(low + random.choice((4, 8, 12))),), 1)
        trips = random.choice((1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 10))
        step = random.choice((2, 3, 4)) if self.chance("step") else 1
        if self.chance("zerotrip"):
            trips = random.choice((0, 0, -2))
        lower: tuple[Expr, ...] = (Expr(low),)
        upper: tuple[Expr, ...] = (
            Expr(low + trips * step - random.randint(0, step - 1) if trips > 0 else low + trips),
        )
        if self.symbols and self.below(0.5):
            upper = (name(random.choice(self.symbols)).plus(random.choice((0, 0, 1, -1, 2))),)
        if ivs and self.chance("tri"):
            outer = name(random.choice(ivs))
            if self.below(0.2):
                lower, upper = (outer,), (outer.plus(random.choice((1, 2, 3, 4))),)
            elif self.below(0.5):
                lower = (outer.plus(random.choice((0, 0, 1, -1))),)
            else:
                upper = (outer.plus(random.choice((0, 1, 1, 2, 3))),)
        if self.chance("minmax"):
            chosen = random.choice((*ivs, *self.symbols, None))
            other = name(chosen).plus(random.randint(-2, 3)) if chosen else Expr(random.randint(-1, 9))
            if self.below(0.5):
                lower += (other,)
            else:
                upper += (other,)
        return _Bounds(lower, upper, step)

    # Statements

    def statements(self, ivs: Ivs, scope: Scope, count: int) -> tuple[Statement, ...]:
        made: list[Statement] = []
        for _ in range(count):
            if self.chance("idx"):
                key = self.fresh("x")
                made.append(Apply(key, self.index(ivs)))
                ivs += (key,)
            if self.below(0.2):
                key = self.fresh("v")
                made.append(Let(key, self.load(ivs)))
                scope += (key,)
            made.append(self.branch(ivs, scope) if self.chance("iff") else self.store(ivs, scope))
        return tuple(made)

    def branch(self, ivs: Ivs, scope: Scope) -> If:
        conditions = tuple(self.condition(ivs) for _ in range(self.random.choice((1, 1, 2))))
        then = tuple(self.store(ivs, scope) for _ in range(self.random.choice((1, 1, 2))))
        return If(conditions, then, (self.store(ivs, scope),) if self.below(0.3) else ())

    def condition(self, ivs: Ivs) -> Condition:
        random = self.random
        if self.chance("divmod"):
            rest = Division("mod", name(random.choice(ivs)), 2)
            return Condition(Expr(random.randint(-1, 0), divisions=(rest,)), self.below(0.2))
        expr = name(random.choice(ivs))
        if self.below(0.4):
            expr = expr.with_term(random.choice(ivs), random.choice((-1, 1)))
        if self.below(0.3):
            expr = expr.times(-1).plus(4)
        if self.symbols and self.below(0.2):
            expr = expr.with_term(random.choice(self.symbols), -1)
        return Condition(expr.plus(random.randint(-4, 2)), self.below(0.2))

    def store(self, ivs: Ivs, scope: Scope, wanted: str | None = None) -> Store:
        """A store, of a value that uses `wanted` if there is one."""
        buffer = self.random.choice(self.buffers)
        value = self.value(ivs, scope, self.random.choice((0, 1, 1, 2)))
        if wanted is not None:
            value = Name(wanted) if self.below(0.5) else Binary(self.kind(), Name(wanted), value)
        return Store(buffer.name, self.access(buffer, ivs), value, not self.chance("nonaffine"))


class _Bounds:
    """The bounds and step of a loop."""

    def __init__(self, lower: tuple[Expr, ...], upper: tuple[Expr, ...], step: int) -> None:
        self.lower, self.upper, self.step = lower, upper, step

    @property
    def free(self) -> set[str]:
        return {name for e in self.lower + self.upper for name in e.names()}
