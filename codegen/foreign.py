"""Arrays of other libraries on the CPU, as NumPy arrays on the same memory."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from affdsl.codegen.bfloat import bfloat16

Array = npt.NDArray[np.generic]


def as_array(x: object) -> Array | None:
    """What has the buffer protocol, the array interface or DLPack, as a NumPy array on its memory; None for all else.

    It is read-only where the other library says so, or cannot say: DLPack could not before its version 1.

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
        return None
    if callable(is_negated := getattr(x, "is_neg", None)) and is_negated():
        raise BufferError("its numbers are stored with the other sign, which resolve_neg() settles")
    try:
        if str(getattr(x, "dtype", "")) == "torch.bfloat16":  # of which NumPy takes the bits alone
            return np.from_dlpack(x.view(sys.modules["torch"].int16)).view(bfloat16())  # type: ignore[attr-defined]
        return np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise BufferError(f"its DLPack says: {error}") from error


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
