"""What is combined, counted, chosen, summed up so far, or kept: as a kernel, by NumPy, for numba, and as C."""

from benchmarks.reductions.kernels import numbers as numbers
from benchmarks.reductions.kernels import rows as rows
