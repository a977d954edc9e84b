"""What a program is made of, as a list of features: read off its operations, whoever made them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, memref, scf, vector
from affdsl.ir.expr import Affine, FloorDiv, Product, Value
from affdsl.ir.traverse import OpT, definitions, walk
from affdsl.ir.types import MemRefType, VectorType
from tests.passes.analysis.touched import sides
from tests.passes.analysis.traced import ivs_of, loops_around


@dataclass(frozen=True, eq=False)
class Program:
    """A function under examination, and the text of its module."""

    function: func.Func
    text: str

    @cached_property
    def ops(self) -> tuple[Op, ...]:
        return tuple(walk(self.function))

    @cached_property
    def loops(self) -> dict[Op, tuple[Value, ...]]:
        return loops_around(self.function)

    @cached_property
    def made_by(self) -> dict[Value, Op]:
        return definitions(self.function)

    @cached_property
    def bounds(self) -> tuple[tuple[tuple[Affine, ...], tuple[Affine, ...], int], ...]:
        """The lower bounds, upper bounds and step of each affine loop."""
        found = [(op.lower, op.upper, op.step) for op in self.of(affine.For)]
        for op in self.of(affine.Parallel):
            found += zip(op.lower, op.upper, op.steps, strict=True)
        return tuple(found)

    @cached_property
    def subscripts(self) -> tuple[Affine, ...]:
        """The subscripts of affine accesses."""
        return tuple(e for op in self.of(*AFFINE_ACCESSES) for e in op.index)

    @cached_property
    def indices(self) -> tuple[Value, ...]:
        """The indices of accesses that take any."""
        return tuple(v for op in self.of(memref.Load, memref.Store, *TRANSFERS) for v in op.indices)

    @cached_property
    def constraints(self) -> tuple[tuple[Affine, bool], ...]:
        return tuple((c.expr, c.equality) for op in self.of(affine.If) for c in op.condition)

    def of(self, *classes: type[OpT]) -> list[OpT]:
        return [op for op in self.ops if isinstance(op, classes)]

    def from_(self, value: Value, *classes: type[Op]) -> bool:
        """Whether an operation of such a class makes a value."""
        return isinstance(self.made_by.get(value), classes) and value not in self.ivs

    @cached_property
    def ivs(self) -> frozenset[Value]:
        return frozenset(v for op in self.ops for v in ivs_of(op))

    @cached_property
    def nests(self) -> tuple[int, ...]:
        """How deep each nest is."""
        tops = [op for op in self.function.body if ivs_of(op)]
        return tuple(max(len(self.loops[op]) + len(ivs_of(op)) for op in walk(top)) for top in tops)

    @cached_property
    def accessing(self) -> frozenset[Op]:
        return frozenset(op for op in self.ops if sides(op))


def features_of(function: func.Func, text: str) -> frozenset[str]:
    """The features that a function has; `text` is that of its module."""
    program = Program(function, text)
    return frozenset(feature for feature, has in FEATURES.items() if has(program))


AFFINE_ACCESSES = (affine.Load, affine.Store, affine.VectorLoad, affine.VectorStore)
TRANSFERS = (vector.TransferRead, vector.TransferWrite)


def _has_division(expr: Affine) -> bool:
    return any(isinstance(atom, FloorDiv | Product) for atom, _ in expr.terms)


def _written(kind: str) -> Callable[[Program], bool]:
    """A kind of division in a subscript: only the text tells floordiv, ceildiv and mod apart."""
    return lambda p: any(re.search(rf"(load|store|apply).* {kind} ", line) for line in p.text.splitlines())


def _loop_blocks(program: Program) -> Iterator[tuple[Op, ...]]:
    return (block for op in program.ops if ivs_of(op) for block in op.blocks())


def _imperfect(program: Program) -> bool:
    """Whether some loop has both an access and a loop directly inside."""
    return any(
        any(op in program.accessing for op in block) and any(ivs_of(op) for op in block)
        for block in _loop_blocks(program)
    )


def _constant(expr: Affine) -> int | None:
    return expr.constant if expr.is_constant else None


def _never_runs(program: Program) -> bool:
    return any(
        len(lower) == len(upper) == 1 and (upper[0] - lower[0]).is_constant and (upper[0] - lower[0]).constant <= 0
        for lower, upper, _ in program.bounds
    )


def _vectors(program: Program, rank: int, *classes: type[Op]) -> bool:
    values = [op.result if isinstance(op, affine.VectorLoad) else op.value for op in program.of(*classes)]
    return any(isinstance(v.type, VectorType) and len(v.type.shape) == rank for v in values)


def _calls(program: Program, *, outside: bool) -> bool:
    return any(op.callee.startswith("outside") == outside for op in program.of(func.Call))


def _globals(program: Program) -> int:
    return len({op.result for op in program.of(memref.GetGlobal)})


FEATURES: dict[str, Callable[[Program], bool]] = {
    "depth 1": lambda p: 1 in p.nests,
    "depth 2": lambda p: 2 in p.nests,
    "depth 3": lambda p: 3 in p.nests,
    "depth 4": lambda p: 4 in p.nests,
    "imperfect nest": _imperfect,
    "nests in sequence": lambda p: len(p.nests) > 1,
    "step": lambda p: any(step > 1 for *_, step in p.bounds),
    "triangular bound": lambda p: any(
        v in p.ivs for low, high, _ in p.bounds for e in (*low, *high) for v in e.values()
    ),
    "max or min bound": lambda p: any(len(low) > 1 or len(high) > 1 for low, high, _ in p.bounds),
    "max or min bound with a step": lambda p: any(
        (len(low) > 1 or len(high) > 1) and step > 1 for low, high, step in p.bounds
    ),
    "loop that never runs": _never_runs,
    "negative lower bound": lambda p: any((_constant(e) or 0) < 0 for low, *_ in p.bounds for e in low),
    "bound with a division": lambda p: any(_has_division(e) for low, high, _ in p.bounds for e in (*low, *high)),
    "bound with a symbol": lambda p: any(
        v in p.function.args for low, high, _ in p.bounds for e in (*low, *high) for v in e.values()
    ),
    "if": lambda p: bool(p.of(affine.If)),
    "else": lambda p: any(op.orelse for op in p.of(affine.If)),
    "condition with an equality": lambda p: any(equality for _, equality in p.constraints),
    "condition with mod": lambda p: any(_has_division(e) for e, _ in p.constraints),
    "condition of several constraints": lambda p: any(len(op.condition) > 1 for op in p.of(affine.If)),
    "parallel": lambda p: bool(p.of(affine.Parallel)),
    "iter_args": lambda p: any(op.carried for op in p.of(affine.For)),
    "scf.for": lambda p: bool(p.of(scf.For)),
    "apply chain": lambda p: any(p.from_(v, affine.Apply) for op in p.of(affine.Apply) for v in op.expr.values()),
    "subscript from apply": lambda p: any(p.from_(v, affine.Apply) for e in p.subscripts for v in e.values()),
    "subscript with floordiv": _written("floordiv"),
    "subscript with ceildiv": _written("ceildiv"),
    "subscript with mod": _written("mod"),
    "subscript with a symbol": lambda p: any(v in p.function.args for e in p.subscripts for v in e.values()),
    "subscript with a factor": lambda p: any(abs(c) > 1 for e in p.subscripts for a, c in e.terms if a in p.ivs),
    "subscript that falls": lambda p: any(c < 0 for e in p.subscripts for a, c in e.terms if a in p.ivs),
    "subscript of two loops": lambda p: any(len(set(e.values()) & p.ivs) > 1 for e in p.subscripts),
    "index from min or max": lambda p: any(p.from_(v, affine.Min, affine.Max) for v in p.indices),
    "symbol from min or max": lambda p: any(
        p.from_(v, affine.Min, affine.Max) for e in p.subscripts for v in e.values()
    ),
    "vector load": lambda p: _vectors(p, 1, affine.VectorLoad),
    "vector store": lambda p: _vectors(p, 1, affine.VectorStore),
    "vector of two dimensions": lambda p: _vectors(p, 2, affine.VectorLoad, affine.VectorStore),
    "transfer": lambda p: bool(p.of(*TRANSFERS)),
    "subview": lambda p: bool(p.of(memref.SubView)),
    "subview with a stride": lambda p: any((s or 1) > 1 for op in p.of(memref.SubView) for s in op.static_strides),
    "subview of fewer dimensions": lambda p: any(
        isinstance(op.result.type, MemRefType) and op.result.type.rank < len(op.static_sizes)
        for op in p.of(memref.SubView)
    ),
    "subview that moves": lambda p: any(op.offsets for op in p.of(memref.SubView)),
    "cast": lambda p: bool(p.of(memref.Cast)),
    "reinterpret_cast": lambda p: bool(p.of(memref.ReinterpretCast)),
    "collapse_shape": lambda p: bool(p.of(memref.CollapseShape)),
    "expand_shape": lambda p: bool(p.of(memref.ExpandShape)),
    "a global buffer twice": lambda p: _globals(p) > 1,
    "alloc in a loop": lambda p: any(p.loops[op] for op in p.of(memref.Alloc)),
    "alloc outside of loops": lambda p: any(not p.loops[op] for op in p.of(memref.Alloc)),
    "sizes that a type leaves open": lambda p: any(
        isinstance(v.type, MemRefType) and None in v.type.shape for v in p.function.args
    ),
    "memref.load or store, affine": lambda p: any(v in p.ivs or p.from_(v, affine.Apply) for v in p.indices),
    "memref.load or store, not affine": lambda p: any(p.from_(v, affine.Load, memref.Load) for v in p.indices),
    "copy": lambda p: bool(p.of(memref.Copy)),
    "dma": lambda p: bool(p.of(affine.DmaStart)) and bool(p.of(affine.DmaWait)),
    "call of a known function": lambda p: _calls(p, outside=False),
    "call of an unknown function": lambda p: _calls(p, outside=True),
}
