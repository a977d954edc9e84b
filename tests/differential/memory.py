"""Random statements on buffers: stores, copies, new buffers, and values that are read before they are overwritten."""

from __future__ import annotations

from affdsl.ir.dialects import affine, arith, memref, scf
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.types import I1, INDEX, FloatType, MemRefType, ScalarType
from tests.differential.frame import ANY, DIM, SYMBOL, Buffer, Index, NothingError, add, closed
from tests.differential.scalars import Scalars

SIZES = (0, 1, 2, 2, 3, 3, 4, 5, 5, 7, 7)
"""Mostly such that loops run."""
MOST_RUNS = 160  # of any statement
MOST_WORK = 12_000  # operations that a function runs, roughly


class Memory(Scalars):
    """Writes statements that read and write memory, and such that only compute."""

    def statement(self) -> None:
        """One random statement."""
        raise NotImplementedError

    def store(self) -> None:
        """buffer[...] = value"""
        buffer = self.pick(self.writable())
        subscripts, guards = self.subscripts(buffer)
        early = self.value(buffer.element) if self.chance(0.5) else None
        self.guarded(guards, lambda: self._store(buffer, subscripts, early))

    def _store(self, buffer: Buffer, subscripts: tuple[Affine, ...], value: Value | None = None) -> None:
        value = self.value(buffer.element) if value is None else value
        if self.chance(0.15):
            self.emit(memref.Store(value, buffer.value, tuple(map(self.as_value, subscripts))))
        else:
            self.emit(affine.Store(value, buffer.value, subscripts))

    def guarded(self, guards: list[Constraint], write: object) -> None:
        """Write statements under conditions."""
        assert callable(write)
        if not guards:
            write()
            return
        with self.block() as then:
            write()
        if self.chance(0.1):
            with self.block() as orelse:
                self.note()
            self.emit(affine.If(tuple(guards), closed(then), closed(orelse)))
        else:
            self.emit(affine.If(tuple(guards), closed(then)))

    def compound(self) -> None:
        """buffer[...] = buffer[...] op value"""
        buffer = self.pick(self.writable())
        subscripts, guards = self.subscripts(buffer)
        self.guarded(guards, lambda: self._compound(buffer, subscripts))

    def _compound(self, buffer: Buffer, subscripts: tuple[Affine, ...]) -> None:
        type = buffer.element
        loaded = self.define(type, affine.Load, buffer.value, subscripts)
        if self.chance(0.2):
            self.scope.scalars.append(loaded)
        other = self.value(type, 1)
        kinds = ("addf", "subf", "mulf", "divf") if isinstance(type, FloatType) else (
            "addi", "subi", "muli", "andi", "ori", "xori")  # fmt: skip
        left, right = (loaded, other) if self.chance(0.7) else (other, loaded)
        changed = self.define(type, arith.Binary, self.rng.choice(kinds), left, right)
        self.emit(affine.Store(changed, buffer.value, subscripts))

    def keep(self, value: Value) -> None:
        """Store a value that was computed, so that it shows."""
        buffers = [b for b in self.writable() if b.element == value.type]
        if buffers:
            buffer = self.rng.choice(buffers)
            subscripts, guards = self.subscripts(buffer)
            self.guarded(guards, lambda: self._store(buffer, subscripts, value))

    def element(self, type: ScalarType | None = None) -> tuple[Buffer, tuple[Affine, ...]] | None:
        """An element (of a type) of a buffer that may be written, which is there without any guard."""
        for _ in range(4):
            buffers = [b for b in self.writable() if type in (None, b.element)]
            if buffers:
                buffer = self.rng.choice(buffers)
                subscripts, guards = self.subscripts(buffer)
                if not guards:
                    return buffer, subscripts
        return None

    def stale(self) -> None:
        """Read an element, write there in one way or another, and then use what was read."""
        found = self.element()
        if found is None:
            raise NothingError
        buffer, subscripts = found
        read = self.define(buffer.element, affine.Load, buffer.value, subscripts)
        if self.chance(0.4):
            type = buffer.element
            kind = "addf" if isinstance(type, FloatType) else "addi"
            read = self.define(type, arith.Binary, kind, read, self.value(type, 0))
        if self.depth < 4 and self.spent < MOST_WORK and self.chance(0.5):
            with self.block() as inner:
                self._store(buffer, subscripts, self.value(buffer.element, 1))
            if self.chance(0.5):
                self.emit(affine.For(Value(INDEX, ""), (Affine(),), (Affine.of(1),), closed(inner)))
            else:
                self.emit(scf.If(self.constant(True, I1), closed(inner)))
        elif self.chance(0.7):
            self._store(buffer, subscripts, self.value(buffer.element, 1))
        else:
            self.statement()
        self.keep(read)

    def swap(self) -> None:
        """Exchange two elements of one type."""
        one, other = self.element(), self.element()
        if one is None or other is None or one[0].element != other[0].element:
            raise NothingError
        values = [self.define(b.element, affine.Load, b.value, s) for b, s in (one, other)]
        for (buffer, subscripts), value in zip((other, one), values, strict=True):
            self.emit(affine.Store(value, buffer.value, subscripts))

    def scatter(self) -> None:
        """buffer[data] = value"""
        buffer = self.pick([b for b in self.writable() if b.rank])
        indices, inside = self.gather_indices(buffer)
        if inside is None:
            self.emit(memref.Store(self.value(buffer.element), buffer.value, indices))
            return
        with self.block() as then:
            self.emit(memref.Store(self.value(buffer.element), buffer.value, indices))
        self.emit(scf.If(inside, closed(then)))

    def allocate(self) -> None:
        """A new buffer, filled."""
        buffer = self.new_buffer()
        self.fill(buffer)
        self.scope.buffers.append(buffer)

    def new_buffer(self) -> Buffer:
        """A new buffer without contents."""
        like = [b for b in self.buffers() if b.rank <= 3]
        known = self.rng.choice(like) if like and self.chance(0.6) else None
        dims = known.dims if known is not None else tuple(self._size().expr for _ in range(self.rng.randint(0, 3)))
        sizes = known.sizes if known is not None else tuple(self._numbers(d) for d in dims)
        element = known.element if known is not None and self.chance(0.8) else self.rng.choice(self.scalar_types())
        shape = [d.constant if d.is_constant and self.chance(0.8) else None for d in dims]
        dynamic = tuple(self.as_value(d) for d, s in zip(dims, shape, strict=True) if s is None)
        is_heap = self.chance(0.6)
        make = memref.Alloc if is_heap else memref.Alloca
        result = Value(MemRefType(tuple(shape), element), self.name())
        self.emit(make(result, dynamic, 64 if self.chance(0.1) else None))
        return Buffer(result, dims, sizes, result, is_heap)

    def _size(self) -> Index:
        """A size for a dimension: a small symbol or constant."""
        found = [x for x in self.indices(SYMBOL) if x.lowest >= 0 and x.highest <= 16]
        if found and self.chance(0.6):
            return self.rng.choice(found)
        return self.number(self.rng.choice(SIZES))

    def _numbers(self, dim: Affine) -> tuple[int, ...]:
        ranges = next((x.ranges for x in self.indices(ANY) if x.expr == dim), None)
        if ranges is None:
            ranges = self.number(dim.constant).ranges
        return tuple(0 if r is None else r[0] for r in ranges)

    def fill(self, buffer: Buffer) -> None:
        """Store to every element of a buffer."""
        sources = [b for b in self.buffers() if _alike(b, buffer) and b.root is not buffer.root]
        if sources and self.chance(0.3):
            self.emit(memref.Copy(self.rng.choice(sources).value, buffer.value))
            return
        self._fill(buffer, [])

    def _fill(self, buffer: Buffer, ivs: list[Value]) -> None:
        k = len(ivs)
        if k == buffer.rank:
            self.emit(affine.Store(self.value(buffer.element, 1), buffer.value, tuple(map(Affine.of, ivs))))
            return
        iv = Value(INDEX, self.name())
        with self.block(buffer.sizes[k]) as body:
            body.indices.append(Index(Affine.of(iv), tuple((0, s - 1) if s else None for s in buffer.sizes[k]), DIM))
            self._fill(buffer, [*ivs, iv])
        self.emit(affine.For(iv, (Affine(),), (buffer.dims[k],), closed(body)))

    def free(self) -> None:
        """Perhaps give back the buffers of the innermost block."""
        for buffer in self.scope.buffers:
            if buffer.is_heap and buffer.root not in self.hidden and self.chance(0.7):
                self.emit(memref.Dealloc(buffer.value))
                self.hidden.add(buffer.root)

    def copy(self) -> None:
        """Copy one buffer to another of its shape."""
        pairs = [(a, b) for b in self.writable() for a in self.buffers() if a.root is not b.root and _alike(a, b)]
        source, target = self.pick(pairs)
        self.emit(memref.Copy(source.value, target.value))
        self.spent += 20 * max(self.work)

    def cast(self) -> None:
        """The same buffer under a type that knows more or fewer of its sizes."""
        buffer = self.pick([b for b in self.buffers() if b.rank])
        type = buffer.value.type
        assert isinstance(type, MemRefType)
        shape = tuple(
            None if s is not None and self.chance(0.5) else d.constant if d.is_constant and self.chance(0.7) else s
            for s, d in zip(type.shape, buffer.dims, strict=True)
        )
        result = self.define(MemRefType(shape, type.element), memref.Cast, buffer.value)
        made = Buffer(result, buffer.dims, buffer.sizes, buffer.root, buffer.is_heap)
        if any(b.root is buffer.root for b in self.scope.buffers):
            self.scope.buffers.append(made)
            self.scope.buffers[-1].is_heap = False  # given back under its first name only
        elif any(b.root is buffer.root for b in self.writable()):
            self.scope.buffers.append(made)
            self.scope.buffers[-1].is_heap = False

    def size_of(self) -> None:
        """memref.dim"""
        buffer = self.pick([b for b in self.buffers() if b.rank])
        k = self.rng.randrange(buffer.rank)
        result = self.define(INDEX, memref.Dim, buffer.value, self.constant(k, INDEX))
        position = SYMBOL if self.depth == 0 else ANY
        self.scope.indices.append(Index(Affine.of(result), tuple((s, s) for s in buffer.sizes[k]), position))

    def note(self) -> None:
        """Compute a value, for later."""
        self.scope.scalars.append(self.value(self.rng.choice(self.scalar_types()), 3))

    def extreme(self) -> None:
        """affine.min, affine.max, affine.apply, or arithmetic on index values."""
        parts = [self.index(ANY, 2) for _ in range(self.rng.randint(1, 3))]
        kind = self.rng.choice(("min", "max", "apply", "add"))
        choose = {"min": min, "max": max}.get(kind, min)
        if kind == "apply":
            result = self.define(INDEX, affine.Apply, parts[0].expr)
            made = Index(Affine.of(result), parts[0].ranges, parts[0].position)
        elif kind == "add":
            a, b = parts[0], self.index(ANY, 1)
            result = self.define(INDEX, arith.Binary, "addi", self.as_value(a), self.as_value(b))
            made = Index(Affine.of(result), add(a, b).ranges, max(a.position, b.position))
        else:
            result = self.define(INDEX, affine.Min if kind == "min" else affine.Max, tuple(p.expr for p in parts))
            ranges = tuple(
                None if None in row else (choose(r[0] for r in row), choose(r[1] for r in row))  # type: ignore[index]
                for row in zip(*(p.ranges for p in parts), strict=True)
            )
            made = Index(Affine.of(result), ranges, max(p.position for p in parts))
        if self.depth and made.position == DIM and kind != "apply":
            made = Index(made.expr, made.ranges, ANY)
        self.scope.indices.append(made)


def _alike(a: Buffer, b: Buffer) -> bool:
    """Whether two buffers can be copied to one another."""
    if a.element != b.element or a.sizes != b.sizes:
        return False
    left, right = a.value.type, b.value.type
    assert isinstance(left, MemRefType)
    assert isinstance(right, MemRefType)
    return a.rank == b.rank and all(
        x is None or y is None or x == y for x, y in zip(left.shape, right.shape, strict=True)
    )
