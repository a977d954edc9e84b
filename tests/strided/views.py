"""Arrays with random strides, on memory that ends where their elements do; nobody reads what lies between them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class View:
    """An array and the memory on which it lies; the gaps between its elements hold what `filling` says."""

    memory: Array
    array: Array

    @property
    def first(self) -> int:
        """Where the first element lies in memory, in bytes."""
        return address(self.array) - address(self.memory)

    def copy(self) -> View:
        """The same array on other memory."""
        memory = self.memory.copy()
        return View(memory, np.ndarray(self.array.shape, memory.dtype, memory, self.first, self.array.strides))


def address(array: Array) -> int:
    """Where the first element of an array lies."""
    return int(array.__array_interface__["data"][0])


def strides(random: Random, shape: tuple[int, ...], *, written: bool) -> list[int]:
    """Strides, in elements, of all signs; of an array that is written they keep elements apart."""
    found, extent = [0] * len(shape), 1
    for axis in random.sample(range(len(shape)), len(shape)):
        step = random.choice((0, 1, extent)) if not written and random.random() < 0.2 else extent
        found[axis] = (step + random.choice((0, 0, 1, 2)) * (step > 0)) * random.choice((1, 1, -1))
        extent = max(extent, abs(found[axis]) * max(shape[axis], 1))
    return [random.randint(-9, 9) if size <= 1 else step for size, step in zip(shape, found, strict=True)]


def view(random: Random, array: Array, *, written: bool) -> View:
    """The elements of an array as a view with random strides; along those that are 0 they are all the same."""
    return _laid_out(array, strides(random, array.shape, written=written))


def rows(random: Random, array: Array) -> View:
    """The elements of an array in contiguous rows, with gaps between them."""
    steps, extent = [1] * array.ndim, 1
    for axis in reversed(range(array.ndim)):
        steps[axis] = extent
        extent = extent * max(array.shape[axis], 1) + random.choice((0, 1, 3))
    return _laid_out(array, steps)


def _laid_out(array: Array, steps: list[int]) -> View:
    ends = [(size - 1) * step for size, step in zip(array.shape, steps, strict=True)]
    low, high = sum(e for e in ends if e < 0), sum(e for e in ends if e > 0)
    if array.size == 0:
        low, high = 0, -1
    memory = np.full(high - low + 1, filling(array.dtype), array.dtype)
    made = np.ndarray(array.shape, array.dtype, memory, -low * array.itemsize, [s * array.itemsize for s in steps])
    made[...] = array
    return View(memory, made)


def contiguous(array: Array) -> View:
    """A contiguous copy of an array."""
    memory = np.array(array, order="C")
    return View(memory.reshape(-1), memory)


def filling(dtype: np.dtype) -> object:
    """What spoils all that is computed with it: NaN, or the largest integer."""
    return np.nan if dtype.kind in "fc" else True if dtype.kind == "b" else np.iinfo(dtype).max
