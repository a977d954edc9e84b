"""Rules about types: which operands the kinds of arith and math take, and which memrefs belong together."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from affdsl.ir.attributes import IntegerAttr
from affdsl.ir.dialects import affine, arith, math
from affdsl.ir.expr import Value
from affdsl.ir.layouts import strided as strided
from affdsl.ir.messages import shown
from affdsl.ir.types import (
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    OpaqueType,
    ScalarType,
    StridedLayout,
    Type,
    UnrankedMemRefType,
    VectorType,
    element_of,
    same_shape,
)

CLASSES: dict[str, tuple[type, ...]] = {
    "float": (FloatType,),
    "integer": (IntegerType,),
    "integer or index": (IntegerType, IndexType),
    "integer or float": (IntegerType, FloatType),
    "complex number": (ComplexType,),
}


def must_be(wanted: str, *values: Value) -> Iterator[str]:
    """Each of values is a scalar or vector of a class of CLASSES."""
    for value in values:
        found = element_of(value.type)
        if not isinstance(found, CLASSES[wanted]) or _has_sign(found):
            yield f"{shown(value)} must be {_article(wanted)} {wanted}, but has type {value.type}"


def must_have(type: Type, *values: Value) -> Iterator[str]:
    """Each of values has one type."""
    for value in values:
        if value.type != type:
            yield f"{shown(value)} must have type {type}, but has type {value.type}"


def must_agree(first: Value, *others: Value) -> Iterator[str]:
    """All values have the type of the first."""
    for value in others:
        if value.type != first.type:
            yield f"{shown(value)} has type {value.type}, but {shown(first)} has type {first.type}"


def must_be_known(kind: str, known: object) -> Iterator[str]:
    """kind is one of known."""
    names = tuple(known) if isinstance(known, tuple | dict) else ()
    if kind not in names:
        yield f"unknown kind {kind!r}; known: {', '.join(names)}"


def truth(type: Type) -> Type:
    """The type of a comparison of values of `type`: i1, or a vector of i1."""
    return same_shape(type, IntegerType(1))


def constant(op: arith.Constant) -> Iterator[str]:
    """The value is a number of the result's type; of a vector, one for all lanes or one for each."""
    type, value = op.result.type, op.value
    if isinstance(type, VectorType):
        numbers = value if isinstance(value, tuple) else (value,)
        lanes = prod(type.shape)
        if isinstance(value, tuple) and len(numbers) != lanes:
            yield f"{shown(op.result)} has {lanes} lanes, but {len(numbers)} numbers are given"
        for number in dict.fromkeys(numbers):
            yield from is_number(number, type.element)
    else:
        yield from is_number(value, type)
    if _has_sign(element_of(type)):
        yield f"a constant has no type with a sign of its own, such as {type}"


def is_number(value: object, type: Type | OpaqueType) -> Iterator[str]:
    """value is a number of a scalar type."""
    match type, value:
        case FloatType(), bool():
            yield f"{value} is no number of type {type}"
        case FloatType(), int() | float():
            pass
        case ComplexType(), complex():
            pass
        case ((IntegerType() | IndexType()), int()):
            width = type.width if isinstance(type, IntegerType) else 64
            highest = 1 << (width - (isinstance(type, IndexType)))
            if not -(1 << (width - 1)) <= value < highest or (isinstance(value, bool) and width != 1):
                yield f"{value} is no number of type {type}"
        case _:
            yield f"{value} is no number of type {type}"


def binary(op: arith.Binary) -> Iterator[str]:
    """Both operands and the result have one type, of the class that the kind takes."""
    yield from must_be_known(op.kind, (*arith.INTEGER_BINARY, *arith.FLOAT_BINARY))
    yield from must_be("float" if op.kind in arith.FLOAT_BINARY else "integer or index", op.left)
    yield from must_agree(op.left, op.right, op.result)


def extended(op: arith.Extended) -> Iterator[str]:
    """The low half has the operands' type; so has the high half of a product; a carry is i1."""
    yield from must_be_known(op.kind, arith.EXTENDED)
    yield from must_be("integer or index", op.left)
    yield from must_agree(op.left, op.right, op.low)
    yield from must_have(truth(op.left.type) if op.kind == "addui_extended" else op.left.type, op.high)


