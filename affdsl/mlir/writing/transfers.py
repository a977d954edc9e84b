"""DMA, prefetches, atomic and vector accesses, and index arithmetic by a basis, printed in their custom form."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref, ub
from affdsl.ir.expr import Value
from affdsl.mlir.printer import Printer
from affdsl.mlir.writing.affine import has_two_roles
from affdsl.mlir.writing.views import mixed


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


def write_affine_dma_wait(p: Printer, op: affine.DmaWait) -> str | Iterator[Block]:
    """`affine.dma_wait %tag[%k], %n : memref<...>`"""
    if not _is_plain(op, "tag_index"):
        return p.generic(op)
    return f"affine.dma_wait {_at(p, op, op.tag, 'tag_index')}, {p.names(op.elements)} : {p.type(op.tag)}"


def write_memref_dma_start(p: Printer, op: memref.DmaStart) -> str | Iterator[Block]:
    """`memref.dma_start %A[%i], %B[%j], %n, %tag[%k], %stride, %count : memref<...>, memref<...>, memref<...>`"""
    if op.attributes:
        return p.generic(op)
    source = f"{p.names(op.source)}[{p.list(op.source_indices)}]"
    target = f"{p.names(op.target)}[{p.list(op.target_indices)}]"
    tag = f"{p.names(op.tag)}[{p.list(op.tag_indices)}]"
    types = p.types((op.source, op.target, op.tag))
    return f"memref.dma_start {source}, {target}, {p.names(op.elements)}, {tag}{_comma(p, op.stride)} : {types}"


def write_memref_dma_wait(p: Printer, op: memref.DmaWait) -> str:
    """`memref.dma_wait %tag[%k], %n : memref<...>`"""
    tag = f"{p.names(op.tag)}[{p.list(op.tag_indices)}]"
    return f"memref.dma_wait {tag}, {p.names(op.elements)}{p.dictionary(op)} : {p.type(op.tag)}"


def _manner(op: affine.Prefetch | memref.Prefetch) -> str:
    cache = "data" if op.is_data else "instr"
    return f"{'write' if op.is_write else 'read'}, locality<{op.locality}>, {cache}"


def write_affine_prefetch(p: Printer, op: affine.Prefetch) -> str | Iterator[Block]:
    """`affine.prefetch %A[%i], read, locality<3>, data : memref<...>`"""
    if has_two_roles(op, "index"):
        return p.generic(op)
    return f"affine.prefetch {_at(p, op, op.memref, 'index')}, {_manner(op)}{p.dictionary(op)} : {p.type(op.memref)}"


def write_memref_prefetch(p: Printer, op: memref.Prefetch) -> str | Iterator[Block]:
    """`memref.prefetch %A[%i], read, locality<3>, data : memref<...>`"""
    if op.attributes:
        return p.generic(op)
    return f"memref.prefetch {p.names(op.memref)}[{p.list(op.indices)}], {_manner(op)} : {p.type(op.memref)}"


def write_vector_load(p: Printer, op: affine.VectorLoad) -> str | Iterator[Block]:
    """`affine.vector_load %A[%i] : memref<...>, vector<4xf32>`"""
    if has_two_roles(op, "index"):
        return p.generic(op)
    types = f"{p.type(op.memref)}, {p.type(op.result)}"
    return f"affine.vector_load {_at(p, op, op.memref, 'index')}{p.dictionary(op)} : {types}"


def write_vector_store(p: Printer, op: affine.VectorStore) -> str | Iterator[Block]:
    """`affine.vector_store %v, %A[%i] : memref<...>, vector<4xf32>`"""
    if has_two_roles(op, "index"):
        return p.generic(op)
    place = _at(p, op, op.memref, "index")
    types = f"{p.type(op.memref)}, {p.type(op.value)}"
    return f"affine.vector_store {p.names(op.value)}, {place}{p.dictionary(op)} : {types}"


def write_delinearize_index(p: Printer, op: affine.DelinearizeIndex) -> str:
    """`affine.delinearize_index %n into (%m, 4) : index, index`"""
    basis = f"({mixed(p, op.radices)}){p.dictionary(op)}"
    return f"affine.delinearize_index {p.names(op.linear_index)} into {basis} : {p.types(op.results)}"


def write_linearize_index(p: Printer, op: affine.LinearizeIndex) -> str:
    """`affine.linearize_index disjoint [%i, %j] by (%m, 4) : index`"""
    digits = f"{'disjoint ' if op.disjoint else ''}[{p.list(op.indices)}] by ({mixed(p, op.radices)})"
    return f"affine.linearize_index {digits}{p.dictionary(op)} : {p.type(op.result)}"


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
    affine.DmaWait: write_affine_dma_wait,
    affine.Prefetch: write_affine_prefetch,
    affine.VectorLoad: write_vector_load,
    affine.VectorStore: write_vector_store,
    affine.DelinearizeIndex: write_delinearize_index,
    affine.LinearizeIndex: write_linearize_index,
    memref.AtomicRMW: write_atomic_rmw,
    memref.DmaStart: write_memref_dma_start,
    memref.DmaWait: write_memref_dma_wait,
    memref.Prefetch: write_memref_prefetch,
    ub.Poison: write_poison,
}
