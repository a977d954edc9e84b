"""Views of buffers and global buffers, printed in their custom form."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from affdsl.ir.attributes import IntegerAttr, StringAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import memref
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import I64
from affdsl.mlir.constants import dense_text
from affdsl.mlir.names import function_symbol
from affdsl.mlir.printer import Printer


def write_reshape(p: Printer, op: memref.Reshape) -> str:
    """`memref.reshape %A(%sizes) : (memref<...>, memref<...>) -> memref<...>`"""
    types = f"({p.type(op.source)}, {p.type(op.shape)}) -> {p.type(op.result)}"
    return f"memref.reshape {p.names(op.source)}({p.names(op.shape)}){p.dictionary(op)} : {types}"


def write_extract_strided_metadata(p: Printer, op: memref.ExtractStridedMetadata) -> str | Iterator[Block]:
    """`memref.extract_strided_metadata %A : memref<...> -> memref<f32>, index, index, index`"""
    if op.attributes:
        return p.generic(op)
    types = p.types((op.base, op.offset, *op.sizes, *op.strides))
    return f"memref.extract_strided_metadata {p.names(op.source)} : {p.type(op.source)} -> {types}"


def write_global(p: Printer, op: memref.Global) -> str:
    """`memref.global "private" constant @g : memref<2xf32> = dense<[1.0, 2.0]> {alignment = 64 : i64}`"""
    found = dict(op.attributes).get("sym_visibility")
    visibility = "private" if op.private else found.value if isinstance(found, StringAttr) else ""
    words = [f'"{visibility}"'] * bool(visibility) + ["constant"] * op.constant
    value = "" if op.external else " = uninitialized"
    if op.value is not None:
        value = f" = dense<{dense_text(op.value, op.type)}>"
    shown = op
    if op.alignment is not None:
        shown = with_fields(op, attributes=(("alignment", IntegerAttr(op.alignment, I64)), *op.attributes))
    start = " ".join(["memref.global", *words, function_symbol(op.symbol)])
    return f"{start} : {p.spelled(op.type)}{value}{p.dictionary(shown, 'sym_visibility')}"


WRITERS: dict[type[Op], Callable[..., str | Iterator[Block]]] = {
    memref.Reshape: write_reshape,
    memref.ExtractStridedMetadata: write_extract_strided_metadata,
    memref.Global: write_global,
}
