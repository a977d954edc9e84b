"""What a kernel takes and gives, as NumPy knows it, and what is wrong with arguments that do not fit."""

import operator
import struct
from collections.abc import Mapping
from contextlib import suppress
from numbers import Number
from typing import Final, NoReturn, cast

import numpy as np
import numpy.typing as npt

from affdsl.codegen.advice import A_COMPLEX, AN_ARRAY, ANY_STRIDES, COMPLEX
from affdsl.codegen.bfloat import KIND, is_bfloat16, kind_of, rounded
from affdsl.codegen.errors import ArgumentError, LayoutError, OverlapError, RangeError, SizeError
from affdsl.codegen.foreign import with_arrays
from affdsl.codegen.overlap import LARGEST, contiguous, is_even, overlap, overlaps_itself
from affdsl.errors import InternalError
from affdsl.frozen import FrozenValue

Array = npt.NDArray[np.generic]
Value = Array | np.generic
Shapes = tuple[tuple[int, ...], ...]
Scalars = tuple[np.generic, ...]


_INTEGERS: Final = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
_RANKS: Final = 32  # which every NumPy has; entry.c has room for no more
_DTYPES: Final = frozenset(
    np.dtype(name) for name in ["bool", *_INTEGERS, "float16", "float32", "float64", "complex64", "complex128"]
)
_BITS_OF_BFLOAT16: Final = frozenset(np.dtype(name) for name in ["uint16", "int16", "V2"])
"""How bits of bfloat16 come from where there is no such type: from C, from a file that NumPy wrote (V2)."""


class ArrayArgument(FrozenValue):
    """An array that the caller passes: aligned, in native byte order, and C-contiguous unless it may be strided."""

    name: str
    dtype: np.dtype[np.generic]
    rank: int
    written: bool
    strided: bool = False
    """Whether its strides are passed, too: they may be any multiples of the size of an element."""

    @property
    def size_count(self) -> int:
        """How many numbers it adds to the sizes of the packed ABI: dimensions, and then strides."""
        return 2 * self.rank if self.strided else self.rank


class ScalarArgument(FrozenValue):
    """A scalar that the caller passes; a Python number is converted where that loses nothing but float precision."""

    name: str
    dtype: np.dtype[np.generic]
    has_default: bool = False
    """Whether the caller may leave it out: another number is passed here then."""


class ArrayResult(FrozenValue):
    """A fresh array that the kernel fills in."""

    dtype: np.dtype[np.generic]
    rank: int


class ScalarResult(FrozenValue):
    """A NumPy scalar that the kernel computes."""

    dtype: np.dtype[np.generic]


class Signature(FrozenValue):
    """What a kernel is called, takes and gives."""

    name: str
    arguments: tuple[ArrayArgument | ScalarArgument, ...]
    results: tuple[ArrayResult | ScalarResult, ...] = ()

    def __post_init__(self) -> None:
        names = [argument.name for argument in self.arguments]
        if len(set(names)) < len(names):
            raise InternalError(f"{self.name}: two arguments have the same name, among {', '.join(names)}")
        for part in (*self.arguments, *self.results):
            if part.dtype not in _DTYPES and not is_bfloat16(part.dtype):
                raise InternalError(f"{self.name}: a kernel cannot take or give the dtype {part.dtype}")
            if isinstance(part, ArrayArgument | ArrayResult) and not 0 <= part.rank <= _RANKS:
                raise InternalError(f"{self.name}: an array cannot have rank {part.rank}, only 0 to {_RANKS}")


def check(signature: Signature, arguments: tuple[object, ...], keywords: Mapping[str, object]) -> list[Value]:
    """One checked value for each argument of a kernel: the array itself, or a scalar of the argument's dtype.

    Raises
    ------
    ArgumentError, SizeError, RangeError, LayoutError, OverlapError
        With the kernel's name, the argument, what is wanted, what was given, and what to do.
    """
    arguments, keywords = on_numpy(signature.name, arguments, keywords) or (arguments, keywords)
    given = _bind(signature, arguments, keywords) if keywords else arguments
    if len(given) != len(signature.arguments):
        _refuse_count(signature, len(given), ())
    values: list[Value] = []
    arrays: list[tuple[ArrayArgument, Array]] = []
    for argument, value in zip(signature.arguments, given, strict=True):
        if isinstance(argument, ScalarArgument):
            values.append(_scalar(signature.name, argument, value))
        else:
            array = _array(signature.name, argument, value)
            values.append(array)
            arrays.append((argument, array))
    _check_overlaps(signature.name, arrays)
    return values


