"""Vectors as values of C: the vector types of gcc and clang, which have operators and lanes of their own."""

from __future__ import annotations

from math import copysign, prod

from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import PRIMARY, UNARY, Code, call, cast, choose, code, infix, negate, number
from affdsl.codegen.c.masks import NARROWEST, is_mask
from affdsl.codegen.c.powers import Power
from affdsl.codegen.c.quirks import is_written
from affdsl.codegen.c.quotients import is_product, reciprocal_parts
from affdsl.codegen.c.tables import (
    FLOAT_COMPARISON,
    INTEGER_COMPARISON,
    NEGATED_COMPARISON,
    UNSIGNED_COMPARISON,
    literal,
)
from affdsl.codegen.c.types import LANES, suffix, value_type, width
from affdsl.codegen.c.vector_helpers import EXTREMES, IN_DOUBLES, NARROW, has_row, is_halved, types_between
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, math, vector
from affdsl.ir.dialects.arith import ROUNDING
from affdsl.ir.expr import Value
from affdsl.ir.types import I1, FloatType, IndexType, IntegerType, ScalarType, VectorType

_ELEMENTS: tuple[ScalarType, ...] = (
    FloatType("f32"), FloatType("f64"), *(IntegerType(bits) for bits in (8, 16, 32, 64)),
)  # fmt: skip
OPERATORS = {
    "addf": "+", "subf": "-", "mulf": "*", "divf": "/",
    "addi": "+", "subi": "-", "muli": "*", "andi": "&", "ori": "|", "xori": "^",
}  # fmt: skip
_SHIFTS = {"shli": ("<<", "shl"), "shrsi": (">>", "shr"), "shrui": (">>", "shru")}
"""The operator, and the helper for numbers of bits that may be too large for it."""
_DIVISIONS = ("divsi", "divui", "floordivsi")
_WRAPPING = frozenset(("addi", "subi", "muli"))
"""What overflows as unsigned numbers do."""
_BITS = frozenset(("andi", "ori", "xori"))
_OF_MASKS = {
    "eq": ("^", True, False), "ne": ("^", True, True),
    "ult": ("&", False, True), "ule": ("|", False, True), "ugt": ("&", True, False), "uge": ("|", True, False),
    "slt": ("&", True, False), "sle": ("|", True, False), "sgt": ("&", False, True), "sge": ("|", False, True),
}  # fmt: skip
"""Masks that are compared: the operator, and whether each is taken as it is. With a sign, true is less: it is -1."""
_EXTREMES = {"maxsi": "maxs", "minsi": "mins", "maxui": "maxu", "minui": "minu"}
"""The helpers that choose between two integers."""
_BESIDE_NUMBERS = {
    "maximumf": ("greater", -1.0, True), "minimumf": ("lesser", 1.0, True),
    "maxnumf": ("greater", 1.0, False), "minnumf": ("lesser", -1.0, False),
}  # fmt: skip
"""How they choose between a float and a number, the sign of a zero that this may be, and whether NaN is the result."""


def is_native(c: Context, type: VectorType) -> bool:
    """Whether a vector is a value of a vector type, and not an array."""
    return c.unit.has_vector_types and prod(type.shape) in LANES and (_element(type) in _ELEMENTS or type.element == I1)


def is_native_mask(c: Context, value: Value) -> bool:
    """Whether a value is a mask whose lanes are -1 or 0."""
    return is_mask(value) and isinstance(value.type, VectorType) and is_native(c, value.type)


def type_name(c: Context, value: Value) -> str:
    """The name of the vector type of a value."""
    assert isinstance(value.type, VectorType)
    return _named(c, lane_kind(c, value), prod(value.type.shape))


def lane_kind(c: Context, value: Value) -> ScalarType:
    """What the lanes of a native vector are in C."""
    assert isinstance(value.type, VectorType)
    return IntegerType(c.masks.get(value, NARROWEST)) if is_mask(value) else _element(value.type)


def _named(c: Context, kind: ScalarType, lanes: int) -> str:
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
    return resized(c, shown, c.masks.get(mask, NARROWEST), bits, prod(_vector(mask).shape))


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
        kind = IntegerType(width_of(kind))
        value = operand.shown
        shown = mask_of(c, value, kind.width) if isinstance(value, Value) else value
        has_width = isinstance(value, Value) and c.masks.get(value, NARROWEST) == kind.width
        is_variable = has_width and not shown.function
    if not is_variable:
        shown = c.lines.keep("", c.values.temporary, _named(c, kind, lanes), shown)
    return code(f"&{shown.at(UNARY)}", UNARY, shown)


