"""Random statements: nests of loops, conditions and parallel bands around stores, buffers, copies and calls."""

from __future__ import annotations

from affdsl.ir.dialects import affine, arith, scf
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.types import F32, F64, I1, I32, INDEX, FloatType, ScalarType
from tests.differential.calls import Calls
from tests.differential.frame import ANY, DIM, Index, NothingError, Range, add, closed, scale
from tests.differential.memory import MOST_RUNS, MOST_WORK


class Statements(Calls):
    """Writes statements into the innermost block."""

    def statements(self, count: int) -> None:
        """Some random statements."""
        for _ in range(count):
            self.statement()

    def statement(self) -> None:
        """One random statement."""
        is_deep = self.depth >= 5 or self.spent > MOST_WORK
        simple = (
            (self.store, 5), (self.compound, 3), (self.note, 2), (self.extreme, 1), (self.scatter, 1.5),
            (self.copy, 0.7), (self.cast, 0.5), (self.size_of, 0.5), (self.stale, 2), (self.swap, 1),
        )  # fmt: skip
        nested = (
            (self.loop, 7), (self.condition, 2), (self.parallel, 2), (self.scf_if, 1), (self.scf_for, 1.5),
            (self.allocate, 2), (self.call, 4),
        )  # fmt: skip
        table = simple if is_deep else (*simple, *nested)
        (choice,) = self.rng.choices([s for s, _ in table], [w for _, w in table])
        count = len(self.scope.scalars)
        try:
            choice()
        except NothingError:
            self.note()
        for value in self.scope.scalars[count:]:
            if self.chance(0.4):
                self.keep(value)

    def bounds(self) -> tuple[tuple[Affine, ...], tuple[Affine, ...], int, Range, list[Range], tuple[int, ...]]:
        """Bounds and a step, the range of the counter for each choice of the sizes, and the trips."""
        step = self.rng.choice([1, 1, 1, 1, 2, 3, 4])
        few = self.chance(0.75)
        lower = [self._bound(is_lower=True) for _ in range(1 if few else self.rng.randint(1, 3))]
        upper = [self._bound(is_lower=False) for _ in range(1 if few else self.rng.randint(1, 3))]
        for _ in range(5):
            ranges, trips = self._trips(lower, upper, step)
            runs = max(w * t for w, t in zip(self.work, trips, strict=True))
            if runs == 0 and self.chance(0.85):  # code that never runs shows little
                lower, upper = [self._bound(is_lower=True)], [self._bound(is_lower=False)]
                continue
            if runs <= MOST_RUNS:
                break
            upper.append(add(self.rng.choice(lower), self.number(self.rng.choice([1, 2, 4]) * step)))
        else:
            lower, upper = [self.number(0)], [self.number(1)]
            ranges, trips = self._trips(lower, upper, step)
        return tuple(x.expr for x in lower), tuple(x.expr for x in upper), step, None, ranges, trips

    def _bound(self, *, is_lower: bool) -> Index:
        if self.chance(0.25):
            return self.index(DIM, 2)
        if is_lower:
            return self.number(0) if self.chance(0.6) else self.index(DIM, 1)
        buffers = [b for b in self.buffers() if b.rank]
        if buffers and self.chance(0.6):
            buffer = self.rng.choice(buffers)
            dim = self.dim_index(buffer, self.rng.randrange(buffer.rank))
            return add(dim, self.number(-1)) if self.chance(0.2) else dim
        return self.rng.choice([self._size(), self.index(DIM, 1)])

    def _trips(self, lower: list[Index], upper: list[Index], step: int) -> tuple[list[Range], tuple[int, ...]]:
        ranges: list[Range] = []
        trips: list[int] = []
        for choice in range(self.choices):
            lows = [x.ranges[choice] for x in lower]
            highs = [x.ranges[choice] for x in upper]
            if any(r is None for r in (*lows, *highs)):
                ranges.append(None)
                trips.append(0)
                continue
            low = max(r[0] for r in lows if r is not None)
            high = min(r[1] for r in highs if r is not None) - 1
            ranges.append((low, high) if low <= high else None)
            trips.append(max(0, -(-(high + 1 - low) // step)))
        return ranges, tuple(trips)

    def loop(self) -> None:
        """affine.for, with or without carried values."""
        lower, upper, step, _, ranges, trips = self.bounds()
        iv = Value(INDEX, self.name())
        inits = self._inits()
        carried = tuple(Value(v.type, self.name()) for v in inits)
        results = tuple(Value(v.type, self.name()) for v in inits)
        with self.block(trips) as body:
            body.indices.append(Index(Affine.of(iv), tuple(ranges), DIM))
            self._open_carried(carried)
            self._body()
            end = affine.Yield(self._next(carried)) if carried else None
            self.free()
        self.emit(affine.For(iv, lower, upper, closed(body, end), step, inits, carried, results))
        self.scope.scalars += results

    def _inits(self) -> tuple[Value, ...]:
        if self.chance(0.55):
            return ()
        type = self.rng.choice(self.scalar_types())
        return tuple(
            self.value(type if self.chance(0.6) else self.rng.choice(self.scalar_types()), 1)
            for _ in range(self.rng.randint(1, 3))
        )

    def _open_carried(self, carried: tuple[Value, ...]) -> None:
        self.scope.scalars += carried

    def _next(self, carried: tuple[Value, ...]) -> tuple[Value, ...]:
        """What a loop yields: the carried values changed, kept, or in other places."""
        found: list[Value] = []
        for value in carried:
            same = [c for c in carried if c.type == value.type]
            if self.chance(0.4):
                found.append(self.rng.choice(same))
            else:
                found.append(self.value(value.type, 2))  # type: ignore[arg-type]
        return tuple(found)

    def _body(self) -> None:
        self.statements(self.rng.choice([1, 1, 2, 2, 3]))

    def scf_for(self) -> None:
        """scf.for, whose bounds may come from data."""
        if max(self.work) * 6 > MOST_RUNS:
            raise NothingError
        five = self.constant(5, INDEX)
        lower = self.define(INDEX, arith.Binary, "remsi", self.value(INDEX, 1), five)
        found = self.element(INDEX) if self.chance(0.7) else None
        data = self.value(INDEX, 1) if found is None else self.define(INDEX, affine.Load, found[0].value, found[1])
        upper = self.define(INDEX, arith.Binary, "remui", data, five)
        step = self.constant(self.rng.choice([1, 1, 2, 3]), INDEX)
        iv = Value(INDEX, self.name())
        inits = self._inits()
        carried = tuple(Value(v.type, self.name()) for v in inits)
        results = tuple(Value(v.type, self.name()) for v in inits)
        with self.block((8,) * self.choices) as body:
            body.indices.append(Index(Affine.of(iv), ((-4, 3),) * self.choices, ANY))
            body.scalars.append(iv)
            self._open_carried(carried)
            if found is not None:
                self._store(*found)
            self._body()
            end = scf.Yield(self._next(carried)) if carried else None
            self.free()
        self.emit(scf.For(iv, lower, upper, step, closed(body, end), inits, carried, results))
        self.scope.scalars += results

    def condition(self) -> None:
        """affine.if, with or without else and results."""
        constraints = tuple(self._constraint() for _ in range(self.rng.choice([1, 1, 2])))
        types = tuple(self.rng.choice(self.scalar_types()) for _ in range(self.rng.choice([0, 0, 1, 2])))
        self._branches(lambda *blocks: affine.If(constraints, *blocks), affine.Yield, types)

    def _constraint(self) -> Constraint:
        found = self.index(DIM, 2)
        if found.expr.is_constant and self.indices(DIM):
            found = add(self.rng.choice(self.indices(DIM)[-4:]), self.number(self.rng.choice([-2, -1, 0])))
        if self.chance(0.3):
            return Constraint(found.expr % self.rng.choice([2, 3]) - self.rng.randint(0, 1), equality=True)
        return Constraint(add(found, scale(self.index(DIM, 1), -1)).expr, equality=self.chance(0.15))

    def scf_if(self) -> None:
        """scf.if"""
        test = self.value(I1, 2)
        types = tuple(self.rng.choice(self.scalar_types()) for _ in range(self.rng.choice([0, 0, 1, 2])))
        self._branches(lambda *blocks: scf.If(test, *blocks), scf.Yield, types)

    def _branches(self, make: object, end: type[affine.Yield] | type[scf.Yield], types: tuple[ScalarType, ...]) -> None:
        assert callable(make)
        blocks = []
        for k in range(2 if types or self.chance(0.4) else 1):
            with self.block() as block:
                if not types or k == 0 or self.chance(0.5):
                    self._body()
                last = end(tuple(self.value(t, 1) for t in types)) if types else None
                self.free()
            blocks.append(closed(block, last))
        results = tuple(Value(t, self.name()) for t in types)
        self.emit(make(*blocks, *(() if len(blocks) == 2 else ((),)), results))
        self.scope.scalars += results

    def parallel(self) -> None:
        """affine.parallel: each iteration writes elements of its own, and reductions take exact values."""
        count = self.rng.choice([1, 1, 2, 3])
        bands = []
        before = self.work
        for _ in range(count):
            bands.append(self.bounds())
            self.work = tuple(w * t for w, t in zip(self.work, bands[-1][5], strict=True))
        self.work = before
        ivs = tuple(Value(INDEX, self.name()) for _ in bands)
        targets = [b for b in self.writable() if b.rank == count]
        chosen = self.rng.sample(targets, min(len(targets), self.rng.choice([1, 1, 2])))
        roots = {b.root for b in chosen}
        chosen = [next(b for b in chosen if b.root is root) for root in roots] if len(roots) < len(chosen) else chosen
        kinds = self._reductions()
        trips = tuple(_product(b[5][k] for b in bands) for k in range(self.choices))
        with self.block(trips) as body:
            body.is_barrier = True
            self.hidden |= roots
            own = [Index(Affine.of(iv), tuple(b[4]), DIM) for iv, b in zip(ivs, bands, strict=True)]
            body.indices += own
            self.statements(self.rng.choice([0, 0, 1, 2]))
            for buffer in chosen:
                order = self.rng.sample(own, count)
                moved = [add(x, self.number(self.rng.choice([0, 0, 0, 1, -1]))) for x in order]
                guards = [
                    c
                    for x, sizes, d in zip(moved, buffer.sizes, buffer.dims, strict=True)
                    if not x.fits(sizes)
                    for c in (Constraint(x.expr), Constraint(d - 1 - x.expr))
                ]
                subscripts = tuple(x.expr for x in moved)
                write = self._compound if self.chance(0.4) else self._store
                self.guarded(guards, lambda write=write, b=buffer, s=subscripts: write(b, s))
            end = affine.Yield(tuple(self._exact(kind, type) for kind, type in kinds)) if kinds else None
            self.free()
        results = tuple(Value(type, self.name()) for _, type in kinds)
        bounds = tuple(b[0] for b in bands), tuple(b[1] for b in bands), tuple(b[2] for b in bands)
        self.emit(affine.Parallel(ivs, *bounds, closed(body, end), tuple(kind for kind, _ in kinds), results))
        self.scope.scalars += results

    def _reductions(self) -> list[tuple[str, ScalarType]]:
        found: list[tuple[str, ScalarType]] = []
        for _ in range(self.rng.choice([0, 0, 1, 2])):
            type = self.rng.choice(self.scalar_types())
            if isinstance(type, FloatType):
                kinds = ["maximumf", "minimumf", *(["addf", "mulf"] if type in (F32, F64) else [])]
            elif type == INDEX:  # MLIR's reductions take iN only
                continue
            else:
                kinds = ["addi", "muli", "andi", "ori"]
            found.append((self.rng.choice(kinds), type))
        return found

    def _exact(self, kind: str, type: ScalarType) -> Value:
        """A value whose reduction is exact in any order."""
        value = self.value(I32 if kind in ("addf", "mulf") else type, 2)
        if kind == "addf":
            small = self.define(I32, arith.Binary, "andi", value, self.constant(63, I32))
            return self.define(type, arith.Cast, "sitofp", small)
        if kind == "mulf":
            test = self.define(I1, arith.Compare, "cmpi", "slt", value, self.constant(3, I32))
            return self.define(type, arith.Select, test, self.constant(-1.0, type), self.constant(1.0, type))
        if isinstance(type, FloatType) and not self.wild:
            return self.positive_zero(value, type)
        return value


def _product(numbers: object) -> int:
    total = 1
    for n in numbers:  # type: ignore[attr-defined]
        total *= n
    return total
