"""Reductions, scans, histograms and compaction beside NumPy, numba, gcc and clang, on one thread and on two."""

from benchmarks.reductions import kernels as kernels
from benchmarks.reductions.kernels.group import LOOPS as LOOPS
from benchmarks.reductions.kernels.group import ROWS as ROWS
