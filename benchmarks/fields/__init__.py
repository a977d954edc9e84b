"""Loops of many fields, from filters to finance, beside the best of NumPy, gcc, clang and numba."""

from benchmarks.fields.kernels import (
    audio,
    bodies,
    codes,
    colours,
    convolutions,
    filters,
    finance,
    grids,
    images,
    layers,
    matrices,
    ranking,
    sparse,
)
from benchmarks.idioms.idiom import Group, Idiom

GROUPS: tuple[Group, ...] = (
    filters.LOOPS, audio.LOOPS, images.LOOPS, colours.LOOPS, layers.LOOPS, convolutions.LOOPS, sparse.LOOPS,
    ranking.LOOPS, codes.LOOPS, finance.LOOPS, grids.LOOPS, bodies.LOOPS, matrices.LOOPS,
)  # fmt: skip
LOOPS: tuple[Idiom, ...] = tuple(loop for group in GROUPS for loop in group)
