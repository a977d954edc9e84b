"""Whether arrays share bytes: exact where a short search decides, and yes where it does not; as in overlap.c."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]
Term = tuple[int, int, int]
"""A step, which is positive, and the ends of the numbers by which it is multiplied."""

LARGEST = 2**47
"""No array in memory has more elements, but one with strides of 0 can: the sizes of such a one fit nowhere."""
SEARCHED = 1000
"""How many choices a search makes before it gives up."""


def strides_of(array: Array) -> tuple[int, ...]:
    """The strides of an array in elements; 1 where they lead nowhere, along a dimension of one element or of none.

    >>> strides_of(np.zeros((4, 6))[::2, ::-1]), strides_of(np.zeros((1, 6))[:, 3:]), strides_of(np.zeros((0, 6)).T)
    ((12, -1), (1, 1), (1, 1))
    """
    leads = [size > 1 and array.size > 0 for size in array.shape]
    return tuple(s // array.itemsize if way else 1 for s, way in zip(array.strides, leads, strict=True))


def contiguous(array: Array) -> tuple[int, ...]:
    """The strides in bytes that an array would have if its elements were neighbours, row by row.

    >>> contiguous(np.zeros((4, 6)).T)
    (32, 8)
    """
    strides, step = [], array.itemsize
    for size in reversed(array.shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def is_even(array: Array) -> bool:
    """Whether the strides of an array are whole numbers of elements."""
    return all(s % array.itemsize == 0 for s, n in zip(array.strides, array.shape, strict=True) if n > 1)


def overlap(a: Array, b: Array) -> bool:
    """Whether two arrays may share a byte.

    >>> pixels = np.zeros((4, 6, 3))
    >>> overlap(pixels[..., 0], pixels[..., 1]), overlap(pixels[:, :4], pixels[:, 3:])
    (False, True)
    """
    if 0 in (a.size, b.size) or not np.may_share_memory(a, b):
        return False
    terms: dict[int, tuple[int, int]] = {}
    for array, sign in ((a, -1), (b, 1)):
        for size, stride in zip(array.shape, array.strides, strict=True):
            end = (size - 1) * (sign if stride > 0 else -sign)
            low, high = terms.get(abs(stride), (0, 0))
            terms[abs(stride)] = low + min(end, 0), high + max(end, 0)
    ordered = [(step, *terms[step]) for step in sorted(terms, reverse=True) if step]
    apart = data_address(b) - data_address(a)
    return _Search().meets(ordered, 1 - b.itemsize - apart, a.itemsize - 1 - apart)


def overlaps_itself(array: Array) -> bool:
    """Whether two elements of an array may be one, as those of a broadcast one are.

    >>> overlaps_itself(np.broadcast_to(0.0, 3)), overlaps_itself(np.zeros((3, 4))[::-1].T)
    (True, False)
    """
    if array.size == 0:
        return False
    pairs = zip(array.strides, array.shape, strict=True)
    terms = sorted(((abs(s), 1 - n, n - 1) for s, n in pairs if n > 1), reverse=True)
    if len({step for step, _, _ in terms} - {0}) < len(terms):
        return True  # a stride of 0, or two that are the same
    search = _Search()
    return any(search.meets([(step, 1, high), *terms[k + 1 :]], 0, 0) for k, (step, _, high) in enumerate(terms))


def data_address(array: Array) -> int:
    """Where the data of an array is."""
    return int(array.__array_interface__["data"][0])


class _Search:
    """Asks for numbers between ends that, multiplied by steps and added up, lie between two others."""

    def __init__(self) -> None:
        self._left = SEARCHED

    def meets(self, terms: Sequence[Term], low: int, high: int) -> bool:
        """Whether there are such numbers for terms, whose steps fall; yes where that is not found out."""
        least, most = sum(step * a for step, a, _ in terms), sum(step * b for step, _, b in terms)
        if least > high or most < low:
            return False
        if not terms:
            return True
        if -(-low // (every := gcd(*(step for step, _, _ in terms)))) > high // every:
            return False
        (step, first, last), rest = terms[0], terms[1:]
        least, most = least - step * first, most - step * last
        for number in range(max(first, -(-(low - most) // step)), min(last, (high - least) // step) + 1):
            self._left -= 1
            if self._left < 0 or self.meets(rest, low - number * step, high - number * step):
                return True
        return False
