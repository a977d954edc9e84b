"""Numbers of an element type that a kernel computes, and the arithmetic on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, math
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.expr import Affine, Value
from affdsl.lang.builder import current
from affdsl.lang.dtypes import (
    NUMBERS,
    DType,
    Number,
    bool_,
    c128,
    f32,
    f64,
    i32,
    i64,
    index,
    literal,
    parts_of,
    u64,
)
from affdsl.lang.source import assigned_name, here, problem
from affdsl.lang.traced import Arithmetic, Operand, Traced, wide
from affdsl.lang.type_variables import DTypes, being_made


class Scalar(Arithmetic["Scalar"]):
    """A number of an element type, computed by the kernel: an element of an array, an argument, what operators give.

    Operators build arithmetic, on numbers of one type: Python numbers take the type of the other, and nothing else is
    converted in silence. Comparisons give a bool_.

    For type checkers it is also what a call passes for a number: `a: Annotated[affdsl.Scalar, affdsl.f64]`.

    Attributes
    ----------
    dtype
        The type.
    value
        The value of the IR.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(a: af.f64, b: af.f64):
    ...     return (a + b) * a - 1.0
    >>> print(f.interpret(2.0, 3.0))
    9.0
    """

    __slots__ = ("_value", "dtype")

    def __init__(self, value: Value | None, dtype: DType) -> None:
        self._value = value
        self.dtype = dtype

    @property
    def value(self) -> Value:
        """The value that it stands for."""
        if self._value is None:
            current().require_complete()
            raise problem(
                ProgramError,
                "the result of a loop or branch is used before it has ended",
                "use it after the with-block (for if_, after its else_)",
            )
        return self._value

    @property
    def has_value(self) -> bool:
        """Whether it stands for one yet: the result of a loop or branch does so when that has ended."""
        return self._value is not None

    def bind(self, value: Value) -> None:
        """Stand for another value from now on: a carried value becomes the loop's result."""
        self._value = value

    def like(self, value: Value) -> Scalar:
        """Another number of the same type."""
        return Scalar(value, self.dtype)

    @property
    def _comparison(self) -> str:
        return "" if self.dtype.kind == "bool" else super()._comparison

    def scalar(self) -> Scalar:
        """self"""
        return self

    def describe(self) -> str:
        """What messages call it."""
        name = self._value.hint if self._value is not None else ""
        return f"{name} ({self.dtype})" if name else f"a number of type {self.dtype}"

    def combine(self, symbol: str, left: Operand, right: Operand) -> Scalar:
        """left <symbol> right"""
        _refuse_literal(symbol, left, right)
        if (several := wide(left, right)) is not None:
            return several.combine(symbol, left, right)  # type: ignore[return-value]
        a, b = operands(symbol, left, right)
        kind = kind_of(symbol, a.dtype)
        operation = complex_.Binary if a.dtype.kind == "complex" else arith.Binary
        return emit_scalar(a.dtype, lambda r: operation(r, kind, a.value, b.value))

    def compared(self, symbol: str, left: Operand, right: Operand) -> Scalar:
        """left <symbol> right as a bool_"""
        return compare(symbol, left, right)

    def __mod__(self, other: Operand) -> Scalar:
        return _modulo(self, other)

    def __rmod__(self, other: Operand) -> Scalar:
        return _modulo(other, self)

    def __pow__(self, other: Operand, modulo: object = None) -> Scalar:
        if modulo is not None:
            raise problem(ProgramTypeError, "pow with a modulus is not there", "write affdsl.pow(x, y) % m")
        return power(self, other)

    def __rpow__(self, other: Operand) -> Scalar:
        return power(other, self)

    def __invert__(self) -> Scalar:
        ones = True if self.dtype.kind == "bool" else -1
        if self.dtype.kind == "unsigned":
            ones = 2**self.dtype.type.width - 1  # type: ignore[union-attr]
        return self.combine("^", self, ones)

    @property
    def real(self) -> Scalar:
        """The real part of a complex number."""
        return self._part("re", "real")

    @property
    def imag(self) -> Scalar:
        """The imaginary part of a complex number."""
        return self._part("im", "imag")

    def conj(self) -> Scalar:
        """The complex number with the other sign of its imaginary part."""
        require_complex("conj", self, "a real number is its own: leave conj out")
        return emit_scalar(self.dtype, lambda r: complex_.Unary(r, "conj", self.value))

    conjugate = conj

    def _part(self, kind: str, name: str) -> Scalar:
        require_complex(name, self, "a real number has no parts")
        return emit_scalar(parts_of(self.dtype), lambda r: complex_.Part(r, kind, self.value))

    def __neg__(self) -> Scalar:
        if self.dtype.kind == "complex":
            return emit_scalar(self.dtype, lambda r: complex_.Unary(r, "neg", self.value))
        if self.dtype.kind == "float":
            return emit_scalar(self.dtype, lambda r: arith.Negate(r, self.value))
        return self.combine("-", 0, self)

    def __pos__(self) -> Scalar:
        return Scalar(self.value, self.dtype)

    def __abs__(self) -> Scalar:
        if self.dtype.kind in ("unsigned", "bool"):
            return self
        if self.dtype.kind == "complex":
            return self._part("abs", "abs")
        kind = "absf" if self.dtype.kind == "float" else "absi"
        return emit_scalar(self.dtype, lambda r: math.Unary(r, kind, self.value))


