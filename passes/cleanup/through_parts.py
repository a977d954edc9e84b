"""Accesses to parts of arrays as accesses to these arrays, so that nothing stands between loops that views need."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import rewrite, walk, with_fields, without_unread
from affdsl.passes.affine.positions import are_valid, positions_of
from affdsl.passes.cleanup.affine_fold_memref_alias_ops import affine_fold_memref_alias_ops

_ACCESSES = (affine.Load, affine.Store, affine.VectorLoad, affine.VectorStore, affine.Prefetch)


def through_parts(module: Module) -> Module:
    """The same program with loads and stores of parts of arrays folded, and their indices written out.

        %1 = affine.apply (K - 1)
        %row = memref.subview %A[%1, 0] [1, %N] [1, 1]
        affine.load %row[%j]                              ->   affine.load %A[K - 1, %j]

    What only computed indices goes, so that loops which were perfectly nested in the source are so. A module without
    views stays as it is.

    >>> from affdsl.mlir.readers import parse
    >>> print(through_parts(parse('''
    ... func.func @f(%A: memref<8x8xf32>) {
    ...   affine.for %i = 0 to 7 {
    ...     %0 = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
    ...     %row = memref.subview %A[%0, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    ...     affine.for %j = 0 to 8 { %x = affine.load %row[%j] : memref<8xf32, strided<[1], offset: ?>> }
    ...   }
    ...   return
    ... }''')))
    module {
      func.func @f(%A: memref<8x8xf32>) {
        affine.for %i = 0 to 7 {
          affine.for %j = 0 to 8 {
            %x = affine.load %A[%i + 1, %j] : memref<8x8xf32>
          }
        }
        return
      }
    }
    """
    if not any(isinstance(op, memref.SubView) for op in walk(module)):
        return module
    folded = affine_fold_memref_alias_ops(module)
    positions, applies = positions_of(folded), dict[Value, Term]()
    for op in walk(folded):
        if isinstance(op, affine.Apply):
            applies[op.result] = op.expr.substitute(applies)

    def rule(op: Op) -> Op | None:
        if not isinstance(op, _ACCESSES) or not any(v in applies for e in op.index for v in e.values()):
            return None
        index = tuple(e.substitute(applies) for e in op.index)
        return with_fields(op, index=index, written=None) if are_valid(index, positions) else None

    return without_unread(rewrite(folded, rule), lambda op: isinstance(op, affine.Apply | affine.Min | affine.Max))
