"""Arguments that are indices: of elements at random, and of where rows begin."""

from __future__ import annotations

import numpy as np

from benchmarks.idioms.idiom import Given, Sizes


def below(end: str, *shape: str) -> Given:
    """Random indices below one size, in an array whose extents are others, all by their names."""

    def made(random: np.random.Generator, sizes: Sizes) -> np.ndarray:
        return random.integers(0, sizes[end], [sizes[name] for name in shape]).astype("i4")

    return made


def row_starts(rows: str, entries: str) -> Given:
    """Where rows begin among entries, and where the last one ends: rows have very different lengths, some none."""

    def made(random: np.random.Generator, sizes: Sizes) -> np.ndarray:
        inside = random.integers(0, sizes[entries] + 1, sizes[rows] - 1)
        return np.sort(np.r_[0, inside, sizes[entries]]).astype("i4")

    return made
