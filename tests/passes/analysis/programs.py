"""Small random affine programs with everything that dependence analysis must understand, a function of the seed.

Each is in bounds by construction: the range of every index is known where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

import numpy as np

from affdsl.ir.dialects import func
from affdsl.ir.interpreter.contract import Argument
from affdsl.ir.interpreter.externals import External
from affdsl.mlir.readers import parse
from tests.fuzz.affine import Expr, name
from tests.harness.judges import bits, externals, instead, left
from tests.passes.analysis.program_indices import Buffer, Scope, range_of
from tests.passes.analysis.program_loops import Loops
from tests.passes.analysis.program_statements import FLOAT, INDICES, LARGEST, STATEMENTS, row_major
from tests.passes.analysis.traced import Trace, trace

CHOICES = (
    "imperfect", "step", "triangular", "maxmin", "zero_trip", "negative_lower", "if", "else", "if_equality", "if_mod",
    "if_several", "parallel", "division_bound", "floordiv", "ceildiv", "mod", "scaled", "symbol_index", "symbol_bound",
    "subview", "subview_stride", "subview_rank", "cast", "reinterpret_cast", "collapse", "expand", "global_twice",
    "dynamic", "scf_for", "iter_args", *STATEMENTS,
)  # fmt: skip
"""What a program may be asked to have; each asks for some."""

MOST_TRIPS = 6


@dataclass(frozen=True)
class Program:
    """The text of a module whose function @f is the program, and what it is given."""

    seed: int
    text: str
    sizes: tuple[tuple[int, ...], ...]
    """The shapes of its float arguments; after them come the buffer of indices and the symbols."""
    symbols: tuple[int, ...]

    @cached_property
    def module(self) -> func.Module:
        return parse(self.text, f"seed {self.seed}")

    @cached_property
    def function(self) -> func.Func:
        return next(f for f in self.module.functions if f.symbol == "f")

    @property
    def externals(self) -> Mapping[str, External]:
        """What stands for the functions that are defined elsewhere."""
        return externals(self.module)

    def arguments(self) -> tuple[Argument, ...]:
        """New arguments: arrays, and the numbers for the symbols."""
        random = np.random.default_rng(self.seed)
        arrays = [random.standard_normal(shape, np.float32) for shape in self.sizes]
        return (*arrays, random.integers(0, LARGEST + 1, INDICES), *self.symbols)

    def outcome(
        self, function: func.Func | None = None, module: func.Module | None = None, **options: Any
    ) -> list[bytes]:
        """What it returns and leaves in its arguments, or another version of its function or its module does."""
        if module is None:
            module = self.module if function is None else instead(self.module, self.function, function)
        entry = next(f for f in module.functions if f.symbol == "f")
        options = {"uninitialised": "poison", "externals": self.externals} | options
        return bits(left(entry, self.arguments(), module, **options))

    def trace(self) -> Trace:
        """Run the program."""
        return trace(self.function, *self.arguments(), module=self.module, externals=self.externals)


def generate(seed: int) -> Program:
    """The program of a seed.

    >>> generate(1).text == generate(1).text
    True
    """
    random = Random(seed)
    share = random.choice((0.15, 0.25, 0.35, 0.5))
    wanted = frozenset(feature for feature in CHOICES if random.random() < share)
    return _Maker(random, wanted).program(seed)


class _Maker(Loops):
    """Builds one program: its arguments, buffers, views and nests."""

    def program(self, seed: int) -> Program:
        random, scope = self.random, Scope()
        shapes = [self.shape() for _ in range(random.choice((1, 1, 2, 2, 3)))]
        for k, shape in enumerate(shapes):
            self.argument(scope, "ABC"[k], shape)
        arguments = [f"%{b.name}: {b.type}" for b in scope.buffers]
        some = self.wanted & {"symbol_index", "symbol_bound"} or self.below(0.1)
        symbols = [random.choice((0, 1, 2, 3, 4, 5, 6)) for _ in range(random.choice((1, 2)))] if some else []
        for key, number in zip("nm", symbols, strict=False):
            scope.symbols.append(key)
            scope.ranges[key] = (number, number)
        arguments += [f"%I: memref<{INDICES}xindex>", *(f"%{key}: index" for key in scope.symbols)]
        self.beginning(scope)
        nests = random.choice((1, 1, 2, 2, 3))
        for _ in range(nests):
            depth = random.choice((1, 2, 2, 2, 3, 3, 4))
            self.nest(scope, depth, (MOST_TRIPS, MOST_TRIPS, 5, 3)[depth - 1])
            if self.wants("imperfect", 0.3):
                self.statement(scope)
        heads = ['memref.global "private" @g : memref<8xf32> = uninitialized'] if "global_twice" in self.wanted else []
        lines = [*heads, *self.functions, f"func.func @f({', '.join(arguments)}) {{", *self.lines, "  return", "}", ""]
        return Program(seed, "\n".join(lines), tuple(shapes), tuple(symbols))

    # Buffers

    def shape(self) -> tuple[int, ...]:
        rank = self.random.choice((1, 1, 2, 2, 2, 3))
        return tuple(self.random.randint(*((8, 16), (6, 9), (5, 6))[rank - 1]) for _ in range(rank))

    def argument(self, scope: Scope, key: str, shape: tuple[int, ...]) -> None:
        sizes = ["?" if self.wants("dynamic") else str(size) for size in shape]
        scope.buffers.append(Buffer(key, shape, f"memref<{'x'.join(sizes)}xf32>", key, row_major(shape)))

    def beginning(self, scope: Scope) -> None:
        """What stands before the nests: constants, views, local and global buffers."""
        self.add(f"{FLOAT} = arith.constant 1.0 : f32")
        for word, number in (("zero", 0), ("one", 1), ("two", 2), ("five", 5)):
            self.add(f"%{word} = arith.constant {number} : index")
        if "dma" in self.wanted:
            self.add("%L = memref.alloc() : memref<8xf32, 1>")
            self.add("%tag = memref.alloc() : memref<2xi32>")
        if self.below(0.3):
            self.local(scope, self.shape())
        if "global_twice" in self.wanted:
            for key in ("g", "h"):
                self.add(f"%{key} = memref.get_global @g : memref<8xf32>")
                scope.buffers.append(Buffer(key, (8,), "memref<8xf32>", "g", (1,)))
        for feature in ("subview", "subview_stride", "subview_rank", "reinterpret_cast", "collapse", "expand", "cast"):
            if feature in self.wanted:
                self.view(scope, feature)
        if scope.symbols and self.wants("minmax_index", 0.9):
            expr, number = name(self.random.choice(scope.symbols)).plus(1), self.random.randint(0, 4)
            (low, high), choose = range_of(expr, scope.ranges), self.random.choice((min, max))
            self.add(f"%t = affine.{choose.__name__} {self.applied(scope, [expr, Expr(number)])}")
            scope.symbols += ["t", "t"]  # it is twice as likely to be used as another
            self.wanted |= {"symbol_index"}
            scope.ranges["t"] = (choose(low, number), choose(high, number))

    def view(self, scope: Scope, feature: str) -> None:
        """A view of a buffer under another shape."""
        random = self.random
        ranks = {"subview_rank": (2, 3), "collapse": (2, 3)}.get(feature, (1, 2, 3))
        if not any(len(b.shape) in ranks and b.is_root and "?" not in b.type for b in scope.buffers):
            self.local(scope, self.shape())
        found = [b for b in scope.buffers if len(b.shape) in ranks and b.is_root and "?" not in b.type]
        if not found:
            return
        of, key = random.choice(found), self.fresh("w")
        shape, strides, offset, kept = list(of.shape), list(of.strides), 0, [*range(len(of.shape))]
        match feature:
            case "cast":
                known = ["?" if k == 0 or self.below(0.5) else str(size) for k, size in enumerate(shape)]
                type = f"memref<{'x'.join(known)}xf32>"
                self.add(f"%{key} = memref.cast %{of.name} : {of.type} to {type}")
            case "collapse":
                groups = [[0, 1], *([k] for k in range(2, len(shape)))]
                shape = [shape[0] * shape[1], *shape[2:]]
                strides = strides[1:]
                type = f"memref<{'x'.join(map(str, shape))}xf32>"
                self.add(f"%{key} = memref.collapse_shape %{of.name} {groups} : {of.type} into {type}")
            case "expand":
                size = shape[0]
                by = next((d for d in (2, 3, 5) if size % d == 0), size)
                groups = [[0, 1], *([k + 1] for k in range(1, len(shape)))]
                shape = [size // by, by, *shape[1:]]
                strides = [strides[0] * by, *strides]
                type = f"memref<{'x'.join(map(str, shape))}xf32>"
                self.add(
                    f"%{key} = memref.expand_shape %{of.name} {groups} output_shape {shape} : {of.type} into {type}"
                )
            case "reinterpret_cast":
                total = strides[0] * shape[0]
                offset, outer, inner = random.randint(0, 3), random.randint(1, 4), random.randint(1, 3)
                # Rows may overlap: that is the point of it.
                shape = [random.randint(2, 3), 3]
                while offset + (shape[0] - 1) * outer + (shape[1] - 1) * inner >= total:
                    offset, outer, inner = 0, 1, 1
                strides = [outer, inner]
                type = f"memref<{shape[0]}x3xf32, strided<{strides}, offset: {offset}>>"
                self.add(
                    f"%{key} = memref.reinterpret_cast %{of.name} to offset: [{offset}], sizes: {shape}, "
                    f"strides: {strides} : {of.type} to {type}"
                )
            case _:
                steps = [random.choice((2, 2, 1)) if feature == "subview_stride" else 1 for _ in shape]
                offsets = [random.randint(0, 2) for _ in shape]
                sizes = [(n - o - 1) // t + 1 for n, o, t in zip(shape, offsets, steps, strict=True)]
                if feature == "subview_rank":
                    dropped = random.randrange(len(shape))
                    sizes[dropped] = 1
                    kept = [k for k in kept if k != dropped]
                offset = sum(o * s for o, s in zip(offsets, strides, strict=True))
                strides = [strides[k] * steps[k] for k in kept]
                shape = [sizes[k] for k in kept]
                type = f"memref<{'x'.join(map(str, shape))}xf32, strided<{strides}, offset: {offset}>>"
                self.add(f"%{key} = memref.subview %{of.name}{offsets} {sizes} {steps} : {of.type} to {type}")
        scope.buffers.append(Buffer(key, tuple(shape), type, of.root, tuple(strides), offset))
