"""Vectors with marks as operations of which no lowering of MLIR forgets them."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, vector
from affdsl.ir.emitter import Emitter
from affdsl.ir.load_order import is_kept_ahead
from affdsl.ir.streaming import streamed_from
from affdsl.ir.traverse import OpT, rewrite
from affdsl.passes.lowering.strided_vectors import indices_of


def marked_vectors(root: OpT) -> OpT:
    """The same program with vectors that are loaded ahead, or stored past the caches, in the vector dialect.

        affine.vector_store %v, %A[i, j + 1] {affdsl.stream = 4096}
            ->   vector.store %v, %A[i, (affine.apply j + 1)] {affdsl.stream = 4096}

    `lower-affine` makes new operations of those of affine, without their attributes. A mark is not `nontemporal`: it
    says from how many bytes of the whole array on, and LLVM makes scalars of such a store where it is not told that
    its address is a multiple of its length.

    >>> from affdsl.mlir.readers import parse
    >>> print(marked_vectors(parse('''func.func @f(%i: index, %A: memref<?xf32>, %B: memref<?xf32>) {
    ...     %v = affine.vector_load %A[%i + 8] {affdsl.ahead} : memref<?xf32>, vector<8xf32>
    ...     affine.vector_store %v, %B[%i] {affdsl.stream = 4096 : i64} : memref<?xf32>, vector<8xf32>
    ...     return
    ... }''')).functions[0])
    func.func @f(%i: index, %A: memref<?xf32>, %B: memref<?xf32>) {
      %0 = affine.apply affine_map<()[s0] -> (s0 + 8)>()[%i]
      %v = vector.load %A[%0] {affdsl.ahead} : memref<?xf32>, vector<8xf32>
      vector.store %v, %B[%i] {affdsl.stream = 4096 : i64} : memref<?xf32>, vector<8xf32>
      return
    }
    """

    def rule(op: Op) -> Sequence[Op] | None:
        made = Emitter(op.location)
        if isinstance(op, affine.VectorLoad) and is_kept_ahead(op):
            made.emit(vector.Load(op.result, op.memref, indices_of(op, made), attributes=op.attributes))
        if isinstance(op, affine.VectorStore) and streamed_from(op) is not None:
            made.emit(vector.Store(op.value, op.memref, indices_of(op, made), attributes=op.attributes))
        return made.ops or None

    return rewrite(root, rule)
