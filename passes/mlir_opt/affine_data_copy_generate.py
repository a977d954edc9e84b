"""mlir-opt's choice of what to copy: all that loops touch, as long as it fits."""

from __future__ import annotations

import warnings

from affdsl.ir.core import Op
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.traverse import rewrite
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.dependence import AnalysisWarning
from affdsl.passes.mlir_opt.copy_ranges import CopyPolicy, copies
from affdsl.passes.transforms.data_copy import with_copies
from affdsl.passes.transforms.data_copy.request import CopyOptions


def affine_data_copy_generate(
    module: Module,
    *,
    fast_mem_capacity: int = 2**64 - 1,
    fast_mem_space: int = 1,
    generate_dma: bool = False,
    skip_non_unit_stride_loops: bool = False,
    slow_mem_space: int = 0,
    tag_mem_space: int = 0,
    context: Module | None = None,
) -> Module:
    """The same program where loops work on copies of what they touch, in a memory space of their own.

    Each loop gets one buffer for each array that it touches, filled before it and, where it writes, written back behind
    it; and so do the statements between loops. Where a copy would change what the program does, or has no constant
    size, the array is used as before. It never refuses.

    Parameters
    ----------
    fast_mem_capacity
        In KiB: copies are made inside of a loop that touches more, and before the outermost loops that do not change
        which elements they hold.
    fast_mem_space, slow_mem_space, tag_mem_space
        The memory spaces of the buffers, of the arrays that are copied, and of the tags of DMAs.
    generate_dma
        Copy by affine.dma_start and dma_wait instead of loops.
    skip_non_unit_stride_loops
        Make copies inside of loops whose step is not 1, and of no others, whatever they touch.
    context
        What the module is a part of: it shows which arguments may be one buffer, and what calls do. By default nothing
        stands around it.
    """
    around = module if context is None else context
    capacity = fast_mem_capacity if fast_mem_capacity >= 2**64 - 1 else fast_mem_capacity * 1024
    options = CopyOptions(fast_mem_space, dma=generate_dma, tag_space=tag_mem_space, only_static=True)
    choice = CopyPolicy(options, capacity, skip_non_unit_stride_loops, slow_mem_space)

    def copied(op: Op) -> Op | None:
        if not isinstance(op, Func) or op.external:
            return None
        with warnings.catch_warnings():  # what the analysis gives up on stays as it is: nobody need hear of it
            warnings.simplefilter("ignore", AnalysisWarning)
            found = list(copies(Accesses(op, around), choice))
        return with_copies(op, found) if found else None

    return rewrite(module, copied)
