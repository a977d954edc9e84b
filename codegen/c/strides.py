"""How far apart the elements of array arguments lie: numbers that types know, and those that callers pass."""

from __future__ import annotations

from affdsl.errors import UnsupportedError
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.maps import AffineMap, dim
from affdsl.ir.mixed import Static
from affdsl.ir.types import INDEX, MemRefType, StridedLayout


def strides_of(type: MemRefType, what: str) -> tuple[Static | None, int | None]:
    """The strides and offset of an array argument, None for those known only at run time; no strides where it is
    row-major and contiguous. Raises UnsupportedError for other layouts."""
    match type.layout:
        case None:
            return None, 0
        case AffineMap(dims, 0, results) if results == tuple(Affine.of(dim(k)) for k in range(dims)):
            return None, 0
        case StridedLayout(strides, offset):
            return (None, 0) if offset == 0 and strides == _row_major(type.shape) else (strides, offset)
    raise UnsupportedError(f"{what} has the layout {type}; C output takes row-major and strided layouts")


def passed_strides(f: Func) -> dict[Value, tuple[int | Value, ...]]:
    """The strides of the array arguments that are not row-major and contiguous; a value for each that callers pass.

    Those follow their array in C, and count elements. A pointer to such an array is one to its first element, index 0,
    wherever that lies in a larger one.
    """
    found: dict[Value, tuple[int | Value, ...]] = {}
    for arg in f.args:
        if isinstance(arg.type, MemRefType):
            strides, _ = strides_of(arg.type, f"array {arg.hint!r} of {f.symbol!r}")
            if strides is not None:
                found[arg] = tuple(
                    Value(INDEX, f"{arg.hint or 'a'}_stride_{k}") if s is None else s for k, s in enumerate(strides)
                )
    return found


def _row_major(shape: Static) -> Static | None:
    """The strides of a contiguous array, where they are numbers."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        if size is None:
            return (1,) if len(shape) == 1 else None
        step *= size
    return tuple(reversed(strides))
