"""What passes between a caller and a function: arguments, results, and what the function assumes."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from affdsl.ir.dialects import func
from affdsl.ir.expr import Constraint, Value
from affdsl.ir.interpreter.buffers import Array, BufferView, layout_mismatch, unwrap_array, wrap_array
from affdsl.ir.interpreter.environment import Env, InterpreterError, element_type, listed
from affdsl.ir.messages import shown
from affdsl.ir.numeric import Number, dtype, number_of, width
from affdsl.ir.numeric import unsigned as as_unsigned
from affdsl.ir.spelling import hint, spell_constraint
from affdsl.ir.types import (
    ComplexType,
    FloatType,
    IntegerType,
    MemRefType,
    NumberType,
    StridedLayout,
    Type,
    UnrankedMemRefType,
    VectorType,
)

Argument: TypeAlias = int | float | complex | np.generic | Array
Result: TypeAlias = int | float | complex | np.generic | Array


def argument(function: func.Func, position: int, given: Argument) -> Number | BufferView:
    """What the caller gave for an argument, as the function sees it."""
    value = function.args[position]
    what = f"@{function.symbol}: argument {shown(value)}"
    is_unsigned = position in function.unsigned
    type = value.type
    if isinstance(type, MemRefType):
        element = element_type(value, function)
        is_unsigned |= has_unsigned(element)
        wanted = dtype(element, unsigned=is_unsigned)
        if not isinstance(given, np.ndarray):
            raise InterpreterError(f"{what} must be a NumPy array, got {given!r}")
        if given.dtype != wanted or given.ndim != type.rank:
            raise InterpreterError(
                f"{what} must have dtype {wanted} and rank {type.rank}, got {given.dtype} and rank {given.ndim}"
            )
        # A strided view carries no offset: its first element is where the offset of its type points.
        buffer = wrap_array(given, element, type.layout.offset if isinstance(type.layout, StridedLayout) else 0)
        if buffer is None:
            raise InterpreterError(f"{what} has strides ({listed(given.strides)}) that its elements do not divide")
        return buffer
    if not isinstance(type, NumberType):
        raise InterpreterError(f"{what} has type {type}, which cannot be passed to the interpreter")
    return _scalar_argument(what, given, type, is_unsigned=is_unsigned)


def _scalar_argument(what: str, given: Argument, type: NumberType, *, is_unsigned: bool) -> Number:
    if isinstance(type, ComplexType):
        if not isinstance(given, int | float | complex | np.number) or isinstance(given, bool | np.timedelta64):
            raise InterpreterError(f"{what} must be a complex number, got {given!r}")
        return number_of(complex(given), type)
    if isinstance(type, FloatType):
        if not isinstance(given, int | float | np.floating | np.integer) or isinstance(given, bool):
            raise InterpreterError(f"{what} must be a number, got {given!r}")
        return number_of(int(given) if isinstance(given, int | np.integer) else float(given), type)
    if not isinstance(given, int | np.integer | np.bool_):
        raise InterpreterError(f"{what} must be an integer, got {given!r}")
    bits, number = width(type), int(given)
    from_zero = is_unsigned or has_unsigned(type) or bits == 1
    low, high = (0, (1 << bits) - 1) if from_zero else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    if not low <= number <= high:
        raise InterpreterError(f"{what} must lie between {low} and {high}, got {number}")
    return number_of(number, type)


def result_of(type: Type, result: Number | BufferView, what: str, *, unsigned: bool = False) -> Result:
    """A result as the caller sees it; `unsigned` is how it means integers that have no sign."""
    if isinstance(result, BufferView):
        if result.dead:
            raise InterpreterError(f"{what} is a buffer that cannot be used: {result.dead}")
        element = type.element if isinstance(type, MemRefType | UnrankedMemRefType) else None
        if not isinstance(element, NumberType):
            raise InterpreterError(f"{what} has type {type}, which cannot be handed out")
        return unwrap_array(result, element, unsigned=unsigned or has_unsigned(element))
    if isinstance(type, VectorType):
        raise InterpreterError(f"{what} has type {type}, which cannot be handed out")
    if isinstance(type, IntegerType) and isinstance(result, int):
        if type.width == 1:
            return bool(result)
        return as_unsigned(result, type.width) if unsigned or has_unsigned(type) else result
    return result


def given_back(value: Value, given: object, function: func.Func) -> Number:
    """What an external function gave, as its caller sees it."""
    what = f"@{function.symbol}: result {shown(value)}"
    if not isinstance(value.type, NumberType):
        raise InterpreterError(f"{what} has type {value.type}, which an external function cannot give")
    if not isinstance(given, int | float | complex | np.generic):
        raise InterpreterError(f"{what} must be a number, got {given!r}")
    return _scalar_argument(what, given, value.type, is_unsigned=False)


def has_unsigned(type: NumberType) -> bool:
    """Whether a type says by itself that its integers are unsigned."""
    return isinstance(type, IntegerType) and type.sign == "u"


def check_contract(function: func.Func, env: Env) -> None:
    """Check the static sizes and layouts, `shapes` and `assumes` of a function against its arguments."""
    for position, value in enumerate(function.args):
        if not isinstance(value.type, MemRefType):
            continue
        buffer: BufferView = env[value]
        what = f"@{function.symbol}: argument {shown(value)}"
        if mismatch := layout_mismatch(buffer, value.type):
            raise InterpreterError(f"{what} has {mismatch}")
        promised = function.shapes[position] if function.shapes else None
        sizes = None if promised is None else tuple(e.evaluate(env) for e in promised)
        if sizes is not None and sizes != buffer.shape:
            raise InterpreterError(f"{what} has sizes ({listed(buffer.shape)}), but must have ({listed(sizes)})")
    for fact in function.assumes:
        if not fact.holds(env):
            raise InterpreterError(f"@{function.symbol} assumes {_with_numbers(fact, env)}")


def _with_numbers(fact: Constraint, env: Env) -> str:
    values = ", ".join(f"{hint(v)} = {env[v]}" for v in dict.fromkeys(fact.values()))
    return f"{spell_constraint(fact)}, which does not hold for {values}"
