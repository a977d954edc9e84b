"""Lets a buffer begin half a page away from an array, so that its loads do not wait for stores to that array."""

from __future__ import annotations

from dataclasses import replace

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import rewrite, walk, with_fields
from affdsl.ir.types import INDEX, MemRefType
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name

PAGE = 4 << 10
"""How many bytes apart addresses are that a core takes for the same at first."""
LINE = 64
"""How many bytes a line of the cache has: the buffer begins with one."""


def displace(function: Func, buffer: Value, array: Value, *, module: Module | None = None) -> Func:
    """Let a buffer of one dimension begin half a page behind an array, wherever that lies in its page.

        t = alloc [n];  B[i][j] = S(t[j])   ->   t = alloc [n + 1024], on a page;  B[i][j] = S(t[j + s])

    A core lets a load wait for a store before it whose address ends in the same 12 bits, until it knows that the other
    bits are others. So a loop that loads vectors of a buffer waits in each iteration, if the buffer begins a few lines
    in front of the array that the loop stores to, in some other page. Only a run knows where the array lies, so `s` is
    computed of its address, before all loops; it is a whole number of lines. Rows of the array that are whole pages all
    lie as the first one does. All runs in the order in which it did.

    Parameters
    ----------
    buffer
        The memref that memref.alloc gives, of one dimension. It becomes one of another type.
    array
        The array, an argument of the function.
    module
        What the function stands in. Nothing is asked of it here.

    Raises
    ------
    IllegalTransform
        If the buffer is none that memref.alloc makes, has several dimensions, elements of which no whole number is a
        line, or says how it is aligned; if it is used otherwise than by affine loads and stores; or if the array is no
        argument.

    References
    ----------
    Intel 64 and IA-32 Architectures Optimization Reference Manual, "Memory disambiguation": aliasing of 4 KiB.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%B: memref<64xf32>, %x: f32) {
    ...   %t = memref.alloc() : memref<64xf32>
    ...   affine.store %x, %t[9] : memref<64xf32>
    ...   memref.dealloc %t : memref<64xf32>
    ...   return
    ... }''').functions[0]
    >>> print(displace(f, f.body[0].result, f.args[0]))
    func.func @f(%B: memref<64xf32>, %x: f32) {
      %B_at = memref.extract_aligned_pointer_as_index %B : memref<64xf32> -> index
      %t_from = affine.apply affine_map<()[s0] -> (((s0 floordiv 64 + 32) mod 64) * 16)>()[%B_at]
      %t = memref.alloc() {alignment = 4096 : i64} : memref<1088xf32>
      affine.store %x, %t[%t_from + 9] : memref<1088xf32>
      memref.dealloc %t : memref<1088xf32>
      return
    }
    """
    what = f"let {name(buffer)} begin half a page away from {name(array)}"
    made = next((op for op in walk(function) if isinstance(op, memref.Alloc) and op.result is buffer), None)
    if made is None:
        raise refusal(function, what, f"@{function.symbol} does not make {name(buffer)} by memref.alloc")
    type = buffer.type
    assert isinstance(type, MemRefType)
    if type.rank != 1 or type.layout is not None or made.alignment is not None:
        raise refusal(made, what, f"{name(buffer)} has other than one dimension, or says where it lies")
    size = width_of(type.element)
    if not size or LINE % size:
        raise refusal(made, what, f"a line of {LINE} bytes is no whole number of elements of {name(buffer)}")
    if array not in function.args or not isinstance(array.type, MemRefType):
        raise refusal(made, what, f"{name(array)} is no argument that is an array: only its maker knows where it lies")
    for op in walk(function):
        if op is not made and buffer in op.mentions() and not isinstance(op, affine.Access | memref.Dealloc):
            raise refusal(op, what, f"{op_name(op)} uses {name(buffer)} otherwise than by affine loads and stores")
    at, first = Value(INDEX, f"{array.hint or 'array'}_at"), Value(INDEX, f"{buffer.hint or 'buffer'}_from")
    behind = (Affine.of(at) + PAGE // 2) % PAGE // LINE * (LINE // size)
    before = (
        memref.ExtractAlignedPointerAsIndex(at, array, location=made.location),
        affine.Apply(first, behind, location=made.location),
    )
    (whole,) = type.shape
    new = Value(replace(type, shape=(None if whole is None else whole + PAGE // size,)), buffer.hint, buffer.location)
    longer = affine.Apply(Value(INDEX, "size"), Affine.of(made.sizes[0]) + PAGE // size) if whole is None else None

    def rule(op: Op) -> Op | tuple[Op, ...] | None:
        if op is made:
            allocated = with_fields(made, result=new, alignment=PAGE)
            return allocated if longer is None else (longer, with_fields(allocated, sizes=(longer.result,)))
        if isinstance(op, affine.Access) and op.memref is buffer:
            return with_fields(op, memref=new, index=(op.index[0] + first,), written=None)
        return with_fields(op, memref=new) if isinstance(op, memref.Dealloc) and op.memref is buffer else None

    changed = rewrite(function, rule)
    return with_fields(changed, body=(*before, *changed.body))
