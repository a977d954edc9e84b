"""Functions of several numbers: powers, extremes, choice, and what the author knows about sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, overload

from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.ir.dialects import affine, arith, math
from affdsl.lang.builder import current
from affdsl.lang.dtypes import DType, Number, bool_
from affdsl.lang.elementary import of_float, typed
from affdsl.lang.indices import Condition, Extremum, Index, affine_extremum
from affdsl.lang.scalars import Scalar, cast, emit_scalar, no_order, operands
from affdsl.lang.scalars import power as pow_
from affdsl.lang.source import problem
from affdsl.lang.traced import Operand, Traced, wide
from affdsl.lang.type_variables import DTypes, being_made

if TYPE_CHECKING:
    from affdsl.lang.vectors import Vector

One: TypeAlias = Scalar | Index | Extremum | Condition | Number
"""An operand that is no vector."""


def atan2(y: Operand, x: Operand) -> Scalar:
    """The angle in radians of the point (x, y), from -pi to pi (`math.atan2`).

    Parameters
    ----------
    y, x
        The coordinates: floats of one type. One of the two may be a Python number.

    Raises
    ------
    ProgramTypeError
        For numbers that are no floats, or of two types.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(y: af.f64, x: af.f64):
    ...     return af.atan2(y, x)
    >>> print(f"{f.interpret(1.0, -1.0):.6f}")
    2.356194
    """
    return _float_binary("atan2", y, x)


def copysign(x: Operand, sign: Operand) -> Scalar:
    """The magnitude of one number with the sign of another (`math.copysign`).

    Parameters
    ----------
    x, sign
        Floats of one type. One of the two may be a Python number.

    Raises
    ------
    ProgramTypeError
        For numbers that are no floats, or of two types.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(x: af.f64, sign: af.f64):
    ...     return af.copysign(x, sign)
    >>> print(f.interpret(2.0, -0.0))
    -2.0
    """
    return _float_binary("copysign", x, sign)


def pow(base: Operand, exponent: Operand) -> Scalar:
    """base ** exponent, which may be written so, too.

    Parameters
    ----------
    base
        A float or a signed integer.
    exponent
        A Python integer or 2.0, and then it is repeated multiplication; or a float of the type of base.

    Raises
    ------
    ProgramTypeError
        For other types, and for a negative exponent of an integer.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(x: af.f64, y: af.f64):
    ...     return af.pow(x, 3), af.pow(x, y)
    >>> print(*f.interpret(2.0, 0.5))
    8.0 1.4142135623730951
    """
    return pow_(base, exponent)


def fmod(a: Operand, b: Operand) -> Scalar:
    """What is left of a / b, with the sign of a, as C's fmod (`arith.remf`).

    Parameters
    ----------
    a, b
        Floats of one type. One of the two may be a Python number.

    Raises
    ------
    ProgramTypeError
        For numbers that are no floats, or of two types: integers have `%`.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(a: af.f64, b: af.f64):
    ...     return af.fmod(a, b)
    >>> print(f.interpret(-7.5, 2.0))
    -1.5
    """
    x, y = operands("fmod", a, b)
    of_float("fmod", x)
    return emit_scalar(x.dtype, lambda r: arith.Binary(r, "remf", x.value, y.value))


@overload
def fma(a: Vector, b: Operand, c: Operand) -> Vector: ...
@overload
def fma(a: Operand, b: Vector, c: Operand) -> Vector: ...
@overload
def fma(a: Operand, b: Operand, c: Vector) -> Vector: ...
@overload
def fma(a: One, b: One, c: One) -> Scalar: ...
def fma(a: Operand, b: Operand, c: Operand) -> Scalar | Vector:
    """a * b + c, rounded once (`math.fma`); of vectors, lane by lane (`vector.fma`).

    Parameters
    ----------
    a, b, c
        Floats of one type, or vectors of such; beside a vector, a number stands for one that has it in every lane.

    Raises
    ------
    ProgramTypeError
        For numbers that are no floats, or of several types.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(a: af.f64, b: af.f64, c: af.f64):
    ...     return af.fma(a, b, c)
    >>> print(f.interpret(2.0, 3.0, 0.5))
    6.5
    """
    if (several := wide(a, b, c)) is not None:
        return several.fused(a, b, c)  # type: ignore[return-value]
    x, y = operands("fma", a, b)
    x, z = operands("fma", x, c)
    of_float("fma", x)
    return emit_scalar(x.dtype, lambda r: math.Fma(r, x.value, y.value, z.value))


@overload
def min(*xs: Index | Extremum | int) -> Extremum: ...  # type: ignore[overload-overlap]
@overload
def min(x: Vector, /, *xs: Operand) -> Vector: ...
@overload
def min(x: One, y: Vector, /, *xs: Operand) -> Vector: ...
@overload
def min(*xs: One) -> Scalar: ...
def min(*xs: Operand) -> Extremum | Scalar | Vector:
    """The smallest of some numbers, of indices, or of vectors lane by lane. NaN wins.

    Of indices it may be the end of a loop as it is (`affine.min`).

    Parameters
    ----------
    xs
        Two or more: indices and whole numbers, or numbers of one type, or vectors. Some may be Python numbers.

    Raises
    ------
    ProgramTypeError
        For fewer than two, and for numbers of several types.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def f(x: af.f64[N], y: af.f64[N]):
    ...     with af.for_(af.min(3, N)) as i:
    ...         y[i] = af.min(x[i], 2.0)
    >>> y = np.zeros(3)
    >>> f.interpret(np.array([1.0, 2.0, 3.0]), y)
    >>> y
    array([1., 2., 2.])
    """
    return _extremum("min", affine.Min, xs)


@overload
def max(*xs: Index | Extremum | int) -> Extremum: ...  # type: ignore[overload-overlap]
@overload
def max(x: Vector, /, *xs: Operand) -> Vector: ...
@overload
def max(x: One, y: Vector, /, *xs: Operand) -> Vector: ...
@overload
def max(*xs: One) -> Scalar: ...
def max(*xs: Operand) -> Extremum | Scalar | Vector:
    """The largest of some numbers, of indices, or of vectors lane by lane. NaN wins.

    Of indices it may be the start of a loop as it is (`affine.max`).

    Parameters
    ----------
    xs
        Two or more: indices and whole numbers, or numbers of one type, or vectors. Some may be Python numbers.

    Raises
    ------
    ProgramTypeError
        For fewer than two, and for numbers of several types.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def f(x: af.f64[N], y: af.f64[N]):
    ...     with af.for_(af.max(3, N)) as i:
    ...         y[i] = af.max(x[i], 2.0)
    >>> y = np.zeros(3)
    >>> f.interpret(np.array([1.0, 2.0, 3.0]), y)
    >>> y
    array([2., 2., 3.])
    """
    return _extremum("max", affine.Max, xs)


def fmax(*xs: Operand) -> Scalar:
    """The largest of some floats, where a number wins against NaN (`arith.maxnumf`).

    Parameters
    ----------
    xs
        Two or more floats of one type. Some may be Python numbers.

    Raises
    ------
    ProgramTypeError
        For fewer than two, and for numbers that are no floats or of several types.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(x: af.f64):
    ...     return af.fmax(x, 2.0)
    >>> print(f.interpret(float("nan")))
    2.0
    """
    return _number("fmax", "max", xs)


def fmin(*xs: Operand) -> Scalar:
    """The smallest of some floats, where a number wins against NaN (`arith.minnumf`).

    Parameters
    ----------
    xs
        Two or more floats of one type. Some may be Python numbers.

    Raises
    ------
    ProgramTypeError
        For fewer than two, and for numbers that are no floats or of several types.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(x: af.f64):
    ...     return af.fmin(x, 2.0)
    >>> print(f.interpret(float("nan")))
    2.0
    """
    return _number("fmin", "min", xs)


@overload
def select(condition: Operand, if_true: Vector, if_false: Operand) -> Vector: ...
@overload
def select(condition: Operand, if_true: Operand, if_false: Vector) -> Vector: ...
@overload
def select(condition: Vector, if_true: Operand, if_false: Operand) -> Vector: ...
@overload
def select(condition: One, if_true: One, if_false: One) -> Scalar: ...
def select(condition: Operand, if_true: Operand, if_false: Operand) -> Scalar | Vector:
    """One of two numbers, by a condition; both are computed (`arith.select`). Of vectors, lane by lane.

    Parameters
    ----------
    condition
        A comparison, or another bool_; a vector of such chooses for each lane.
    if_true, if_false
        Where it holds, and where not: numbers of one type, or vectors. One of the two may be a Python number.

    Raises
    ------
    ProgramTypeError
        For what is no condition, and for numbers of two types.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(x: af.f64):
    ...     return af.select(x > 0, x, 0.0)
    >>> print(f.interpret(-1.5), f.interpret(1.5))
    0.0 1.5
    """
    if (several := wide(condition, if_true, if_false)) is not None:
        return several.chosen(condition, if_true, if_false)  # type: ignore[return-value]
    chosen = condition.scalar() if isinstance(condition, Traced) else cast(condition, bool_)
    if chosen.dtype != bool_:
        raise problem(ProgramTypeError, f"select needs a condition, got {chosen.describe()}", "compare it: x != 0")
    a, b = operands("select", if_true, if_false)
    return emit_scalar(a.dtype, lambda r: arith.Select(r, chosen.value, a.value, b.value))


def bitcast(x: Operand, dtype: DType | DTypes) -> Scalar:
    """The bits of a number, as a number of another type of the same width (`arith.bitcast`).

    Parameters
    ----------
    x
        A number of the kernel.
    dtype
        The other type, as `affdsl.i32` for an f32.

    Raises
    ------
    ProgramTypeError
        Where the widths differ, and for what is no number or no type.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(x: af.f32):
    ...     return af.bitcast(x, af.u32)
    >>> print(hex(f.interpret(1.0)))
    0x3f800000
    """
    scalar, dtype = typed("bitcast", x), being_made(dtype)
    if not isinstance(dtype, DType):
        raise problem(ProgramTypeError, f"bitcast takes a type like affdsl.i32, got {dtype!r}")
    a, b = getattr(scalar.dtype.type, "width", None), getattr(dtype.type, "width", None)
    if a is None or a != b:
        raise problem(
            ProgramTypeError,
            f"bitcast of {scalar.describe()} to {dtype}: the widths differ",
            f"convert it with affdsl.{dtype}(x), or take a type of the same width",
        )
    if scalar.dtype.type == dtype.type:
        return Scalar(scalar.value, dtype)
    if "complex" in (scalar.dtype.kind, dtype.kind):
        advice = "take the bits of its parts: affdsl.bitcast(x.real, affdsl.i64)"
        raise problem(ProgramTypeError, f"bitcast of {scalar.describe()} to {dtype}: complex numbers have none", advice)
    return emit_scalar(dtype, lambda r: arith.Cast(r, "bitcast", scalar.value))


def assume(*conditions: object) -> None:
    """State what holds for the sizes of every call: `assume(N >= 2)`. Each call checks it.

    Parameters
    ----------
    conditions
        Comparisons of symbols, sizes and index arguments, also several with `&`.

    Raises
    ------
    ProgramError
        Where a condition is not affine, depends on data or on a loop, or holds for no sizes.
    SizeError
        By a call for which one does not hold.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def last(x: af.f64[N]):
    ...     af.assume(N >= 1)
    ...     return x[N - 1]
    >>> last(np.zeros(0))
    Traceback (most recent call last):
        ...
    affdsl.SizeError: last: it assumes N - 1 >= 0, but N = 0
    """
    builder = current()
    if len(builder.blocks) > 1:
        raise problem(
            ProgramError,
            f"assume stands inside of {builder.block.what}, but it holds for the whole kernel",
            "write it before all with-blocks",
        )
    for condition in conditions:
        if not isinstance(condition, Condition) or condition.negated:
            raise problem(
                ProgramError,
                "assume takes comparisons of symbols, like affdsl.assume(N >= 2, M == 2 * K)",
                "it cannot depend on data, and != and | cannot be assumed",
            )
        inputs = set(builder.blocks[0].inputs)
        for constraint in condition.constraints:
            strange = [v for v in constraint.expr.values() if v not in inputs]
            if strange:
                builder.require(strange[0])
                raise problem(
                    ProgramError,
                    f"assume speaks of sizes and index arguments; {strange[0].hint or 'a value'} is computed inside",
                    "use affdsl.if_ for what depends on a loop or on data",
                )
            if constraint.expr.is_constant and not constraint.holds({}):
                raise problem(ProgramError, f"assume: no sizes make {condition.describe()} true")
        builder.assumes += condition.constraints


def _extremum(name: str, kind: type[affine.Min] | type[affine.Max], xs: tuple[Operand, ...]) -> Extremum | Scalar:
    if len(xs) < 2:
        raise problem(ProgramTypeError, f"{name} needs two or more numbers, got {len(xs)}")
    indices = affine_extremum(kind, xs)
    if indices is not None and any(isinstance(x, Traced) for x in xs):
        return indices
    result: Operand = xs[0]
    for x in xs[1:]:
        if (several := wide(result, x)) is not None:
            result = several.extreme(name, result, x)  # type: ignore[assignment]
            continue
        a, b = operands(name, result, x)
        if a.dtype.kind == "complex":
            raise no_order(name, a)
        result = _pairwise(_KINDS[a.dtype.kind].format(name), a, b)
    return result  # type: ignore[return-value]


def _number(name: str, extreme: str, xs: tuple[Operand, ...]) -> Scalar:
    if len(xs) < 2:
        raise problem(ProgramTypeError, f"{name} needs two or more numbers, got {len(xs)}")
    result = xs[0]
    for x in xs[1:]:
        a, b = operands(name, result, x)
        of_float(name, a)
        result = _pairwise(f"{extreme}numf", a, b)
    return typed(name, result)


_KINDS = {"float": "{}imumf", "signed": "{}si", "index": "{}si", "unsigned": "{}ui", "bool": "{}ui"}


def _pairwise(kind: str, a: Scalar, b: Scalar) -> Scalar:
    return emit_scalar(a.dtype, lambda r: arith.Binary(r, kind, a.value, b.value))


def _float_binary(kind: str, a: Operand, b: Operand) -> Scalar:
    x, y = operands(kind, a, b)
    of_float(kind, x)
    return emit_scalar(x.dtype, lambda r: math.Binary(r, kind, x.value, y.value))
