"""Starts the DMAs that bring data into a loop one iteration early, into the other half of a doubled buffer."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.blocks import split_body
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import clone_block, like, likes, map_blocks, substitute, walk, with_fields
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.trip_count import trip_count
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import counted, loop_of
from affdsl.passes.transforms.loops.unrolling import constant_trips
from affdsl.passes.transforms.pipeline_data_transfer.transfers import Incoming, early


def pipeline_data_transfer(function: Func, iv: Value, *, module: Module | None = None) -> Func:
    """Let the DMAs that bring data into a loop start one iteration early.

        for i: { start(i); wait(i); S(i) }      ->      start(first)
                                                        for i from the second on: { start(i); wait(i - 1); S(i - 1) }
                                                        wait(last); S(last)

    The buffer and the tag of such a DMA get a first dimension of 2, of which the iterations use one half and the other
    in turn. It is done for all DMAs to a memory space of a higher number whose data an iteration uses for itself: that
    is, whatever it reads of the buffer its own DMA brought, and nothing outside of the loop uses the buffer. Where it
    is not known that the loop runs, what stands before and behind it is guarded.

    Refuses if there is no such DMA: where one may read what the iteration before writes, where its data or its tag are
    used in other ways, where the loop runs once at most, or has several bounds and no known number of iterations.

    Parameters
    ----------
    iv
        The induction variable of the loop.
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        With what is in the way of the first DMA.

    References
    ----------
    Lam, "Software pipelining", PLDI 1988; Dathathri et al., "Generating efficient data movement code", PACT 2013.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9x8xf32>, %n: index) {
    ...   affine.for %i = 0 to 9 {
    ...     %B = memref.alloc() : memref<8xf32, 1>
    ...     %t = memref.alloc() : memref<1xi32>
    ...     affine.dma_start %A[%i, 0], %B[0], %t[0], %n : memref<9x8xf32>, memref<8xf32, 1>, memref<1xi32>
    ...     affine.dma_wait %t[0], %n : memref<1xi32>
    ...     memref.dealloc %t : memref<1xi32>
    ...     memref.dealloc %B : memref<8xf32, 1>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> after = pipeline_data_transfer(f, f.body[0].iv)
    >>> print(*(op.name for op in after.body), sep=", ")
    memref.alloc, memref.alloc, affine.dma_start, affine.for, affine.dma_wait, memref.dealloc, memref.dealloc
    >>> print(after.body[0].result.type, *(op.name for op in after.body[3].body))
    memref<2x8xf32, 1> affine.dma_start affine.dma_wait
    """
    what = f"pipeline the DMAs of loop {name(iv)}"
    loop = loop_of(function, iv, what)
    found = Dependences(function, module)
    return _Pipelined(function, loop, early(found, loop, what), found, what).made()


class _Pipelined:
    """Builds what stands in the place of a loop."""

    def __init__(
        self, function: Func, loop: affine.For, incoming: list[Incoming], found: Dependences, what: str
    ) -> None:
        self.function, self.loop, self.incoming, self.found, self.what = function, loop, incoming, found, what
        buffers = dict.fromkeys((*(i.start.target for i in incoming), *(i.start.tag for i in incoming)))
        makers = found.accesses.scope.makers
        self.allocations = {buffer: makers[buffer] for buffer in buffers}
        self.doubled = {buffer: _doubled(buffer) for buffer in buffers}
        self.half = (Affine.of(loop.iv) // loop.step) % 2
        self.replaced: dict[Value, Value] = {}
        """What stands for the results of the loop."""

    def made(self) -> Func:
        """The function."""
        at = self.loop.location
        gone = set(self.allocations.values())
        gone |= {op for op in walk(self.function) if isinstance(op, memref.Dealloc) and op.memref in self.doubled}
        before = [with_fields(op, result=self.doubled[old], location=at) for old, op in self.allocations.items()]
        after = [memref.Dealloc(new, location=at) for new in reversed(self.doubled.values())]
        place = (*before, *self._loops(gone), *after)

        def on_block(block: Block) -> Block:
            made: list[Op] = []
            for op in block:
                made += place if op is self.loop else () if op in gone else (map_blocks(op, on_block),)
            return tuple(made)

        return renamed(map_blocks(self.function, on_block), self.replaced)

    def _loops(self, gone: Collection[Op]) -> Block:
        """What starts the first DMAs, the loop, and the last iteration."""
        loop, ends = self.loop, self._ends()
        starts: set[Op] = {i.start for i in self.incoming}
        computes = {op for i in self.incoming for op in i.computes}
        front = self._redirected([op for op in loop.body if op in starts or op in computes])
        rest = self._redirected(_used([op for op in loop.body if op not in starts and op not in gone], computes))
        early = clone_block(front, {})
        body = (*clone_block(front, {}), *counted(rest, loop.iv, loop.iv - loop.step))
        handed_on = likes(loop.results)
        steady = with_fields(loop, lower=(ends.first + loop.step,), upper=(ends.behind,), body=body,
                             results=handed_on, written=None)  # fmt: skip
        if ends.runs:
            late = counted(clone_block(rest, dict(zip(loop.carried, handed_on, strict=True))), loop.iv, ends.last)
            late, values = split_body(late)
            self.replaced = dict(zip(loop.results, values, strict=True))
            return (*counted(early, loop.iv, ends.first), steady, *late)
        guard, tail = (like(loop.iv) for _ in range(2))
        carried = likes(loop.carried)
        new: dict[Value, Term] = {loop.iv: tail, **dict(zip(loop.carried, carried, strict=True))}
        return (
            with_fields(loop, iv=guard, lower=(ends.first,), upper=(ends.first + 1, ends.behind), inits=(), carried=(),
                        results=(), body=tuple(substitute(op, {loop.iv: guard}) for op in early), written=None),
            steady,
            with_fields(loop, iv=tail, lower=(ends.first, ends.last), upper=(ends.behind,), inits=handed_on,
                        carried=carried, body=clone_block(rest, new), written=None),
        )  # fmt: skip

    def _ends(self) -> _Ends:
        loop = self.loop
        trips = trip_count(loop, loop.iv, self.found.accesses)
        if trips.runs_at_most_once:
            raise refusal(loop, self.what, f"the loop {name(loop.iv)} never runs twice: there is no iteration before")
        number = constant_trips(loop)
        first = Affine.of(max(e.constant for e in loop.lower)) if all(e.is_constant for e in loop.lower) else None
        if len(loop.lower) == 1:
            first = loop.lower[0]
        if first is not None and number is not None:
            return _Ends(first, first + (number - 1) * loop.step, first + number * loop.step, runs=True)
        if first is None or len(loop.upper) > 1:
            raise refusal(loop, self.what, f"the loop {name(loop.iv)} has several bounds on one side, so that no "
                          "expression says which iteration is the first, or the last")  # fmt: skip
        (behind,) = loop.upper
        last = first + ((behind - 1 - first) // loop.step) * loop.step
        return _Ends(first, last, behind, trips.runs)

    def _redirected(self, ops: Sequence[Op]) -> Block:
        return tuple(self._with_halves(op) for op in ops)

    def _with_halves(self, op: Op) -> Op:
        """An operation, and those inside, with the doubled buffers instead of the old ones."""
        op = map_blocks(op, self._redirected)
        new: dict[str, object] = {}
        for value, index in _ENDS.get(type(op), ()):
            buffer = getattr(op, value)
            if buffer in self.doubled:
                new |= {value: self.doubled[buffer], index: (self.half, *getattr(op, index))}
        # A map as it was written may mention the induction variable without need, which is no value elsewhere.
        return with_fields(op, **new, written=None) if new or op.written else op


class _Ends(FrozenValue):
    """The first and the last iteration of a loop, where it ends, and whether it certainly runs."""

    first: Affine
    last: Affine
    behind: Affine
    runs: bool


_ACCESS = (("memref", "index"),)
_ENDS: dict[type[Op], tuple[tuple[str, str], ...]] = {
    affine.Load: _ACCESS, affine.Store: _ACCESS, affine.VectorLoad: _ACCESS, affine.VectorStore: _ACCESS,
    affine.DmaStart: (("source", "source_index"), ("target", "target_index"), ("tag", "tag_index")),
    affine.DmaWait: (("tag", "tag_index"),),
}  # fmt: skip
"""The memrefs of operations, and their indices, by the names of the fields."""


def _doubled(buffer: Value) -> Value:
    type = buffer.type
    assert isinstance(type, MemRefType)
    return Value(MemRefType((2, *type.shape), type.element, None, type.space), buffer.hint, buffer.location)


def _used(ops: Sequence[Op], droppable: Collection[Op]) -> list[Op]:
    """Operations without those of which nobody reads what they compute, where these may be left out."""
    kept: list[Op] = []
    read: set[Value] = set()
    for op in reversed(ops):
        if op not in droppable or any(v in read for v in op.defines()):
            kept.append(op)
            read.update(v for inner in walk(op) for v in inner.reads())
    return kept[::-1]
