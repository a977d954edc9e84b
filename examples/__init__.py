"""Kernels of the field, each written as one would write it and checked: `python -m examples.gemm` runs one."""
