"""Vectors as values of C: the vector types of gcc and clang, which have operators and lanes of their own."""

from __future__ import annotations

from math import prod

from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import PRIMARY, UNARY, Code, call, cast, code, negate, number
from affdsl.codegen.c.masks import NARROWEST, is_mask
from affdsl.codegen.c.types import LANES, suffix, value_type
from affdsl.codegen.c.vector_helpers import has_row, is_halved, types_between
from affdsl.errors import UnsupportedError
from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Value
from affdsl.ir.integers import width
from affdsl.ir.types import I1, FloatType, IndexType, IntegerType, ScalarType, VectorType

_ELEMENTS: tuple[ScalarType, ...] = (
    FloatType("f32"), FloatType("f64"), *(IntegerType(bits) for bits in (8, 16, 32, 64)),
)  # fmt: skip


def is_native(c: Context, type: VectorType) -> bool:
    """Whether a vector is a value of a vector type, and not an array."""
    return c.unit.has_vector_types and prod(type.shape) in LANES and (_element(type) in _ELEMENTS or type.element == I1)


def is_native_mask(c: Context, value: Value) -> bool:
    """Whether a value is a mask whose lanes are -1 or 0."""
    return is_mask(value) and isinstance(value.type, VectorType) and is_native(c, value.type)


def type_name(c: Context, value: Value) -> str:
    """The name of the vector type of a value."""
    assert isinstance(value.type, VectorType)
    return named(c, lane_kind(c, value), prod(value.type.shape))


def lane_kind(c: Context, value: Value) -> ScalarType:
    """What the lanes of a native vector are in C."""
    assert isinstance(value.type, VectorType)
    return IntegerType(c.masks.get(value, NARROWEST)) if is_mask(value) else _element(value.type)


def named(c: Context, kind: ScalarType, lanes: int) -> str:
    """The name of the type of so many lanes."""
    return c.unit.vector_type(suffix(kind), value_type(kind), lanes)


def in_memory(c: Context, type: VectorType, element: Code, *, const: bool) -> Code:
    """The vector that begins at an element of an array."""
    kind = _element(type)
    name = c.unit.vector_in_memory(suffix(kind), value_type(kind), prod(type.shape))
    return code(f"*({'const ' if const else ''}{name} *)&{element.at(UNARY)}", UNARY, element)


def lane_in(c: Context, value: Value, item: Code) -> Code:
    """What the lane of a vector holds for a value of its element."""
    if not is_native_mask(c, value):
        return item
    if item.text in ("true", "false"):
        return number(-1 if item.text == "true" else 0)
    bits = c.masks.get(value, NARROWEST)
    shown = negate(cast("int", item))
    return shown if bits == 32 else cast(f"int{bits}_t", shown)


def whole(c: Context, value: Value) -> Code:
    """A native vector as an expression, also where all lanes are one number."""
    assert isinstance(value.type, VectorType)
    shown = c.values.splats.get(value)
    if shown is None:
        found = c.values.codes[value]
        c.lines.read(found.text)
        return found
    lanes = prod(value.type.shape)
    item = lane_in(c, value, shown)
    c.lines.read(shown.text)
    if item.text in ("0", "0.0", "0.0f"):
        return code(f"({type_name(c, value)}){{0}}", UNARY, shown)
    return call(c.unit.vector_helper("all", suffix(lane_kind(c, value)), lanes), item)


def mask_of(c: Context, mask: Value, bits: int) -> Code:
    """A mask with lanes of so many bits."""
    shown = whole(c, mask)
    if c.masks.get(mask, NARROWEST) == bits:
        return shown
    return resized(c, shown, c.masks.get(mask, NARROWEST), bits, lanes_of(mask))


def converted(type: str, shown: Code) -> Code:
    """A vector with each lane converted as a number."""
    return code(f"__builtin_convertvector({shown}, {type})", PRIMARY, shown)


def on_vectors(c: Context, stem: str, kind: ScalarType, lanes: int, *operands: Value | Mask | Code) -> Code:
    """The call of a helper on vectors, which are handed in by their addresses, and on other expressions."""
    shown = [part if isinstance(part, Code) else _address(c, part, kind, lanes) for part in operands]
    return call(c.unit.vector_helper(stem, suffix(kind), lanes), *shown)


