"""Lanes of vectors rearranged, as C."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from affdsl.codegen.c import tables
from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import PRIMARY, Code, code, infix, number, plus, times
from affdsl.codegen.c.lanes import (
    Place,
    assign_lanes,
    close_lanes,
    fill,
    fill_flat,
    fill_listed,
    flat,
    flat_lane,
    keep_vector,
    lane_of,
    lane_type,
    new_vector,
    open_lanes,
    splat,
)
from affdsl.codegen.c.look_ups import looked_up
from affdsl.codegen.c.masks import is_mask
from affdsl.codegen.c.memory import assign
from affdsl.codegen.c.types import value_type
from affdsl.codegen.c.vector_types import (
    address_of,
    is_native,
    lane_in,
    lane_kind,
    lanes_of,
    on_vectors,
    type_name,
    vector_of,
    whole,
)
from affdsl.errors import UnsupportedError
from affdsl.ir.dialects import vector
from affdsl.ir.expr import Value
from affdsl.ir.integers import width
from affdsl.ir.types import FloatType, IntegerType, ScalarType, VectorType

I64 = IntegerType(64)


def extract_slice(c: Context, op: vector.ExtractStridedSlice) -> None:
    """Lanes next to one another along some dimensions."""
    if _is_half(c, op):
        half, kind = "high" if op.offsets[0] else "low", lane_kind(c, op.result)
        given = address_of(c, type_name(c, op.source), whole(c, op.source))
        keep_vector(c, op.result, on_vectors(c, half, kind, op.sizes[0], given))
        return
    offsets = (*op.offsets, *(0 for _ in vector_of(op.source).shape[len(op.offsets) :]))
    fill(c, op.result, lambda place: lane_of(c, op.source, _offset(place, offsets)))


def _is_half(c: Context, op: vector.ExtractStridedSlice) -> bool:
    """Whether it is the first or the last lanes of a vector of twice as many, both in a register."""
    source, result = vector_of(op.source), vector_of(op.result)
    if source.rank != 1 or op.strides != (1,) or op.offsets[0] not in (0, result.shape[0]):
        return False
    is_twice = source.shape[0] == 2 * result.shape[0] and is_native(c, source) and is_native(c, result)
    return is_twice and not is_mask(op.source) and op.source not in c.values.splats


def transpose(c: Context, op: vector.Transpose) -> None:
    """Dimensions in another order."""
    back = [op.permutation.index(k) for k in range(len(op.permutation))]
    fill(c, op.result, lambda place: lane_of(c, op.source, [place[k] for k in back]))


def shape_cast(c: Context, op: vector.ShapeCast) -> None:
    """The same lanes in another shape."""
    if op.source in c.values.splats:
        splat(c, op.result, c.values.splats[op.source])
    else:
        c.values.codes[op.result] = c.values.codes[op.source]


def from_elements(c: Context, op: vector.FromElements) -> None:
    """A vector of scalars."""
    found = looked_up(c, op)
    if found is not None:
        keep_vector(c, op.result, found)
        return
    fill_listed(c, op.result, [c.values.of(v) for v in op.elements])


def to_elements(c: Context, op: vector.ToElements) -> None:
    """The scalars of a vector."""
    for k, result in enumerate(op.results):
        if c.values.uses[result]:
            c.values.define(result, flat_lane(c, op.source, number(k)))


def broadcast(c: Context, op: vector.Broadcast) -> None:
    """The same lanes again along further dimensions."""
    if not isinstance(op.source.type, VectorType):
        shown = c.values.again(op.source)
        c.lines.unread(shown.text)  # each lane that is written reads it
        splat(c, op.result, shown)
        return
    if op.source in c.values.splats:
        splat(c, op.result, c.values.splats[op.source])
        return
    shape = vector_of(op.source).shape

    def lane(place: Place) -> Code:
        last = place[len(place) - len(shape) :]
        same = [number(0) if size == 1 else part for size, part in zip(shape, last, strict=True)]
        return lane_of(c, op.source, same)

    fill(c, op.result, lane)


def _positions_of(c: Context, op: vector.Extract | vector.Insert) -> list[Code]:
    return [c.values.again(p) if isinstance(p, Value) else number(p) for p in op.positions]


def extract(c: Context, op: vector.Extract) -> None:
    """One lane, or the lanes at some positions along the first dimensions."""
    rank = vector_of(op.source).rank
    if vector.POISON in op.static_position:
        _poisoned(c, op.result)
        return
    positions = _positions_of(c, op)
    if isinstance(op.result.type, VectorType):
        fill(c, op.result, lambda place: lane_of(c, op.source, [*positions, *place][:rank]))
    elif op.source in c.scattered and is_native(c, vector_of(op.source)) and op.source not in c.values.splats:
        c.values.define(op.result, _from_memory(c, op.source, positions[0]))
    else:
        c.values.define(op.result, lane_of(c, op.source, positions))


def _from_memory(c: Context, source: Value, lane: Code) -> Code:
    """A lane of a vector that was stored into an array."""
    if source not in c.spilled:
        kind, lanes = lane_kind(c, source), lanes_of(source)
        name = c.lines.scope.declare(source.hint, c.values.temporary)
        c.lines.declaration(name, f"{value_type(kind)} {name}[{lanes}];")
        c.lines.add(f"{on_vectors(c, 'spilled', kind, lanes, Code(name), source)};")
        c.spilled[source] = name
    name = c.lines.read(c.spilled[source])
    return code(f"{name}[{lane}]", PRIMARY, Code(name), lane)


def _poisoned(c: Context, result: Value) -> None:
    kind = lane_type(result)
    shown = tables.headers_of(tables.literal(0, kind), c.unit)  # any number will do
    if isinstance(result.type, VectorType):
        splat(c, result, shown)
    else:
        c.values.define(result, shown)


def insert(c: Context, op: vector.Insert) -> None:
    """A vector with one lane, or some, from elsewhere."""
    if vector.POISON in op.static_position:
        _poisoned(c, op.result)
        return
    positions, shape = _positions_of(c, op), vector_of(op.target).shape
    single = None if isinstance(op.value.type, VectorType) else c.values.again(op.value)
    name = new_vector(c, op.result)
    assign_lanes(c, name, op.target)
    place = open_lanes(c, shape[len(positions) :])
    item = single if single is not None else lane_of(c, op.value, place)
    c.lines.add(f"{name}[{flat(shape, [*positions, *place])}] = {lane_in(c, op.result, item)};")
    close_lanes(c, place)


def insert_slice(c: Context, op: vector.InsertStridedSlice) -> None:
    """A vector with a part of it from another one."""
    shape, inner = vector_of(op.target).shape, vector_of(op.value).shape
    name = new_vector(c, op.result)
    assign_lanes(c, name, op.target)
    place = open_lanes(c, inner)
    whole = _offset([number(0)] * (len(shape) - len(inner)) + list(place), op.offsets)
    c.lines.add(f"{name}[{flat(shape, whole)}] = {lane_in(c, op.result, lane_of(c, op.value, place))};")
    close_lanes(c, place)


def shuffle(c: Context, op: vector.Shuffle) -> None:
    """Lanes of two vectors by number."""
    shape = vector_of(op.result).shape
    if is_native(c, vector_of(op.result)) and op.left.type == op.right.type == op.result.type and not is_mask(op.left):
        left, right = (whole(c, v) for v in (op.left, op.right))
        order = [number(max(row, 0)) for row in op.mask]
        first, lanes = op.mask[0], shape[0]
        follows = 0 <= first < lanes and op.mask == tuple(range(first, first + lanes))
        stem = "spliced" if follows else "shuffle"
        keep_vector(c, op.result, on_vectors(c, stem, lane_kind(c, op.result), lanes, left, right, *order))
        return
    if _is_joined(c, op):
        stem, of = ("joined", (op.left, op.right))
        if op in c.shortened:
            stem, of = f"joined_i{2 * width(lane_kind(c, op.result))}", c.shortened[op]
        halves = [address_of(c, type_name(c, v), whole(c, v)) for v in of]
        keep_vector(c, op.result, on_vectors(c, stem, lane_kind(c, op.result), shape[0], *halves))
        return
    rows = (vector_of(op.left).shape or (1,))[0]
    nothing = tables.headers_of(tables.literal(0, lane_type(op.result)), c.unit)
    inner = prod(shape[1:])

    def lane(row: int, place: Code) -> Code:
        if row == vector.POISON:
            return nothing
        source, first = (op.left, row) if row < rows else (op.right, row - rows)
        return flat_lane(c, source, plus(number(first * inner), place))

    if inner == 1:
        fill_listed(c, op.result, [lane(row, number(0)) for row in op.mask])
        return
    name = new_vector(c, op.result)
    for k, row in enumerate(op.mask):
        (place,) = open_lanes(c, (inner,))
        c.lines.add(f"{name}[{plus(number(k * inner), place)}] = {lane_in(c, op.result, lane(row, place))};")
        close_lanes(c, (place,))


def _is_joined(c: Context, op: vector.Shuffle) -> bool:
    """Whether it is one vector behind another one, all of them in registers."""
    of = [vector_of(v) for v in (op.left, op.right, op.result)]
    is_whole = of[0] == of[1] and of[0].rank == 1 and op.mask == tuple(range(2 * of[0].shape[0]))
    return is_whole and all(is_native(c, each) for each in of) and not is_mask(op.left)


def _offset(place: Place, offsets: Sequence[int]) -> list[Code]:
    return [plus(part, number(offset)) for part, offset in zip(place, offsets, strict=True)]


def bit_cast(c: Context, op: vector.BitCast) -> None:
    """The same bits as lanes of another type."""
    old, new = lane_type(op.source), lane_type(op.result)
    before, after = width(old), width(new)
    if before == after:
        fill_flat(c, op.result, lambda k: tables.convert("bitcast", old, new, flat_lane(c, op.source, k), c.unit))
        return
    if before % after and after % before:
        raise UnsupportedError(f"C output has no bitcast from {op.source.type} to {op.result.type}")
    lanes = lanes_of(op.result)
    name = new_vector(c, op.result)
    (lane,) = open_lanes(c, (lanes,))
    if before < after:
        parts = after // before
        bits = c.lines.keep("", "bits", "int64_t", number(0), const=False)
        (part,) = open_lanes(c, (parts,))
        taken = _bits_of(c, old, flat_lane(c, op.source, plus(times(lane, number(parts)), part)))
        shifted = tables.binary("shli", I64, taken, times(part, number(before)), c.unit)
        assign(c, bits.text, tables.binary("ori", I64, bits, shifted, c.unit), I64)
        close_lanes(c, (part,))
        whole = bits
    else:
        parts = before // after
        taken = _bits_of(c, old, flat_lane(c, op.source, infix("/", lane, number(parts))))
        place = times(infix("%", lane, number(parts)), number(after))
        whole = tables.binary("shrui", I64, taken, place, c.unit)
    c.lines.add(f"{name}[{lane}] = {lane_in(c, op.result, _of_bits(c, new, whole))};")
    close_lanes(c, (lane,))


def _bits_of(c: Context, kind: ScalarType, shown: Code) -> Code:
    """The bits of a number in an int64_t."""
    integer = IntegerType(width(kind))
    if isinstance(kind, FloatType):
        shown = tables.convert("bitcast", kind, integer, shown, c.unit)
    return shown if integer == I64 else tables.convert("extui", integer, I64, shown, c.unit)


def _of_bits(c: Context, kind: ScalarType, shown: Code) -> Code:
    """The number with the lowest bits of an int64_t."""
    integer = IntegerType(width(kind))
    if integer != I64:
        shown = tables.convert("trunci", I64, integer, shown, c.unit)
    return tables.convert("bitcast", integer, kind, shown, c.unit) if isinstance(kind, FloatType) else shown
