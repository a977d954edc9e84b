"""The functions that MLIR's runner brings along: they print numbers and buffers on standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from affdsl.ir.interpreter.buffers import Array
from affdsl.ir.numeric import from_bits
from affdsl.ir.types import BF16

External: TypeAlias = Callable[..., object]
"""Takes arrays and numbers as `run` gives them back; gives None, a result, or a tuple of results."""


def _write(text: str) -> Callable[[], None]:
    def function() -> None:
        sys.stdout.write(text)

    return function


def _float(number: float | np.floating) -> None:
    sys.stdout.write(_g(float(number)))


def _signed(number: int) -> None:
    sys.stdout.write(str(int(number)))


def _unsigned(number: int) -> None:
    sys.stdout.write(str(int(number) & (1 << 64) - 1))


def _memref(show: Callable[[np.generic], str]) -> Callable[[Array], None]:
    def function(array: Array) -> None:
        size = max(array.itemsize, 1)
        address = array.__array_interface__["data"][0]
        strides = ", ".join(str(s // size) for s in array.strides)
        sizes = ", ".join(map(str, array.shape))
        head = f"Unranked Memref base@ = {address:#x} rank = {array.ndim} offset = 0 sizes = [{sizes}]"
        sys.stdout.write(f"{head} strides = [{strides}] data = \n{_rows(array, show, array.ndim, 0)}\n")

    return function


def _rows(array: Array, show: Callable[[np.generic], str], rank: int, depth: int) -> str:
    """The elements of a buffer in brackets, a line for each row."""
    if rank == 0:
        return f"[{show(array.reshape(1)[0])}]"
    if array.ndim == 1:
        return f"[{(',' + ' ' * (rank + 1)).join(show(x) for x in array)}]"
    between = ", \n" + " " * (depth + 1)
    return f"[{between.join(_rows(row, show, rank, depth + 1) for row in array)}]"


def _g(number: float) -> str:
    """A number as C's %g prints it."""
    return f"{number:g}"


def _shown_float(number: np.generic) -> str:
    return _g(float(number))


def _shown_bf16(bits: np.generic) -> str:
    return _g(float(from_bits(int(bits), BF16)))


def _shown_signed(number: np.generic) -> str:
    return str(int(number))


def _shown_unsigned(number: np.generic) -> str:
    return str(int(number) & (1 << 64) - 1)


STANDARD: Mapping[str, External] = {
    "printF32": _float,
    "printF64": _float,
    "printF16": _float,
    "printBF16": _float,
    "printI64": _signed,
    "printU64": _unsigned,
    "printOpen": _write("( "),
    "printClose": _write(" )"),
    "printComma": _write(", "),
    "printNewline": _write("\n"),
    "printMemrefF32": _memref(_shown_float),
    "printMemrefF64": _memref(_shown_float),
    "printMemrefF16": _memref(_shown_float),
    "printMemrefBF16": _memref(_shown_bf16),
    "printMemrefI8": _memref(_shown_signed),
    "printMemrefI16": _memref(_shown_signed),
    "printMemrefI32": _memref(_shown_signed),
    "printMemrefI64": _memref(_shown_signed),
    "printMemrefInd": _memref(_shown_unsigned),
}
"""The runner's functions by name. Like the runner, they print the elements of an index buffer as unsigned numbers."""
