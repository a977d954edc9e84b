"""Vectors from and to memory as C: loops over lanes, which compilers turn into vector instructions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

from affdsl.codegen.c import narrow_floats, tables, truths
from affdsl.codegen.c.buffers import Buffer
from affdsl.codegen.c.checks import called, check_divisors, checked, literally, sizes_of, stop_if
from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import PRIMARY, UNARY, Code, cast, choose, code, infix, number, plus, times
from affdsl.codegen.c.lanes import (
    Place,
    close_lanes,
    fill,
    fill_flat,
    flat,
    flat_lane,
    keep_vector,
    lane_of,
    lane_type,
    new_vector,
    open_lanes,
)
from affdsl.codegen.c.masks import is_mask
from affdsl.codegen.c.memory import place_in, strides_in
from affdsl.codegen.c.quirks import is_written
from affdsl.codegen.c.sites import Misfit
from affdsl.codegen.c.types import element, stored_type, suffix, value_type
from affdsl.codegen.c.vector_helpers import has_row
from affdsl.codegen.c.vector_types import (
    Mask,
    in_memory,
    is_narrow,
    is_native,
    lane_in,
    lane_kind,
    lanes_of,
    on_vectors,
    vector_of,
    whole,
)
from affdsl.errors import UnsupportedError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.integers import width
from affdsl.ir.load_order import is_kept_ahead
from affdsl.ir.streaming import streamed_from
from affdsl.ir.types import INDEX, FloatType, MemRefType, ScalarType
from affdsl.passes.analysis.lookups import BYTE, BYTES


def load(c: Context, op: vector.Load | vector.MaskedLoad) -> None:
    """Consecutive elements."""
    mask, otherwise = (op.mask, op.pass_thru) if isinstance(op, vector.MaskedLoad) else (None, None)
    _load_vector(c, op, op.result, op.memref, _start_of(c, op.indices), mask, otherwise)
    _keep_ahead(c, op)


def store(c: Context, op: vector.Store | vector.MaskedStore) -> None:
    """Assign to consecutive elements."""
    mask = op.mask if isinstance(op, vector.MaskedStore) else None
    _store_vector(c, op, op.value, op.memref, _start_of(c, op.indices), mask)


def affine_load(c: Context, op: affine.VectorLoad) -> None:
    """Consecutive elements."""
    check_divisors(c, op, op.index)
    _load_vector(c, op, op.result, op.memref, [c.values.expression(e) for e in op.index])
    _keep_ahead(c, op)


def _keep_ahead(c: Context, op: Op) -> None:
    """Nothing that follows comes before a load with that mark."""
    if is_kept_ahead(op) and is_written("loads_behind_stores"):
        c.lines.add(f"{c.unit.helper('affdsl_loads_first')}();")


def affine_store(c: Context, op: affine.VectorStore) -> None:
    """Assign to consecutive elements."""
    check_divisors(c, op, op.index)
    _store_vector(c, op, op.value, op.memref, [c.values.expression(e) for e in op.index])


def _start_of(c: Context, indices: Sequence[Value]) -> list[Code]:
    """Indices as expressions that may be written in loops over lanes."""
    return [c.values.stable(v) if v in c.values.pending else c.values.expression(v) for v in indices]


def _kept_start(c: Context, start: Sequence[Code]) -> list[Code]:
    """Indices under names where what they read may change."""
    return [c.lines.keep("", c.values.temporary, "int64_t", s) if s.variables or s.buffers else s for s in start]


def _memory_of(c: Context, memref: Value, value: Value) -> tuple[Buffer, ScalarType]:
    """The buffer of a memref whose elements are the lanes of a vector, and their type."""
    buffer = c.buffers[memref]
    kind = vector_of(value).element
    if kind != element(buffer.type):
        raise UnsupportedError(f"C output has no access to {buffer.type} as {value.type}")
    return buffer, kind


def _read_at(c: Context, buffer: Buffer, kind: ScalarType, place: Code) -> Code:
    return tables.load_element(kind, _element_at(c, buffer, place), c.unit, unsigned=buffer.unsigned)


def _element_at(c: Context, buffer: Buffer, place: Code) -> Code:
    """An element of an array, which is read."""
    c.lines.read(buffer.name)
    parts = Code(buffer.name), place
    return Code(f"{buffer.name}[{place}]", PRIMARY, place.buffers | {buffer.root}, place.variables, None, parts)


def _is_contiguous(c: Context, buffer: Buffer, value: Value) -> bool:
    """Whether the lanes of a native vector are neighbours in a buffer."""
    type = vector_of(value)
    is_plain = type.rank == 1 and is_native(c, type)
    return is_plain and (buffer.strides is None or Affine.of(buffer.strides[-1]) == Affine.of(1))


def _has_steps(c: Context, buffer: Buffer, value: Value) -> bool:
    """Whether a target loads a vector at once whose lanes lie at even steps in a strided buffer."""
    type = vector_of(value)
    is_plain = type.rank == 1 and is_native(c, type) and not is_mask(value) and not is_narrow(value)
    return is_plain and buffer.strides is not None and has_row("strided", suffix(lane_kind(c, value)), type.shape[0])


def _line(c: Context, op: Op, buffer: Buffer, kind: ScalarType, lanes: int) -> Code | None:
    """What the address of a vector that goes past the caches has no bits of, where the array is so long; else None.

    Right in a loop that threads share, each would have to be finished by itself.
    """
    least = streamed_from(op)
    if least is None or None in buffer.shape or not c.is_in_loop or not has_row("streamed_store", suffix(kind), lanes):
        return None
    bytes = (width(kind) + 7) // 8
    elements = reduce(times, sizes_of(c, buffer), number(1))
    whole = number(lanes * bytes - 1)
    if least == 0:
        return whole
    if elements.number is not None:
        return whole if elements.number * bytes >= least else None
    return choose(infix(">=", elements, number(-(-least // bytes))), whole, Code("UINTPTR_MAX"))


def _masked_load(c: Context, buffer: Buffer, result: Value, at: Code, mask: Value, otherwise: Value) -> None:
    """result = consecutive elements where mask is set, which alone are read."""
    kind = lane_kind(c, result)
    pointer = _pointer(buffer, at)
    if is_narrow(result):
        keep_vector(c, result, narrow_floats.masked_load(c, result, pointer, mask, otherwise))
        return
    lanes = lanes_of(result)
    if is_mask(result):
        keep_vector(c, result, truths.masked_load(c, result, pointer, mask, otherwise))
        return
    keep_vector(c, result, on_vectors(c, "masked_load", kind, lanes, pointer, Mask(mask), otherwise))


WORD = 64
"""A number says which lanes of a vector are stored, where that is known, of at most so many."""


def _masked_store(c: Context, buffer: Buffer, value: Value, at: Code, mask: Value) -> None:
    """Consecutive elements = value where mask is set; the others are not touched."""
    kind = lane_kind(c, value)
    pointer = _pointer(buffer, at, const=False)
    if is_narrow(value):
        c.lines.add(f"{narrow_floats.masked_store(c, value, pointer, mask)};")
        return
    if is_mask(value):
        c.lines.add(f"{truths.masked_store(c, value, pointer, mask)};")
        return
    lanes, known = lanes_of(value), c.definitions.get(mask)
    if isinstance(known, arith.Constant) and isinstance(known.value, tuple) and lanes <= WORD:
        which = number(sum(1 << k for k, is_set in enumerate(known.value) if is_set))
        c.lines.add(f"{on_vectors(c, 'stored_lanes', kind, lanes, pointer, which, value)};")
        return
    c.lines.add(f"{on_vectors(c, 'masked_store', kind, lanes, pointer, Mask(mask), value)};")


def _pointer(buffer: Buffer, at: Code, *, const: bool = True) -> Code:
    """The address of an element; C lets a pointer to signed numbers read unsigned ones."""
    shown = code(f"&{at.at(UNARY)}", UNARY, at)
    kind = element(buffer.type)
    if isinstance(kind, FloatType) or stored_type(kind, buffer.unsigned) == value_type(kind):
        return shown
    return cast(f"{'const ' if const else ''}{value_type(kind)} *", shown)


def pointer_to(c: Context, buffer: Buffer, place: Sequence[Code]) -> Code:
    """The address of an element at a place, as a pointer to numbers as vectors have them."""
    return _pointer(buffer, _element_at(c, buffer, place_in(c, buffer, place)))


def _write_at(c: Context, buffer: Buffer, kind: ScalarType, place: Code, value: Code, condition: Code | None) -> None:
    if condition is not None:
        c.lines.open(f"if ({condition})")
    c.lines.add(f"{buffer.name}[{place}] = {tables.store(kind, value, c.unit, unsigned=buffer.unsigned)};")
    if condition is not None:
        c.lines.close()


def _load_vector(
    c: Context,
    op: Op,
    result: Value,
    memref: Value,
    start: Sequence[Code],
    mask: Value | None = None,
    otherwise: Value | None = None,
) -> None:
    """result = the elements of memref from start on, where mask is set."""
    buffer, kind = _memory_of(c, memref, result)
    shape = vector_of(result).shape
    start = _along(c, op, start, memref, result, mask)
    if mask is None and _is_contiguous(c, buffer, result):
        at = _element_at(c, buffer, place_in(c, buffer, start))
        if is_narrow(result):
            keep_vector(c, result, narrow_floats.loaded(c, result, _pointer(buffer, at)))
        elif is_mask(result):
            keep_vector(c, result, truths.loaded(c, result, _pointer(buffer, at)))
        elif (c.values.uses[result] > 1 or result in c.read_again) and is_written("vectors_read_again"):
            keep_vector(c, result, on_vectors(c, "loaded", lane_kind(c, result), prod(shape), _pointer(buffer, at)))
        else:
            keep_vector(c, result, in_memory(c, vector_of(result), at, const=True))
        return
    if mask is not None and otherwise is not None and not c.is_checked and _is_contiguous(c, buffer, result):
        at = _element_at(c, buffer, place_in(c, buffer, start))
        _masked_load(c, buffer, result, at, mask, otherwise)
        return

    if mask is None and not c.is_checked and _has_steps(c, buffer, result):
        pointer, step = pointer_to(c, buffer, start), c.values.expression(Affine.of(strides_in(c, buffer)[-1]))
        keep_vector(c, result, on_vectors(c, "strided", lane_kind(c, result), prod(shape), pointer, step))
        return

    def lane(place: Place) -> Code:
        if mask is not None:
            _check_lane(c, op, memref, _shifted(start, place), flat(shape, place), lane_of(c, mask, place))
        shown = _read_at(c, buffer, kind, place_in(c, buffer, _shifted(start, place)))
        if mask is None or otherwise is None:
            return shown
        return tables.select(kind, lane_of(c, mask, place), shown, lane_of(c, otherwise, place))

    fill(c, result, lane)


def _store_vector(
    c: Context, op: Op, value: Value, memref: Value, start: Sequence[Code], mask: Value | None = None
) -> None:
    """The elements of memref from start on = value, where mask is set."""
    buffer, kind = _memory_of(c, memref, value)
    start = _along(c, op, start, memref, value, mask)
    c.writes(buffer)
    if mask is None and _is_contiguous(c, buffer, value):
        at = _element_at(c, buffer, place_in(c, buffer, start))
        if is_narrow(value):
            c.lines.add(f"{narrow_floats.stored(c, value, _pointer(buffer, at, const=False))};")
            return
        if is_mask(value):
            c.lines.add(f"{truths.stored(c, value, _pointer(buffer, at, const=False))};")
            return
        line = _line(c, op, buffer, kind, lanes_of(value))
        if line is not None:
            pointer = _pointer(buffer, at, const=False)
            lanes = lanes_of(value)
            c.streamed += 1
            c.lines.add(f"{on_vectors(c, 'streamed_store', kind, lanes, pointer, line, value)};")
            return
        c.lines.add(f"{in_memory(c, vector_of(value), at, const=False)} = {whole(c, value)};")
        return
    if mask is not None and not c.is_checked and _is_contiguous(c, buffer, value):
        _masked_store(c, buffer, value, _element_at(c, buffer, place_in(c, buffer, start)), mask)
        return
    shape = vector_of(value).shape
    place = open_lanes(c, shape)
    condition = None if mask is None else lane_of(c, mask, place)
    if condition is not None:
        _check_lane(c, op, memref, _shifted(start, place), flat(shape, place), condition)
    target = place_in(c, buffer, _shifted(start, place))
    _write_at(c, buffer, kind, target, lane_of(c, value, place), condition)
    close_lanes(c, place)


def transfer(c: Context, op: vector.TransferRead | vector.TransferWrite) -> None:
    """Elements in the order that a map says, with padding for those outside."""
    value = op.result if isinstance(op, vector.TransferRead) else op.value
    buffer, kind = _memory_of(c, op.memref, value)
    if not c.is_checked and _is_of_neighbours(op, vector_of(value).rank):
        if isinstance(op, vector.TransferRead):
            c.lines.drop(c.values.of(op.padding))
            _load_vector(c, op, value, op.memref, _start_of(c, op.indices))
        else:
            _store_vector(c, op, value, op.memref, _start_of(c, op.indices))
        return
    start = _kept_start(c, _start_of(c, op.indices))
    _check_fixed(c, op, start)
    if isinstance(op, vector.TransferRead):
        padding = c.values.again(op.padding)
        name = new_vector(c, value)
        place = open_lanes(c, vector_of(value).shape)
        index, condition = _reached(c, op, buffer, start, place)
        _check_promised(c, op, value, index, place, condition)
        shown = _read_at(c, buffer, kind, place_in(c, buffer, index))
        if condition is None:
            c.lines.drop(padding)
        else:
            shown = tables.select(kind, condition, shown, padding)
        c.lines.add(f"{name}[{flat(vector_of(value).shape, place)}] = {lane_in(c, value, shown)};")
    else:
        c.writes(buffer)
        place = open_lanes(c, vector_of(value).shape)
        index, condition = _reached(c, op, buffer, start, place)
        _check_promised(c, op, value, index, place, condition)
        _write_at(c, buffer, kind, place_in(c, buffer, index), lane_of(c, value, place), condition)
    close_lanes(c, place)


def _is_of_neighbours(op: vector.TransferRead | vector.TransferWrite, rank: int) -> bool:
    """Whether a transfer is of consecutive elements, all of them inside."""
    last = range(len(op.indices) - rank, len(op.indices))
    return not op.mask and all(op.in_bounds) and vector.map_dims(op.map) == tuple(last)


def _reached(
    c: Context, op: vector.TransferRead | vector.TransferWrite, buffer: Buffer, start: Sequence[Code], place: Place
) -> tuple[list[Code], Code | None]:
    """The index of a lane's element, and the condition for which there is one; None if always."""
    index, tests = list(start), []
    for k, d in enumerate(vector.map_dims(op.map) or ()):
        if d is None:
            continue
        index[d] = plus(start[d], place[k])
        if not op.in_bounds[k]:
            if not c.ranges.is_natural(c.values.resolve(Affine.of(op.indices[d]))):
                tests.append(infix(">=", index[d], number(0)))
            tests.append(infix("<", index[d], c.values.expression(c.buffers.size(buffer, d))))
    if op.mask:
        tests.insert(0, lane_of(c, op.mask[0], [place[k] for k in vector.mask_dims(op.map)]))
    condition = tests[0] if tests else None
    for test in tests[1:]:
        assert condition is not None
        condition = infix("&&", condition, test)
    return index, condition


