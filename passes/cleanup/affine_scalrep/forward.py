"""Which loads of a function have a value that is known without memory, and which value that is."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterator
from itertools import islice
from operator import attrgetter

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.flow import Flow
from affdsl.passes.analysis.nearby import Nearby
from affdsl.passes.analysis.polyhedral import Dim, UnknownError, spending
from affdsl.passes.analysis.relations import BUDGET
from affdsl.passes.analysis.storage import Buffer

FLOW_BUDGET = 200_000
"""How many operations isl may spend on the last writers of one read."""
_order = attrgetter("order")
MOST_WRITERS = 8
"""The last writers of a read are asked for if so many writes, at most, may be among them."""


def forwarded(dependences: Dependences) -> dict[Value, Value]:
    """For each load that can be left out the value that it gives, which may be that of another such load."""
    return _Forwarding(dependences).found


class _Known(Frozen):
    """That an element holds a value since an operation."""

    access: Access
    value: Value


class _Stored(Frozen):
    """The values that stores put into a buffer, when values were known for so many loads."""

    when: int
    values: frozenset[Value]


class _Forwarding:
    """Walks through a function, with the values and the contents of memory that are known at each place."""

    def __init__(self, dependences: Dependences) -> None:
        self.found: dict[Value, Value] = {}
        self._dependences = dependences
        self._flow = Flow(dependences, FLOW_BUDGET)
        self._at = {a.op: a for a in dependences.compared if isinstance(a.op, affine.Access)}
        self._of_buffer: dict[Buffer, list[Access]] = defaultdict(list)
        self._writes: dict[Buffer, Nearby] = {}
        self._stored: dict[Buffer, _Stored] = {}
        for access in dependences.compared:
            if access.kind == "write":
                self._of_buffer[access.buffer].append(access)
        self._known: dict[Hashable, _Known] = {}
        self._depths: dict[Value, int] = dict.fromkeys(dependences.accesses.function.args, 0)
        """The values that are known here, and how many loops stand around what defines them."""
        self._block(dependences.accesses.function.body, 0)

    def _block(self, block: Block, loops: int) -> None:
        undo: list[tuple[Hashable, _Known | None]] = []
        defined: list[Value] = []
        for op in block:
            match op:
                case affine.Load() | affine.VectorLoad():
                    self._load(op, undo)
                case affine.Store() | affine.VectorStore():
                    self._note(_Known(self._at[op], op.value), op, undo)
            if not isinstance(op, Opaque):  # its blocks need not run in the order of the text, nor know what is around
                bound = list(op.binds())
                inside = loops + _loops_of(op)
                self._depths.update(dict.fromkeys(bound, inside))
                for inner in op.blocks():
                    self._block(inner, inside)
                for value in bound:
                    del self._depths[value]
            for value in op.defines():
                self._depths[value] = loops
                defined.append(value)
        for key, old in reversed(undo):
            if old is None:
                del self._known[key]
            else:
                self._known[key] = old
        for value in defined:
            del self._depths[value]

    def _load(self, op: affine.Load | affine.VectorLoad, undo: list[tuple[Hashable, _Known | None]]) -> None:
        access = self._at[op]
        keys = list(self._keys(op))
        found = [known for key in keys if (known := self._known.get(key)) is not None]
        last = max(found, key=lambda known: known.access.order, default=None)
        value = None
        if last is not None and not self._is_written_between(last.access, access):
            value = last.value
        elif isinstance(op, affine.Load):
            value = self._last_written(access, op.result)
        if value is None:
            self._note(_Known(access, op.result), op, undo)
        else:
            self.found[op.result] = self._final(value)

    def _note(self, known: _Known, op: Op, undo: list[tuple[Hashable, _Known | None]]) -> None:
        for key in self._keys(op):
            undo.append((key, self._known.get(key)))
            self._known[key] = known

    def _keys(self, op: Op) -> Iterator[Hashable]:
        """What two operations have in common that certainly touch the same elements, if the first stands around."""
        assert isinstance(op, affine.Access)
        access = self._at[op]
        type = op.value.type if isinstance(op, affine.Store | affine.VectorStore) else op.result.type
        yield op.memref, op.index, type
        composed, domain = self._dependences.accesses.scope.exprs(op.index, self._dependences.accesses.domains[op])
        if not domain.locals:
            yield op.memref, composed, type
        if access.index is not None and not access.domain.locals and access.buffer.type.element == type:
            yield access.buffer, access.index, type

    def _writes_to(self, load: Access) -> list[Access]:
        """The writes that may touch what a load reads, in the order of the text."""
        buffer = load.buffer
        nearby = self._writes.get(buffer)
        if nearby is None:
            found = self._of_buffer[buffer]
            others = [b for b in self._dependences.accesses.storage.others(buffer) if b in self._of_buffer]
            if others:
                able = {buffer, *others}
                found = [a for a in self._dependences.compared if a.kind == "write" and a.buffer in able]
            nearby = self._writes[buffer] = Nearby(found)
        return nearby.to(load)

    def _is_written_between(self, first: Access, load: Access) -> bool:
        """Whether something may write to the elements of a load after an access of them that stands around it.

        What runs between the two is in the same iteration of the loops around the first, after it in the text, and
        before the load.
        """
        around = len(first.ivs)
        writes = self._writes_to(load)
        start = bisect_left(writes, first.order, key=_order)
        end = bisect_right(writes, load.order, start, key=_order) if len(load.ivs) == around else None
        for write in islice(writes, start, end):
            if write.op is first.op or write.ivs[:around] != first.ivs:
                continue
            common = self._dependences.common(write, load)
            if common == around and write.order > load.order:
                continue
            for depth in range(around + 1, common + 2):
                if self._dependences.at(write, load, depth) is not None:
                    return True
        return False

    def _final(self, value: Value) -> Value:
        while value in self.found:
            value = self.found[value]
        return value

    def _last_written(self, load: Access, result: Value) -> Value | None:
        """The value that all stores store that are the last ones before a load, if it is known where that stands."""
        value = self._one_value(load)
        if value is None or value.type != result.type or load.buffer.type.element != result.type:
            return None
        try:
            is_exact = self._dependences.accesses.by_dimensions(load).is_exact
            if not is_exact or (before := self._flow.live_in(load)) is None or not before.is_empty():
                return None
            depth = self._depths[value]
            for last in self._flow.writers(load):
                op = last.write.op
                if not last.is_exact or last.map is None or not isinstance(op, affine.Store):
                    return None
                if self._final(op.value) is not value or self._dependences.common(last.write, load) < depth:
                    return None
                with spending(BUDGET):
                    pairs = last.map.domain_factor_domain()
                    same = pairs
                    for k in range(depth):
                        same = same.equate(Dim.in_, k, Dim.out, k)
                    if not pairs.is_subset(same):
                        return None
        except UnknownError:
            return None
        return value

    def _one_value(self, load: Access) -> Value | None:
        """The one value that a load may give and that is known where it stands, by a look at all stores."""
        writes = self._writes_to(load)
        if load.ivs:
            stored = self._stored.get(load.buffer)
            if stored is None or stored.when < len(self.found):
                values = {self._final(w.op.value) for w in writes if isinstance(w.op, affine.Store)}
                stored = self._stored[load.buffer] = _Stored(len(self.found), frozenset(values))
            if self._depths.keys().isdisjoint(stored.values):
                return None
        elif not any(isinstance(w.op, affine.Store) and self._final(w.op.value) in self._depths for w in writes):
            return None
        seen = list(islice((w for w in writes if self._dependences.any_between(w, load)), MOST_WRITERS + 1))
        if len(seen) > MOST_WRITERS:
            return None
        values = {self._final(w.op.value) for w in seen if isinstance(w.op, affine.Store)} & self._depths.keys()
        if not values:
            return None
        if len(values) > 1:  # the flow says which of them it is: that of the first one that it names
            values &= {
                self._final(f.write.op.value) for f in self._flow.writers(load) if isinstance(f.write.op, affine.Store)
            }
        return values.pop() if len(values) == 1 else None


def _loops_of(op: Op) -> int:
    """How many induction variables the blocks of an operation have more than the operation."""
    match op:
        case affine.Parallel(ivs=ivs) | scf.Parallel(ivs=ivs):
            return len(ivs)
        case affine.For() | scf.For() | scf.While():
            return 1
    return 0
