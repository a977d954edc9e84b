"""Which blocks of a region run before which: the dominators of its blocks."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion

DIALECTS = frozenset(
    "acc affine amdgpu amx arith arm_neon arm_sme arm_sve async bufferization builtin cf complex dlti emitc func gpu "
    "index irdl linalg llvm math memref ml_program mpi nvgpu nvvm omp pdl pdl_interp ptr quant rocdl scf shape shard "
    "smt sparse_tensor spirv tensor tosa transform ub vcix vector wasmssa x86vector xegpu xevm".split()
)
"""The dialects of MLIR 22. In a region of an operation of any other, order is not known to mean anything."""


def is_ordered(op: Op | None) -> bool:
    """Whether operations in the regions of an operation run in their order, as far as is known."""
    return not isinstance(op, Opaque) or op.kind.partition(".")[0] in DIALECTS


def dominators(region: OpaqueRegion) -> dict[OpaqueBlock, set[OpaqueBlock]]:
    """For each block that can be reached from the first one, the blocks that every way to it leads through."""
    blocks = [block for block in region.blocks_inside if isinstance(block, OpaqueBlock)]
    if not blocks:
        return {}
    labels = {block.label: block for block in blocks}
    after = {block: [labels[name] for name in _successors(block) if name in labels] for block in blocks}
    reached, waiting = {blocks[0]}, [blocks[0]]
    while waiting:
        for following in after[waiting.pop()]:
            if following not in reached:
                reached.add(following)
                waiting.append(following)
    before: dict[OpaqueBlock, list[OpaqueBlock]] = {block: [] for block in reached}
    for block in reached:
        for following in after[block]:
            before[following].append(block)
    found = {block: set(reached) for block in blocks if block in reached}  # in the order of the text
    found[blocks[0]] = {blocks[0]}
    changed = True
    while changed:
        changed = False
        for block in blocks[1:]:
            if block in reached:
                new = {block}.union(set.intersection(*(found[b] for b in before[block])))
                changed |= new != found[block]
                found[block] = new
    return found


def _successors(block: OpaqueBlock) -> tuple[str, ...]:
    last = block.body[-1] if block.body else None
    return last.successors if isinstance(last, Opaque) else ()
