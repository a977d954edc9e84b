"""Lanes that are columns of a square are loaded, or stored, as its rows, and turned in registers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from itertools import combinations

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op
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
Cell = affine.Load | affine.Store
DMAS = (affine.DmaStart, affine.DmaWait, memref.DmaStart, memref.DmaWait)
"""What begins and ends to write, in the background."""


def squares_turned(function: Func, before: Func, module: Module | None = None) -> Func:
    """The function where the copies of a body that a step has made load and store the columns of squares as rows.

        p = (A[i, j], A[i + 1, j]); B[j, i :+ 2] = p; q = (A[i, j + 1], A[i + 1, j + 1]); B[j + 1, i :+ 2] = q
            ->   r = A[i, j :+ 2]; s = A[i + 1, j :+ 2]
                 B[j, i :+ 2] = (r[0], s[0]); B[j + 1, i :+ 2] = (r[1], s[1])

    The lanes of a vector are loaded one by one where they lie in a column. As many such vectors of neighbouring columns
    as each has lanes are a square, which takes a load for each row, and shuffles. All that is loaded was loaded before,
    and nothing between the first and the last of these loads may write to what is loaded behind it. Columns whose lanes
    are stored one by one are stored as rows where the last lane was, if nothing on the way there touches them. What
    stands in blocks that `before` has as well, stays.

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
        inside = tuple(map_blocks(op, changed) if op.block_fields else op for op in block)
        for found in (_loaded, _stored):
            for square in _squares(found(inside)):
                if not _waits(square, inside, storage):
                    inside = _turned(square, inside)
        return inside

    return map_blocks(function, changed)


class _Column(Frozen):
    """A vector whose lanes are loaded one by one, or stored.

    Attributes
    ----------
    cells
        The loads or stores, by lane.
    """

    vector: Value
    cells: tuple[Cell, ...]

    @property
    def rows(self) -> tuple[tuple[Affine, ...], ...]:
        """Where the rows begin in which the lanes lie."""
        return tuple((*each.index[:-1], each.index[-1] - self.start) for each in self.cells)

    @property
    def start(self) -> int:
        """How far the lanes lie behind the begins of their rows."""
        return self.cells[0].index[-1].constant

    @property
    def is_of_rows(self) -> bool:
        """Whether the lanes lie in as many rows, of which each has more such lanes in one piece."""
        type, made = self.cells[0].memref.type, self.vector.type
        if not isinstance(made, VectorType) or made.rank != 1 or made.element == I1:
            return False
        if not isinstance(type, MemRefType) or not type.rank or not has_rows(type):
            return False
        count, rows = len(self.cells), self.rows
        if not 2 <= count <= MOST or count & (count - 1) or len({each.memref for each in self.cells}) > 1:
            return False
        if isinstance(self.cells[0], affine.Store):
            return all(_are_apart(a[:-1], b[:-1]) for a, b in combinations(rows, 2))  # those of one may overlap
        return len({*rows}) == count and not _is_a_row(rows)


Square = tuple[_Column, ...]
"""Columns next to each other, as many as each has lanes."""


def _loaded(block: Block) -> Iterator[_Column]:
    """The vectors of a block that are put together of lanes that it loads."""
    loads = {op.result: op for op in block if isinstance(op, affine.Load)}
    for op in block:
        if isinstance(op, vector.FromElements) and loads.keys() >= {*op.elements}:
            yield _Column(op.result, tuple(loads[v] for v in op.elements))


def _stored(block: Block) -> Iterator[_Column]:
    """The vectors of which a block stores each lane once."""
    lanes = {op.result: op for op in block if isinstance(op, vector.Extract) and not op.position}
    found: dict[Value, list[tuple[int, affine.Store]]] = defaultdict(list)
    for op in block:
        if isinstance(op, affine.Store) and op.value in lanes:
            lane = lanes[op.value]
            found[lane.source] += [(at, op) for at in lane.static_position if at is not None]
    for source, stores in found.items():
        cells = dict(stores)
        if len(stores) == len(cells) and isinstance(source.type, VectorType) and source.type.shape == (len(cells),):
            yield _Column(source, tuple(cells[k] for k in sorted(cells)))