def negate(op: arith.Negate) -> Iterator[str]:
    """A float."""
    yield from must_be("float", op.operand)
    yield from must_agree(op.operand, op.result)


def compare(op: arith.Compare) -> Iterator[str]:
    """Two numbers of one type; the result is i1."""
    yield from must_be_known(op.kind, ("cmpi", "cmpf"))
    predicates = arith.FLOAT_PREDICATES if op.kind == "cmpf" else arith.INTEGER_PREDICATES
    if op.predicate not in predicates:
        yield f"unknown predicate {op.predicate!r}; known: {', '.join(predicates)}"
    yield from must_be("float" if op.kind == "cmpf" else "integer or index", op.left)
    yield from must_agree(op.left, op.right)
    yield from must_have(truth(op.left.type), op.result)


def cast(op: arith.Cast) -> Iterator[str]:
    """From one class of types to another, in the direction that the kind says."""
    yield from must_be_known(op.kind, arith.CASTS)
    source_class, target_class = arith.CASTS.get(op.kind, ("integer or float", "integer or float"))
    problems = [*must_be(source_class, op.operand), *must_be(target_class, op.result)]
    yield from problems
    source, target = element_of(op.operand.type), element_of(op.result.type)
    fits = {
        "ext": _bits(source) < _bits(target),
        "trunc": _bits(source) > _bits(target),
        "bitcast": _bits(source) == _bits(target),
        "index_cast": isinstance(source, IndexType) != isinstance(target, IndexType),
    }
    shape = _shape(op.operand.type) == _shape(op.result.type)
    for start, right in fits.items():
        if not problems and op.kind.startswith(start) and not (right and shape):
            yield f"there is no {op.kind} from {op.operand.type} to {op.result.type}"
    mode = dict(op.attributes).get("roundingmode") if op.kind == "truncf" else None
    if mode is not None and not (isinstance(mode, IntegerAttr) and 0 <= mode.value < len(arith.ROUNDING)):
        yield f"roundingmode must be a number from 0 to {len(arith.ROUNDING) - 1}: {', '.join(arith.ROUNDING)}"


def select(op: arith.Select) -> Iterator[str]:
    """The condition is i1, or a vector of them; both choices and the result have one type."""
    if op.condition.type not in (IntegerType(1), truth(op.if_true.type)):
        yield f"{shown(op.condition)} of type {op.condition.type} does not choose between values of {op.if_true.type}"
    yield from must_agree(op.if_true, op.if_false, op.result)


def math_unary(op: math.Unary) -> Iterator[str]:
    """Result and operand have one type; of a test the result is i1."""
    yield from must_be_known(op.kind, (*math.FLOAT_UNARY, *math.FLOAT_TESTS, *math.INTEGER_UNARY))
    yield from must_be("integer or index" if op.kind in math.INTEGER_UNARY else "float", op.operand)
    yield from must_have(truth(op.operand.type) if op.kind in math.FLOAT_TESTS else op.operand.type, op.result)


def math_binary(op: math.Binary) -> Iterator[str]:
    """Operands and result have one type, but the power of fpowi is an integer."""
    yield from must_be_known(op.kind, (*math.FLOAT_BINARY, "fpowi", "ipowi"))
    yield from must_be("integer or index" if op.kind == "ipowi" else "float", op.left)
    if op.kind == "fpowi":
        yield from must_be("integer or index", op.right)
        if _shape(op.left.type) != _shape(op.right.type):
            yield f"{shown(op.right)} of type {op.right.type} is no power for each element of {op.left.type}"
        yield from must_agree(op.left, op.result)
    else:
        yield from must_agree(op.left, op.right, op.result)


def fma(op: math.Fma) -> Iterator[str]:
    """Floats of one type."""
    yield from must_be("float", op.a)
    yield from must_agree(op.a, op.b, op.c, op.result)


