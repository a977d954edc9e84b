"""What writes each operation in C: a table a dialect. A target is these tables with some rows overridden."""

from __future__ import annotations

from affdsl.codegen.c import (
    affine_values,
    allocation,
    arithmetic,
    bands,
    branches,
    calls,
    complex_numbers,
    debugging,
    loops,
    memory,
    transfers,
    vector_lanes,
    vector_memory,
    vector_values,
    views,
)
from affdsl.codegen.c.context import Rows
from affdsl.ir.dialects import affine, arith, func, math, memref, opaque, scf, ub, vector
from affdsl.ir.dialects import complex as complex_

AFFINE: Rows = {
    affine.For: loops.for_loop,
    affine.If: branches.branch,
    affine.Parallel: bands.affine_band,
    affine.Yield: loops.yield_values,
    affine.Load: memory.load,
    affine.Store: memory.store,
    affine.VectorLoad: vector_memory.affine_load,
    affine.VectorStore: vector_memory.affine_store,
    affine.DmaStart: transfers.dma_start,
    affine.DmaWait: transfers.dma_wait,
    affine.Prefetch: transfers.prefetch,
    affine.Apply: affine_values.apply,
    affine.Min: affine_values.smallest_or_largest,
    affine.Max: affine_values.smallest_or_largest,
    affine.DelinearizeIndex: affine_values.digits,
    affine.LinearizeIndex: affine_values.digits,
}

SCF: Rows = {
    scf.For: loops.for_loop,
    scf.While: loops.while_loop,
    scf.Condition: loops.while_condition,
    scf.Yield: loops.yield_values,
    scf.If: branches.branch,
    scf.IndexSwitch: branches.index_switch,
    scf.ExecuteRegion: branches.execute_region,
    scf.Parallel: bands.scf_band,
    scf.Reduce: bands.scf_reduce,
    scf.ReduceReturn: bands.reduce_return,
}

MEMREF: Rows = {
    memref.Load: memory.load,
    memref.Store: memory.store,
    memref.Alloc: allocation.allocate,
    memref.Alloca: allocation.allocate,
    memref.Dealloc: allocation.deallocate,
    memref.Dim: affine_values.dim,
    memref.Rank: affine_values.rank,
    memref.ExtractAlignedPointerAsIndex: affine_values.address,
    memref.Copy: transfers.copy,
    memref.DmaStart: transfers.dma_start,
    memref.DmaWait: transfers.dma_wait,
    memref.Prefetch: transfers.prefetch,
    memref.AtomicRMW: transfers.atomic_rmw,
    memref.Cast: views.cast_memref,
    memref.GetGlobal: views.get_global,
    memref.SubView: views.subview,
    memref.ReinterpretCast: views.reinterpret,
    memref.ExpandShape: views.expand_shape,
    memref.CollapseShape: views.collapse_shape,
    memref.View: views.bytes_as,
    memref.Reshape: views.reshape,
    memref.ExtractStridedMetadata: views.take_apart,
}

VECTOR: Rows = {
    vector.TransferRead: vector_memory.transfer,
    vector.TransferWrite: vector_memory.transfer,
    vector.Load: vector_memory.load,
    vector.MaskedLoad: vector_memory.load,
    vector.Store: vector_memory.store,
    vector.MaskedStore: vector_memory.store,
    vector.Gather: vector_memory.gather,
    vector.Scatter: vector_memory.gather,
    vector.ExpandLoad: vector_memory.expand,
    vector.CompressStore: vector_memory.expand,
    vector.Fma: vector_values.fma,
    vector.Reduction: vector_values.reduction,
    vector.MultiReduction: vector_values.multi_reduce,
    vector.Contract: vector_values.contract,
    vector.OuterProduct: vector_values.outer_product,
    vector.Step: vector_values.step,
    vector.CreateMask: vector_values.create_mask,
    vector.ConstantMask: vector_values.constant_mask,
    vector.Broadcast: vector_lanes.broadcast,
    vector.Extract: vector_lanes.extract,
    vector.Insert: vector_lanes.insert,
    vector.ExtractStridedSlice: vector_lanes.extract_slice,
    vector.InsertStridedSlice: vector_lanes.insert_slice,
    vector.Shuffle: vector_lanes.shuffle,
    vector.Transpose: vector_lanes.transpose,
    vector.ShapeCast: vector_lanes.shape_cast,
    vector.BitCast: vector_lanes.bit_cast,
    vector.FromElements: vector_lanes.from_elements,
    vector.ToElements: vector_lanes.to_elements,
}

ARITH_AND_MATH: Rows = {
    arith.Constant: arithmetic.constant,
    arith.Binary: arithmetic.compute,
    arith.Extended: arithmetic.extended,
    arith.Negate: arithmetic.compute,
    arith.Compare: arithmetic.compute,
    arith.Cast: arithmetic.compute,
    arith.Select: arithmetic.compute,
    math.Unary: arithmetic.compute,
    math.Binary: arithmetic.compute,
    math.Fma: arithmetic.compute,
    ub.Poison: arithmetic.no_value,
}

COMPLEX: Rows = {
    complex_.Constant: complex_numbers.constant,
    complex_.Create: complex_numbers.create,
    complex_.Part: complex_numbers.compute,
    complex_.Unary: complex_numbers.compute,
    complex_.Binary: complex_numbers.compute,
    complex_.Compare: complex_numbers.compute,
}

FUNC: Rows = {
    func.Call: calls.call_function,
    func.Return: calls.return_values,
}

STRICT_C: Rows = {
    **AFFINE, **SCF, **MEMREF, **VECTOR, **ARITH_AND_MATH, **COMPLEX, **FUNC, opaque.Opaque: debugging.known,
}  # fmt: skip
"""Plain C11 of every operation that C output knows."""
