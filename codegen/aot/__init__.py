"""Kernels as a library that others build and use: its C, its build files, what compilers make of it, a Python wheel."""
