"""Loads for a later iteration: the mark of a load of a vector that comes before the stores behind it."""

from __future__ import annotations

from affdsl.ir.attributes import UnitAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, vector
from affdsl.ir.traverse import with_fields

NAME = "affdsl.ahead"
"""The mark. Tools that do not know it load where they like."""


def kept_ahead(op: affine.VectorLoad) -> affine.VectorLoad:
    """The load, marked: C tells compilers to leave it in front of the stores that follow, also of other arrays."""
    others = tuple(entry for entry in op.attributes if entry[0] != NAME)
    return with_fields(op, attributes=(*others, (NAME, UnitAttr())), written=None)


def is_kept_ahead(op: Op) -> bool:
    """Whether a load comes before the stores that follow it.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<32xf32>) {
    ...   %a = affine.vector_load %A[0] {affdsl.ahead} : memref<32xf32>, vector<16xf32>
    ...   %b = affine.vector_load %A[16] : memref<32xf32>, vector<16xf32>
    ...   return
    ... }''').functions[0]
    >>> [is_kept_ahead(op) for op in f.body[:2]]
    [True, False]
    """
    return isinstance(op, affine.VectorLoad | vector.Load) and any(name == NAME for name, _ in op.attributes)