def _check_lane(c: Context, op: Op, memref: Value, index: Sequence[Code], lane: Code, when: Code) -> None:
    """A lane that a mask may leave out is inside."""
    if c.is_checked:
        checked(c, op, memref, index, _written(op), lane=lane, when=when)


def _check_fixed(c: Context, op: vector.TransferRead | vector.TransferWrite, start: Sequence[Code]) -> None:
    """The index is inside along the dimensions that the vector does not have."""
    stay = [d for d in range(len(start)) if d not in (vector.map_dims(op.map) or ())]
    if c.is_checked:
        checked(c, op, op.memref, start, _written(op), among=stay)


def _check_promised(
    c: Context,
    op: vector.TransferRead | vector.TransferWrite,
    value: Value,
    index: Sequence[Code],
    place: Place,
    condition: Code | None,
) -> None:
    """A lane is inside where the operation promises it."""
    moves = [(k, d) for k, d in enumerate(vector.map_dims(op.map) or ()) if d is not None]
    promised = [d for k, d in moves if op.in_bounds[k]]
    if c.is_checked and promised:
        lane = flat(vector_of(value).shape, place)
        checked(c, op, op.memref, index, _written(op), lane=lane, when=condition, among=promised)


def _check_behind(
    c: Context, op: Op, memref: Value, start: Sequence[Code], offset: Code, lane: Code, when: Code
) -> None:
    """The element `offset` behind start is one: along the last dimension, or beyond it in contiguous memory."""
    if not c.is_checked or not start:
        return
    buffer = c.buffers[memref]
    start, offset = [c.values.steady(part) for part in start], c.values.steady(offset)
    sizes, rank = sizes_of(c, buffer), len(start)
    at, of = (f"(const int64_t[{rank}]){{{', '.join(c.text for c in codes)}}}" for codes in (start, sizes))
    helper = c.unit.helper("affdsl_is_behind")
    test = f"{helper}({rank}, {at}, {of}, {offset}, {int(buffer.strides is None)}) == 0"
    places = ", ".join(f"{{{2 + k}}}" for k in range(rank))
    shape = ", ".join(f"{{{2 + rank + k}}}" for k in range(rank))
    words = literally(c.words.access(op, memref, _written(op)))
    text = f"{words}: lane {{0}}, {{1}} elements behind index ({places}), is out of bounds"
    site = Misfit(
        c.words.where(op), f"{text} of {called(c, memref)}, which has sizes ({shape})",
        c.words.array(memref), 2 + 2 * rank,
    )  # fmt: skip
    stop_if(c, [test], site, [lane, offset, *start, *sizes], when)


