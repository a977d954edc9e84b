"""Element types, and which Python numbers they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, TypeAlias, TypeVar, Union

import numpy as np

from affdsl.errors import ProgramTypeError
from affdsl.frozen import FrozenValue
from affdsl.ir.types import BF16, C64, C128, F16, F32, F64, I1, I8, I16, I32, I64, INDEX, NumberType
from affdsl.lang.source import problem

if TYPE_CHECKING:
    from affdsl.lang.annotations import ArrayType
    from affdsl.lang.scalars import Scalar
    from affdsl.lang.traced import Operand
    from affdsl.lang.type_variables import DTypes

Kind: TypeAlias = Literal["float", "complex", "signed", "unsigned", "bool", "index"]
Number: TypeAlias = Union[int, float, complex, bool, "np.generic"]
Typed = TypeVar("Typed", bound="OneType")
NUMBERS = (int, float, complex, np.generic)
"""The classes of Number."""


class OneType:
    """A type of an argument, of which `|` makes one of several: `f32[N] | f64[N]`."""

    united: ClassVar[Callable[[object, object], Any]]
    """What makes it: the module above, which knows all kinds of types, sets it."""

    def __or__(self: Typed, other: Typed) -> Typed:
        made: Typed = OneType.united(self, other)
        return made

    if not TYPE_CHECKING:

        def __ror__(self, other: object) -> NoReturn:
            OneType.united(other, self)


class DType(OneType, FrozenValue):
    """The type of an array's elements or of a number: `affdsl.f32`, `affdsl.i64`, `affdsl.bool_`, `affdsl.index`.

    `f32[M, N]` is the type of an array: of a kernel's argument, or of what `alloc` makes. `f32[...]` is one of any
    rank, and `f32 | f64`, or `f32[N] | f64[N]`, is one of several types, as `dtypes` makes them: kernels of such
    arguments are several kernels. `f32(x)` converts a number, an index or another scalar, as `cast` does.

    Attributes
    ----------
    name, type, numpy
        What it is called here, in MLIR, and in NumPy; None where NumPy has no such type.
    kind
        "float", "complex", "signed", "unsigned", "bool" or "index".

    >>> import affdsl as af
    >>> N = af.symbols("N")
    >>> af.f32[N, 4], af.u8.numpy, af.f32.kind
    (f32[N, 4], dtype('uint8'), 'float')
    """

    name: str
    type: NumberType
    kind: Kind
    numpy: np.dtype[np.generic] | None

    array: ClassVar[Callable[[DType | DTypes, tuple[object, ...]], ArrayType]]
    convert: ClassVar[Callable[[Operand, DType | DTypes], Scalar]]
    """What makes array types and scalars: the modules above, which know them, set it."""

    def __getitem__(self, shape: object) -> ArrayType:
        return DType.array(self, shape if isinstance(shape, tuple) else (shape,))

    def __call__(self, x: Operand) -> Scalar:
        return DType.convert(x, self)

    def __repr__(self) -> str:
        return self.name


def _dtype(name: str, type: NumberType, kind: Kind) -> DType:
    numpy = None if name == "bf16" else np.dtype(_NUMPY.get(name, name))
    return DType(name, type, kind, numpy)


_NUMPY = {"bool_": "bool", "index": "int64", "c64": "complex64", "c128": "complex128"} | {
    f"{short}{bits}": f"{long}{bits}" for short, long in (("i", "int"), ("u", "uint"), ("f", "float"))
    for bits in (8, 16, 32, 64)
}  # fmt: skip

f16, bf16 = _dtype("f16", F16, "float"), _dtype("bf16", BF16, "float")
f32, f64 = _dtype("f32", F32, "float"), _dtype("f64", F64, "float")
c64, c128 = _dtype("c64", C64, "complex"), _dtype("c128", C128, "complex")
i8, i16, i32, i64 = (_dtype(f"i{t.width}", t, "signed") for t in (I8, I16, I32, I64))
u8, u16, u32, u64 = (_dtype(f"u{t.width}", t, "unsigned") for t in (I8, I16, I32, I64))
bool_, index = _dtype("bool_", I1, "bool"), _dtype("index", INDEX, "index")


def literal(number: Number, dtype: DType) -> int | float | complex | bool:
    """A Python number as the IR holds one of the given type. Raises ProgramTypeError where the type cannot hold it."""
    plain = number.item() if isinstance(number, np.generic) else number
    if isinstance(plain, np.floating | np.complexfloating):  # long double stays one
        plain = complex(plain) if isinstance(plain, np.complexfloating) else float(plain)
    if dtype.kind == "complex" and isinstance(plain, int | float | complex) and not isinstance(plain, bool):
        real, imaginary = (plain.real, plain.imag) if isinstance(plain, complex) else (plain, 0.0)
        return complex(_rounded(real, parts_of(dtype)), _rounded(imaginary, parts_of(dtype)))
    if isinstance(plain, complex):
        raise problem(
            ProgramTypeError,
            f"{dtype} cannot be made of {number!r}, which is complex",
            f"compute with complex numbers: affdsl.{'c64' if dtype.name == 'f32' else 'c128'}(x)",
        )
    if not isinstance(plain, int | float):
        raise problem(
            ProgramTypeError,
            f"{dtype} cannot be made of {number!r}, which is no real number",
            f"take one element of it: {_called(number)}[i]" if getattr(number, "shape", ()) else "write a number",
        )
    if dtype.kind == "bool":
        if not isinstance(plain, bool):
            raise problem(ProgramTypeError, f"{plain!r} is not a truth value; write True or False, or a comparison")
        return plain
    if isinstance(plain, bool):
        raise problem(ProgramTypeError, f"{plain} is a truth value, but {dtype} is needed", f"write {int(plain)}")
    if dtype.kind == "float":
        return _rounded(plain, dtype)
    if isinstance(plain, float):
        raise problem(
            ProgramTypeError,
            f"the number {plain!r} is a float, but {dtype} is needed",
            f"write {int(plain) if plain.is_integer() else 'a whole number'}, or compute with floats and convert the "
            f"result: affdsl.{dtype}(affdsl.f64(x) * {plain!r})"
            if np.isfinite(plain)
            else "",
        )
    return _wrapped(plain, dtype)


def parts_of(dtype: DType) -> DType:
    """The type of both parts of a complex number."""
    return f32 if dtype == c64 else f64


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