def computed(c: Context, op: Op) -> Code | None:
    """An operation on whole vectors as an expression; None where C has none, or all lanes of the operands are equal."""
    (result,) = op.defines()
    if not isinstance(result.type, VectorType) or not is_native(c, result.type):
        return None
    vectors = [v for v in op.reads() if isinstance(v.type, VectorType)]
    if all(v in c.values.splats for v in op.reads()) or not all(is_native(c, _vector(v)) for v in vectors):
        return None
    match op:
        case arith.Binary():
            return _binary(c, op)
        case arith.Negate():
            return negate(whole(c, op.operand))
        case arith.Compare():
            return _compare(c, op)
        case arith.Select():
            return _select(c, op)
        case arith.Cast():
            return _cast(c, op)
        case math.Fma():
            return fused(c, op)
        case math.Unary(kind="isnan" | "isinf" | "isfinite"):
            return _tested(c, op)
        case math.Unary(kind="absf" | "roundeven"):
            return _helped(c, op.kind, op.result, op.operand)
        case math.Unary(kind="absi"):
            integers(c, f"u{width(lane_kind(c, op.result))}", prod(_vector(op.result).shape))
            return _helped(c, "abs", op.result, op.operand)
        case math.Unary(kind=kind) if kind in IN_DOUBLES:
            row = kind, suffix(lane_kind(c, op.result)), prod(_vector(op.result).shape)
            return _helped(c, kind, op.result, op.operand) if has_row(*row) else None
    return None


def fused(c: Context, op: math.Fma | vector.Fma) -> Code | None:
    """a * b + c, rounded once; None for lanes that C does not compute with."""
    if not is_native(c, _vector(op.result)) or is_narrow(op.result):
        return None
    return _helped(c, "fma", op.result, op.a, op.b, op.c)


def _binary(c: Context, op: arith.Binary) -> Code | None:
    kind, element = op.kind, lane_kind(c, op.result)
    lanes = prod(_vector(op.result).shape)
    if (power := c.powers.get(op)) is not None:
        return _scaled(c, op, power)
    if is_mask(op.result):
        return infix(OPERATORS[kind], whole(c, op.left), whole(c, op.right)) if kind in _BITS else None
    if kind in _WRAPPING:
        bits = width(element)
        unsigned = c.unit.vector_type(f"u{bits}", f"uint{bits}_t", lanes)
        doubled = _doubled(c, op) if kind == "muli" and bits > NARROW else None
        if doubled is not None:
            value, times = doubled
            return cast(type_name(c, op.result), infix("<<", cast(unsigned, whole(c, value)), number(times)))
        left, right = (cast(unsigned, whole(c, v)) for v in (op.left, op.right))
        return cast(type_name(c, op.result), infix(OPERATORS[kind], left, right))
    if kind == "divf" and (quotient := _by_number(c, op)) is not None:
        return quotient
    if kind in OPERATORS:
        either = _scalar_or_whole if isinstance(element, FloatType) else whole
        return infix(OPERATORS[kind], either(c, op.left), either(c, op.right))
    if kind in _SHIFTS:
        return _shifted(c, op)
    if kind in _DIVISIONS:
        return _divided(c, op)
    if kind in EXTREMES and isinstance(element, FloatType):
        return _beside_number(c, op) or _helped(c, kind, op.result, op.left, op.right)
    if kind in _EXTREMES and op.left is op.right:
        return whole(c, op.left)
    if kind in _EXTREMES:
        integers(c, f"u{width(element)}", lanes)
        return _helped(c, _EXTREMES[kind], op.result, op.left, op.right)
    return None


def _by_number(c: Context, op: arith.Binary) -> Code | None:
    """A vector divided by a known number of which products give the same; None elsewhere."""
    kind, lanes, divisor = lane_kind(c, op.result), prod(_vector(op.result).shape), _known_float(c, op.right)
    if divisor is None or not is_product(divisor, kind, lanes):
        return None
    parts = reciprocal_parts(divisor, kind) or ()
    return _helped(c, "divided", op.result, op.left, *(literal(each, kind) for each in (divisor, *parts)))


