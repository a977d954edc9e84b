"""A loaded kernel as a Python callable: checks its NumPy arguments, then calls the library with the GIL released.

A kernel's library exports the packed ABI, whose names and types never change:

    int32_t affdsl_entry(void *const *pointers, const int64_t *sizes);
    int32_t affdsl_results(const int64_t *sizes, void *const *pointers, int64_t *result_sizes);

`pointers` has one address for each argument and then for each result: the data of an array, or the place of a scalar.
`sizes` has the dimensions of all array arguments, one array after the other. `affdsl_results`, which only a library
with array results has, fills in the dimensions of the arrays to be made. Both return 0; or 1 if sizes disagree or an
assumption fails, with nothing touched; or 2 if there is no memory.

Two callers implement it. The compiled one (entry.c) takes a fraction of a microsecond; the one in this file, by ctypes,
a few, and needs no headers of Python or NumPy. They refuse the same calls with the same errors, because the compiled
one asks this file for its words.
"""

import ctypes
import operator
import os
import platform
import struct
import sysconfig
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal, NoReturn, Protocol, cast

import numpy as np
import numpy.typing as npt

from affdsl.errors import InternalError
from codegen.cache import Cache, LoadedLibrary, default_cache, import_image
from codegen.errors import (
    ArgumentError,
    LayoutError,
    OverlapError,
    RangeError,
    SizeError,
    ToolchainError,
)

Array = npt.NDArray[np.generic]
Value = Array | np.generic
Shapes = tuple[tuple[int, ...], ...]
Scalars = tuple[np.generic, ...]


@dataclass(frozen=True)
class ArrayArgument:
    """An array that the caller passes: C-contiguous, aligned, in native byte order."""

    name: str
    dtype: np.dtype[np.generic]
    rank: int
    written: bool


@dataclass(frozen=True)
class ScalarArgument:
    """A scalar that the caller passes; a Python number is converted where that loses nothing but float precision."""

    name: str
    dtype: np.dtype[np.generic]


@dataclass(frozen=True)
class ArrayResult:
    """A fresh array that the kernel fills in."""

    dtype: np.dtype[np.generic]
    rank: int


@dataclass(frozen=True)
class ScalarResult:
    """A NumPy scalar that the kernel computes."""

    dtype: np.dtype[np.generic]


@dataclass(frozen=True)
class Signature:
    """What a kernel is called, takes and gives."""

    name: str
    arguments: tuple[ArrayArgument | ScalarArgument, ...]
    results: tuple[ArrayResult | ScalarResult, ...] = ()

    def __post_init__(self) -> None:
        names = [argument.name for argument in self.arguments]
        if len(set(names)) < len(names):
            raise InternalError(f"{self.name}: two arguments have the same name, among {', '.join(names)}")
        for part in (*self.arguments, *self.results):
            if part.dtype not in _DTYPES:
                raise InternalError(f"{self.name}: a kernel cannot take or give the dtype {part.dtype}")
            if isinstance(part, ArrayArgument | ArrayResult) and not 0 <= part.rank <= _RANKS:
                raise InternalError(f"{self.name}: an array cannot have rank {part.rank}, only 0 to {_RANKS}")


class Caller(Protocol):
    """A kernel to be called, by position or by name; gives None, its one result, or a tuple of them."""

    def __call__(self, /, *arguments: object, **keywords: object) -> object: ...


ExplainSizes = Callable[[Shapes, Scalars], None]
TakeOver = Callable[[tuple[object, ...], Mapping[str, object]], tuple[object] | None]


def load(
    library: LoadedLibrary, signature: Signature, explain_sizes: ExplainSizes, take_over: TakeOver | None = None
) -> Caller:
    """Make a library callable.

    Parameters
    ----------
    library
        Exports the packed ABI above.
    signature
        What it takes and gives.
    explain_sizes
        Called with the shapes of the array arguments and the values of the scalar ones when the library says that
        sizes disagree or an assumption fails; raises an error that says which.
    take_over
        Asked about arguments that do not fit before they are refused; gives the answer of the call in a tuple of one,
        or None to have them refused. This is how a kernel is called with the placeholders of another one.
    """
    entry = library.address("affdsl_entry")
    results = library.address("affdsl_results")
    if entry is None:
        raise InternalError(f"{signature.name}: the library does not export affdsl_entry")
    if results is None and any(isinstance(result, ArrayResult) for result in signature.results):
        raise InternalError(f"{signature.name}: the library gives arrays but does not export affdsl_results")

    def explain(status: int, arguments: tuple[object, ...], keywords: Mapping[str, object]) -> tuple[object]:
        taken = take_over(arguments, keywords) if status == _REFUSED and take_over is not None else None
        if taken is not None:
            return taken
        _explain(signature, explain_sizes, status, arguments, keywords)

    make = _compiled_caller()
    if make is None:
        return _CtypesCaller(signature, entry, results, explain)
    names = tuple(argument.name for argument in signature.arguments)
    slots = tuple(_slot(part) for part in (*signature.arguments, *signature.results))
    return make(entry, results or 0, names, slots, explain, _is_plain)


