"""bfloat16 as NumPy has it where the package ml_dtypes is installed, which affdsl does not need otherwise.

In the packed ABI an array of bfloat16 is its bits, and a scalar is a float32 with the same value.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from affdsl.errors import UnsupportedError

Value = npt.NDArray[np.generic] | np.generic

KIND: Final = "E"
"""What stands for bfloat16 where NumPy has a letter for a kind of numbers: it calls these V, as records."""


def bfloat16() -> np.dtype[np.generic]:
    """The dtype. Raises UnsupportedError where ml_dtypes is missing."""
    try:
        found: np.dtype[np.generic] = np.dtype(import_module("ml_dtypes").bfloat16)
    except ImportError:
        raise UnsupportedError(
            "NumPy itself has no bfloat16, so a kernel with bf16 is called where ml_dtypes is installed: "
            "pip install ml_dtypes; or emit C or MLIR"
        ) from None
    return found


def is_bfloat16(dtype: np.dtype[np.generic]) -> bool:
    """Whether a dtype is that of ml_dtypes."""
    return dtype.name == "bfloat16"


def kind_of(dtype: np.dtype[np.generic]) -> str:
    """NumPy's letter for the kind of a type's numbers, and E for bfloat16."""
    return KIND if is_bfloat16(dtype) else dtype.kind


def in_abi(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """What the place of a scalar of a type holds in the packed ABI."""
    return np.dtype(np.float32) if is_bfloat16(dtype) else dtype


def rounded(number: float) -> float:
    """The bfloat16 nearest to a number, ties to even: by one rounding, which NumPy's by way of float32 is not.

    >>> rounded(1 + 2**-8 + 2**-40), rounded(1 + 2**-8), rounded(3.4e38)
    (1.0078125, 1.0, inf)
    """
    if not math.isfinite(number) or number == 0:
        return number
    _, exponent = math.frexp(number)
    step = math.ldexp(1.0, max(exponent, -125) - 8)
    found = round(number / step) * step
    return found if abs(found) < 2.0**128 else math.copysign(math.inf, number)


def as_numpy(value: object) -> object:
    """What the interpreter gives, bits or a float32, as NumPy has bfloat16."""
    dtype = bfloat16()
    return value.view(dtype) if isinstance(value, np.ndarray) else dtype.type(cast("float", value))


def as_interpreted(value: Value) -> Value:
    """An argument as the interpreter takes it: the bits of an array, the number that a scalar is."""
    if not is_bfloat16(value.dtype):
        return value
    return value.view(np.uint16) if isinstance(value, np.ndarray) else np.float32(value)
