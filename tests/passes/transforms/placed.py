"""Arrays that begin anywhere in a line of the cache."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import DTypeLike

import affdsl as af


def assert_same(made: af.Kernel, plain: af.Kernel, offset: int, shapes: Iterable[tuple[int, int]]) -> None:
    """Both make the same of an image, to the bit, where the result begins so many bytes behind a line."""
    for shape in shapes:
        image = np.random.default_rng(shape).random(shape, np.float32)
        found, wanted = at(offset, image.size, np.float32).reshape(shape), np.zeros_like(image)
        made(image, found)
        plain(image, wanted)
        assert found.tobytes() == wanted.tobytes(), shape


def at(offset: int, count: int, dtype: DTypeLike) -> np.ndarray:
    """Zeros that begin so many bytes behind a line."""
    size = np.dtype(dtype).itemsize
    memory = np.zeros(count * size + 128, np.uint8)
    start = (offset - memory.ctypes.data) % 64
    return memory[start : start + count * size].view(dtype)
