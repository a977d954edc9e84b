"""The memref dialect: buffers and accesses whose indices are any index values."""

from __future__ import annotations

from dataclasses import dataclass

from affdsl.ir.core import Op, Operand, Operands, Result


@dataclass(frozen=True, eq=False)
class Alloc(Op):
    """result = a new buffer on the heap; `sizes` are its dynamic dimensions, in order"""

    name = "memref.alloc"
    result: Result
    sizes: Operands = ()
    alignment: int | None = None


@dataclass(frozen=True, eq=False)
class Alloca(Op):
    """result = a new buffer that lives until the end of the function, loop or condition around"""

    name = "memref.alloca"
    result: Result
    sizes: Operands = ()
    alignment: int | None = None


@dataclass(frozen=True, eq=False)
class Dealloc(Op):
    """Give a buffer back. It must not be used again."""

    name = "memref.dealloc"
    memref: Operand


@dataclass(frozen=True, eq=False)
class Dim(Op):
    """result = the size of memref along dimension index"""

    name = "memref.dim"
    result: Result
    memref: Operand
    index: Operand


@dataclass(frozen=True, eq=False)
class Load(Op):
    """result = memref[indices]"""

    name = "memref.load"
    result: Result
    memref: Operand
    indices: Operands


@dataclass(frozen=True, eq=False)
class Store(Op):
    """memref[indices] = value"""

    name = "memref.store"
    value: Operand
    memref: Operand
    indices: Operands


@dataclass(frozen=True, eq=False)
class Copy(Op):
    """Copy all elements of source to target, which has the same shape and does not overlap it"""

    name = "memref.copy"
    source: Operand
    target: Operand


@dataclass(frozen=True, eq=False)
class Cast(Op):
    """result = the same buffer under a type that knows more or fewer of its sizes and strides"""

    name = "memref.cast"
    result: Result
    source: Operand