def on_numpy(
    kernel: str, arguments: tuple[object, ...], keywords: Mapping[str, object]
) -> tuple[tuple[object, ...], dict[str, object]] | None:
    """Arguments of which the arrays of other libraries are NumPy's, on the same memory; None where there are none.

    Raises ArgumentError for an array that cannot be taken without a copy.
    """
    try:
        return with_arrays(arguments, keywords)
    except BufferError as error:
        raise ArgumentError(
            f"{kernel}: an array of another library cannot be read where it is; {error}; pass a copy that is a NumPy "
            "array"
        ) from error


def _bind(signature: Signature, arguments: tuple[object, ...], keywords: Mapping[str, object]) -> tuple[object, ...]:
    names = [argument.name for argument in signature.arguments]
    if len(arguments) > len(names):
        _refuse_count(signature, len(arguments), tuple(keywords))
    for name in keywords:
        if name not in names:
            takes = f"its arguments are {', '.join(names)}" if names else "it takes none"
            raise ArgumentError(f"{signature.name}: there is no argument {name!r}; {takes}")
        if names.index(name) < len(arguments):
            raise ArgumentError(
                f"{signature.name}: argument {name!r} is given twice, by position and by name; leave one out"
            )
    if any(name not in keywords for name in names[len(arguments) :]):
        _refuse_count(signature, len(arguments), tuple(keywords))
    return (*arguments, *(keywords[name] for name in names[len(arguments) :]))


def _refuse_count(signature: Signature, positional: int, keywords: tuple[str, ...]) -> NoReturn:
    names = [argument.name for argument in signature.arguments]
    optional = {a.name for a in signature.arguments if isinstance(a, ScalarArgument) and a.has_default}
    least = f"{len(names) - len(optional)} to " if optional else ""
    wanted = f"{least}{len(names)} argument{'' if len(names) == 1 else 's'}"
    listed = f" ({', '.join(names)})" if names else ""
    missing = [repr(name) for name in names[positional:] if name not in (*keywords, *optional)]
    hint = f"; pass also {', '.join(missing)}" if missing else ""
    raise ArgumentError(f"{signature.name}: takes {wanted}{listed}, got {positional + len(keywords)}{hint}")


def _array(kernel: str, argument: ArrayArgument, value: object) -> Array:
    if not isinstance(value, np.ndarray) or (type(value) is not np.ndarray and not is_plain(value)):
        _refuse_type(kernel, argument, value)
    flags = value.flags
    if (
        value.dtype == argument.dtype
        and value.ndim == argument.rank
        and (flags.aligned and (flags.writeable or not argument.written))
        and (_may_stride(argument, value) if argument.strided else flags.c_contiguous)
    ):
        return value
    _refuse_array(kernel, argument, value)


def _may_stride(argument: ArrayArgument, array: Array) -> bool:
    """Whether the strides of an array count its elements, all different ones where they are written."""
    return array.size <= LARGEST and is_even(array) and not (argument.written and overlaps_itself(array))


def is_plain(array: Array) -> bool:
    """Whether an array's data says all that there is to say; a masked array has a mask that a kernel would ignore."""
    return not isinstance(array, np.ma.MaskedArray)


def _refuse_type(kernel: str, argument: ArrayArgument, value: object) -> NoReturn:
    what = f"{kernel}: argument {argument.name!r} must be a NumPy array of {argument.dtype}"
    if isinstance(value, np.ndarray):
        raise ArgumentError(
            f"{what}, got a masked array, whose mask would be ignored; pass {argument.name}.filled(...), a plain array"
        )
    got = "None" if value is None else f"a {type(value).__name__}"
    if argument.written:
        raise ArgumentError(f"{what}, got {got}; it is written in place, so make an array first and pass that")
    raise ArgumentError(f"{what}, got {got}; pass np.asarray({argument.name}, dtype={_constructor(argument.dtype)})")


