"""Gives each iteration of a loop a buffer of its own, where it hands nothing on in the one that all share."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from affdsl.frozen import FrozenValue
from affdsl.ir.blocks import split_body
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import rewrite, substitute, with_fields
from affdsl.ir.types import MemRefType, Type
from affdsl.passes.analysis.dependence import Distance
from affdsl.passes.legality.proposals import Proposal, Step
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.legality.words import access_name, name
from affdsl.passes.transforms.buffer_flow import BufferFlow, Seen
from affdsl.passes.transforms.loops.nests import loop_of
from affdsl.passes.transforms.loops.pieces import defined_inside, ended


def privatize(function: func.Func, buffer: Value, iv: Value, *, module: func.Module | None = None) -> func.Func:
    """Let each iteration of a loop make a buffer that only it uses.

        t = alloc; for i: { t = S(i); T(i, t) }      ->      for i: { t = alloc; t = S(i); T(i, t) }

    That takes away the dependences which are there only because the iterations use the same elements again: each
    iteration may then run beside the others. Along dimensions where an iteration plainly uses a few elements only, its
    buffer has no more. It is given back at the end of the iteration, and comes from memref.alloc even where the one
    that was there is of memref.alloca: MLIR lowers a loop in such a way that the stack grows with each iteration. What
    uses the buffer outside of the loop keeps the one that was there.

    Parameters
    ----------
    buffer
        The memref that memref.alloc or memref.alloca gives. It is the one in the loop if that has the same type and
        nothing outside uses it; otherwise that is another one of the same name.
    iv
        The induction variable of the loop.
    module
        What the function stands in: it shows what calls do.

    Raises
    ------
    IllegalTransform
        If a read in the loop may see what its iteration has not written, if a read outside of the loop may see what the
        loop wrote: with the read and the write; or if the buffer is an argument, is returned, or gets to what is not
        known.

    References
    ----------
    Tu and Padua, "Automatic array privatization", LCPC 1993; Feautrier, "Dataflow analysis of array and scalar
    references", IJPP 20(1), 1991.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
    ...   %t = memref.alloca() : memref<f32>
    ...   affine.for %i = 0 to 9 {
    ...     %a = affine.load %A[%i] : memref<9xf32>
    ...     affine.store %a, %t[] : memref<f32>
    ...     %b = affine.load %t[] : memref<f32>
    ...     affine.store %b, %B[%i] : memref<9xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(privatize(f, f.body[0].result, f.body[1].iv))
    func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
      affine.for %i = 0 to 9 {
        %t = memref.alloc() : memref<f32>
        %a = affine.load %A[%i] : memref<9xf32>
        affine.store %a, %t[] : memref<f32>
        %b = affine.load %t[] : memref<f32>
        affine.store %b, %B[%i] : memref<9xf32>
        memref.dealloc %t : memref<f32>
      }
      return
    }
    """
    what = f"privatize {name(buffer)} in loop {name(iv)}"
    loop = loop_of(function, iv, what)
    flow = BufferFlow(function, buffer, loop, what, module)
    if not any(op in flow.inside for op in flow.users):
        raise refusal(loop, what, f"the loop {name(iv)} does not use {name(buffer)}")
    read_inside = {v for op in flow.inside for v in op.reads()}
    for op in flow.users:
        view = next((v for v in op.defines() if isinstance(v.type, MemRefType) and v in read_inside), None)
        if op not in flow.inside and view is not None:
            raise refusal(op, what, f"{name(view)} is a part of {name(buffer)} that is made outside of the loop")
    for seen in flow.seen_inside():
        if seen.sees_others or seen.distance not in (None, Distance(0, 0)):
            raise _refused(flow, seen, _why(flow, seen), buffer, iv)
    for seen in flow.seen_outside():
        if seen.sees_loop:
            assert seen.writer is not None
            reason = f"{access_name(seen.read)}, outside of the loop, sees what {access_name(seen.writer)} wrote"
            raise _refused(flow, seen, reason, buffer, iv)
    return _moved(function, flow)


def _why(flow: BufferFlow, seen: Seen) -> str:
    read = access_name(seen.read)
    if seen.distance is not None and seen.distance != Distance(0, 0):
        assert seen.writer is not None
        far = seen.distance.value
        iteration = f"iteration {name(flow.loop.iv)} - {far}" if far is not None else "other iterations"
        return f"{read} may see what {access_name(seen.writer)} wrote in {iteration}"
    if seen.writer is None:
        return f"{read} may see what its iteration has not written, nor anything before"
    if seen.writer.op in flow.inside and not seen.sees_loop:
        return f"{read} may see what {access_name(seen.writer)} wrote in another run of the loop"
    if seen.writer.op not in flow.inside:
        return f"{read} may see what {access_name(seen.writer)} wrote before the loop"
    return f"{read} may see what its iteration has not written"


def _refused(flow: BufferFlow, seen: Seen, reason: str, buffer: Value, iv: Value) -> IllegalTransform:
    """The refusal, with array expansion as what may be legal instead."""
    expanded = Proposal((Step("expand", (buffer, iv)),), asks_again=False)
    return flow.refusal(seen, reason, (expanded,))


class _Axis(FrozenValue):
    """What an iteration uses of a dimension: so many elements from `start` on."""

    start: Affine
    size: int


Axes: TypeAlias = tuple[_Axis | None, ...]


def _moved(function: func.Func, flow: BufferFlow) -> func.Func:
    made, loop = flow.made, flow.loop
    others = [op for op in flow.users if op not in flow.inside]
    is_only_here = all(isinstance(op, memref.Dealloc) for op in others)
    axes = _axes(flow)
    type = _smaller(made.result.type, axes)
    keeps_value = is_only_here and type == made.result.type
    own = made.result if keeps_value else Value(type, made.result.hint, made.result.location)
    body, values = split_body(loop.body)
    allocation = memref.Alloc(
        own, _sizes(made, axes), made.alignment, made.symbols, location=made.location, attributes=made.attributes
    )
    inner = [allocation, *(_using(op, flow, own, axes) for op in body), memref.Dealloc(own, location=made.location)]
    private = with_fields(loop, body=ended(inner, values, loop.body[-1]))

    def rule(op: Op) -> Op | tuple[Op, ...] | None:
        if is_only_here and (op is made or op in others):
            return ()
        return private if isinstance(op, affine.For) and op.iv is loop.iv else None

    return rewrite(function, rule)


def _axes(flow: BufferFlow) -> Axes:
    """What an iteration uses of each dimension, as far as the subscripts plainly say it; None is all of it."""
    type = flow.made.result.type
    assert isinstance(type, MemRefType)
    users = [op for op in flow.users if op in flow.inside]
    if type.layout is not None or not all(isinstance(op, affine.Load | affine.Store) for op in users):
        return (None,) * type.rank
    varying = defined_inside(flow.loop) - {flow.loop.iv}
    found: list[_Axis | None] = []
    for k, extent in enumerate(type.shape):
        subscripts = [op.index[k] for op in users if isinstance(op, affine.Load | affine.Store)]
        first = subscripts[0]
        away = [each - first for each in subscripts]
        axis = None
        if all(each.is_constant for each in away) and not any(v in varying for v in first.values()):
            low, high = min(e.constant for e in away), max(e.constant for e in away)
            if extent is None or high - low + 1 < extent:
                axis = _Axis(first + low, high - low + 1)
        found.append(axis)
    return tuple(found)


def _smaller(type: Type, axes: Axes) -> Type:
    assert isinstance(type, MemRefType)
    shape = tuple(e if axis is None else axis.size for e, axis in zip(type.shape, axes, strict=True))
    return replace(type, shape=shape)


def _sizes(made: memref.Allocation, axes: Axes) -> tuple[Value, ...]:
    """The sizes that are still known only at run time."""
    type = made.result.type
    assert isinstance(type, MemRefType)
    dynamic = [axis for extent, axis in zip(type.shape, axes, strict=True) if extent is None]
    return tuple(size for size, axis in zip(made.sizes, dynamic, strict=True) if axis is None)


def _using(op: Op, flow: BufferFlow, own: Value, axes: Axes) -> Op:
    """An operation of the body, and all inside, with the buffer of the iteration."""
    if all(axis is None for axis in axes):
        return substitute(op, {flow.made.result: own})

    def rule(inner: Op) -> Op | None:
        if not isinstance(inner, affine.Load | affine.Store) or inner.memref is not flow.made.result:
            return None
        index = tuple(e if a is None else e - a.start for e, a in zip(inner.index, axes, strict=True))
        return with_fields(inner, memref=own, index=index, written=None)

    changed = rewrite(op, rule)
    return rule(changed) or changed