def emit_scalar(dtype: DType, make: Callable[[Value], Op], hint: str | None = None) -> Scalar:
    """A new scalar, defined by the operation that `make` builds for its value.

    It is called what the user is about to call it; what is computed on the way there has an empty hint.
    """
    result = Value(dtype.type, assigned_name() if hint is None else hint, here())
    current().emit(make(result))
    return Scalar(result, dtype)


def constant(number: Number, dtype: DType, hint: str | None = "") -> Scalar:
    """A Python number as a scalar of the given type. Raises ProgramTypeError where the type cannot hold it."""
    value = literal(number, dtype)
    if isinstance(value, complex):
        return emit_scalar(dtype, lambda r: complex_.Constant(r, value), hint)
    return emit_scalar(dtype, lambda r: arith.Constant(r, value), hint)


def require_complex(what: str, x: Scalar, advice: str) -> None:
    """Raise ProgramTypeError where x is no complex number."""
    if x.dtype.kind != "complex":
        raise problem(ProgramTypeError, f"{what} needs a complex number, got {x.describe()}", advice)


def operands(what: str, left: Operand, right: Operand) -> tuple[Scalar, Scalar]:
    """Two operands as scalars of one type: numbers take the other's type, integers meet an index as an index.

    Raises ProgramTypeError where the types differ: nothing is converted in silence.
    """
    given: tuple[object, ...] = (left, right)
    for x in given:
        if not isinstance(x, (Traced, *NUMBERS)):
            raise problem(ProgramTypeError, f"{what} needs numbers, got {type(x).__name__}", _number_of(x))
    if not isinstance(left, Traced):
        if not isinstance(right, Traced):
            raise problem(ProgramTypeError, f"{what} on Python numbers alone has no type; write affdsl.f64(x)")
        b = right.scalar()
        return constant(left, b.dtype), b
    a = left.scalar()
    if not isinstance(right, Traced):
        return a, constant(right, a.dtype)
    b = right.scalar()
    if a.dtype == b.dtype:
        return a, b
    kinds = {a.dtype.kind, b.dtype.kind}
    if "index" in kinds and kinds <= {"index", "signed", "unsigned"}:
        return cast(a, index, ""), cast(b, index, "")
    other = next((x.dtype for x in (a, b) if x.dtype != index), index)
    found = next((x.dtype for x in (a, b) if x.dtype.kind == "complex"), None)
    if found is not None and kinds != {"complex"}:
        wanted = c128 if {a.dtype, b.dtype} & {f64, i64, u64} else found
        raise problem(
            ProgramTypeError,
            f"{what} of {a.describe()} and {b.describe()}: the types differ",
            f"convert to the same complex type: affdsl.{wanted}(...)",
        )
    raise problem(
        ProgramTypeError,
        f"{what} of {a.describe()} and {b.describe()}: the types differ",
        f"convert the index: affdsl.{other}(...)"
        if "index" in kinds
        else f"convert one of them: affdsl.{b.dtype}(...) or affdsl.{a.dtype}(...)",
    )