def _beside_number(c: Context, op: arith.Binary) -> Code | None:
    """The smaller or larger one of a float and a known number, by fewer instructions than of any two floats.

    Of two numbers that are equal, or where one is NaN, `lesser` and `greater` give the second one.
    """
    stem, sign, nan_wins = _BESIDE_NUMBERS[op.kind]
    for x, known in ((op.left, op.right), (op.right, op.left)):
        number_ = _known_float(c, known)
        if number_ is None or number_ != number_:
            continue
        if number_ or copysign(1.0, number_) == sign:
            return _helped(c, stem, op.result, *((known, x) if nan_wins else (x, known)))
        if op.kind == "maximumf":  # 0 > x ? 0 : x is x where that is no number, or -0, which becomes 0 by a sum
            return infix("+", _helped(c, stem, op.result, known, x), whole(c, known))
        if nan_wins:  # the zero that wins: x < 0 ? x : 0, and x where it is no number
            shown, lanes = whole(c, x), prod(_vector(op.result).shape)
            found = _helped(c, stem, op.result, x, known)
            chosen = c.lines.keep("", c.values.temporary, type_name(c, op.result), found)
            none = Mask(infix("!=", shown, shown))
            return on_vectors(c, "choose", lane_kind(c, op.result), lanes, none, x, code(f"&{chosen}", UNARY, chosen))
    return None


def _known_float(c: Context, value: Value) -> float | None:
    """The number that all lanes of a vector are; None where they differ, or nobody knows."""
    maker = c.definitions.get(value)
    if isinstance(maker, vector.Broadcast):
        maker = c.definitions.get(maker.source)
    found = maker.value if isinstance(maker, arith.Constant) else None
    numbers = {found} if not isinstance(found, tuple) else {*found}
    single = numbers.pop() if len(numbers) == 1 else None
    return float(single) if isinstance(single, float) else None


def _scaled(c: Context, op: arith.Binary, power: Power) -> Code:
    """A vector times powers of 2."""
    lanes, bits = prod(_vector(op.result).shape), width_of(lane_kind(c, op.result))
    integers(c, f"u{bits}", lanes)
    return _helped(c, "scaled", op.result, power.factor, address(c, f"i{bits}", power.exponent))


def _doubled(c: Context, op: arith.Binary) -> tuple[Value, int] | None:
    """A vector and how often a product with a known number doubles it: products of long lanes take several steps."""
    for value, other in ((op.left, op.right), (op.right, op.left)):
        times = c.values.splats.get(other)
        if times is not None and isinstance(times.number, int) and times.number > 1 and times.number.bit_count() == 1:
            return value, times.number.bit_length() - 1
    return None


def _shifted(c: Context, op: arith.Binary) -> Code | None:
    """Lanes shifted by one number of bits, where it is known, and else by a function: C leaves open what large ones do.

    None for narrow lanes, which few machines shift by a number each.
    """
    amount, element, lanes = c.values.splats.get(op.right), lane_kind(c, op.result), prod(_vector(op.result).shape)
    bits, (sign, stem) = width(element), _SHIFTS[op.kind]
    if amount is None or amount.number is None or not 0 <= amount.number < bits:
        if bits <= NARROW:
            return None
        integers(c, f"u{bits}", lanes)
        return _helped(c, stem, op.result, op.left, op.right)
    shown = whole(c, op.left)
    if op.kind != "shrsi":
        shown = cast(integers(c, f"u{bits}", lanes), shown)
    return cast(type_name(c, op.result), infix(sign, shown, amount))


def _divided(c: Context, op: arith.Binary) -> Code | None:
    """Lanes divided by one number that is known, which compilers do by products; None elsewhere.

    Not by 0, nor by -1, which overflows.
    """
    divisor, bits = c.values.splats.get(op.right), width(lane_kind(c, op.result))
    if divisor is None or divisor.number is None or not 0 < divisor.number < 1 << bits - 1:
        return None
    if op.kind == "floordivsi":
        return _helped(c, "divfloor", op.result, op.left, op.right)
    left, right = whole(c, op.left), whole(c, op.right)
    if op.kind == "divsi":
        return infix("/", left, right)
    unsigned = c.unit.vector_type(f"u{bits}", f"uint{bits}_t", prod(_vector(op.result).shape))
    return cast(type_name(c, op.result), infix("/", cast(unsigned, left), cast(unsigned, right)))


def _helped(c: Context, stem: str, result: Value, *operands: Value | Mask | Code) -> Code:
    lanes = prod(_vector(result).shape)
    return on_vectors(c, stem, lane_kind(c, result), lanes, *operands)


