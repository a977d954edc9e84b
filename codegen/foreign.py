"""Arrays of other libraries on the CPU, as NumPy arrays on the same memory."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from affdsl.codegen.bfloat import bfloat16

Array = npt.NDArray[np.generic]

_CPU: Final = 1
"""What DLPack calls the memory of the CPU (kDLCPU)."""


def as_array(x: object) -> Array | None:
    """What NumPy sees without a copy of it, as a NumPy array on its memory; None for all else.

    The buffer protocol is asked first, then the array interface, DLPack, and `__array__`. It is read-only where the
    other library says so, or cannot say: DLPack could not before its version 1.

    Raises BufferError for an array that lies elsewhere, or that its library does not lend.

    >>> from array import array
    >>> x = array("d", [1, 2, 3])
    >>> as_array(memoryview(x)[::2])[1] = 7
    >>> x
    array('d', [1.0, 2.0, 7.0])
    """
    if isinstance(x, np.ndarray | np.generic | int | float | type):
        return None
    try:
        return np.asarray(memoryview(x))  # type: ignore[arg-type]
    except (TypeError, ValueError, BufferError):  # none, or one that NumPy cannot read
        pass
    if hasattr(x, "__array_interface__"):
        return np.asarray(x)
    if not hasattr(x, "__dlpack__"):
        return _seen_in_place(x)
    if callable(is_negated := getattr(x, "is_neg", None)) and is_negated():
        raise BufferError("its numbers are stored with the other sign, which resolve_neg() settles")
    try:
        if str(getattr(x, "dtype", "")) == "torch.bfloat16":  # of which NumPy takes the bits alone
            return np.from_dlpack(x.view(sys.modules["torch"].int16)).view(bfloat16())  # type: ignore[attr-defined]
        return np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        # DLPack may lack the type of its elements, as that of JAX lacks bfloat16.
        if _is_on_the_cpu(x) and (seen := _seen_in_place(x)) is not None:
            return seen
        raise BufferError(f"its DLPack says: {error}") from error


def _is_on_the_cpu(x: object) -> bool:
    where = getattr(x, "__dlpack_device__", None)
    return callable(where) and where()[0] == _CPU


def _seen_in_place(x: object) -> Array | None:
    """What `__array__` gives, where it gives the same memory each time: a copy would lie elsewhere the second time."""
    if not callable(getattr(x, "__array__", None)):
        return None
    try:
        seen, again = np.asarray(x), np.asarray(x)
    except (BufferError, RuntimeError, TypeError, ValueError):
        return None
    is_copy = seen.__array_interface__["data"][0] != again.__array_interface__["data"][0] and seen.size
    return None if is_copy else seen


def with_arrays(
    arguments: tuple[object, ...], keywords: Mapping[str, object]
) -> tuple[tuple[object, ...], dict[str, object]] | None:
    """Arguments of which the arrays of other libraries are NumPy's; None where there are no such ones."""
    given = [*arguments, *keywords.values()]
    found = [as_array(x) for x in given]
    if all(x is None for x in found):
        return None
    values = [x if made is None else made for x, made in zip(given, found, strict=True)]
    count = len(arguments)
    return tuple(values[:count]), dict(zip(keywords, values[count:], strict=True))
