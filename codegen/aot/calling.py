"""Calls the functions of a library from Python. Each wheel has a copy of this module and of those that it imports.

What stands in the header as the contract of a function is checked here before it is called: types, shapes, layout,
overlap, and the sizes with which the kernel keeps to its arrays. What was found of shapes is remembered.
"""

import ctypes
import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import SupportsIndex

import numpy as np

from affdsl.codegen.arguments import (
    Array,
    ArrayArgument,
    ArrayResult,
    ScalarArgument,
    ScalarResult,
    Shapes,
    Signature,
    Value,
    check,
)
from affdsl.codegen.c.sites import Site
from affdsl.codegen.errors import ArgumentError, RangeError, SizeError
from affdsl.codegen.forks import MOST_THREADS, watch
from affdsl.codegen.lengths import misfit
from affdsl.codegen.overlap import data_address, strides_of
from affdsl.frozen import FrozenValue

Numbers = tuple[int, ...]
REMEMBERED = 1000
"""Of how many calls with other shapes it is remembered that they may run."""


class Size(FrozenValue):
    """A number that no caller passes: a dimension of an argument is factor * size + constant."""

    name: str
    argument: int
    dimension: int
    factor: int
    constant: int


class Dimension(FrozenValue):
    """What a dimension of an argument or a result is in words, and the numbers of which it is made."""

    shown: str
    names: tuple[str, ...]


class Condition(FrozenValue):
    """What must hold of the numbers, in words, and those that it is about."""

    shown: str
    names: tuple[str, ...]
    holds: Callable[..., bool]


class Contract(FrozenValue):
    """What the numbers of a call must satisfy: sizes, and then arguments that are sizes, each with its name.

    Attributes
    ----------
    sizes
        Those that the arrays tell.
    given
        The positions of the arguments that are numbers of it, and what these are called.
    dimensions, shapes
        For each argument, in words and as numbers; empty for one that is no array.
    result_dimensions, result_shapes
        The same for each result.
    conditions
        What else must hold.
    """

    sizes: tuple[Size, ...]
    given: tuple[tuple[int, str], ...]
    dimensions: tuple[tuple[Dimension, ...], ...]
    shapes: Callable[..., Shapes]
    result_dimensions: tuple[tuple[Dimension, ...], ...]
    result_shapes: Callable[..., Shapes]
    conditions: tuple[Condition, ...]


Place = tuple[str, int, int]
"""What an argument in C is: ("size", n, 0), ("argument", n, 0), ("stride", n, dimension), ("result", n, 0),
("threads", 0, 0), ("failure", 0, 0)."""


