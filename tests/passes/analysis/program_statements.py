"""Statements of random programs: accesses of every kind, views, copies, calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from random import Random

from tests.fuzz.affine import Expr, name
from tests.passes.analysis.program_indices import Buffer, Indices, Scope, range_of

LIMIT = 1500
"""As many elements may be touched by one program, at most."""

FLOAT = "%cst"


class Statements(Indices):
    """Writes the lines of a program."""

    def __init__(self, random: Random, wanted: frozenset[str]) -> None:
        super().__init__(random, wanted)
        self.lines: list[str] = []
        self.functions: list[str] = []
        self.depth = 1
        self.spent = 0

    def add(self, line: str) -> None:
        self.lines.append("  " * self.depth + line)

    def statement(self, scope: Scope) -> None:
        """One of the statements that are wanted, if there is still room for what it touches."""
        kinds = [kind for feature, kind in STATEMENTS.items() if feature in self.wanted]
        if kinds and self.below(0.4):
            self.random.choice(kinds)(self, scope)
        else:
            self.plain(scope)

    def affords(self, scope: Scope, touched: int) -> bool:
        """Whether so many elements may be touched here; if so, they are counted."""
        if self.spent + scope.weight * touched > LIMIT:
            return False
        self.spent += scope.weight * touched
        return True

    # Loads and stores

    def plain(self, scope: Scope) -> None:
        """An affine load, store, or both."""
        buffer = self.buffer(scope)
        if self.below(0.6) and self.affords(scope, 1):
            of = self.buffer(scope) if self.below(0.5) else buffer
            self.load(scope, of)
        if self.affords(scope, 1):
            index = self.inline(scope, self.subscripts(buffer, scope))
            self.add(f"affine.store {self.float(scope)}, %{buffer.name}[{index}] : {buffer.type}")

    def load(self, scope: Scope, buffer: Buffer) -> None:
        key = self.fresh("x")
        index = self.inline(scope, self.subscripts(buffer, scope))
        self.add(f"%{key} = affine.load %{buffer.name}[{index}] : {buffer.type}")
        scope.floats.append(key)

    def float(self, scope: Scope) -> str:
        return f"%{scope.floats[-1]}" if scope.floats and self.below(0.7) else FLOAT

    def buffer(self, scope: Scope, fits: Callable[[Buffer], bool] = lambda b: True) -> Buffer:
        """A buffer of some kind; a new one where there is none."""
        found = [b for b in scope.buffers if fits(b) and b.space == 0]
        if not found:
            return self.local(scope, (8,))
        views = [b for b in found if not b.is_root]
        return self.random.choice(views if views and self.below(0.6) else found)

    def local(self, scope: Scope, shape: tuple[int, ...]) -> Buffer:
        """A new buffer: each execution makes it anew."""
        key = self.fresh("T")
        made = Buffer(key, shape, f"memref<{'x'.join(map(str, shape))}xf32>", key, row_major(shape))
        self.add(f"%{key} = memref.alloc() : {made.type}")
        scope.buffers.append(made)
        return made

    def apply(self, scope: Scope) -> None:
        """Names for affine expressions, the second made of the first: indices like any other."""
        if not scope.dims:
            return
        for _ in range(2):
            expr = (
                self.expr(scope) if _ == 0 else name(scope.dims[-1]).with_term(self.random.choice(scope.dims[:-1]), 1)
            )
            self.named(scope, expr, dim=True)

    def named(self, scope: Scope, expr: Expr, *, dim: bool = False) -> str:
        """An expression as a value."""
        if not dim and len(expr.terms) == 1 and expr == name(expr.terms[0][0]):
            return f"%{expr.terms[0][0]}"
        key = self.fresh("a")
        self.add(f"%{key} = affine.apply {self.applied(scope, [expr])}")
        scope.ranges[key] = range_of(expr, scope.ranges)
        if dim:
            scope.dims.append(key)
        return f"%{key}"

    def memref_affine(self, scope: Scope) -> None:
        """memref.load and memref.store whose indices are affine."""
        if not self.affords(scope, 2):
            return
        for kind in ("load", "store"):
            buffer = self.buffer(scope)
            self.memref_access(scope, kind, buffer, [self.named(scope, e) for e in self.subscripts(buffer, scope)])

    def memref_access(self, scope: Scope, kind: str, buffer: Buffer, index: Sequence[str]) -> None:
        place = f"%{buffer.name}[{', '.join(index)}] : {buffer.type}"
        if kind == "load":
            key = self.fresh("x")
            self.add(f"%{key} = memref.load {place}")
            scope.floats.append(key)
        else:
            self.add(f"memref.store {self.float(scope)}, {place}")

    def non_affine(self, scope: Scope) -> None:
        """An access whose index was loaded."""
        if not self.affords(scope, 2):
            return
        key = self.fresh("l")
        index = self.inline(scope, [self.fitted(self.expr(scope), INDICES, scope)])
        self.add(f"%{key} = affine.load %I[{index}] : memref<{INDICES}xindex>")
        scope.plain.append(key)
        scope.ranges[key] = (0, LARGEST)
        self.by_plain(scope, key)

    def extreme(self, scope: Scope) -> None:
        """An access at the smaller or larger of two indices."""
        names = [*scope.dims, *scope.symbols]
        if not names or not self.affords(scope, 1):
            return
        kind, choose = self.random.choice((("min", min), ("max", max)))
        exprs = [self.expr(scope), Expr(self.random.randint(0, 4))]
        ends = [range_of(e, scope.ranges) for e in exprs]
        low, high = choose(e[0] for e in ends), choose(e[1] for e in ends)
        fits = [b for b in scope.buffers if max(b.shape) > high - low and b.space == 0]
        if not fits:
            return
        exprs = [e.plus(-low) for e in exprs]
        key = self.fresh("m")
        self.add(f"%{key} = affine.{kind} {self.applied(scope, exprs)}")
        scope.ranges[key] = (0, high - low)
        scope.plain.append(key)
        self.by_plain(scope, key)

    def by_plain(self, scope: Scope, key: str) -> None:
        """A load or store with an index that is no dim."""
        high = scope.ranges[key][1]
        buffer = self.buffer(scope, lambda b: max(b.shape) > high)
        index = [self.named(scope, e) for e in self.subscripts(buffer, scope)]
        index[self.random.choice([k for k, size in enumerate(buffer.shape) if size > high])] = f"%{key}"
        self.memref_access(scope, self.random.choice(("load", "store")), buffer, index)

    # Vectors

    def vector(self, scope: Scope) -> None:
        """affine.vector_load and affine.vector_store, of one or two dimensions."""
        rank = self.random.choice((1, 2))
        flat = self.buffer(scope, lambda b: b.strides[-1] == 1 and b.shape[-1] >= 2 and len(b.shape) >= rank)
        shape = [self.random.choice([w for w in (2, 3, 4) if w <= flat.shape[-1]])]
        if len(flat.shape) >= rank > 1 and flat.shape[-2] > 1:
            shape.insert(0, 2)
        if not self.affords(scope, 2 * prod(shape)):
            return
        type = f"vector<{'x'.join(map(str, shape))}xf32>"
        key = self.fresh("v")
        load, store = (self.inline(scope, self.subscripts(flat, scope, shape)) for _ in range(2))
        self.add(f"%{key} = affine.vector_load %{flat.name}[{load}] : {flat.type}, {type}")
        self.add(f"affine.vector_store %{key}, %{flat.name}[{store}] : {flat.type}, {type}")

    def transfer(self, scope: Scope) -> None:
        """Transfers that begin in bounds and may end beyond."""
        buffer = self.buffer(scope)
        rank = len(buffer.shape)
        if not self.affords(scope, 8):
            return
        along = self.random.randrange(rank)
        dims = ", ".join(f"d{k}" for k in range(rank))
        attributes = f"{{in_bounds = [false], permutation_map = affine_map<({dims}) -> (d{along})>}}"
        type = "vector<4xf32>"
        key = self.fresh("v")
        read, write = (", ".join(self.named(scope, e) for e in self.subscripts(buffer, scope)) for _ in range(2))
        self.add(f"%{key} = vector.transfer_read %{buffer.name}[{read}], {FLOAT} {attributes} : {buffer.type}, {type}")
        self.add(f"vector.transfer_write %{key}, %{buffer.name}[{write}] {attributes} : {type}, {buffer.type}")

    # Buffers, copies, calls

    def alloc(self, scope: Scope) -> None:
        """A buffer that each execution makes anew, and an access."""
        if not scope.loops:
            return
        made = self.local(scope, (self.random.choice((6, 8)),))
        if self.affords(scope, 2):
            index = self.inline(scope, self.subscripts(made, scope))
            self.add(f"affine.store {self.float(scope)}, %{made.name}[{index}] : {made.type}")
            self.load(scope, made)

    def moving_view(self, scope: Scope) -> None:
        """A view whose place depends on loops, and an access."""
        buffer = self.buffer(scope, lambda b: b.is_root)
        if not scope.dims or "?" in buffer.type or not self.affords(scope, 1):
            return
        sizes = [min(size, self.random.choice((2, 3))) for size in buffer.shape]
        first = self.subscripts(buffer, scope, sizes)
        offsets = [self.named(scope, e) if not e.is_constant else str(e.constant) for e in first]
        key = self.fresh("s")
        layout = f"strided<[{', '.join(map(str, buffer.strides))}], offset: {self.offset_of(buffer, first)}>"
        type = f"memref<{'x'.join(map(str, sizes))}xf32, {layout}>"
        self.add(
            f"%{key} = memref.subview %{buffer.name}[{', '.join(offsets)}] [{', '.join(map(str, sizes))}] "
            f"[{', '.join('1' for _ in sizes)}] : {buffer.type} to {type}"
        )
        made = Buffer(key, tuple(sizes), type, buffer.root, buffer.strides)
        scope.buffers.append(made)
        index = self.inline(scope, self.subscripts(made, scope))
        self.add(f"affine.store {self.float(scope)}, %{key}[{index}] : {type}")

    def offset_of(self, buffer: Buffer, first: Sequence[Expr]) -> str:
        if all(e.is_constant for e in first):
            return str(buffer.offset + sum(e.constant * s for e, s in zip(first, buffer.strides, strict=True)))
        return "?"

    def copy(self, scope: Scope) -> None:
        """A copy to a buffer of the same shape: a new one, or one that is there."""
        source = self.buffer(scope, lambda b: "?" not in b.type)
        if not self.affords(scope, 2 * prod(source.shape)):
            return
        others = [b for b in scope.buffers if b.shape == source.shape and b.root != source.root and not b.space]
        others = [b for b in others if "?" not in b.type]
        if others:
            target = self.random.choice(others)
        else:
            target = self.local(scope, source.shape)
        self.add(f"memref.copy %{source.name}, %{target.name} : {source.type} to {target.type}")

    def dma(self, scope: Scope) -> None:
        """A copy by DMA to or from the fast buffer."""
        slow = self.buffer(scope, lambda b: b.is_root and "?" not in b.type)
        fast = Buffer("L", (8,), "memref<8xf32, 1>", "L", (1,), space=1)
        if not self.affords(scope, 12):
            return
        ends = [slow, fast] if self.below(0.6) else [fast, slow]
        places = [f"%{b.name}[{self.inline(scope, self.subscripts(b, scope, (2,)))}]" for b in ends]
        types = ", ".join(b.type for b in ends)
        tag = self.inline(scope, [self.fitted(self.expr(scope), 2, scope)])
        self.add(f"affine.dma_start {', '.join(places)}, %tag[{tag}], %two : {types}, memref<2xi32>")
        self.add(f"affine.dma_wait %tag[{tag}], %two : memref<2xi32>")
        if self.below(0.5) and self.affords(scope, 1):
            self.load(scope, fast)

    def call_inside(self, scope: Scope) -> None:
        """A call of a function that stores and loads along the last dimension, from a place that the caller names.

        It has a loop, whose bounds or conditions may be about its arguments, or it calls one that has.
        """
        buffer = self.buffer(scope, lambda b: b.is_root)
        if not self.affords(scope, 6):
            return
        symbol = self.fresh("inside")
        places = [self.named(scope, e) for e in self.subscripts(buffer, scope, (4,))]
        names = [f"%d{k}" for k in range(len(places))]
        taken = ", ".join((f"%X: {buffer.type}", *(f"{n}: index" for n in names)))
        types = ", ".join((buffer.type, *("index" for _ in names)))
        first, last = ", ".join(names[:-1]) + ", " * (len(names) > 1), names[-1]
        load = f"%x = affine.load %X[{first}symbol({last}) + %i + 1] : {buffer.type}"
        store = f"affine.store %x, %X[{first}symbol({last}) + %i] : {buffer.type}"
        within = "affine_set<(d0)[s0] : (s0 - d0 >= 0)>"
        body = self.random.choice(_BODIES).format(within=within, load=load, store=store, last=last, symbol=symbol)
        self.functions.append(f"func.func private @{symbol}({taken}) {{\n{body}  return\n}}")
        call = f"func.call @{{}}(%{{}}{{}}) : ({types}) -> ()"
        if self.below(0.3):
            inner, symbol = symbol, f"{symbol}_outer"
            of = call.format(inner, "X", "".join(f", {n}" for n in names))
            self.functions.append(f"func.func private @{symbol}({taken}) {{\n  {of}\n  return\n}}")
        self.add(call.format(symbol, buffer.name, "".join(f", {p}" for p in places)))

    def call_outside(self, scope: Scope) -> None:
        """A call of a function of which nothing is known; each has the name outside... ."""
        buffer = self.buffer(scope, lambda b: b.is_root)
        if not self.affords(scope, 2 * prod(buffer.shape)):
            return
        symbol = self.fresh("outside")
        self.functions.append(f"func.func private @{symbol}({buffer.type})")
        self.add(f"func.call @{symbol}(%{buffer.name}) : ({buffer.type}) -> ()")


_BODIES = (
    "  affine.for %i = 0 to 3 {{\n    {load}\n    {store}\n  }}\n",
    "  affine.for %i = 0 to min affine_map<()[s0] -> (3, s0)>()[{last}] {{\n    {load}\n    {store}\n  }}\n",
    "  affine.for %i = 0 to 3 {{\n    {load}\n    affine.if {within}(%i)[{last}] {{ {store} }}\n  }}\n",
    "  affine.for %i = 0 to 3 step 2 {{\n    {load}\n    {store}\n  }}\n",
)
"""What the functions do that are called."""

INDICES, LARGEST = 8, 4
"""The size of the buffer of indices, %I, and the largest index in it."""

STATEMENTS: dict[str, Callable[[Statements, Scope], None]] = {
    "apply_chain": Statements.apply,
    "memref_affine": Statements.memref_affine,
    "non_affine": Statements.non_affine,
    "minmax_index": Statements.extreme,
    "vector": Statements.vector,
    "transfer": Statements.transfer,
    "alloc_inside": Statements.alloc,
    "moving_view": Statements.moving_view,
    "copy": Statements.copy,
    "dma": Statements.dma,
    "call_inside": Statements.call_inside,
    "call_outside": Statements.call_outside,
}
"""What each feature makes beside plain loads and stores."""


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a contiguous buffer."""
    return tuple(prod(shape[k + 1 :]) for k in range(len(shape)))
