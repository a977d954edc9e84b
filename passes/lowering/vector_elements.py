"""Turns buffers whose elements are vectors into buffers of numbers with one dimension more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref, vector
from affdsl.ir.dialects.func import Call, Func, Module, Return
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.integers import width
from affdsl.ir.traverse import rewrite, substitute, walk, with_fields
from affdsl.ir.types import INDEX, FloatType, IntegerType, MemRefType, Type, VectorType


def vector_elements_as_rows(module: Module) -> Module:
    """The same program where each vector in a buffer is a row of numbers.

        memref<8xvector<4xf32>>  ->  memref<8x4xf32>
        affine.load %A[%i]       ->  affine.vector_load %A[%i, 0]

    That is how vectors lie in memory which are as long as a power of two. With others, or where something is done with
    such a buffer but to make, hand on, load, store and free it, the module stays as it is.

    >>> from affdsl.mlir.readers import parse
    >>> print(vector_elements_as_rows(parse('''func.func @f(%A: memref<8xvector<4xf32>>) {
    ...     affine.for %i = 1 to 8 {
    ...       %v = affine.load %A[%i - 1] : memref<8xvector<4xf32>>
    ...       affine.store %v, %A[%i] : memref<8xvector<4xf32>>
    ...     }
    ...     return
    ... }''')).functions[0])
    func.func @f(%A: memref<8x4xf32>) {
      affine.for %i = 1 to 8 {
        %v = affine.vector_load %A[%i - 1, 0] : memref<8x4xf32>, vector<4xf32>
        affine.vector_store %v, %A[%i, 0] : memref<8x4xf32>, vector<4xf32>
      }
      return
    }
    """
    found = [op for op in walk(module) if any(_is_of_vectors(v.type) for v in _values(op))]
    if not found or not all(map(_is_known, found)):
        return module
    new: dict[Value, Term] = {}
    for op in found:
        for value in (*op.defines(), *op.binds()):
            if (type := _flat(value.type)) is not None:
                new[value] = Value(type, value.hint, value.location)
    return substitute(rewrite(module, lambda op: _rewritten(op, new)), new)


def _values(op: Op) -> Iterator[Value]:
    yield from op.reads()
    yield from op.defines()
    yield from op.binds()


def _is_of_vectors(type: Type) -> bool:
    return isinstance(type, MemRefType) and isinstance(type.element, VectorType)


def _flat(type: Type) -> MemRefType | None:
    """The type of the same memory as rows of numbers; None where its elements are no vectors that lie so."""
    match type:
        case MemRefType(shape, VectorType(shape=(count,), element=element, scalable=scalable), None):
            is_number = isinstance(element, FloatType) or (isinstance(element, IntegerType) and width(element) % 8 == 0)
            bits = element.width * count if isinstance(element, FloatType | IntegerType) else 0
            if is_number and bits & (bits - 1) == 0 and not any(scalable):
                return replace(type, shape=(*shape, count), element=element)
    return None


def _is_known(op: Op) -> bool:
    """Whether it is known how an operation takes rows in the place of vectors."""
    known = affine.Load | affine.Store | memref.Load | memref.Store | memref.Alloc | memref.Alloca | memref.Dealloc
    return isinstance(op, known | memref.Dim | Func | Call | Return) and all(
        _flat(v.type) is not None for v in _values(op) if _is_of_vectors(v.type)
    )


def _rewritten(op: Op, new: dict[Value, Term]) -> Op | tuple[Op, ...] | None:
    match op:
        case affine.Load() if _is_of_vectors(op.memref.type):
            return affine.VectorLoad(op.result, op.memref, (*op.index, Affine()), location=op.location)
        case affine.Store() if _is_of_vectors(op.memref.type):
            return affine.VectorStore(op.value, op.memref, (*op.index, Affine()), location=op.location)
        case memref.Load() if _is_of_vectors(op.memref.type):
            zero = arith.Constant(Value(INDEX), 0, location=op.location)
            return zero, vector.Load(op.result, op.memref, (*op.indices, zero.result), location=op.location)
        case memref.Store() if _is_of_vectors(op.memref.type):
            zero = arith.Constant(Value(INDEX), 0, location=op.location)
            return zero, vector.Store(op.value, op.memref, (*op.indices, zero.result), location=op.location)
        case memref.Alloc() | memref.Alloca() if op.result in new:
            return with_fields(op, result=new[op.result])
        case Call() if any(v in new for v in op.results):
            return with_fields(op, results=tuple(new.get(v, v) for v in op.results))
        case Func() if any(_is_of_vectors(t) for t in (*(a.type for a in op.args), *op.result_types)):
            shapes = tuple(
                shape if shape is None or not _is_of_vectors(a.type) else (*shape, *_lanes(a.type))
                for a, shape in zip(op.args, op.shapes, strict=False)
            )
            args, results = tuple(new.get(a, a) for a in op.args), tuple(_flat(t) or t for t in op.result_types)
            return with_fields(op, args=args, result_types=results, shapes=shapes)
    return None


def _lanes(type: Type) -> tuple[Affine, ...]:
    """How long the rows are that stand for the vectors in a buffer."""
    flat = _flat(type)
    assert flat is not None, "asked before"
    return tuple(Affine.of(size or 0) for size in flat.shape[-1:])
