"""What an operation reads and writes in memory, read off its operands: the elements of a buffer, by their indices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from operator import add
from typing import Any, Literal, TypeAlias

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, memref, scf, vector
from affdsl.ir.expr import Value
from affdsl.ir.interpreter.bounds import evaluator_of
from affdsl.ir.interpreter.buffers import BufferView, Index
from affdsl.ir.interpreter.environment import Env
from affdsl.ir.types import MemRefType, UnrankedMemRefType, VectorType

Role = Literal["read", "write"]
ROLES: tuple[Role, ...] = ("read", "write")
Access: TypeAlias = tuple[Role, BufferView, list[Index]]
Touched: TypeAlias = Callable[[Env], Iterator[Access]]


def touches(op: Op) -> Touched | None:
    """What an operation reads and writes, as a function of the environment before it; None if it touches no memory."""
    match op:
        case affine.Load(memref=source, index=index) | affine.VectorLoad(memref=source, index=index):
            return _box("read", op, source, _affine(op, index), op.result)
        case affine.Store(memref=target, index=index) | affine.VectorStore(memref=target, index=index):
            return _box("write", op, target, _affine(op, index), op.value)
        case memref.Load(memref=source, indices=indices) | vector.Load(memref=source, indices=indices):
            return _box("read", op, source, _plain(indices), op.result)
        case memref.Store(memref=target, indices=indices) | vector.Store(memref=target, indices=indices):
            return _box("write", op, target, _plain(indices), op.value)
        case vector.MaskedLoad():
            return _box("read", op, op.memref, _plain(op.indices), op.result, op.mask)
        case vector.MaskedStore():
            return _box("write", op, op.memref, _plain(op.indices), op.value, op.mask)
        case memref.AtomicRMW():
            index_of = _plain(op.indices)
            return lambda env: (
                (role, env[op.memref], [index_of(env)]) for role in ("read", "write")
            )  # fmt: skip
        case vector.TransferRead():
            return _transfer("read", op, op.result)
        case vector.TransferWrite():
            return _transfer("write", op, op.value)
        case memref.Copy():
            return lambda env: iter([
                ("read", env[op.source], every(env[op.source])), ("write", env[op.target], every(env[op.target]))
            ])  # fmt: skip
        case affine.DmaStart() | memref.DmaStart():
            return _dma_start(op)
        case affine.DmaWait() | memref.DmaWait():
            return _dma_wait(op)
        case _ if isinstance(op, _NO_ACCESS) or not any(
            isinstance(v.type, MemRefType | UnrankedMemRefType) for v in op.reads()
        ):
            return None
        case _:
            raise NotImplementedError(f"what {op.name} touches is not known here")


_NO_ACCESS = (
    memref.SubView, memref.Cast, memref.ReinterpretCast, memref.ExpandShape, memref.CollapseShape, memref.View,
    memref.ExtractStridedMetadata, memref.Dim, memref.Rank, memref.Dealloc, memref.Prefetch, affine.Prefetch,
    affine.For, affine.If, affine.Parallel, scf.For, scf.If, scf.Parallel, scf.IndexSwitch, scf.ExecuteRegion,
)  # fmt: skip


def _affine(op: Op, index: Iterable[Any]) -> Callable[[Env], Index]:
    parts = [evaluator_of(e, op) for e in index]
    return lambda env: tuple([part(env) for part in parts])


def _plain(indices: tuple[Value, ...]) -> Callable[[Env], Index]:
    return lambda env: tuple([env[i] for i in indices])


def _box(
    role: Role, op: Op, memref: Value, index_of: Callable[[Env], Index], value: Value, mask: Value | None = None
) -> Touched:
    """The element at an index, or a box of them that begins there and reaches along the last dimensions."""
    lanes = _lanes(memref, value)

    def touched(env: Env) -> Iterator[Access]:
        start = index_of(env)
        first = len(start) - len(lanes[0])
        chosen = [lane for lane in lanes if mask is None or env[mask][lane]]
        yield role, env[memref], [(*start[:first], *map(add, start[first:], lane)) for lane in chosen]

    return touched


def _lanes(memref: Value, value: Value) -> list[Index]:
    """The lanes of a vector that have elements of their own in a memref: one, (), if value is such an element."""
    assert isinstance(memref.type, MemRefType)
    if not isinstance(value.type, VectorType) or value.type == memref.type.element:
        return [()]
    inner = len(memref.type.element.shape) if isinstance(memref.type.element, VectorType) else 0
    return list(product(*map(range, value.type.shape[: len(value.type.shape) - inner])))


def _transfer(role: Role, op: vector.TransferRead | vector.TransferWrite, value: Value) -> Touched:
    """The elements of a box that exist: lanes beyond the end of a dimension are left out, and so are masked ones."""
    dims, lanes, index_of = vector.map_dims(op.map), _lanes(op.memref, value), _plain(op.indices)
    assert dims is not None
    order = vector.mask_dims(op.map)

    def touched(env: Env) -> Iterator[Access]:
        buffer, start = env[op.memref], index_of(env)
        found = []
        for lane in lanes:
            index = list(start)
            for k, d in enumerate(dims):
                if d is not None:
                    index[d] += lane[k]
            exists = all(0 <= i < size for i, size in zip(index, buffer.shape, strict=True))
            if exists and (not op.mask or env[op.mask[0]][tuple(lane[k] for k in order)]):
                found.append(tuple(index))
        yield role, buffer, found

    return touched


def every(buffer: BufferView) -> list[Index]:
    """All indices of a buffer."""
    return list(product(*map(range, buffer.shape)))


def _dma_start(op: affine.DmaStart | memref.DmaStart) -> Touched:
    """Reads the source, writes the target, and makes the tag busy, which is a write."""
    if op.stride:
        raise NotImplementedError(f"{op.name} with a stride is not known here")
    if isinstance(op, affine.DmaStart):
        from_, to, tag = _affine(op, op.source_index), _affine(op, op.target_index), _affine(op, op.tag_index)
    else:
        from_, to, tag = _plain(op.source_indices), _plain(op.target_indices), _plain(op.tag_indices)

    def touched(env: Env) -> Iterator[Access]:
        count = env[op.elements]
        yield "read", env[op.source], _following(env[op.source], from_(env), count)
        yield "write", env[op.target], _following(env[op.target], to(env), count)
        yield "write", env[op.tag], [tag(env)]

    return touched


def _following(buffer: BufferView, start: Index, count: int) -> list[Index]:
    """`count` elements that lie one behind the other in memory."""
    at = dict(zip(buffer.positions().tolist(), every(buffer), strict=True))
    first = buffer.position(start)
    return [at[cell] for cell in range(first, first + count)]


def _dma_wait(op: affine.DmaWait | memref.DmaWait) -> Touched:
    """Reads the tag and makes it free, which is a write."""
    tag = _affine(op, op.tag_index) if isinstance(op, affine.DmaWait) else _plain(op.tag_indices)

    def touched(env: Env) -> Iterator[Access]:
        yield "read", env[op.tag], [tag(env)]
        yield "write", env[op.tag], [tag(env)]

    return touched


def sides(op: Op) -> tuple[tuple[Role, Value], ...]:
    """The memrefs that an operation reads or writes; of a call, each argument counts as both."""
    match op:
        case affine.Load() | affine.VectorLoad() | memref.Load() | vector.Load() | vector.MaskedLoad():
            return (("read", op.memref),)
        case vector.TransferRead():
            return (("read", op.memref),)
        case affine.Store() | affine.VectorStore() | memref.Store() | vector.Store() | vector.MaskedStore():
            return (("write", op.memref),)
        case vector.TransferWrite():
            return (("write", op.memref),)
        case memref.AtomicRMW():
            return (("read", op.memref), ("write", op.memref))
        case memref.Copy():
            return (("read", op.source), ("write", op.target))
        case affine.DmaStart() | memref.DmaStart():
            return (("read", op.source), ("write", op.target), ("write", op.tag))
        case affine.DmaWait() | memref.DmaWait():
            return (("read", op.tag), ("write", op.tag))
        case func.Call():
            memrefs = [v for v in op.args if isinstance(v.type, MemRefType | UnrankedMemRefType)]
            return tuple((role, v) for v in memrefs for role in ROLES)
        case _:
            return ()


def origin(value: Value, definitions: Mapping[Value, Op]) -> Value | str:
    """What a memref is a view of: an argument, the result of an alloc, or the symbol of a global buffer."""
    match definitions.get(value):
        case memref.GetGlobal(symbol=symbol):
            return symbol
        case (
            memref.SubView(source=source)
            | memref.Cast(source=source)
            | memref.ReinterpretCast(source=source)
            | memref.ExpandShape(source=source)
            | memref.CollapseShape(source=source)
            | memref.View(source=source)
            | memref.Reshape(source=source)
            | memref.ExtractStridedMetadata(source=source)
        ):
            return origin(source, definitions)
        case _:
            return value
