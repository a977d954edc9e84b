"""Gives a buffer a new dimension, so that each iteration of a loop has a slice of it (array expansion)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import map_blocks, rewrite, walk, with_fields
from affdsl.ir.types import INDEX, MemRefType
from affdsl.passes.analysis.trip_count import TripCount, trip_count
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import access_name, name
from affdsl.passes.transforms.buffer_flow import BufferFlow, Seen
from affdsl.passes.transforms.loops.nests import loop_of
from affdsl.passes.transforms.loops.pieces import visible_before

Accessing = affine.Access | memref.Load | memref.Store
"""The operations on a buffer that can get one more index."""


def expand(function: func.Func, buffer: Value, iv: Value, *, module: func.Module | None = None) -> func.Func:
    """Let each iteration of a loop use a slice of its own of a buffer that the function makes.

        t = alloc [m]; for i < n: { t[..] = S(i); T(t[..]) }; U(t[..])
            ->      t = alloc [n, m]; for i < n: { t[i, ..] = S(i); T(t[i, ..]) }; U(t[n - 1, ..])

    A read that always sees what the iteration d before wrote reads the slice d before its own; where the first
    iteration sees what was there before the loop, that gets a slice before all others. What stands behind the loop uses
    the last slice. A buffer of memref.alloca, on the stack, becomes one of memref.alloc. A buffer that each iteration
    makes for itself is made once, before the loop. All that takes away the dependences which are there only because
    iterations use the same elements again.

    Parameters
    ----------
    buffer
        The memref that memref.alloc or memref.alloca gives. It becomes one of another type, with the name of this one.
    iv
        The induction variable of the loop.
    module
        What the function stands in: it shows what calls do.

    Raises
    ------
    IllegalTransform
        If a read may see what different iterations wrote: with the read; if the buffer is an argument, is returned, or
        used otherwise than by loads and stores; or if the loop has several lower bounds, or a size that is not known
        where the buffer is made.

    References
    ----------
    Feautrier, "Array expansion", ICS 1988.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
    ...   %t = memref.alloc() : memref<f32>
    ...   affine.for %i = 0 to 9 {
    ...     %a = affine.load %A[%i] : memref<9xf32>
    ...     affine.store %a, %t[] : memref<f32>
    ...     %b = affine.load %t[] : memref<f32>
    ...     affine.store %b, %B[%i] : memref<9xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(expand(f, f.body[0].result, f.body[1].iv))
    func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
      %t = memref.alloc() : memref<9xf32>
      affine.for %i = 0 to 9 {
        %a = affine.load %A[%i] : memref<9xf32>
        affine.store %a, %t[%i] : memref<9xf32>
        %b = affine.load %t[%i] : memref<9xf32>
        affine.store %b, %B[%i] : memref<9xf32>
      }
      return
    }
    """
    what = f"expand {name(buffer)} by loop {name(iv)}"
    function = _made_before(function, buffer, loop_of(function, iv, what), what)
    loop = loop_of(function, iv, what)
    flow = BufferFlow(function, buffer, loop, what, module)
    if not any(op in flow.inside for op in flow.users):
        raise refusal(loop, what, f"the loop {name(iv)} does not use {name(buffer)}")
    _require_plain(flow, what)
    if len(loop.lower) > 1:
        raise refusal(loop, what, f"{name(iv)} begins at the largest of several numbers")
    order = flow.dependences.accesses.order
    inside = {seen.read.op: seen for seen in flow.seen_inside()}
    for seen in inside.values():
        _require_one_slice(seen, flow)
    outside = [op for op in flow.users if op not in flow.inside and not isinstance(op, memref.Dealloc)]
    count = trip_count(loop, iv, flow.dependences.accesses)
    has_start = any(s.sees_others for s in inside.values()) or (bool(outside) and not count.runs)
    if has_start or outside:
        _require_one_run(flow, what)
    for seen in flow.seen_outside():
        if order[seen.read.op] > order[loop]:
            _require_last(seen, what)
    distances = {op: _iterations(seen, loop) for op, seen in inside.items()}
    return _Expansion(flow, count, int(has_start), distances, what).done()


def _made_before(function: func.Func, buffer: Value, loop: affine.For, what: str) -> func.Func:
    """The function with a buffer made before a loop, where each iteration of that makes one for itself."""
    made = next((op for op in walk(loop) if isinstance(op, memref.Allocation) and op.result is buffer), None)
    if made is None:
        return function
    frees = [op for op in walk(loop) if isinstance(op, memref.Dealloc) and op.memref is buffer]
    makers = _moved(function, made, loop, what)

    def without(op: Op) -> Op | Iterable[Op] | None:
        return () if op in makers or op in frees else None

    def around(op: Op) -> Op | Iterable[Op] | None:
        if isinstance(op, affine.For) and op.iv is loop.iv:
            return (*makers, op, *frees[:1])
        return None

    return rewrite(rewrite(function, without), around)


def _moved(function: func.Func, made: memref.Allocation, loop: affine.For, what: str) -> list[Op]:
    """What makes a buffer, after what computes its sizes, so that it can stand before a loop."""
    visible = visible_before(function, loop)
    computed = {
        v: op for op in walk(loop) if isinstance(op, affine.Apply | affine.Max | affine.Min) for v in op.defines()
    }
    makers: list[Op] = []

    def need(op: Op) -> None:
        for value in op.reads():
            if value in visible:
                continue
            if value not in computed:
                raise refusal(made, what, f"how large {name(made.result)} is, is only known inside")
            if computed[value] not in makers:
                need(computed[value])
        makers.append(op)

    need(made)
    return makers


def _require_plain(flow: BufferFlow, what: str) -> None:
    """Refuse what uses the buffer otherwise than element by element."""
    type = flow.made.result.type
    if not isinstance(type, MemRefType) or type.layout is not None:
        raise refusal(flow.made, what, f"{name(flow.made.result)} has a layout of its own")
    for op in flow.users:
        if not isinstance(op, Accessing | memref.Dealloc):
            raise refusal(op, what, f"{op_name(op)} uses {name(flow.made.result)} otherwise than element by element")


def _require_one_slice(seen: Seen, flow: BufferFlow) -> None:
    """Refuse a read in the loop that may see what iterations at different distances wrote, or something older."""
    read, distance = access_name(seen.read), seen.distance
    if distance is not None and distance.value is None:
        assert seen.writer is not None
        reason = f"{read} sees what {access_name(seen.writer)} wrote in iterations at different distances: {distance}"
        raise flow.refusal(seen, reason)
    if not seen.sees_others or (seen.others_first_only and (distance is None or distance.value == flow.loop.step)):
        return
    when = "and not only in the first iteration" if not seen.others_first_only else "or what the loop wrote"
    raise refusal(seen.read.op, flow.what, f"{read} may see what was there before the loop, {when}")


def _iterations(seen: Seen, loop: affine.For) -> int:
    """From how many iterations before its own is what a read sees; one, if only from before the loop."""
    return 1 if seen.distance is None or seen.distance.value is None else seen.distance.value // loop.step


def _require_one_run(flow: BufferFlow, what: str) -> None:
    """Refuse a buffer in which something stays from one run of the loop to the next."""
    if not _share_block(flow):
        buffer, loop = name(flow.made.result), name(flow.loop.iv)
        reason = f"{buffer} holds something before or behind the loop {loop}, and is not made in the same block"
        raise refusal(flow.made, what, reason)


def _share_block(flow: BufferFlow) -> bool:
    """Whether the buffer is made in the block where the loop stands, so that each run of the loop has its own."""
    return any(flow.made in block and flow.loop in block for op in walk(flow.function) for block in op.blocks())


def _require_last(seen: Seen, what: str) -> None:
    """Refuse a read behind the loop that may see more than what the last iteration wrote."""
    read = access_name(seen.read)
    if not seen.loop_last_only:
        assert seen.writer is not None
        reason = f"{read}, behind the loop, may see what {access_name(seen.writer)} wrote before the last iteration"
        raise refusal(seen.read.op, what, reason)
    if not seen.earlier_not_run:
        raise refusal(seen.read.op, what, f"{read}, behind the loop, may see what was there before it")


class _Expansion(Frozen):
    """What is needed to rewrite the function. `start` is 1 if the first slice is what was there before the loop."""

    flow: BufferFlow
    count: TripCount
    start: int
    distances: Mapping[Op, int]
    """Of each read in the loop: from how many iterations before it is what it sees."""
    what: str

    def done(self) -> func.Func:
        flow, made, loop = self.flow, self.flow.made, self.flow.loop
        order = flow.dependences.accesses.order
        size = self._size()
        visible = visible_before(flow.function, made)
        stays = all(v in visible for v in size.values())
        if not stays and any(order[op] < order[loop] for op in self._accesses()):
            reason = f"how often {name(loop.iv)} runs is not known where {name(made.result)} is made"
            raise refusal(made, self.what, reason)
        is_shared = _share_block(flow)
        makes, new = self._made(size, is_shared)
        slices = {op: self._slice(op, makes) for op in self._accesses()}
        frees = not stays and not is_shared

        def rule(op: Op) -> Op | Iterable[Op] | None:
            if op is made:
                return makes if stays else ()
            if op in slices:
                return _with_slice(op, new, slices[op])
            if isinstance(op, memref.Dealloc) and op in flow.users:
                return () if frees else with_fields(op, memref=new)
            if isinstance(op, affine.For) and op.iv is loop.iv and not stays:
                return (*makes, op, *((memref.Dealloc(new, location=made.location),) if frees else ()))
            return None

        done = rewrite(flow.function, rule)
        is_on_stack = isinstance(made, memref.Alloca)
        return _freed(done, makes[-1], new) if is_on_stack and not frees else done

    def _accesses(self) -> tuple[Op, ...]:
        return tuple(op for op in self.flow.users if not isinstance(op, memref.Dealloc))

    def _size(self) -> Affine:
        """At least how often the loop runs, where that is not negative, and the slice at the start."""
        number = self.count.number if len(self.count.exprs) == 1 else self.count.high
        if number is not None:
            return Affine.of(number + self.start)
        if not self.count.exprs:
            raise refusal(self.flow.loop, self.what, f"how often {name(self.flow.loop.iv)} runs is not known")
        return self.count.exprs[0] + self.start

    def _made(self, size: Affine, is_shared: bool) -> tuple[tuple[Op, ...], Value]:
        """What makes the new buffer; a size that is known only at run time is the result of the first operation."""
        made = self.flow.made
        type, place = made.result.type, made.location
        assert isinstance(type, MemRefType)
        number = size.constant if size.is_constant else None
        new = Value(replace(type, shape=(number, *type.shape)), made.result.hint, made.result.location)
        if number is not None:
            return (memref.Alloc(new, made.sizes, made.alignment, location=place),), new
        count = Value(INDEX, f"{self.flow.loop.iv.hint}_count" if self.flow.loop.iv.hint else "")
        computed: Op = affine.Apply(count, size, location=place)
        if self.count.may_be_negative or not is_shared:  # elsewhere less may be known than where the loop is reached
            computed = affine.Max(count, (size, Affine.of(self.start)), location=place)
        return (computed, memref.Alloc(new, (count, *made.sizes), made.alignment, location=place)), new

    def _slice(self, op: Op, makes: Sequence[Op]) -> Affine:
        """Which slice an access touches."""
        loop = self.flow.loop
        if op in self.flow.inside:
            return (loop.iv - loop.lower[0]) // loop.step + (self.start - self.distances.get(op, 0))
        order = self.flow.dependences.accesses.order
        if order[op] < order[loop]:
            return Affine()
        if self.count.expr is not None:
            return self.count.expr - 1 + self.start
        (size,) = makes[0].defines()
        # Only what is computed outside of all loops and conditions may stand in an index.
        is_symbol = len(makes) == 2 and self.flow.made in self.flow.function.body
        if not is_symbol or len(self.count.exprs) > 1:
            reason = f"how often {name(loop.iv)} runs is no one affine expression, so its last slice cannot be named"
            raise refusal(op, self.what, reason)
        return size - 1


def _with_slice(op: Op, new: Value, slice: Affine) -> Iterable[Op]:
    """An access to one slice of the new buffer."""
    if isinstance(op, memref.Load | memref.Store):
        if slice.value is not None:
            return (with_fields(op, memref=new, indices=(slice.value, *op.indices)),)
        computed = Value(INDEX)
        maker = affine.Apply(computed, slice, location=op.location)
        return (maker, with_fields(op, memref=new, indices=(computed, *op.indices)))
    assert isinstance(op, affine.Access)
    return (with_fields(op, memref=new, index=(slice, *op.index), written=None),)


def _freed(function: func.Func, maker: Op, buffer: Value) -> func.Func:
    """The function with a buffer given back at the end of the block where it is made."""

    def on_block(block: Block) -> Block:
        if maker not in block:
            return tuple(map_blocks(op, on_block) for op in block)
        end = len(block) - bool(block[-1].is_terminator)
        return (*block[:end], memref.Dealloc(buffer, location=maker.location), *block[end:])

    return map_blocks(function, on_block)
