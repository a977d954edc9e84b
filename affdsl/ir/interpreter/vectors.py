"""The operations of the vector dialect, as steps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from affdsl.ir import semantics
from affdsl.ir.core import Op
from affdsl.ir.dialects import vector
from affdsl.ir.expr import Value
from affdsl.ir.interpreter import vector_access
from affdsl.ir.interpreter.buffers import Index
from affdsl.ir.interpreter.environment import Env, Step, error, listed, scalar_type, taker
from affdsl.ir.interpreter.lanes import Item, Lanes, poison, put, vector_of, vector_type
from affdsl.ir.maps import AffineMap
from affdsl.ir.messages import shown
from affdsl.ir.numeric import from_bits, to_bits, width
from affdsl.ir.types import FloatType, ScalarType, VectorType


def _gives(op: Op, function: Callable[[Env], Item]) -> Step:
    """result = function of the environment"""
    (result,) = op.defines()
    return lambda env: env.__setitem__(result, function(env))


def combiner(kind: str, type: ScalarType) -> Callable[..., Any]:
    """How a kind of KINDS puts two numbers of a type together."""
    floats, integers = vector.KINDS[kind]
    name = floats if isinstance(type, FloatType) else integers
    assert name is not None, "the verifier refuses kinds that a type does not have"
    return semantics.binary(name, type)


def fma(op: vector.Fma) -> Step:
    """result = a * b + c"""
    type = vector_type(op.result, op)
    assert isinstance(type.element, FloatType), "the verifier refuses other lanes"
    function, take = semantics.fma(type.element), taker((op.a, op.b, op.c))
    return _gives(op, lambda env: vector_of(type.shape, map(function, *(v.flat for v in take(env)))))


def reduction(op: vector.Reduction) -> Step:
    """result = acc combined with lane after lane"""
    vector_type(op.source, op)
    combine = combiner(op.combine, scalar_type(op.result.type, op))

    def function(env: Env) -> Item:
        numbers = [*taker(op.acc)(env), *env[op.source].flat]
        total: Item = numbers[0]
        for number in numbers[1:]:
            total = combine(total, number)
        return total

    return _gives(op, function)


def multi_reduction(op: vector.MultiReduction) -> Step:
    """result = acc combined with the lanes of source along some dimensions"""
    type = vector_type(op.source, op)
    combine = combiner(op.combine, type.element)
    kept = [k for k in range(type.rank) if k not in op.dims]

    def function(env: Env) -> Item:
        source: Lanes = env[op.source]
        totals = _as_lanes(env[op.acc])
        for lane in np.ndindex(*type.shape):
            place = tuple(lane[k] for k in kept)
            totals[place] = combine(totals[place], source[lane])
        return totals if isinstance(op.result.type, VectorType) else totals[()]

    return _gives(op, function)


def contract(op: vector.Contract) -> Step:
    """result = acc combined with products"""
    left, right = vector_type(op.left, op), vector_type(op.right, op)
    type = op.acc.type.element if isinstance(op.acc.type, VectorType) else scalar_type(op.acc.type, op)
    combine, multiply = combiner(op.combine, type), combiner("mul", type)
    extend = extension(left.element, type)
    maps = [dims(m, op) for m in op.maps]
    sizes: dict[int, int] = dict(zip(maps[0] + maps[1], left.shape + right.shape, strict=True))

    def function(env: Env) -> Item:
        totals = _as_lanes(env[op.acc])
        for point in product(*(range(sizes[d]) for d in range(len(op.iterators)))):
            a, b, place = (tuple(point[d] for d in of) for of in maps)
            factor = multiply(extend(env[op.left][a]), extend(env[op.right][b]))
            totals[place] = combine(totals[place], factor)
        return totals if isinstance(op.result.type, VectorType) else totals[()]

    return _gives(op, function)


def extension(source: ScalarType, target: ScalarType) -> Callable[[Any], Any]:
    """What makes a factor of a contraction a number of the accumulator's type."""
    if source == target:
        return lambda number: number
    return semantics.cast("extf" if isinstance(target, FloatType) else "extsi", source, target)


def dims(map: AffineMap, op: Op) -> tuple[int, ...]:
    """The dimensions that a map gives."""
    found = [d for d in vector.map_dims(map) or () if d is not None]
    if len(found) != len(map.results):
        raise error(op, f"the map {map} gives something other than dimensions; the verifier refuses this")
    return tuple(found)