def _helper(c: Context, stem: str, result: Value) -> str:
    """The name of a helper that gives a vector."""
    return c.unit.vector_helper(stem, suffix(lane_kind(c, result)), prod(_vector(result).shape))


def _compare(c: Context, op: arith.Compare) -> Code | None:
    """A mask, which may be wider or narrower than what is compared."""
    kind = lane_kind(c, op.left)
    if op.predicate in ("true", "false"):
        return None
    if op.left is op.right and not isinstance(kind, FloatType):
        return _with_itself(c, op)
    left, right = whole(c, op.left), whole(c, op.right)
    if is_mask(op.left):
        sign, is_left, is_right = _OF_MASKS[op.predicate]
        return infix(sign, left if is_left else _inverted(left), right if is_right else _inverted(right))
    if not isinstance(kind, FloatType):
        shown = _ordered(c, op.predicate, op.left, left, right)
    else:
        shown = _compared_floats(op.predicate, left, right)
    return _as_mask(c, shown, op.left, op.result)


def _as_mask(c: Context, shown: Code, of: Value, result: Value) -> Code:
    """What is found of some lanes as a mask, whose lanes may have another width."""
    if (bits := width_of(lane_kind(c, of))) == c.masks[result]:
        return shown
    if bits == 8 and is_written("lanes_compared"):
        shown = cast(integers(c, "i8", prod(_vector(of).shape)), shown)
    return converted(type_name(c, result), shown)


def _tested(c: Context, op: math.Unary) -> Code:
    """Which lanes are no numbers, or infinite, or neither."""
    kind, lanes = lane_kind(c, op.operand), prod(_vector(op.operand).shape)
    shown = whole(c, op.operand)
    if op.kind == "isnan":
        return _as_mask(c, infix("!=", shown, shown), op.operand, op.result)
    infinity = call(c.unit.vector_helper("all", suffix(kind), lanes), Code("INFINITY"))
    size = on_vectors(c, "absf", kind, lanes, op.operand)
    c.unit.header("math.h")
    return _as_mask(c, infix("==" if op.kind == "isinf" else "<", size, infinity), op.operand, op.result)


def _with_itself(c: Context, op: arith.Compare) -> Code:
    """Integers compared with themselves, which compilers warn of."""
    none = code(f"({type_name(c, op.result)}){{0}}", UNARY)
    return _inverted(none) if op.predicate in ("eq", "sle", "sge", "ule", "uge") else none


def _compared_floats(predicate: str, left: Code, right: Code) -> Code:
    """All lanes compared: what is unordered is that neither of two opposite comparisons holds."""
    if predicate in FLOAT_COMPARISON:
        return infix(FLOAT_COMPARISON[predicate], left, right)
    if predicate in NEGATED_COMPARISON:
        return _inverted(infix(NEGATED_COMPARISON[predicate], left, right))
    if predicate in ("one", "ueq"):
        unequal = infix("|", infix("<", left, right), infix(">", left, right))
        return unequal if predicate == "one" else _inverted(unequal)
    ordered = infix("&", infix("==", left, left), infix("==", right, right))
    return ordered if predicate == "ord" else _inverted(ordered)


def _inverted(mask: Code) -> Code:
    return code(f"~{mask.at(UNARY)}", UNARY, mask)


def _ordered(c: Context, predicate: str, of: Value, left: Code, right: Code) -> Code:
    """Integers compared, lane by lane."""
    if predicate not in UNSIGNED_COMPARISON:
        return infix(INTEGER_COMPARISON[predicate], left, right)
    bits = width(lane_kind(c, of))
    unsigned = c.unit.vector_type(f"u{bits}", f"uint{bits}_t", prod(_vector(of).shape))
    return infix(UNSIGNED_COMPARISON[predicate], cast(unsigned, left), cast(unsigned, right))


def _select(c: Context, op: arith.Select) -> Code:
    if not isinstance(op.condition.type, VectorType):
        return choose(c.values.of(op.condition), whole(c, op.if_true), whole(c, op.if_false))
    if (stem := extreme(c, op)) is not None:
        return _helped(c, stem, op.result, op.if_true, op.if_false)
    return _helped(c, "choose", op.result, Mask(op.condition), op.if_true, op.if_false)


