"""Views of buffers and global buffers, printed in their custom form."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from affdsl.ir.attributes import IntegerAttr, StringAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import memref
from affdsl.ir.expr import Value
from affdsl.ir.layouts import Groups
from affdsl.ir.mixed import Mixed
from affdsl.ir.mixed import mixed as together
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import I64
from affdsl.mlir.constants import dense_text
from affdsl.mlir.names import function_symbol
from affdsl.mlir.printer import Printer


def mixed(p: Printer, parts: Mixed) -> str:
    """`%n, 4`"""
    return ", ".join([p.names(part) if isinstance(part, Value) else str(part) for part in parts])


def _groups(groups: Groups) -> str:
    return f"[{', '.join([str(list(group)) for group in groups])}]"


def write_subview(p: Printer, op: memref.SubView) -> str:
    """`memref.subview %A[%o, 0] [4, %n] [1, 1] : memref<...> to memref<...>`"""
    offsets, sizes, strides = (mixed(p, part) for part in op.parts)
    types = f"{p.type(op.source)} to {p.type(op.result)}"
    return f"memref.subview {p.names(op.source)}[{offsets}] [{sizes}] [{strides}]{p.dictionary(op)} : {types}"


def write_reinterpret_cast(p: Printer, op: memref.ReinterpretCast) -> str:
    """`memref.reinterpret_cast %A to offset: [0], sizes: [4, %n], strides: [%n, 1] : memref<...> to memref<...>`"""
    offset, sizes, strides = (mixed(p, part) for part in op.parts)
    layout = f"offset: [{offset}], sizes: [{sizes}], strides: [{strides}]"
    types = f"{p.type(op.source)} to {p.type(op.result)}"
    return f"memref.reinterpret_cast {p.names(op.source)} to {layout}{p.dictionary(op)} : {types}"


def write_expand_shape(p: Printer, op: memref.ExpandShape) -> str:
    """`memref.expand_shape %A [[0, 1], [2]] output_shape [2, %n, 4] : memref<...> into memref<...>`"""
    shape = f"{_groups(op.groups)} output_shape [{mixed(p, together(op.static_sizes, op.sizes))}]"
    types = f"{p.type(op.source)} into {p.type(op.result)}"
    return f"memref.expand_shape {p.names(op.source)} {shape}{p.dictionary(op)} : {types}"


def write_collapse_shape(p: Printer, op: memref.CollapseShape) -> str:
    """`memref.collapse_shape %A [[0, 1], [2]] : memref<...> into memref<...>`"""
    types = f"{p.type(op.source)} into {p.type(op.result)}"
    return f"memref.collapse_shape {p.names(op.source)} {_groups(op.groups)}{p.dictionary(op)} : {types}"


def write_view(p: Printer, op: memref.View) -> str:
    """`memref.view %A[%shift][%n] : memref<...> to memref<...>`"""
    place = f"{p.names(op.source)}[{p.names(op.shift)}][{p.list(op.sizes)}]"
    return f"memref.view {place}{p.dictionary(op)} : {p.type(op.source)} to {p.type(op.result)}"


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


def write_rank(p: Printer, op: memref.Rank) -> str:
    """`memref.rank %A : memref<...>`"""
    return f"memref.rank {p.names(op.memref)}{p.dictionary(op)} : {p.type(op.memref)}"


def write_get_global(p: Printer, op: memref.GetGlobal) -> str | Iterator[Block]:
    """`memref.get_global @g : memref<...>`"""
    if op.attributes:
        return p.generic(op)
    return f"memref.get_global {function_symbol(op.symbol)} : {p.type(op.result)}"


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
    memref.SubView: write_subview,
    memref.ReinterpretCast: write_reinterpret_cast,
    memref.ExpandShape: write_expand_shape,
    memref.CollapseShape: write_collapse_shape,
    memref.View: write_view,
    memref.Reshape: write_reshape,
    memref.ExtractStridedMetadata: write_extract_strided_metadata,
    memref.Rank: write_rank,
    memref.GetGlobal: write_get_global,
    memref.Global: write_global,
}
