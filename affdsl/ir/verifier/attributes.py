"""The rules of attributes that no field holds, though they belong to operations: how a buffer is accessed."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.attributes import IntegerAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import memref, vector
from affdsl.ir.types import I1, I64

_ACCESSES = (
    memref.Load, memref.Store, memref.Alloc, memref.Alloca, memref.Global, vector.Load, vector.Store, vector.MaskedLoad,
    vector.MaskedStore, vector.Gather, vector.Scatter, vector.ExpandLoad, vector.CompressStore,
)  # fmt: skip


def attributes(op: Op) -> Iterator[str]:
    """alignment is a power of two of type i64; nontemporal is true or false."""
    if not isinstance(op, _ACCESSES):
        return
    for name, attribute in op.attributes:
        match name, attribute:
            case "alignment", IntegerAttr(number, type) if type == I64 and number > 0 and not number & (number - 1):
                pass
            case "alignment", _:
                yield "the alignment must be a number of type i64 that is a power of two"
            case "nontemporal", IntegerAttr(_, type) if type == I1:
                pass
            case "nontemporal", _:
                yield "nontemporal must be true or false"
