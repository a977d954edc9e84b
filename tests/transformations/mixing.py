"""Makes every order of accesses show: the same program with arithmetic that neither commutes nor forgets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, memref, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import map_blocks, rewrite, substitute, with_fields
from affdsl.ir.types import INDEX, IntegerType, Type, VectorType
from tests.passes.analysis.traced import ivs_of, loops_around

I64 = IntegerType(64)
LEFT, RIGHT = 2654435761, 2246822519
"""Odd numbers: multiplied by them, no two numbers become one."""
Store = affine.Store | affine.VectorStore | memref.Store
_STORES = (affine.Store, affine.VectorStore, memref.Store)
_LOADS = (affine.Load, affine.VectorLoad, memref.Load)


def mixed(function: func.Func, *, remembers: bool = False) -> func.Func:
    """The function with the same loops and accesses, and other arithmetic on i64.

    Each operation on two numbers becomes LEFT * left + RIGHT * right. Each store stores its value times LEFT, and a
    stamp of the statement and the iteration in the bits: so all stores of a run store different numbers.

    remembers
        Each store also mixes in what it overwrites and what was loaded before it in its block, so that an element
        shows all that ever happened to it. The loads for that are of elements that the same execution writes: what
        orders are legal stays the same.

    >>> from affdsl.mlir.readers import parse
    >>> print(mixed(parse('''func.func @f(%A: memref<9xi64>, %x: i64) {
    ...     affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xi64> }
    ...     return
    ... }''').functions[0]))
    func.func @f(%A: memref<9xi64>, %x: i64) {
      affine.for %i = 0 to 9 {
        %0 = affine.apply affine_map<(d0) -> (d0 * 1009 + 1000003)>(%i)
        %1 = arith.index_cast %0 : index to i64
        %c2654435761_i64 = arith.constant 2654435761 : i64
        %2 = arith.muli %x, %c2654435761_i64 : i64
        %3 = arith.xori %2, %1 : i64
        affine.store %3, %A[%i] : memref<9xi64>
      }
      return
    }
    """
    around = loops_around(function)
    stores = {op: number for number, op in enumerate((op for op in around if isinstance(op, _STORES)), 1)}
    # The counter of an scf.for is no dim: it may not stand in affine.apply.
    dims = {iv for op in around if isinstance(op, affine.For | affine.Parallel) for iv in ivs_of(op)}

    def combined(op: arith.Binary) -> list[Op]:
        first, left = _times(op.left, LEFT)
        second, right = _times(op.right, RIGHT)
        return [*first, *second, arith.Binary(op.result, "addi", left, right)]

    def stored(op: Store, loaded: Sequence[Value]) -> list[Op]:
        ops, value = _stamp(stores[op], [iv for iv in around[op] if iv in dims], op.value.type)
        for k, each in enumerate((op.value, *loaded)):
            product, factor = _times(each, LEFT + 2 * k)
            ops += product
            old, value = value, Value(op.value.type)
            ops.append(arith.Binary(value, "xori", factor, old))
        return [*ops, with_fields(op, value=value)]

    def on_block(block: Block) -> Block:
        made: list[Op] = []
        loaded: list[Value] = []
        for op in block:
            if isinstance(op, arith.Binary) and _is_i64(op.result.type):
                made += combined(op)
            elif isinstance(op, _STORES) and _is_i64(op.value.type):
                if remembers:
                    made.append(_load_of(op))
                    loaded.append(next(iter(made[-1].defines())))
                made += stored(op, [v for v in loaded if v.type == op.value.type])
                loaded = [v for v in loaded if v.type != op.value.type]
            else:
                made.append(map_blocks(op, on_block))
                if remembers and isinstance(op, _LOADS):
                    loaded.append(op.result)
        return tuple(made)

    return map_blocks(function, on_block)


def _load_of(op: Store) -> Op:
    """A load of what a store overwrites."""
    match op:
        case memref.Store():
            return memref.Load(Value(op.value.type), op.memref, op.indices)
        case affine.VectorStore():
            return affine.VectorLoad(Value(op.value.type), op.memref, op.index)
        case affine.Store():
            return affine.Load(Value(op.value.type), op.memref, op.index)


def _is_i64(type: Type) -> bool:
    return type == I64 or (isinstance(type, VectorType) and type.element == I64)


def _times(value: Value, factor: int) -> tuple[list[Op], Value]:
    """What multiplies a number or the lanes of a vector, and the product."""
    by, product = Value(value.type), Value(value.type)
    return [arith.Constant(by, factor), arith.Binary(product, "muli", value, by)], product


def _stamp(number: int, ivs: Sequence[Value], type: Type) -> tuple[list[Op], Value]:
    """What computes a number of its own for each execution of a statement, and that number."""
    expr = sum((iv * 1009 ** (k + 1) for k, iv in enumerate(ivs)), Affine.of(1_000_003 * number))
    index, stamp = Value(INDEX), Value(I64)
    ops: list[Op] = [affine.Apply(index, expr), arith.Cast(stamp, "index_cast", index)]
    if type == I64:
        return ops, stamp
    lanes = Value(type)
    return [*ops, vector.Broadcast(lanes, stamp)], lanes


def on_integers(text: str) -> str:
    """A module whose elements are f32 as one whose elements are i64."""
    text = re.sub(r"\b1\.0 : f32", "1 : i64", text)
    return re.sub(r"\bf32\b|(?<=x)f32\b", "i64", text)


def with_numbers(function: func.Func, known: Mapping[Value, int]) -> func.Func:
    """The function where some index arguments are numbers, in affine expressions too."""
    values = {argument: Value(INDEX) for argument in known}
    numbers = {argument: Affine.of(number) for argument, number in known.items()}

    def leaf(op: Op) -> Op | None:
        if any(True for _ in op.blocks()):
            return None
        try:
            return substitute(op, numbers)
        except ValueError:  # an operand that is no affine expression
            return substitute(op, values)

    made: func.Func = rewrite(function, leaf)
    made = rewrite(made, lambda op: substitute(op, numbers) if any(True for _ in op.blocks()) else None)
    constants = [arith.Constant(values[argument], number) for argument, number in known.items()]
    return with_fields(made, body=(*constants, *made.body))


def shown(function: func.Func) -> func.Func:
    """The function that also gives back the buffers that it makes outside of loops, so that their elements show."""
    made = tuple(op.result for op in function.body if isinstance(op, memref.Alloc))
    body = [op for op in function.body if not (isinstance(op, memref.Dealloc) and op.memref in made)]
    returned = body.pop().values if body and isinstance(body[-1], func.Return) else ()
    body.append(func.Return((*returned, *made)))
    return with_fields(function, body=tuple(body), result_types=(*function.result_types, *(v.type for v in made)))
