"""The memref dialect: buffers, accesses whose indices are any index values, and transfers."""

from __future__ import annotations

from typing import TypeAlias

from affdsl.ir.core import READS, WRITES, KeptInPlace, Memory, Op, Operand, Operands, Pure, Result, Results
from affdsl.ir.mixed import Mixed, Static, mixed
from affdsl.ir.types import MemRefType

Number: TypeAlias = int | float | complex | bool
Elements: TypeAlias = Number | tuple[Number, ...]
"""One number for all elements, or one for each."""


class Allocation(Op):
    """result = a new buffer; `sizes` are its dynamic dimensions, `symbols` those of its layout, in order"""

    memory = Memory(allocates="result")
    result: Result
    sizes: Operands = ()
    alignment: int | None = None
    symbols: Operands = ()


class Alloc(Allocation):
    """A buffer on the heap."""

    name = "memref.alloc"


class Alloca(Allocation):
    """A buffer that lives until the end of the function, loop or condition around."""

    name = "memref.alloca"


class Dealloc(Op):
    """Give a buffer back. It must not be used again."""

    name = "memref.dealloc"
    memory = Memory(frees="memref")
    memref: Operand


class Dim(Pure):
    """result = the size of memref along dimension index"""

    name = "memref.dim"
    result: Result
    memref: Operand
    index: Operand


class Rank(Pure):
    """result = the number of dimensions of memref"""

    name = "memref.rank"
    result: Result
    memref: Operand


class ExtractAlignedPointerAsIndex(Pure):
    """result = where the buffer begins that source is, or is a part of: the address of its first byte"""

    name = "memref.extract_aligned_pointer_as_index"
    result: Result
    source: Operand


class Load(Op):
    """result = memref[indices]"""

    name = "memref.load"
    memory = READS
    result: Result
    memref: Operand
    indices: Operands


class Store(Op):
    """memref[indices] = value"""

    name = "memref.store"
    memory = WRITES
    value: Operand
    memref: Operand
    indices: Operands


class Copy(Op):
    """Copy all elements of source to target, which has the same shape and does not overlap it"""

    name = "memref.copy"
    memory = Memory(reads="source", writes="target")
    source: Operand
    target: Operand


class Cast(Pure):
    """result = the same buffer under a type that knows more or fewer of its sizes and strides"""

    name = "memref.cast"
    result: Result
    source: Operand


class AtomicRMW(Op):
    """result = memref[indices], which in one step becomes memref[indices] <combine> value"""

    name = "memref.atomic_rmw"
    memory = Memory(reads="memref", writes="memref")
    result: Result
    combine: str
    value: Operand
    memref: Operand
    indices: Operands


class Prefetch(KeptInPlace):
    """Say that memref[indices] will be used, as affine.prefetch does."""

    name = "memref.prefetch"
    memref: Operand
    indices: Operands
    is_write: bool = False
    locality: int = 3
    is_data: bool = True


class DmaStart(KeptInPlace):
    """Begin to copy elements from source[source_indices] on to target[target_indices] on, as affine.dma_start does."""

    name = "memref.dma_start"
    source: Operand
    source_indices: Operands
    target: Operand
    target_indices: Operands
    elements: Operand
    tag: Operand
    tag_indices: Operands
    stride: Operands = ()


class DmaWait(KeptInPlace):
    """Wait until the copy that made tag[tag_indices] busy is complete."""

    name = "memref.dma_wait"
    tag: Operand
    tag_indices: Operands
    elements: Operand


class Global(Op):
    """A buffer that lives as long as the program does, of static sizes.

    `value` has its elements in row-major order, or one number for all; None leaves them open. An `external` one is
    defined elsewhere. A `constant` one is never written.
    """

    name = "memref.global"
    symbol: str
    type: MemRefType
    value: Elements | None = None
    constant: bool = False
    private: bool = False
    external: bool = False
    alignment: int | None = None


class GetGlobal(Pure):
    """result = the global buffer called symbol"""

    name = "memref.get_global"
    result: Result
    symbol: str


class Part(Pure):
    """result = some elements of source, by offsets, sizes and strides; the static numbers have None for each operand"""

    result: Result
    source: Operand
    offsets: Operands
    sizes: Operands
    strides: Operands
    static_offsets: Static
    static_sizes: Static
    static_strides: Static

    @property
    def parts(self) -> tuple[Mixed, Mixed, Mixed]:
        """Offsets, sizes and strides, known numbers and values together."""
        return (
            mixed(self.static_offsets, self.offsets),
            mixed(self.static_sizes, self.sizes),
            mixed(self.static_strides, self.strides),
        )


class SubView(Part):
    """result[i, ...] = source[offset + i * stride, ...], for as many i as the size along each dimension says

    A dimension of static size 1 may be left out of the result.
    """

    name = "memref.subview"


class ReinterpretCast(Part):
    """result[i, ...] = the element at offset + i * stride + ... of the whole buffer that source is a part of."""

    name = "memref.reinterpret_cast"


class ExpandShape(Pure):
    """result = source with dimension k as the dimensions groups[k], whose sizes are given and multiply to its size"""

    name = "memref.expand_shape"
    result: Result
    source: Operand
    groups: tuple[tuple[int, ...], ...]
    sizes: Operands
    static_sizes: Static


class CollapseShape(Pure):
    """result = source with the dimensions groups[k], which must be contiguous in memory, as dimension k"""

    name = "memref.collapse_shape"
    result: Result
    source: Operand
    groups: tuple[tuple[int, ...], ...]


class View(Pure):
    """result = the bytes of source, a buffer of i8, from shift on, as elements of another type; `sizes` as in alloc"""

    name = "memref.view"
    result: Result
    source: Operand
    shift: Operand
    sizes: Operands = ()


class Reshape(Pure):
    """result = the elements of source in the same order with the sizes that the buffer shape holds"""

    name = "memref.reshape"
    result: Result
    source: Operand
    shape: Operand


class ExtractStridedMetadata(Pure):
    """base, offset, sizes, strides = source, taken apart: its whole buffer as one element, and its layout"""

    name = "memref.extract_strided_metadata"
    base: Result
    offset: Result
    sizes: Results
    strides: Results
    source: Operand


ATOMIC = {
    "addf": "float", "mulf": "float", "maximumf": "float", "minimumf": "float", "maxnumf": "float", "minnumf": "float",
    "addi": "integer", "muli": "integer", "maxs": "integer", "maxu": "integer", "mins": "integer", "minu": "integer",
    "ori": "integer", "andi": "integer", "xori": "integer",
    "assign": "any",
}  # fmt: skip
"""How atomic_rmw combines, and which types it takes for it."""