def _squares(columns: Iterable[_Column]) -> Iterator[Square]:
    """The squares of which some vectors are the columns."""
    alike: dict[Hashable, dict[int, _Column]] = defaultdict(dict)
    for each in columns:
        if each.is_of_rows:
            alike[each.cells[0].memref, each.rows].setdefault(each.start, each)
    for found in alike.values():
        waiting = sorted(found)
        while waiting:
            count = len(found[waiting[0]].cells)
            some = [k for k in waiting[:count] if k - waiting[0] < count]
            if len(some) == count:
                yield tuple(found[k] for k in some)
            waiting = waiting[count if len(some) == count else 1 :]


def _is_a_row(rows: Sequence[tuple[Affine, ...]]) -> bool:
    """Whether lanes lie in one row."""
    return len({each[:-1] for each in rows}) == 1 and all((each[-1] - rows[0][-1]).is_constant for each in rows)


def _are_apart(a: Sequence[Affine], b: Sequence[Affine]) -> bool:
    """Whether two elements are never the same one: in some dimension, the same number of elements is between them."""
    apart = [one - other for one, other in zip(a, b, strict=True)]
    return any(each.is_constant and each.constant for each in apart)


def _waits(square: Square, block: Block, storage: Callable[[], Storage]) -> bool:
    """Whether a load cannot move to the first one of a square, or a store to the last one, past what stands between."""
    cells = {cell: None for column in square for cell in column.cells}
    at = [k for k, op in enumerate(block) if op in cells]
    is_stored = isinstance(square[0].cells[0], affine.Store)
    array = square[0].cells[0].memref
    places = {v for cell in square[0].cells for e in cell.index for v in e.values()}
    for k in range(at[0], at[-1] + 1):
        op = block[k]
        if op in cells:
            continue
        if not is_stored and not places.isdisjoint(op.defines()):
            return True
        moved = [block[m] for m in at if (m < k if is_stored else m > k)]
        for inner in walk(op):
            done = effects(inner)
            if may_do_anything(inner) or isinstance(inner, DMAS):
                return True
            touched = (*done.writes, *done.frees, *(done.reads if is_stored else ()))
            if any(storage().may_share(v, array) for v in touched) and not _is_beside(inner, array, moved):
                return True
    return False


def _is_beside(op: Op, array: Value, cells: Sequence[Op]) -> bool:
    """Whether an access touches other elements of an array than some loads or stores."""
    if not isinstance(op, affine.Access) or op.memref is not array:
        return False
    touched = op.result if isinstance(op, affine.Load | affine.VectorLoad) else op.value
    dims = len(op.index) - (touched.type.rank if isinstance(touched.type, VectorType) else 0)
    return all(isinstance(each, Cell) and _are_apart(op.index[:dims], each.index[:dims]) for each in cells)


def _turned(square: Square, block: Block) -> Block:
    """The block with the rows of a square where its first load stands, or its last store, and turned."""
    cells = {cell: None for column in square for cell in column.cells}
    vectors, first = [column.vector for column in square], square[0]
    rows = [Value(vectors[0].type, location=cell.location) for cell in first.cells]
    at = [k for k, op in enumerate(block) if op in cells]
    left: Block
    if isinstance(first.cells[0], affine.Store):
        stores = [
            affine.VectorStore(row, cell.memref, cell.index, location=cell.location)
            for row, cell in zip(rows, first.cells, strict=True)
        ]
        left = (*block[: at[-1]], *turned(vectors, rows)[0], *stores, *block[at[-1] + 1 :])
        gone: Collection[Op] = cells
        unread: Collection[Value] = {cell.value for cell in cells if isinstance(cell, affine.Store)}
    else:
        loads = [
            affine.VectorLoad(row, cell.memref, cell.index, location=cell.location)
            for row, cell in zip(rows, first.cells, strict=True)
        ]
        left = (*block[: at[0]], *loads, *turned(rows, vectors)[0], *block[at[0] :])
        gone = {op for op in block if isinstance(op, vector.FromElements) and op.result in vectors}
        unread = {cell.result for cell in cells if isinstance(cell, affine.Load)}
    left = tuple(op for op in left if op not in gone)
    read = {v for op in left for inner in walk(op) for v in inner.reads()}
    return tuple(op for op in left if not any(v in unread and v not in read for v in op.defines()))
