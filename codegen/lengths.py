"""Whether a library was compiled for vector registers of another length than those here. Each wheel has a copy."""

import ctypes

MISFIT = "affdsl_misfit"
"""The function of a library that says so; see `affdsl.codegen.c.refusals`."""


def misfit(library: ctypes.CDLL) -> tuple[int, int] | None:
    """The bits of the vector registers that a library was compiled for, and of those here; None where it may run."""
    function = getattr(library, MISFIT, None)
    bits = (ctypes.c_int32 * 2)()
    return (bits[0], bits[1]) if function is not None and function(bits) else None
