"""Element types, and numbers that are known only when the kernel runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NoReturn, TypeAlias, Union

import numpy as np

from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, math
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import BF16, F16, F32, F64, I1, I8, I16, I32, I64, INDEX, ScalarType
from affdsl.lang.builder import current
from affdsl.lang.source import assigned_name, here, problem

if TYPE_CHECKING:
    from affdsl.lang.annotations import ArrayType

Kind: TypeAlias = Literal["float", "signed", "unsigned", "bool", "index"]
Number: TypeAlias = Union[int, float, bool, "np.generic"]
Operand: TypeAlias = Union["Traced", Number]


@dataclass(frozen=True)
class DType:
    """The type of an array's elements or of a scalar.

    `f32[M, N]` is the type of an array, `f32(x)` converts a number, an index or another scalar.
    """

    name: str
    type: ScalarType
    kind: Kind
    numpy: np.dtype[np.generic] | None

    array: ClassVar[Callable[[DType, tuple[object, ...]], ArrayType]]
    """What makes an array type; the module above, which knows arrays, sets it."""

    def __getitem__(self, shape: object) -> ArrayType:
        return DType.array(self, shape if isinstance(shape, tuple) else (shape,))

    def __call__(self, x: Operand) -> Scalar:
        return cast(x, self)

    def __repr__(self) -> str:
        return self.name


def _dtype(name: str, type: ScalarType, kind: Kind) -> DType:
    numpy = None if name == "bf16" else np.dtype(_NUMPY.get(name, name))
    return DType(name, type, kind, numpy)


_NUMPY = {"bool_": "bool", "index": "int64"} | {
    f"{short}{bits}": f"{long}{bits}" for short, long in (("i", "int"), ("u", "uint"), ("f", "float"))
    for bits in (8, 16, 32, 64)
}  # fmt: skip

f16, bf16 = _dtype("f16", F16, "float"), _dtype("bf16", BF16, "float")
f32, f64 = _dtype("f32", F32, "float"), _dtype("f64", F64, "float")
i8, i16, i32, i64 = (_dtype(f"i{t.width}", t, "signed") for t in (I8, I16, I32, I64))
u8, u16, u32, u64 = (_dtype(f"u{t.width}", t, "unsigned") for t in (I8, I16, I32, I64))
bool_, index = _dtype("bool_", I1, "bool"), _dtype("index", INDEX, "index")

DTYPES = (f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool_, index)


class Traced:
    """A number that is known only when the kernel runs. Python cannot look at it while the kernel is built."""

    __slots__ = ()
    __array_priority__ = 1000
    instead: ClassVar[str] = "convert it: affdsl.i64(x) has all operators of integers, affdsl.f64(x) those of floats"
    """What to write where there is no such operator."""

    def scalar(self) -> Scalar:
        """self as a scalar."""
        raise NotImplementedError

    def describe(self) -> str:
        """What messages call it."""
        raise NotImplementedError

    def __bool__(self) -> NoReturn:
        raise problem(
            ProgramTypeError,
            f"the truth of {self.describe()} is not known while the kernel is built",
            "Python's if, while, and, or, not and chained comparisons need it at once; write "
            "`with affdsl.if_(condition):` for a branch, affdsl.select(condition, a, b) for a choice, "
            "& | ~ with parentheses for and, or, not, and affdsl.min and affdsl.max for Python's",
        )

    def __hash__(self) -> int:
        raise problem(
            ProgramTypeError,
            f"{self.describe()} is not known while the kernel is built, so it cannot be found in a dict or a set",
            "use affdsl.select(condition, a, b), or an array that is an argument of the kernel",
        )

    def __repr__(self) -> str:
        return self.describe()

    def __index__(self, *_: object, **keywords: object) -> NoReturn:
        raise problem(
            ProgramTypeError,
            f"{self.describe()} is not known while the kernel is built, so Python cannot count with it",
            "write `with affdsl.for_(n) as i:` instead of `for i in range(n):`; a NumPy array can be indexed with it "
            "only if it is an argument of the kernel",
        )

    def __float__(self) -> NoReturn:
        raise problem(
            ProgramTypeError,
            f"{self.describe()} is not known while the kernel is built, so it cannot become a Python number",
            "convert with affdsl.f64(x) or affdsl.i32(x), and use affdsl.exp, affdsl.sqrt, ... instead of math's",
        )

    __int__ = __complex__ = __trunc__ = __float__
    __array__ = __index__

    def __iter__(self, *_: object) -> NoReturn:
        raise problem(
            ProgramTypeError,
            f"{self.describe()} is one number and cannot be iterated over or unpacked",
            "write `with affdsl.for_(n) as i:` for a loop; `as (i, s)` needs iter_args",
        )

    __contains__ = __iter__

    def __setitem__(self, index: object, value: object) -> NoReturn:
        raise problem(
            ProgramTypeError,
            f"{self.describe()} is a number, a constant, and nothing can be stored to it",
            "only arrays can be stored to: an argument annotated like affdsl.f32[N], or affdsl.alloc(affdsl.f32[N])",
        )

    def __getitem__(self, index: object) -> NoReturn:
        raise problem(
            ProgramTypeError,
            f"{self.describe()} is a number and has no elements",
            "an array argument is annotated like affdsl.f32[N]",
        )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object) -> object:
        operator = _UFUNC_OPERATORS.get(ufunc.__name__)
        if operator is not None and method == "__call__" and len(inputs) == 2 and isinstance(inputs[0], np.generic):
            return getattr(inputs[1], operator)(inputs[0].item())
        raise numpy_problem(ufunc.__name__, self.describe())

    def __array_function__(self, function: Callable[..., object], *_: object) -> NoReturn:
        raise numpy_problem(function.__name__, self.describe())


_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//", "mod": "%", "divmod": "divmod",
    "pow": "**", "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip
_OTHER_OPERATORS = {
    "neg": "-", "pos": "+", "invert": "~", "abs": "abs", "round": "round", "floor": "math.floor", "ceil": "math.ceil",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip


_FUNCTIONS = ("abs", "round", "floor", "ceil")


def _without(symbol: str) -> Callable[..., NoReturn]:
    def refuse(x: Traced, *_: object) -> NoReturn:
        advice = f"use affdsl.{symbol.removeprefix('math.')}(x)" if symbol.endswith(_FUNCTIONS) else x.instead
        raise problem(ProgramTypeError, f"{x.describe()} has no operator {symbol}", advice)

    return refuse


# An operator that a class below does not define says so in our words: == too, which object would answer.
for _name, _symbol in (_OPERATORS | {f"r{name}": s for name, s in _OPERATORS.items()} | _OTHER_OPERATORS).items():
    setattr(Traced, f"__{_name}__", _without(_symbol))


def numpy_problem(function: str, what: str) -> ProgramError:
    """The error for a NumPy function called on what only the running kernel knows."""
    ours = _NUMPY_FUNCTIONS.get(function, function if function in _SAME_IN_NUMPY else "")
    return problem(
        ProgramTypeError,
        f"NumPy's {function} cannot work on {what}, which is not known while the kernel is built",
        f"use affdsl.{ours}" if ours else "write the loop with affdsl.for_",
    )


_SAME_IN_NUMPY = frozenset(
    "cbrt ceil copysign cos cosh exp exp2 expm1 floor fmod isfinite isinf isnan log log10 log1p log2 sin sinh sqrt tan "
    "tanh trunc".split()
)
_NUMPY_FUNCTIONS = {
    "absolute": "abs", "fabs": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "maximum": "max", "minimum": "min", "fmax": "max",
    "fmin": "min", "rint": "roundeven", "where": "select", "power": "pow", "float_power": "pow", "copyto": "copy",
}  # fmt: skip
_UFUNC_OPERATORS = {
    "add": "__radd__", "subtract": "__rsub__", "multiply": "__rmul__", "divide": "__rtruediv__",
    "floor_divide": "__rfloordiv__", "remainder": "__rmod__", "power": "__rpow__",
    "less": "__gt__", "less_equal": "__ge__", "greater": "__lt__", "greater_equal": "__le__",
    "equal": "__eq__", "not_equal": "__ne__",
}  # fmt: skip


class Scalar(Traced):
    """A number of an element type, computed by the kernel. Operators build arithmetic."""

    __slots__ = ("_value", "dtype")

    def __init__(self, value: Value | None, dtype: DType) -> None:
        self._value = value
        self.dtype = dtype

    @property
    def value(self) -> Value:
        """The value that it stands for."""
        if self._value is None:
            raise problem(
                ProgramError,
                "the result of a loop or branch is used before it has ended",
                "use it after the with-block (for if_, after its else_)",
            )
        return self._value

    def bind(self, value: Value) -> None:
        """Stand for another value from now on: a carried value becomes the loop's result."""
        self._value = value

    def scalar(self) -> Scalar:
        """self"""
        return self

    def describe(self) -> str:
        """What messages call it."""
        name = self._value.hint if self._value is not None else ""
        return f"{name} ({self.dtype})" if name else f"a number of type {self.dtype}"

    def __add__(self, other: Operand) -> Scalar:
        return _binary("+", self, other)

    def __radd__(self, other: Operand) -> Scalar:
        return _binary("+", other, self)

    def __sub__(self, other: Operand) -> Scalar:
        return _binary("-", self, other)

    def __rsub__(self, other: Operand) -> Scalar:
        return _binary("-", other, self)

    def __mul__(self, other: Operand) -> Scalar:
        return _binary("*", self, other)

    def __rmul__(self, other: Operand) -> Scalar:
        return _binary("*", other, self)

    def __truediv__(self, other: Operand) -> Scalar:
        return _binary("/", self, other)

    def __rtruediv__(self, other: Operand) -> Scalar:
        return _binary("/", other, self)

    def __floordiv__(self, other: Operand) -> Scalar:
        return _binary("//", self, other)

    def __rfloordiv__(self, other: Operand) -> Scalar:
        return _binary("//", other, self)

    def __mod__(self, other: Operand) -> Scalar:
        return _modulo(self, other)

    def __rmod__(self, other: Operand) -> Scalar:
        return _modulo(other, self)

    def __pow__(self, other: Operand) -> Scalar:
        return power(self, other)

    def __rpow__(self, other: Operand) -> Scalar:
        return power(other, self)

    def __and__(self, other: Operand) -> Scalar:
        return _binary("&", self, other)

    def __rand__(self, other: Operand) -> Scalar:
        return _binary("&", other, self)

    def __or__(self, other: Operand) -> Scalar:
        return _binary("|", self, other)

    def __ror__(self, other: Operand) -> Scalar:
        return _binary("|", other, self)

    def __xor__(self, other: Operand) -> Scalar:
        return _binary("^", self, other)

    def __rxor__(self, other: Operand) -> Scalar:
        return _binary("^", other, self)

    def __lshift__(self, other: Operand) -> Scalar:
        return _binary("<<", self, other)

    def __rlshift__(self, other: Operand) -> Scalar:
        return _binary("<<", other, self)

    def __rshift__(self, other: Operand) -> Scalar:
        return _binary(">>", self, other)

    def __rrshift__(self, other: Operand) -> Scalar:
        return _binary(">>", other, self)

    def __invert__(self) -> Scalar:
        return _binary("^", self, True if self.dtype.kind == "bool" else -1)

    def __neg__(self) -> Scalar:
        if self.dtype.kind == "float":
            return emit_scalar(self.dtype, lambda r: arith.Negate(r, self.value))
        return _binary("-", 0, self)

    def __pos__(self) -> Scalar:
        return Scalar(self.value, self.dtype)

    def __abs__(self) -> Scalar:
        if self.dtype.kind in ("unsigned", "bool"):
            return self
        kind = "absf" if self.dtype.kind == "float" else "absi"
        return emit_scalar(self.dtype, lambda r: math.Unary(r, kind, self.value))

    def __lt__(self, other: Operand) -> Scalar:
        return compare("<", self, other)

    def __le__(self, other: Operand) -> Scalar:
        return compare("<=", self, other)

    def __gt__(self, other: Operand) -> Scalar:
        return compare(">", self, other)

    def __ge__(self, other: Operand) -> Scalar:
        return compare(">=", self, other)

    def __eq__(self, other: object) -> Scalar:  # type: ignore[override]
        return compare("==", self, other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> Scalar:  # type: ignore[override]
        return compare("!=", self, other)  # type: ignore[arg-type]

    __hash__ = Traced.__hash__


def emit_scalar(dtype: DType, make: Callable[[Value], Op], hint: str | None = None) -> Scalar:
    """A new scalar, defined by the operation that `make` builds for its value.

    It is called what the user is about to call it; what is computed on the way there has an empty hint.
    """
    result = Value(dtype.type, assigned_name() if hint is None else hint, here())
    current().emit(make(result))
    return Scalar(result, dtype)


def constant(number: Number, dtype: DType, hint: str | None = "") -> Scalar:
    """A Python number as a scalar of the given type. Raises ProgramTypeError where the type cannot hold it."""
    plain = number.item() if isinstance(number, np.generic) else number
    if isinstance(plain, np.floating):  # long double stays one
        plain = float(plain)
    if not isinstance(plain, int | float):
        raise problem(
            ProgramTypeError,
            f"{dtype} cannot be made of {number!r}, which is no real number",
            f"take one element of it: {_called(number)}[i]" if getattr(number, "shape", ()) else "write a number",
        )
    value: int | float | bool
    if dtype.kind == "bool":
        if not isinstance(plain, bool):
            raise problem(ProgramTypeError, f"{plain!r} is not a truth value; write True or False, or a comparison")
        value = plain
    elif isinstance(plain, bool):
        raise problem(ProgramTypeError, f"{plain} is a truth value, but {dtype} is needed", f"write {int(plain)}")
    elif dtype.kind == "float":
        value = _rounded(plain, dtype)
    elif isinstance(plain, float):
        raise problem(
            ProgramTypeError,
            f"the number {plain!r} has a fraction type, but {dtype} is needed",
            f"write {int(plain)} or convert with affdsl.{dtype}(affdsl.f64(x))" if np.isfinite(plain) else "",
        )
    else:
        value = _wrapped(plain, dtype)
    return emit_scalar(dtype, lambda r: arith.Constant(r, value), hint)


_LARGEST = {"f16": 65520.0, "bf16": 2.0**128 - 2.0**119, "f32": 2.0**128 - 2.0**103, "f64": float("inf")}
"""The smallest number that rounds to infinity."""


def _rounded(number: float, dtype: DType) -> float:
    """number as a float; the printers round it to dtype. Raises ProgramTypeError where that is an infinity."""
    try:
        value = float(number)
    except OverflowError:
        value = float("inf")
    if abs(value) >= _LARGEST[dtype.name] and number not in (float("inf"), -float("inf")):
        raise problem(
            ProgramTypeError,
            f"{number if len(str(number)) < 40 else 'a number of so many digits'} does not fit in {dtype}",
            f'use a wider type, or affdsl.{dtype}(float("inf")) for infinity',
        )
    return value


def _called(x: object) -> str:
    return str(getattr(x, "name", "A"))


def require_index(number: int) -> int:
    """number, if an index can hold it. Raises ProgramTypeError: indices have 64 bits."""
    return _wrapped(int(number), index)


def _wrapped(number: int, dtype: DType) -> int:
    bits = 64 if dtype.kind == "index" else dtype.type.width  # type: ignore[union-attr]
    low, high = (0, 2**bits) if dtype.kind == "unsigned" else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    if not low <= number < high:
        raise problem(
            ProgramTypeError,
            f"{number} does not fit in {dtype}, which holds {low} to {high - 1}",
            "sizes and indices have 64 bits" if dtype.kind == "index" else "use a wider type; nothing wraps in silence",
        )
    return number - 2**bits if number >= 2 ** (bits - 1) else number


def operands(what: str, left: Operand, right: Operand) -> tuple[Scalar, Scalar]:
    """Two operands as scalars of one type: numbers take the other's type, integers meet an index as an index.

    Raises ProgramTypeError where the types differ: nothing is converted in silence.
    """
    for x in (left, right):
        if not isinstance(x, Traced | int | float | np.generic):
            raise problem(ProgramTypeError, f"{what} needs numbers, got {type(x).__name__}")
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
    raise problem(
        ProgramTypeError,
        f"{what} of {a.describe()} and {b.describe()}: the types differ",
        f"convert one of them: affdsl.{b.dtype}(...) or affdsl.{a.dtype}(...)",
    )


_FLOAT = {"+": "addf", "-": "subf", "*": "mulf", "/": "divf"}
_INTEGER = {
    "+": "addi", "-": "subi", "*": "muli", "//": "floordivsi", "&": "andi", "|": "ori", "^": "xori",
    "<<": "shli", ">>": "shrsi",
}  # fmt: skip
_UNSIGNED = _INTEGER | {"//": "divui", ">>": "shrui"}
_BOOL = {"&": "andi", "|": "ori", "^": "xori"}
_TABLES = {"float": _FLOAT, "signed": _INTEGER, "index": _INTEGER, "unsigned": _UNSIGNED, "bool": _BOOL}


def _binary(symbol: str, left: Operand, right: Operand) -> Scalar:
    _refuse_literal(symbol, left, right)
    a, b = operands(symbol, left, right)
    kind = _TABLES[a.dtype.kind].get(symbol)
    if kind is None:
        raise problem(ProgramTypeError, f"{a.dtype} has no operator {symbol}", _advice(symbol, a.dtype))
    return emit_scalar(a.dtype, lambda r: arith.Binary(r, kind, a.value, b.value))


def _refuse_literal(symbol: str, left: Operand, right: Operand) -> None:
    """Raise ProgramTypeError where an integer is divided by the number 0, or shifted by a negative one."""
    if not (isinstance(left, Traced) and isinstance(right, int | np.integer)):
        return
    if symbol in ("//", "%") and right == 0:
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
    if symbol == "/":
        return "use // for the rounded-down quotient, or convert to affdsl.f64 first"
    if symbol in ("//", "%") and dtype.kind == "float":
        return "use affdsl.floor(a / b), or affdsl.fmod(a, b) for C's remainder"
    if dtype.kind == "bool":
        return "use & | ^ ~ and affdsl.select, or convert to affdsl.i32 first"
    return f"convert to a type that has {symbol}"


def _modulo(left: Operand, right: Operand) -> Scalar:
    """Python's %: the sign of the divisor."""
    _refuse_literal("%", left, right)
    a, b = operands("%", left, right)
    if a.dtype.kind == "unsigned":
        return emit_scalar(a.dtype, lambda r: arith.Binary(r, "remui", a.value, b.value))
    if a.dtype.kind not in ("signed", "index"):
        raise problem(ProgramTypeError, f"{a.dtype} has no operator %", _advice("%", a.dtype))
    quotient = emit_scalar(a.dtype, lambda r: arith.Binary(r, "floordivsi", a.value, b.value), "")
    product = emit_scalar(a.dtype, lambda r: arith.Binary(r, "muli", quotient.value, b.value), "")
    return a - product


_SIGNED_PREDICATES = {"<": "slt", "<=": "sle", ">": "sgt", ">=": "sge", "==": "eq", "!=": "ne"}
_UNSIGNED_PREDICATES = {"<": "ult", "<=": "ule", ">": "ugt", ">=": "uge", "==": "eq", "!=": "ne"}
_FLOAT_PREDICATES = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge", "==": "oeq", "!=": "une"}


def compare(symbol: str, left: Operand, right: Operand) -> Scalar:
    """left <symbol> right as a bool_."""
    a, b = operands(symbol, left, right)
    if a.dtype.kind == "float":
        kind, predicate = "cmpf", _FLOAT_PREDICATES[symbol]
    else:
        table = _UNSIGNED_PREDICATES if a.dtype.kind in ("unsigned", "bool") else _SIGNED_PREDICATES
        kind, predicate = "cmpi", table[symbol]
    return emit_scalar(bool_, lambda r: arith.Compare(r, kind, predicate, a.value, b.value))


def power(base: Operand, exponent: Operand) -> Scalar:
    """base to the power of exponent; a whole exponent written as a number is exact repeated multiplication."""
    if isinstance(base, Scalar) and isinstance(exponent, int | np.integer) and not isinstance(exponent, bool):
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
    if a.dtype.kind != "float":
        raise problem(ProgramTypeError, f"{a.dtype} has no operator ** with an exponent that varies",
                      "convert both to affdsl.f64 first")  # fmt: skip
    return emit_scalar(a.dtype, lambda r: math.Binary(r, "powf", a.value, b.value))


def cast(x: Operand, dtype: DType, hint: str | None = None) -> Scalar:
    """x as another type: numbers, indices and scalars alike.

    Integers wrap; floats round to nearest even; a float becomes an integer by dropping its fraction, at the
    type's ends where it lies outside, and 0 where it is NaN.
    """
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
    if target.kind == "bool":
        return compare("!=", a, 0 if source.kind != "float" else 0.0)
    kind = _cast_kind(source, target)
    if kind is None:  # no single operation goes there: by way of i64 or f32
        middle = f32 if {source.kind, target.kind} == {"float"} else (u64 if "unsigned" in (source.kind,) else i64)
        return cast(cast(a, middle, ""), target, hint)
    return emit_scalar(target, lambda r: arith.Cast(r, kind, a.value), hint)


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
