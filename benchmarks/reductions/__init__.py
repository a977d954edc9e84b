"""Reductions, scans, histograms and compaction beside NumPy, numba, gcc and clang, on one thread and on two."""

from benchmarks.reductions.kernels import LOOPS as LOOPS
from benchmarks.reductions.kernels import ROWS as ROWS
