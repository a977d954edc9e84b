"""Vectors of neighbours by subscript as transfers, where nobody knows that they are neighbours in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.layouts import has_rows
from affdsl.ir.location import Location
from affdsl.ir.maps import AffineMap, dim
from affdsl.ir.traverse import OpT, rewrite
from affdsl.ir.types import INDEX, FloatType, MemRefType, VectorType


def strided_vectors(module: OpT) -> OpT:
    """The same program with transfers of vectors for arrays whose last stride is not known to be 1.

        affine.vector_load %A[i, j + 1]      ->  vector.transfer_read %A[i, (affine.apply j + 1)], in_bounds

    affine.vector_load is lowered to vector.load, which takes contiguous rows and no others; so do masked loads.

    >>> from affdsl.mlir.readers import parse
    >>> print(strided_vectors(parse('''func.func @f(%i: index, %A: memref<?xf32, strided<[?]>>) {
    ...     %v = affine.vector_load %A[%i] : memref<?xf32, strided<[?]>>, vector<4xf32>
    ...     return
    ... }''')))
    module {
      func.func @f(%i: index, %A: memref<?xf32, strided<[?]>>) {
        %cst = arith.constant 0.000000e+00 : f32
        %v = vector.transfer_read %A[%i], %cst {in_bounds = [true]} : memref<?xf32, strided<[?]>>, vector<4xf32>
        return
      }
    }
    """

    def rule(op: Op) -> Sequence[Op] | None:
        if isinstance(op, affine.VectorLoad) and (map := _map(op.result, op.memref)) is not None:
            return tuple(_read(op, map))
        if isinstance(op, affine.VectorStore) and (map := _map(op.value, op.memref)) is not None:
            return tuple(_written(op, map))
        if isinstance(op, vector.MaskedLoad) and (map := _map(op.result, op.memref)) is not None:
            return tuple(_read_masked(op, map))
        if isinstance(op, vector.MaskedStore) and (map := _map(op.value, op.memref)) is not None:
            in_bounds = (True,) * len(map.results)
            return (
                vector.TransferWrite(op.value, op.memref, op.indices, map, in_bounds, (op.mask,), location=op.location),
            )
        return None

    return rewrite(module, rule)


def _map(lanes: Value, buffer: Value) -> AffineMap | None:
    """The map of the transfer; None where there is none, or it need not be one."""
    if not isinstance(lanes.type, VectorType) or not isinstance(buffer.type, MemRefType) or has_rows(buffer.type):
        return None
    rank = buffer.type.rank
    if lanes.type.rank > rank or isinstance(buffer.type.element, VectorType):
        return None
    return AffineMap(rank, 0, tuple(dim(k) + 0 for k in range(rank - lanes.type.rank, rank)))


def _read(op: affine.VectorLoad, map: AffineMap) -> Iterator[Op]:
    assert isinstance(op.result.type, VectorType)
    indices, made = values_of(op.index, op.location)
    none = Value(op.result.type.element)
    yield from made
    yield arith.Constant(none, 0.0 if isinstance(none.type, FloatType) else 0, location=op.location)
    in_bounds = (True,) * len(map.results)
    yield vector.TransferRead(op.result, op.memref, indices, none, map, in_bounds, location=op.location)


def _written(op: affine.VectorStore, map: AffineMap) -> Iterator[Op]:
    indices, made = values_of(op.index, op.location)
    yield from made
    in_bounds = (True,) * len(map.results)
    yield vector.TransferWrite(op.value, op.memref, indices, map, in_bounds, location=op.location)


def _read_masked(op: vector.MaskedLoad, map: AffineMap) -> Iterator[Op]:
    """A transfer has one number for the lanes that are left out, where a masked load has a vector."""
    assert isinstance(op.result.type, VectorType)
    none, read = Value(op.result.type.element), Value(op.result.type)
    in_bounds = (True,) * len(map.results)
    yield arith.Constant(none, 0.0 if isinstance(none.type, FloatType) else 0, location=op.location)
    yield vector.TransferRead(read, op.memref, op.indices, none, map, in_bounds, (op.mask,), location=op.location)
    yield arith.Select(op.result, op.mask, read, op.pass_thru, location=op.location)


def values_of(index: Sequence[Affine], location: Location | None) -> tuple[tuple[Value, ...], list[Op]]:
    """Subscripts as values, and the operations that make those which are none."""
    made = [None if e.value is not None else affine.Apply(Value(INDEX), e, location=location) for e in index]
    values = [e.value if apply is None else apply.result for e, apply in zip(index, made, strict=True)]
    return tuple(v for v in values if v is not None), [apply for apply in made if apply is not None]
