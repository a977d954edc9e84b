"""What is known only when the kernel runs, and why Python cannot look at it before."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Generic, NoReturn, TypeAlias, TypeVar, Union

import numpy as np

from affdsl.errors import ProgramAttributeError, ProgramError, ProgramTypeError
from affdsl.lang.dtypes import Number
from affdsl.lang.instead import of_number, of_truth
from affdsl.lang.source import problem
from affdsl.other_names import OTHERWISE

if TYPE_CHECKING:
    from affdsl.lang.scalars import Scalar

Operand: TypeAlias = Union["Traced", Number]
Computed = TypeVar("Computed")
Truth = TypeVar("Truth")


class Traced:
    """A number that is known only when the kernel runs. Python cannot look at it while the kernel is built."""

    __slots__ = ()
    __array_priority__ = 1000
    instead: ClassVar[str] = "convert it: affdsl.i64(x) has all operators of integers, affdsl.f64(x) those of floats"
    """What to write where there is no such operator."""
    _of_indices: ClassVar[bool] = False
    """Whether it is an index, or compares such: these are never NaN."""

    @property
    def _comparison(self) -> str:
        """How to make a condition of it, where it is none."""
        return "compare the number, as in x != 0, and "

    @abstractmethod
    def scalar(self) -> Scalar:
        """self as a scalar."""

    @abstractmethod
    def describe(self) -> str:
        """What messages call it."""

    def __bool__(self) -> NoReturn:
        raise problem(
            ProgramTypeError,
            f"the truth of {self.describe()} is not known while the kernel is built",
            of_truth(self._comparison, of_indices=self._of_indices),
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
            of_number(
                "write `with affdsl.for_(n) as i:` instead of `for i in range(n):`, affdsl.alloc(affdsl.f64[n]) "
                "instead of np.zeros(n), and w = affdsl.constant(w) before w[i] where w is an array of NumPy or a list"
            ),
        )

    def __float__(self) -> NoReturn:
        raise problem(
            ProgramTypeError,
            f"{self.describe()} is not known while the kernel is built, so it cannot become a Python number",
            "convert with affdsl.f64(x) or affdsl.i32(x), and use affdsl.exp, affdsl.sqrt, ... instead of math's",
        )

    __int__ = __complex__ = __trunc__ = __float__

    def __array__(self, *_: object, **keywords: object) -> NoReturn:
        raise problem(
            ProgramTypeError,
            f"{self.describe()} is not known while the kernel is built, so NumPy has no number to work with",
            of_number(
                "write w = affdsl.constant(w) before w[i], affdsl.alloc(affdsl.f64[3]) for an array that holds it, "
                "affdsl.f64(x) to convert a number, and `with affdsl.for_(n) as i:` for np.arange(n)"
            ),
        )

    def __format__(self, form: str) -> str:
        if not form:
            return str(self)
        raise problem(
            ProgramTypeError,
            f"{self.describe()} is not known while the kernel is built, so it cannot be written as {form!r}",
            "print it after the kernel has run: store it to an array, or return it",
        )

    # What follows only says what is not possible. Type checkers do not see it, and so say the same.
    if not TYPE_CHECKING:

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
                "only arrays can be stored to: an argument annotated like affdsl.f32[N], "
                "or affdsl.alloc(affdsl.f32[N])",
            )

        def __len__(self) -> int:
            raise problem(
                ProgramTypeError,
                f"{self.describe()} is a number and has no length",
                "the sizes of an array are A.shape[0], A.shape[1], ...",
            )

        def __call__(self, *_: object, **keywords: object) -> NoReturn:
            raise problem(ProgramTypeError, f"{self.describe()} is a number and cannot be called", _CALLED)

        def __getattr__(self, name: str) -> NoReturn:
            own = (slot for kind in type(self).__mro__ for slot in getattr(kind, "__slots__", ()))
            if name.startswith("__") or name in own:  # Python asks for its own, and for all while it copies
                raise AttributeError(f"{type(self).__name__} has no attribute {name}")
            raise attribute_problem(name, self.describe(), _METHODS)

        def __getitem__(self, index: object) -> NoReturn:
            raise problem(
                ProgramTypeError,
                f"{self.describe()} is a number and has no elements",
                "an array argument is annotated like affdsl.f32[N]",
            )

        __delitem__ = __getitem__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object) -> object:
        operator = _UFUNC_OPERATORS.get(ufunc.__name__)
        if operator is not None and method == "__call__" and len(inputs) == 2 and isinstance(inputs[0], np.generic):
            return getattr(inputs[1], operator)(inputs[0].item())
        raise numpy_problem(ufunc.__name__, self.describe())

    def __array_function__(self, function: Callable[..., object], *_: object) -> NoReturn:
        raise numpy_problem(function.__name__, self.describe())


class Comparable(Traced, Generic[Truth]):
    """What has an order: comparisons give conditions."""

    __slots__ = ()

    @abstractmethod
    def compared(self, symbol: str, left: Operand, right: Operand) -> Truth:
        """left <symbol> right, a comparison"""

    def __lt__(self, other: Operand) -> Truth:
        return self.compared("<", self, other)

    def __le__(self, other: Operand) -> Truth:
        return self.compared("<=", self, other)

    def __gt__(self, other: Operand) -> Truth:
        return self.compared(">", self, other)

    def __ge__(self, other: Operand) -> Truth:
        return self.compared(">=", self, other)

    def __eq__(self, other: object) -> Truth:  # type: ignore[override]
        return self.compared("==", self, other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> Truth:  # type: ignore[override]
        return self.compared("!=", self, other)  # type: ignore[arg-type]

    __hash__ = Traced.__hash__


class Arithmetic(Comparable[Computed]):
    """What all operators of numbers work on; they give the same again, comparisons too."""

    __slots__ = ()

    @abstractmethod
    def combine(self, symbol: str, left: Operand, right: Operand) -> Computed:
        """left <symbol> right"""

    def __add__(self, other: Operand) -> Computed:
        return self.combine("+", self, other)

    def __radd__(self, other: Operand) -> Computed:
        return self.combine("+", other, self)

    def __sub__(self, other: Operand) -> Computed:
        return self.combine("-", self, other)

    def __rsub__(self, other: Operand) -> Computed:
        return self.combine("-", other, self)

    def __mul__(self, other: Operand) -> Computed:
        return self.combine("*", self, other)

    def __rmul__(self, other: Operand) -> Computed:
        return self.combine("*", other, self)

    def __truediv__(self, other: Operand) -> Computed:
        return self.combine("/", self, other)

    def __rtruediv__(self, other: Operand) -> Computed:
        return self.combine("/", other, self)

    def __floordiv__(self, other: Operand) -> Computed:
        return self.combine("//", self, other)

    def __rfloordiv__(self, other: Operand) -> Computed:
        return self.combine("//", other, self)

    def __and__(self, other: Operand) -> Computed:
        return self.combine("&", self, other)

    def __rand__(self, other: Operand) -> Computed:
        return self.combine("&", other, self)

    def __or__(self, other: Operand) -> Computed:
        return self.combine("|", self, other)

    def __ror__(self, other: Operand) -> Computed:
        return self.combine("|", other, self)

    def __xor__(self, other: Operand) -> Computed:
        return self.combine("^", self, other)

    def __rxor__(self, other: Operand) -> Computed:
        return self.combine("^", other, self)

    def __lshift__(self, other: Operand) -> Computed:
        return self.combine("<<", self, other)

    def __rlshift__(self, other: Operand) -> Computed:
        return self.combine("<<", other, self)

    def __rshift__(self, other: Operand) -> Computed:
        return self.combine(">>", self, other)

    def __rrshift__(self, other: Operand) -> Computed:
        return self.combine(">>", other, self)

    def ceildiv(self, other: Operand) -> Computed:
        """The quotient rounded up."""
        return self.combine("ceildiv", self, other)


class Wide(Arithmetic[Computed]):
    """Several numbers computed together. Where one meets a number, the operation is that of the several."""

    __slots__ = ()

    @abstractmethod
    def extreme(self, name: str, left: Operand, right: Operand) -> Computed:
        """min or max of the two"""

    @abstractmethod
    def fused(self, a: Operand, b: Operand, c: Operand) -> Computed:
        """a * b + c"""

    @abstractmethod
    def chosen(self, condition: Operand, if_true: Operand, if_false: Operand) -> Computed:
        """if_true where condition holds, else if_false"""


def wide(*operands: object) -> Wide[object] | None:
    """The first of operands that is several numbers; None if none is."""
    return next((x for x in operands if isinstance(x, Wide)), None)


_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//", "mod": "%", "divmod": "divmod",
    "pow": "**", "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip
_OTHER_OPERATORS = {
    "neg": "-", "pos": "+", "invert": "~", "abs": "abs", "round": "round", "floor": "math.floor", "ceil": "math.ceil",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip


_FUNCTIONS = ("abs", "round", "floor", "ceil")
_FUNCTIONS_OF_NAME = frozenset("abs ceil exp floor log max min pow round select sqrt tanh".split())
_CALLED = "an element of an array is A[i], with brackets; a product is written with *"
_ONE = "it is one number, and a loop over an array makes such numbers of its elements"
_CAST = "write affdsl.f32(x), affdsl.i64(x), ... to convert"
_METHODS = {
    "astype": _CAST, "cast": _CAST, "to": _CAST, "type": _CAST,
    "dtype": "a kernel's annotations say its types; " + _CAST,
    "floordiv": "write x // y", "floor_divide": "write x // y", "mod": "write x % y",
    "ceil_div": "write x.ceildiv(y)", "cdiv": "write x.ceildiv(y)", "item": "it is one number already",
    "value": "it is known only when the kernel runs: store it to an array, or return it",
    **dict.fromkeys("shape size ndim T sum mean prod any all dot reshape copy fill real imag ravel".split(), _ONE),
}  # fmt: skip
"""What to write instead of methods that numbers have in NumPy and elsewhere."""


def _without(symbol: str) -> Callable[..., NoReturn]:
    def refuse(x: Traced, *_: object) -> NoReturn:
        advice = f"use affdsl.{symbol.removeprefix('math.')}(x)" if symbol.endswith(_FUNCTIONS) else x.instead
        if symbol == "divmod":
            advice = "write x // y for the quotient and x % y for the remainder"
        if symbol in ("&", "|") and x.instead == Traced.instead:
            advice += f"; comparisons need parentheses beside {symbol}, as in (i > 0) {symbol} (i < n)"
        raise problem(ProgramTypeError, f"{x.describe()} has no operator {symbol}", advice)

    return refuse


# An operator that a class below does not define says so in our words: == too, which object would answer.
for _name, _symbol in (_OPERATORS | {f"r{name}": s for name, s in _OPERATORS.items()} | _OTHER_OPERATORS).items():
    setattr(Traced, f"__{_name}__", _without(_symbol))


def attribute_problem(name: str, what: str, table: dict[str, str]) -> ProgramError:
    """The error for an attribute or method that what a kernel works with has not; `table` has what to write instead."""
    advice = table.get(name, "")
    if not advice and name in _FUNCTIONS_OF_NAME:
        advice = f"write affdsl.{name}(x)"
    return problem(ProgramAttributeError, f"{what} has no attribute {name}", advice)


def numpy_problem(function: str, what: str) -> ProgramError:
    """The error for a NumPy function called on what only the running kernel knows."""
    ours = _NUMPY_FUNCTIONS.get(function, function if function in _SAME_IN_NUMPY else "")
    return problem(
        ProgramTypeError,
        f"NumPy's {function} cannot work on {what}, which is not known while the kernel is built",
        f"use affdsl.{ours}" if ours else OTHERWISE.get(function, "write the loop with affdsl.for_"),
    )


_SAME_IN_NUMPY = frozenset(
    "cbrt ceil copysign cos cosh exp exp2 expm1 floor fmax fmin fmod isfinite isinf isnan log log10 log1p log2 sin "
    "sinh sqrt tan tanh trunc".split()
)
_NUMPY_FUNCTIONS = {
    "absolute": "abs", "fabs": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "maximum": "max", "minimum": "min", "rint": "roundeven",
    "where": "select", "power": "pow", "float_power": "pow", "copyto": "copy",
}  # fmt: skip
_UFUNC_OPERATORS = {
    "add": "__radd__", "subtract": "__rsub__", "multiply": "__rmul__", "divide": "__rtruediv__",
    "floor_divide": "__rfloordiv__", "remainder": "__rmod__", "power": "__rpow__",
    "less": "__gt__", "less_equal": "__ge__", "greater": "__lt__", "greater_equal": "__le__",
    "equal": "__eq__", "not_equal": "__ne__",
}  # fmt: skip
