"""Arguments of `affdsl run` as words: numbers, and arrays by shape and content or from files.

    3  -0x10  2.5  1e-3  inf  true  1-2j  a number
    4x4xf32=zeros                         an array: sizes and elements, = and what is in it
    4x4=random:7                          the elements are those that the function takes anyway
    zeros                                 the sizes too, where the function's type has them all
    [[1, 2], [3, 4]]                      the elements themselves; complex ones may be pairs
    @a.npy  @a.npz:name                   from a NumPy file

What is in an array: `zeros`, `ones`, `iota` (0, 1, 2, ... in the order of memory), `random` or `random:SEED` (floats
from 0 up to 1, integers from 0 to 99), or a number.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from affdsl.cli.flags import UsageError
from affdsl.ir.dialects.func import Func
from affdsl.ir.messages import shown
from affdsl.ir.numeric import dtype, number_of, to_bits
from affdsl.ir.spelling import spell
from affdsl.ir.types import INDEX, ComplexType, FloatType, IndexType, IntegerType, MemRefType, NumberType

Array = NDArray[np.generic]
Argument = int | float | complex | Array

_FORM = re.compile(
    r"(?P<shape>[0-9]+(?:x[0-9]+)*)?(?:(?<=[0-9])x)?(?P<element>[a-z]+[0-9]*|complex<f[0-9]+>)?=(?P<fill>.+)"
)
_LARGEST = 2**40  # bytes of one array


def read_arguments(function: Func, words: Sequence[str]) -> list[Argument]:
    """What words give a function for its arguments: one word for each, or for each but the sizes that come first.

    Raises
    ------
    UsageError
        With the argument, its type, what was given, and what would be right.
    """
    told = _told(function)
    if len(words) not in (len(function.args), len(function.args) - len(told)):
        wanted = ", ".join(f"{shown(v)}: {v.type}" for v in function.args)
        sizes = ", ".join(map(shown, function.args[: len(told)]))
        raise UsageError(
            f"affdsl run: @{function.symbol} takes {len(function.args)} arguments"
            f"{f' ({wanted})' if wanted else ''}"
            f"{f', of which {sizes} can be left out: the arrays tell them' if told else ''}, got {len(words)}"
        )
    left_out = len(function.args) - len(words)
    given = [_argument(function, left_out + position, word) for position, word in enumerate(words)]
    return [*(_size(function, told[k], given) for k in range(left_out)), *given]


Source = tuple[int, int, int, int]
"""An argument and its dimension that is `factor * size + constant`."""


def _told(function: Func) -> list[Source]:
    """For each index argument that comes first, where the contract of an array has it alone."""
    found: list[Source] = []
    for value in function.args:
        sources = (
            (position, dimension, sizes[dimension].terms[0][1], sizes[dimension].constant)
            for position, sizes in enumerate(function.shapes)
            if sizes is not None
            for dimension in range(len(sizes))
            if [atom for atom, _ in sizes[dimension].terms] == [value]
        )
        source = next(sources, None)
        if value.type != INDEX or source is None:
            break
        found.append(source)
    return found


def _size(function: Func, source: Source, given: Sequence[Argument]) -> int:
    position, dimension, factor, constant = source
    array = given[position - len(function.args)]
    assert isinstance(array, np.ndarray), "only arrays have shapes in a contract"
    size, rest = divmod(array.shape[dimension] - constant, factor)
    if rest or size < 0:
        promised = function.shapes[position]
        assert promised is not None, "it is the source of a size"
        raise UsageError(
            f"affdsl run: argument {shown(function.args[position])} of @{function.symbol}: dimension {dimension} is "
            f"{array.shape[dimension]}, which {spell(promised[dimension])} is for no size"
        )
    return int(size)


def _argument(function: Func, position: int, word: str) -> Argument:
    value = function.args[position]
    what = f"affdsl run: argument {shown(value)} of @{function.symbol}, of type {value.type}:"
    unsigned = position in function.unsigned
    match value.type:
        case MemRefType(element=IndexType() | IntegerType() | FloatType() | ComplexType() as element) as type:
            return _array(what, word, type, element, unsigned=unsigned)
        case IndexType() | IntegerType() | FloatType() | ComplexType() as type:
            return _number(what, word, type)
        case _:
            raise UsageError(f"{what} a value of this type cannot be given on the command line")


def _number(what: str, word: str, type: NumberType) -> int | float | complex:
    if word in ("true", "false") and type == IntegerType(1):
        return int(word == "true")
    try:
        return _read(word, type)
    except ValueError:
        example = {FloatType: "2.5", ComplexType: "1.5-2j"}.get(type.__class__, "3")
        raise UsageError(f"{what} needs a number like {example}, got '{word}'") from None


def _read(word: str, type: NumberType) -> int | float | complex:
    """A number of a type, as Python writes it. Raises ValueError."""
    if isinstance(type, ComplexType):
        return complex(word)
    return float(word) if isinstance(type, FloatType) else int(word, 0)


def _array(what: str, word: str, type: MemRefType, element: NumberType, *, unsigned: bool) -> Array:
    stored = dtype(element, unsigned=unsigned)
    if word.startswith("@"):
        array = _from_file(what, word[1:])
        if array.dtype != stored:
            raise UsageError(f"{what} needs elements of {stored}, but {word[1:]} has {array.dtype}")
        array = np.asarray(array, order="C")
    elif word.startswith("["):
        array = _literal(what, word, type, element, stored)
    else:
        array = _filled(what, word, type, element, stored)
    sizes = "x".join(map(str, array.shape)) or "one element"
    if array.ndim != type.rank:
        raise UsageError(f"{what} needs an array of rank {type.rank}, got {sizes} of rank {array.ndim}")
    for dimension, (size, wanted) in enumerate(zip(array.shape, type.shape, strict=True)):
        if wanted is not None and size != wanted:
            raise UsageError(f"{what} needs size {wanted} along dimension {dimension}, got {size} of {sizes}")
    return array


def _from_file(what: str, name: str) -> Array:
    path, _, key = (name, "", "") if name.endswith((".npy", ".npz")) else name.partition(":")
    try:
        with open(path, "rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return loaded
            names = list(loaded.files)
            if key not in names and (key or len(names) != 1):
                raise UsageError(f"{what} {path} holds {', '.join(names)}; write @{path}:NAME")
            found: Array = loaded[key or names[0]]
            return found
    except OSError as error:
        raise UsageError(f"{what} cannot open '{path}': {error.strerror or error}") from None
    except (ValueError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise UsageError(f"{what} '{path}' is no NumPy file of numbers: {error}") from None


def _literal(what: str, word: str, type: MemRefType, element: NumberType, stored: np.dtype[np.generic]) -> Array:
    try:
        numbers = np.array(json.loads(word), dtype=object)
        if isinstance(element, ComplexType) and numbers.ndim == type.rank + 1 and numbers.shape[-1] == 2:
            return _pairs(what, numbers, element, stored)
        if any(isinstance(x, list) for x in numbers.ravel().tolist()):
            raise ValueError("its rows differ in length")
        flat = [_element(what, x, element, stored) for x in numbers.ravel().tolist()]
    except (ValueError, RecursionError):
        raise UsageError(f"{what} '{word}' is no list of numbers like [1, 2] or [[1, 2], [3, 4]]") from None
    return np.array(flat, dtype=stored).reshape(numbers.shape)


def _pairs(what: str, numbers: Array, element: ComplexType, stored: np.dtype[np.generic]) -> Array:
    """Complex numbers, of which each is a list of two."""
    flat = [_element(what, x, element.part, np.dtype(np.float64)) for x in numbers.ravel().tolist()]
    return np.array(list(map(complex, flat[::2], flat[1::2])), stored).reshape(numbers.shape[:-1])


def _element(
    what: str, number: object, element: NumberType, stored: np.dtype[np.generic]
) -> int | float | complex | np.generic:
    whole = not isinstance(element, FloatType | ComplexType)
    if not isinstance(number, int | float) or (whole and not isinstance(number, int)):
        raise UsageError(f"{what} needs {'whole numbers' if whole else 'numbers'}, got {json.dumps(number)}")
    if isinstance(element, ComplexType):
        return complex(number)
    if isinstance(element, FloatType):
        rounded = number_of(number, element)
        return to_bits(rounded, element) if element.name == "bf16" else rounded
    low, high = _range(stored)
    if not low <= number <= high:
        raise UsageError(f"{what} needs numbers from {low} to {high}, got {number}")
    return number


def _filled(what: str, word: str, type: MemRefType, element: NumberType, stored: np.dtype[np.generic]) -> Array:
    form = _FORM.fullmatch(word)
    fill = word if form is None else form["fill"]
    named = form["element"] if form is not None else None
    if named is not None and named.replace("u", "i", 1) != str(element) and named != str(element):
        raise UsageError(f"{what} has elements of {element}, got {named}")
    if form is not None and form["shape"] is not None:
        shape = tuple(map(int, form["shape"].split("x")))
    elif None not in type.shape:
        shape = tuple(size for size in type.shape if size is not None)
    else:
        sizes = "x".join("4" if size is None else str(size) for size in type.shape)
        raise UsageError(f"{what} its sizes are needed: write {sizes}={fill}; got '{word}'")
    bytes_needed = stored.itemsize
    for size in shape:
        bytes_needed *= size
    if bytes_needed > _LARGEST:
        raise UsageError(f"{what} an array of {'x'.join(map(str, shape))} is too large")
    numbers = _content(what, fill, shape, element, stored)
    if isinstance(element, FloatType) and element.name == "bf16":
        bits = [to_bits(number_of(float(x), element), element) for x in numbers.ravel()]
        return np.array(bits, stored).reshape(shape)
    return numbers.astype(stored, order="C")


def _content(what: str, fill: str, shape: tuple[int, ...], element: NumberType, stored: np.dtype[np.generic]) -> Array:
    kind, _, seed = fill.partition(":")
    count = int(np.prod(shape, dtype=np.int64))
    match kind:
        case "zeros" | "ones" if not seed:
            return np.full(shape, 0 if kind == "zeros" else 1, np.int64)
        case "iota" if not seed:
            return np.arange(count).reshape(shape)
        case "random" if not seed or seed.isdigit():
            random = np.random.default_rng(int(seed or 0))
            if isinstance(element, ComplexType):
                return random.random(shape) + 1j * random.random(shape)
            if isinstance(element, FloatType):
                return random.random(shape)
            return random.integers(0, 2 if element == IntegerType(1) else 100, shape)
    try:
        number = _read(fill, element)
    except ValueError:
        raise UsageError(
            f"{what} '{fill}' is nothing to fill an array with: write zeros, ones, iota, random:SEED, a number, "
            "[1, 2] or @file.npy"
        ) from None
    if isinstance(number, int):
        _element(what, number, element, stored)
    return np.full(shape, number, None if isinstance(number, float | complex) else stored)


def _range(stored: np.dtype[np.generic]) -> tuple[int, int]:
    """The numbers that an integer type of NumPy holds; bool is 0 and 1."""
    bits = 1 if stored.kind == "b" else 8 * stored.itemsize
    return (0, 2**bits - 1) if stored.kind in "bu" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
