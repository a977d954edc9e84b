"""Vector values in C, lane by lane: variables of vector types, or arrays; one expression if all lanes are equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from affdsl.codegen.c import tables
from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import PRIMARY, Code, code, infix, number, plus, times
from affdsl.codegen.c.types import scalar, value_type
from affdsl.codegen.c.vector_types import is_native, is_native_mask, lane_in, lanes_of, type_name, vector_of, whole
from affdsl.ir.dialects import arith
from affdsl.ir.expr import Value
from affdsl.ir.types import ScalarType, element_of

MOST_LISTED = 16
"""So many lanes are computed in a list, and not in a loop."""

Place = Sequence[Code]
"""A lane: its number along each dimension."""


def lane_of(c: Context, value: Value, place: Place) -> Code:
    """One lane of a vector as an expression."""
    return flat_lane(c, value, flat(vector_of(value).shape, place))


def flat_lane(c: Context, value: Value, place: Code) -> Code:
    """The lane of a number in row-major order."""
    if value in c.values.splats:
        c.lines.read(c.values.splats[value].text)
        return c.values.splats[value]
    name = c.values.codes[value]
    c.lines.read(name.text)
    lane = code(f"{name}[{place}]", PRIMARY, name, place)
    return infix("!=", lane, number(0)) if is_native_mask(c, value) else lane


def splat(c: Context, value: Value, shown: Code) -> None:
    """All lanes of value are shown, which may be written again and again."""
    vector_of(value)
    c.values.splats[value] = shown


def new_vector(c: Context, value: Value, hint: str = "", start: Value | None = None) -> str:
    """Declare the variable of a vector, which may start as another one."""
    type = vector_of(value)
    name = c.lines.scope.declare(value.hint or hint, c.values.temporary)
    if is_native(c, type):
        if start is not None and start in c.masks:
            c.masks.setdefault(value, c.masks[start])
        first = "{0}" if start is None else str(whole(c, start))
        c.lines.declaration(name, f"{type_name(c, value)} {name} = {first};")
    else:
        c.lines.declaration(name, f"{value_type(type.element)} {name}[{prod(type.shape)}];")
        if start is not None:
            assign_lanes(c, name, start)
    c.values.codes[value] = Code(name)
    return name


def keep_vector(c: Context, value: Value, shown: Code) -> None:
    """Declare a native vector with a value."""
    name = c.lines.scope.declare(value.hint, c.values.temporary)
    c.lines.declare_vector(name, f"{type_name(c, value)} {name}", shown.text, shown)
    c.values.codes[value] = Code(name)


def fill(c: Context, value: Value, make: Callable[[Place], Code]) -> str:
    """Declare a vector, and give each lane what make says of its place."""
    type = vector_of(value)
    if type.rank == 1 and is_native(c, type) and type.shape[0] <= MOST_LISTED:
        return fill_listed(c, value, [make([number(k)]) for k in range(type.shape[0])])
    name, shape = new_vector(c, value), type.shape
    place = open_lanes(c, shape)
    c.lines.add(f"{name}[{flat(shape, place)}] = {lane_in(c, value, make(place))};")
    close_lanes(c, place)
    return name


def fill_flat(c: Context, value: Value, make: Callable[[Code], Code]) -> str:
    """Declare a vector, and give each lane what make says of its number."""
    type = vector_of(value)
    if is_native(c, type) and prod(type.shape) <= MOST_LISTED:
        return fill_listed(c, value, [make(number(k)) for k in range(prod(type.shape))])
    name = new_vector(c, value)
    (lane,) = open_lanes(c, (lanes_of(value),))
    c.lines.add(f"{name}[{lane}] = {lane_in(c, value, make(lane))};")
    close_lanes(c, (lane,))
    return name


def fill_listed(c: Context, value: Value, items: Sequence[Code]) -> str:
    """Declare a vector whose lanes are listed."""
    type = vector_of(value)
    name = c.lines.scope.declare(value.hint, c.values.temporary)
    lanes = [lane_in(c, value, item) for item in items]
    declared = (
        f"{type_name(c, value)} {name}" if is_native(c, type) else f"{value_type(type.element)} {name}[{len(items)}]"
    )
    c.lines.declare_vector(name, declared, f"{{{', '.join(lane.text for lane in lanes)}}}", *lanes)
    c.values.codes[value] = Code(name)
    return name


def assign_lanes(c: Context, name: str, value: Value) -> None:
    """Copy a vector into a variable."""
    if is_native(c, vector_of(value)):
        c.lines.add(f"{name} = {whole(c, value)};")
        return
    (lane,) = open_lanes(c, (lanes_of(value),))
    c.lines.add(f"{name}[{lane}] = {flat_lane(c, value, lane)};")
    close_lanes(c, (lane,))


def open_lanes(c: Context, shape: Sequence[int]) -> tuple[Code, ...]:
    """Open loops over a shape; gives their counters."""
    counters = []
    for size in shape:
        name = c.lines.counter("", "lane")
        c.lines.loop(name, 0, str(size))
        counters.append(Code(name))
    return tuple(counters)


def close_lanes(c: Context, loops: Sequence[object]) -> None:
    """Close loops over lanes."""
    for _ in loops:
        c.lines.close()


def lane_type(value: Value) -> ScalarType:
    """The type of a scalar, or of the lanes of a vector."""
    return scalar(element_of(value.type))


def flat(shape: Sequence[int], place: Place) -> Code:
    """The number of a lane in row-major order."""
    found = number(0)
    for size, part in zip(shape, place, strict=True):
        found = plus(times(found, number(size)), part)
    return found


def vector_constant(c: Context, op: arith.Constant) -> None:
    """A constant vector: one literal where all lanes are equal."""
    kind = lane_type(op.result)
    numbers = op.value if isinstance(op.value, tuple) else (op.value,)
    shown = [tables.headers_of(tables.literal(n, kind), c.unit) for n in numbers]
    if len({s.text for s in shown}) == 1:
        splat(c, op.result, shown[0])
    else:
        fill_listed(c, op.result, shown)
