"""Arguments that not any numbers will do for: indices, where rows begin, numbers within two others."""

from __future__ import annotations

import numpy as np

from benchmarks.idioms.idiom import Given, Sizes

Extent = int | str
"""A number, or the name of a size."""


def below(end: Extent, *shape: Extent, dtype: str = "i4") -> Given:
    """Random indices below a size."""
    return lambda random, sizes: random.integers(0, _number(end, sizes), _shape(shape, sizes)).astype(dtype)


def within(low: float, high: float, *shape: Extent, dtype: str = "f8") -> Given:
    """Random numbers from one to another."""
    return lambda random, sizes: random.uniform(low, high, _shape(shape, sizes)).astype(dtype)


def row_starts(rows: str, entries: str) -> Given:
    """Where rows begin among entries, and where the last one ends: rows have very different lengths, some none."""

    def made(random: np.random.Generator, sizes: Sizes) -> np.ndarray:
        inside = random.integers(0, sizes[entries] + 1, sizes[rows] - 1)
        return np.sort(np.r_[0, inside, sizes[entries]]).astype("i4")

    return made


def _number(extent: Extent, sizes: Sizes) -> int:
    return extent if isinstance(extent, int) else sizes[extent]


def _shape(extents: tuple[Extent, ...], sizes: Sizes) -> list[int]:
    return [_number(each, sizes) for each in extents]
