"""Vectors as values of C: the vector types of gcc and clang, which have operators and lanes of their own."""

from __future__ import annotations

from math import prod

from affdsl.ir.core import Op
from affdsl.ir.dialects import arith
from affdsl.ir.expr import Value
from affdsl.ir.types import FloatType, IndexType, IntegerType, ScalarType, VectorType
from codegen.c.context import Context
from codegen.c.expressions import UNARY, Code, cast, code, infix, negate
from codegen.c.types import suffix, value_type, width

LANES = (2, 4, 8, 16, 32, 64)
_ELEMENTS: tuple[ScalarType, ...] = (
    FloatType("f32"), FloatType("f64"), *(IntegerType(bits) for bits in (8, 16, 32, 64)),
)  # fmt: skip
_OPERATORS = {
    "addf": "+", "subf": "-", "mulf": "*", "divf": "/",
    "addi": "+", "subi": "-", "muli": "*", "andi": "&", "ori": "|", "xori": "^",
}  # fmt: skip
_WRAPPING = frozenset(("addi", "subi", "muli"))
"""What overflows as unsigned numbers do."""
_KINDS = (*(suffix(kind) for kind in _ELEMENTS), *(f"u{bits}" for bits in (8, 16, 32, 64)))
NAMES = tuple(f"{kind}x{lanes}{end}" for kind in _KINDS for lanes in LANES for end in ("", "_at"))
"""What vector types are called, which nothing else in a file may be."""


def is_native(c: Context, type: VectorType) -> bool:
    """Whether a vector is a value of a vector type, and not an array."""
    return c.unit.has_vector_types and prod(type.shape) in LANES and _element(type) in _ELEMENTS


def type_name(c: Context, type: VectorType) -> str:
    """The name of a vector type."""
    kind = _element(type)
    return c.unit.vector_type(suffix(kind), value_type(kind), prod(type.shape))


def in_memory(c: Context, type: VectorType, element: Code, *, const: bool) -> Code:
    """The vector that begins at an element of an array."""
    kind = _element(type)
    name = c.unit.vector_in_memory(suffix(kind), value_type(kind), prod(type.shape))
    return code(f"*({'const ' if const else ''}{name} *)&{element.at(UNARY)}", UNARY, element)


def whole(c: Context, value: Value) -> Code:
    """A native vector as an expression, also where all lanes are one number."""
    assert isinstance(value.type, VectorType)
    shown = c.values.splats.get(value)
    if shown is None:
        found = c.values.codes[value]
        c.lines.read(found.text)
        return found
    lanes = prod(value.type.shape)
    c.lines.read(*[shown.text] * lanes)
    return code(f"({type_name(c, value.type)}){{{', '.join([shown.text] * lanes)}}}", UNARY, *[shown] * lanes)


def computed(c: Context, op: Op) -> Code | None:
    """An operation on whole vectors as an expression; None where C has none, or all lanes of the operands are equal."""
    (result,) = op.defines()
    type = result.type
    if not isinstance(type, VectorType) or not is_native(c, type) or all(v in c.values.splats for v in op.reads()):
        return None
    match op:
        case arith.Binary(kind=kind) if kind in _WRAPPING:
            bits = width(_element(type))
            unsigned = c.unit.vector_type(f"u{bits}", f"uint{bits}_t", prod(type.shape))
            left, right = (cast(unsigned, whole(c, v)) for v in (op.left, op.right))
            return cast(type_name(c, type), infix(_OPERATORS[kind], left, right))
        case arith.Binary(kind=kind) if kind in _OPERATORS:
            either = _scalar_or_whole if isinstance(type.element, FloatType) else whole
            return infix(_OPERATORS[kind], either(c, op.left), either(c, op.right))
        case arith.Negate():
            return negate(whole(c, op.operand))
    return None


def _scalar_or_whole(c: Context, value: Value) -> Code:
    """A vector beside another one: a number stands for all of its lanes."""
    shown = c.values.splats.get(value)
    if shown is None:
        return whole(c, value)
    c.lines.read(shown.text)
    return shown


def _element(type: VectorType) -> ScalarType:
    return IntegerType(64) if isinstance(type.element, IndexType) else type.element
