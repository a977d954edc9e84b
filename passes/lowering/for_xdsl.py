"""A program for xDSL, without what it does not have, or has of scalars alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import TypeAlias

from affdsl.errors import UnsupportedError
from affdsl.ir.attributes import DenseArrayAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.dialects.func import Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.messages import op_name, where
from affdsl.ir.parts import in_parts
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import I32, INDEX, VectorType
from affdsl.passes.lowering.earlier_mlir import RULES, c_function
from affdsl.passes.lowering.replacing import Rule, Step, replaced


def for_xdsl(module: Module) -> Module:
    """The same program in operations that xDSL has, for its generic form.

        arith.cmpf %a, %b : vector<2xf32>       ->  a comparison for each lane, and vector.insert
        vector.extract_strided_slice %v         ->  vector.shuffle %v, %v
        affine.parallel reduce ("addf")         ->  affine.parallel of parts, and a loop that adds them up

    Each gives the same bits.

    Raises
    ------
    UnsupportedError
        Where an operation cannot be said in others that it has.

    >>> from affdsl.mlir.readers import parse
    >>> print(for_xdsl(parse('''func.func @f(%v: vector<4xf32>) -> vector<2xf32> {
    ...     %w = vector.extract_strided_slice %v {offsets = [2], sizes = [2], strides = [1]}
    ...          : vector<4xf32> to vector<2xf32>
    ...     return %w : vector<2xf32>
    ... }''')).functions[0])
    func.func @f(%v: vector<4xf32>) -> vector<2xf32> {
      %w = vector.shuffle %v, %v [2, 3] : vector<4xf32>, vector<4xf32>
      return %w : vector<2xf32>
    }
    """
    return replaced(module, _rule)


# What takes the place of operations


def _each_lane(step: Step, op: Op) -> None:
    step.by_lanes(op, step.emit)


def _parts(step: Step, op: affine.Parallel) -> None:
    step.ops.extend(in_parts(op))


def _largest(step: Step, op: affine.Max) -> None:
    largest, *others = [step.made(affine.Apply, INDEX, expr) for expr in op.exprs]
    for other in others:
        largest = step.binary("maxsi", largest, other)


def _nothing(step: Step, op: Op) -> None:
    """A hint may be left out."""


def _slice(step: Step, op: vector.ExtractStridedSlice) -> None:
    """Rows along the first dimension, or lane by lane."""
    shape = step.shape(op.result)
    if len(op.offsets) == 1:
        rows = tuple(range(op.offsets[0], op.offsets[0] + shape[0]))
        step.emit(vector.Shuffle(op.result, op.source, op.source, rows))
        return
    offsets = (*op.offsets, *[0] * (len(shape) - len(op.offsets)))
    _gather(step, op, product(*[range(first, first + size) for first, size in zip(offsets, shape, strict=True)]))


def _insert_slice(step: Step, op: vector.InsertStridedSlice) -> None:
    shape, found = step.shape(op.value), op.target
    outside, inside = op.offsets[: -len(shape)], op.offsets[-len(shape) :]
    for position in product(*map(range, shape)):
        at = (*outside, *[first + k for first, k in zip(inside, position, strict=True)])
        found = step.made(vector.Insert, found.type, step.lane(op.value, position), found, (), at)


def _counted(step: Step, op: Opaque) -> None:
    """A call that says how many of its operands are arguments."""
    counts = ("operandSegmentSizes", DenseArrayAttr(I32, (str(len(op.operands)), "0")))
    step.emit(with_fields(op, properties=(*op.properties, counts, ("op_bundle_sizes", DenseArrayAttr(I32, ())))))


def _transpose(step: Step, op: vector.Transpose) -> None:
    places = [op.permutation.index(k) for k, _ in enumerate(op.permutation)]
    _gather(step, op, ([at[k] for k in places] for at in product(*map(range, step.shape(op.result)))))


def _reshape(step: Step, op: vector.ShapeCast) -> None:
    _gather(step, op, product(*map(range, step.shape(op.source))))


_Moving: TypeAlias = vector.ExtractStridedSlice | vector.Transpose | vector.ShapeCast


def _gather(step: Step, op: _Moving, positions: Iterable[Sequence[int]]) -> None:
    step.emit(vector.FromElements(op.result, tuple([step.lane(op.source, position) for position in positions])))


# Which operation is replaced


_AS_BEFORE = (
    "arith.index_castui", "math.erfc", "math.isfinite", "math.isinf", "math.isnan", "math.isnormal",
    "vector.from_elements", "vector.step", "vector.to_elements",
)  # fmt: skip
"""What earlier versions of MLIR did not have either."""
REPLACED: Mapping[str, Rule] = {
    **{name: RULES[name][1] for name in _AS_BEFORE},
    "affine.max": _largest,
    "affine.prefetch": _nothing,
    "arith.remf": c_function,
    "memref.prefetch": _nothing,
    "vector.extract_strided_slice": _slice,
    "vector.insert_strided_slice": _insert_slice,
    "vector.shape_cast": _reshape,
    "vector.transpose": _transpose,
}
MISSING = frozenset(
    """affine.dma_start affine.dma_wait arith.scaling_extf arith.scaling_truncf complex.powi func.call_indirect
    func.constant math.clampf math.sincos memref.distinct_objects memref.generic_atomic_rmw memref.realloc
    memref.reshape memref.transpose scf.forall vector.compressstore vector.constant_mask vector.contract
    vector.deinterleave vector.expandload vector.gather vector.interleave vector.mask vector.multi_reduction
    vector.outerproduct vector.scan vector.scatter vector.type_cast vector.vscale""".split()
)
"""What xDSL does not have, and no rule replaces."""
_OF_SCALARS = frozenset(
    ("cmpf", "cmpi", "extsi", "extui", "fptosi", "fptoui", "index_cast", "sitofp", "trunci", "uitofp")
)
"""Kinds of arith that it has of scalars alone."""


def _rule(op: Op) -> Rule | None:
    """What replaces an operation. Raises UnsupportedError where nothing does, and xDSL does not have it."""
    name = op_name(op)
    if name in MISSING:
        raise UnsupportedError(f"{where(op)}: xDSL does not have it: write something else, or hand the text on to MLIR")
    match op:
        case affine.Parallel() if op.reductions:
            return _parts
        case arith.Select() if isinstance(op.condition.type, VectorType):
            return _each_lane
        case arith.Compare() | arith.Cast() if op.kind in _OF_SCALARS and isinstance(op.result.type, VectorType):
            return _each_lane
        case Opaque(kind="llvm.call") if all(key != "operandSegmentSizes" for key, _ in op.properties):
            return _counted
    return REPLACED.get(name)
