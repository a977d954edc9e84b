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


WRITERS: dict[type[Op], Callable[..., str | Iterator[Block]]] = {memref.Alloc: write_alloc, memref.Alloca: write_alloc}
