"""mlir-opt's choice of what to copy: all that loops touch, as long as it fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.traverse import rewrite
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.dependence import unwarned
from affdsl.passes.mlir_opt.copy_ranges import CopyPolicy, copies, copies_in
from affdsl.passes.transforms.data_copy import Placed, with_copies
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
    options = CopyOptions(fast_mem_space, dma=generate_dma, tag_space=tag_mem_space, only_static=True)
    choice = CopyPolicy(options, _in_bytes(fast_mem_capacity), skip_non_unit_stride_loops, slow_mem_space)
    return _with_chosen_copies(module, context, lambda accesses: copies(accesses, choice))


def affine_data_copy_in_loop(
    module: Module,
    *,
    capacity_kib: int = 2**64 - 1,
    for_memref_region: bool = False,
    memref_filter: bool = False,
    context: Module | None = None,
) -> Module:
    """The same program where the first loop of each function works on copies, in mlir-opt's test of its data copies.

        for i: for j: S(A[i, j], B[j])        ->        for i: (copy A[i, :] to C; for j: S(C[j], B[j]))

    Functions with several loops at the outermost or the innermost depth stay. Copies are made of what one iteration of
    the loop touches, and before the loop where all iterations touch the same.

    Parameters
    ----------
    capacity_kib
        Copies are made inside of a loop that touches more.
    for_memref_region
        Copy around the whole loop, and only the array that the innermost loop loads from first.
    memref_filter
        Copy only the array that the innermost loop loads from first.
    """
    choice = CopyPolicy(CopyOptions(0, only_static=True), _in_bytes(capacity_kib))
    only_first = for_memref_region or memref_filter

    def chosen(accesses: Accesses) -> Iterator[list[Placed]]:
        loops = [(op, len(domain.ivs)) for op, domain in accesses.domains.items() if isinstance(op, affine.For)]
        outer = [loop for loop, depth in loops if not depth]
        inner = [loop for loop, depth in loops if depth == max(d for _, d in loops)]
        if len(outer) != 1 or len(inner) != 1:
            return
        memrefs = [op.memref for op in inner[0].body if isinstance(op, affine.Load)][:1] if only_first else None
        if memrefs != []:
            yield from copies_in(outer[0], accesses, choice, memrefs, around=for_memref_region)

    return _with_chosen_copies(module, context, chosen)


def _in_bytes(kib: int) -> int:
    return kib if kib >= 2**64 - 1 else kib * 1024


def _with_chosen_copies(
    module: Module, context: Module | None, chosen: Callable[[Accesses], Iterator[list[Placed]]]
) -> Module:
    around = module if context is None else context

    def copied(op: Op) -> Op | None:
        if not isinstance(op, Func) or op.external:
            return None
        with unwarned():  # what the analysis gives up on stays as it is: nobody need hear of it
            found = list(chosen(Accesses(op, around)))
        return with_copies(op, found) if found else None

    return rewrite(module, copied)