class Mask(FrozenValue):
    """A mask that a helper goes by: its lanes are as wide as those of the vectors."""

    shown: Code | Value


def _address(c: Context, operand: Value | Mask, kind: ScalarType, lanes: int) -> Code:
    if isinstance(operand, Value):
        shown = whole(c, operand)
        is_variable = not shown.function
    else:
        kind = IntegerType(width(kind))
        value = operand.shown
        shown = mask_of(c, value, kind.width) if isinstance(value, Value) else value
        has_width = isinstance(value, Value) and c.masks.get(value, NARROWEST) == kind.width
        is_variable = has_width and not shown.function
    if not is_variable:
        shown = c.lines.keep("", c.values.temporary, named(c, kind, lanes), shown)
    return code(f"&{shown.at(UNARY)}", UNARY, shown)


def helped(c: Context, stem: str, result: Value, *operands: Value | Mask | Code) -> Code:
    """The call of a helper whose vectors are of the type of its result."""
    lanes = lanes_of(result)
    return on_vectors(c, stem, lane_kind(c, result), lanes, *operands)


def helper_name(c: Context, stem: str, result: Value) -> str:
    """The name of a helper that gives a vector."""
    return c.unit.vector_helper(stem, suffix(lane_kind(c, result)), lanes_of(result))


def resized(c: Context, shown: Code, bits: int, wanted: int, lanes: int) -> Code:
    """Integers with a sign with more or fewer bits, by functions that know an instruction for it."""
    if wanted > bits:
        helper = c.unit.vector_helper(f"from_i{bits}", f"i{wanted}", lanes)
        return call(helper, address_of(c, integers(c, f"i{bits}", lanes), shown))
    return shortened(c, shown, bits, wanted, lanes) if wanted < bits else shown


def shortened(c: Context, shown: Code, bits: int, wanted: int, lanes: int) -> Code:
    """Integers with fewer bits, by a function where a machine has an instruction for it."""
    if has_row(f"short_i{bits}", f"i{wanted}", lanes):
        return by_way(c, f"short_i{bits}", IntegerType(bits), wanted, shown, lanes)
    while bits > wanted:
        bits = bits // 2 if is_halved(lanes) else wanted
        shown = converted(named(c, IntegerType(bits), lanes), shown)
    return shown


def by_way(c: Context, stem: str, source: ScalarType, bits: int, shown: Code, lanes: int) -> Code:
    """A function that makes narrow integers of what is wider, with the types that its portable form needs."""
    element = f"i{bits}"
    for kind in types_between(stem, element, lanes):
        integers(c, kind, lanes)
    return call(c.unit.vector_helper(stem, element, lanes), address_of(c, named(c, source, lanes), shown))


def address(c: Context, kind: str, value: Value) -> Code:
    """The address of a vector of integers, as such of a kind: u8, say."""
    type, shown = integers(c, kind, lanes_of(value)), whole(c, value)
    return address_of(c, type, shown if kind[0] == "i" else cast(type, shown))


def integers(c: Context, kind: str, lanes: int) -> str:
    """The type of vectors of integers, signed or not."""
    return c.unit.vector_type(kind, f"{'u' * (kind[0] == 'u')}int{kind[1:]}_t", lanes)


def address_of(c: Context, type: str, shown: Code) -> Code:
    """The address of a variable that is, or gets, the value of an expression."""
    if shown.parts or shown.function:
        shown = c.lines.keep("", c.values.temporary, type, shown)
    return code(f"&{shown}", UNARY, shown)


def vector_of(value: Value) -> VectorType:
    """The type of a vector that C output can have."""
    type = value.type
    assert isinstance(type, VectorType)
    if any(type.scalable):
        raise UnsupportedError(f"C output has no scalable vectors, such as {value.hint or 'one'!r} of type {type}")
    return type


def lanes_of(value: Value) -> int:
    """How many lanes a vector has."""
    return prod(vector_of(value).shape)


def _element(type: VectorType) -> ScalarType:
    """What a lane is in C: narrow floats are computed with as floats."""
    if isinstance(type.element, FloatType) and type.element.width < 32:
        return FloatType("f32")
    return IntegerType(64) if isinstance(type.element, IndexType) else type.element


def is_narrow(value: Value) -> bool:
    """Whether the lanes of a vector are narrow floats."""
    return isinstance(value.type, VectorType) and _element(value.type) != value.type.element != IndexType()
