"""Buffers that vectors are loaded of, where lines of memory begin, as C has them."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref, vector
from affdsl.ir.traverse import OpT, rewrite, walk, with_fields

LINE = 64
"""Bytes of a line of memory: the longest vector of a register."""
_VECTORS = affine.VectorLoad | affine.VectorStore | vector.Load | vector.Store | vector.MaskedLoad | vector.MaskedStore


def aligned_buffers(root: OpT) -> OpT:
    """The same program where buffers on the heap whose elements are accessed as vectors begin where lines do.

    Without a word, malloc says where a buffer begins: 16 bytes into a line, so that each long vector is on two.

    >>> from affdsl.mlir.readers import parse
    >>> print(aligned_buffers(parse('''func.func @f() {
    ...     %A = memref.alloc() : memref<512xf32>
    ...     %v = affine.vector_load %A[16] : memref<512xf32>, vector<16xf32>
    ...     memref.dealloc %A : memref<512xf32>
    ...     return
    ... }''')).functions[0].body[0])
    %A = memref.alloc() {alignment = 64 : i64} : memref<512xf32>
    """
    read = {op.memref for op in walk(root) if isinstance(op, _VECTORS)}
    if not read:
        return root

    def rule(op: Op) -> Op | None:
        is_open = isinstance(op, memref.Alloc) and op.alignment is None and op.result in read
        return with_fields(op, alignment=LINE) if is_open else None

    return rewrite(root, rule)
