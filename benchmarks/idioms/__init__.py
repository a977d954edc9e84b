"""Ordinary loops as users of NumPy and numba write them, beside the best of NumPy, gcc, clang and numba."""

from benchmarks.idioms.idiom import Idiom as Idiom
from benchmarks.idioms.kernels import (
    carried,
    ends,
    extremes,
    layout,
    numbers,
    short,
    statistics,
    tables,
    truth,
    unrolled,
)

GROUPS = (
    ends.IDIOMS, layout.IDIOMS, extremes.IDIOMS, truth.IDIOMS, carried.IDIOMS, unrolled.IDIOMS, short.IDIOMS,
    tables.IDIOMS, numbers.IDIOMS, statistics.IDIOMS,
)  # fmt: skip
IDIOMS: tuple[Idiom, ...] = tuple(idiom for group in GROUPS for idiom in group)
