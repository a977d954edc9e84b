"""What each operation reads, writes, allocates and frees, and whether it can be left out where nobody uses it."""

from __future__ import annotations

from collections.abc import Iterable

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, math, memref, scf, ub, vector
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion
from affdsl.ir.expr import Value
from affdsl.ir.types import MemRefType


class Effects(FrozenValue):
    """The buffers that an operation itself touches, not those that its blocks touch.

    `unknown` is an operation that may do anything.
    """

    reads: tuple[Value, ...] = ()
    writes: tuple[Value, ...] = ()
    allocates: tuple[Value, ...] = ()
    frees: tuple[Value, ...] = ()
    unknown: bool = False


NONE = Effects()
UNKNOWN = Effects(unknown=True)

_PURE = (
    affine.Apply, affine.Min, affine.Max, affine.DelinearizeIndex, affine.LinearizeIndex,
    affine.Yield, scf.Yield, scf.Condition, scf.ReduceReturn,
    arith.Constant, arith.Binary, arith.Extended, arith.Negate, arith.Compare, arith.Cast, arith.Select,
    math.Unary, math.Binary, math.Fma,
    memref.Dim, memref.Rank, memref.Cast, memref.GetGlobal, memref.SubView, memref.ReinterpretCast,
    memref.ExpandShape, memref.CollapseShape, memref.View, memref.Reshape, memref.ExtractStridedMetadata,
    ub.Poison,
    vector.Fma, vector.Reduction, vector.MultiReduction, vector.Contract, vector.OuterProduct, vector.Broadcast,
    vector.Extract, vector.Insert, vector.ExtractStridedSlice, vector.InsertStridedSlice, vector.Shuffle,
    vector.Transpose, vector.ShapeCast, vector.BitCast, vector.FromElements, vector.ToElements, vector.Step,
    vector.CreateMask, vector.ConstantMask,
)  # fmt: skip
"""They only compute values from values."""

_NESTED = (
    affine.For, affine.If, affine.Parallel,
    scf.For, scf.If, scf.While, scf.Parallel, scf.Reduce, scf.Combiner, scf.IndexSwitch, scf.Case, scf.ExecuteRegion,
)  # fmt: skip
"""They do what their blocks do, and nothing else."""

_PARTS = (
    func.Func, func.Module, memref.Global, scf.Case, scf.Combiner, Opaque, OpaqueRegion, OpaqueBlock,
)  # fmt: skip
"""They are there for their names, or are parts of the operation around them."""

_READS = (
    affine.Load, affine.VectorLoad, memref.Load,
    vector.TransferRead, vector.Load, vector.MaskedLoad, vector.Gather, vector.ExpandLoad,
)  # fmt: skip
_WRITES = (
    affine.Store, affine.VectorStore, memref.Store,
    vector.TransferWrite, vector.Store, vector.MaskedStore, vector.Scatter, vector.CompressStore,
)  # fmt: skip


def effects(op: Op) -> Effects:
    """What an operation itself does to memory; what has no row here may do anything.

    A prefetch and the start and end of a copy in the background are kept in place: they may do anything, too.
    """
    if _is_without(type(op)):
        return NONE
    match op:
        case _ if isinstance(op, _READS) and isinstance(op.memref.type, MemRefType):
            return Effects(reads=(op.memref,))
        case _ if isinstance(op, _WRITES) and isinstance(op.memref.type, MemRefType):
            return Effects(writes=(op.memref,))
        case memref.Copy():
            return Effects(reads=(op.source,), writes=(op.target,))
        case memref.AtomicRMW():
            return Effects(reads=(op.memref,), writes=(op.memref,))
        case memref.Alloc() | memref.Alloca():
            return Effects(allocates=(op.result,))
        case memref.Dealloc():
            return Effects(frees=(op.memref,))
        case _:
            return UNKNOWN


_without: dict[type[Op], bool] = {}


def _is_without(cls: type[Op]) -> bool:
    """Whether operations of a class have no effects: found once for each, since it is asked very often."""
    found = _without.get(cls)
    if found is None:
        found = _without[cls] = issubclass(cls, (*_PURE, *_NESTED))
    return found


def is_pure(op: Op) -> bool:
    """Whether an operation touches no memory, nor do its blocks: it computes the same from the same values, always."""
    return all(effects(inner) == NONE for inner in _with_blocks(op))


def is_removable(op: Op, blocks: Iterable[Op] | None = None) -> bool:
    """Whether an operation may be left out where nobody uses its results.

    It does nothing but compute, read, and make buffers that are its own results; `blocks` are the operations right
    inside, where those are not the ones that op holds.
    """
    if op.is_terminator or isinstance(op, _PARTS):
        return False
    if not is_own(op):
        return False
    inside = _inside(op) if blocks is None else blocks
    return all(is_own(inner) for outer in inside for inner in _with_blocks(outer))


def is_own(op: Op) -> bool:
    """Whether an operation itself, without its blocks, does no more than to compute, to read and to make buffers."""
    found = effects(op)
    return not (found.unknown or found.writes or found.frees)


def _inside(op: Op) -> Iterable[Op]:
    return (inner for block in op.blocks() for inner in block)


def _with_blocks(op: Op) -> Iterable[Op]:
    """op and everything inside; what is last in a block comes first, since a store or a call mostly stands there."""
    stack = [op]
    while stack:
        inner = stack.pop()
        yield inner
        stack.extend(_inside(inner))
