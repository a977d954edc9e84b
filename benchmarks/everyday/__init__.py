"""Loops of everyday numerical Python beside numba."""

from benchmarks.everyday import fractals, grids, images, linear, particles, rows, sequences

GROUPS = (particles.LOOPS, grids.LOOPS, images.LOOPS, fractals.LOOPS, linear.LOOPS, sequences.LOOPS, rows.LOOPS)
LOOPS = tuple(loop for group in GROUPS for loop in group)
