"""Copies, DMA, prefetches and atomic updates as C."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.codegen.c import tables
from affdsl.codegen.c.buffers import Buffer
from affdsl.codegen.c.checks import called, check_divisors, checked, index_of, misfit, same_size
from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import ADD, MULTIPLY, Code, cast, infix, number, plus, times
from affdsl.codegen.c.memory import element_at, place_in
from affdsl.codegen.c.types import element, value_type
from affdsl.codegen.c.view_checks import count_of
from affdsl.errors import UnsupportedError
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import subscripts
from affdsl.ir.types import ComplexType, MemRefType


def copy(c: Context, op: memref.Copy) -> None:
    """Copy all elements."""
    source, target = c.buffers[op.source], c.buffers[op.target]
    if c.is_checked:
        names = called(c, op.source), called(c, op.target)
        for k in range(target.type.rank):
            words = f"the copy of {names[0]} to {names[1]}: dimension {k} of {names[0]} has size {{0}}, and of "
            sizes = c.buffers.size(source, k), c.buffers.size(target, k)
            same_size(c, op, op.target, *sizes, f"{words}{names[1]} {{1}}")
    c.writes(target)
    c.lines.read(source.name)
    if source.strides is None and target.strides is None:
        c.lines.read(target.name)
        c.unit.header("string.h")
        bytes = Code(f"sizeof(*{target.name})")
        shape = [c.values.expression(c.buffers.size(target if target.shape[k] is not None else source, k))
                 for k in range(target.type.rank)]  # fmt: skip
        for size in shape:
            bytes = infix("*", bytes, size if size.number is not None else cast("size_t", size))
        c.lines.add(f"memcpy({target.name}, {source.name}, {_product_first(bytes)});")
        return
    ivs = []
    for k in range(target.type.rank):
        bound = c.values.expression(c.buffers.size(target if target.shape[k] is not None else source, k))
        name = c.lines.scope.declare("", c.values.counter)
        c.lines.open(f"for (int64_t {name} = 0; {name} < {bound.at(ADD)}; ++{name})")
        ivs.append(Code(name))
    to = f"{target.name}[{place_in(c, target, ivs)}]"
    kind = element(source.type)
    value = tables.load_element(
        kind, Code(f"{source.name}[{place_in(c, source, ivs)}]"), c.unit, unsigned=source.unsigned
    )
    c.lines.add(f"{to} = {tables.store(kind, value, c.unit, unsigned=target.unsigned)};")
    for _ in ivs:
        c.lines.close()


def dma_start(c: Context, op: affine.DmaStart | memref.DmaStart) -> None:
    """A copy of some elements, which is made where it begins."""
    source, target = c.buffers[op.source], c.buffers[op.target]
    if isinstance(op, affine.DmaStart):
        written = op.source_index, op.target_index
    else:
        written = tuple(map(Affine.of, op.source_indices)), tuple(map(Affine.of, op.target_indices))
    _check_tag(c, op)
    check_divisors(c, op, [e for index in written for e in index])
    ends = [c.values.expression(e) for e in written[0]], [c.values.expression(e) for e in written[1]]
    c.writes(target)
    c.lines.read(source.name)
    elements = c.values.expression(op.elements)
    if c.is_checked:
        elements = c.values.steady(elements)
        ends = _check_transfer(c, op, written, ends, elements)
    first, into = place_in(c, source, ends[0]), place_in(c, target, ends[1])
    if not op.stride:
        c.lines.read(target.name)
        c.unit.header("string.h")
        bytes = infix("*", cast("size_t", elements), Code(f"sizeof(*{target.name})"))
        c.lines.add(f"memcpy({_from(target.name, into)}, {_from(source.name, first)}, {bytes});")
        return
    distance, count = (
        c.values.expression(known) if (known := c.values.resolve(v)).is_constant else c.values.stable(v)
        for v in op.stride
    )
    name = c.lines.scope.declare("", c.values.counter)
    step = Code(name)
    jump = plus(times(infix("/", step, count), distance), infix("%", step, count))
    low_source = _space(source) < _space(target)
    if _space(source) == _space(target) or not isinstance(op.source.type, MemRefType):
        raise UnsupportedError(
            f"{op.name} from {source.name!r} to {target.name!r} with a stride: both are in one memory space, so "
            "that nothing says whose stride it is"
        )
    first, into = plus(first, jump if low_source else step), plus(into, step if low_source else jump)
    c.lines.open(f"for (int64_t {name} = 0; {name} < {elements}; ++{name})")
    kind = element(source.type)
    value = tables.load_element(kind, Code(f"{source.name}[{first}]"), c.unit, unsigned=source.unsigned)
    c.lines.add(f"{target.name}[{into}] = {tables.store(kind, value, c.unit, unsigned=target.unsigned)};")
    c.lines.close()


def dma_wait(c: Context, op: affine.DmaWait | memref.DmaWait) -> None:
    """The copy was made where it began."""
    _check_tag(c, op)


def prefetch(c: Context, op: affine.Prefetch | memref.Prefetch) -> None:
    """Ask for what is accessed soon."""
    if not op.is_data:
        return
    index = subscripts(op)
    check_divisors(c, op, index)
    buffer = c.buffers[op.memref]
    c.lines.read(buffer.name)
    place = place_in(c, buffer, [c.values.expression(e) for e in index])
    macro = c.unit.helper("affdsl_prefetch")
    c.lines.add(f"{macro}({buffer.name}, {place}, {int(op.is_write)}, {op.locality});")


def atomic_rmw(c: Context, op: memref.AtomicRMW) -> None:
    """Combine an element with a value, while no other thread does."""
    buffer = c.buffers[op.memref]
    kind = element(buffer.type)
    value = c.values.stable(op.value)
    target = element_at(c, op, op.memref, subscripts(op))
    c.lines.read(buffer.name)
    c.writes(buffer)
    name = c.lines.without_value(op.result.hint, "old", value_type(op.result.type))
    new = value
    if op.combine != "assign":
        assert not isinstance(kind, ComplexType), "the verifier refuses it"
        how = tables.REDUCTION_KIND.get(op.combine, op.combine)
        new = tables.binary(how, kind, Code(name), value, c.unit)
    c.lines.directive("#pragma omp critical(affdsl_atomic)")
    with c.lines.block():
        c.lines.add(f"{name} = {tables.load_element(kind, target, c.unit, unsigned=buffer.unsigned)};")
        c.lines.add(f"{target} = {tables.store(kind, new, c.unit, unsigned=buffer.unsigned)};")
    c.values.codes[op.result] = Code(name)


def _check_tag(c: Context, op: affine.DmaStart | affine.DmaWait | memref.DmaStart | memref.DmaWait) -> None:
    if c.is_checked:
        if isinstance(op, affine.DmaStart | affine.DmaWait):
            index = op.tag_index
        else:
            index = tuple(map(Affine.of, op.tag_indices))
        index_of(c, op, op.tag, index)


def _check_transfer(
    c: Context,
    op: affine.DmaStart | memref.DmaStart,
    written: tuple[Sequence[Affine], Sequence[Affine]],
    ends: tuple[list[Code], list[Code]],
    elements: Code,
) -> tuple[list[Code], list[Code]]:
    """All elements that are copied are elements of both arrays; gives the indices of the first ones."""
    words = f"the copy of {called(c, op.source)} to {called(c, op.target)}"
    misfit(c, op, op.source, f"{words} has {{0}} elements", [f"{elements} < 0"], [elements])
    chunk: list[Code] = []
    if op.stride:
        chunk = [c.values.steady(c.values.expression(v)) for v in op.stride]
        tests = [f"{chunk[1]} <= 0", f"{elements} % {chunk[1].at(MULTIPLY + 1)} != 0"]
        misfit(c, op, op.source, f"{words}: {{0}} elements are no chunks of {{1}}", tests, [elements, chunk[1]])
    some = infix(">", elements, number(0))
    strided = op.stride and _strided_end(c, op)
    found: list[list[Code]] = []
    for array, index, codes in zip((op.source, op.target), written, ends, strict=True):
        buffer = c.buffers[array]
        if buffer.strides is not None:
            raise UnsupportedError(f"whether a copy of {buffer.name!r}, a view, leaves it cannot be checked in C yet")
        codes = checked(c, op, array, codes, index, when=some)
        found.append(codes)
        count = count_of(c, [c.buffers.size(buffer, k) for k in range(buffer.type.rank)])
        place = c.values.steady(place_in(c, buffer, codes))
        listed = f"{count}, {place}, {elements}"
        if strided is array:
            test = f"{c.unit.helper('affdsl_is_chunked')}({listed}, {chunk[0]}, {chunk[1]}) == 0"
        else:
            test = f"{c.unit.helper('affdsl_is_span')}({listed}, 1) == 0"
        name = called(c, array)
        fits = f"{words}: {{0}} elements from element {{1}} on are out of bounds of {name}, which has {{2}}"
        misfit(c, op, array, fits, [test], [elements, place, count])
    return found[0], found[1]


def _strided_end(c: Context, op: affine.DmaStart | memref.DmaStart) -> Value:
    """The array whose elements are copied in chunks: the one in the memory space of the lower number."""
    low_source = _space(c.buffers[op.source]) < _space(c.buffers[op.target])
    return op.source if low_source else op.target


def _space(buffer: Buffer) -> int:
    return buffer.type.space if isinstance(buffer.type.space, int) else 0


def _from(name: str, place: Code) -> str:
    return name if place.number == 0 else f"&{name}[{place}]"


def _product_first(bytes: Code) -> str:
    """A product that starts with sizeof, with it at the end."""
    first, *rest = bytes.text.split(" * ", 1)
    return f"{rest[0]} * {first}" if rest else first
