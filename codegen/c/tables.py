"""What each kind of arith and math is in C: rows of operators, helpers and functions of math.h."""

from __future__ import annotations

from affdsl.codegen.c.expressions import (
    BITS,
    PRIMARY,
    UNARY,
    Code,
    call,
    calling,
    cast,
    choose,
    code,
    infix,
    invert,
    negate,
)
from affdsl.codegen.c.types import container, float_literal, integer_literal, suffix, value_type
from affdsl.codegen.c.unit import Unit
from affdsl.errors import UnsupportedError
from affdsl.ir.dialects.arith import ROUNDING
from affdsl.ir.dialects.math import FLOAT_UNARY
from affdsl.ir.integers import width
from affdsl.ir.types import ComplexType, FloatType, IntegerType, NumberType, ScalarType

HELPER_OF = {
    "addi": "add", "subi": "sub", "muli": "mul", "divsi": "div", "divui": "divu", "remsi": "rem", "remui": "remu",
    "ceildivsi": "divceil", "ceildivui": "divuceil", "floordivsi": "divfloor", "shli": "shl", "shrsi": "shr",
    "shrui": "shru", "maxsi": "max", "maxui": "maxu", "minsi": "min", "minui": "minu", "andi": "and", "ori": "or",
    "xori": "xor", "ipowi": "power", "absi": "abs", "ctlz": "clz", "cttz": "ctz", "ctpop": "popcount",
    "maximumf": "maximum", "minimumf": "minimum", "maxnumf": "maxnum", "minnumf": "minnum",
}  # fmt: skip
"""Kinds that call a helper, whose name ends in the type."""

OPERATOR_OF = {"addf": "+", "subf": "-", "mulf": "*", "divf": "/", "andi": "&", "ori": "|", "xori": "^"}
"""Kinds that are an operator of C; the integer ones from 32 bits on, where C does not promote."""

WRAPPING = {"addi": "+", "subi": "-", "muli": "*"}
"""Kinds that are an operator of C on unsigned numbers."""

FUNCTION_OF = {
    **{kind: kind for kind in FLOAT_UNARY if kind not in ("absf", "rsqrt", "roundeven")},
    "atan2": "atan2", "copysign": "copysign",
    "absf": "fabs", "powf": "pow", "remf": "fmod",
}  # fmt: skip
"""Kinds that are a function of math.h."""

EXACT = frozenset("absf ceil floor round sqrt trunc copysign remf".split())
"""Functions whose result is exact, or rounded as the operators of C are: for float they end in f."""

