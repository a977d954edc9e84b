"""A loaded kernel as a Python callable: checks its NumPy arguments, then calls the library with the GIL released.

A kernel's library exports the packed ABI, whose names and types never change:

    int32_t affdsl_entry(void *const *pointers, const int64_t *sizes);
    int32_t affdsl_results(const int64_t *sizes, void *const *pointers, int64_t *result_sizes);

`pointers` has one address for each argument and then for each result: the data of an array, or the place of a scalar.
`sizes` has the dimensions of all array arguments, one array after the other; behind those of one that may be strided
stand its strides, in elements. `affdsl_results`, which only a library
with array results has, fills in the dimensions of the arrays to be made. Both return 0; or 1 if sizes disagree or an
assumption fails, with nothing touched; or 2 if there is no memory; or 3 if an access was not made because it would
leave its array, or an assertion does not hold, which only a library with checks or assertions gives. That exports

    void affdsl_failure(int64_t *numbers);

which tells the thread that called what failed. A library with loops that threads share exports

    int32_t affdsl_threads(int32_t threads);

which tells OpenMP on how many the thread that calls wants them, and gives how many it was told before; it is called
before `affdsl_entry` and after it where a number is wanted (`affdsl.codegen.threads`). Or the first two return 4, with
nothing touched, if it is not known whether the kernel may run with these sizes. Then Python decides, and tells the
library, which remembers it:

    void affdsl_allow(const int64_t *symbols);

`symbols` are the index arguments of the kernel's function, those first that are found in the shapes of arrays. Or they
return 5, with nothing touched, if all strided arrays lie in Fortran order, and another library is made for these.

Two callers implement it. The compiled one (entry.c) takes a fraction of a microsecond; the one in this file, by ctypes,
a few, and needs no headers of Python or NumPy. They refuse the same calls with the same errors, because the compiled
one asks Python for its words (arguments.py).
"""

import ctypes
import os
import platform
import struct
import sysconfig
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal, NoReturn, Protocol, cast

import numpy as np

from affdsl.codegen import background
from affdsl.codegen.arguments import (
    Array,
    ArrayArgument,
    ArrayResult,
    ScalarArgument,
    ScalarResult,
    Scalars,
    Shapes,
    Signature,
    Value,
    check,
    is_plain,
)
from affdsl.codegen.bfloat import in_abi, is_bfloat16, kind_of
from affdsl.codegen.c.sites import Sites
from affdsl.codegen.cache import Cache, LoadedLibrary, default_cache, import_image
from affdsl.codegen.errors import ArgumentError, ToolchainError
from affdsl.codegen.forks import is_alone
from affdsl.codegen.overlap import strides_of
from affdsl.codegen.threads import of_context, of_process, wanted
from affdsl.errors import AffdslError, InternalError
from affdsl.frames import plain_traceback


class Caller(Protocol):
    """A kernel to be called, by position or by name; gives None, its one result, or a tuple of them."""

    def __call__(self, /, *arguments: object, **keywords: object) -> object: ...


ExplainSizes = Callable[[Shapes, Scalars], None]
Explain = Callable[[int, tuple[object, ...], Mapping[str, object]], tuple[object, ...]]
Decide = Callable[[Shapes, Scalars], Sequence[int]]
TakeOver = Callable[[tuple[object, ...], Mapping[str, object]], tuple[object] | None]
Turned = Callable[[tuple[object, ...], Mapping[str, object]], tuple[object, object]]