def _refuse_array(kernel: str, argument: ArrayArgument, value: Array) -> NoReturn:
    name = argument.name
    what = f"{kernel}: argument {name!r} must"
    if value.dtype != argument.dtype:
        constructor = _constructor(argument.dtype)
        if is_bfloat16(argument.dtype) and value.dtype in _BITS_OF_BFLOAT16:
            fix = f"pass {name}.view({constructor}) if these are its bits, which .astype would convert as numbers"
        elif kind_of(value.dtype) not in "biufcEO":
            fix = "its elements are no numbers"
        elif value.dtype.kind == "c" and argument.dtype.kind != "c":
            fix = f"its elements have two parts: pass np.ascontiguousarray({name}.real){COMPLEX}"
        elif argument.written:
            fix = f"it is written in place, where a copy would be lost, so make it with dtype={constructor}"
        else:
            loses = kind_of(value.dtype) in "fE" and argument.dtype.kind in "iu"
            fix = f"pass {name}.astype({constructor})" + ", which drops fractions" * loses
        raise ArgumentError(f"{what} be an array of {argument.dtype}, got {value.dtype}; {fix}")
    if value.ndim != argument.rank:
        raise SizeError(f"{what} have rank {argument.rank}, got shape {value.shape}; reshape it")
    _refuse_layout(kernel, argument, value)


def _refuse_layout(kernel: str, argument: ArrayArgument, value: Array) -> NoReturn:
    name, strides = argument.name, value.strides
    what = f"{kernel}: argument {name!r} must"
    in_place = f"it is written in place, where a copy would be lost, so pass work = COPY, then set {name}[...] = work"
    if not value.flags.c_contiguous and not argument.strided:
        copy = f"np.ascontiguousarray({name})"
        fix = in_place.replace("COPY", copy) if argument.written else f"pass {copy}"
        fix += ANY_STRIDES
        raise LayoutError(f"{what} be C-contiguous, with strides {contiguous(value)}, got strides {strides}; {fix}")
    fix = in_place.replace("COPY", f"np.array({name})") if argument.written else f"pass {name}.copy()"
    if not value.flags.aligned:
        address = value.__array_interface__["data"][0]
        fix += _or_aligned(value)
        raise LayoutError(f"{what} be aligned to {argument.dtype.alignment} bytes, got address {address:#x}; {fix}")
    if not is_even(value):
        size = value.itemsize
        fix += _or_aligned(value)
        raise LayoutError(f"{what} have strides that are multiples of an element's {size} bytes, got {strides}; {fix}")
    if value.size > LARGEST:
        raise SizeError(f"{what} have at most 2**47 elements, as all that memory holds, got shape {value.shape}")
    if not value.flags.writeable:
        raise LayoutError(
            f"{kernel}: argument {name!r} is written, but the array is read-only; pass one that can be written"
        )
    raise OverlapError(
        f"{kernel}: argument {name!r} is written, but elements of it are the same memory, or seem to be, with shape "
        f"{value.shape} and strides {strides}; pass {name}.copy()"
    )


def _or_aligned(array: Array) -> str:
    """What else helps where an array is a field of records that are packed."""
    is_field = isinstance(array.base, np.ndarray) and array.base.dtype.names is not None
    return ", or give the records room for aligned fields: np.dtype(..., align=True)" if is_field else ""


def _constructor(dtype: np.dtype[np.generic]) -> str:
    return "ml_dtypes.bfloat16" if is_bfloat16(dtype) else "np.bool_" if dtype.kind == "b" else f"np.{dtype.name}"


def _check_overlaps(kernel: str, arrays: list[tuple[ArrayArgument, Array]]) -> None:
    for position, (argument, array) in enumerate(arrays):
        for other, second in arrays[:position]:
            if (argument.written or other.written) and overlap(array, second):
                written = argument if argument.written else other
                both = "both are" if argument.written and other.written else f"{written.name!r} is"
                raise OverlapError(
                    f"{kernel}: {other.name!r} and {argument.name!r} overlap in memory and {both} written; "
                    f"pass a copy or another array as one of them"
                )


