"""The memref dialect, printed in its custom form."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from affdsl.ir.attributes import IntegerAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import memref
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import I64
from affdsl.mlir.printer import Printer


def write_alloc(p: Printer, op: memref.Alloc | memref.Alloca) -> str:
    """`memref.alloc(%n)[%s] {alignment = 64 : i64} : memref<?xf32, ...>`"""
    symbols = f"[{p.list(op.symbols)}]" if op.symbols else ""
    shown = op
    if op.alignment is not None:
        shown = with_fields(op, attributes=(("alignment", IntegerAttr(op.alignment, I64)), *op.attributes))
    return f"{op.name}({p.list(op.sizes)}){symbols}{p.dictionary(shown)} : {p.type(op.result)}"


def write_dealloc(p: Printer, op: memref.Dealloc) -> str:
    """`memref.dealloc %A : memref<...>`"""
    return f"memref.dealloc {p.names(op.memref)}{p.dictionary(op)} : {p.type(op.memref)}"


def write_dim(p: Printer, op: memref.Dim) -> str:
    """`memref.dim {attributes} %A, %c : memref<...>`"""
    return f"memref.dim{p.dictionary(op)} {p.names(op.memref)}, {p.names(op.index)} : {p.type(op.memref)}"


def write_load(p: Printer, op: memref.Load) -> str:
    """`memref.load %A[%i] : memref<...>`"""
    return f"memref.load {p.names(op.memref)}[{p.list(op.indices)}]{p.dictionary(op)} : {p.type(op.memref)}"


def write_store(p: Printer, op: memref.Store) -> str:
    """`memref.store %x, %A[%i] : memref<...>`"""
    target = f"{p.names(op.memref)}[{p.list(op.indices)}]"
    return f"memref.store {p.names(op.value)}, {target}{p.dictionary(op)} : {p.type(op.memref)}"


def write_copy(p: Printer, op: memref.Copy) -> str:
    """`memref.copy %A, %B : memref<...> to memref<...>`"""
    types = f"{p.type(op.source)} to {p.type(op.target)}"
    return f"memref.copy {p.names(op.source)}, {p.names(op.target)}{p.dictionary(op)} : {types}"


def write_cast(p: Printer, op: memref.Cast) -> str:
    """`memref.cast %A : memref<...> to memref<...>`"""
    return f"memref.cast {p.names(op.source)}{p.dictionary(op)} : {p.type(op.source)} to {p.type(op.result)}"


WRITERS: dict[type[Op], Callable[..., str | Iterator[Block]]] = {
    memref.Alloc: write_alloc,
    memref.Alloca: write_alloc,
    memref.Dealloc: write_dealloc,
    memref.Dim: write_dim,
    memref.Load: write_load,
    memref.Store: write_store,
    memref.Copy: write_copy,
    memref.Cast: write_cast,
}
