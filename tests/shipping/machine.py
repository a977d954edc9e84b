"""For which CPUs the libraries of tests are: those of this machine."""

import platform

import pytest

X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="its targets are those of x86-64")
SEVERAL = {"x86_64": ["avx2", "baseline"], "aarch64": ["sve", "neon"]}.get(platform.machine(), ["rvv", "baseline"])
"""Two targets, the last of which every CPU has."""
