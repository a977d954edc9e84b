"""Arrays that end, or begin, exactly where memory does: one byte outside ends the process."""

from __future__ import annotations

import ctypes
import mmap
from typing import Literal

import numpy as np

GUARD = 64 * mmap.PAGESIZE
_LIBC = ctypes.CDLL(None, use_errno=True)
_FILLING, _PROT_NONE = 0xA5, 0

Side = Literal["start", "end"]
SIDES: tuple[Side, Side] = ("start", "end")


class Guarded:
    """A place of some pages for one array at a time, between pages that nobody may touch."""

    def __init__(self, pages: int = 2) -> None:
        self._room = pages * mmap.PAGESIZE
        self._memory = mmap.mmap(-1, self._room + 2 * GUARD)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        for guard in (start, start + GUARD + self._room):
            if _LIBC.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(GUARD), _PROT_NONE) != 0:
                raise OSError(ctypes.get_errno(), "mprotect failed")
        self._inner = np.ndarray((self._room,), np.uint8, self._memory, GUARD)

    def copy(self, array: np.ndarray, side: Side) -> np.ndarray:
        """The array, with its first byte behind a guard, or its last byte in front of one."""
        assert array.nbytes <= self._room
        self._inner[:] = _FILLING
        self._start = 0 if side == "start" else self._room - array.nbytes
        self._size = array.nbytes
        made = np.ndarray(array.shape, array.dtype, self._memory, GUARD + self._start)
        made[...] = array
        return made

    def is_clean(self) -> bool:
        """Whether nothing but the array was written on its own pages either."""
        outside = np.delete(self._inner, slice(self._start, self._start + self._size))
        return bool((outside == _FILLING).all())


def guarded(array: np.ndarray, side: Side) -> np.ndarray:
    """A copy of an array in a place of its own."""
    return Guarded(-(-max(array.nbytes, 1) // mmap.PAGESIZE)).copy(array, side)
