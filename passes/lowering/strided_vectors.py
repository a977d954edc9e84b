"""Vectors of neighbours by subscript as transfers, where nobody knows that they are neighbours in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, vector
from affdsl.ir.emitter import Emitter
from affdsl.ir.expr import Value
from affdsl.ir.layouts import has_rows
from affdsl.ir.maps import AffineMap, dim
from affdsl.ir.traverse import OpT, rewrite
from affdsl.ir.types import INDEX, FloatType, MemRefType, VectorType

Access: TypeAlias = (
    "affine.VectorLoad | affine.VectorStore | vector.Load | vector.Store | vector.MaskedLoad | vector.MaskedStore"
)
"""What loads and stores elements that are neighbours by their last subscript."""


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
        match op:
            case affine.VectorLoad() | vector.MaskedLoad() if (map := _map(op.result, op.memref)) is not None:
                return _read(op, map)
            case affine.VectorStore() | vector.MaskedStore() if (map := _map(op.value, op.memref)) is not None:
                made = Emitter(op.location)
                mask = (op.mask,) if isinstance(op, vector.MaskedStore) else ()
                in_bounds = (True,) * len(map.results)
                made.emit(vector.TransferWrite(op.value, op.memref, indices_of(op, made), map, in_bounds, mask))
                return made.ops
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


def _read(op: affine.VectorLoad | vector.MaskedLoad, map: AffineMap) -> Sequence[Op]:
    """A transfer has one number for the lanes that are left out, where a masked load has a vector."""
    made, type = Emitter(op.location), op.result.type
    assert isinstance(type, VectorType)
    indices = indices_of(op, made)
    none = made.constant(0.0 if isinstance(type.element, FloatType) else 0, type.element)
    mask = (op.mask,) if isinstance(op, vector.MaskedLoad) else ()
    found = made.made(vector.TransferRead, type, op.memref, indices, none, map, (True,) * len(map.results), mask)
    if isinstance(op, vector.MaskedLoad):
        found = made.select(op.mask, found, op.pass_thru)
    return made.giving(found, op.result)


def indices_of(op: Access, made: Emitter) -> tuple[Value, ...]:
    """The subscripts of an access as values, of which an emitter makes those that are none."""
    if not isinstance(op, affine.VectorLoad | affine.VectorStore):
        return op.indices
    return tuple(e.value if e.value is not None else made.made(affine.Apply, INDEX, e) for e in op.index)
