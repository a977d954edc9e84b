"""Loops that hand on several integers of one array, of which gcc 12 makes vectors, and some of them wrong.

Each iteration loads and stores several elements at places that do not move with it. Without its vectorizer of loops
gcc is right; what the vectorizer takes wrong is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import IndexType, IntegerType

_Element = tuple[Value, tuple[object, ...]]
_ACCESSES = (affine.Load, affine.Store, memref.Load, memref.Store)
_STORES = (affine.Store, memref.Store)


def hands_on_integers(loop: affine.For | scf.For) -> bool:
    """Whether a loop without others inside loads and stores several integers of one array, always the same ones.

    >>> from affdsl.mlir.readers import parse
    >>> loop = parse('''func.func @f(%A: memref<4xi32>, %x: i32) {
    ...   affine.for %i = 0 to 8 {
    ...     %a = affine.load %A[0] : memref<4xi32>
    ...     %b = affine.load %A[1] : memref<4xi32>
    ...     affine.store %b, %A[0] : memref<4xi32>
    ...     affine.store %a, %A[1] : memref<4xi32>
    ...   }
    ...   return
    ... }''').functions[0].body[0]
    >>> hands_on_integers(loop)
    True
    """
    inside = [op for each in loop.body for op in walk(each)]
    if any(isinstance(op, affine.For | scf.For | scf.While | affine.Parallel | scf.Parallel) for op in inside):
        return False
    made = {loop.iv, *loop.carried, *(v for op in inside for v in op.defines())}
    loaded, stored = set[_Element](), set[_Element]()
    for op, element in _still(inside, made):
        (stored if isinstance(op, _STORES) else loaded).add(element)
    return any(count > 1 for count in Counter(array for array, _ in loaded & stored).values())


def _still(ops: list[Op], made: set[Value]) -> Iterator[tuple[Op, _Element]]:
    """The accesses to integers at places that no value of the loop says, and what they touch."""
    for op in ops:
        if isinstance(op, _ACCESSES) and made.isdisjoint(_says(op)):
            element = op.value if isinstance(op, _STORES) else op.result
            if isinstance(element.type, IntegerType | IndexType):
                yield op, (op.memref, tuple(op.index if isinstance(op, affine.Load | affine.Store) else op.indices))


def _says(op: affine.Load | affine.Store | memref.Load | memref.Store) -> set[Value]:
    """The values that say which element an access touches."""
    if isinstance(op, affine.Load | affine.Store):
        return {op.memref, *(v for e in op.index for v in e.values())}
    return {op.memref, *op.indices}