def outer_product(op: vector.OuterProduct) -> Step:
    """result[i, j] = acc[i, j] combined with left[i] * right[j]"""
    type = vector_type(op.result, op)
    multiply, combine = combiner("mul", type.element), combiner(op.combine, type.element)
    fused = semantics.fma(type.element) if isinstance(type.element, FloatType) and op.combine == "add" else None

    def function(env: Env) -> Lanes:
        rights = list(env[op.right].flat) if isinstance(op.right.type, VectorType) else [env[op.right]]
        pairs = [(a, b) for a in env[op.left].flat for b in rights]
        if not op.acc:
            return vector_of(type.shape, [multiply(a, b) for a, b in pairs])
        totals = env[op.acc[0]].flat
        if fused is not None:
            return vector_of(type.shape, [fused(a, b, c) for (a, b), c in zip(pairs, totals, strict=True)])
        return vector_of(type.shape, [combine(c, multiply(a, b)) for (a, b), c in zip(pairs, totals, strict=True)])

    return _gives(op, function)


def _as_lanes(item: Item) -> Lanes:
    """A copy of a vector, or a vector without dimensions of one number."""
    return item.copy() if isinstance(item, np.ndarray) else vector_of((), [item])


def broadcast(op: vector.Broadcast) -> Step:
    """result = source again and again"""
    shape = vector_type(op.result, op).shape
    return _gives(op, lambda env: np.broadcast_to(_as_lanes(env[op.source]), shape).copy())


def extract(op: vector.Extract) -> Step:
    """result = source[position]"""
    place, result, type = _position(op, op.source), op.result.type, vector_type(op.source, op)

    def function(env: Env) -> Item:
        index = place(env)
        found = poison(type.element) if index is None else env[op.source][index]
        if isinstance(result, VectorType):
            return np.broadcast_to(_as_lanes(found), result.shape).copy()
        return found[()] if isinstance(found, np.ndarray) else found

    return _gives(op, function)


def insert(op: vector.Insert) -> Step:
    """result = target, but for result[position]"""
    place, type = _position(op, op.target), vector_type(op.target, op)

    def function(env: Env) -> Lanes:
        index = place(env)
        if index is None:
            return np.broadcast_to(vector_of((), [poison(type.element)]), type.shape).copy()
        found: Lanes = env[op.target].copy()
        put(found, index, env[op.value])
        return found

    return _gives(op, function)


def _position(op: vector.Extract | vector.Insert, of: Value) -> Callable[[Env], Index | None]:
    """The position, checked; None if it is poison."""
    shape, positions = vector_type(of, op).shape, op.positions
    if vector.POISON in op.static_position:
        return lambda env: None

    def function(env: Env) -> Index:
        index = tuple(env[p] if isinstance(p, Value) else p for p in positions)
        for i, size in zip(index, shape, strict=False):
            if not 0 <= i < size:
                raise error(op, f"[{listed(index)}] is no position in {shown(of)}, of type {of.type}")
        return index

    return function


def extract_slice(op: vector.ExtractStridedSlice) -> Step:
    """result = source[offsets : offsets + sizes]"""
    vector_type(op.source, op)
    window = tuple(slice(start, start + size) for start, size in zip(op.offsets, op.sizes, strict=True))
    return _gives(op, lambda env: env[op.source][window].copy())


def insert_slice(op: vector.InsertStridedSlice) -> Step:
    """result = target, but for value from offsets on"""
    target, value = vector_type(op.target, op), vector_type(op.value, op)
    sizes = (1,) * (target.rank - value.rank) + value.shape
    window = tuple(slice(start, start + size) for start, size in zip(op.offsets, sizes, strict=True))

    def function(env: Env) -> Lanes:
        found: Lanes = env[op.target].copy()
        found[window] = env[op.value].reshape(sizes)
        return found

    return _gives(op, function)


def shuffle(op: vector.Shuffle) -> Step:
    """result = rows of left and right"""
    type = vector_type(op.result, op)
    nothing = np.broadcast_to(vector_of((), [poison(type.element)]), type.shape[1:])

    def function(env: Env) -> Lanes:
        rows = [row for v in (op.left, op.right) for row in env[v].reshape((-1, *type.shape[1:]))]
        found = np.empty(type.shape, object)
        for k, row in enumerate(op.mask):
            found[k] = nothing if row == vector.POISON and nothing.ndim else rows[row] if row >= 0 else nothing[()]
        return found

    return _gives(op, function)


