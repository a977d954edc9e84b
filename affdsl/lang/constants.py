"""Arrays of numbers that are known while the kernel is built: `constant`."""

from __future__ import annotations

import numpy as np

from affdsl.errors import ProgramTypeError
from affdsl.ir.dialects import memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.numeric import from_bits
from affdsl.ir.types import ComplexType
from affdsl.lang.annotations import ArrayType
from affdsl.lang.arrays import Array
from affdsl.lang.builder import current
from affdsl.lang.dtypes import DType
from affdsl.lang.numpy_types import TYPES, found_dtype
from affdsl.lang.source import assigned_name, here, problem


def constant(array: object) -> Array:
    """An array that only is read, with the elements that a NumPy array has now: `weights = constant(np.array(...))`.

    It is part of the program: in C a `static const` array. What becomes of the NumPy array later changes nothing.

    Parameters
    ----------
    array
        A NumPy array of any shape, of a type that kernels know.

    Raises
    ------
    ProgramTypeError
        For what is no such array.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def smooth(x: af.f64[N], y: af.f64[N]):
    ...     taps = af.constant(np.array([0.25, 0.5, 0.25]))
    ...     with af.for_(1, N - 1) as i, af.for_(3) as k:
    ...         y[i] += taps[k] * x[i + k - 1]
    >>> y = np.zeros(4)
    >>> smooth.interpret(np.array([0.0, 4.0, 8.0, 0.0]), y)
    >>> y
    array([0., 4., 5., 0.])
    """
    if not isinstance(array, np.ndarray):
        raise problem(
            ProgramTypeError,
            f"constant takes a NumPy array, got {array!r}",
            "write affdsl.constant(np.float32([1, 2]))",
        )
    dtype = found_dtype(array.dtype)
    if dtype is None:
        known = ", ".join(str(d.numpy) for d in TYPES if d.numpy is not None)
        raise problem(
            ProgramTypeError,
            f"constant takes an array of a type that kernels know, got {array.dtype}",
            f"convert it with .astype(...) to one of {known}",
        )
    type = ArrayType(dtype, tuple(Affine.of(n) for n in array.shape), const=True)
    name = assigned_name()
    symbol = current().constant(
        name or "constant", lambda symbol: memref.Global(
            symbol, type.memref, _numbers(array, dtype), constant=True, private=True, location=here()
        )
    )  # fmt: skip
    result = Value(type.memref, name, here())
    current().emit(memref.GetGlobal(result, symbol))
    return Array(result, type)


def _numbers(array: np.ndarray, dtype: DType) -> tuple[int | float | complex | bool, ...]:
    """The elements as the IR holds them, in row-major order."""
    if dtype.kind == "bool":
        return tuple(bool(x) for x in array.reshape(-1))
    if isinstance(dtype.type, ComplexType):
        return tuple(complex(x) for x in array.reshape(-1))
    if dtype.kind == "float":
        return tuple(float(x) for x in array.reshape(-1))
    return tuple(int(from_bits(int(x) & (1 << array.itemsize * 8) - 1, dtype.type)) for x in array.reshape(-1))
