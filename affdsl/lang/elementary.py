"""Functions of one number: of floats, of integers, and some of complex numbers too."""

from __future__ import annotations

from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.dialects import math
from affdsl.lang.described import EXAMPLES, describe
from affdsl.lang.dtypes import NUMBERS, DType, bool_
from affdsl.lang.scalars import Scalar, emit_scalar
from affdsl.lang.source import problem
from affdsl.lang.traced import Operand, Traced


def abs(x: Operand) -> Scalar:
    """The magnitude of a number; of a complex one, in the type of its parts."""
    return _of_one("abs", x, "absf", "absi")


def acos(x: Operand) -> Scalar:
    """The angle in radians, from 0 to pi, whose cosine is x."""
    return _of_one("acos", x, "acos")


def acosh(x: Operand) -> Scalar:
    """The number of at least 0 whose hyperbolic cosine is x."""
    return _of_one("acosh", x, "acosh")


def asin(x: Operand) -> Scalar:
    """The angle in radians, from -pi/2 to pi/2, whose sine is x."""
    return _of_one("asin", x, "asin")


def asinh(x: Operand) -> Scalar:
    """The number whose hyperbolic sine is x."""
    return _of_one("asinh", x, "asinh")


def atan(x: Operand) -> Scalar:
    """The angle in radians, from -pi/2 to pi/2, whose tangent is x."""
    return _of_one("atan", x, "atan")


def atanh(x: Operand) -> Scalar:
    """The number whose hyperbolic tangent is x."""
    return _of_one("atanh", x, "atanh")


def cbrt(x: Operand) -> Scalar:
    """The cube root, of negative numbers too."""
    return _of_one("cbrt", x, "cbrt")


def ceil(x: Operand) -> Scalar:
    """The smallest whole number that is not below x, as a float."""
    return _of_one("ceil", x, "ceil")


def cos(x: Operand) -> Scalar:
    """The cosine of x, an angle in radians."""
    return _of_one("cos", x, "cos")


def cosh(x: Operand) -> Scalar:
    """The hyperbolic cosine of x."""
    return _of_one("cosh", x, "cosh")


def erf(x: Operand) -> Scalar:
    """The error function of x, from -1 to 1."""
    return _of_one("erf", x, "erf")


def erfc(x: Operand) -> Scalar:
    """What the error function of x lacks to 1: 1 - erf(x), exact also where that is tiny."""
    return _of_one("erfc", x, "erfc")


def exp(x: Operand) -> Scalar:
    """e to the power of x."""
    return _of_one("exp", x, "exp")


def exp2(x: Operand) -> Scalar:
    """2 to the power of x."""
    return _of_one("exp2", x, "exp2")


def expm1(x: Operand) -> Scalar:
    """e to the power of x, less 1: exact also near 0."""
    return _of_one("expm1", x, "expm1")


def floor(x: Operand) -> Scalar:
    """The largest whole number that is not above x, as a float."""
    return _of_one("floor", x, "floor")


def isfinite(x: Operand) -> Scalar:
    """Whether a float is neither infinite nor NaN, as a bool_."""
    return _test("isfinite", x)


def isinf(x: Operand) -> Scalar:
    """Whether a float is infinite, as a bool_."""
    return _test("isinf", x)


def isnan(x: Operand) -> Scalar:
    """Whether a float is NaN, as a bool_."""
    return _test("isnan", x)


def isnormal(x: Operand) -> Scalar:
    """Whether a float is normal: finite, not 0 and not subnormal, as a bool_."""
    return _test("isnormal", x)


def log(x: Operand) -> Scalar:
    """The natural logarithm of x."""
    return _of_one("log", x, "log")


def log10(x: Operand) -> Scalar:
    """The logarithm of x to base 10."""
    return _of_one("log10", x, "log10")


def log1p(x: Operand) -> Scalar:
    """The natural logarithm of 1 + x: exact also near 0."""
    return _of_one("log1p", x, "log1p")


def log2(x: Operand) -> Scalar:
    """The logarithm of x to base 2."""
    return _of_one("log2", x, "log2")


def round(x: Operand) -> Scalar:
    """The nearest whole number as a float; of two, the one farther from 0."""
    return _of_one("round", x, "round")


def roundeven(x: Operand) -> Scalar:
    """The nearest whole number as a float; of two, the even one."""
    return _of_one("roundeven", x, "roundeven")


