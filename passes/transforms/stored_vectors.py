"""Copies of a body take from each other the vectors that they store, in registers.

C compilers do not do so under masks, and processors wait for a masked store until it is done. Whole vectors they keep
where they know that arrays do not overlap; but gcc and clang forget what `restrict` says in a loop on threads: the
quirk `restrict_on_threads` of `affdsl.codegen.c.quirks`.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import TypeAlias

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import map_blocks, walk
from affdsl.ir.types import Type
from affdsl.passes.analysis.effects import effects
from affdsl.passes.analysis.storage import Storage, storage_of

Place: TypeAlias = tuple[Value, tuple[Value, ...] | tuple[Affine, ...], Value | Type]
"""A buffer, the indices of a first element, and a mask, or the type of a whole vector."""


def kept(function: Func, before: Func, module: Module | None = None) -> Func:
    """The function where, in blocks that a step has made or changed, loads of vectors take what was stored before them.

        store A[i], mask, x; y = load A[i], mask; z = f(y); store A[i], mask, z   ->   z = f(x); store A[i], mask, z
        store A[i], x; y = load A[i]; z = f(y); store A[i], z                     ->   z = f(x); store A[i], z

    That is where both have the same mask, or none and the same lanes, and nothing in the block between them may write
    to the buffer. Lanes which the mask leaves out are those that the load passes through. A store that another one
    replaces goes, if nothing between them may read the buffer.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9xf32>, %m: vector<4xi1>, %x: vector<4xf32>, %i: index) {
    ...     vector.maskedstore %A[%i], %m, %x : memref<9xf32>, vector<4xi1>, vector<4xf32>
    ...     %a = vector.maskedload %A[%i], %m, %x : memref<9xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    ...     %b = arith.addf %a, %x : vector<4xf32>
    ...     vector.maskedstore %A[%i], %m, %b : memref<9xf32>, vector<4xi1>, vector<4xf32>
    ...     return
    ... }''').functions[0]
    >>> print(kept(f, Func("g", (), ())))
    func.func @f(%A: memref<9xf32>, %m: vector<4xi1>, %x: vector<4xf32>, %i: index) {
      %a = arith.select %m, %x, %x : vector<4xi1>, vector<4xf32>
      %b = arith.addf %a, %x : vector<4xf32>
      vector.maskedstore %A[%i], %m, %b : memref<9xf32>, vector<4xi1>, vector<4xf32>
      return
    }
    """
    old = {id(op) for op in walk(before)}
    if not any(isinstance(op, _STORES) and id(op) not in old for op in walk(function)):
        return function
    storage = storage_of(function, module)
    values: dict[Value, Value] = {}
    return renamed(map_blocks(function, lambda block: _kept(block, old, storage, values)), values)


@dataclass
class _Stored:
    """What a place holds, and where in the new block it was stored, as long as nothing may have read it."""

    value: Value
    at: int | None


_STORES = (vector.MaskedStore, affine.VectorStore)


def _kept(block: Block, old: Set[int], storage: Storage, values: dict[Value, Value]) -> Block:
    new: list[Op | None] = []
    known: dict[Place, _Stored] = {}
    is_new = any(id(op) not in old for op in block)
    for each in block:
        op = each if id(each) in old else map_blocks(each, lambda inner: _kept(inner, old, storage, values))
        if isinstance(op, vector.MaskedLoad) and is_new:
            stored = known.get((op.memref, op.indices, op.mask))
            if stored is not None:
                new.append(arith.Select(op.result, op.mask, stored.value, op.pass_thru, location=op.location))
                continue
        if isinstance(op, affine.VectorLoad) and is_new:
            stored = known.get((op.memref, op.index, op.result.type))
            if stored is not None:
                values[op.result] = stored.value
                continue
        if isinstance(op, _STORES) and is_new:
            place = _place_of(op)
            if place in known and (at := known[place].at) is not None:
                new[at] = None
            _forget(known, op, storage)
            known[place] = _Stored(op.value, len(new))
        elif known:
            _forget(known, op, storage)
        new.append(op)
    made = tuple(op for op in new if op is not None)
    same = len(made) == len(block) and all(a is b for a, b in zip(made, block, strict=True))
    return block if same else made  # a block that is another one counts as changed


def _place_of(op: vector.MaskedStore | affine.VectorStore) -> Place:
    if isinstance(op, vector.MaskedStore):
        return op.memref, op.indices, op.mask
    return op.memref, op.index, op.value.type


def _forget(known: dict[Place, _Stored], op: Op, storage: Storage) -> None:
    """Leave out what an operation may write to, and remember that it may have read the others."""
    for inner in walk(op):
        does = effects(inner)
        if does.unknown and not inner.is_terminator:
            known.clear()
        for place in list(known):
            buffer = storage.buffer(place[0])
            if any(storage.may_alias(buffer, storage.buffer(other)) for other in (*does.writes, *does.frees)):
                del known[place]
            elif any(storage.may_alias(buffer, storage.buffer(other)) for other in does.reads):
                known[place].at = None
