"""Loops and conditions of random programs: nests, bands, and bounds of every kind."""

from __future__ import annotations

from tests.fuzz.affine import Division, Expr, name
from tests.passes.analysis.program_indices import Range, Scope, difference, range_of
from tests.passes.analysis.program_statements import Statements


class Loops(Statements):
    """Writes nests around statements."""

    def nest(self, scope: Scope, depth: int, trips: int) -> None:
        """A loop, around `depth` - 1 more."""
        random = self.random
        if scope.weight > 60:
            trips = min(trips, 2)
        if depth > 1 and self.wants("parallel", 0.5):
            return self.parallel(scope, depth, trips)
        if self.wants("scf_for", 0.3):
            return self.scf_for(scope, depth, trips)
        lower, upper, step, most, ends = self.bounds(scope, trips)
        iv = self.fresh("i")
        inner = scope.inner(max(most, 1), {iv: ends})
        head = f"affine.for %{iv} = {self.bound(scope, 'max', lower)} to {self.bound(scope, 'min', upper)}"
        head += f" step {step}" if step > 1 else ""
        if self.wants("iter_args", 0.5):
            carried, result = self.fresh("c"), self.fresh("r")
            self.add(f"%{result} = {head} iter_args(%{carried} = {self.float(scope)}) -> (f32) {{")
            inner.floats.append(carried)
            self.body(inner, depth, trips)
            self.add(f"  affine.yield {self.float(inner)} : f32")
            scope.floats.append(result)
        else:
            self.add(f"{head} {{")
            self.body(inner, depth, trips)
        self.add("}")
        if depth > 1 and self.wants("imperfect", 0.3) and scope.loops and random.random() < 0.5:
            self.nest(scope, 1, trips)

    def body(self, scope: Scope, depth: int, trips: int) -> None:
        """What is in a loop: a deeper nest, or statements; sometimes all of it under a condition."""
        self.depth += 1
        if self.wants("if", 0.5):
            self.condition(scope, depth, trips)
        else:
            self.content(scope, depth, trips)
        self.depth -= 1

    def content(self, scope: Scope, depth: int, trips: int) -> None:
        if depth == 1:
            for _ in range(self.random.choice((1, 2, 2, 3, 4))):
                self.statement(scope)
            return
        if self.wants("imperfect"):
            self.statement(scope)
        self.nest(scope, depth - 1, trips)
        if self.wants("imperfect"):
            self.statement(scope)

    def parallel(self, scope: Scope, depth: int, trips: int) -> None:
        """A band of two loops in place of two."""
        bounds = [self.bounds(scope, min(trips, 4)) for _ in range(2)]
        ivs = [self.fresh("p") for _ in bounds]
        weight = max(bounds[0][3], 1) * max(bounds[1][3], 1)
        inner = scope.inner(weight, dict(zip(ivs, (ends for *_, ends in bounds), strict=True)))
        lower = ", ".join(self.group(scope, "max", low) for low, *_ in bounds)
        upper = ", ".join(self.group(scope, "min", high) for _, high, *_ in bounds)
        steps = ", ".join(str(step) for _, _, step, *_ in bounds)
        self.add(f"affine.parallel (%{ivs[0]}, %{ivs[1]}) = ({lower}) to ({upper}) step ({steps}) {{")
        self.body(inner, max(depth - 2, 1), trips)
        self.add("}")

    def scf_for(self, scope: Scope, depth: int, trips: int) -> None:
        """A loop whose iv is no dim: it is an index of memref.load and memref.store only."""
        iv, (last, most) = self.fresh("q"), self.random.choice((("two", 2), ("five", 5)))
        inner = scope.inner(most)
        inner.loops += 1
        inner.plain.append(iv)
        inner.ranges[iv] = (0, most - 1)
        self.add(f"scf.for %{iv} = %zero to %{last} step %{self.random.choice(('one', 'two'))} {{")
        self.depth += 1
        if self.affords(inner, 1):
            self.by_plain(inner, iv)
        self.content(inner, depth, trips)
        self.depth -= 1
        self.add("}")

    def condition(self, scope: Scope, depth: int, trips: int) -> None:
        count = 2 if self.wants("if_several", 0.7) else 1
        constraints = [self.constraint(scope) for _ in range(count)]
        self.add(f"affine.if {self.condition_text(scope, constraints)} {{")
        self.depth += 1
        self.content(scope.inner(), depth, trips)
        self.depth -= 1
        if self.wants("else", 0.9):
            self.add("} else {")
            self.depth += 1
            self.statement(scope.inner())
            self.depth -= 1
        self.add("}")

    def constraint(self, scope: Scope) -> tuple[Expr, bool]:
        """An expression that must be at least 0, or equal to it."""
        random = self.random
        key = self.dim(scope) if scope.dims else None
        if key is None:
            return Expr(random.choice((-1, 0, 1))), False
        if self.wants("if_mod", 0.6):
            rest = Division("mod", name(key), random.choice((2, 3)))
            return Expr(random.choice((0, -1)), divisions=(rest,)), self.below(0.8)
        low, high = scope.ranges[key]
        expr = name(key).plus(-random.randint(low, max(low, high)))
        if self.below(0.4):
            expr = expr.times(-1)
        other = self.random.choice([*scope.dims, *scope.symbols])
        if other != key and self.below(0.4):
            expr = name(key).with_term(other, -1).plus(random.randint(-1, 1))
        return expr, self.wants("if_equality", 0.7)

    # Bounds

    def bounds(self, scope: Scope, trips: int) -> tuple[list[Expr], list[Expr], int, int, Range]:
        """Lower and upper bounds, the step, the most trips (up to some), and the range of the iv."""
        while True:
            lower, upper, step = self.some_bounds(scope, trips)
            # However the others are, there are no more trips than between any two.
            length = min(difference(last, first, scope.ranges) for last in upper for first in lower)
            most = max(0, -(-length // step))
            if most <= trips:
                low = max(range_of(e, scope.ranges)[0] for e in lower)
                high = min(range_of(e, scope.ranges)[1] for e in upper) - 1
                return lower, upper, step, most, (low, max(low, high))

    def some_bounds(self, scope: Scope, trips: int) -> tuple[list[Expr], list[Expr], int]:
        random = self.random
        step = random.choice((2, 3, 4)) if self.wants("step") else 1
        first = random.choice((-1, -2, -3)) if self.wants("negative_lower") else random.choice((0, 0, 0, 1, 2))
        count = random.choice((1, *range(2, trips + 1), trips, trips)) if trips > 1 else 1
        lower, upper = Expr(first), Expr(first + count * step - random.randint(0, step - 1))
        if self.wants("zero_trip", 0.2):
            upper = lower.plus(random.choice((0, 0, -2)))
        if scope.symbols and self.wants("symbol_bound"):
            symbol = name(random.choice(scope.symbols)).plus(random.choice((0, 0, 1, -1)))
            lower, upper = (symbol, symbol.plus(count)) if self.below(0.25) else (lower, symbol)
        if scope.dims and self.wants("triangular"):
            outer = name(self.dim(scope)).plus(random.choice((0, 0, 1, -1)))
            choice = random.randrange(3)
            lower, upper = ((outer, upper), (lower, outer.plus(1)), (outer, outer.plus(count)))[choice]
        if self.wants("division_bound"):
            kind = random.choice(("floordiv", "ceildiv", "mod"))
            of = name(random.choice(scope.dims or scope.symbols)) if scope.dims or scope.symbols else None
            if of is not None:
                part = Expr(random.choice((0, 1)), divisions=(Division(kind, of, random.choice((2, 3))),))
                lower, upper = (part, upper) if self.below(0.5) else (lower, part.plus(1))
        lowers, uppers = [lower], [upper]
        if self.wants("maxmin"):
            names = [*scope.dims, *scope.symbols]
            other = name(random.choice(names)) if names and self.below(0.7) else Expr(first + random.randint(0, 3))
            if self.below(0.5):
                lowers.append(other.plus(random.randint(-2, 0)))
            else:
                uppers.append(other.plus(random.randint(1, 4)))
        return lowers, uppers, step

    def bound(self, scope: Scope, prefix: str, exprs: list[Expr]) -> str:
        if len(exprs) == 1:
            return str(exprs[0].constant) if exprs[0].is_constant else self.applied(scope, exprs)
        return f"{prefix} {self.applied(scope, exprs)}"

    def group(self, scope: Scope, prefix: str, exprs: list[Expr]) -> str:
        """A bound of a band, which is written with values."""
        return f"{prefix}({self.inline(scope, exprs)})" if len(exprs) > 1 else self.inline(scope, exprs)