def _number_of(x: object) -> str:
    """What to compute with instead of what is no number."""
    if isinstance(x, np.ndarray | list | tuple):
        return (
            "take one element, w[i], of an argument, or of an array of numbers as w = affdsl.constant(w) in the kernel"
        )
    return ""


_FLOAT = {"+": "addf", "-": "subf", "*": "mulf", "/": "divf"}
_INTEGER = {
    "+": "addi", "-": "subi", "*": "muli", "//": "floordivsi", "&": "andi", "|": "ori", "^": "xori",
    "<<": "shli", ">>": "shrsi", "ceildiv": "ceildivsi",
}  # fmt: skip
_COMPLEX = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
_UNSIGNED = _INTEGER | {"//": "divui", ">>": "shrui", "ceildiv": "ceildivui"}
_BOOL = {"&": "andi", "|": "ori", "^": "xori"}
_TABLES = {
    "float": _FLOAT,
    "complex": _COMPLEX,
    "signed": _INTEGER,
    "index": _INTEGER,
    "unsigned": _UNSIGNED,
    "bool": _BOOL,
}


def kind_of(symbol: str, dtype: DType) -> str:
    """The operation of arith that an operator is. Raises ProgramTypeError where a type does not have it."""
    kind = _TABLES[dtype.kind].get(symbol)
    if kind is None:
        raise problem(ProgramTypeError, f"{dtype} has no operator {symbol}", _advice(symbol, dtype))
    return kind


def _refuse_literal(symbol: str, left: Operand, right: Operand) -> None:
    """Raise ProgramTypeError where an integer is divided by the number 0, or shifted by a negative one."""
    if not (isinstance(left, Traced) and isinstance(right, int | np.integer)):
        return
    if symbol in ("//", "%", "ceildiv") and right == 0:
        raise problem(
            ProgramTypeError,
            f"{left.describe()} {symbol} 0 divides by zero",
            "divide by another number; a divisor computed by the kernel may be 0 and then gives 0",
        )
    if symbol in ("<<", ">>") and right < 0:
        other = "<<" if symbol == ">>" else ">>"
        what = f"{left.describe()} {symbol} {right} shifts by a negative number"
        raise problem(ProgramTypeError, what, f"write {other} {-right}")


def _advice(symbol: str, dtype: DType) -> str:
    if dtype.kind == "complex":
        return "complex numbers have + - * / and ==; take x.real or x.imag for what real numbers have"
    if symbol == "ceildiv" and dtype.kind == "float":
        return "use affdsl.ceil(a / b)"
    if symbol == "/":
        return "use // for the rounded-down quotient, or convert to affdsl.f64 first"
    if symbol in ("//", "%") and dtype.kind == "float":
        return "use affdsl.floor(a / b), or affdsl.fmod(a, b) for C's remainder"
    if dtype.kind == "bool":
        return "use & | ^ ~ and affdsl.select, or convert to affdsl.i32 first"
    return "convert to an integer first: affdsl.i64(x)"


def _modulo(left: Operand, right: Operand) -> Scalar:
    """Python's %: the sign of the divisor; 0 where the divisor is 0."""
    _refuse_literal("%", left, right)
    a, b = operands("%", left, right)
    if a.dtype.kind == "unsigned":
        return emit_scalar(a.dtype, lambda r: arith.Binary(r, "remui", a.value, b.value))
    if a.dtype.kind not in ("signed", "index"):
        raise problem(ProgramTypeError, f"{a.dtype} has no operator %", _advice("%", a.dtype))
    quotient = emit_scalar(a.dtype, lambda r: arith.Binary(r, "floordivsi", a.value, b.value), "")
    product = emit_scalar(a.dtype, lambda r: arith.Binary(r, "muli", quotient.value, b.value), "")
    if not isinstance(right, Traced):
        return a - product
    rest = emit_scalar(a.dtype, lambda r: arith.Binary(r, "subi", a.value, product.value), "")
    return _unless_zero(b, rest)