def _is_table(c: Context, op: vector.Gather) -> bool:
    """Whether bytes are loaded from a table of 256, as far from its middle as a byte says: each byte has a place."""
    type, offsets = op.memref.type, vector_of(op.offsets)
    if not isinstance(type, MemRefType) or type.rank != 1 or type.layout is not None or type.element != BYTE:
        return False
    start = [made.value if isinstance(made := c.definitions.get(v), arith.Constant) else None for v in op.indices]
    return start == [BYTES // 2] and (type.shape[0] or 0) >= BYTES and offsets.element == BYTE and offsets.rank == 1


def _looked_up(c: Context, op: vector.Gather, buffer: Buffer) -> None:
    """Bytes of a table, where a mask is set; the others of it are read, too."""
    kind, lanes = lane_kind(c, op.result), lanes_of(op.result)
    middle = pointer_to(c, buffer, _start_of(c, op.indices))
    found = on_vectors(c, "looked_up", kind, lanes, middle, op.offsets)
    mask = c.definitions.get(op.mask)
    if not (isinstance(mask, arith.Constant) and isinstance(mask.value, tuple) and all(mask.value)):
        everywhere = c.lines.keep("", c.values.temporary, f"{suffix(kind)}x{lanes}", found)
        found = on_vectors(
            c, "choose", kind, lanes, Mask(op.mask), code(f"&{everywhere}", UNARY, everywhere), op.pass_thru
        )
    keep_vector(c, op.result, found)


def gather(c: Context, op: vector.Gather | vector.Scatter) -> None:
    """Elements at offsets, where a mask is set."""
    value = op.result if isinstance(op, vector.Gather) else op.value
    buffer, kind = _memory_of(c, op.memref, value)
    if isinstance(op, vector.Gather) and c.unit.has_vector_types and not c.is_checked and _is_table(c, op):
        _looked_up(c, op, buffer)
        return
    start = _kept_start(c, _start_of(c, op.indices))
    base = place_in(c, buffer, start)
    offset_type = lane_type(op.offsets)

    def target(lane: Code) -> Code:
        offset = tables.convert("index_cast", offset_type, INDEX, flat_lane(c, op.offsets, lane), c.unit)
        _check_behind(c, op, op.memref, start, offset, lane, flat_lane(c, op.mask, lane))
        return plus(base, times(offset, _last_stride(c, buffer)))

    if isinstance(op, vector.Gather):

        def gathered(lane: Code) -> Code:
            found, otherwise = _read_at(c, buffer, kind, target(lane)), flat_lane(c, op.pass_thru, lane)
            return tables.select(kind, flat_lane(c, op.mask, lane), found, otherwise)

        fill_flat(c, op.result, gathered)
        return
    c.writes(buffer)
    (lane,) = open_lanes(c, (lanes_of(value),))
    _write_at(c, buffer, kind, target(lane), flat_lane(c, value, lane), flat_lane(c, op.mask, lane))
    close_lanes(c, (lane,))


def expand(c: Context, op: vector.ExpandLoad | vector.CompressStore) -> None:
    """Consecutive elements for the lanes whose mask is set."""
    value = op.result if isinstance(op, vector.ExpandLoad) else op.value
    buffer, kind = _memory_of(c, op.memref, value)
    start = _kept_start(c, _start_of(c, op.indices))
    if isinstance(op, vector.CompressStore) and _is_compressed(c, buffer, value):
        c.writes(buffer)
        pointer = _pointer(buffer, _element_at(c, buffer, place_in(c, buffer, start)), const=False)
        lanes = lanes_of(value)
        c.lines.add(f"{on_vectors(c, 'compressed', lane_kind(c, value), lanes, pointer, Mask(op.mask), value)};")
        return
    base = place_in(c, buffer, start)
    if isinstance(op, vector.ExpandLoad):
        name = new_vector(c, value)
    else:
        c.writes(buffer)
    following = c.lines.keep("", "next", "int64_t", number(0), const=False)
    place = plus(base, times(following, _last_stride(c, buffer)))
    (lane,) = open_lanes(c, (lanes_of(value),))
    c.lines.open(f"if ({flat_lane(c, op.mask, lane)})")
    _check_behind(c, op, op.memref, start, following, lane, Code("1"))
    if isinstance(op, vector.ExpandLoad):
        c.lines.add(f"{name}[{lane}] = {lane_in(c, value, _read_at(c, buffer, kind, place))};")
        c.lines.add(f"++{following};")
        c.lines.reopen("else")
        c.lines.add(f"{name}[{lane}] = {lane_in(c, value, flat_lane(c, op.pass_thru, lane))};")
    else:
        _write_at(c, buffer, kind, place, flat_lane(c, value, lane), None)
        c.lines.add(f"++{following};")
    c.lines.close()
    close_lanes(c, (lane,))


def _is_compressed(c: Context, buffer: Buffer, value: Value) -> bool:
    """Whether some instruction set stores the lanes of a mask one behind the other."""
    lanes = lanes_of(value)
    is_plain = not c.is_checked and not is_narrow(value) and not is_mask(value)
    return is_plain and _is_contiguous(c, buffer, value) and has_row("compressed", suffix(lane_kind(c, value)), lanes)


def _along(c: Context, op: Op, start: Sequence[Code], memref: Value, value: Value, mask: Value | None) -> list[Code]:
    """Indices of a vector that reaches along the last dimensions of a memref, checked where no mask says more."""
    if vector_of(value).rank > len(start):
        raise UnsupportedError(f"{value.type} has more dimensions than {memref.type}: C output cannot place them")
    if c.is_checked and mask is None:
        return checked(c, op, memref, start, _written(op), reach=vector_of(value).shape)
    return _kept_start(c, start)


def _last_stride(c: Context, buffer: Buffer) -> Code:
    return c.values.expression(Affine.of(buffer.strides[-1] if buffer.strides else 1))


def _shifted(start: Sequence[Code], place: Place) -> list[Code]:
    """start with the numbers of place added to its last dimensions."""
    first = len(start) - len(place)
    return [*start[:first], *(plus(part, lane) for part, lane in zip(start[first:], place, strict=True))]


def _written(op: Op) -> tuple[Affine, ...]:
    """The index of an access, of its first lane."""
    if isinstance(op, affine.VectorLoad | affine.VectorStore):
        return op.index
    indices: tuple[Value, ...] = getattr(op, "indices", ())
    return tuple(map(Affine.of, indices))
