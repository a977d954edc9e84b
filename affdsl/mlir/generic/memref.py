"""The memref dialect in generic form."""

from __future__ import annotations

from affdsl.ir.attributes import IntegerAttr
from affdsl.ir.dialects import memref
from affdsl.ir.types import I1, I64
from affdsl.mlir.form import Form
from affdsl.mlir.generic.rows import Row, number_property

_ALIGNMENT = number_property("alignment", "alignment", I64)
_NONTEMPORAL = {"nontemporal": IntegerAttr(0, I1), "alignment": None}

_AT = {"indices": "index"}
_CAST = Form("%source{} : <source> to <result>")

ROWS = (
    Row(memref.Alloc, properties=(_ALIGNMENT,)),
    Row(memref.Alloca, properties=(_ALIGNMENT,)),
    Row(memref.Dealloc, Form("%memref{} : <memref>")),
    Row(memref.Dim, Form("{} %memref, %index : <memref>", {"index": "index", "result": "index"})),
    Row(
        memref.Load, Form("%memref[%indices*]{} : <memref:memref>", _AT | {"result": "element memref"}),
        inherent=_NONTEMPORAL,
    ),
    Row(
        memref.Store, Form("%value, %memref[%indices*]{} : <memref:memref>", _AT | {"value": "element memref"}),
        inherent=_NONTEMPORAL,
    ),
    Row(memref.Copy, Form("%source, %target{} : <source> to <target>")),
    Row(memref.Cast, _CAST),
)  # fmt: skip
