"""DMA, atomic accesses and poison, where no form says it: read, and printed."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.applied import Applied
from affdsl.ir.attributes import Attribute, OpaqueAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref, ub
from affdsl.ir.expr import Value
from affdsl.ir.types import INDEX
from affdsl.mlir.irregular.table import Table
from affdsl.mlir.parser import Head, Parser, Use
from affdsl.mlir.pieces import has_two_roles
from affdsl.mlir.printer import Printer
from affdsl.mlir.reading.opaque import opaque


def read_affine_dma_start(p: Parser, head: Head) -> Op:
    """`affine.dma_start %A[%i], %B[%j], %tag[%k], %n, %stride, %count : memref<...>, memref<...>, memref<...>`"""
    s = p.scanner
    p.no_results(head)
    ends: list[tuple[Use, Applied]] = []
    for _ in range(3):
        ends.append((p.use(), p.subscripts()))
        s.expect(",")
    elements, stride = p.operand(INDEX), _stride(p)
    attributes = p.dictionary()
    s.expect(":")
    source, target, tag = p.typed([use for use, _ in ends], p.type_list(), head.offset)
    (_, at), (_, to), (_, busy) = ends
    return affine.DmaStart(
        source, at.exprs, target, to.exprs, tag, busy.exprs, elements, stride,
        location=head.location, attributes=attributes,
        written={"source_index": at, "target_index": to, "tag_index": busy},
    )  # fmt: skip


def _stride(p: Parser) -> tuple[Value, ...]:
    """`, %distance, %count`, or nothing, which may begin with a comma, too"""
    s = p.scanner
    place = s.start
    found: list[Value] = []
    while s.accept(",") and (found or s.token != ":"):
        found.append(p.operand(INDEX))
    if len(found) not in (0, 2):
        s.fail(f"a stride is a distance and a count, got {len(found)} values", place)
    return tuple(found)


def _indices(p: Parser) -> tuple[Value, ...]:
    return p.listed(lambda: p.operand(INDEX), "[", "]")


def read_memref_dma_start(p: Parser, head: Head) -> Op:
    """`memref.dma_start %A[%i], %B[%j], %n, %tag[%k], %stride, %count : memref<...>, memref<...>, memref<...>`"""
    s = p.scanner
    p.no_results(head)
    source, at = p.use(), _indices(p)
    s.expect(",")
    target, to = p.use(), _indices(p)
    s.expect(",")
    elements = p.operand(INDEX)
    s.expect(",")
    tag, busy = p.use(), _indices(p)
    stride = _stride(p)
    attributes = p.dictionary()
    s.expect(":")
    first, second, third = p.typed((source, target, tag), p.type_list(), head.offset)
    return memref.DmaStart(
        first, at, second, to, elements, third, busy, stride, location=head.location, attributes=attributes
    )


def read_atomic_rmw(p: Parser, head: Head) -> Op:
    """`memref.atomic_rmw addf %x, %A[%i] : (f32, memref<...>) -> f32`"""
    s = p.scanner
    place, combine = s.start, s.string() if s.is_string else s.word()
    if combine not in memref.ATOMIC:
        s.fail(f"{combine} is no way to combine: {', '.join(memref.ATOMIC)}", place)
    value = p.use()
    s.expect(",")
    use, indices = p.use(), _indices(p)
    attributes = p.dictionary()
    type = p.colon_function()
    number, buffer = p.typed((value, use), type.inputs, place)
    if len(type.results) != 1:
        s.fail("memref.atomic_rmw gives one result", place)
    result = p.result(head, type.results[0])
    return memref.AtomicRMW(result, combine, number, buffer, indices, location=head.location, attributes=attributes)


def read_poison(p: Parser, head: Head) -> Op:
    """`ub.poison : f32`"""
    value: Attribute = OpaqueAttr("#ub.poison")
    if p.scanner.accept("<"):
        value = p.attribute()
        p.scanner.expect(">")
    attributes = p.dictionary()
    if value != OpaqueAttr("#ub.poison"):  # a poison of a kind of its own
        return opaque(p, head, (), (p.colon_type(),), (("value", value),), attributes)
    return ub.Poison(p.result(head, p.colon_type()), location=head.location, attributes=attributes)


def _at(p: Printer, op: Op, buffer: Value, field: str) -> str:
    """`%A[%i + 1]`"""
    return f"{p.names(buffer)}[{', '.join(p.subscripts(op, field))}]"


def _is_plain(op: Op, *fields: str) -> bool:
    """Whether the custom form has a place for all that an operation says."""
    return not op.attributes and not any(has_two_roles(op, field) for field in fields)


def _comma(p: Printer, values: tuple[Value, ...]) -> str:
    return "".join([f", {p.names(v)}" for v in values])


def write_affine_dma_start(p: Printer, op: affine.DmaStart) -> str | Iterator[Block]:
    """`affine.dma_start %A[%i], %B[%j], %tag[%k], %n, %stride, %count : memref<...>, memref<...>, memref<...>`"""
    if not _is_plain(op, "source_index", "target_index", "tag_index"):
        return p.generic(op)
    source, target = _at(p, op, op.source, "source_index"), _at(p, op, op.target, "target_index")
    ends = f"{source}, {target}, {_at(p, op, op.tag, 'tag_index')}"
    types = p.types((op.source, op.target, op.tag))
    return f"affine.dma_start {ends}{_comma(p, (op.elements, *op.stride))} : {types}"


def write_memref_dma_start(p: Printer, op: memref.DmaStart) -> str | Iterator[Block]:
    """`memref.dma_start %A[%i], %B[%j], %n, %tag[%k], %stride, %count : memref<...>, memref<...>, memref<...>`"""
    if op.attributes:
        return p.generic(op)
    source = f"{p.names(op.source)}[{p.list(op.source_indices)}]"
    target = f"{p.names(op.target)}[{p.list(op.target_indices)}]"
    tag = f"{p.names(op.tag)}[{p.list(op.tag_indices)}]"
    types = p.types((op.source, op.target, op.tag))
    return f"memref.dma_start {source}, {target}, {p.names(op.elements)}, {tag}{_comma(p, op.stride)} : {types}"


def write_atomic_rmw(p: Printer, op: memref.AtomicRMW) -> str:
    """`memref.atomic_rmw addf %x, %A[%i] : (f32, memref<...>) -> f32`"""
    place = f"{p.names(op.memref)}[{p.list(op.indices)}]{p.dictionary(op)}"
    types = f"({p.type(op.value)}, {p.type(op.memref)}) -> {p.type(op.result)}"
    return f"memref.atomic_rmw {op.combine} {p.names(op.value)}, {place} : {types}"


def write_poison(p: Printer, op: ub.Poison) -> str:
    """`ub.poison : f32`"""
    return f"ub.poison{p.dictionary(op)} : {p.type(op.result)}"


TABLE: Table = {
    affine.DmaStart: (read_affine_dma_start, write_affine_dma_start),
    memref.AtomicRMW: (read_atomic_rmw, write_atomic_rmw),
    memref.DmaStart: (read_memref_dma_start, write_memref_dma_start),
    ub.Poison: (read_poison, write_poison),
}
