"""Views of buffers and global buffers, read from their custom form."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.attributes import StringAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import memref
from affdsl.ir.types import MemRefType, UnrankedMemRefType
from affdsl.mlir.constants import NotNumbersError
from affdsl.mlir.generic.views import elements, opaque_global
from affdsl.mlir.parser import Head, Parser, Reader
from affdsl.mlir.reading.memref import without_alignment


def read_reshape(p: Parser, head: Head) -> Op:
    """`memref.reshape %A(%sizes) : (memref<...>, memref<...>) -> memref<...>`"""
    s, use = p.scanner, p.use()
    s.expect("(")
    shape = p.use()
    s.expect(")")
    attributes = p.dictionary()
    place, type = s.start, p.colon_function()
    if len(type.results) != 1 or not isinstance(type.results[0], MemRefType | UnrankedMemRefType):
        s.fail("memref.reshape gives one memref", place)
    source, sizes = p.typed((use, shape), type.inputs, place)
    return memref.Reshape(p.result(head, type.results[0]), source, sizes, location=head.location, attributes=attributes)


def read_extract_strided_metadata(p: Parser, head: Head) -> Op:
    """`memref.extract_strided_metadata %A : memref<...> -> memref<f32>, index, index, index`"""
    use = p.use()
    place, type = p.scanner.start, p.colon_memref(head)
    source = p.resolve(use, type)
    p.scanner.expect("->")
    results = p.results(head, p.type_list())
    attributes = p.dictionary()
    if len(results) != 2 + 2 * type.rank:
        p.scanner.fail(f"{head.name} has {2 + 2 * type.rank} results for {type.rank} dimensions", place)
    base, offset, *rest = results
    return memref.ExtractStridedMetadata(
        base, offset, tuple(rest[: type.rank]), tuple(rest[type.rank :]), source,
        location=head.location, attributes=attributes,
    )  # fmt: skip


def read_global(p: Parser, head: Head) -> Op:
    """`memref.global "private" constant @g : memref<2xf32> = dense<[1.0, 2.0]> {alignment = 64 : i64}`"""
    s = p.scanner
    p.no_results(head)
    place, visibility = s.start, s.string() if s.is_string else ""
    if visibility not in ("", "private", "public", "nested"):
        s.fail(f'the visibility is "private", "public" or "nested", not "{visibility}"', place)
    constant = s.accept("constant")
    symbol = p.symbol()
    type = p.colon_memref(head)
    place, text, external = s.start, "", not s.accept("=")
    is_open = external or s.accept("uninitialized")
    if not is_open:
        text = _dense(p)
    alignment, attributes = without_alignment(p)
    if visibility not in ("", "private"):
        attributes = (("sym_visibility", StringAttr(visibility)), *attributes)
    private = visibility == "private"
    try:
        value = None if is_open else elements(text, type)
    except NotNumbersError as problem:
        if not problem.opaque:
            s.fail(str(problem), place)
        return opaque_global(symbol, type, text, constant, private, alignment, attributes, head.location)
    return memref.Global(
        symbol, type, value, constant, private, external, alignment, location=head.location, attributes=attributes
    )


def _dense(p: Parser) -> str:
    """`dense<[1.0, 2.0]>`: what stands between the brackets; its type may follow."""
    s = p.scanner
    s.expect("dense")
    if s.token != "<":
        s.fail("expected '<'")
    text = s.balanced()[1:-1].strip()
    if s.accept(":"):
        p.type()
    return text


READERS: Mapping[str, Reader] = {
    "memref.reshape": read_reshape,
    "memref.extract_strided_metadata": read_extract_strided_metadata,
    "memref.global": read_global,
}