def reduction(kind: str, result: Value) -> Iterator[str]:
    """A kind of REDUCTIONS fits the type of what it reduces."""
    wanted = affine.REDUCTIONS.get(kind)
    if wanted is None:
        yield f"unknown reduction {kind!r}; known: {', '.join(affine.REDUCTIONS)}"
    elif wanted == "any":
        if not isinstance(element_of(result.type), ScalarType):
            yield f"the reduction {kind} takes scalars or vectors, which {shown(result)} of type {result.type} is not"
    elif wanted in ("signed", "unsigned"):
        if not isinstance(result.type, IntegerType) or result.type.sign != wanted[0]:
            yield f"the reduction {kind} takes {wanted} integers, which {shown(result)} of type {result.type} is not"
    elif not isinstance(result.type, CLASSES[wanted]):
        yield f"the reduction {kind} takes {wanted}s, which {shown(result)} of type {result.type} is not"


def power_of_two(alignment: int | None) -> Iterator[str]:
    """An alignment that is given is a power of two."""
    if alignment is not None and (alignment <= 0 or alignment & (alignment - 1)):
        yield f"the alignment must be a power of two, but is {alignment}"


def any_memref(value: Value) -> Iterator[str]:
    """value is a memref, whether its rank is known or not."""
    if not isinstance(value.type, UnrankedMemRefType):
        yield from memref_type(value)


def memref_type(value: Value) -> Iterator[str]:
    """value is a memref whose sizes are not negative, and whose layout has a stride for each dimension."""
    if not isinstance(value.type, MemRefType):
        yield f"{shown(value)} must be a memref, but has type {value.type}"
        return
    if any(size is not None and size < 0 for size in value.type.shape):
        yield f"{shown(value)} has a negative size: {value.type}"
    layout = value.type.layout
    if isinstance(layout, StridedLayout) and len(layout.strides) != value.type.rank:
        yield f"{shown(value)} has {len(layout.strides)} strides for {value.type.rank} dimensions: {value.type}"


def cast_fits(source: Type, target: Type) -> bool:
    """Whether a buffer can have both types: they differ in nothing but what they know."""
    if not isinstance(source, MemRefType | UnrankedMemRefType) or not isinstance(
        target, MemRefType | UnrankedMemRefType
    ):
        return False
    if (source.element, source.space) != (target.element, target.space):
        return False
    if not isinstance(source, MemRefType) or not isinstance(target, MemRefType):
        return isinstance(source, MemRefType) or isinstance(target, MemRefType)
    if source.rank != target.rank:
        return False
    if not all(_may_equal(a, b) for a, b in zip(source.shape, target.shape, strict=True)):
        return False
    if source.layout == target.layout:
        return True
    a, b = strided(source), strided(target)
    if a is None or b is None:
        return False
    pairs = zip((*a.strides, a.offset), (*b.strides, b.offset), strict=True)
    return all(_may_equal(x, y) for x, y in pairs)


def same_elements(source: Value, target: Value) -> Iterator[str]:
    """Two memrefs, whether their ranks are known or not, have elements of one type."""
    one, other = source.type, target.type
    if not isinstance(one, MemRefType | UnrankedMemRefType) or not isinstance(other, MemRefType | UnrankedMemRefType):
        return
    if one.element != other.element:
        yield f"{shown(source)} has elements of type {one.element}, but {shown(target)} of type {other.element}"


def open_in_layout(type: MemRefType) -> int:
    """How many numbers of the layout of a new buffer its type leaves open."""
    match type.layout:
        case StridedLayout(strides, offset):
            return (*strides, offset).count(None)
        case None:
            return 0
        case map:
            return map.symbols


def shapes_fit(source: MemRefType, target: MemRefType) -> bool:
    """Whether two memrefs may have the same sizes."""
    return source.rank == target.rank and all(map(_may_equal, source.shape, target.shape))


def _may_equal(a: int | None, b: int | None) -> bool:
    return a is None or b is None or a == b


def _bits(type: Type) -> int:
    return type.width if isinstance(type, IntegerType | FloatType) else 0


def _shape(type: Type) -> tuple[int, ...] | None:
    return type.shape if isinstance(type, VectorType) else None


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"


def _has_sign(type: Type) -> bool:
    return isinstance(type, IntegerType) and bool(type.sign)