FLOAT_COMPARISON = {"oeq": "==", "ogt": ">", "oge": ">=", "olt": "<", "ole": "<=", "une": "!="}
NEGATED_COMPARISON = {"ugt": "<=", "uge": "<", "ult": ">=", "ule": ">"}
INTEGER_COMPARISON = {"eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">="}
UNSIGNED_COMPARISON = {"ult": "<", "ule": "<=", "ugt": ">", "uge": ">="}

REDUCTION_KIND = {
    "addf": "addf", "mulf": "mulf", "maximumf": "maximumf", "minimumf": "minimumf", "addi": "addi", "muli": "muli",
    "andi": "andi", "ori": "ori", "maxs": "maxsi", "mins": "minsi", "maxu": "maxui", "minu": "minui",
}  # fmt: skip


def literal(value: int | float | complex, type: NumberType) -> Code:
    """A constant, whose headers `headers_of` includes."""
    if isinstance(type, ComplexType):
        real, imaginary = (float_literal(part, type.part) for part in (value.real, value.imag))
        return Code(f"CMPLX{'F' if type.part.name == 'f32' else ''}({real}, {imaginary})", function="CMPLX")
    assert not isinstance(value, complex), "a complex number has a complex type"
    if isinstance(type, FloatType):
        text, number = float_literal(float(value), type), None
    else:
        text = integer_literal(int(value), width(type))
        number = int(text) if text.lstrip("-").isdigit() else None
    return Code(text, UNARY if text.startswith("-") else PRIMARY, number=number)


def headers_of(shown: Code, unit: Unit) -> Code:
    """shown, with the headers included that its macros come from."""
    if shown.text.startswith("CMPLX"):
        unit.helper("CMPLX")
    if any(macro in shown.text for macro in ("INFINITY", "NAN")):
        unit.header("math.h")
    if shown.text in ("true", "false"):
        unit.header("stdbool.h")
    return shown


def rounded(value: Code, type: ScalarType, unit: Unit, *, is_double: bool = False) -> Code:
    """value, a float or a double, rounded to a narrow float type; other types are what C computed."""
    if isinstance(type, FloatType) and type.name in ("f16", "bf16"):
        return call(unit.helper(f"round_{type.name}"), call(unit.helper("odd_f32"), value) if is_double else value)
    return value


def binary(kind: str, type: ScalarType, left: Code, right: Code, unit: Unit, *, waits: bool = False) -> Code:
    """left kind right, for arith and math; `waits` is whether it needs what another iteration has made."""
    if isinstance(type, FloatType):
        if kind in OPERATOR_OF:
            return rounded(infix(OPERATOR_OF[kind], left, right), type, unit)
        if kind in FUNCTION_OF:
            return _function(kind, type, unit, left, right)
        if kind == "fpowi":
            return call(unit.helper(f"fpowi_{type}"), left, right)
        carried = "late_" if waits else "carried_" if left.variables or right.variables else ""
        return call(unit.helper(f"{carried}{HELPER_OF[kind]}_{'f64' if type.name == 'f64' else 'f32'}"), left, right)
    if width(type) == 1 and kind in ("remsi", "remui"):
        return Code("false")
    if width(type) == 1 and kind == "shrsi":
        return left
    if width(type) == 1 and kind in ("andi", "ori", "xori") and (logic := _logic(kind, left, right)) is not None:
        return logic
    if kind in OPERATOR_OF and width(type) in (32, 64):
        if kind == "xori" and left.number in (2, 10) and right.number is not None and right.number >= 0:
            left = Code(f"0x{int(left.text):x}")  # see the quirk `exclusive_or_of_two`
        return infix(OPERATOR_OF[kind], left, right)
    function = unit.helper(f"{HELPER_OF[kind]}_{suffix(type)}")
    wrapping = ("wrap" + WRAPPING[kind], left, right) if kind in WRAPPING else None
    return calling(function, f"{function}({left}, {right})", left, right, binary=wrapping)


def _logic(kind: str, left: Code, right: Code) -> Code | None:
    """A condition as a person writes it; None where compilers would warn that it is always the same.

    Arrays are read in any case: else a branch would decide it, which is often guessed wrong, and forbids vectors.
    """
    if kind == "xori":
        return invert(left) if right.text == "true" else invert(right) if left.text == "true" else None
    if left.buffers or right.buffers:
        sign, others = OPERATOR_OF[kind], cast("int", right) if right.function not in ("", "is_true") else right
        in_row = left.binary is not None and left.binary[0] == sign
        shown = f"{left.text if in_row else left.at(UNARY)} {sign} {others.at(UNARY)}"
        return code(shown, BITS, left, others, binary=(sign, left, others))
    compared = [part.binary[1].text for part in (left, right) if part.binary is not None]
    if len(set(compared)) < len(compared) or left.text == right.text or {left.text, right.text} & {"true", "false"}:
        return None
    return infix("&&" if kind == "andi" else "||", left, right)


def unary(kind: str, type: ScalarType, operand: Code, unit: Unit, *, paired: bool = False) -> Code:
    """kind(operand), for math; `type` is that of the operand. `paired` sines and cosines are made together."""
    if isinstance(type, FloatType):
        if kind in ("isfinite", "isinf", "isnan", "isnormal"):
            unit.header("math.h")
            if kind == "isnormal" and type.name == "f16":
                return call(unit.helper("isnormal_f16"), operand)
            return infix("!=", call(kind, operand), Code("0"))
        if kind == "roundeven":
            return call(unit.helper(f"roundeven_{'f64' if type.name == 'f64' else 'f32'}"), operand)
        if kind == "rsqrt":
            root = _function("sqrt", type, unit, operand) if type.name != "bf16" else _call(unit, "sqrtf", operand)
            return rounded(infix("/", literal(1.0, type), root), type, unit)
        return _function(kind, type, unit, operand, paired=paired)
    if width(type) == 1:
        return invert(operand) if kind in ("ctlz", "cttz") else operand
    return call(unit.helper(f"{HELPER_OF[kind]}_{suffix(type)}"), operand)


def fma(type: ScalarType, a: Code, b: Code, c: Code, unit: Unit) -> Code:
    """a * b + c, rounded once."""
    match type:
        case FloatType("f64"):
            return _call(unit, "fma", a, b, c)
        case FloatType("f32"):
            return _call(unit, "fmaf", a, b, c)
        case _:
            return rounded(call(unit.helper("odd_fma"), a, b, c), type, unit, is_double=True)


def compare(predicate: str, type: ScalarType, left: Code, right: Code, unit: Unit) -> Code:
    """left predicate right."""
    unit.header("stdbool.h")
    if isinstance(type, FloatType):
        return _compare_floats(predicate, left, right, unit)
    constant = any(part.text.lstrip("-")[:1].isdigit() or part.text in ("true", "false") for part in (left, right))
    if width(type) == 1 and predicate in ("eq", "ne") and not constant and left.text != right.text:
        return infix(INTEGER_COMPARISON[predicate], left, right)
    edges = {integer_literal(edge, width(type)) for edge in (-1 << width(type) - 1, (1 << width(type) - 1) - 1)}
    if {left.text, right.text} & edges or all(part.number is not None and part.number >= 0 for part in (left, right)):
        return call(unit.helper(f"{predicate}_{suffix(type)}"), left, right)
    if width(type) == 1 or left.text == right.text or width(type) != container(width(type)):
        return call(unit.helper(f"{predicate}_{suffix(type)}"), left, right)
    if predicate in UNSIGNED_COMPARISON:
        if constant or width(type) < 32:
            return call(unit.helper(f"{predicate}_{suffix(type)}"), left, right)
        unsigned = f"uint{width(type)}_t"
        return infix(UNSIGNED_COMPARISON[predicate], cast(unsigned, left), cast(unsigned, right))
    return infix(INTEGER_COMPARISON[predicate], left, right)


def select(type: NumberType, condition: Code, yes: Code, no: Code) -> Code:
    """condition ? yes : no"""
    chosen = choose(condition, yes, no)
    narrow = isinstance(type, IntegerType) and 1 < type.width <= 16
    return cast(value_type(type), chosen) if narrow else chosen  # C computes choices in int


def masked(type: ScalarType, condition: Code, value: Code) -> Code:
    """value where a condition holds, and else 0, without a branch: of integers."""
    return infix("&", value, negate(cast(value_type(type), condition)))


def convert(
    kind: str, source: ScalarType, target: ScalarType, operand: Code, unit: Unit, rounding: str = ROUNDING[0]
) -> Code:
    """A cast of arith; a truncf rounds by one of ROUNDING."""
    match kind, source, target:
        case "truncf", _, FloatType(name) if rounding != ROUNDING[0]:
            return call(unit.helper(f"truncf_{rounding}_{name}"), operand)
        case "bitcast", _, _:
            return _bitcast(source, target, operand, unit)
        case (("extf" | "truncf"), _, FloatType(name)):
            if name in ("f16", "bf16"):
                return rounded(operand, target, unit, is_double=value_type(source) == "double")
            return operand if value_type(source) == value_type(target) else cast(value_type(target), operand)
        case (("sitofp" | "uitofp"), IntegerType(bits), FloatType()):
            return _to_float(operand, bits, target, unit, signed=kind == "sitofp")
        case (("fptosi" | "fptoui"), _, _):
            return call(unit.helper(f"{kind}_{suffix(target)}"), operand)
        case (("extui" | "index_castui"), _, _) if width(source) < width(target):
            return _resize(_unsigned(operand, width(source)), width(target), unit)
        case _:
            return _resize(_signed(operand, width(source)), width(target), unit)


def extended_low(kind: str, type: ScalarType, left: Code, right: Code, unit: Unit) -> Code:
    """The low result of one of arith's EXTENDED kinds."""
    return binary("addi" if kind == "addui_extended" else "muli", type, left, right, unit)


def extended_high(kind: str, type: ScalarType, left: Code, right: Code, unit: Unit) -> Code:
    """The high result of one of arith's EXTENDED kinds; for a sum, `right` is the low one."""
    if kind == "addui_extended":
        return call(unit.helper(f"carry_{suffix(type)}"), right, left)
    if width(type) == 1:
        return Code("false")
    stem = "mulhi" if kind == "mulsi_extended" else "mulhiu"
    return call(unit.helper(f"{stem}_{suffix(type)}"), left, right)


def load_element(type: NumberType, element: Code, unit: Unit, *, unsigned: bool = False) -> Code:
    """The value of an element in memory. Arrays from elsewhere may hold any byte: of a bool, each that is not 0 is
    true; of an odd width, the lower bits count."""
    if isinstance(type, IntegerType) and type.width == 1:
        place = "&" + element.text if element.level == PRIMARY else element.text.removeprefix("*")
        function = unit.helper("is_true")
        return calling(function, f"{function}({place})", element)
    value = load(type, element, unit, unsigned=unsigned)
    if isinstance(type, IntegerType) and type.width != container(type.width):
        return call(unit.helper(f"extend_i{type.width}"), value)
    return value


def load(type: NumberType, element: Code, unit: Unit, *, unsigned: bool = False) -> Code:
    """The value of an argument or a result of a call, or of an element that is no bool."""
    if isinstance(type, FloatType) and type.name in ("f16", "bf16"):
        return call(unit.helper(f"{type.name}_value"), element)
    if not _reads_unsigned(type, unsigned):
        return element
    return code(f"({value_type(type)}){element.at(UNARY)}", UNARY, element, binary=("unsigned", element, element))


def store(type: NumberType, value: Code, unit: Unit, *, unsigned: bool = False) -> Code:
    """What to put into memory, or to pass, for a value."""
    if isinstance(type, FloatType) and type.name in ("f16", "bf16"):
        return call(unit.helper(f"{type.name}_bits"), value)
    if not _reads_unsigned(type, unsigned):
        return value
    assert isinstance(type, IntegerType), "nothing else is unsigned"
    if value.number is not None and value.number >= 0:
        return Code(f"{value.text}u")
    return cast(f"uint{container(width(type))}_t", value)


def _reads_unsigned(type: NumberType, unsigned: bool) -> bool:
    return unsigned and isinstance(type, IntegerType) and type.width > 1


def _call(unit: Unit, function: str, *operands: Code) -> Code:
    unit.header("math.h")
    return call(function, *operands)


def _function(kind: str, type: FloatType, unit: Unit, *operands: Code, paired: bool = False) -> Code:
    """A function of math.h. One that is not exact is computed in double, and rounded once to a shorter type."""
    name = FUNCTION_OF[kind]
    if kind in EXACT:
        shown = _call(unit, name if type.name == "f64" else f"{name}f", *operands)
        return rounded(shown, type, unit)
    helper = "power_f64" if kind == "powf" else f"paired_{kind}" if paired else ""
    shown = call(unit.helper(helper), *operands) if helper else _call(unit, name, *operands)
    return cast("float", shown) if type.name == "f32" else rounded(shown, type, unit, is_double=True)


def _compare_floats(predicate: str, left: Code, right: Code, unit: Unit) -> Code:
    if predicate in FLOAT_COMPARISON:
        return infix(FLOAT_COMPARISON[predicate], left, right)
    if predicate in NEGATED_COMPARISON:
        return invert(infix(NEGATED_COMPARISON[predicate], left, right))
    if predicate in ("true", "false"):
        return Code(predicate)
    unit.header("math.h")
    test = call("islessgreater" if predicate in ("one", "ueq") else "isunordered", left, right)
    return infix("==" if predicate in ("ueq", "ord") else "!=", test, Code("0"))


def _signed(operand: Code, bits: int) -> Code:
    """operand as a signed number in C: true is -1."""
    return negate(cast("int", operand)) if bits == 1 else operand


def _unsigned(operand: Code, bits: int) -> Code:
    """operand as an unsigned number in C."""
    if bits == 1:
        return operand
    if operand.binary is not None and operand.binary[0] == "unsigned":
        return operand.binary[1]
    narrow = cast(f"uint{container(bits)}_t", operand)
    if bits == container(bits):
        return narrow
    return infix("&", narrow, Code(f"UINT64_C(0x{(1 << bits) - 1:x})"))


def _resize(operand: Code, bits: int, unit: Unit) -> Code:
    if bits == 1:
        unit.header("stdbool.h")
        return infix("!=", infix("&", operand, Code("1")), Code("0"))
    if bits == container(bits):
        return cast(f"int{bits}_t", operand)
    return call(unit.helper(f"extend_i{bits}"), cast(f"int{container(bits)}_t", operand))


def _to_float(operand: Code, bits: int, target: FloatType, unit: Unit, *, signed: bool) -> Code:
    number = _signed(operand, bits) if signed else _unsigned(operand, bits)
    if target.name in ("f16", "bf16"):
        if bits > 53:
            number = call(unit.helper("odd_i64" if signed else "odd_u64"), number)
        return rounded(cast("double", number), target, unit, is_double=True)
    return cast(value_type(target), number)


def _bitcast(source: ScalarType, target: ScalarType, operand: Code, unit: Unit) -> Code:
    if source == target:
        return operand
    if isinstance(source, FloatType):
        if source.name in ("f16", "bf16"):
            bits = cast("int16_t", call(unit.helper(f"{source.name}_bits"), operand))
        else:
            bits = call(unit.helper(f"bits_{source.name}"), operand)
    else:
        bits = operand
    match target:
        case FloatType("f16" | "bf16"):
            return call(unit.helper(f"{target.name}_value"), cast("uint16_t", bits))
        case FloatType():
            return call(unit.helper(f"float_i{target.width}"), bits)
        case _ if width(source) == width(target):
            return bits
    raise UnsupportedError(f"C output has no bitcast from {source} to {target}")