def _unless_zero(divisor: Scalar, remainder: Scalar) -> Scalar:
    """remainder, and 0 where the divisor is 0: the quotient is 0 there, which would leave the whole dividend."""
    zero = constant(0, divisor.dtype)
    test = emit_scalar(bool_, lambda r: arith.Compare(r, "cmpi", "eq", divisor.value, zero.value), "")
    return emit_scalar(remainder.dtype, lambda r: arith.Select(r, test.value, zero.value, remainder.value))


_SIGNED_PREDICATES = {"<": "slt", "<=": "sle", ">": "sgt", ">=": "sge", "==": "eq", "!=": "ne"}
_UNSIGNED_PREDICATES = {"<": "ult", "<=": "ule", ">": "ugt", ">=": "uge", "==": "eq", "!=": "ne"}
_FLOAT_PREDICATES = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge", "==": "oeq", "!=": "une"}


def predicate_of(symbol: str, dtype: DType) -> tuple[str, str]:
    """The kind and the predicate of arith that a comparison is."""
    if dtype.kind == "float":
        return "cmpf", _FLOAT_PREDICATES[symbol]
    table = _UNSIGNED_PREDICATES if dtype.kind in ("unsigned", "bool") else _SIGNED_PREDICATES
    return "cmpi", table[symbol]


def compare(symbol: str, left: Operand, right: Operand) -> Scalar:
    """left <symbol> right as a bool_."""
    if (several := wide(left, right)) is not None:
        return several.compared(symbol, left, right)  # type: ignore[return-value]
    a, b = operands(symbol, left, right)
    if a.dtype.kind == "complex":
        return _same_or_not(symbol, a, b)
    kind, predicate = predicate_of(symbol, a.dtype)
    return emit_scalar(bool_, lambda r: arith.Compare(r, kind, predicate, a.value, b.value))


def _same_or_not(symbol: str, a: Scalar, b: Scalar) -> Scalar:
    """== or != of complex numbers. Raises ProgramTypeError for others."""
    if symbol not in ("==", "!="):
        raise no_order(symbol, a)
    kind = "eq" if symbol == "==" else "neq"
    return emit_scalar(bool_, lambda r: complex_.Compare(r, kind, a.value, b.value))


def no_order(what: str, x: Scalar) -> ProgramError:
    """The error where complex numbers are asked which of them is larger."""
    advice = "compare affdsl.abs(x) with affdsl.abs(y), or x.real with y.real; == and != compare both parts"
    return problem(ProgramTypeError, f"{what} of {x.describe()}: complex numbers have no order", advice)


def power(base: Operand, exponent: Operand) -> Scalar:
    """base to the power of exponent; an integer, and 2.0, written as a number is repeated multiplication."""
    if isinstance(exponent, float) and exponent == 2 and isinstance(base, Scalar) and base.dtype.kind == "float":
        return base * base
    if isinstance(base, Scalar) and isinstance(exponent, int | np.integer) and not isinstance(exponent, bool):
        if base.dtype.kind == "complex":
            return _whole_power(base, int(exponent))
        if base.dtype.kind not in ("float", "signed"):
            raise problem(ProgramTypeError, f"{base.dtype} has no operator **", _advice("**", base.dtype))
        if exponent < 0 and base.dtype.kind == "signed":
            raise problem(
                ProgramTypeError,
                f"{base.describe()} ** {exponent} is a fraction, but {base.dtype} holds whole numbers",
                f"write affdsl.f64(x) ** {exponent}",
            )
        if exponent == 2:
            return base * base
        whole = constant(exponent, i32 if base.dtype.kind == "float" else base.dtype)
        kind = "fpowi" if base.dtype.kind == "float" else "ipowi"
        return emit_scalar(base.dtype, lambda r: math.Binary(r, kind, base.value, whole.value))
    a, b = operands("**", base, exponent)
    if a.dtype.kind == "complex":
        return emit_scalar(a.dtype, lambda r: complex_.Binary(r, "pow", a.value, b.value))
    if a.dtype.kind != "float":
        raise problem(ProgramTypeError, f"{a.dtype} has no operator ** with an exponent that varies",
                      "convert both to affdsl.f64 first")  # fmt: skip
    return emit_scalar(a.dtype, lambda r: math.Binary(r, "powf", a.value, b.value))