def load(
    library: LoadedLibrary,
    signature: Signature,
    explain_sizes: ExplainSizes,
    take_over: TakeOver | None = None,
    sites: Sites | None = None,
    decide: Decide | None = None,
    other: TakeOver | None = None,
    turned: Turned | None = None,
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
    sites
        The checks of accesses in the library, if it has any.
    decide
        Called like explain_sizes when the library does not know whether the kernel may run; raises an error that says
        why not, or gives the index arguments, with which it may.
    other
        Gives the answer, in a tuple of one, of a call whose sizes are right, but not for this library.
    turned
        Gives it of a call of which all strided arrays lie in Fortran order, and what it has called with the transposes
        of these: the compiled caller calls that by itself the next time, if it is one, and nothing can fail in between.
    """
    entry = library.address("affdsl_entry")
    results = library.address("affdsl_results")
    threads = None if is_alone() else library.address("affdsl_threads")
    if entry is None:
        raise InternalError(f"{signature.name}: the library does not export affdsl_entry")
    if results is None and any(isinstance(result, ArrayResult) for result in signature.results):
        raise InternalError(f"{signature.name}: the library gives arrays but does not export affdsl_results")

    @plain_traceback
    def explain(status: int, arguments: tuple[object, ...], keywords: Mapping[str, object]) -> tuple[object, ...]:
        taken = take_over(arguments, keywords) if status == _REFUSED and take_over is not None else None
        if taken is not None:
            return taken
        if status == _OUTSIDE and sites is not None:
            raise _failure(library, sites)
        if status == _TURNED and turned is not None:
            answered = turned(arguments, keywords)
            return answered if library.address("affdsl_failure") is None else answered[:1]
        if status == _DISAGREE and other is not None:
            explain_sizes(*_sizes_and_scalars(check(signature, arguments, keywords)))
            answer = other(arguments, keywords)
            if answer is not None:
                return answer
        _explain(signature, explain_sizes, status, arguments, keywords)

    allow = library.address("affdsl_allow")
    if allow is None or decide is None:
        return _caller(signature, entry, results, threads, explain)

    def explain_or_allow(
        status: int, arguments: tuple[object, ...], keywords: Mapping[str, object]
    ) -> tuple[object, ...]:
        if status != _ASKS:
            return explain(status, arguments, keywords)
        symbols = decide(*_sizes_and_scalars(check(signature, arguments, keywords)))
        _ALLOW(allow)(struct.pack(f"{len(symbols)}q", *symbols))
        return (caller(*arguments, **keywords),)

    caller = _caller(signature, entry, results, threads, explain_or_allow)
    return caller


def _caller(signature: Signature, entry: int, results: int | None, threads: int | None, explain: Explain) -> Caller:
    make = _compiled_caller()
    if make is None:
        return _CtypesCaller(signature, entry, results, threads, explain)
    names = tuple(argument.name for argument in signature.arguments)
    slots = tuple(_slot(part) for part in (*signature.arguments, *signature.results))
    number = ctypes.addressof(of_process)
    return make(entry, results or 0, threads or 0, number, of_context, names, slots, explain, is_plain)


def caller_kind() -> tuple[Literal["compiled", "ctypes"], str]:
    """Which of the two callers kernels get now, and why."""
    if _compiled_caller() is not None:
        return "compiled", "it was built for this Python and NumPy"
    if os.environ.get("AFFDSL_CALLER") == "ctypes":
        return "ctypes", "AFFDSL_CALLER asks for it"
    return "ctypes", _extension.reason


def _failure(library: LoadedLibrary, sites: Sites) -> AffdslError:
    """What the last call of this thread says that failed."""
    address = library.address("affdsl_failure")
    if address is None:
        raise InternalError("the library has checks but does not export affdsl_failure")
    numbers = (ctypes.c_int64 * sites.room)()
    _FAILURE(address)(numbers)
    return sites.error(tuple(numbers))


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
        explain_sizes(*_sizes_and_scalars(values))
        problem = "the library says that sizes disagree, but no disagreement was found"
    elif status == _REFUSED:
        problem = "entry.c refused arguments in which arguments.py finds no mistake"
    else:
        problem = f"the library returned the unknown status {status}"
    raise InternalError(f"{signature.name}: {problem}; this is a bug of affdsl, please report it with the kernel")


def _sizes_and_scalars(values: Sequence[Value]) -> tuple[Shapes, Scalars]:
    shapes = tuple(value.shape for value in values if isinstance(value, np.ndarray))
    return shapes, tuple(value for value in values if not isinstance(value, np.ndarray))


# The compiled caller --------------------------------------------------------------------------------------------------

_OVERLAP: Final = '#include "overlap.c"\n'  # which stands in entry.c
_Slot = tuple[bool, bool, bool, int, str, int, int]
MakeCaller = Callable[
    [int, int, int, int, ContextVar[int | None], tuple[str, ...], tuple[_Slot, ...], Callable[..., object], object],
    Caller,
]


@dataclass
class _Extension:
    """The one extension module of this process, once somebody asked for it."""

    make: MakeCaller | None = None
    reason: str = ""
    image: Future[bytes] | None = None
    """What is being built, or was, by a thread of its own."""


_extension: Final = _Extension()
_building: Final = background.Lock()


def prepare() -> None:
    """Begin to build what calls kernels, in a thread: it is needed when the first kernel is compiled."""
    if os.environ.get("AFFDSL_CALLER", "") == "ctypes":
        return
    with background.interruptible(), _building:
        if not _extension.make and not _extension.reason and _extension.image is None:
            _extension.image = background.submit("affdsl-entry", _built, default_cache())


def _compiled_caller() -> MakeCaller | None:
    """The type of entry.c, or None where the ctypes caller is to be used."""
    wish = os.environ.get("AFFDSL_CALLER", "")
    if wish == "ctypes":
        return None
    if wish not in ("", "compiled"):
        raise ValueError(f"AFFDSL_CALLER is {wish!r}; set it to compiled or ctypes, or unset it")
    with background.interruptible(), _building:
        if not _extension.make and not _extension.reason:
            _load_extension(default_cache())
    if wish == "compiled" and _extension.make is None:
        raise ToolchainError(f"AFFDSL_CALLER asks for the compiled caller, but {_extension.reason}")
    return _extension.make


def _load_extension(cache: Cache) -> None:
    image, _extension.image = _extension.image, None
    if image is not None:
        wait([image])
    try:
        made = _built(cache) if image is None or background.is_stopped(image) else image.result()
        module = import_image(made, "affdsl_entry")
    except FileNotFoundError as error:
        _extension.reason = f"there is no {error.filename}; install the development files of Python and NumPy"
    except (ToolchainError, ImportError) as error:
        _extension.reason = f"it could not be built: {error}"
        warnings.warn(f"kernels are called by ctypes, which takes microseconds longer: {error}", stacklevel=4)
    else:
        _extension.make = cast("MakeCaller", module.Caller)


def _built(cache: Cache) -> bytes:
    """The extension module. Raises FileNotFoundError where a header is missing, and as `Cache.image` does."""
    python, numpy = Path(sysconfig.get_path("include")), Path(np.get_include())
    for header in (python / "Python.h", numpy / "numpy" / "arrayobject.h"):
        header.stat()
    versions = f"{sysconfig.get_config_var('SOABI')}, Python {platform.python_version()}, NumPy {np.__version__}"
    entry, overlap = (
        files("affdsl.codegen").joinpath(name).read_text(encoding="utf-8") for name in ("entry.c", "overlap.c")
    )
    source = f"/* {versions} */\n{entry.replace(_OVERLAP, overlap)}"
    undefined = ("-undefined", "dynamic_lookup") if platform.system() == "Darwin" else ()
    flags = ("-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", *undefined, f"-I{python}", f"-I{numpy}")
    image, _, _ = cache.image(cache.compiler(), source, flags)
    return image


def _slot(part: ArrayArgument | ScalarArgument | ArrayResult | ScalarResult) -> _Slot:
    """One argument or result as entry.c reads it: is_array, written, strided, type_num, kind, width, rank."""
    is_array = isinstance(part, ArrayArgument | ArrayResult)
    written, strided = (part.written, part.strided) if isinstance(part, ArrayArgument) else (False, False)
    rank = part.rank if isinstance(part, ArrayArgument | ArrayResult) else 0
    return is_array, written, strided, part.dtype.num, kind_of(part.dtype), part.dtype.itemsize, rank


# The ctypes caller ----------------------------------------------------------------------------------------------------


class _CtypesCaller:
    """The caller for machines without the headers that entry.c needs."""

    def __init__(
        self,
        signature: Signature,
        entry: int,
        results: int | None,
        threads: int | None,
        explain: Explain,
    ) -> None:
        self._signature = signature
        self._entry = _ENTRY(entry)
        self._results = _RESULTS(results) if results is not None else None
        self._threads = _THREADS(threads) if threads is not None else None
        self._explain = explain
        counts = [argument.size_count for argument in signature.arguments if isinstance(argument, ArrayArgument)]
        # Packed bytes, which C only reads, are made many times faster than arrays of ctypes.
        self._pack_sizes = struct.Struct(f"{sum(counts)}q").pack
        self._pack_pointers = struct.Struct(f"{len(signature.arguments) + len(signature.results)}P").pack

    def __call__(self, /, *arguments: object, **keywords: object) -> object:
        try:
            values = check(self._signature, arguments, keywords)
        except ArgumentError:
            return self._explain(_REFUSED, arguments, keywords)[0]
        # A scalar's place is an array of rank 0, which lives as long as `places` does.
        places = [
            value if isinstance(value, np.ndarray) else np.asarray(value, in_abi(value.dtype)) for value in values
        ]
        pairs = zip(self._signature.arguments, places, strict=True)
        sizes = self._pack_sizes(*[size for argument, place in pairs for size in _sizes(argument, place)])
        addresses = [_address(place) for place in places]
        results: list[Array] = []
        if self._signature.results:
            results = self._make_results(sizes, addresses, arguments, keywords)
            addresses += [_address(result) for result in results]
        status = self._run(self._pack_pointers(*addresses), sizes)
        if status != _FINE:
            return self._explain(status, arguments, keywords)[0]
        if not results:
            return None
        taken = tuple(
            result if isinstance(part, ArrayResult) else result.astype(part.dtype)[()]
            for part, result in zip(self._signature.results, results, strict=True)
        )
        return taken if len(taken) > 1 else taken[0]

    def _run(self, pointers: bytes, sizes: bytes) -> int:
        """Call the entry, with as many threads as are wanted, if somebody wants a number."""
        threads = wanted() if self._threads is not None else 0
        if threads == 0 or self._threads is None:
            return int(self._entry(pointers, sizes))
        before = self._threads(threads)
        try:
            return int(self._entry(pointers, sizes))
        finally:
            self._threads(before)

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
            np.empty(
                [next(rest) for _ in range(rank)],
                result.dtype if isinstance(result, ArrayResult) else in_abi(result.dtype),
            )
            for rank, result in zip(ranks, self._signature.results, strict=True)
        ]


def _sizes(argument: ArrayArgument | ScalarArgument, array: Array) -> tuple[int, ...]:
    """What an argument adds to the sizes."""
    is_strided = isinstance(argument, ArrayArgument) and argument.strided
    return (*array.shape, *strides_of(array)) if is_strided else array.shape


def _address(array: Array) -> int:
    """Where an array's data is. NumPy's own `array.ctypes.data` takes four times as long, and takes views, too."""
    if array.flags.carray and not is_bfloat16(array.dtype):  # which has no letter in the buffer protocol
        return ctypes.addressof(_NOTHING.from_buffer(array.data))
    return array.ctypes.data


_NOTHING: Final = ctypes.c_char * 0  # fits any array, an empty one too

_FINE: Final = 0
_DISAGREE: Final = 1
_OUT_OF_MEMORY: Final = 2
_OUTSIDE: Final = 3
_ASKS: Final = 4
_TURNED: Final = 5
_REFUSED: Final = -1  # by entry.c itself

_ENTRY: Final = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
_THREADS: Final = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)
_ALLOW: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_RESULTS: Final = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_FAILURE: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
