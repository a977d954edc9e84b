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


def read_dealloc(p: Parser, head: Head) -> Op:
    """`memref.dealloc %A : memref<...>`"""
    p.no_results(head)
    use = p.use()
    attributes = p.dictionary()
    return memref.Dealloc(p.resolve(use, p.colon_type()), location=head.location, attributes=attributes)


def read_dim(p: Parser, head: Head) -> Op:
    """`memref.dim {attributes} %A, %c : memref<...>`"""
    attributes = p.dictionary()
    use = p.use()
    p.scanner.expect(",")
    index = p.operand(INDEX)
    buffer = p.resolve(use, p.colon_type())
    return memref.Dim(p.result(head, INDEX), buffer, index, location=head.location, attributes=attributes)


def read_load(p: Parser, head: Head) -> Op:
    """`memref.load %A[%i] : memref<...>`"""
    buffer = p.use()
    indices = p.listed(lambda: p.operand(INDEX), "[", "]")
    attributes = p.dictionary()
    type = p.colon_memref(head)
    source = p.resolve(buffer, type)
    return memref.Load(p.result(head, type.element), source, indices, location=head.location, attributes=attributes)


def read_store(p: Parser, head: Head) -> Op:
    """`memref.store %x, %A[%i] : memref<...>`"""
    p.no_results(head)
    value = p.use()
    p.scanner.expect(",")
    buffer = p.use()
    indices = p.listed(lambda: p.operand(INDEX), "[", "]")
    attributes = p.dictionary()
    type = p.colon_memref(head)
    stored = p.resolve(value, type.element)
    return memref.Store(stored, p.resolve(buffer, type), indices, location=head.location, attributes=attributes)


def read_copy(p: Parser, head: Head) -> Op:
    """`memref.copy %A, %B : memref<...> to memref<...>`"""
    p.no_results(head)
    source = p.use()
    p.scanner.expect(",")
    target = p.use()
    attributes = p.dictionary()
    value = p.resolve(source, p.colon_type())
    p.scanner.expect("to")
    return memref.Copy(value, p.resolve(target, p.type()), location=head.location, attributes=attributes)


def read_cast(p: Parser, head: Head) -> Op:
    """`memref.cast %A : memref<...> to memref<...>`"""
    use = p.use()
    attributes = p.dictionary()
    value = p.resolve(use, p.colon_type())
    p.scanner.expect("to")
    return memref.Cast(p.result(head, p.type()), value, location=head.location, attributes=attributes)


READERS: Mapping[str, Reader] = {
    "memref.alloc": read_alloc,
    "memref.alloca": read_alloc,
    "memref.dealloc": read_dealloc,
    "memref.dim": read_dim,
    "memref.load": read_load,
    "memref.store": read_store,
    "memref.copy": read_copy,
    "memref.cast": read_cast,
}
