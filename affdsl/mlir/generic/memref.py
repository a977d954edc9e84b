"""The memref dialect in generic form."""

from __future__ import annotations

from affdsl.ir.attributes import IntegerAttr
from affdsl.ir.dialects import memref
from affdsl.ir.types import I1, I64
from affdsl.mlir.generic.rows import Row, number_property

_ALIGNMENT = number_property("alignment", "alignment", I64)
_NONTEMPORAL = {"nontemporal": IntegerAttr(0, I1), "alignment": None}

ROWS = (
    Row(memref.Alloc, (_ALIGNMENT,)),
    Row(memref.Alloca, (_ALIGNMENT,)),
    Row(memref.Dealloc),
    Row(memref.Dim),
    Row(memref.Load, inherent=_NONTEMPORAL),
    Row(memref.Store, inherent=_NONTEMPORAL),
    Row(memref.Copy),
    Row(memref.Cast),
)
