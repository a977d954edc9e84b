"""Lanes that are columns of a square are loaded as its rows, and turned in registers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op, roles
from affdsl.ir.dialects import affine, memref, vector
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.layouts import has_rows
from affdsl.ir.traverse import map_blocks, walk
from affdsl.ir.types import I1, MemRefType, VectorType
from affdsl.passes.analysis.effects import effects, may_do_anything
from affdsl.passes.analysis.storage import Storage, storage_of
from affdsl.passes.lowering.shuffles import turned

MOST = 16
"""How many rows are turned at most: all of them are in registers at once."""
DMAS = (affine.DmaStart, affine.DmaWait, memref.DmaStart, memref.DmaWait)
"""What begins and ends to write, in the background."""


def squares_turned(function: Func, before: Func, module: Module | None = None) -> Func:
    """The function where the copies of a body that a step has made load the columns of squares as rows.

        p = (A[i, j], A[i + 1, j]); B[j, i :+ 2] = p; q = (A[i, j + 1], A[i + 1, j + 1]); B[j + 1, i :+ 2] = q
            ->   r = A[i, j :+ 2]; s = A[i + 1, j :+ 2]
                 B[j, i :+ 2] = (r[0], s[0]); B[j + 1, i :+ 2] = (r[1], s[1])

    The lanes of a vector are loaded one by one where they lie in a column. As many such vectors of neighbouring columns
    as each has lanes are a square, which takes a load for each row, and shuffles. All that is loaded was loaded before,
    and nothing between the first and the last of these loads may write to the array. What stands in blocks that
    `before` has as well, stays.

    References
    ----------
    Eklundh, "A fast computer method for matrix transposing", IEEE Transactions on Computers 1972.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<2x2xf32>, %B: memref<2x2xf32>) {
    ...     %a = affine.load %A[0, 0] : memref<2x2xf32>
    ...     %b = affine.load %A[1, 0] : memref<2x2xf32>
    ...     %c = affine.load %A[0, 1] : memref<2x2xf32>
    ...     %d = affine.load %A[1, 1] : memref<2x2xf32>
    ...     %p = vector.from_elements %a, %b : vector<2xf32>
    ...     %q = vector.from_elements %c, %d : vector<2xf32>
    ...     affine.vector_store %p, %B[0, 0] : memref<2x2xf32>, vector<2xf32>
    ...     affine.vector_store %q, %B[1, 0] : memref<2x2xf32>, vector<2xf32>
    ...     return
    ... }''').functions[0]
    >>> print(squares_turned(f, Func("g", (), ())))
    func.func @f(%A: memref<2x2xf32>, %B: memref<2x2xf32>) {
      %0 = affine.vector_load %A[0, 0] : memref<2x2xf32>, vector<2xf32>
      %1 = affine.vector_load %A[1, 0] : memref<2x2xf32>, vector<2xf32>
      %p = vector.shuffle %0, %1 [0, 2] : vector<2xf32>, vector<2xf32>
      %q = vector.shuffle %0, %1 [1, 3] : vector<2xf32>, vector<2xf32>
      affine.vector_store %p, %B[0, 0] : memref<2x2xf32>, vector<2xf32>
      affine.vector_store %q, %B[1, 0] : memref<2x2xf32>, vector<2xf32>
      return
    }
    """
    old = {id(op) for op in walk(before)}
    found: list[Storage] = []

    def storage() -> Storage:
        if not found:
            found.append(storage_of(function, module))
        return found[0]

    def changed(block: Block) -> Block:
        if all(id(op) in old for op in block):
            return block
        inside = tuple(map_blocks(op, changed) if roles(type(op)).regions else op for op in block)
        for square in _squares(inside):
            if not _waits(square, inside, storage):
                inside = _turned(square, inside)
        return inside

    return map_blocks(function, changed)


class _Square(Frozen):
    """Vectors of lanes that are loaded one by one, each a column next to the one before."""

    columns: tuple[vector.FromElements, ...]
    loads: tuple[tuple[affine.Load, ...], ...]
    """Those of each column."""


def _squares(block: Block) -> Iterator[_Square]:
    """The squares that a block loads."""
    loads = {op.result: op for op in block if isinstance(op, affine.Load)}
    columns: dict[Hashable, dict[int, tuple[vector.FromElements, tuple[affine.Load, ...]]]] = defaultdict(dict)
    for op in block:
        if not isinstance(op, vector.FromElements) or not loads.keys() >= {*op.elements}:
            continue
        lanes = [loads[v] for v in op.elements]
        count, type, last = len(lanes), lanes[0].memref.type, lanes[0].index[-1:]
        made = op.result.type
        if not 2 <= count <= MOST or count & (count - 1) or not last or len({each.memref for each in lanes}) > 1:
            continue
        is_row = isinstance(made, VectorType) and made.rank == 1 and made.element != I1
        if not is_row or not isinstance(type, MemRefType) or not has_rows(type):
            continue
        start = last[0].constant
        rows = tuple([(*each.index[:-1], each.index[-1] - start) for each in lanes])
        if len({*rows}) == count and not _is_a_row(rows):
            columns[lanes[0].memref, rows].setdefault(start, (op, tuple(lanes)))
    for found in columns.values():
        waiting = sorted(found)
        while waiting:
            count = len(found[waiting[0]][1])
            some = [k for k in waiting[:count] if k - waiting[0] < count]
            if len(some) == count:
                ops, lanes_of_each = zip(*(found[k] for k in some), strict=True)
                yield _Square(ops, lanes_of_each)
            waiting = waiting[count if len(some) == count else 1 :]


def _is_a_row(rows: Sequence[tuple[Affine, ...]]) -> bool:
    """Whether lanes lie in one row."""
    return len({each[:-1] for each in rows}) == 1 and all((each[-1] - rows[0][-1]).is_constant for each in rows)


def _waits(square: _Square, block: Block, storage: Callable[[], Storage]) -> bool:
    """Whether what stands between the first and the last load may write to the array, or computes a subscript."""
    loads = {load for column in square.loads for load in column}
    at = [k for k, op in enumerate(block) if op in loads]
    array = square.loads[0][0].memref
    places = {v for load in square.loads[0] for e in load.index for v in e.values()}
    for op in block[at[0] : at[-1] + 1]:
        if not places.isdisjoint(op.defines()):
            return True
        for inner in walk(op):
            done = effects(inner)
            if may_do_anything(inner) or isinstance(inner, DMAS):
                return True
            if any(storage().may_share(v, array) for v in (*done.writes, *done.frees)):
                return True
    return False


def _turned(square: _Square, block: Block) -> Block:
    """The block with the rows of a square loaded where its first load stands, and turned."""
    first = square.loads[0]
    ops: list[Op] = []
    rows: list[Value] = []
    for load in first:
        rows.append(Value(square.columns[0].result.type, location=load.location))
        ops.append(affine.VectorLoad(rows[-1], load.memref, load.index, location=load.location))
    shuffles, _ = turned(rows, [op.result for op in square.columns])
    loads, gone = {load for column in square.loads for load in column}, {*square.columns}
    begin = next(k for k, op in enumerate(block) if op in loads)
    left = (*block[:begin], *ops, *shuffles, *(op for op in block[begin:] if op not in gone))
    read = {v for op in left for inner in walk(op) for v in inner.reads()}
    return tuple(op for op in left if op not in loads or op.result in read)
