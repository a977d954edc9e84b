"""Copies of the arrays of a call, so that it can be made again and again and always meets the same numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from affdsl.frozen import Frozen

ALIGNED = 64
"""The bytes of a cache line: a copy lies in its lines as the array does in its own."""

Array = NDArray[np.generic]


class Copies(Frozen):
    """Arrays in the place of those of a call: with their strides, and with as much memory shared between them.

    Attributes
    ----------
    arrays
        What is passed: copies of those that are written, or share memory with one that is, and the others themselves.
    """

    arrays: tuple[Array, ...]
    _pairs: tuple[tuple[Array, Array], ...]

    def refresh(self) -> None:
        """Put the numbers of the call back."""
        for copied, given in self._pairs:
            np.copyto(copied, given)


def copies(given: Sequence[Array], written: Sequence[bool]) -> Copies:
    """Copies of some arrays, of which some are written.

    >>> a = np.arange(12.0)
    >>> made = copies([a[::2], a[1::2], np.ones(3)], [True, False, False])
    >>> made.arrays[0][:] = 0.0
    >>> a[0:4], made.arrays[0].strides, bool(np.shares_memory(made.arrays[0].base, made.arrays[1].base))
    (array([0., 1., 2., 3.]), (16,), True)
    """
    spans = [_span(array) for array in given]
    groups: list[tuple[int, int, bool]] = []  # memory without gaps, and whether some of it is written
    for (low, high), is_written in sorted(zip(spans, written, strict=True)):
        if groups and low < groups[-1][1]:
            first, last, before = groups[-1]
            groups[-1] = first, max(last, high), before or is_written
        elif high > low:
            groups.append((low, high, is_written))
    pairs: list[tuple[Array, Array]] = []
    moved: dict[int, Array] = {}
    for low, high, is_written in groups:
        if is_written:
            room = np.empty(high - low + ALIGNED, np.uint8)
            shift = (low - room.ctypes.data) % ALIGNED
            moved[low] = room[shift : shift + high - low]
            pairs.append((moved[low], _bytes(low, high, given)))
    made = []
    for array, (low, high) in zip(given, spans, strict=True):
        start = next((first for first, last, _ in groups if first <= low and high <= last and first in moved), None)
        made.append(array if start is None or low == high else _like(array, moved[start], low - start))
    return Copies(tuple(made), tuple(pairs))


def _span(array: Array) -> tuple[int, int]:
    """The addresses of the first byte of an array, and of that after its last."""
    return np.lib.array_utils.byte_bounds(array) if array.size else (array.ctypes.data, array.ctypes.data)


def _bytes(low: int, high: int, given: Sequence[Array]) -> Array:
    """The bytes between two addresses, which lie in some arrays, as an array that keeps these alive."""

    class Memory:
        __array_interface__ = {"shape": (high - low,), "typestr": "|u1", "data": (low, True), "version": 3}  # noqa: RUF012
        arrays = tuple(given)

    return np.asarray(Memory())


def _like(array: Array, memory: Array, offset: int) -> Array:
    """An array as another one is, whose lowest byte is at an offset of some memory."""
    low, _ = _span(array)
    return np.ndarray(array.shape, array.dtype, memory, offset + array.ctypes.data - low, array.strides)
