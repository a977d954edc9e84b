"""Element types by what NumPy calls them: `from_dtype`."""

from __future__ import annotations

import numpy as np

from affdsl.errors import ProgramTypeError
from affdsl.lang.dtypes import DType, bf16, bool_, c64, c128, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64
from affdsl.lang.source import problem

TYPES = (f16, bf16, f32, f64, c64, c128, i8, i16, i32, i64, u8, u16, u32, u64, bool_)
"""All that elements of NumPy's arrays can be."""
_OF_NUMPY = {d.numpy: d for d in TYPES if d.numpy is not None}

_OF_NAMES = {d.name: d for d in TYPES} | {"bool": bool_, "bfloat16": bf16}


def found_dtype(dtype: np.dtype[np.generic]) -> DType | None:
    """The element type that a dtype of NumPy is; None for what no kernel knows, as for another byte order."""
    return bf16 if dtype.name == "bfloat16" else _OF_NUMPY.get(dtype)


def from_dtype(dtype: object) -> DType:
    """The element type of NumPy's arrays of a dtype: `from_dtype(x.dtype)`, `from_dtype(np.float32)`, `"float32"`.

    Parameters
    ----------
    dtype
        What `np.dtype` takes, bfloat16 of the package ml_dtypes, or a name as kernels have it, as "f32".

    Raises
    ------
    ProgramTypeError
        For what is no dtype, and for one of which kernels have no elements, as longdouble or another byte order.

    >>> import numpy as np, affdsl as af
    >>> af.from_dtype(np.float32), af.from_dtype("int64"), af.from_dtype(np.zeros(3).dtype), af.from_dtype("bf16")
    (f32, i64, f64, bf16)
    """
    if isinstance(dtype, DType):
        return dtype
    if isinstance(dtype, str) and dtype in _OF_NAMES:
        return _OF_NAMES[dtype]
    known = f"kernels know {', '.join(map(repr, TYPES))}"
    if dtype is None or isinstance(dtype, np.ndarray):  # of which np.dtype makes float64, or something else by chance
        raise problem(ProgramTypeError, f"from_dtype takes a dtype of NumPy, got {dtype!r}", "pass x.dtype, or a name")
    try:
        asked = np.dtype(dtype)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise problem(ProgramTypeError, f"from_dtype takes a dtype of NumPy, got {dtype!r}", known) from None
    found = found_dtype(asked)
    if found is not None:
        return found
    if not asked.isnative:
        native = asked.newbyteorder("=")
        raise problem(
            ProgramTypeError,
            f"{asked!r} has the bytes of another machine's order",
            f"convert to np.dtype({native.str!r})",
        )
    raise problem(ProgramTypeError, f"no element type of kernels is NumPy's {asked}", known)
