"""mlir-opt's choice of what to normalize: all loops and bands, and which loops go because they run once."""

from __future__ import annotations

from collections.abc import Iterable

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Value
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import rewrite
from affdsl.passes.affine.positions import positions_of
from affdsl.passes.transforms.normalize import normalized_band, normalized_loop, reads_in


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

    def rule(op: Op) -> Op | Iterable[Op] | None:
        if replaced and isinstance(op, affine.For | affine.Parallel):
            op = renamed(op, replaced)  # what stands for the counter of this loop must be read with it
        match op:
            case affine.For():
                if promote_single_iter and _runs_once(op):
                    return _promoted(op, replaced)
                return normalized_loop(op, positions)
            case affine.Parallel():
                return normalized_band(op, positions)
            case _:
                return None

    return renamed(rewrite(module, rule), replaced)


def _runs_once(op: affine.For) -> bool:
    if len(op.lower) > 1:
        return False
    trips = [(bound - op.lower[0]).ceildiv(op.step) for bound in op.upper]
    return all(trip.is_constant for trip in trips) and min(trip.constant for trip in trips) == 1


def _promoted(op: affine.For, replaced: dict[Value, Value]) -> Iterable[Op]:
    """The body of a loop that runs once."""
    (lower,) = op.lower
    before: list[Op] = []
    if lower.value is not None:
        replaced[op.iv] = lower.value
    elif op.iv in set(reads_in(op.body)):
        before.append(
            arith.Constant(op.iv, lower.constant, location=op.location)
            if lower.is_constant
            else affine.Apply(op.iv, lower, location=op.location)
        )
    replaced.update(zip(op.carried, op.inits, strict=True))
    if not op.results:
        return (*before, *op.body)
    *body, end = op.body
    assert isinstance(end, affine.Yield), "a loop with results ends with affine.yield"
    replaced.update(zip(op.results, end.values, strict=True))
    return (*before, *body)
