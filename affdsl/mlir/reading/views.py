"""Views of buffers and global buffers, read from their custom form."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.attributes import Attributes, StringAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import memref
from affdsl.ir.expr import Value
from affdsl.ir.layouts import Groups
from affdsl.ir.mixed import Mixed, unmixed
from affdsl.ir.types import INDEX, MemRefType, UnrankedMemRefType
from affdsl.mlir.constants import NotNumbersError
from affdsl.mlir.generic.views import elements, opaque_global
from affdsl.mlir.parser import Head, Parser, Reader, Use
from affdsl.mlir.reading.memref import without_alignment


def mixed(p: Parser, opening: str = "[", closing: str = "]") -> Mixed:
    """`[%n, 4]`"""

    def item() -> int | Value:
        return p.operand(INDEX) if p.is_value else p.scanner.integer()

    return p.listed(item, opening, closing)


def _ends(p: Parser, head: Head, use: Use, word: str) -> tuple[Attributes, Value, MemRefType]:
    """`{attributes} : memref<...> to memref<...>`: the source, and the type of the result."""
    attributes = p.dictionary()
    source = p.resolve(use, p.colon_type())
    p.scanner.expect(word)
    return attributes, source, p.memref(head)


def read_subview(p: Parser, head: Head) -> Op:
    """`memref.subview %A[%o, 0] [4, %n] [1, 1] : memref<...> to memref<...>`"""
    use = p.use()
    return _partial(memref.SubView, p, head, use, (mixed(p), mixed(p), mixed(p)))


def read_reinterpret_cast(p: Parser, head: Head) -> Op:
    """`memref.reinterpret_cast %A to offset: [0], sizes: [4, %n], strides: [%n, 1] : memref<...> to memref<...>`"""
    s, use = p.scanner, p.use()
    s.expect("to")
    parts = []
    for position, word in enumerate(("offset", "sizes", "strides")):
        if position:
            s.expect(",")
        s.expect(word)
        s.expect(":")
        parts.append(mixed(p))
    return _partial(memref.ReinterpretCast, p, head, use, (parts[0], parts[1], parts[2]))


def _partial(
    cls: type[memref.SubView] | type[memref.ReinterpretCast],
    p: Parser,
    head: Head,
    use: Use,
    parts: tuple[Mixed, Mixed, Mixed],
) -> Op:
    attributes, source, type = _ends(p, head, use, "to")
    (static_offsets, offsets), (static_sizes, sizes), (static_strides, strides) = map(unmixed, parts)
    return cls(
        p.result(head, type), source, offsets, sizes, strides, static_offsets, static_sizes, static_strides,
        location=head.location, attributes=attributes,
    )  # fmt: skip


def _groups(p: Parser) -> Groups:
    """`[[0, 1], [2]]`"""
    return p.listed(lambda: p.listed(p.scanner.integer, "[", "]"), "[", "]")


def read_expand_shape(p: Parser, head: Head) -> Op:
    """`memref.expand_shape %A [[0, 1], [2]] output_shape [2, %n, 4] : memref<...> into memref<...>`"""
    use, groups = p.use(), _groups(p)
    p.scanner.expect("output_shape")
    static, sizes = unmixed(mixed(p))
    attributes, source, type = _ends(p, head, use, "into")
    return memref.ExpandShape(
        p.result(head, type), source, groups, sizes, static, location=head.location, attributes=attributes
    )


def read_collapse_shape(p: Parser, head: Head) -> Op:
    """`memref.collapse_shape %A [[0, 1], [2]] : memref<...> into memref<...>`"""
    use, groups = p.use(), _groups(p)
    attributes, source, type = _ends(p, head, use, "into")
    return memref.CollapseShape(p.result(head, type), source, groups, location=head.location, attributes=attributes)


def read_view(p: Parser, head: Head) -> Op:
    """`memref.view %A[%shift][%n] : memref<...> to memref<...>`"""
    s, use = p.scanner, p.use()
    s.expect("[")
    shift = p.operand(INDEX)
    s.expect("]")
    sizes = p.listed(lambda: p.operand(INDEX), "[", "]")
    attributes, source, type = _ends(p, head, use, "to")
    return memref.View(p.result(head, type), source, shift, sizes, location=head.location, attributes=attributes)


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


def read_rank(p: Parser, head: Head) -> Op:
    """`memref.rank %A : memref<...>`"""
    use = p.use()
    attributes = p.dictionary()
    source = p.resolve(use, p.colon_type())
    return memref.Rank(p.result(head, INDEX), source, location=head.location, attributes=attributes)


def read_get_global(p: Parser, head: Head) -> Op:
    """`memref.get_global @g : memref<...>`"""
    symbol = p.symbol()
    type = p.colon_memref(head)
    attributes = p.dictionary()
    return memref.GetGlobal(p.result(head, type), symbol, location=head.location, attributes=attributes)


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
    "memref.subview": read_subview,
    "memref.reinterpret_cast": read_reinterpret_cast,
    "memref.expand_shape": read_expand_shape,
    "memref.collapse_shape": read_collapse_shape,
    "memref.view": read_view,
    "memref.reshape": read_reshape,
    "memref.extract_strided_metadata": read_extract_strided_metadata,
    "memref.rank": read_rank,
    "memref.get_global": read_get_global,
    "memref.global": read_global,
}
