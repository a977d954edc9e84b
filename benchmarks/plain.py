"""C of kernels as others would write it: what keeps compilers from making vectors is left out of what peers get."""

from __future__ import annotations

import re

import affdsl as af


def plain(kernel: af.Kernel) -> str:
    """The C of a kernel, in which compilers may make vectors of all loops."""
    return re.sub(r"^ *affdsl_in_order\(\);\n", "", str(kernel.c()), flags=re.MULTILINE)