def transpose(op: vector.Transpose) -> Step:
    """result = source with its dimensions in another order"""
    vector_type(op.source, op)
    return _gives(op, lambda env: env[op.source].transpose(op.permutation))


def shape_cast(op: vector.ShapeCast) -> Step:
    """result = the lanes of source in another shape"""
    shape = vector_type(op.result, op).shape
    return _gives(op, lambda env: env[op.source].reshape(shape))


def bit_cast(op: vector.BitCast) -> Step:
    """result = the bits of source in lanes of another type"""
    source, target = vector_type(op.source, op), vector_type(op.result, op)
    old, new = width(source.element), width(target.element)
    per_row = target.shape[-1] if target.shape else 1

    def function(env: Env) -> Lanes:
        numbers = []
        for row in env[op.source].reshape(-1, source.shape[-1] if source.shape else 1):
            bits = sum(to_bits(number, source.element) << old * k for k, number in enumerate(row))
            numbers += [from_bits(bits >> new * k & ((1 << new) - 1), target.element) for k in range(per_row)]
        return vector_of(target.shape, numbers)

    return _gives(op, function)


def from_elements(op: vector.FromElements) -> Step:
    """result = the vector of some scalars"""
    shape, take = vector_type(op.result, op).shape, taker(op.elements)
    return _gives(op, lambda env: vector_of(shape, take(env)))


def to_elements(op: vector.ToElements) -> Step:
    """results = the lanes of source"""
    vector_type(op.source, op)
    return lambda env: env.update(zip(op.results, env[op.source].flat, strict=True))


def count(op: vector.Step) -> Step:
    """result = 0, 1, 2, ..."""
    numbers = vector_of(vector_type(op.result, op).shape, range(vector_type(op.result, op).shape[0]))
    return _gives(op, lambda env: numbers)


def create_mask(op: vector.CreateMask) -> Step:
    """result is set below bounds"""
    shape, bounds = vector_type(op.result, op).shape, taker(op.bounds)
    return _gives(op, lambda env: mask(shape, bounds(env)))


def constant_mask(op: vector.ConstantMask) -> Step:
    """result is set below numbers"""
    numbers = mask(vector_type(op.result, op).shape, op.sizes)
    return _gives(op, lambda env: numbers)


def mask(shape: Index, bounds: Index) -> Lanes:
    """The mask that is set below bounds along all dimensions."""
    if not shape:
        return vector_of((), [int(bounds[0] > 0)])
    return vector_of(shape, [int(all(i < b for i, b in zip(lane, bounds, strict=True))) for lane in np.ndindex(*shape)])


STEPS: dict[type[Op], Callable[[Any], Step]] = {
    vector.TransferRead: vector_access.transfer_read,
    vector.TransferWrite: vector_access.transfer_write,
    vector.Load: lambda op: vector_access.load(op, op.result, op.memref, taker(op.indices)),
    vector.Store: lambda op: vector_access.store(op, op.value, op.memref, taker(op.indices)),
    vector.MaskedLoad: lambda op: vector_access.load(op, op.result, op.memref, taker(op.indices), op.mask),
    vector.MaskedStore: lambda op: vector_access.store(op, op.value, op.memref, taker(op.indices), op.mask),
    vector.Gather: vector_access.gather,
    vector.Scatter: vector_access.scatter,
    vector.ExpandLoad: vector_access.expand_load,
    vector.CompressStore: vector_access.compress_store,
    vector.Fma: fma,
    vector.Reduction: reduction,
    vector.MultiReduction: multi_reduction,
    vector.Contract: contract,
    vector.OuterProduct: outer_product,
    vector.Broadcast: broadcast,
    vector.Extract: extract,
    vector.Insert: insert,
    vector.ExtractStridedSlice: extract_slice,
    vector.InsertStridedSlice: insert_slice,
    vector.Shuffle: shuffle,
    vector.Transpose: transpose,
    vector.ShapeCast: shape_cast,
    vector.BitCast: bit_cast,
    vector.FromElements: from_elements,
    vector.ToElements: to_elements,
    vector.Step: count,
    vector.CreateMask: create_mask,
    vector.ConstantMask: constant_mask,
}
"""What makes a step of each class of vector operations."""
