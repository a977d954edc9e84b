"""Arrays between pages that nobody may touch: an access outside of one ends the process."""

from __future__ import annotations

import ctypes
import mmap
from typing import Literal

import numpy as np

GUARD = 64 * mmap.PAGESIZE
_LIBC = ctypes.CDLL(None, use_errno=True)
_NONE = 0

Side = Literal["start", "end"]
SIDES: tuple[Side, Side] = ("start", "end")


def guarded(array: np.ndarray, side: Side) -> np.ndarray:
    """A copy whose first byte follows a guard, or whose last byte is before one; there are guards at both sides."""
    room = -(-max(array.nbytes, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, room + 2 * GUARD)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for begin in (start, start + GUARD + room):
        if _LIBC.mprotect(ctypes.c_void_p(begin), ctypes.c_size_t(GUARD), _NONE) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
    offset = GUARD if side == "start" else GUARD + room - array.nbytes
    made = np.frombuffer(memory, array.dtype, array.size, offset).reshape(array.shape)
    made[...] = array
    return made
