"""Vectors of bools in memory as gathered elements: LLVM packs the bits of a vector, but not those of an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, vector
from affdsl.ir.emitter import Emitter
from affdsl.ir.expr import Value
from affdsl.ir.layouts import has_rows
from affdsl.ir.traverse import OpT, rewrite
from affdsl.ir.types import I1, INDEX, IntegerType, MemRefType, VectorType, same_shape
from affdsl.passes.lowering.strided_vectors import indices_of

_Load: TypeAlias = affine.VectorLoad | vector.Load | vector.MaskedLoad
_Store: TypeAlias = affine.VectorStore | vector.Store | vector.MaskedStore


def bits_in_memory(root: OpT) -> OpT:
    """The same program with vectors of bools, and of other integers that fill no bytes, gathered and scattered.

        affine.vector_load %A[%i]      ->  vector.gather %A[%i] [0, 1, 2, ...]
        vector.maskedstore %A[%i]      ->  vector.scatter %A[%i] [0, 1, 2, ...]

    Each element of a memref<?xi1> lies in a byte of its own, also for LLVM. A vector<8xi1> is one byte there, and so a
    load of it reads the bits of one byte.

    >>> from affdsl.mlir.readers import parse
    >>> print(bits_in_memory(parse('''func.func @f(%i: index, %A: memref<?xi1>) {
    ...     %v = affine.vector_load %A[%i] : memref<?xi1>, vector<2xi1>
    ...     return
    ... }''')))
    module {
      func.func @f(%i: index, %A: memref<?xi1>) {
        %0 = vector.step : vector<2xindex>
        %cst = arith.constant dense<true> : vector<2xi1>
        %cst_0 = arith.constant dense<false> : vector<2xi1>
        %v = vector.gather %A[%i] [%0], %cst, %cst_0 : memref<?xi1>, vector<2xindex>, vector<2xi1>, vector<2xi1> into vector<2xi1>
        return
      }
    }
    """  # noqa: E501

    def rule(op: Op) -> Sequence[Op] | None:
        if not isinstance(op, _Load | _Store):
            return None
        type = _packed(op.value if isinstance(op, _Store) else op.result, op.memref)
        return None if type is None else _by_lanes(op, type)

    return rewrite(root, rule)


def _packed(lanes: Value, buffer: Value) -> VectorType | None:
    """The type of a vector whose lanes fill no bytes, while those of the array do; None of any other."""
    type = lanes.type
    if not isinstance(type, VectorType) or type.rank != 1 or any(type.scalable):
        return None
    element = type.element
    if not isinstance(element, IntegerType) or element.width % 8 == 0:
        return None
    is_row = isinstance(buffer.type, MemRefType) and buffer.type.element == element and has_rows(buffer.type)
    return type if is_row else None


def _by_lanes(op: _Load | _Store, type: VectorType) -> Sequence[Op]:
    made = Emitter(op.location)
    indices = indices_of(op, made)
    steps = made.made(vector.Step, same_shape(type, INDEX))
    mask = (
        op.mask if isinstance(op, vector.MaskedLoad | vector.MaskedStore) else made.constant(True, same_shape(type, I1))
    )
    if isinstance(op, _Store):
        made.emit(vector.Scatter(op.memref, indices, steps, mask, op.value))
    else:
        others = (
            op.pass_thru
            if isinstance(op, vector.MaskedLoad)
            else made.constant(False if type.element == I1 else 0, type)
        )
        made.emit(vector.Gather(op.result, op.memref, indices, steps, mask, others))
    return made.ops