def rsqrt(x: Operand) -> Scalar:
    """1 by the square root of x."""
    return _of_one("rsqrt", x, "rsqrt")


def sin(x: Operand) -> Scalar:
    """The sine of x, an angle in radians."""
    return _of_one("sin", x, "sin")


def sinh(x: Operand) -> Scalar:
    """The hyperbolic sine of x."""
    return _of_one("sinh", x, "sinh")


def sqrt(x: Operand) -> Scalar:
    """The square root of x."""
    return _of_one("sqrt", x, "sqrt")


def tan(x: Operand) -> Scalar:
    """The tangent of x, an angle in radians."""
    return _of_one("tan", x, "tan")


def tanh(x: Operand) -> Scalar:
    """The hyperbolic tangent of x."""
    return _of_one("tanh", x, "tanh")


def trunc(x: Operand) -> Scalar:
    """The whole number that x is without its fraction, as a float."""
    return _of_one("trunc", x, "trunc")


def ctlz(x: Operand) -> Scalar:
    """How many bits of an integer above its highest 1 are 0."""
    return _of_one("ctlz", x, None, "ctlz")


def cttz(x: Operand) -> Scalar:
    """How many bits of an integer below its lowest 1 are 0."""
    return _of_one("cttz", x, None, "cttz")


def ctpop(x: Operand) -> Scalar:
    """How many bits of an integer are 1."""
    return _of_one("ctpop", x, None, "ctpop")


def _of_one(name: str, x: Operand, float_kind: str | None, integer_kind: str | None = None) -> Scalar:
    """The function called `name` of a number, with the operation that it is for floats and for integers."""
    scalar = typed(name, x)
    if scalar.dtype.kind == "complex":
        return _of_complex(name, scalar)
    kind = float_kind if scalar.dtype.kind == "float" else integer_kind
    if kind is None or scalar.dtype.kind == "bool":
        wanted = "a float" if integer_kind is None else "an integer"
        raise problem(
            ProgramTypeError,
            f"{name} needs {wanted}, got {scalar.describe()}",
            "convert it: affdsl.f64(x)" if integer_kind is None else "convert it: affdsl.i64(x)",
        )
    if name == "abs":
        return scalar.__abs__()
    return emit_scalar(scalar.dtype, lambda r: math.Unary(r, kind, scalar.value))


def _of_complex(name: str, x: Scalar) -> Scalar:
    """The function called `name` of a complex number. Raises ProgramTypeError where it has none."""
    if name == "abs":
        return x.__abs__()
    if name not in complex_.UNARY:
        raise _needs_real(name, x)
    return emit_scalar(x.dtype, lambda r: complex_.Unary(r, name, x.value))


def _test(kind: str, x: Operand) -> Scalar:
    scalar = of_float(kind, x)
    return emit_scalar(bool_, lambda r: math.Unary(r, kind, scalar.value))


def typed(name: str, x: Operand) -> Scalar:
    """A number with its type, for the function called `name`. Raises ProgramTypeError for what is none, or has none."""
    if isinstance(x, Traced):
        return x.scalar()
    given: object = x
    hint = "the number comes first, then its type" if isinstance(given, DType) else "write a loop over the elements"
    if not isinstance(x, NUMBERS):
        raise problem(ProgramTypeError, f"{name} works on one number, got {x!r}", hint)
    dtype = "c128" if isinstance(x, complex) else "f64"
    raise problem(ProgramTypeError, f"{name} of the Python number {x!r} has no type", f"write affdsl.{dtype}({x!r})")


def of_float(name: str, x: Operand) -> Scalar:
    """A float, for the function called `name`. Raises ProgramTypeError for what is none."""
    scalar = typed(name, x)
    if scalar.dtype.kind == "complex":
        raise _needs_real(name, scalar)
    if scalar.dtype.kind != "float":
        raise problem(ProgramTypeError, f"{name} needs a float, got {scalar.describe()}", "convert it: affdsl.f64(x)")
    return scalar


def _needs_real(name: str, x: Scalar) -> ProgramError:
    advice = "give it a real number: x.real, x.imag or affdsl.abs(x)"
    return problem(ProgramTypeError, f"{name} of {x.describe()} is not there for complex numbers", advice)


for _function in [globals()[name] for name in EXAMPLES]:
    describe(_function)
