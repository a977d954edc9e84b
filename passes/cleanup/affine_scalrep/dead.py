"""Which stores of a function nobody sees, and which of its buffers nobody reads."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Sequence
from copy import copy
from itertools import chain, islice

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.traverse import users, walk
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.alike import Alike, by_subscripts, grouped
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.effects import Effects, effects
from affdsl.passes.analysis.flow import Flow
from affdsl.passes.analysis.nearby import Nearby
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.analysis.storage import Buffer, Storage
from affdsl.passes.analysis.views import VIEWS
from affdsl.passes.cleanup.affine_scalrep.forward import FLOW_BUDGET


def dead_stores(dependences: Dependences, without: Collection[Op] = ()) -> set[Op]:
    """The affine stores of which no element is read, nor left behind, before it is written again.

    It is asked of the function without some loads.
    """
    search = _Search(dependences, without)
    stores = [a for a in dependences.compared if isinstance(a.op, affine.Store | affine.VectorStore)]
    return {store.op for store in stores if search.is_dead(store)}


def write_only_buffers(function: func.Func, storage: Storage) -> set[Op]:
    """The allocations of buffers that nobody reads, with everything that uses them, if it does nothing else."""
    local = {b.root: b for b in storage.buffers if b.kind == "local" and not b.is_returned}
    if not local:
        return set()
    found: set[Op] = set()
    uses = users(function)
    for op in walk(function):
        if isinstance(op, memref.Allocation) and op.result in local:
            using = _writing(op.result, uses)
            if using is not None:
                found |= {op, *using}
    return found


class _Search:
    """Asks which stores of one function are dead."""

    def __init__(self, dependences: Dependences, without: Collection[Op]) -> None:
        self._dependences = copy(dependences)
        self._dependences.compared = tuple(a for a in dependences.compared if a.op not in without)
        self._flow = Flow(self._dependences, FLOW_BUDGET)
        self._final: dict[Buffer, set[Access] | None] = {}
        self._alike: dict[Buffer, Sequence[Alike]] = {}
        touching: dict[tuple[str, Buffer], list[Access]] = defaultdict(list)
        for access in self._dependences.compared:
            touching[access.kind, access.buffer].append(access)
        self._nearby = {key: Nearby(accesses) for key, accesses in touching.items()}
        buffers = {buffer for _, buffer in touching}
        others = dependences.accesses.storage.others
        self._shared = {a for a in buffers if not buffers.isdisjoint(others(a))}
        self._at = {a.op: a for a in self._dependences.compared if a.kind == "write"}
        self._after = _next_stores(dependences.accesses.function.body)

    def is_dead(self, store: Access) -> bool:
        """Whether nobody sees what a store writes."""
        buffer = store.buffer
        if buffer in self._shared:
            return False
        if self._is_replaced_at_once(store):
            return True
        stays = buffer.kind != "local" or buffer.escapes or buffer.is_returned
        if stays and not self._is_written_again(store):
            return False
        if stays and store.ivs and self._is_final(store):
            return False  # one question for all stores of a buffer, where in a loop each may reach each
        readers: list[Access] = []
        for read in self._nearest(self._near("read", store), store):
            if self._reaches(store, read):
                if not self._is_any_between(store, read):
                    return False
                readers.append(read)
        if readers and not stays and not self._is_written_again(store):
            return False
        try:
            if any(last.write is store for read in readers for last in self._flow.writers(read)):
                return False
        except UnknownError:
            return False
        return not (stays and self._is_final(store))

    def _is_written_again(self, store: Access) -> bool:
        """Whether another store may come later to an element of a store."""
        again = (w for w in self._nearest(self._near("write", store), store) if w is not store)
        return any(self._reaches(store, write) for write in again)

    def _is_replaced_at_once(self, store: Access) -> bool:
        """Whether a store that follows in the same block writes the same elements, and nothing reads them before."""
        op = store.op
        assert isinstance(op, affine.Store | affine.VectorStore)
        following = self._after.get(op)
        if following is None or (end := self._at.get(following)) is None:
            return False
        around = len(store.ivs)
        reads = self._near("read", store)
        first = bisect_right(reads, store.order, key=_order)
        for read in reads[first : bisect_left(reads, end.order, first, key=_order)]:
            if read.ivs[:around] == store.ivs:
                for depth in range(around + 1, self._dependences.common(store, read) + 2):
                    if self._dependences.at(store, read, depth) is not None:
                        return False
        return True

    def _near(self, kind: str, store: Access) -> list[Access]:
        """The reads, or writes, that may touch what a store writes, in the order of the text."""
        found = self._nearby.get((kind, store.buffer))
        return [] if found is None else found.to(store)

    def _nearest(self, accesses: list[Access], store: Access) -> Iterator[Access]:
        """Some accesses, first those in the outermost loop of a store, and always first those that follow it."""
        start = self._start(store)
        first, end = (side(accesses, start, key=self._start) for side in (bisect_left, bisect_right))
        here = bisect_right(accesses, store.order, first, end, key=_order)
        return chain(accesses[here:end], accesses[first:here], islice(accesses, end, None), islice(accesses, first))

    def _is_any_between(self, store: Access, read: Access) -> bool:
        """Whether another write may run after some iterations of a store and before some of a read that it reaches."""
        return any(
            write is not store and self._reaches(store, write) and self._reaches(write, read)
            for alike in self._kinds(store)
            for write in self._within(alike, store, read)
        )

    def _kinds(self, store: Access) -> Sequence[Alike]:
        """The writes that may touch what a store writes, by their subscripts."""
        writes = self._near("write", store)
        if not store.ivs:
            return [writes]
        found = self._alike.get(store.buffer)
        if found is None:  # in loops these are all writes of the buffer
            found = grouped(writes, by_subscripts)
            found = self._alike[store.buffer] = found if 2 * len(found) <= len(writes) else [[w] for w in writes]
        return found

    def _within(self, alike: Alike, store: Access, read: Access) -> Sequence[Access]:
        """Those of some writes that are not plainly before the store, or behind the read.

        They stand between two outermost loops in the text, too; and where no loop around carries anything from writes
        of this kind, or to them, between the store and the read.
        """
        first = bisect_left(alike, self._start(store), key=_order)
        end = bisect_right(alike, self._start(read), first, key=self._start)
        if first < end and len(alike) > 1 and store.ivs:
            if self._is_in_one_iteration(store, alike[first]):
                first = bisect_right(alike, store.order, first, end, key=_order)
            if first < end and self._is_in_one_iteration(alike[first], read):
                end = bisect_left(alike, read.order, first, end, key=_order)
        return alike[first:end]

    def _is_in_one_iteration(self, first: Access, second: Access) -> bool:
        """Whether all accesses like one of them plainly touch what the other one does in the same iteration only."""
        common = self._dependences.common(first, second)
        return common > 0 and self._dependences.never_meet(first, second, range(1, common + 1))

    def _start(self, access: Access) -> int:
        """Where the outermost loop around an access begins in the text."""
        return self._dependences.accesses.order[access.domain.loops[0]] if access.domain.loops else access.order

    def _reaches(self, first: Access, second: Access) -> bool:
        if not self._dependences.common(first, second) and first.order > second.order:
            return False
        return self._dependences.any_between(first, second)

    def _is_final(self, store: Access) -> bool:
        """Whether a store may leave the last value in an element."""
        buffer = store.buffer
        if buffer not in self._final:
            try:
                self._final[buffer] = {write for write, _ in self._flow.final_writes(buffer)}
            except UnknownError:
                self._final[buffer] = None
        final = self._final[buffer]
        return final is None or store in final


def _order(access: Access) -> int:
    return access.order


def _next_stores(block: Block) -> dict[Op, Op]:
    """For each affine store the next one in its block that writes the same elements of the same memref."""
    found: dict[Op, Op] = {}
    last: dict[Hashable, Op] = {}
    for op in block:
        if isinstance(op, affine.Store | affine.VectorStore):
            key = (op.memref, op.index, op.value.type)
            if key in last:
                found[last[key]] = op
            last[key] = op
        if not isinstance(op, Opaque):
            for inner in op.blocks():
                found |= _next_stores(inner)
    return found


def _writing(buffer: Value, uses: dict[Value, list[Op]]) -> set[Op] | None:
    """Everything that uses a buffer, or a view of it, if that only writes to it; None if something does more."""
    found: set[Op] = set()
    for op in uses.get(buffer, ()):
        match op:
            case _ if effects(op) == Effects(writes=(buffer,)) and [*op.reads()].count(buffer) == 1:
                pass
            case memref.Dealloc():
                pass
            case memref.Copy(source=source, target=target) if target is buffer and source is not buffer:
                pass
            case _ if isinstance(op, VIEWS) and op.source is buffer:
                for result in op.defines():
                    inner = _writing(result, uses)
                    if inner is None:
                        return None
                    found |= inner
            case _:
                return None
        found.add(op)
    return found
