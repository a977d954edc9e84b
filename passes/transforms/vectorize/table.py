"""Bytes of a table that bytes choose, in all lanes at once."""

from __future__ import annotations

from affdsl.ir.dialects import arith, memref, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions
from affdsl.ir.types import I1, INDEX
from affdsl.passes.analysis.lookups import BYTE, BYTES, byte_of
from affdsl.passes.transforms.vectorize.lanes import Lanes

MIDDLE = BYTES // 2


def places(at: Lanes, load: memref.Load) -> Value | None:
    """The bytes, of the iterations of a loop, that say which elements of a table a load takes; None for others."""
    return byte_of(load, definitions(at.loop))


def look_up(at: Lanes, load: memref.Load, places: Value) -> None:
    """The elements of a table in all lanes that run. An offset has a sign: it counts from the middle of the table."""
    middle, made = Value(INDEX), Value(at.vector_type(load.result), load.result.hint, load.result.location)
    at.emit(arith.Constant(middle, MIDDLE))
    offsets = at.binary("xori", at.vector(places), at.constant([-MIDDLE] * at.width, BYTE))
    mask = at.constant([True] * at.width, I1) if at.mask is None else at.mask
    nothing = at.constant([0] * at.width, BYTE)
    at.emit(vector.Gather(made, load.memref, (middle,), offsets, mask, nothing, location=load.location))
    at.define(load.result, made)
