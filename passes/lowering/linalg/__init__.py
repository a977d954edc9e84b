"""Turns operations of linalg on buffers into affine loops."""

from __future__ import annotations

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.dialects.func import Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Affine, Value
from affdsl.ir.maps import dim
from affdsl.ir.traverse import rewrite, substitute, walk
from affdsl.ir.types import INDEX, MemRefType
from affdsl.ir.verifier.positions import Position, Positions
from affdsl.passes.affine.positions import positions_of
from affdsl.passes.lowering.linalg.structured import Structured, structured


def convert_linalg_to_affine_loops(module: Module) -> Module:
    """The same program with affine loops for operations of linalg whose operands are buffers and numbers.

        linalg.fill ins(%x : f32) outs(%A : memref<8xf32>)
        ->
        affine.for %i = 0 to 8 { affine.store %x, %A[%i] : memref<8xf32> }

    There is a loop for each dimension of the iteration space, in the order of the maps. What works on tensors stays,
    and so does an operation whose sizes are no symbols where it stands, or whose elements have types that it has to
    convert in a way that is not known here.

    >>> from affdsl.mlir.readers import parse
    >>> print(convert_linalg_to_affine_loops(parse('''func.func @f(%x: f32, %A: memref<8xf32>) {
    ...     linalg.fill ins(%x : f32) outs(%A : memref<8xf32>)
    ...     return
    ... }''')).functions[0])
    func.func @f(%x: f32, %A: memref<8xf32>) {
      affine.for %arg0 = 0 to 8 {
        affine.store %x, %A[%arg0] : memref<8xf32>
      }
      return
    }
    """
    positions: list[Positions] = []

    def rule(op: Op) -> Block | None:
        if not isinstance(op, Opaque) or not op.kind.startswith("linalg."):
            return None
        found = structured(op)
        if found is None:
            return None
        if not positions:
            positions.append(positions_of(module))
        return _loops(op, found, positions[0])

    return rewrite(module, rule)


def _loops(op: Opaque, of: Structured, positions: Positions) -> Block | None:
    """The nest of loops; None where a size is no symbol."""
    before: list[Op] = []
    sizes: list[Affine] = []
    for k in range(of.dims):
        found = _size(op, of, k, before, positions)
        if found is None:
            return None
        sizes.append(found)
    ivs = [Value(INDEX) for _ in sizes]
    body = _body(op, of, ivs)
    for iv, size in reversed(list(zip(ivs, sizes, strict=True))):
        body = (affine.For(iv, (Affine(),), (size,), body, location=op.location),)
    return (*before, *body)


def _size(op: Opaque, of: Structured, k: int, before: list[Op], positions: Positions) -> Affine | None:
    """How far dimension k goes: the size of an operand that it alone counts along."""
    known = [
        (array, axis)
        for array, map in zip(of.arrays, of.maps, strict=True)
        for axis, expr in enumerate(map)
        if expr.value is dim(k)
    ]
    for array, axis in known:
        assert isinstance(array.type, MemRefType), "numbers have no dimensions"
        if (size := array.type.shape[axis]) is not None:
            return Affine.of(size)
    for array, axis in known:
        number = arith.Constant(Value(INDEX), axis, location=op.location)
        asked = memref.Dim(Value(INDEX), array, number.result, location=op.location)
        positions.define(number, top=False)
        positions.define(asked, top=False)
        if positions.of(asked.result) is Position.SYMBOL:
            before += [number, asked]
            return Affine.of(asked.result)
    return None


def _body(op: Opaque, of: Structured, ivs: list[Value]) -> Block:
    """What one iteration does: loads of what is read, what is computed, stores of what is yielded."""
    at = {dim(k): Affine.of(iv) for k, iv in enumerate(ivs)}
    read = {value for op_inside in of.body for inner in walk(op_inside) for value in inner.mentions()} | {*of.yields}
    loads: list[Op] = []
    numbers: dict[Value, Value] = {}
    for array, map, arg in zip(of.arrays, of.maps, of.args, strict=True):
        if not isinstance(array.type, MemRefType):
            numbers[arg] = array
        elif arg in read:
            index = tuple(e.substitute(at) for e in map)
            loads.append(affine.Load(arg, array, index, location=op.location))
    counters = {result: ivs[k] for result, k in of.counters.items()}
    new = {**numbers, **counters}
    computed = [substitute(inner, new) for inner in of.body]
    outs = list(zip(of.arrays, of.maps, strict=True))[-len(of.yields) :]
    stores = [
        affine.Store(new.get(value, value), array, tuple(e.substitute(at) for e in map), location=op.location)
        for value, (array, map) in zip(of.yields, outs, strict=True)
    ]
    return (*loads, *computed, *stores)