@dataclass(frozen=True)
class Function:
    """A function of a library, to be called with one argument for each of its signature.

    Attributes
    ----------
    places
        Its arguments in C.
    returns
        What it returns in C: "status" whether it ran, "value" its one result that is a number, or "nothing".
    sites
        The checks that may fail, by the numbers from 1 on that C gives them; `room` is for the numbers of one failure.
    prints
        Whether it writes to the standard output, which then comes after what Python wrote before.
    """

    library: ctypes.CDLL
    symbol: str
    signature: Signature
    contract: Contract
    places: tuple[Place, ...]
    returns: str
    sites: tuple[Site, ...] = ()
    room: int = 0
    prints: bool = False
    _run: Callable[..., int | float] = field(init=False, repr=False)
    _known: dict[object, tuple[Numbers, Shapes]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        function = self.library[self.symbol]
        function.argtypes = [self._type(place) for place in self.places]
        match self.returns:
            case "status":
                function.restype = ctypes.c_int32
            case "value":
                function.restype = _c_type(self._value.dtype)
            case _:
                function.restype = None
        object.__setattr__(self, "_run", function)

    @property
    def _value(self) -> ScalarResult:
        """The one result that is a number, which C returns."""
        return next(result for result in self.signature.results if isinstance(result, ScalarResult))

    def __call__(self, *arguments: object, threads: SupportsIndex = 0) -> object:
        """Check the arguments and call, with so many threads. Raises what `affdsl.codegen.arguments.check` does, and
        SizeError.
        """
        values = check(self.signature, arguments, {})
        many = _many(self.signature.name, threads)
        numbers, shapes = self._numbers(values)
        results = [np.empty(shape, result.dtype) for result, shape in zip(self.signature.results, shapes, strict=True)]
        failure = (ctypes.c_int64 * self.room)()
        if self.prints:
            sys.stdout.flush()
        given = [self._passed(place, numbers, values, results, failure, many) for place in self.places]
        answer = self._run(*given)
        if self.returns == "status" and answer != 0:
            raise self._error(answer, tuple(failure))
        pairs = zip(self.signature.results, results, strict=True)
        found = [made if isinstance(result, ArrayResult) else self._number(answer, made) for result, made in pairs]
        return None if not found else found[0] if len(found) == 1 else tuple(found)

    def _number(self, answer: int | float, made: Array) -> np.generic:
        """A result that is a number: what C returned, or wrote where it was told to."""
        if self.returns == "value":
            stored: Array = made.view(np.uint16) if made.dtype == np.float16 else made
            stored.fill(answer)
        return made.dtype.type(made)

    def _type(self, place: Place) -> type:
        what, number, _ = place
        if what in ("size", "stride"):
            return ctypes.c_int64
        if what == "threads":
            return ctypes.c_int32
        argument = self.signature.arguments[number] if what == "argument" else None
        return _c_type(argument.dtype) if isinstance(argument, ScalarArgument) else ctypes.c_void_p

    def _passed(
        self,
        place: Place,
        numbers: Numbers,
        values: Sequence[Value],
        results: Sequence[Array],
        failure: ctypes.Array[ctypes.c_int64],
        threads: int,
    ) -> object:
        match place:
            case "size", number, _:
                return numbers[number]
            case "argument", number, _:
                value = values[number]
                return data_address(value) if isinstance(value, np.ndarray) else _bits(value)
            case "stride", number, dimension:
                array = values[number]
                assert isinstance(array, np.ndarray), "only arrays have strides"
                return strides_of(array)[dimension]
            case "result", number, _:
                return data_address(results[number])
            case "threads", _, _:
                return threads
            case _:
                return ctypes.addressof(failure)

    def _error(self, status: object, failure: Sequence[int]) -> Exception:
        """What a status means."""
        if status == 3:
            site = self.sites[failure[0] - 1]
            return site.error(failure[1 : 1 + site.numbers])
        return MemoryError(f"{self.signature.name}: there is no memory for the arrays that the kernel allocates")

    def _numbers(self, values: Sequence[Value]) -> tuple[Numbers, Shapes]:
        """The numbers of a call and the shapes of its results, after all that must hold of them."""
        contract = self.contract
        given = tuple(int(values[position]) for position, _ in contract.given)
        key = tuple(v.shape for v in values if isinstance(v, np.ndarray)), given
        found = self._known.get(key)
        if found is None:
            found = self._checked(values, given)
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[key] = found
        return found

    def _checked(self, values: Sequence[Value], given: Numbers) -> tuple[Numbers, Shapes]:
        name, arguments, contract = self.signature.name, self.signature.arguments, self.contract
        known: dict[str, int] = {}
        origin: dict[str, str] = {}
        for size in contract.sizes:
            got = values[size.argument].shape[size.dimension]
            known[size.name], rest = divmod(got - size.constant, size.factor)
            called = f"dimension {size.dimension} of argument '{arguments[size.argument].name}'"
            if rest or known[size.name] < 0:
                shown = contract.dimensions[size.argument][size.dimension].shown
                raise SizeError(f"{name}: {called} is {got}, which {shown} is for no size {size.name}")
            origin[size.name] = called.replace("argument ", "")
        for (position, called), number in zip(contract.given, given, strict=True):
            known[called], origin[called] = number, f"argument {arguments[position].name}"
        numbers = tuple(known.values())
        try:
            shapes, results = contract.shapes(*numbers), contract.result_shapes(*numbers)
        except ZeroDivisionError as error:
            raise SizeError(f"{name}: {error}") from None
        for argument, value, wanted, dimensions in zip(arguments, values, shapes, contract.dimensions, strict=True):
            if isinstance(argument, ArrayArgument):
                for k, (got, number, dimension) in enumerate(zip(value.shape, wanted, dimensions, strict=True)):
                    if got != number:
                        why = ", ".join(f"{n} = {known[n]} from {origin[n]}" for n in dimension.names)
                        shown = f"{dimension.shown} = {number} ({why})" if why else str(number)
                        raise SizeError(
                            f"{name}: dimension {k} of argument '{argument.name}' must be {shown}, got {got}"
                        )
        for shape, parts in zip(results, contract.result_dimensions, strict=True):
            for k, (extent, dimension) in enumerate(zip(shape, parts, strict=True)):
                if not 0 <= extent < 2**63:
                    raise SizeError(
                        f"{name}: dimension {k} of the array that it returns would be {dimension.shown} = {extent}, "
                        f"where {_given(known, dimension.names)}"
                    )
        for condition in contract.conditions:
            try:
                holds = condition.holds(*numbers)
            except ZeroDivisionError as error:
                raise SizeError(f"{name}: {error}") from None
            if not holds:
                raise SizeError(f"{name}: {condition.shown}, but {_given(known, condition.names)}")
        return numbers[: len(contract.sizes)], results


def quotient(dividend: int, divisor: int) -> int:
    """The floor of dividend / divisor. Raises ZeroDivisionError for a divisor that is not positive."""
    if divisor <= 0:
        raise ZeroDivisionError(f"a size is divided by {divisor}, and it must be by a positive number")
    return dividend // divisor


def loaded(file: Path) -> ctypes.CDLL:
    """The library in a file. Raises ImportError where the system refuses it, or registers have another length."""
    watch()
    try:
        library = ctypes.CDLL(str(file))
    except OSError as error:
        raise ImportError(
            f"the compiled library {file.name} cannot be loaded: {error}; install what it names, or a wheel that was "
            "built for this machine"
        ) from None
    if bits := misfit(library):
        raise ImportError(
            f"the compiled library {file.name} is for vector registers of {bits[0]} bits, and those here have "
            f"{bits[1]}: install a wheel that was built for these, or for any length"
        )
    return library


def _many(function: str, threads: SupportsIndex) -> int:
    """A number of threads as it is passed. Raises ArgumentError and RangeError."""
    try:
        number = None if isinstance(threads, bool) else operator.index(threads)  # True would be one thread
    except TypeError:
        number = None
    if number is None:
        raise ArgumentError(
            f"{function}: argument 'threads' must be a whole number, got {threads!r}: pass 0 to leave it to OpenMP"
        )
    if not 0 <= number <= MOST_THREADS:
        raise RangeError(f"{function}: argument 'threads' must be between 0 and {MOST_THREADS}, got {number}")
    return number


def _given(known: dict[str, int], names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} = {known[name]}" for name in names)


class _C64(ctypes.Structure):
    """A `float _Complex`, which is passed as two floats side by side are."""

    _fields_ = (("real", ctypes.c_float), ("imag", ctypes.c_float))


class _C128(ctypes.Structure):
    """A `double _Complex`."""

    _fields_ = (("real", ctypes.c_double), ("imag", ctypes.c_double))


def _c_type(dtype: np.dtype[np.generic]) -> type:
    """How C takes and gives a number: of float16 it is the bits."""
    if dtype.kind == "c":
        return _C64 if dtype.itemsize == 8 else _C128
    if dtype.kind == "f":
        return {2: ctypes.c_uint16, 4: ctypes.c_float, 8: ctypes.c_double}[dtype.itemsize]
    if dtype.kind == "b":
        return ctypes.c_bool
    sign = "u" if dtype.kind == "u" else ""
    found: type = getattr(ctypes, f"c_{sign}int{8 * dtype.itemsize}")
    return found


def _bits(value: np.generic) -> object:
    if isinstance(value, np.complexfloating):
        return _c_type(value.dtype)(value.real, value.imag)
    return int(value.view(np.uint16)) if value.dtype == np.float16 else value.item()
