"""Vectors of several dimensions, as their rows: vectors along the last one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Self

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Lanewise, Nested, Op
from affdsl.ir.dialects import affine, arith, scf, vector
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import map_blocks, walk, with_fields
from affdsl.ir.types import I1, INDEX, VectorType
from affdsl.passes.lowering.split_vectors import Splitter, WholeError


def rows_of_vectors(module: Module) -> Module:
    """module with each vector of several dimensions as its rows.

    A function with an operation on such vectors that has no form on rows (an outer product, say) stays as it is.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''
    ... func.func @f(%A: memref<2x8xf32>) {
    ...   %z = arith.constant 0.0 : f32
    ...   %c = arith.constant 0 : index
    ...   %v = vector.transfer_read %A[%c, %c], %z {in_bounds = [true, true]} : memref<2x8xf32>, vector<2x8xf32>
    ...   %w = arith.addf %v, %v : vector<2x8xf32>
    ...   vector.transfer_write %w, %A[%c, %c] {in_bounds = [true, true]} : vector<2x8xf32>, memref<2x8xf32>
    ...   return
    ... }''')
    >>> sum(isinstance(op, vector.Load) for op in walk(rows_of_vectors(module)))
    2
    """
    return with_fields(module, body=tuple(_by_rows(op) if isinstance(op, Func) else op for op in module.body))


def _by_rows(function: Func) -> Func:
    if not any(_rank(v) > 1 for op in walk(function) for v in (*op.defines(), *op.binds())):
        return function
    try:
        return map_blocks(function, _Rows({}, {}).block)
    except WholeError:
        return function


def _rank(value: Value) -> int:
    return value.type.rank if isinstance(value.type, VectorType) and not any(value.type.scalable) else 0


@dataclass
class _Rows(Splitter):
    """Rewrites blocks in the order of the text; the parts of a vector are its rows."""

    def is_wide(self, value: Value) -> bool:
        return _rank(value) > 1

    def count(self, value: Value) -> int:
        assert isinstance(value.type, VectorType)
        return prod(value.type.shape[:-1])

    def fresh(self, value: Value) -> Value:
        assert isinstance(value.type, VectorType)
        return Value(VectorType(value.type.shape[-1:], value.type.element), value.hint, value.location)

    def rewritten(self, op: Op) -> Iterator[Op]:
        match op:
            case arith.Constant(value=tuple() as numbers):
                size = len(numbers) // self.count(op.result)
                yield from self.copies(op, value=[numbers[k : k + size] for k in range(0, len(numbers), size)])
            case Lanewise() | vector.Fma() | arith.Constant() | Nested() | affine.Yield() | scf.Yield():
                yield from super().rewritten(op)
            case vector.Broadcast() if _rank(op.source) <= 1:
                yield from self.repeated(op)
            case vector.CreateMask():
                yield from self.masked(op)
            case vector.TransferRead():
                yield from self.read(op)
            case vector.TransferWrite():
                yield from self.written(op)
            case _:
                raise WholeError

    def repeated(self, op: vector.Broadcast) -> Iterator[Op]:
        """All rows are the same."""
        row = op.source
        if row.type != self.fresh(op.result).type:
            row = self.fresh(op.result)
            yield with_fields(op, result=row)
        self.parts[op.result] = (row,) * self.count(op.result)

    def masked(self, op: vector.CreateMask) -> Iterator[Op]:
        """Rows of a mask: none of the lanes are set in the rows beyond the bounds of the other dimensions."""
        *others, last = op.bounds
        none = Value(INDEX)
        yield arith.Constant(none, 0, location=op.location)
        found: list[Value] = []
        for place in _places(op.result):
            count = last
            for bound, k in zip(others, place, strict=True):
                at, is_inside, left = Value(INDEX), Value(I1), Value(INDEX)
                yield arith.Constant(at, k, location=op.location)
                yield arith.Compare(is_inside, "cmpi", "slt", at, bound, location=op.location)
                yield arith.Select(left, is_inside, count, none, location=op.location)
                count = left
            found.append(self.fresh(op.result))
            yield vector.CreateMask(found[-1], (count,), location=op.location)
        self.parts[op.result] = tuple(found)

    def read(self, op: vector.TransferRead) -> Iterator[Op]:
        """What lies in a row in memory is loaded at once, and is rows of the vector, or columns, or all of them."""
        memory = _Memory.of(op, op.result)
        loaded: dict[tuple[int, ...], Value] = {}
        padding = Value(memory.row)
        if op.mask:
            yield vector.Broadcast(padding, op.padding, location=op.location)
        for k, place in enumerate(memory.places):
            made, indices = self.moved_to(op, memory, place)
            yield from made
            row = loaded[place] = Value(memory.row, op.result.hint, op.result.location)
            if op.mask:
                made, mask = self.row_of_mask(op, memory, k)
                yield from made
                yield vector.MaskedLoad(row, op.memref, indices, mask, padding, location=op.location)
            else:
                yield vector.Load(row, op.memref, indices, location=op.location)
        found: list[Value] = []
        for place in _places(op.result):
            if memory.inner == len(place):
                found.append(loaded[memory.place(place)])
                continue
            found.append(self.fresh(op.result))
            if memory.dims[-1] is None:
                one = Value(memory.row.element)
                yield _lane(one, loaded[memory.place(place)], memory.at(place))
                yield vector.Broadcast(found[-1], one, location=op.location)
                continue
            lanes = [(*place, k) for k in range(_shape(op.result)[-1])]
            numbers = tuple(Value(memory.row.element) for _ in lanes)
            yield from (
                _lane(one, loaded[memory.place(lane)], memory.at(lane))
                for one, lane in zip(numbers, lanes, strict=True)
            )
            yield vector.FromElements(found[-1], numbers, location=op.location)
        self.parts[op.result] = tuple(found)

    def written(self, op: vector.TransferWrite) -> Iterator[Op]:
        """What lies in a row in memory is stored at once."""
        memory = _Memory.of(op, op.value)
        rows = dict(zip(_places(op.value), self.parts[op.value], strict=True))
        for k, place in enumerate(memory.places):
            made, indices = self.moved_to(op, memory, place)
            yield from made
            if memory.inner == len(memory.dims) - 1:
                row = rows[memory.lane(place, 0)[:-1]]
            else:
                row, lanes = Value(memory.row), [memory.lane(place, at) for at in range(memory.row.shape[0])]
                numbers = tuple(Value(memory.row.element) for _ in lanes)
                yield from (_lane(one, rows[lane[:-1]], lane[-1]) for one, lane in zip(numbers, lanes, strict=True))
                yield vector.FromElements(row, numbers, location=op.location)
            if op.mask:
                made, mask = self.row_of_mask(op, memory, k)
                yield from made
                yield vector.MaskedStore(op.memref, indices, mask, row, location=op.location)
            else:
                yield vector.Store(row, op.memref, indices, location=op.location)

    def moved_to(
        self, op: vector.TransferRead | vector.TransferWrite, memory: _Memory, place: tuple[int, ...]
    ) -> tuple[list[Op], tuple[Value, ...]]:
        """The indices of a row in memory, and the operations that make them."""
        at = dict(zip(memory.outer, place, strict=True))
        moved = [self.shifted(index, at.get(d, 0)) for d, index in enumerate(op.indices)]
        return [made for made, _ in moved if made is not None], tuple(index for _, index in moved)

    def row_of_mask(
        self, op: vector.TransferRead | vector.TransferWrite, memory: _Memory, k: int
    ) -> tuple[list[Op], Value]:
        """The mask of the k-th row in memory, and the operations that make it."""
        (mask,) = op.mask
        rows = self.parts[mask] if self.is_wide(mask) else (mask,)
        if memory.inner is not None:
            return [], rows[k]
        row, lane = divmod(k, memory.shape[memory.dims.index(memory.outer[-1])])
        one, made = Value(I1), Value(VectorType((1,), I1))
        return [_lane(one, rows[row], lane), vector.Broadcast(made, one, location=op.location)], made


class _Memory(FrozenValue):
    """How the dimensions of a transfer lie in memory.

    Attributes
    ----------
    dims
        The dimension of the array along which each dimension of the vector lies; None where all lanes have one element.
    inner
        The dimension of the vector along the last one of the array, if any; else each row has one lane.
    row
        The vectors that lie in a row in memory.
    """

    dims: tuple[int | None, ...]
    shape: tuple[int, ...]
    inner: int | None
    row: VectorType

    @classmethod
    def of(cls, op: vector.TransferRead | vector.TransferWrite, value: Value) -> Self:
        """Raises WholeError where lanes may be outside."""
        dims = vector.map_dims(op.map)
        assert isinstance(value.type, VectorType)
        if dims is None or not any(d is not None for d in dims) or not all(op.in_bounds):
            raise WholeError
        last = len(op.indices) - 1
        inner = dims.index(last) if last in dims else None
        lanes = 1 if inner is None else value.type.shape[inner]
        return cls(dims, value.type.shape, inner, VectorType((lanes,), value.type.element))

    @property
    def outer(self) -> tuple[int, ...]:
        """The other dimensions of the array that the vector has."""
        return tuple(sorted(d for k, d in enumerate(self.dims) if d is not None and k != self.inner))

    @property
    def places(self) -> Iterator[tuple[int, ...]]:
        """Where rows lie in memory, along these dimensions."""
        return product(*(range(self.shape[self.dims.index(d)]) for d in self.outer))

    def place(self, lane: Sequence[int]) -> tuple[int, ...]:
        """In which row in memory a lane lies."""
        return tuple(lane[self.dims.index(d)] for d in self.outer)

    def at(self, lane: Sequence[int]) -> int:
        """Where in its row in memory a lane lies."""
        return 0 if self.inner is None else lane[self.inner]

    def lane(self, place: Sequence[int], at: int) -> tuple[int, ...]:
        """Which lane of the vector lies at some place of a row in memory."""
        of = dict(zip(self.outer, place, strict=True))
        return tuple(at if k == self.inner else of[d] for k, d in enumerate(self.dims) if d is not None)


def _lane(result: Value, source: Value, at: int) -> Op:
    return vector.Extract(result, source, (), (at,))


def _places(value: Value) -> list[tuple[int, ...]]:
    """Where the rows of a vector lie in it."""
    return list(product(*map(range, _shape(value)[:-1])))


def _shape(value: Value) -> tuple[int, ...]:
    assert isinstance(value.type, VectorType)
    return value.type.shape
