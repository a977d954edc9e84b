"""Leaves out arrays that loops carry and hand on as they are."""

from __future__ import annotations

from functools import partial

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import rewrite, substitute, with_fields
from affdsl.ir.types import MemRefType


def without_carried_arrays(module: Module) -> Module:
    """The same program, where a loop that yields an array which it carries reads the array itself.

    That is what is left of loops over tensors when these have become buffers.

    >>> from affdsl.mlir.readers import parse
    >>> print(without_carried_arrays(parse('''func.func @f(%A: memref<8xf32>, %x: f32) {
    ...     %B = affine.for %i = 0 to 8 iter_args(%C = %A) -> (memref<8xf32>) {
    ...       affine.store %x, %C[%i] : memref<8xf32>
    ...       affine.yield %C : memref<8xf32>
    ...     }
    ...     memref.dealloc %B : memref<8xf32>
    ...     return
    ... }''')).functions[0])
    func.func @f(%A: memref<8xf32>, %x: f32) {
      affine.for %i = 0 to 8 {
        affine.store %x, %A[%i] : memref<8xf32>
      }
      memref.dealloc %A : memref<8xf32>
      return
    }
    """
    while True:
        same: dict[Value, Value] = {}
        fewer = rewrite(module, partial(_without, same=same))
        if not same:
            return module
        meant: dict[Value, Term] = {}
        for value in same:
            source = value
            while source in same:
                source = same[source]
            meant[value] = source
        module = substitute(fewer, meant)


def _without(op: Op, same: dict[Value, Value]) -> tuple[Op, ...] | None:
    """A loop without what it hands on as it is."""
    if not isinstance(op, affine.For | scf.For) or not op.carried:
        return None
    *body, end = op.body
    assert isinstance(end, affine.Yield | scf.Yield), "a loop that carries values ends so"
    kept = []
    for k, (carried, value) in enumerate(zip(op.carried, end.values, strict=True)):
        if value is not carried or not isinstance(carried.type, MemRefType):
            kept.append(k)
            continue
        same[carried] = same[op.results[k]] = op.inits[k]
    if len(kept) == len(op.carried):
        return None
    ends = (with_fields(end, values=tuple([end.values[k] for k in kept])),) if kept else ()
    fields = {name: tuple([getattr(op, name)[k] for k in kept]) for name in ("inits", "carried", "results")}
    return (with_fields(op, body=(*body, *ends), **fields),)
