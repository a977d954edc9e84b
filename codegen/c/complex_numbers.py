"""Complex numbers as C11 has them: the operators of C where they are exact, and formulas on the parts where not.

C leaves products and quotients of `double _Complex` to the compiler, which calls a function for infinities and NaN; so
they are written on the parts here, as `affdsl.ir.complex_numbers` has them.
"""

from __future__ import annotations

from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import Code, call, calling, cast, infix, negate
from affdsl.codegen.c.tables import headers_of, literal
from affdsl.codegen.c.types import number_type, value_type
from affdsl.codegen.c.unit import Unit
from affdsl.ir.core import Op
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.types import ComplexType

_LIBRARY = {kind: f"c{kind}" for kind in ("exp", "log", "sqrt", "sin", "cos", "tan", "tanh")}
"""Kinds that are a function of complex.h, which is called in double and rounded once to a shorter type."""
_MEASURES = {"abs": "cabs", "angle": "carg"}
"""As those, with a real result."""


def constant(c: Context, op: complex_.Constant) -> None:
    """A literal."""
    shown = headers_of(literal(op.value, number_type(op.result.type)), c.unit)
    if op.result.hint:
        c.values.name(op.result, shown)
    else:
        c.values.codes[op.result] = shown


def create(c: Context, op: complex_.Create) -> None:
    """A number of two parts."""
    c.values.define(op.result, _made(op.result.type, c.values.of(op.real), c.values.of(op.imaginary), c.unit))


def compute(c: Context, op: complex_.Part | complex_.Unary | complex_.Binary | complex_.Compare) -> None:
    """An operation on numbers that are there already."""
    c.values.define(op.result, _computed(c, op))


def _computed(c: Context, op: complex_.Part | complex_.Unary | complex_.Binary | complex_.Compare) -> Code:
    match op:
        case complex_.Part():
            return _part(op.kind, _type(op), c.values.of(op.operand), c.unit)
        case complex_.Unary():
            return _unary(op.kind, _type(op), c.values.of(op.operand), c.unit)
        case complex_.Binary():
            left, right = c.values.of(op.left), c.values.of(op.right)
            return _binary(op.kind, _type(op), left, right, c.unit)
        case complex_.Compare():
            left, right = c.values.of(op.left), c.values.of(op.right)
            c.unit.header("stdbool.h")
            return infix("==" if op.kind == "eq" else "!=", left, right)


def _part(kind: str, type: ComplexType, operand: Code, unit: Unit) -> Code:
    if kind in ("re", "im"):
        return _of_header(f"c{'real' if kind == 're' else 'imag'}{_f(type)}", operand, unit=unit)
    return _rounded(_of_header(_MEASURES[kind], operand, unit=unit), "float", type)


def _unary(kind: str, type: ComplexType, operand: Code, unit: Unit) -> Code:
    if kind == "neg":
        return negate(operand)
    if kind == "conj":
        return _of_header(f"conj{_f(type)}", operand, unit=unit)
    return _rounded(_of_header(_LIBRARY[kind], operand, unit=unit), value_type(type), type)


def _binary(kind: str, type: ComplexType, left: Code, right: Code, unit: Unit) -> Code:
    if kind in ("add", "sub"):
        return infix("+" if kind == "add" else "-", left, right)
    if kind == "pow":
        return _rounded(call(unit.helper("pow_c128"), left, right), value_type(type), type)
    return call(unit.helper(f"{kind}_{'c64' if _f(type) else 'c128'}"), left, right)


def _made(type: object, real: Code, imaginary: Code, unit: Unit) -> Code:
    assert isinstance(type, ComplexType)
    macro = unit.helper("CMPLX")
    return calling(macro, f"{macro}{_f(type).upper()}({real}, {imaginary})", real, imaginary)


def _of_header(function: str, *operands: Code, unit: Unit) -> Code:
    unit.header("complex.h")
    return call(function, *operands)


def _rounded(shown: Code, to: str, type: ComplexType) -> Code:
    return cast(to, shown) if _f(type) else shown


def _f(type: ComplexType) -> str:
    """What ends the names of functions on floats."""
    return "f" if type.part.name == "f32" else ""


def _type(op: Op) -> ComplexType:
    type = next(op.reads()).type
    assert isinstance(type, ComplexType), "the verifier has seen it"
    return type
