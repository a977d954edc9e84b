"""A producer's slice run inside of its consumer: where it may stand, and the buffer that is left between the two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TypeAlias

from affdsl.frozen import Frozen, FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import clone, holders, rewrite, walk, way_to, with_fields
from affdsl.ir.types import INDEX
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependence
from affdsl.passes.analysis.graph import InsertionPoints, MemRefDependenceGraph, Node
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.proof.claims import Answer
from affdsl.passes.transforms.fuse.focus import Focus
from affdsl.passes.transforms.fuse.private import FastMemory, PrivateBuffer, private_buffer
from affdsl.passes.transforms.fuse.slices import Slice, slice_of
from affdsl.passes.transforms.fuse.window import Window
from affdsl.passes.transforms.loops.pieces import visible_before

Loop: TypeAlias = affine.For | affine.Parallel


class Variant(FrozenValue):
    """What becomes of the producer in its own place, and of the buffers between it and its consumer."""

    is_removed: bool
    is_private: bool


class FusionCandidate(Frozen):
    """A fusion in the loop of one depth of the consumer, of which it is not known yet whether it is legal.

    Attributes
    ----------
    slice
        Which iterations of the producer run in each iteration of the consumer.
    copied
        The producer with these iterations.
    nest
        The consumer with that inside.
    private
        The buffers that only this nest could use, with the elements that are live at this depth.
    """

    depth: int
    slice: Slice
    copied: Op
    nest: Op
    private: tuple[PrivateBuffer, ...]


class Fused(Frozen):
    """A function in which a slice of the producer runs inside of its consumer, not settled yet.

    Attributes
    ----------
    variant
        What became of the producer and of the buffers.
    private
        The buffers that only the consumer uses now.
    """

    function: Func
    candidate: FusionCandidate
    variant: Variant
    private: tuple[PrivateBuffer, ...]


class Pair:
    """A producer and one of its consumers in a block, and what a fusion of the two would be at each depth.

        for i: { B[i] = P(i) }; for j: { C(B[j]) }      ->      for j: { for i in slice(j): B[i] = P(i); C(B[j]) }

    Whether a fusion is legal is proved of its result: every value that is left must come from the same values by the
    same operations.
    """

    _can_be_private = True

    def __init__(
        self,
        graph: MemRefDependenceGraph,
        source: Node,
        sink: Node,
        module: Module | None = None,
        fast: FastMemory | None = None,
        buffer: Value | None = None,
        focus: Focus | None = None,
    ) -> None:
        """Of all buffers that the one stores to and the other loads from, or of one of them alone.

        `fast` is where private buffers may be that are small enough; `focus` is what the graph is of, where that is not
        the whole function.
        """
        self.graph = graph
        self.fast = fast
        self._only = buffer
        self.source, self.sink = source, sink
        self.accesses = graph.dependences.accesses
        self.function = graph.function
        self.focus = focus
        self.whole_function = graph.function if focus is None else focus.function
        """The function in which they stand."""
        self.whole: Op = sink.op if focus is None else focus.whole
        """The consumer there."""
        self.window = Window(graph, source, sink, Module((graph.function,)) if module is None else module)

    @cached_property
    def _flow(self) -> tuple[Dependence, ...]:
        edges = [e for e in self.graph.between(self.source, self.sink) if e.kind == "flow" and not e.is_carried]
        only = None if self._only is None else self.graph.buffer(self._only)
        return tuple(d for e in edges for d in e.dependences if only in (None, d.sink.buffer))

    @cached_property
    def obstacle(self) -> str:
        """Why no slice of the producer can run elsewhere; empty if it can."""
        if not isinstance(self.source.op, affine.For):
            return "the producer is no affine.for"
        if self.source.op.results:
            return "the producer yields values"
        for node in (self.source, self.sink):
            if node.barrier:
                return node.barrier
        return self._unlinked

    @cached_property
    def _unlinked(self) -> str:
        """Why nothing says which iterations belong together; empty if something does."""
        for d in self._flow:
            if d.source.buffer is not d.sink.buffer:
                return f"{d.source.buffer.name} and {d.sink.buffer.name} may be one buffer"
        return "" if self._flow else "the consumer reads nothing that the producer stores"

    @cached_property
    def links(self) -> tuple[tuple[Access, Access], ...]:
        """The stores of the producer and the loads of the consumer that touch the same elements."""
        return tuple(dict.fromkeys((d.source, d.sink) for d in self._flow))

    @cached_property
    def buffers(self) -> tuple[Buffer, ...]:
        """What the producer stores to and the consumer loads from."""
        return tuple(dict.fromkeys(read.buffer for _, read in self.links))

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The affine loops of the consumer around all that it does to the buffers that link the two."""
        touching = [a.domain.loops for a in self._touching]
        around = len(self.accesses.domains[self.sink.op].ivs)
        found: dict[Loop, None] = {}
        for level in zip(*(loops[around:] for loops in touching), strict=False):
            if any(loop is not level[0] for loop in level) or not isinstance(level[0], affine.For | affine.Parallel):
                break
            found[level[0]] = None
        return tuple(found)

    @property
    def _touching(self) -> Sequence[Access]:
        return [a for a in self.sink.accesses if a.buffer in self.buffers]

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """What may become of the producer and of the buffers, the best first."""
        found = [Variant(is_removed=True, is_private=True)] if self._own else []
        found.append(Variant(is_removed=True, is_private=False))
        if not all(map(self.window.is_private, self.source.writes)) and not self._overwritten:
            found.append(Variant(is_removed=False, is_private=True))
        return tuple(found)

    @cached_property
    def _own(self) -> tuple[Buffer, ...]:
        """The buffers between the two that nobody else needs."""
        return tuple(b for b in self.buffers if self.window.is_private(b))

    @cached_property
    def _overwritten(self) -> tuple[Buffer, ...]:
        """The buffers between the two that the consumer stores to, so that all others need what it stores there."""
        return tuple(b for b in self.buffers if b in self.sink.writes and b not in self._own)

    @cached_property
    def _point(self) -> InsertionPoints | None:
        """Where the two could meet."""
        return self.graph.insertion_point(self.source, self.sink)

    @cached_property
    def is_placeless(self) -> bool:
        """Whether no variant has a place where the two could meet: then none is legal, whatever the slice."""
        return self._point is None and all(each.is_removed for each in self.variants)

    def candidate(self, depth: int) -> FusionCandidate:
        """The fusion in the loop of this depth of the consumer, from 1 on. Raises UnknownError without a slice."""
        slice, private = self._recalled(depth) or self._found(depth)
        copied = self._copied(slice)
        return FusionCandidate(depth, slice, copied, self._with(copied, depth), private)

    @cached_property
    def _constants(self) -> dict[Value, int]:
        """The indices of the function that are constants."""
        made = (op for op in walk(self.whole_function) if isinstance(op, arith.Constant))
        return {op.result: int(op.value) for op in made if isinstance(op.value, int) and op.result.type == INDEX}

    def _with(self, copied: Op, depth: int) -> Op:
        """The consumer with a copy of a slice in the loop of a depth."""
        return _within(self.sink.op, self.loops[depth - 1], (copied,), ())

    def slice(self, depth: int) -> Slice:
        """The iterations of the producer for one of the loop of this depth of the consumer. Raises UnknownError."""
        loop = self.loops[depth - 1]
        assert isinstance(self.source.op, affine.For)
        inside = len(self.accesses.domains[loop.body[0]].ivs)
        return slice_of(self.accesses, self.source.op, self.links, inside, way_to(self.function, loop.body[0]))

    def _found(self, depth: int) -> tuple[Slice, tuple[PrivateBuffer, ...]]:
        """The slice for the loop of a depth, and the buffers that could be private. Raises UnknownError."""
        loop, slice = self.loops[depth - 1], self.slice(depth)
        private: list[PrivateBuffer] = []
        possible = [b for b in self.buffers if b not in self._overwritten] if self._can_be_private else []
        if possible:
            nest = self._with(self._copied(slice), depth)
            made = self.window.changed({self.sink.op: (nest,)})
            first = next(op for op in holders(nest) if isinstance(op, Loop) and is_like(op, loop)).body[0]
            for buffer in possible:
                with suppress(UnknownError):
                    private.append(private_buffer(made, nest, first, buffer.root, self.fast))
        if self.focus is not None:
            self.focus.found.keep(self.question(depth), self.focus.form, (slice, tuple(private)))
        return slice, tuple(private)

    def _recalled(self, depth: int) -> tuple[Slice, tuple[PrivateBuffer, ...]] | None:
        """The same, if it was found of a function like this one."""
        known = None if self.focus is None else self.focus.found.recall(self.question(depth), self.focus.form)
        if known is None:
            return None
        new, (slice, private) = known
        assert isinstance(self.source.op, affine.For)
        return slice.renamed(new, self.source.op), tuple([each.renamed(new) for each in private])

    def question(self, depth: int, *more: object) -> object:
        """What the slice of a depth, and more, depends on, beside the function."""
        return type(self), self.source.id, self.sink.id, self.fast, self._only, depth, *more

    def fused(self, candidate: FusionCandidate, variant: Variant) -> Fused | Answer:
        """The function after a fusion; if it is not proved to leave what the function left before, why."""
        if variant.is_private and not candidate.private:
            return Answer("unknown", "the consumer does not use it by affine subscripts alone")
        if not variant.is_private:
            private: tuple[PrivateBuffer, ...] = ()
        elif variant.is_removed:
            own = {b.root for b in self._own}
            private = tuple(p for p in candidate.private if p.is_smaller and p.old in own)
        elif len(candidate.private) == len(self.buffers):
            private = candidate.private
        else:
            return Answer("unknown", "the consumer does not use all of it by affine subscripts alone")
        try:
            changes = self._changes(candidate.nest, candidate, private, variant)
            answer = self._compared(changes, candidate, private, variant)
        except UnknownError as error:
            return Answer("unknown", str(error))
        if answer.verdict != "proved":
            return answer
        if self.focus is not None:
            nest = _within(self.whole, self.loops[candidate.depth - 1], (candidate.copied,), ())
            changes = self._changes(nest, candidate, private, variant)
            changes[self.whole] = changes.pop(self.sink.op)
            body = tuple([new for op in self.whole_function.body for new in changes.get(op, (op,))])
            return Fused(with_fields(self.whole_function, body=body), candidate, variant, private)
        return Fused(rewrite(self.function, lambda op: changes.get(op)), candidate, variant, private)

    def _compared(
        self,
        changes: Mapping[Op, tuple[Op, ...]],
        candidate: FusionCandidate,
        private: Sequence[PrivateBuffer],
        variant: Variant,
    ) -> Answer:
        """Whether all stays as it was; what was answered of a function like this one is the answer."""
        focus, question = self.focus, self.question(candidate.depth, variant)
        if focus is not None and (known := focus.answers.recall(question, focus.form)) is not None:
            return known[1]
        answer = self.window.compared(changes, {each.new for each in private})
        if focus is not None:
            focus.keep(question, answer)
        return answer

    def _copied(self, slice: Slice) -> Op:
        """A copy of the producer with the iterations of a slice."""
        bounds = slice.bounds()

        def limited(op: Op) -> Op | None:
            own = bounds.get(op.iv) if isinstance(op, affine.For) else None
            if own is None or (own.lower, own.upper) == (own.loop.lower, own.loop.upper):
                return None
            return with_fields(op, lower=own.lower, upper=own.upper, written=None)

        return clone(rewrite(Module((self.source.op,)), limited).body[0], {})

    def _changes(
        self, nest: Op, candidate: FusionCandidate, private: Sequence[PrivateBuffer], variant: Variant
    ) -> dict[Op, tuple[Op, ...]]:
        """What stands in the place of which operations, with the nest for the consumer.

        Raises UnknownError where it can stand nowhere.
        """
        found: dict[Op, tuple[Op, ...]] = {}
        before: list[Op] = []
        behind: list[Op] = []
        bands = [loop for loop in self.loops[: candidate.depth] if isinstance(loop, affine.Parallel)]
        for each in private:
            nest = each.redirected(nest, self._constants)
            there = self._replaced(each) if variant.is_removed and not bands else None
            if there is not None:
                found |= there
                continue
            before += each.allocated()
            behind.append(memref.Dealloc(each.new))
            if variant.is_removed:
                found |= dict.fromkeys(self._makes_or_frees(each.old), ())
        if bands:  # each of its iterations has buffers of its own
            nest, before, behind = _within(nest, bands[-1], before, behind), [], []
        fused = (*before, nest, *behind)
        if not variant.is_removed:
            return {self.sink.op: fused}
        if self._point is None:
            raise UnknownError("no place is behind all that the consumer needs and before all that needs the producer")
        place = self.graph.block[self._point.last]
        found |= {self.source.op: (), self.sink.op: ()}
        return found | {place: fused if place in found else (*fused, place)}

    def _replaced(self, private: PrivateBuffer) -> dict[Op, tuple[Op, ...]] | None:
        """A private buffer made and freed where the old one was; None where its sizes are not known there."""
        found: dict[Op, tuple[Op, ...]] = {}
        for op in self._makes_or_frees(private.old):
            if isinstance(op, memref.Dealloc):
                found[op] = (with_fields(op, memref=private.new),)
                continue
            made = private.allocated(op)
            known = visible_before(self.function, op).union(v for each in made for v in each.defines())
            if not all(v in known for each in made for v in each.mentions()):
                return None
            found[op] = made
        return found

    def _makes_or_frees(self, buffer: Value) -> list[Op]:
        """The operations that make and free a buffer."""
        made = [op for op in walk(self.function) if isinstance(op, memref.Allocation) and op.result is buffer]
        return made + [op for op in walk(self.function) if isinstance(op, memref.Dealloc) and op.memref is buffer]