def caller_kind() -> tuple[Literal["compiled", "ctypes"], str]:
    """Which of the two callers kernels get now, and why."""
    if _compiled_caller() is not None:
        return "compiled", "it was built for this Python and NumPy"
    if os.environ.get("AFFDSL_CALLER") == "ctypes":
        return "ctypes", "AFFDSL_CALLER asks for it"
    return "ctypes", _extension.reason


# The checks -----------------------------------------------------------------------------------------------------------


def check(signature: Signature, arguments: tuple[object, ...], keywords: Mapping[str, object]) -> list[Value]:
    """One checked value for each argument of a kernel: the array itself, or a scalar of the argument's dtype.

    Raises
    ------
    ArgumentError, SizeError, RangeError, LayoutError, OverlapError
        With the kernel's name, the argument, what is wanted, what was given, and what to do.
    """
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
    wanted = f"{len(names)} argument{'' if len(names) == 1 else 's'}"
    listed = f" ({', '.join(names)})" if names else ""
    missing = [repr(name) for name in names[positional:] if name not in keywords]
    hint = f"; pass also {', '.join(missing)}" if missing else ""
    raise ArgumentError(f"{signature.name}: takes {wanted}{listed}, got {positional + len(keywords)}{hint}")


def _array(kernel: str, argument: ArrayArgument, value: object) -> Array:
    if not isinstance(value, np.ndarray) or (type(value) is not np.ndarray and not _is_plain(value)):
        _refuse_type(kernel, argument, value)
    flags = value.flags
    if (
        value.dtype == argument.dtype
        and value.ndim == argument.rank
        and (flags.carray if argument.written else flags.c_contiguous and flags.aligned)
    ):
        return value
    _refuse_array(kernel, argument, value)


def _is_plain(array: Array) -> bool:
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
    raise ArgumentError(f"{what}, got {got}; pass np.asarray({argument.name}, dtype=np.{_constructor(argument.dtype)})")


def _refuse_array(kernel: str, argument: ArrayArgument, value: Array) -> NoReturn:
    name = argument.name
    what = f"{kernel}: argument {name!r} must"
    in_place = "it is written in place, where a copy would be lost, so"
    if value.dtype != argument.dtype:
        constructor = f"np.{_constructor(argument.dtype)}"
        fix = (
            f"{in_place} make it with dtype={constructor}" if argument.written else f"pass {name}.astype({constructor})"
        )
        raise ArgumentError(f"{what} be a {argument.dtype} array, got {value.dtype}; {fix}")
    if value.ndim != argument.rank:
        raise SizeError(f"{what} have rank {argument.rank}, got shape {value.shape}; reshape it")
    contiguous = np.empty(value.shape, value.dtype).strides if value.size else value.strides
    copy = f"{in_place} pass work = np.ascontiguousarray({name}), then set {name}[...] = work"
    if not value.flags.c_contiguous:
        fix = copy if argument.written else f"pass np.ascontiguousarray({name})"
        raise LayoutError(f"{what} be C-contiguous, with strides {contiguous}, got strides {value.strides}; {fix}")
    if not value.flags.aligned:
        address = value.__array_interface__["data"][0]
        fix = copy.replace("ascontiguousarray(", "array(") if argument.written else f"pass {name}.copy()"
        raise LayoutError(f"{what} be aligned to {argument.dtype.alignment} bytes, got address {address:#x}; {fix}")
    raise LayoutError(
        f"{kernel}: argument {name!r} is written, but the array is read-only; pass one that can be written"
    )


def _constructor(dtype: np.dtype[np.generic]) -> str:
    return "bool_" if dtype.kind == "b" else dtype.name