def extreme(c: Context, op: arith.Select) -> str | None:
    """The helper that is a choice between two numbers by comparing them: the first of equal ones, the second for NaN.

    a < b ? a : b, and likewise where the numbers change places; a < b ? b : a is b > a ? b : a.
    """
    compare = c.definitions.get(op.condition)
    if not isinstance(compare, arith.Compare) or compare.predicate not in ("olt", "ogt"):
        return None
    is_less = compare.predicate == "olt"
    match (op.if_true, op.if_false):
        case (compare.left, compare.right):
            return "lesser" if is_less else "greater"
        case (compare.right, compare.left):
            return "greater" if is_less else "lesser"
    return None


def _cast(c: Context, op: arith.Cast) -> Code | None:
    """A conversion of all lanes that is what C's conversion of a number is."""
    source, target, name = lane_kind(c, op.operand), lane_kind(c, op.result), type_name(c, op.result)
    size = width_of(source)
    if is_mask(op.result):
        return None
    if is_mask(op.operand):
        return _numbers_of(c, op)
    shown = whole(c, op.operand)
    if op.kind == "bitcast":
        return cast(name, shown)
    if op.kind == "uitofp" or (op.kind in ("extui", "index_castui") and size < width_of(target)):
        bits = width(source)
        shown = cast(c.unit.vector_type(f"u{bits}", f"uint{bits}_t", prod(_vector(op.result).shape)), shown)
    elif op.kind == "fptosi" and (size, width_of(target)) in ((32, 32), (64, 32), (64, 64)):
        return _helped(c, f"trunc_f{size}", op.result, op.operand)
    elif op.kind in ("fptosi", "fptoui") and width_of(target) <= NARROW:
        return _saturated(c, op)
    elif op.kind in ("fptosi", "fptoui") or (op.kind == "truncf" and op.rounding != ROUNDING[0]):
        return None
    if source == target:
        return shown
    if isinstance(source, IntegerType) and isinstance(target, IntegerType) and source.width < target.width:
        return _widened(c, op, shown, "u" if op.kind in ("extui", "index_castui") else "i", target)
    is_short = isinstance(source, IntegerType) and source.width <= 16
    if is_short and isinstance(target, FloatType) and is_written("integers_made_floats"):
        wide = IntegerType(32)
        shown = _widened(c, op, shown, "u" if op.kind == "uitofp" else "i", wide)
        shown = c.lines.keep("", c.values.temporary, _named(c, wide, prod(_vector(op.result).shape)), shown)
        source, size = wide, 32
    if target == FloatType("f64") and size == 32 and op.kind in ("extf", "sitofp", "index_cast"):
        kind = suffix(source)
        type = c.unit.vector_type(kind, value_type(source), prod(_vector(op.result).shape))
        return call(_helper(c, f"from_{kind}", op.result), address_of(c, type, shown))
    if isinstance(source, IntegerType) and isinstance(target, IntegerType):
        return _shortened(c, shown, source.width, target.width, prod(_vector(op.result).shape))
    return converted(name, shown)


def _numbers_of(c: Context, op: arith.Cast) -> Code | None:
    """A mask as numbers that are 1, or -1 with a sign, or 0: as a whole, see the quirk `truths_added`."""
    target = lane_kind(c, op.result)
    bits, lanes = width_of(target), prod(_vector(op.result).shape)
    if op.kind not in ("extui", "extsi", "uitofp", "sitofp"):
        return None
    shown = mask_of(c, op.operand, bits)
    if op.kind in ("extui", "uitofp"):
        shown = infix("&", shown, call(c.unit.vector_helper("all", f"i{bits}", lanes), number(1)))
    return converted(type_name(c, op.result), shown) if isinstance(target, FloatType) else shown


def resized(c: Context, shown: Code, bits: int, wanted: int, lanes: int) -> Code:
    """Integers with a sign with more or fewer bits, by functions that know an instruction for it."""
    if wanted > bits:
        helper = c.unit.vector_helper(f"from_i{bits}", f"i{wanted}", lanes)
        return call(helper, address_of(c, integers(c, f"i{bits}", lanes), shown))
    return _shortened(c, shown, bits, wanted, lanes) if wanted < bits else shown


def _shortened(c: Context, shown: Code, bits: int, wanted: int, lanes: int) -> Code:
    """Integers with fewer bits, by a function where a machine has an instruction for it."""
    if has_row(f"short_i{bits}", f"i{wanted}", lanes):
        return _by_way(c, f"short_i{bits}", IntegerType(bits), wanted, shown, lanes)
    while bits > wanted:
        bits = bits // 2 if is_halved(lanes) else wanted
        shown = converted(_named(c, IntegerType(bits), lanes), shown)
    return shown


