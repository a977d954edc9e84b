"""Copies what loops touch of an array to a fast buffer before them, and what they wrote back after them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import map_blocks, rewrite
from affdsl.passes.analysis.access import accesses_of
from affdsl.passes.legality.words import name as called
from affdsl.passes.transforms.data_copy.plan import CopyPlan, planned
from affdsl.passes.transforms.data_copy.private import only_where_seen
from affdsl.passes.transforms.data_copy.request import CopyOptions
from affdsl.passes.transforms.loops.nests import loop_of


class Placed(Frozen):
    """A plan, and the operations before and behind which its copies stand."""

    first: Op
    last: Op
    plan: CopyPlan
    first_read: int | None = None
    """The place in the text of the first read inside; None if nothing reads the buffer."""
    first_write: int | None = None


def data_copy(
    function: Func,
    buffer: Value,
    iv: Value,
    *,
    space: int = 0,
    layout: Sequence[int] = (),
    panels: Mapping[int, int] | None = None,
    dma: bool = False,
    tag_space: int = 0,
    name: str = "",
    private: bool = False,
    still: Value | None = None,
    module: Module | None = None,
) -> Func:
    """Let a loop work on a copy of what it touches of an array.

        for i: S(A[i + 8])      ->      F = alloc
                                        for x = 8 to 40: F[x - 8] = A[x]
                                        for i: S(F[i])
                                        for x = 8 to 40: A[x] = F[x - 8]

    The copy is made right before the loop, of all that it touches, and has the size of the smallest box around that,
    which may depend on sizes and on the loops around. What the loop only writes is not brought, and what it only reads
    is not taken back. Elements of the box that it does not touch may be brought and taken back too, but only where they
    certainly exist and hold a value, and where nothing else may use them at the same time: otherwise the copies are of
    exactly what is touched. A DMA takes elements that hold no value along as they are.

    Refuses where something inside of the loop may use the array in another way than by affine accesses to this very
    memref (unless nothing is written), where what is touched is not known well enough, and where its size is not known
    before the loop.

    Parameters
    ----------
    buffer
        The memref: an argument, what an allocation or a call gives, or memref.get_global. Not a view.
    iv
        The induction variable of the loop.
    space
        The memory space of the fast buffer.
    layout
        In which order the dimensions of the array are those of the fast buffer; by default as they are.
    panels
        Which dimensions are cut into panels, and how wide: {0: 8} with layout (0, 1) puts element (i, j) to
        (i floordiv 8, j, i mod 8), so that a column of a panel is contiguous. That is how matrix products are packed.
    dma
        Copy by affine.dma_start and affine.dma_wait instead of loops.
    tag_space
        The memory space of the tags of DMAs.
    name
        What the fast buffer is called; by default as the array, with `_fast` after it.
    private
        Let the copy belong to the loops around as well. It is allocated once, before the outermost of them that all
        have it of one size; no thread shares it. And only what something sees is taken back: nothing where it is
        always written again first, and what the last iteration leaves where that is so in all others. Where the flow
        of values is not known, all is taken back.
    still
        The induction variable of a loop: only the accesses whose subscripts do not move with it go to the copy. All
        others must touch other elements than these in an iteration of the loops around, if one of the two writes.
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        With what is in the way, and where.
    ValueError
        For a layout that is no permutation, or panels of other dimensions or of no width.

    References
    ----------
    Bondhugula, "High performance code generation in MLIR: an early case study with GEMM", 2020, for packing; Pouchet
    et al., "Polyhedral-based data reuse optimization for configurable computing", FPGA 2013; Knoop, Ruthing and
    Steffen, "Partial dead code elimination", PLDI 1994, for `private`.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<64xf32>, %B: memref<64xf32>) {
    ...   affine.for %i = 0 to 16 {
    ...     %a = affine.load %A[%i + 8] : memref<64xf32>
    ...     affine.store %a, %B[%i] : memref<64xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(data_copy(f, f.args[0], f.body[0].iv, space=1))
    func.func @f(%A: memref<64xf32>, %B: memref<64xf32>) {
      %A_fast = memref.alloc() : memref<16xf32, 1>
      affine.for %A0 = 8 to 24 {
        %0 = affine.load %A[%A0] : memref<64xf32>
        affine.store %0, %A_fast[%A0 - 8] : memref<16xf32, 1>
      }
      affine.for %i = 0 to 16 {
        %a = affine.load %A_fast[%i] : memref<16xf32, 1>
        affine.store %a, %B[%i] : memref<64xf32>
      }
      memref.dealloc %A_fast : memref<16xf32, 1>
      return
    }
    """
    options = CopyOptions(space, tuple(layout), dict(panels or {}), dma, tag_space, name, private, still)
    what = f"copy {called(buffer)} for loop {called(iv)}"
    loop = loop_of(function, iv, what)
    plan = planned(accesses_of(function, module), (loop,), loop, buffer, options, what)
    once = plan.once
    first, last = ((), ()) if once is loop else (plan.allocation, plan.end)
    if once is not loop:
        plan = replace(plan, allocation=(), end=())
    made = with_copies(function, [[Placed(loop, loop, plan)]])
    made = rewrite(made, lambda op: (*first, op, *last) if first and {*op.binds()} >= {*once.binds()} else None)
    return only_where_seen(made, plan.copy_out, module) if private and not dma else made


def with_copies(function: Func, ranges: Iterable[Sequence[Placed]]) -> Func:
    """A function with the operations of plans where they belong, by range."""
    before: dict[Op, Block] = {}
    after: dict[Op, Block] = {}
    redirected: dict[Op, Op] = {}

    def add(each: Placed, front: Block, back: Block) -> None:
        before[each.first] = (*before.get(each.first, ()), *front)
        after[each.last] = (*back, *after.get(each.last, ()))

    for group in ranges:
        # What is read is brought first, in the order of the text; then comes what is taken back.
        for each in sorted((c for c in group if c.first_read is not None), key=lambda c: c.first_read or 0):
            add(each, (*each.plan.allocation, *each.plan.copy_in), each.plan.end)
        for each in sorted(group, key=lambda c: c.first_write or 0):
            plan, own = each.plan, each.first_read is None
            front = (*plan.allocation, *plan.copy_in) if own else ()
            add(each, (*front, *plan.tags), (*plan.copy_out, *(plan.end if own else ())))
            redirected.update(plan.redirected)

    def on_block(block: Block) -> Block:
        made: list[Op] = []
        for op in block:
            inner = redirected.get(op) or map_blocks(op, on_block)
            made += (*before.get(op, ()), inner, *after.get(op, ()))
        return tuple(made)

    return map_blocks(function, on_block)