def _check_overlaps(kernel: str, arrays: list[tuple[ArrayArgument, Array]]) -> None:
    for position, (argument, array) in enumerate(arrays):
        for other, second in arrays[:position]:
            if (argument.written or other.written) and np.may_share_memory(array, second):
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
    match dtype.kind:
        case "b" if isinstance(value, (bool, np.bool_)):
            return np.bool_(value)
        case "i" | "u" if is_integer:
            number = operator.index(cast("int", value))
            bits = 8 * dtype.itemsize
            lower, upper = (0, 2**bits - 1) if dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
            if not lower <= number <= upper:
                raise RangeError(f"{what} between {lower} and {upper} ({dtype}), got {_shown(number)}")
            return dtype.type(number)
        case "f" if is_float:
            stored = _rounded(dtype, float(cast("float", value)))
            if stored is None:
                raise RangeError(f"{what} in the range of {dtype}, got {value}; pass np.inf if that is what you mean")
            return dtype.type(stored)
        case "f" if is_integer:
            number = operator.index(cast("int", value))
            stored = _rounded(dtype, number)
            if stored is None or stored != number:
                raise RangeError(
                    f"{what} exact as {dtype}, got the integer {_shown(number)}; "
                    f"pass float({argument.name}) to have it rounded"
                )
            return dtype.type(stored)
    got = "None" if value is None else f"{_shown(value)} ({type(value).__name__})"
    wants, convert = {"b": ("a bool", "bool"), "f": ("a number", "float")}.get(dtype.kind, ("an integer", "int"))
    raise ArgumentError(
        f"{what} {wants} for {dtype}, got {got}; pass {convert}({argument.name}) if that is what you mean"
    )


def _shown(value: object) -> str:
    """A value for a message, which no huge one may drown; Python itself refuses to write thousands of digits."""
    if isinstance(value, int) and value.bit_length() > 256:
        return f"one of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _rounded(dtype: np.dtype[np.generic], value: float) -> float | None:
    """The nearest float of a type; None if a finite value leaves its range."""
    try:
        form = f"={dtype.char}"  # without the sign, struct would make infinities
        return cast("float", struct.unpack(form, struct.pack(form, float(value)))[0])
    except OverflowError:
        return None


def _explain(
    signature: Signature,
    explain_sizes: ExplainSizes,
    status: int,
    arguments: tuple[object, ...],
    keywords: Mapping[str, object],
) -> NoReturn:
    """Raise what is wrong with a call that was refused."""
    values = check(signature, arguments, keywords)
    if status == _OUT_OF_MEMORY:
        raise MemoryError(
            f"{signature.name}: there is no memory for the arrays that the kernel allocates, "
            "or one of them has a negative size"
        )
    if status == _DISAGREE:
        shapes = tuple(value.shape for value in values if isinstance(value, np.ndarray))
        scalars = tuple(value for value in values if not isinstance(value, np.ndarray))
        explain_sizes(shapes, scalars)
        problem = "the library says that sizes disagree, but no disagreement was found"
    elif status == _REFUSED:
        problem = "entry.c refused arguments in which caller.py finds no mistake"
    else:
        problem = f"the library returned the unknown status {status}"
    raise InternalError(f"{signature.name}: {problem}; this is a bug of affdsl, please report it with the kernel")


# The compiled caller --------------------------------------------------------------------------------------------------

MakeCaller = Callable[
    [int, int, tuple[str, ...], tuple[tuple[bool, bool, int, str, int, int], ...], Callable[..., object], object],
    Caller,
]


@dataclass
class _Extension:
    """The one extension module of this process, once somebody asked for it."""

    make: MakeCaller | None = None
    reason: str = ""


_extension: Final = _Extension()
_building: Final = threading.Lock()


def _compiled_caller() -> MakeCaller | None:
    """The type of entry.c, or None where the ctypes caller is to be used."""
    wish = os.environ.get("AFFDSL_CALLER", "")
    if wish == "ctypes":
        return None
    if wish not in ("", "compiled"):
        raise ValueError(f"AFFDSL_CALLER is {wish!r}; set it to compiled or ctypes, or unset it")
    with _building:
        if not _extension.make and not _extension.reason:
            _build_extension(default_cache())
    if wish == "compiled" and _extension.make is None:
        raise ToolchainError(f"AFFDSL_CALLER asks for the compiled caller, but {_extension.reason}")
    return _extension.make


def _build_extension(cache: Cache) -> None:
    python, numpy = Path(sysconfig.get_path("include")), Path(np.get_include())
    for header in (python / "Python.h", numpy / "numpy" / "arrayobject.h"):
        if not header.is_file():
            _extension.reason = f"there is no {header}; install the development files of Python and NumPy"
            return
    versions = f"{sysconfig.get_config_var('SOABI')}, Python {platform.python_version()}, NumPy {np.__version__}"
    source = f"/* {versions} */\n" + files("codegen").joinpath("entry.c").read_text(encoding="utf-8")
    undefined = ("-undefined", "dynamic_lookup") if platform.system() == "Darwin" else ()
    flags = ("-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", *undefined, f"-I{python}", f"-I{numpy}")
    try:
        image, _, _ = cache.image(cache.compiler(), source, flags)
        module = import_image(image, "affdsl_entry")
    except (ToolchainError, ImportError) as error:
        _extension.reason = f"it could not be built: {error}"
        warnings.warn(f"kernels are called by ctypes, which takes microseconds longer: {error}", stacklevel=4)
        return
    _extension.make = cast("MakeCaller", module.Caller)


