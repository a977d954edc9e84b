"""Vectors of bools in memory as gathered elements: LLVM packs the bits of a vector, but not those of an array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.expr import Value
from affdsl.ir.layouts import has_rows
from affdsl.ir.traverse import OpT, rewrite
from affdsl.ir.types import I1, INDEX, IntegerType, MemRefType, ScalarType, VectorType
from affdsl.passes.lowering.strided_vectors import values_of


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
        match op:
            case affine.VectorLoad() | vector.Load() if (type := _packed(op.result, op.memref)) is not None:
                return tuple(_gathered(op, type))
            case affine.VectorStore() | vector.Store() if (type := _packed(op.value, op.memref)) is not None:
                return tuple(_scattered(op, type))
            case vector.MaskedLoad() if (type := _packed(op.result, op.memref)) is not None:
                steps = vector.Step(Value(_lanes_of(type, INDEX)), location=op.location)
                return steps, vector.Gather(
                    op.result, op.memref, op.indices, steps.result, op.mask, op.pass_thru, location=op.location
                )
            case vector.MaskedStore() if (type := _packed(op.value, op.memref)) is not None:
                steps = vector.Step(Value(_lanes_of(type, INDEX)), location=op.location)
                return steps, vector.Scatter(
                    op.memref, op.indices, steps.result, op.mask, op.value, location=op.location
                )
        return None

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


def _gathered(op: affine.VectorLoad | vector.Load, type: VectorType) -> Iterator[Op]:
    indices, made = _indices(op)
    steps, mask, others = (Value(_lanes_of(type, each)) for each in (INDEX, I1, type.element))
    yield from (*made, vector.Step(steps, location=op.location))
    yield arith.Constant(mask, True, location=op.location)
    yield arith.Constant(others, False if type.element == I1 else 0, location=op.location)
    yield vector.Gather(op.result, op.memref, indices, steps, mask, others, location=op.location)


def _scattered(op: affine.VectorStore | vector.Store, type: VectorType) -> Iterator[Op]:
    indices, made = _indices(op)
    steps, mask = (Value(_lanes_of(type, each)) for each in (INDEX, I1))
    yield from (*made, vector.Step(steps, location=op.location))
    yield arith.Constant(mask, True, location=op.location)
    yield vector.Scatter(op.memref, indices, steps, mask, op.value, location=op.location)


def _indices(
    op: affine.VectorLoad | affine.VectorStore | vector.Load | vector.Store,
) -> tuple[tuple[Value, ...], list[Op]]:
    if isinstance(op, vector.Load | vector.Store):
        return op.indices, []
    return values_of(op.index, op.location)


def _lanes_of(type: VectorType, element: ScalarType) -> VectorType:
    return VectorType(type.shape, element)
