"""The kernels, one file for each category."""
