"""How often the values of a function are read, and which operations nobody needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from affdsl.codegen.c.fallible import may_fail
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, math, memref, ub, vector
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk

PURE = (
    arith.Constant, arith.Binary, arith.Extended, arith.Negate, arith.Compare, arith.Cast, arith.Select, math.Unary,
    math.Binary, math.Fma, complex_.ComplexOp, memref.Load, memref.Dim, memref.Cast, affine.Load, affine.Apply,
    affine.Min, affine.Max, memref.Rank, memref.ExtractAlignedPointerAsIndex,
    memref.SubView, memref.ReinterpretCast, memref.ExpandShape, memref.CollapseShape, memref.View,
    memref.Reshape, memref.ExtractStridedMetadata, memref.GetGlobal, affine.DelinearizeIndex, affine.LinearizeIndex,
    affine.VectorLoad, ub.Poison,
    vector.TransferRead, vector.Load, vector.MaskedLoad, vector.Gather, vector.ExpandLoad, vector.Fma, vector.Reduction,
    vector.MultiReduction, vector.Contract, vector.OuterProduct, vector.Broadcast, vector.Extract, vector.Insert,
    vector.ExtractStridedSlice, vector.InsertStridedSlice, vector.Shuffle, vector.Transpose, vector.ShapeCast,
    vector.BitCast, vector.FromElements, vector.ToElements, vector.Step, vector.CreateMask, vector.ConstantMask,
)  # fmt: skip
"""What has no effect: it is left out where nobody reads what it gives."""


class Liveness(FrozenValue):
    """How often each value is read; which are read once, in the block that defines them; which operations are idle."""

    uses: Counter[Value]
    local: set[Value]
    dead: set[Op]


def liveness(f: func.Func, is_checked: bool, reads: Mapping[Op, Sequence[Value]]) -> Liveness:
    """The liveness of a function; where accesses are checked, what can fail stays.

    `reads` says of some operations that they read other values than their own: those of what they stand for.
    """
    ops = list(walk(f))
    home: dict[Op, object] = {}
    for op in ops:
        for block in op.blocks():
            home.update((inner, block) for inner in block)
    uses = Counter(v for op in ops for v in reads.get(op, op.reads()))
    dead: set[Op] = set()
    for op in reversed(ops):
        if isinstance(op, PURE) and not any(uses[v] for v in op.defines()) and not (is_checked and may_fail(op)):
            dead.add(op)
            uses.subtract(reads.get(op, op.reads()))
    born: dict[Value, object] = dict.fromkeys(f.args, f.body)
    for op in ops:
        born.update((v, home.get(op)) for v in op.defines())
        for block in op.blocks():
            born.update((v, block) for v in op.binds())
    local = {
        v for op in ops if op not in dead for v in reads.get(op, op.reads()) if uses[v] == 1 and born[v] is home.get(op)
    }  # fmt: skip
    return Liveness(uses, local, dead)
