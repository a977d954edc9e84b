"""Calls a function that mlir-opt lowered: memrefs from NumPy arrays, scalars by value, in a forked child."""

import ctypes
import re
import signal
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tests.harness.processes import Death, answers

Argument = np.ndarray | np.generic | int | float | bool
Scalar = (
    ctypes.c_int8 | ctypes.c_uint8 | ctypes.c_int16 | ctypes.c_int32 | ctypes.c_int64 | ctypes.c_float | ctypes.c_double
)
Value = Scalar | ctypes.Array[ctypes.c_int64]
Results = None | np.ndarray | np.generic | tuple[np.ndarray | np.generic, ...]

TIME_LIMIT = 60  # seconds, for one call


@dataclass(frozen=True)
class Type:
    """A type of a function's signature: an element type, and the dimensions if it is a memref (None: dynamic)."""

    element: str
    shape: tuple[int | None, ...] | None = None

    @property
    def dtype(self) -> np.dtype:
        """The NumPy type with the same bits; bf16, which NumPy lacks, travels as uint16."""
        floats = {"f16": "f2", "bf16": "u2", "f32": "f4", "f64": "f8", "index": "i8", "i1": "?"}
        floats |= {"complex<f32>": "c8", "complex<f64>": "c16"}
        return np.dtype(floats.get(self.element) or f"i{int(self.element[1:]) // 8}")

    @property
    def record(self) -> np.dtype:
        """How the type stands in a struct of results."""
        return self.dtype if self.shape is None else np.dtype((np.int64, (self.words,)))

    @property
    def words(self) -> int:
        """The length of a memref's descriptor: two pointers, the offset, and a size and a stride for each dimension."""
        assert self.shape is not None
        return 3 + 2 * len(self.shape)


@dataclass(frozen=True)
class Signature:
    """The types of a function's arguments and results."""

    arguments: tuple[Type, ...]
    results: tuple[Type, ...]


def function_types(generic: str) -> dict[str, str]:
    """The type, as text, of each function of a module that mlir-opt printed in generic form."""
    pattern = r'function_type = (\(.*?\) -> .*?), (?:no_inline, )?(?:res_attrs = .*?, )?sym_name = "(.*?)"'
    return {name: text for text, name in re.findall(rf'^  "func\.func"\(\) <\{{.*?{pattern}', generic, re.M)}


def signature(function_type: str) -> Signature:
    """The signature that a function type like ``(index, memref<?xf32>) -> f32`` says."""
    arguments, results = _split(function_type, "->")
    return Signature(*(tuple(_type(part) for part in _split(_unwrap(side), ",")) for side in (arguments, results)))


def call(library: Path, function: str, types: Signature, arguments: Sequence[Argument]) -> Results:
    """Call a lowered function; arrays are changed in place, results are returned as arrays and NumPy scalars."""
    if len(arguments) != len(types.arguments):
        raise TypeError(f"@{function} takes {len(types.arguments)} arguments, got {len(arguments)}")
    values = [
        (_descriptor if type.shape is not None else _scalar)(argument, type, f"argument {i} of @{function}")
        for i, (argument, type) in enumerate(zip(arguments, types.arguments, strict=True))
    ]
    arrays = [argument for argument in arguments if isinstance(argument, np.ndarray) and argument.size]

    def body() -> Iterator[bytes]:
        yield from _invoke(library, f"_mlir_ciface_{function}", values, types.results)
        for array in arrays:
            low, high = byte_bounds(array)
            yield ctypes.string_at(low, high - low)

    parts = iter(_in_child(body, function))
    results = [_result(type, parts) for type in types.results]
    for array, after in zip(arrays, parts, strict=True):
        low, _ = byte_bounds(array)
        if ctypes.string_at(low, len(after)) == after:
            continue
        if not array.flags.writeable:
            raise AssertionError(f"@{function} wrote to a read-only array")
        ctypes.memmove(low, after, len(after))
    return None if not results else results[0] if len(results) == 1 else tuple(results)


def _unwrap(text: str) -> str:
    return text[1:-1] if text.startswith("(") else text


def _split(text: str, separator: str) -> list[str]:
    """The parts of a text between separators that stand outside all brackets."""
    parts, depth, start, i = [], 0, 0, 0
    while i < len(text):
        if depth == 0 and text.startswith(separator, i):
            parts.append(text[start:i].strip())
            start = i + len(separator)
        arrow = text.startswith("->", i)
        if not arrow:
            depth += (text[i] in "(<[{") - (text[i] in ")>]}")
        i += 2 if arrow else 1
    return [*parts, text[start:].strip()] if text.strip() else []


def _type(text: str) -> Type:
    memref = re.fullmatch(r"memref<((?:(?:\?|\d+)x)*)(\w+|complex<\w+>)(?:, .*)?>", text)
    element = memref[2] if memref else text
    if not re.fullmatch(r"index|i1|i8|i16|i32|i64|f16|bf16|f32|f64|complex<f32>|complex<f64>", element):
        raise TypeError(f"a call from Python has no way to pass the type {text}")
    if memref is None:
        return Type(element)
    return Type(element, tuple(None if size == "?" else int(size) for size in memref[1].split("x")[:-1]))


