"""The memref dialect, read from its custom form."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.attributes import Attributes, IntegerAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import memref
from affdsl.ir.types import I64, INDEX
from affdsl.mlir.parser import Head, Parser, Reader


def read_alloc(p: Parser, head: Head) -> Op:
    """`memref.alloc(%n)[%s] {alignment = 64 : i64} : memref<?xf32, ...>`"""
    sizes = p.listed(lambda: p.operand(INDEX))
    symbols = p.listed(lambda: p.operand(INDEX), "[", "]") if p.scanner.token == "[" else ()
    alignment, attributes = without_alignment(p)
    type = p.colon_memref(head)
    cls = memref.Alloc if head.name == "memref.alloc" else memref.Alloca
    return cls(p.result(head, type), sizes, alignment, symbols, location=head.location, attributes=attributes)


def without_alignment(p: Parser) -> tuple[int | None, Attributes]:
    """The alignment, and what else a dictionary says."""
    place, attributes = p.scanner.start, p.dictionary()
    found = dict(attributes).get("alignment")
    if found is None:
        return None, attributes
    if not isinstance(found, IntegerAttr) or found.type != I64:
        p.scanner.fail("the alignment must be a number of type i64", place)
    return found.value, tuple([entry for entry in attributes if entry[0] != "alignment"])


READERS: Mapping[str, Reader] = {"memref.alloc": read_alloc, "memref.alloca": read_alloc}