def _whole_power(base: Scalar, exponent: int) -> Scalar:
    """base to a whole power, by squaring."""
    if exponent <= 0:
        return constant(1, base.dtype) / _whole_power(base, -exponent) if exponent else constant(1, base.dtype)
    half = base if exponent < 4 else _whole_power(base, exponent // 2)
    square = half * half if exponent > 1 else base
    return square * base if exponent % 2 and exponent > 1 else square


def cast(x: Operand, dtype: DType | DTypes, hint: str | None = None) -> Scalar:
    """A number as one of another type: `affdsl.f32(x)` says the same.

    Integers wrap; floats round to nearest even; a float becomes an integer by dropping its fraction, at the type's ends
    where it lies outside, and 0 where it is NaN.

    Parameters
    ----------
    x
        A number of the kernel, an index, or a Python number.
    dtype
        The type, as `affdsl.f32`.
    hint
        What the number is called in MLIR and C; by default what it is assigned to.

    Raises
    ------
    ProgramTypeError
        For what is no number, and for a Python number that the type cannot hold.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(x: af.f64):
    ...     return af.cast(x, af.i8), af.f32(x)
    >>> print(*f.interpret(-2.75))
    -2 -2.75
    """
    dtype = being_made(dtype)
    if not isinstance(x, Traced):
        if isinstance(x, bool | np.bool_):
            return constant(bool(x) if dtype.kind == "bool" else int(x), dtype, hint)
        is_truth = dtype.kind == "bool" and isinstance(x, int | float) and x in (0, 1)
        return constant(bool(x) if is_truth else x, dtype, hint)
    a = x.scalar()
    source, target = a.dtype, dtype
    if source == target:
        return a
    if source.type == target.type:
        return Scalar(a.value, target)
    if "complex" in (source.kind, target.kind):
        return _cast_complex(a, target, hint)
    if target.kind == "bool":
        return compare("!=", a, 0 if source.kind != "float" else 0.0)
    kind = _cast_kind(source, target)
    if kind is None:  # no single operation goes there: by way of i64 or f32
        middle = f32 if {source.kind, target.kind} == {"float"} else (u64 if "unsigned" in (source.kind,) else i64)
        return cast(cast(a, middle, ""), target, hint)
    return emit_scalar(target, lambda r: arith.Cast(r, kind, a.value), hint)


def _cast_complex(a: Scalar, target: DType, hint: str | None) -> Scalar:
    """A number as a complex one; a complex one as one of the other type, or whether it is not 0."""
    if target.kind == "bool":
        return compare("!=", a, 0)
    if target.kind != "complex":
        raise problem(
            ProgramTypeError,
            f"{target} cannot hold {a.describe()}, which has two parts",
            f"convert one: affdsl.{target}(x.real), or affdsl.abs(x)",
        )
    part = parts_of(target)
    is_complex = a.dtype.kind == "complex"
    real = cast(a._part("re", "real") if is_complex else a, part, "")
    imaginary = cast(a._part("im", "imag"), part, "") if is_complex else constant(0, part)
    return emit_scalar(target, lambda r: complex_.Create(r, real.value, imaginary.value), hint)


def _cast_kind(source: DType, target: DType) -> str | None:
    unsigned = source.kind in ("unsigned", "bool")
    if source.kind == "float" and target.kind == "float":
        a, b = source.type.width, target.type.width  # type: ignore[union-attr]
        return "extf" if a < b else "truncf" if a > b else None
    if "index" in (source.kind, target.kind):
        if "float" in (source.kind, target.kind):
            return None
        return "index_castui" if unsigned else "index_cast"
    if source.kind == "float":
        return "fptoui" if target.kind == "unsigned" else "fptosi"
    if target.kind == "float":
        return "uitofp" if unsigned else "sitofp"
    if source.type.width < target.type.width:  # type: ignore[union-attr]
        return "extui" if unsigned else "extsi"
    return "trunci"


def index_scalar(expr: Affine) -> Scalar:
    """An affine expression as a scalar of type index."""
    return Scalar(current().operand(expr), index)


DType.convert = cast
