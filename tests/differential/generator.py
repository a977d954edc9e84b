"""Random programs: functions that are valid and in bounds by construction, and arguments to call them with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

import numpy as np

from affdsl.ir.dialects import func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.numeric import dtype
from affdsl.ir.types import BF16, F32, INDEX, FloatType, IndexType, IntegerType, MemRefType, ScalarType
from tests.differential.calls import Callee
from tests.differential.frame import SYMBOL, Buffer, Index, add, closed, floordiv, scale, width
from tests.differential.memory import SIZES
from tests.differential.scalars import TYPES
from tests.differential.statements import Statements

LARGEST_CALLEE_SIZE = 7


@dataclass(frozen=True)
class Program:
    """A module, its public function, how many of its arguments are sizes, and the arguments of some calls."""

    seed: int
    module: func.Module
    entry: str
    sizes: int
    """How many leading arguments can be found from the shapes of the arrays."""
    calls: tuple[tuple[object, ...], ...]
    wild: bool
    """Whether it uses what MLIR leaves undefined."""

    @property
    def function(self) -> func.Func:
        """The public function."""
        return next(f for f in self.module.functions if f.symbol == self.entry)


class Writer(Statements):
    """Writes one function."""

    def __init__(
        self, rng: Random, choices: Sequence[tuple[int, ...]], types: tuple[ScalarType, ...], *, wild: bool,
        callees: tuple[Callee, ...] = (), returned_dims: dict[tuple[str, Value], tuple[Affine, ...]],
    ) -> None:  # fmt: skip
        super().__init__(rng, len(choices), wild=wild)
        self.types = types
        self.callees = callees
        self.returned_dims = returned_dims
        self.args: list[Value] = []
        self.shapes: list[tuple[Affine, ...] | None] = []
        self.size_indices: list[Index] = []
        for k in range(len(choices[0])):
            size = Value(INDEX, "NMK"[k])
            self.args.append(size)
            self.shapes.append(None)
            self.size_indices.append(Index(Affine.of(size), tuple((c[k], c[k]) for c in choices), SYMBOL))
        self.scope.indices += self.size_indices

    def scalar_types(self) -> tuple[ScalarType, ...]:
        """A few types for each program, so that its statements have to do with one another."""
        return self.types

    def array_argument(self, dims: Sequence[Index], element: ScalarType) -> None:
        """An array argument of these sizes."""
        shape = tuple(d.expr.constant if d.expr.is_constant else None for d in dims)
        value = Value(MemRefType(shape, element), self.rng.choice("ABCDEFG"))
        exprs = tuple(d.expr for d in dims)
        self.args.append(value)
        self.shapes.append(exprs)
        sizes = tuple(tuple(r[0] for r in d.ranges if r is not None) for d in dims)
        self.scope.buffers.append(Buffer(value, exprs, sizes, value))

    def scalar_argument(self, type: ScalarType) -> None:
        """A scalar argument."""
        value = Value(type, self.name())
        self.args.append(value)
        self.shapes.append(None)
        self.scope.scalars.append(value)

    def dimension(self, *, is_plain: bool = False) -> Index:
        """A dimension of an array argument: of a size, mostly."""
        if not self.size_indices or self.chance(0.25):
            return self.number(self.rng.choice(SIZES))
        size = self.rng.choice(self.size_indices)
        if is_plain or self.chance(0.5):
            return size
        kind, by = self.rng.choice("ccc*/p"), self.rng.choice([1, 2, 3])
        if kind == "p":
            return add(size, self.rng.choice(self.size_indices))
        shift = self.number(by)
        if kind == "/":
            return add(floordiv(size, self.number(2)), shift)
        return add(scale(size, 2) if kind == "*" else size, shift)

    def finish(self, symbol: str, *, private: bool, arrays: int, scalars: int) -> func.Func:
        """The function, with results taken from its own buffers and values."""
        chosen: list[Value] = []
        known = set(self.args)
        for buffer in self.scope.buffers:
            is_own = buffer.is_heap and buffer.value is buffer.root and buffer.root not in self.hidden
            is_closed = all(v in known for d in buffer.dims for v in d.values())
            if is_own and is_closed and len(chosen) < arrays and buffer.value not in chosen:
                chosen.append(buffer.value)
                self.returned_dims[symbol, buffer.value] = buffer.dims
                self.hidden.add(buffer.root)
        for _ in range(scalars):
            late = self.scope.scalars[-6:]
            chosen.append(
                self.rng.choice(late) if late and self.chance(0.8) else self.value(self.rng.choice(self.types), 1)
            )
        self.rng.shuffle(chosen)
        self.free()
        end = func.Return(tuple(chosen)) if chosen else None
        unsigned = frozenset(k for k, a in enumerate(self.args) if _has_sign(a) and self.chance(0.15))
        body = closed(self.scope, end)
        is_private = private and bool(body)  # a private function without a body is a declaration
        return func.Func(
            symbol, tuple(self.args), body, tuple(v.type for v in chosen), tuple(self.shapes),
            (), unsigned, frozenset(), private=is_private,
        )  # fmt: skip


def generate(seed: int, *, wild: bool | None = None) -> Program:
    """The random program of a seed."""
    rng = Random(seed)
    wild = rng.random() < 0.4 if wild is None else wild
    types = tuple(dict.fromkeys(rng.choices((*TYPES, INDEX), k=rng.choice([1, 1, 2, 3]))))
    if wild and rng.random() < 0.15:
        types = (*types, rng.choice((BF16, IntegerType(5), IntegerType(24), IntegerType(33))))
    returned: dict[tuple[str, Value], tuple[Affine, ...]] = {}
    callees: list[Callee] = []
    for k in range(rng.choice([0, 0, 1, 1, 2])):
        callees.append(_callee(rng, f"p{seed}_f{k}", types, wild, tuple(callees), returned))
    count = rng.choice([0, 1, 1, 2])
    choices = [tuple(rng.choice(SIZES) for _ in range(count)) for _ in range(2 if count else 1)]
    writer = Writer(rng, choices, types, wild=wild, callees=tuple(callees), returned_dims=returned)
    memory = [t for t in types if width(t) in (1, 8, 16, 32, 64)] or [F32]
    for size in writer.size_indices:
        if rng.random() < 0.8:
            writer.array_argument(
                [size, *(writer.dimension() for _ in range(rng.choice([0, 0, 1])))], rng.choice(memory)
            )
    for _ in range(rng.choice([1, 2, 2, 3])):
        writer.array_argument(
            [writer.dimension() for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3]))], rng.choice(memory)
        )
    for _ in range(rng.choice([0, 1, 2])):
        writer.scalar_argument(rng.choice(memory))
    writer.statements(rng.choice([2, 3, 4, 6, 8]))
    function = writer.finish(
        f"p{seed}", private=False, arrays=rng.choice([0, 0, 1, 2]), scalars=rng.choice([0, 1, 2, 3])
    )
    sizes = count if _are_found(function, count) and rng.random() < 0.7 else 0
    module = func.Module((*(c.function for c in callees), function))
    calls = tuple(arguments(function, c, seed + k) for k, c in enumerate(choices))
    return Program(seed, module, f"p{seed}", sizes, calls, wild)


def _callee(
    rng: Random, symbol: str, types: tuple[ScalarType, ...], wild: bool, callees: tuple[Callee, ...],
    returned: dict[tuple[str, Value], tuple[Affine, ...]],
) -> Callee:  # fmt: skip
    """A function that is in bounds for all small sizes."""
    count = rng.choice([0, 1, 1, 2])
    choices = list(product(range(LARGEST_CALLEE_SIZE + 1), repeat=count))
    writer = Writer(rng, choices, types, wild=wild, callees=callees, returned_dims=returned)
    memory = [t for t in types if width(t) in (1, 8, 16, 32, 64)] or [F32]
    for _ in range(rng.choice([0, 1, 2, 2])):
        dims = [writer.dimension(is_plain=True) for _ in range(rng.choice([0, 1, 1, 2]))]
        writer.array_argument(dims, rng.choice(memory))
    for _ in range(rng.choice([0, 1, 1])):
        writer.scalar_argument(rng.choice(types))
    writer.statements(rng.choice([1, 2, 3]))
    arrays, scalars = rng.choice([0, 0, 1]), rng.choice([0, 1, 1, 2])
    function = writer.finish(symbol, private=True, arrays=arrays, scalars=scalars)
    return Callee(function, count, LARGEST_CALLEE_SIZE, writer.spent)


def _are_found(function: func.Func, count: int) -> bool:
    """Whether the first arguments are dimensions of arrays, each of at least one."""
    found = {d.value for shape in function.shapes for d in shape or ()}
    return all(a in found for a in function.args[:count])


def _has_sign(value: Value) -> bool:
    type = value.type.element if isinstance(value.type, MemRefType) else value.type
    return isinstance(type, IntegerType) and type.width in (8, 16, 32, 64)


def arguments(function: func.Func, sizes: Sequence[int], seed: int) -> tuple[object, ...]:
    """Arguments of a function for some sizes, with numbers at the edges of their types among them."""
    random = np.random.default_rng(seed)
    env = dict(zip(function.args, sizes, strict=False))
    found: list[object] = []
    for k, arg in enumerate(function.args):
        if k < len(sizes):
            found.append(sizes[k])
            continue
        shape = function.shapes[k]
        is_array = isinstance(arg.type, MemRefType)
        type = arg.type.element if isinstance(arg.type, MemRefType) else arg.type
        dims = tuple(d.evaluate(env) for d in shape) if is_array and shape is not None else ()
        made = _numbers(random, type, dims, unsigned=k in function.unsigned)
        found.append(made if is_array else made[()].item())
    return tuple(found)


def _numbers(random: np.random.Generator, type: object, shape: tuple[int, ...], *, unsigned: bool) -> np.ndarray:
    assert isinstance(type, IndexType | IntegerType | FloatType)
    kind = dtype(type, unsigned=unsigned)
    is_edge = random.random(shape) < 0.1
    if isinstance(type, FloatType):
        edges = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-7, 65504.0, -1e5, 0.1]
        plain = random.integers(-20, 20, shape) / 4
        numbers = np.where(is_edge, random.choice(edges, shape), plain)
        if type.name == "bf16":
            return np.asarray(numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).reshape(shape)
        with np.errstate(all="ignore"):
            return np.asarray(numbers.astype(kind)).reshape(shape)
    if kind.kind == "b":
        return np.asarray(random.random(shape) < 0.5).reshape(shape)
    info = np.iinfo(kind)
    edges = np.array([0, 1, info.min, info.max, info.max - 1, info.min + 1], kind)
    plain = random.integers(0 if unsigned else -9, 10, shape).astype(kind)
    return np.asarray(np.where(is_edge, random.choice(edges, shape), plain)).astype(kind).reshape(shape)