def _by_way(c: Context, stem: str, source: ScalarType, bits: int, shown: Code, lanes: int) -> Code:
    """A function that makes narrow integers of what is wider, with the types that its portable form needs."""
    element = f"i{bits}"
    for kind in types_between(stem, element, lanes):
        integers(c, kind, lanes)
    return call(c.unit.vector_helper(stem, element, lanes), address_of(c, _named(c, source, lanes), shown))


def _saturated(c: Context, op: arith.Cast) -> Code:
    """Floats as narrow integers, by way of wider ones: the nearest there is, and 0 for NaN."""
    source, lanes, wide = lane_kind(c, op.operand), prod(_vector(op.result).shape), IntegerType(32)
    bits, size = width(lane_kind(c, op.result)), width_of(source)
    stem = f"{'truncu' if op.kind == 'fptoui' else 'trunc'}_{suffix(source)}"
    if has_row(stem, f"i{bits}", lanes):
        return _by_way(c, stem, source, bits, whole(c, op.operand), lanes)
    if op.kind == "fptoui":  # of NaN and 0, 0 is the greater one
        shown = _between(c, ("greater", "lesser"), source, whole(c, op.operand), (0, (1 << bits) - 1), lanes)
        return _shortened(c, converted(_named(c, wide, lanes), shown), wide.width, bits, lanes)
    integers(c, "u32", lanes)
    shown = on_vectors(c, f"trunc_f{size}", wide, lanes, op.operand)
    shown = _between(c, ("maxs", "mins"), wide, shown, (-1 << bits - 1, (1 << bits - 1) - 1), lanes)
    return _shortened(c, shown, wide.width, bits, lanes)


def _between(
    c: Context, stems: tuple[str, str], kind: ScalarType, shown: Code, ends: tuple[int, int], lanes: int
) -> Code:
    """Each lane, or the nearer one of two numbers where it lies outside of them."""
    type = _named(c, kind, lanes)
    for stem, end in zip(stems, ends, strict=True):
        edge = call(c.unit.vector_helper("all", suffix(kind), lanes), number(end))
        shown = call(c.unit.vector_helper(stem, suffix(kind), lanes), *(address_of(c, type, v) for v in (shown, edge)))
    return shown


def _widened(c: Context, op: arith.Cast, shown: Code, sign: str, target: IntegerType) -> Code:
    """Integers as wider ones, by a function that knows an instruction for it."""
    lanes, kind = prod(_vector(op.result).shape), f"{sign}{width(lane_kind(c, op.operand))}"
    helper = c.unit.vector_helper(f"from_{kind}", suffix(target), lanes)
    return call(helper, address_of(c, integers(c, kind, lanes), shown))


def address(c: Context, kind: str, value: Value) -> Code:
    """The address of a vector of integers, as such of a kind: u8, say."""
    type, shown = integers(c, kind, prod(_vector(value).shape)), whole(c, value)
    return address_of(c, type, shown if kind[0] == "i" else cast(type, shown))


def integers(c: Context, kind: str, lanes: int) -> str:
    """The type of vectors of integers, signed or not."""
    return c.unit.vector_type(kind, f"{'u' * (kind[0] == 'u')}int{kind[1:]}_t", lanes)


def address_of(c: Context, type: str, shown: Code) -> Code:
    """The address of a variable that is, or gets, the value of an expression."""
    if shown.parts or shown.function:
        shown = c.lines.keep("", c.values.temporary, type, shown)
    return code(f"&{shown}", UNARY, shown)


def _scalar_or_whole(c: Context, value: Value) -> Code:
    """A vector beside another one: a number stands for all of its lanes."""
    shown = c.values.splats.get(value)
    if shown is None:
        return whole(c, value)
    c.lines.read(shown.text)
    return shown


def width_of(kind: ScalarType) -> int:
    """The bits of a lane."""
    return kind.width if isinstance(kind, FloatType) else width(kind)


def _vector(value: Value) -> VectorType:
    assert isinstance(value.type, VectorType)
    return value.type


def _element(type: VectorType) -> ScalarType:
    """What a lane is in C: narrow floats are computed with as floats."""
    if isinstance(type.element, FloatType) and type.element.width < 32:
        return FloatType("f32")
    return IntegerType(64) if isinstance(type.element, IndexType) else type.element


def is_narrow(value: Value) -> bool:
    """Whether the lanes of a vector are narrow floats."""
    return isinstance(value.type, VectorType) and _element(value.type) != value.type.element != IndexType()
