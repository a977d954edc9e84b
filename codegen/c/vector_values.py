"""Computation with vectors as C: loops over lanes, which compilers turn into vector instructions."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.codegen.c import tables
from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import UNARY, Code, cast, code, infix, invert, number
from affdsl.codegen.c.lanes import (
    MOST_LISTED,
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
    splat,
)
from affdsl.codegen.c.memory import assign
from affdsl.codegen.c.types import value_type
from affdsl.codegen.c.vector_arithmetic import fused
from affdsl.codegen.c.vector_comparisons import counted
from affdsl.codegen.c.vector_types import (
    address,
    address_of,
    integers,
    is_native_mask,
    lane_in,
    lane_kind,
    lanes_of,
    on_vectors,
    type_name,
    vector_of,
    whole,
)
from affdsl.ir.dialects import vector
from affdsl.ir.expr import Value
from affdsl.ir.types import FloatType, ScalarType, VectorType


def fma(c: Context, op: vector.Fma) -> None:
    """a * b + c, rounded once."""
    if (shown := fused(c, op)) is not None:
        keep_vector(c, op.result, shown)
        return
    kind = lane_type(op.result)

    def lane(place: Code) -> Code:
        a, b, added = (flat_lane(c, v, place) for v in (op.a, op.b, op.c))
        return tables.fma(kind, a, b, added, c.unit)

    fill_flat(c, op.result, lane)


def step(c: Context, op: vector.Step) -> None:
    """0, 1, 2, ..."""
    fill_flat(c, op.result, lambda k: k)


def create_mask(c: Context, op: vector.CreateMask) -> None:
    """A mask that is set below bounds, which are data."""
    _set_below(c, op.result, [c.values.again(bound) for bound in op.bounds])


def constant_mask(c: Context, op: vector.ConstantMask) -> None:
    """A mask that is set below bounds."""
    _set_below(c, op.result, [number(size) for size in op.sizes])


def reduction(c: Context, op: vector.Reduction) -> None:
    """All lanes combined."""
    kind, lanes = lane_type(op.source), lanes_of(op.source)
    if (mask := c.counts.get(op)) is not None:
        _count(c, op, mask)
        return
    if op.combine in ("or", "and") and is_native_mask(c, op.source) and op.source not in c.values.splats:
        found = _any(c, op.source) if op.combine == "or" else invert(_any(c, op.source, inverted=True))
        if op.acc:
            found = infix("||" if op.combine == "or" else "&&", c.values.of(op.acc[0]), found)
        c.values.define(op.result, found)
        return
    first = c.values.of(op.acc[0]) if op.acc else flat_lane(c, op.source, number(0))
    name = c.lines.declare(op.result.hint, "total", value_type(kind), first, const=False)
    c.values.codes[op.result] = Code(name)
    begin = 0 if op.acc else 1
    if lanes <= MOST_LISTED:  # a variable number would keep the vector in memory
        for k in range(begin, lanes):
            lane_of_number = flat_lane(c, op.source, number(k))
            assign(c, name, tables.binary(combiner(op.combine, kind), kind, Code(name), lane_of_number, c.unit), kind)
        return
    lane = c.lines.counter("", "lane")
    if begin < lanes:
        c.lines.loop(lane, begin, str(lanes))
        combined = tables.binary(
            combiner(op.combine, kind), kind, Code(name), flat_lane(c, op.source, Code(lane)), c.unit
        )
        assign(c, name, combined, kind)
        c.lines.close()


def _any(c: Context, mask: Value, *, inverted: bool = False) -> Code:
    """Whether some lane of a mask is set, or is not."""
    kind, lanes = lane_kind(c, mask), lanes_of(mask)
    if not inverted:
        return on_vectors(c, "any", kind, lanes, mask)
    others = code(f"~{whole(c, mask).at(UNARY)}", UNARY, whole(c, mask))
    return on_vectors(c, "any", kind, lanes, address_of(c, type_name(c, mask), others))


def _count(c: Context, op: vector.Reduction, mask: Value) -> None:
    """How many lanes of a mask are set, and what there was before."""
    kind, lanes = lane_type(op.result), vector_of(mask).shape[0]
    if is_native_mask(c, mask):
        found = cast(value_type(kind), counted(c, mask) or on_vectors(c, "count", lane_kind(c, mask), lanes, mask))
    else:
        name = c.lines.declare("", "count", value_type(kind), number(0), const=False)
        (lane,) = open_lanes(c, (lanes,))
        one = tables.convert("extui", lane_type(mask), kind, flat_lane(c, mask, lane), c.unit)
        assign(c, name, tables.binary("addi", kind, Code(name), one, c.unit), kind)
        close_lanes(c, (lane,))
        found = Code(name)
    c.values.define(op.result, tables.binary("addi", kind, c.values.of(op.acc[0]), found, c.unit) if op.acc else found)


def _totals(c: Context, result: Value, acc: Value) -> str:
    """A scalar or vector that starts as acc."""
    if not isinstance(result.type, VectorType):
        name = c.lines.declare(result.hint, "total", value_type(result.type), c.values.of(acc), const=False)
        c.values.codes[result] = Code(name)
        return name
    return new_vector(c, result, "total", acc)


def _accumulate(c: Context, name: str, result: Value, place: Place, combine: str, item: Code) -> None:
    """name[place] = name[place] combined with item."""
    kind = lane_type(result)
    shape = result.type.shape if isinstance(result.type, VectorType) else None
    target = name if shape is None else f"{name}[{flat(shape, place)}]"
    if is_native_mask(c, result):
        before = infix("!=", Code(target), number(0))
        combined = tables.binary(combiner(combine, kind), kind, before, item, c.unit)
        c.lines.add(f"{target} = {lane_in(c, result, combined)};")
        return
    assign(c, target, tables.binary(combiner(combine, kind), kind, Code(target), item, c.unit), kind)


def multi_reduce(c: Context, op: vector.MultiReduction) -> None:
    """The lanes combined along some dimensions."""
    name, shape = _totals(c, op.result, op.acc), vector_of(op.source).shape
    place = open_lanes(c, shape)
    kept = [part for k, part in enumerate(place) if k not in op.dims]
    _accumulate(c, name, op.result, kept, op.combine, lane_of(c, op.source, place))
    close_lanes(c, place)


def contract(c: Context, op: vector.Contract) -> None:
    """Sums of products, as of a product of matrices."""
    if (dot := c.dots.get(op)) is not None:
        lanes = vector_of(op.result).shape[0]
        integers(c, "u32", lanes)
        operands = [address(c, dot.kind, v) for v in dot.factors]
        keep_vector(c, op.result, on_vectors(c, dot.helper, lane_kind(c, op.result), lanes, op.acc, *operands))
        return
    kind, source = lane_type(op.acc), lane_type(op.left)
    maps = [[d for d in vector.map_dims(m) or () if d is not None] for m in op.maps]
    shapes = vector_of(op.left).shape + vector_of(op.right).shape
    sizes: dict[int, int] = dict(zip(maps[0] + maps[1], shapes, strict=True))
    name = _totals(c, op.result, op.acc)
    point = open_lanes(c, [sizes[d] for d in range(len(op.iterators))])
    factors = [lane_of(c, v, [point[d] for d in of]) for v, of in zip((op.left, op.right), maps, strict=False)]
    if source != kind:
        extend = "extf" if isinstance(kind, FloatType) else "extsi"
        factors = [tables.convert(extend, source, kind, factor, c.unit) for factor in factors]
    left, right = factors
    product = tables.binary(combiner("mul", kind), kind, left, right, c.unit)
    _accumulate(c, name, op.result, [point[d] for d in maps[2]], op.combine, product)
    close_lanes(c, point)


def outer_product(c: Context, op: vector.OuterProduct) -> None:
    """Each lane of a vector times each of another."""
    kind = lane_type(op.result)
    scalar = None if isinstance(op.right.type, VectorType) else c.values.again(op.right)

    def lane(place: Place) -> Code:
        right = lane_of(c, op.right, place[1:]) if scalar is None else scalar
        left = lane_of(c, op.left, place[:1])
        if not op.acc:
            return tables.binary(combiner("mul", kind), kind, left, right, c.unit)
        total = lane_of(c, op.acc[0], place)
        if op.combine == "add" and isinstance(kind, FloatType):
            return tables.fma(kind, left, right, total, c.unit)
        product = tables.binary(combiner("mul", kind), kind, left, right, c.unit)
        return tables.binary(combiner(op.combine, kind), kind, total, product, c.unit)

    fill(c, op.result, lane)


def _set_below(c: Context, result: Value, bounds: Sequence[Code]) -> None:
    """result is set below bounds along all dimensions."""
    shape = vector_of(result).shape
    c.unit.header("stdbool.h")
    if not shape:
        splat(c, result, c.lines.keep("", c.values.temporary, "bool", infix(">", bounds[0], number(0))))
        return
    numbers = [bound.number for bound in bounds]
    if None not in numbers and (0 in numbers or tuple(numbers) == shape):
        splat(c, result, Code("false" if 0 in numbers else "true"))
        return

    if len(shape) == 1 and is_native_mask(c, result):
        kind = lane_kind(c, result)
        keep_vector(c, result, on_vectors(c, "first", kind, shape[0], bounds[0]))
        return

    def lane(place: Place) -> Code:
        tests = [infix("<", part, bound) for part, bound in zip(place, bounds, strict=True)]
        condition = tests[0]
        for test in tests[1:]:
            condition = infix("&&", condition, test)
        return condition

    fill(c, result, lane)


def combiner(kind: str, type: ScalarType) -> str:
    """The kind of arith that a kind of `vector.KINDS` is for numbers of a type."""
    floats, integers = vector.KINDS[kind]
    name = floats if isinstance(type, FloatType) else integers
    assert name is not None, "the verifier refuses kinds that a type does not have"
    return name
