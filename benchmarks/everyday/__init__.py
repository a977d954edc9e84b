"""Loops of everyday numerical Python beside numba."""

from benchmarks.everyday import colours, fractals, grids, images, letters, linear, particles, rows, sequences

GROUPS = (
    particles.LOOPS, grids.LOOPS, images.LOOPS, colours.LOOPS, fractals.LOOPS, linear.LOOPS, sequences.LOOPS,
    letters.LOOPS, rows.LOOPS,
)  # fmt: skip
LOOPS = tuple(loop for group in GROUPS for loop in group)