def _scalar(kernel: str, argument: ScalarArgument, value: object) -> np.generic:
    """A scalar of the argument's dtype: floats are rounded as NumPy does, integers arrive unchanged or not at all."""
    dtype = argument.dtype
    what = f"{kernel}: argument {argument.name!r} must be"
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, np.timedelta64)
    is_float = isinstance(value, (float, np.float32, np.float16))
    is_float = is_float or (is_bfloat16(dtype) and isinstance(value, dtype.type))
    match kind_of(dtype):
        case "b" if isinstance(value, (bool, np.bool_)):
            return np.bool_(value)
        case "i" | "u" if is_integer:
            number = operator.index(cast("int", value))
            bits = 8 * dtype.itemsize
            lower, upper = (0, 2**bits - 1) if dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
            if not lower <= number <= upper:
                raise RangeError(f"{what} between {lower} and {upper} ({dtype}), got {_shown(number)}")
            return dtype.type(number)
        case "f" | "E" if is_float:
            stored = _rounded(dtype, float(cast("float", value)))
            if stored is None:
                raise RangeError(f"{what} in the range of {dtype}, got {value}; pass np.inf if that is what you mean")
            return dtype.type(stored)
        case "f" | "E" if is_integer:
            number = operator.index(cast("int", value))
            stored = _rounded(dtype, number)
            if stored is None or stored != number:
                raise RangeError(
                    f"{what} exact as {dtype}, got the integer {_shown(number)}; "
                    f"pass float({argument.name}) to have it rounded"
                )
            return dtype.type(stored)
        case "c" if isinstance(value, (complex, np.complex64)):
            real, imaginary = (_rounded(_part_of(dtype), float(part)) for part in (value.real, value.imag))
            if real is None or imaginary is None:
                raise RangeError(f"{what} in the range of {dtype}, got {value}; pass np.inf as a part if that is meant")
            return dtype.type(complex(real, imaginary))
        case "c" if is_float or is_integer:
            return dtype.type(_scalar(kernel, ScalarArgument(argument.name, _part_of(dtype)), value))
    got = "None" if value is None else f"{_shown(value)} ({type(value).__name__})"
    wants, convert = _WANTED.get(kind_of(dtype), ("an integer", "int"))
    raise ArgumentError(f"{what} {wants} for {dtype}, got {got}; {_number_instead(argument.name, value, convert)}")


_WANTED: Final = {
    "b": ("a bool", "bool"), "f": ("a number", "float"), KIND: ("a number", "float"),
    "c": ("a complex number", "complex"),
}  # fmt: skip


def _part_of(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """The dtype of both parts of complex numbers."""
    return np.dtype(f"f{dtype.itemsize // 2}")


def _number_instead(name: str, value: object, convert: str) -> str:
    """What to pass instead of what is no number of the right kind."""
    if isinstance(value, complex | np.complexfloating) and convert != "complex":
        return f"it has two parts: pass {name}.real or abs({name}){A_COMPLEX.format(name)}"
    if getattr(value, "shape", ()) or isinstance(value, list | tuple):
        return f"pass one element of it, {name}[i]{AN_ARRAY.format(name)}"
    if isinstance(value, Number | str | np.generic):
        with suppress(TypeError, ValueError, OverflowError):
            {"bool": bool, "float": float, "int": int, "complex": complex}[convert](value)
            return f"pass {convert}({name}) if that is what you mean"
    return "pass a number"


def _shown(value: object) -> str:
    """A value for a message, which no huge one may drown; Python itself refuses to write thousands of digits."""
    if isinstance(value, int) and value.bit_length() > 256:
        return f"one of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _rounded(dtype: np.dtype[np.generic], value: float) -> float | None:
    """The nearest float of a type; None if a finite value leaves its range."""
    try:
        if is_bfloat16(dtype):
            stored = rounded(float(value))
            return stored if np.isfinite(stored) or not np.isfinite(value) else None
        form = f"={dtype.char}"  # without the sign, struct would make infinities
        return cast("float", struct.unpack(form, struct.pack(form, float(value)))[0])
    except OverflowError:
        return None
