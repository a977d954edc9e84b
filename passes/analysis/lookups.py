"""Loops that copy small elements out of a table, and do nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, walk
from affdsl.ir.types import FloatType, IntegerType, MemRefType, Type

BYTE = IntegerType(8)
BYTES = 256
"""How many different bytes there are: a table of as many has an element for each."""
_COPYING = (affine.Load, affine.Store, affine.Apply, memref.Load, memref.Store, arith.Constant)
_CASTS = ("index_cast", "index_castui", "extsi", "extui", "trunci")


def lookups(loop: affine.For | scf.For) -> int:
    """How many elements of 8 or 16 bits an iteration loads where other elements say; 0 where it does more than copy.

    C loads such elements into the lanes of a vector one by one, on all targets: that takes longer than storing the
    vector saves.

    >>> from affdsl.mlir.readers import parse
    >>> loop = parse('''func.func @f(%x: memref<9xi8>, %table: memref<256xi8>, %out: memref<9xi8>) {
    ...   affine.for %i = 0 to 9 {
    ...     %0 = affine.load %x[%i] : memref<9xi8>
    ...     %1 = arith.index_castui %0 : i8 to index
    ...     %2 = memref.load %table[%1] : memref<256xi8>
    ...     affine.store %2, %out[%i] : memref<9xi8>
    ...   }
    ...   return
    ... }''').functions[0].body[0]
    >>> lookups(loop)
    1
    """
    inside = [op for op in walk(loop) if op is not loop]
    if loop.results or not all(map(_copies, inside)):
        return 0
    found, loaded = 0, set[Value]()
    for op in inside:
        chosen = not loaded.isdisjoint(op.reads())
        if isinstance(op, memref.Load) and chosen and _is_small(op.result.type):
            found += 1
        if chosen or isinstance(op, affine.Load | memref.Load):
            loaded.update(op.defines())
    return found


def byte_of(load: memref.Load, makers: Mapping[Value, Op]) -> Value | None:
    """The byte that says which byte of a table a load takes: all that there are have a place in it.

        t[x]     where t has 256 elements of 8 bits, and x has 8 bits without a sign

    Parameters
    ----------
    makers
        The operations that make values, among them what makes the subscript.

    Returns
    -------
    Value or None
        None for any other load.
    """
    type = load.memref.type
    if not isinstance(type, MemRefType) or type.rank != 1 or type.layout is not None or type.element != BYTE:
        return None
    cast = makers.get(load.indices[0])
    if (type.shape[0] or 0) < BYTES or not isinstance(cast, arith.Cast) or cast.operand.type != BYTE:
        return None
    return cast.operand if cast.kind == "index_castui" else None


def are_of_bytes(loop: affine.For | scf.For) -> bool:
    """Whether all elements that data chooses in a loop are bytes of tables, chosen by bytes."""
    loads = [op for op in walk(loop) if isinstance(op, memref.Load)]
    makers = definitions(loop)
    return all(byte_of(op, makers) is not None for op in loads)


def _copies(op: Op) -> bool:
    return isinstance(op, _COPYING) or (isinstance(op, arith.Cast) and op.kind in _CASTS)


def _is_small(element: Type) -> bool:
    return isinstance(element, IntegerType | FloatType) and element.width <= 16
