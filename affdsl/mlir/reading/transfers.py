"""DMA, prefetches, atomic and vector accesses, and index arithmetic by a basis, read from their custom form."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.applied import Applied
from affdsl.ir.attributes import Attribute, OpaqueAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref, ub
from affdsl.ir.expr import Value
from affdsl.ir.mixed import unmixed
from affdsl.ir.types import INDEX, VectorType
from affdsl.mlir.parser import Head, Parser, Reader, Use
from affdsl.mlir.reading.affine import exprs
from affdsl.mlir.reading.opaque import opaque
from affdsl.mlir.reading.views import mixed


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
        source, exprs(at), target, exprs(to), tag, exprs(busy), elements, stride,
        location=head.location, attributes=attributes,
        written={"source_index": at, "target_index": to, "tag_index": busy},
    )  # fmt: skip


def _stride(p: Parser) -> tuple[Value, ...]:
    """`, %distance, %count`, or nothing"""
    s = p.scanner
    place, found = s.start, []
    while s.accept(","):
        found.append(p.operand(INDEX))
    if len(found) not in (0, 2):
        s.fail(f"a stride is a distance and a count, got {len(found)} values", place)
    return tuple(found)


def read_affine_dma_wait(p: Parser, head: Head) -> Op:
    """`affine.dma_wait %tag[%k], %n : memref<...>`"""
    p.no_results(head)
    use, index = p.use(), p.subscripts()
    p.scanner.expect(",")
    elements = p.operand(INDEX)
    attributes = p.dictionary()
    tag = p.resolve(use, p.colon_memref(head))
    return affine.DmaWait(
        tag, exprs(index), elements, location=head.location, attributes=attributes, written={"tag_index": index}
    )


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


def read_memref_dma_wait(p: Parser, head: Head) -> Op:
    """`memref.dma_wait %tag[%k], %n : memref<...>`"""
    p.no_results(head)
    use, indices = p.use(), _indices(p)
    p.scanner.expect(",")
    elements = p.operand(INDEX)
    attributes = p.dictionary()
    tag = p.resolve(use, p.colon_memref(head))
    return memref.DmaWait(tag, indices, elements, location=head.location, attributes=attributes)


def read_prefetch(p: Parser, head: Head) -> Op:
    """`affine.prefetch %A[%i], read, locality<3>, data : memref<...>`"""
    s = p.scanner
    p.no_results(head)
    use = p.use()
    index = p.subscripts() if head.name == "affine.prefetch" else None
    indices = () if index is not None else _indices(p)
    s.expect(",")
    is_write = _either(p, "read", "write")
    for token in (",", "locality", "<"):
        s.expect(token)
    locality = s.natural()
    s.expect(">")
    s.expect(",")
    is_data = not _either(p, "data", "instr")
    attributes = p.dictionary()
    buffer = p.resolve(use, p.colon_memref(head))
    if index is not None:
        return affine.Prefetch(
            buffer, exprs(index), is_write, locality, is_data,
            location=head.location, attributes=attributes, written={"index": index},
        )  # fmt: skip
    return memref.Prefetch(buffer, indices, is_write, locality, is_data, location=head.location, attributes=attributes)


def _either(p: Parser, first: str, second: str) -> bool:
    """Whether the second of two words stands here."""
    s = p.scanner
    if s.accept(first):
        return False
    if not s.accept(second):
        s.fail(f"expected {first} or {second}, not {s.token}")
    return True


def read_vector_load(p: Parser, head: Head) -> Op:
    """`affine.vector_load %A[%i] : memref<...>, vector<4xf32>`"""
    use, index = p.use(), p.subscripts()
    attributes = p.dictionary()
    type = p.colon_memref(head)
    p.scanner.expect(",")
    buffer, result = p.resolve(use, type), _vector(p, head)
    return affine.VectorLoad(
        p.result(head, result), buffer, exprs(index),
        location=head.location, attributes=attributes, written={"index": index},
    )  # fmt: skip


def read_vector_store(p: Parser, head: Head) -> Op:
    """`affine.vector_store %v, %A[%i] : memref<...>, vector<4xf32>`"""
    p.no_results(head)
    value = p.use()
    p.scanner.expect(",")
    use, index = p.use(), p.subscripts()
    attributes = p.dictionary()
    buffer = p.resolve(use, p.colon_memref(head))
    p.scanner.expect(",")
    stored = p.resolve(value, _vector(p, head))
    return affine.VectorStore(
        stored, buffer, exprs(index), location=head.location, attributes=attributes, written={"index": index}
    )


def _vector(p: Parser, head: Head) -> VectorType:
    place, type = p.scanner.start, p.type()
    if not isinstance(type, VectorType):
        p.scanner.fail(f"{head.name} needs a vector, not {type}", place)
    return type


def read_delinearize_index(p: Parser, head: Head) -> Op:
    """`affine.delinearize_index %n into (%m, 4) : index, index`"""
    number = p.operand(INDEX)
    p.scanner.expect("into")
    static, basis = unmixed(mixed(p, "(", ")"))
    attributes = p.dictionary()
    p.scanner.expect(":")
    results = p.results(head, p.type_list())
    return affine.DelinearizeIndex(results, number, basis, static, location=head.location, attributes=attributes)


def read_linearize_index(p: Parser, head: Head) -> Op:
    """`affine.linearize_index disjoint [%i, %j] by (%m, 4) : index`"""
    disjoint = p.scanner.accept("disjoint")
    indices = _indices(p)
    p.scanner.expect("by")
    static, basis = unmixed(mixed(p, "(", ")"))
    attributes = p.dictionary()
    result = p.result(head, p.colon_type())
    return affine.LinearizeIndex(
        result, indices, basis, static, disjoint, location=head.location, attributes=attributes
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


READERS: Mapping[str, Reader] = {
    "affine.dma_start": read_affine_dma_start,
    "affine.dma_wait": read_affine_dma_wait,
    "affine.prefetch": read_prefetch,
    "affine.vector_load": read_vector_load,
    "affine.vector_store": read_vector_store,
    "affine.delinearize_index": read_delinearize_index,
    "affine.linearize_index": read_linearize_index,
    "memref.atomic_rmw": read_atomic_rmw,
    "memref.dma_start": read_memref_dma_start,
    "memref.dma_wait": read_memref_dma_wait,
    "memref.prefetch": read_prefetch,
    "ub.poison": read_poison,
}
