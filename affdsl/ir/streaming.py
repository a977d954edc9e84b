"""Stores past the caches: the mark of a store of a vector that is one where its array is long."""

from __future__ import annotations

from affdsl.ir.attributes import IntegerAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, vector
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import IntegerType

NAME = "affdsl.stream"
"""How many bytes an array has at least whose stores go past the caches. Tools that do not know it store as ever."""


def streamed(op: affine.VectorStore, least: int) -> affine.VectorStore:
    """A store that goes past the caches where the whole array has so many bytes or more."""
    others = tuple(entry for entry in op.attributes if entry[0] != NAME)
    return with_fields(op, attributes=(*others, (NAME, IntegerAttr(least, IntegerType(64)))))


def streamed_from(op: Op) -> int | None:
    """How many bytes an array has at least for a store to go past the caches; None where it never does.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<32xf32>, %x: vector<16xf32>) {
    ...   affine.vector_store %x, %A[0] {affdsl.stream = 4096 : i64} : memref<32xf32>, vector<16xf32>
    ...   affine.vector_store %x, %A[16] : memref<32xf32>, vector<16xf32>
    ...   return
    ... }''').functions[0]
    >>> [streamed_from(op) for op in f.body[:2]]
    [4096, None]
    """
    found = dict(op.attributes).get(NAME) if isinstance(op, affine.VectorStore | vector.Store) else None
    return found.value if isinstance(found, IntegerAttr) and found.value >= 0 else None