class Siblings(Pair):
    """Two nests that read the same and do not depend on each other: one runs beside the reads of the other.

    for i: { P(A[i]) }; for j: { Q(A[j]) }      ->      for j: { P(A[j]); Q(A[j]) }
    """

    @cached_property
    def links(self) -> tuple[tuple[Access, Access], ...]:
        """The loads of the two that touch the same elements."""
        return tuple((a, b) for a in self.source.loads for b in self.sink.loads if a.buffer is b.buffer)

    @cached_property
    def _unlinked(self) -> str:
        return "" if self.links else "the two read nothing in common"

    @property
    def _touching(self) -> Sequence[Access]:
        return [b for _, b in self.links]

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """The nest that moves is gone from its place."""
        return (Variant(is_removed=True, is_private=False),)

    _can_be_private = False


def _within(nest: Op, loop: Loop, before: Sequence[Op], behind: Sequence[Op]) -> Op:
    """A nest with operations at the start and at the end of the body of a loop."""

    def filled(op: Op) -> Op | None:
        if not isinstance(op, Loop) or not is_like(op, loop):
            return None
        own = [each for each in op.body if not each.is_terminator]
        ends = [each for each in op.body if each.is_terminator]
        return with_fields(op, body=(*before, *own, *behind, *ends))

    return rewrite(Module((nest,)), filled).body[0]


def is_like(op: Op, loop: Loop) -> bool:
    """Whether an operation is a loop, perhaps with another body."""
    return type(op) is type(loop) and [*op.binds()] == [*loop.binds()]