def _descriptor(array: Argument, type: Type, where: str) -> "ctypes.Array[ctypes.c_int64]":
    """The memref descriptor of an array; ctypes passes a pointer to it."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{where} must be an array, got {array!r}")
    accepted = {type.dtype, np.dtype(type.dtype.str.replace("i", "u"))} if type.element[0] == "i" else {type.dtype}
    if array.dtype not in accepted:
        raise TypeError(f"{where} must have dtype {type.dtype} ({type.element}), got {array.dtype}")
    assert type.shape is not None
    fits = len(type.shape) == array.ndim and all(
        want in (None, got) for want, got in zip(type.shape, array.shape, strict=True)
    )
    if not fits:
        raise TypeError(f"{where} must have the shape {type.shape}, got {array.shape}")
    strides = [stride // array.itemsize for stride in array.strides]
    if [stride * array.itemsize for stride in strides] != list(array.strides):
        raise TypeError(f"{where} has strides {array.strides} that are no multiples of its item size")
    return (ctypes.c_int64 * type.words)(array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides)


_INTEGERS: dict[str, Callable[[int], Scalar]] = {
    "i1": ctypes.c_uint8,
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "index": ctypes.c_int64,
}


def _scalar(value: Argument, type: Type, where: str) -> Scalar:
    """A number as its C type; refuses one that the type cannot hold."""
    if isinstance(value, np.ndarray):
        raise TypeError(f"{where} must be a number ({type.element}), got an array")
    match type.element:
        case "f64":
            return ctypes.c_double(float(value))
        case "f32":
            return ctypes.c_float(float(value))
        case "f16":
            return _in_register(struct.pack("<e", float(value)))
        case "bf16":
            data = struct.pack("<f", float(value))
            if data[:2] != b"\0\0":
                raise TypeError(f"{where}: {value!r} is not a bf16")
            return _in_register(data[2:])
        case element:
            if not isinstance(value, int | np.integer | np.bool_):
                raise TypeError(f"{where} must be an integer ({element}), got {value!r}")
            bits = 1 if element == "i1" else 8 * type.dtype.itemsize
            if not -(1 << (bits - 1)) <= int(value) < 1 << bits:
                raise TypeError(f"{where}: {value} does not fit {element}")
            return _INTEGERS[element](int(value))


def _in_register(data: bytes) -> Scalar:
    """A float type that ctypes lacks: it travels in the low bits of a double's register, on x86-64 and AArch64."""
    return ctypes.c_double.from_buffer_copy(data.ljust(8, b"\0"))


def _invoke(library: Path, symbol: str, values: Sequence[Value], results: Sequence[Type]) -> Iterator[bytes]:
    """Make the call, and give the bytes of each result: of a memref its sizes first, then its elements."""
    entry = getattr(ctypes.CDLL(str(library)), symbol)
    if len(results) == 1 and results[0].shape is None:
        # As integers and as low bits of a double, so that no conversion touches the bits.
        is_float = results[0].element in ("f16", "bf16", "f32", "f64")
        entry.restype = ctypes.c_double if is_float else ctypes.c_int64
        yield bytes(entry.restype(entry(*values)))[: results[0].dtype.itemsize]
        return
    # Several results, or a memref: they are written to a struct, to which a pointer comes first.
    layout = np.dtype([(f"{i}", result.record) for i, result in enumerate(results)], align=True)
    record = np.zeros((), layout)
    entry.restype = None
    entry(*([ctypes.c_void_p(record.ctypes.data)] if results else []), *values)
    for i, result in enumerate(results):
        field = record[f"{i}"]
        if result.shape is None:
            yield field.tobytes()
            continue
        _, aligned, offset, *rest = field.tolist()
        sizes, strides = rest[: len(result.shape)], rest[len(result.shape) :]
        yield np.array(sizes, np.int64).tobytes()
        yield _elements(aligned, offset, sizes, strides, result.dtype).tobytes()


def _elements(aligned: int, offset: int, sizes: list[int], strides: list[int], dtype: np.dtype) -> np.ndarray:
    if 0 in sizes:
        return np.empty(sizes, dtype)
    span = sum((size - 1) * abs(stride) for size, stride in zip(sizes, strides, strict=True)) + 1
    before = sum((size - 1) * -stride for size, stride in zip(sizes, strides, strict=True) if stride < 0)
    memory = ctypes.string_at(aligned + (offset - before) * dtype.itemsize, span * dtype.itemsize)
    return np.ndarray(sizes, dtype, memory, before * dtype.itemsize, [stride * dtype.itemsize for stride in strides])


def _result(type: Type, parts: Iterator[bytes]) -> np.ndarray | np.generic:
    if type.shape is not None:
        sizes = np.frombuffer(next(parts), np.int64)
        return np.frombuffer(next(parts), type.dtype).reshape(sizes.tolist()).copy()
    data = next(parts)
    if type.element == "i1":
        return np.bool_(data[0] & 1)  # the other bits are anyone's
    dtype, data = (np.dtype(np.float32), b"\0\0" + data) if type.element == "bf16" else (type.dtype, data)
    scalar: np.generic = np.frombuffer(data, dtype)[0]
    return scalar


def _in_child(body: Callable[[], Iterator[bytes]], function: str) -> list[bytes]:
    """What the body yields in a forked child; a crash there, or an endless loop, is an AssertionError here."""

    def ask(_: None) -> list[bytes]:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(TIME_LIMIT)
        return [*body()]

    (answer,) = answers(ask, [None])
    if not isinstance(answer, Death):
        return answer
    if answer.status is None:
        raise AssertionError(f"the call of @{function} failed: {answer}")
    if answer.status == -signal.SIGALRM:
        raise AssertionError(f"@{function} ran for more than {TIME_LIMIT} seconds")
    if answer.status < 0:
        raise AssertionError(f"@{function} crashed with {signal.Signals(-answer.status).name}")
    raise AssertionError(f"the call of @{function} failed with status {answer.status}; its error stands in stderr")
