"""DMA, prefetches, atomic and vector accesses, and index arithmetic by a basis, printed in their custom form."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref, ub
from affdsl.ir.expr import Value
from affdsl.mlir.pieces import has_two_roles
from affdsl.mlir.printer import Printer


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


WRITERS: dict[type[Op], Callable[..., str | Iterator[Block]]] = {
    affine.DmaStart: write_affine_dma_start,
    memref.AtomicRMW: write_atomic_rmw,
    memref.DmaStart: write_memref_dma_start,
    ub.Poison: write_poison,
}
