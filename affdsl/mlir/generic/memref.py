"""The memref dialect in generic form."""

from __future__ import annotations

from affdsl.ir.attributes import IntegerAttr
from affdsl.ir.dialects import memref
from affdsl.ir.types import I1, I64
from affdsl.mlir.generic.rows import Row, many, number_property, one

_ALIGNMENT = number_property("alignment", "alignment", I64)
_NONTEMPORAL = {"nontemporal": IntegerAttr(0, I1), "alignment": None}

ROWS = (
    Row(memref.Alloc, (many("sizes"), many("symbols")), (one("result"),), (_ALIGNMENT,), segments=True),
    Row(memref.Alloca, (many("sizes"), many("symbols")), (one("result"),), (_ALIGNMENT,), segments=True),
    Row(memref.Dealloc, (one("memref"),)),
    Row(memref.Dim, (one("memref"), one("index")), (one("result"),)),
    Row(memref.Load, (one("memref"), many("indices")), (one("result"),), inherent=_NONTEMPORAL),
    Row(memref.Store, (one("value"), one("memref"), many("indices")), inherent=_NONTEMPORAL),
    Row(memref.Copy, (one("source"), one("target"))),
    Row(memref.Cast, (one("source"),), (one("result"),)),
)
