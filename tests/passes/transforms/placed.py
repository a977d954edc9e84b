"""Arrays that begin anywhere in a line of the cache."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike


def at(offset: int, count: int, dtype: DTypeLike) -> np.ndarray:
    """Zeros that begin so many bytes behind a line."""
    size = np.dtype(dtype).itemsize
    memory = np.zeros(count * size + 128, np.uint8)
    start = (offset - memory.ctypes.data) % 64
    return memory[start : start + count * size].view(dtype)
