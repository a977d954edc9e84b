"""The rules of what moves or announces many elements: DMA, prefetches, vectors; and of global and atomic accesses."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.messages import shown
from affdsl.ir.mixed import Static
from affdsl.ir.types import INDEX, FloatType, IntegerType, MemRefType, VectorType
from affdsl.ir.verifier import types
from affdsl.ir.verifier.context import Context, Rules
from affdsl.ir.verifier.positions import NO_DIMENSION
from affdsl.ir.verifier.types import must_agree, must_have


def dma_start(op: affine.DmaStart | memref.DmaStart, context: Context) -> Iterator[str]:
    """A subscript for each dimension of three buffers; both or no numbers of a stride; elements of one type."""
    for end, buffer in (("source", op.source), ("target", op.target), ("tag", op.tag)):
        yield from _subscripts(buffer, _index(op, end), context, _UNFIT.format(_ENDS[end]))
    yield from must_have(INDEX, op.elements, *op.stride)
    if len(op.stride) not in (0, 2):
        yield f"a stride has two numbers, the distance and the count, but {len(op.stride)} are given"
    yield from types.same_elements(op.source, op.target)


def dma_wait(op: affine.DmaWait | memref.DmaWait, context: Context) -> Iterator[str]:
    """A subscript for each dimension of the tag."""
    yield from _subscripts(op.tag, _index(op, "tag"), context, _UNFIT.format("index"))
    yield from must_have(INDEX, op.elements)


def prefetch(op: affine.Prefetch | memref.Prefetch, context: Context) -> Iterator[str]:
    """A subscript for each dimension; a locality from 0 to 3."""
    index = op.index if isinstance(op, affine.Prefetch) else op.indices
    yield from _subscripts(op.memref, index, context)
    if not 0 <= op.locality <= 3:
        yield f"the locality must lie between 0 and 3, but is {op.locality}"


def vector_access(op: affine.VectorLoad | affine.VectorStore, context: Context) -> Iterator[str]:
    """A subscript for each dimension; a vector of the elements."""
    yield from _subscripts(op.memref, op.index, context)
    value = op.result if isinstance(op, affine.VectorLoad) else op.value
    if not isinstance(value.type, VectorType) or not value.type.rank:
        yield f"{shown(value)} must be a vector with dimensions, but has type {value.type}"
    elif isinstance(op.memref.type, MemRefType) and value.type.element != op.memref.type.element:
        yield f"{shown(value)} must have elements of type {op.memref.type.element}, but has type {value.type}"


def atomic_rmw(op: memref.AtomicRMW, context: Context) -> Iterator[str]:
    """A subscript for each dimension; a value of the type of the elements, which the combination takes."""
    yield from _subscripts(op.memref, op.indices, context)
    yield from must_agree(op.value, op.result)
    if isinstance(op.memref.type, MemRefType):
        yield from must_have(op.memref.type.element, op.value)
    wanted = memref.ATOMIC.get(op.combine)
    classes = {"float": (FloatType,), "integer": (IntegerType,), "any": (FloatType, IntegerType)}
    if wanted is None:
        yield f"unknown combination {op.combine!r}; known: {', '.join(memref.ATOMIC)}"
    elif not isinstance(op.value.type, classes[wanted]):
        yield f"the combination {op.combine} takes {wanted} numbers, but {shown(op.value)} has type {op.value.type}"


def global_buffer(op: memref.Global, context: Context) -> Iterator[str]:
    """Static sizes; a number for each element that its type holds; an alignment that is a power of two."""
    shape = op.type.shape
    if None in shape:
        yield f"@{op.symbol} must have static sizes, but has type {op.type}"
        return
    count = _count(shape)
    if op.external and op.value is not None:
        yield f"@{op.symbol} is defined elsewhere, but has a value here"
    yield from types.power_of_two(op.alignment)
    if op.value is None:
        return
    numbers = op.value if isinstance(op.value, tuple) else (op.value,)
    if isinstance(op.value, tuple) and len(numbers) != count:
        yield f"@{op.symbol} has {count} elements, but {len(numbers)} numbers are given"
    element = op.type.element
    for number in dict.fromkeys(numbers):
        yield from types.is_number(number, element)


def _count(shape: Static) -> int:
    count = 1
    for size in shape:
        count *= size or 0
    return count


def get_global(op: memref.GetGlobal, context: Context) -> Iterator[str]:
    """A global buffer of the module, under its own type."""
    yield from types.memref_type(op.result)
    if context.buffers is None:
        return
    found = context.buffers.get(op.symbol)
    if found is None:
        yield f"there is no global buffer @{op.symbol} in the module"
    elif found.type != op.result.type:
        yield f"@{op.symbol} has type {found.type}, but is read as {op.result.type}"


def delinearize(op: affine.DelinearizeIndex, context: Context) -> Iterator[str]:
    """A positive basis with a number for each result, or for each but the first."""
    yield from must_have(INDEX, op.linear_index, *op.basis, *op.results)
    yield from _basis(op.static_basis, op.basis)
    if not len(op.static_basis) <= len(op.results) <= len(op.static_basis) + 1:
        yield f"has {len(op.results)} results for {len(op.static_basis)} numbers, which is neither as many nor one more"
    if any(number is not None and number <= 0 for number in op.static_basis):
        yield f"the numbers of the basis must be positive, but are {_listed(op.static_basis)}"


def linearize(op: affine.LinearizeIndex, context: Context) -> Iterator[str]:
    """A basis with a number for each index, or for each but the first."""
    yield from must_have(INDEX, op.result, *op.indices, *op.basis)
    yield from _basis(op.static_basis, op.basis)
    if not len(op.static_basis) <= len(op.indices) <= len(op.static_basis) + 1:
        yield f"has {len(op.indices)} indices for {len(op.static_basis)} numbers, which is neither as many nor one more"


def _basis(static: Static, values: tuple[Value, ...]) -> Iterator[str]:
    if static.count(None) != len(values):
        yield f"{static.count(None)} numbers of the basis are left open, but {len(values)} values are given"


def _listed(numbers: Static) -> str:
    return ", ".join("?" if n is None else str(n) for n in numbers)


def _index(
    op: affine.DmaStart | memref.DmaStart | affine.DmaWait | memref.DmaWait, end: str
) -> tuple[Affine, ...] | tuple[Value, ...]:
    name = f"{end}_index" if isinstance(op, affine.DmaStart | affine.DmaWait) else f"{end}_indices"
    found: tuple[Affine, ...] | tuple[Value, ...] = getattr(op, name)
    return found


_UNFIT = "{} must be a valid dimension or symbol identifier"
_ENDS = {"source": "src index", "target": "dst index", "tag": "tag index"}


def _subscripts(
    buffer: Value, index: tuple[Affine, ...] | tuple[Value, ...], context: Context, what: str = NO_DIMENSION
) -> Iterator[str]:
    yield from types.memref_type(buffer)
    if isinstance(buffer.type, MemRefType) and len(index) != buffer.type.rank:
        yield f"{shown(buffer)} has rank {buffer.type.rank}, but {len(index)} subscripts are given"
    for part in index:
        if isinstance(part, Value):
            yield from must_have(INDEX, part)
        else:
            yield from context.positions.misplaced([part], what=what)


RULES: Rules = {
    affine.DmaStart: dma_start,
    affine.DmaWait: dma_wait,
    affine.Prefetch: prefetch,
    affine.VectorLoad: vector_access,
    affine.VectorStore: vector_access,
    affine.DelinearizeIndex: delinearize,
    affine.LinearizeIndex: linearize,
    memref.AtomicRMW: atomic_rmw,
    memref.DmaStart: dma_start,
    memref.DmaWait: dma_wait,
    memref.GetGlobal: get_global,
    memref.Global: global_buffer,
    memref.Prefetch: prefetch,
}
"""What each class of these operations must keep."""
