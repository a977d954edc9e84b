"""Buffers, their views and global buffers, where no form says it: read, and printed."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.attributes import Attributes, DenseAttr, IntegerAttr, StringAttr, without
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import memref
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import I64, INDEX, MemRefType, UnrankedMemRefType
from affdsl.mlir.constants import NotNumbersError, dense_text
from affdsl.mlir.generic.views import elements, elements_type, global_in_generic_form
from affdsl.mlir.irregular.table import Table
from affdsl.mlir.names import function_symbol
from affdsl.mlir.parser import Head, Parser
from affdsl.mlir.printer import Printer


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
    return found.value, without(attributes, "alignment")


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
        given = DenseAttr(text, elements_type(type))
        return global_in_generic_form(symbol, type, given, constant, private, alignment, attributes, head.location)
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


def write_alloc(p: Printer, op: memref.Allocation) -> str:
    """`memref.alloc(%n)[%s] {alignment = 64 : i64} : memref<?xf32, ...>`"""
    symbols = f"[{p.list(op.symbols)}]" if op.symbols else ""
    shown = op
    if op.alignment is not None:
        shown = with_fields(op, attributes=(("alignment", IntegerAttr(op.alignment, I64)), *op.attributes))
    return f"{op.name}({p.list(op.sizes)}){symbols}{p.dictionary(shown)} : {p.type(op.result)}"


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


TABLE: Table = {
    memref.Alloc: (read_alloc, write_alloc),
    memref.Alloca: (read_alloc, write_alloc),
    memref.Reshape: (read_reshape, write_reshape),
    memref.ExtractStridedMetadata: (read_extract_strided_metadata, write_extract_strided_metadata),
    memref.Global: (read_global, write_global),
}
