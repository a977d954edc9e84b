"""Loops of many fields, from filters to finance, beside the best of NumPy, gcc, clang and numba."""

from benchmarks.fields.kernels import (
    atmosphere,
    audio,
    bodies,
    codes,
    colours,
    convolutions,
    elements,
    filters,
    finance,
    genomes,
    graphs,
    grids,
    images,
    layers,
    matrices,
    numerics,
    physics,
    ranking,
    series,
    sparse,
    tables,
    training,
    transforms,
    vision,
)
from benchmarks.idioms.idiom import Group, Idiom

GROUPS: tuple[Group, ...] = (
    filters.LOOPS, audio.LOOPS, transforms.LOOPS, images.LOOPS, vision.LOOPS, colours.LOOPS, layers.LOOPS,
    training.LOOPS, convolutions.LOOPS, sparse.LOOPS, graphs.LOOPS, ranking.LOOPS, codes.LOOPS, tables.LOOPS,
    genomes.LOOPS, series.LOOPS, finance.LOOPS, grids.LOOPS, atmosphere.LOOPS, bodies.LOOPS, physics.LOOPS,
    elements.LOOPS, matrices.LOOPS, numerics.LOOPS,
)  # fmt: skip
LOOPS: tuple[Idiom, ...] = tuple(loop for group in GROUPS for loop in group)
