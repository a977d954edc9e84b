"""mlir-opt's choice of what to make parallel: all loops that can be, outer ones first."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.core import Block
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk, with_fields
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.parallelism import Parallelism, of_loops
from affdsl.passes.transforms.parallelize import as_bands, is_plain, obstacle

MOST_NESTED = 2**32 - 1


def affine_parallelize(
    module: Module, *, max_nested: int = MOST_NESTED, parallel_reductions: bool = False, context: Module | None = None
) -> Module:
    """The same program with each affine.for whose iterations are independent made an affine.parallel of one counter.

        affine.for %i = 0 to %n { A[%i] = ... }   ->   affine.parallel (%i) = (0) to (%n) { A[%i] = ... }

    Loops that are not certainly parallel stay; so do those that only would be with private arrays or atomic updates.

    Parameters
    ----------
    max_nested
        The largest number of parallel bands around each other: loops inside of so many stay.
    parallel_reductions
        Also loops that carry sums, products, minima and the like, where affine.parallel has them for their type. Sums
        and products of floats are then rounded in another order.
    context
        The module around, whose calls show which arguments are one buffer; the same one if it is not given.

    >>> from affdsl.mlir.readers import parse
    >>> print(affine_parallelize(parse('''func.func @f(%A: memref<99xi32>, %x: i32) -> i32 {
    ...     %s = affine.for %i = 0 to 99 iter_args(%t = %x) -> (i32) {
    ...       %a = affine.load %A[%i] : memref<99xi32>
    ...       %u = arith.addi %t, %a : i32
    ...       affine.yield %u : i32
    ...     }
    ...     return %s : i32
    ... }'''), parallel_reductions=True).functions[0])
    func.func @f(%A: memref<99xi32>, %x: i32) -> i32 {
      %0 = affine.parallel (%i) = (0) to (99) reduce ("addi") -> (i32) {
        %a = affine.load %A[%i] : memref<99xi32>
        affine.yield %a : i32
      }
      %s = arith.addi %x, %0 : i32
      return %s : i32
    }
    """
    around = module if context is None else context

    def parallelized(function: Func) -> Func:
        if not any(isinstance(op, affine.For) for op in walk(function)):
            return function
        can = {
            each.iv: each
            for each in of_loops(Dependences(function, around))
            if obstacle(each) is None and is_plain(each)
        }
        chosen = {iv: can[iv] for iv in _outermost(function.body, can, max_nested, parallel_reductions)}
        return as_bands(function, chosen)

    return with_fields(module, body=tuple(parallelized(op) if isinstance(op, Func) else op for op in module.body))


def _outermost(block: Block, can: dict[Value, Parallelism], room: int, with_reductions: bool) -> Iterator[Value]:
    """The loops that are made parallel, outer ones first; `room` is how many bands may still be nested here."""
    for op in block:
        inside = room - isinstance(op, affine.Parallel)
        if isinstance(op, affine.For) and room > 0:
            verdict = can.get(op.iv)
            if verdict is not None and (with_reductions or not verdict.reductions):
                inside -= 1
                yield op.iv
        for inner in op.blocks():
            yield from _outermost(inner, can, inside, with_reductions)
