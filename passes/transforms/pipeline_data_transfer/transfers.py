"""Which DMAs of a loop may start one iteration early, and why others may not."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from affdsl.frozen import Frozen
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import users, walk
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.effects import is_pure
from affdsl.passes.analysis.polyhedral import Map, UnknownError, spending
from affdsl.passes.analysis.region import region_of
from affdsl.passes.analysis.relations import map_from
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.analysis.views import digits, linear
from affdsl.passes.legality.order import text_time
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.legality.require import require_order
from affdsl.passes.legality.words import name

BUDGET = 500_000
"""How many operations isl may spend on what one DMA brings and what is read of it."""
_USES = (affine.Load, affine.Store, affine.VectorLoad, affine.VectorStore, affine.DmaStart)
"""What may use a doubled buffer: its index can get one more number."""


class Incoming(Frozen):
    """A DMA that may start early, its wait, and what computes its operands in the loop, in order."""

    start: affine.DmaStart
    wait: affine.DmaWait
    computes: tuple[Op, ...]


def early(found: Dependences, loop: affine.For, what: str) -> list[Incoming]:
    """The DMAs of a loop that may start one iteration early, in order.

    Raises
    ------
    IllegalTransform
        If there is none: why the first of them may not.
    """
    starts = [op for op in loop.body if isinstance(op, affine.DmaStart) and _is_incoming(op)]
    if not starts:
        raise refusal(loop, what, "it holds no affine.dma_start to a memory space of a higher number")
    made: list[Incoming] = []
    why: list[IllegalTransform] = []
    for start in starts:
        try:
            made.append(_Candidate(found, loop, start, what).incoming())
        except IllegalTransform as error:
            why.append(error)
    if not made:
        raise why[0]
    return made


def _is_incoming(start: affine.DmaStart) -> bool:
    source, target = start.source.type, start.target.type
    if not isinstance(source, MemRefType) or not isinstance(target, MemRefType):
        return False
    return isinstance(source.space, int) and isinstance(target.space, int) and source.space < target.space


class _Candidate:
    """One DMA, and all that must hold for it."""

    def __init__(self, found: Dependences, loop: affine.For, start: affine.DmaStart, what: str) -> None:
        self.found, self.accesses, self.loop, self.start, self.what = found, found.accesses, loop, start, what
        self.users = users(self.accesses.function)
        self.place = {op: k for k, outer in enumerate(loop.body) for op in walk(outer)}
        """The position in the body of the operation, or of the one around it."""

    def incoming(self) -> Incoming:
        """The DMA, if it may start early."""
        wait = self._wait()
        for buffer in (self.start.target, self.start.tag):
            self._require_own(buffer)
        self._require_pairs()
        self._require_uses(wait)
        computes = self._computes()
        self._require_brought()
        self._require_order()
        return Incoming(self.start, wait, computes)

    def refuse(self, reason: str, at: Op | None = None) -> IllegalTransform:
        return refusal(at or self.start, self.what, reason)

    def _wait(self) -> affine.DmaWait:
        """The wait for this DMA, in the same iteration."""
        for op in self.loop.body[self.place[self.start] + 1 :]:
            if isinstance(op, affine.DmaWait) and op.tag is self.start.tag and op.tag_index == self.start.tag_index:
                return op
        raise self.refuse(f"the iteration does not wait for the DMA to {name(self.start.target)} by the same tag")

    def _require_pairs(self) -> None:
        """That each use of the tag starts a DMA for which the same iteration waits next."""
        busy: set[tuple[Affine, ...]] = set()
        tag = self.start.tag
        for op in sorted((op for op in self.users[tag] if op in self.place), key=lambda op: self.place[op]):
            if isinstance(op, memref.Dealloc):
                continue
            if op not in self.loop.body or not isinstance(op, affine.DmaStart | affine.DmaWait):
                raise self.refuse(f"the tag {name(tag)} is used by {op_name(op)} further inside", op)
            is_start = isinstance(op, affine.DmaStart)
            if is_start == (op.tag_index in busy):
                raise self.refuse(f"what starts and what waits by the tag {name(tag)} are no pairs", op)
            busy ^= {op.tag_index}
        if busy:
            raise self.refuse(f"a DMA by the tag {name(tag)} is not waited for in its iteration")

    def _require_own(self, buffer: Value) -> None:
        """That a buffer is made by memref.alloc, and that nothing outside of the loop uses it."""
        allocation = self.accesses.scope.makers.get(buffer)
        type = buffer.type
        if not isinstance(allocation, memref.Alloc) or not isinstance(type, MemRefType) or type.layout is not None:
            raise self.refuse(f"{name(buffer)} is not what memref.alloc gives, without a layout: it cannot be doubled")
        is_inside = allocation in self.place
        if is_inside and (allocation not in self.loop.body or any(self._is_inside(v) for v in allocation.reads())):
            raise self.refuse(f"{name(buffer)} is made inside of the loop, by sizes that exist only there")
        for op in self.users[buffer]:
            if op not in self.place and not isinstance(op, memref.Dealloc):
                raise self.refuse(f"{name(buffer)} is used outside of the loop, by {op_name(op)}", op)

    def _is_inside(self, value: Value) -> bool:
        return value is self.loop.iv or any(value in op.defines() for op in self.place)

    def _require_uses(self, wait: affine.DmaWait) -> None:
        """That the buffer is used behind the wait, in ways that can be doubled, and by DMAs that end in time."""
        target = self.start.target
        for op in self.users[target]:
            if op is self.start or isinstance(op, memref.Dealloc):
                continue
            if not isinstance(op, _USES) or getattr(op, "value", None) is target:
                raise self.refuse(f"{op_name(op)} uses {name(target)}, which takes no further index there", op)
            if self.place[op] < self.place[wait]:
                raise self.refuse(f"{op_name(op)} uses {name(target)} before the iteration waits for its DMA", op)
            if isinstance(op, affine.DmaStart) and not self._is_waited_for(op):
                raise self.refuse(f"the iteration does not wait for another DMA that uses {name(target)}", op)

    def _is_waited_for(self, start: affine.DmaStart) -> bool:
        if start not in self.loop.body:
            return False
        behind = self.loop.body[self.place[start] + 1 :]
        return any(
            isinstance(op, affine.DmaWait) and op.tag is start.tag and op.tag_index == start.tag_index for op in behind
        )

    def _require_brought(self) -> None:
        """That each iteration reads of the buffer only what its own DMA brought."""
        buffer = self.accesses.storage.buffer(self.start.target)
        reads = [
            a
            for a in self.accesses.all
            if a.buffer is buffer and a.kind == "read" and a.op in self.place and not isinstance(a.op, affine.DmaWait)
        ]
        if not reads:
            return
        try:
            brought = self._brought(buffer)
            seen = region_of(self.accesses, reads, len(self.accesses.domains[self.start].ivs))
            with spending(BUDGET):
                is_covered = brought is not None and not seen.hidden and bool(seen.may.is_subset(brought))
        except UnknownError:
            is_covered = False
        if not is_covered:
            reason = f"it is not known that its DMA brings all that an iteration reads of {name(self.start.target)}"
            raise self.refuse(f"{reason}: the rest may come from an iteration before", reads[0].op)

    def _brought(self, buffer: Buffer) -> Map | None:
        """The elements that the DMA writes: neighbours, as the end in the space of the higher number always is."""
        scope, domain, type = self.accesses.scope, self.accesses.domains[self.start], self.start.target.type
        assert isinstance(type, MemRefType)
        count, _ = scope.value(self.start.elements, domain)
        exprs, domain = scope.exprs(self.start.target_index, domain)
        first = linear(exprs, type.shape)
        if first is None or not count.is_constant or not domain.is_exact:
            return None
        lane, domain = domain.some("lane")
        domain = domain.where(((Constraint(Affine.of(lane)), Constraint(count - 1 - lane)),))
        index = digits(first + lane, type.shape)
        if index is None:
            return None
        index, domain = scope.exprs(index, domain)
        loops = tuple(map(Affine.of, domain.ivs[: buffer.loops]))
        return map_from(domain.relation((*loops, *index)))

    def _computes(self) -> tuple[Op, ...]:
        """What computes the operands of the start in the loop."""
        makers = {v: op for op in self.loop.body for v in op.defines()}
        needed: set[Op] = set()
        pending = list(self.start.reads())
        while pending:
            value = pending.pop()
            if value in self.loop.carried:
                raise self.refuse(f"it needs {name(value)}, which the iteration before hands on when it ends")
            op = makers.get(value)
            if op is None or op in needed or value in (self.start.target, self.start.tag):
                continue
            if not is_pure(op):
                raise self.refuse(f"{name(value)} comes from {op_name(op)}, which would have to run early, too", op)
            needed.add(op)
            pending += [v for inner in walk(op) for v in inner.reads()]
        return tuple(op for op in self.loop.body if op in needed)

    def _require_order(self) -> None:
        """That the DMA may run before the rest of the iteration before, if its buffer and its tag are its own."""
        own = {self.accesses.storage.buffer(v) for v in (self.start.target, self.start.tag)}
        others = copy.copy(self.found)
        others.compared = tuple(a for a in self.found.compared if a.buffer not in own)
        around = len(self.accesses.domains[self.loop].ivs)
        first = {self.start}

        def time(access: Access) -> Sequence[Affine]:
            iv = Affine.of(self.loop.iv)
            when = (iv, Affine()) if access.op in first else (iv + self.loop.step, Affine.of(1))
            return (*when, *text_time(self.found, access, around + 1))

        require_order(others, self.loop, time, what=self.what)