def _slot(part: ArrayArgument | ScalarArgument | ArrayResult | ScalarResult) -> tuple[bool, bool, int, str, int, int]:
    """One argument or result as entry.c reads it: is_array, written, type_num, kind, width, rank."""
    is_array = isinstance(part, ArrayArgument | ArrayResult)
    written = isinstance(part, ArrayArgument) and part.written
    rank = part.rank if isinstance(part, ArrayArgument | ArrayResult) else 0
    return is_array, written, part.dtype.num, part.dtype.kind, part.dtype.itemsize, rank


# The ctypes caller ----------------------------------------------------------------------------------------------------


class _CtypesCaller:
    """The caller for machines without the headers that entry.c needs."""

    def __init__(
        self,
        signature: Signature,
        entry: int,
        results: int | None,
        explain: Callable[[int, tuple[object, ...], Mapping[str, object]], tuple[object]],
    ) -> None:
        self._signature = signature
        self._entry = _ENTRY(entry)
        self._results = _RESULTS(results) if results is not None else None
        self._explain = explain
        ranks = [argument.rank for argument in signature.arguments if isinstance(argument, ArrayArgument)]
        # Packed bytes, which C only reads, are made many times faster than arrays of ctypes.
        self._pack_sizes = struct.Struct(f"{sum(ranks)}q").pack
        self._pack_pointers = struct.Struct(f"{len(signature.arguments) + len(signature.results)}P").pack

    def __call__(self, /, *arguments: object, **keywords: object) -> object:
        try:
            values = check(self._signature, arguments, keywords)
        except ArgumentError:
            return self._explain(_REFUSED, arguments, keywords)[0]
        # A scalar's place is an array of rank 0, which lives as long as `places` does.
        places = [value if isinstance(value, np.ndarray) else np.asarray(value) for value in values]
        sizes = self._pack_sizes(*[size for place in places for size in place.shape])
        addresses = [_address(place) for place in places]
        results: list[Array] = []
        if self._signature.results:
            results = self._make_results(sizes, addresses, arguments, keywords)
            addresses += [_address(result) for result in results]
        status = self._entry(self._pack_pointers(*addresses), sizes)
        if status != _FINE:
            self._explain(status, arguments, keywords)
        if not results:
            return None
        taken = tuple(
            result if isinstance(part, ArrayResult) else result[()]
            for part, result in zip(self._signature.results, results, strict=True)
        )
        return taken if len(taken) > 1 else taken[0]

    def _make_results(
        self, sizes: bytes, addresses: list[int], arguments: tuple[object, ...], keywords: Mapping[str, object]
    ) -> list[Array]:
        """A fresh array for each result; of rank 0 for a scalar."""
        ranks = [result.rank if isinstance(result, ArrayResult) else 0 for result in self._signature.results]
        dimensions = (ctypes.c_int64 * sum(ranks))()
        if self._results is not None:
            status = self._results(sizes, self._pack_pointers(*addresses, *[0] * len(ranks)), dimensions)
            if status != _FINE:
                self._explain(status, arguments, keywords)
        rest = iter(dimensions)
        return [
            np.empty([next(rest) for _ in range(rank)], result.dtype)
            for rank, result in zip(ranks, self._signature.results, strict=True)
        ]


def _address(array: Array) -> int:
    """Where a contiguous array's data is. NumPy's own `array.ctypes.data` takes four times as long."""
    if array.flags.writeable:
        return ctypes.addressof(_NOTHING.from_buffer(array.data))
    return array.ctypes.data


_NOTHING: Final = ctypes.c_char * 0  # fits any array, an empty one too

_FINE: Final = 0
_DISAGREE: Final = 1
_OUT_OF_MEMORY: Final = 2
_REFUSED: Final = -1  # by entry.c itself

_ENTRY: Final = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
_RESULTS: Final = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

_RANKS: Final = 32  # which every NumPy has; entry.c has room for no more
_INTEGERS: Final = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
_DTYPES: Final = frozenset(np.dtype(name) for name in ["bool", *_INTEGERS, "float16", "float32", "float64"])
