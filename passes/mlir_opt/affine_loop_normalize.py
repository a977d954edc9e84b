"""mlir-opt's choice of what to normalize: all loops and bands, and which loops go because they run once."""

from __future__ import annotations

from collections.abc import Iterable

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import rewrite, with_fields
from affdsl.passes.affine.positions import positions_of
from affdsl.passes.mlir_opt.function_like import on_function
from affdsl.passes.transforms.loops.unrolling import constant_trips, in_full
from affdsl.passes.transforms.normalize import normalized_band, normalized_loop


def affine_loop_normalize(module: Module, *, promote_single_iter: bool = False) -> Module:
    """The same program with loops from 0 in steps of 1, their old counters computed by affine.apply.

        affine.for %i = 3 to 17 step 4 { S(%i) }   ->   affine.for %i = 0 to 4 { %0 = affine.apply (%i * 4 + 3); S(%0) }

    The upper bound is (upper - lower) ceildiv step. Loops with several lower bounds stay, and so do bands with several
    lower or upper bounds for one counter.

    Parameters
    ----------
    promote_single_iter
        Put the body of a loop that certainly runs once in its place.

    >>> from affdsl.mlir.readers import parse
    >>> print(affine_loop_normalize(parse('''func.func @f(%A: memref<99xf32>, %x: f32) {
    ...     affine.for %i = 2 to 99 step 3 { affine.store %x, %A[%i] : memref<99xf32> }
    ...     return
    ... }''')).functions[0])
    func.func @f(%A: memref<99xf32>, %x: f32) {
      affine.for %i = 0 to 33 {
        %0 = affine.apply affine_map<(d0) -> (d0 * 3 + 2)>(%i)
        affine.store %x, %A[%0] : memref<99xf32>
      }
      return
    }
    """
    positions = positions_of(module)
    replaced: dict[Value, Value] = {}
    constants: list[Op] = []

    def at_start(function: Func) -> Func:
        made = with_fields(function, body=(*reversed(constants), *function.body))
        constants.clear()
        return made

    def rule(op: Op) -> Op | Iterable[Op] | None:
        if replaced and isinstance(op, affine.For | affine.Parallel):
            op = renamed(op, replaced)  # what stands for the counter of this loop must be read with it
        match op:
            case affine.For():
                once = in_full(op, 1, constants) if promote_single_iter and constant_trips(op) == 1 else None
                if once is None:
                    return normalized_loop(op, positions)
                replaced.update(once[1])
                return once[0]
            case affine.Parallel():
                return normalized_band(op, positions)
            case Func() | Opaque() if constants:
                return on_function(op, at_start)
            case _:
                return None

    return renamed(rewrite(module, rule), replaced)
