"""Reductions: numbers and elements that every iteration of a loop combines with something, so that any order will do.

A reduction is `s = s <kind> x`, where x does not depend on s, and nothing else in the loop sees s. s is a value that
the loop carries (iter_args), or an element of an array that each iteration loads, combines and stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from affdsl.frozen import Frozen
from affdsl.ir.blocks import yielded
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref, scf, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import subscripts, walk
from affdsl.ir.types import ComplexType
from affdsl.passes.analysis.access import Access, met
from affdsl.passes.analysis.combining import COMBINERS, Chains
from affdsl.passes.analysis.dependence import Dependence, Dependences
from affdsl.passes.analysis.polyhedral import UnknownError, spending
from affdsl.passes.analysis.relations import BUDGET, map_from, remembered
from affdsl.passes.analysis.storage import Buffer

DECLARED = {
    "addf": "addf", "mulf": "mulf", "maximumf": "maximumf", "minimumf": "minimumf", "addi": "addi", "muli": "muli",
    "andi": "andi", "ori": "ori", "xori": "xori", "maxs": "maxsi", "mins": "minsi", "maxu": "maxui", "minu": "minui",
    "maxnumf": "maxnumf", "minnumf": "minnumf",
}  # fmt: skip
"""The kind that the reductions of affine.parallel and memref.atomic_rmw are. `assign` is none."""

ROUNDED = frozenset(("addf", "mulf"))
"""The kinds that give another result in another order; all others are associative and commutative to the last bit."""


def uncombined(carried: Value) -> str:
    """Why what a loop carries is no reduction, after `it is used in the next iteration`."""
    is_complex = isinstance(carried.type, ComplexType)
    return "and reductions combine no complex numbers: sum up both parts" if is_complex else "and not only combined"


class Update(Frozen):
    """Where an element is loaded, combined and stored; or an atomic operation that does it all."""

    kind: str
    load: Access
    store: Access
    steps: tuple[Op, ...]

    @property
    def accesses(self) -> tuple[Access, Access]:
        """The load and the store."""
        return self.load, self.store


class Reduction(Frozen):
    """A number, or the elements of an array, that the iterations of a loop combine with something.

    Attributes
    ----------
    kind
        How: a kind of arith that is commutative, as "addf". s - x counts as addf and addi, fma(a, b, s) as addf.
    steps
        The operations that combine, in the order of the text; none where the loop declares the reduction.
    value
        The argument of the loop that carries the number, or the result of a parallel band; None if it is in memory.
    updates
        Where the elements are loaded and stored, in the order of the text.

    >>> Reduction("addf").needs_reassociation, Reduction("maximumf").needs_reassociation
    (True, False)
    """

    kind: str
    steps: tuple[Op, ...] = ()
    value: Value | None = None
    updates: tuple[Update, ...] = ()

    @property
    def needs_reassociation(self) -> bool:
        """Whether another order of the iterations gives another rounding."""
        return self.kind in ROUNDED

    @property
    def buffer(self) -> Buffer | None:
        """The array whose elements are reduced."""
        return self.updates[0].store.buffer if self.updates else None

    def __str__(self) -> str:
        what = f"%{self.value.hint or 'a value'}" if self.value is not None else self.updates[0].store.buffer.name
        return f"{self.kind} of {what}{', rounded' if self.needs_reassociation else ''}"


class Reductions:
    """The reductions of one function.

    >>> from affdsl.mlir.readers import parse
    >>> from affdsl.passes.analysis.dependence import dependences
    >>> module = parse('''
    ... func.func @f(%A: memref<?x?xf32>, %y: memref<?xf32>, %n: index) {
    ...   affine.for %i = 0 to %n {
    ...     affine.for %j = 0 to %n {
    ...       %a = affine.load %A[%i, %j] : memref<?x?xf32>
    ...       %b = affine.load %y[%j] : memref<?xf32>
    ...       %c = arith.addf %b, %a : f32
    ...       affine.store %c, %y[%j] : memref<?xf32>
    ...     }
    ...   }
    ...   return
    ... }''')
    >>> found = Reductions(dependences(module.functions[0]))
    >>> outer = module.functions[0].body[0]
    >>> print(*found.in_memory(outer.iv)[0])
    addf of y, rounded
    """

    def __init__(self, dependences: Dependences) -> None:
        self.dependences = dependences
        self._function = dependences.accesses.function
        self._chains = Chains(dependences.accesses)
        self.updates: tuple[Update, ...] = tuple(self._updates())

    def carried(self, loop: affine.For | scf.For, position: int) -> Reduction | None:
        """The reduction through an argument that a loop carries; None if it is a recurrence."""
        start, last = loop.carried[position], loop.body[-1]
        assert isinstance(last, affine.Yield | scf.Yield)
        chain = self._chains.between(start, last.values[position], self._chains.order[loop], (last, f"{position}"))
        if chain is None or chain.kind is None:
            return None
        return Reduction(chain.kind, self._in_order(chain.steps), value=start)

    def is_invariant(self, loop: affine.For | scf.For, position: int) -> bool:
        """Whether a loop yields an argument as it is."""
        return yielded(loop.body)[position] is loop.carried[position]

    def declared(self, loop: affine.Parallel | scf.Parallel, position: int) -> Reduction | None:
        """The reduction that gives a result of a parallel band; None if the result depends on the order."""
        result = loop.results[position]
        if isinstance(loop, affine.Parallel):
            kind = DECLARED.get(loop.reductions[position])
            return None if kind is None else Reduction(kind, value=result)
        last = loop.body[-1]
        assert isinstance(last, scf.Reduce)
        combiner = last.combiners[position]
        assert isinstance(combiner, scf.Combiner)
        match combiner.body:
            case (arith.Binary() as op, scf.ReduceReturn(values=(value,))) if value is op.result:
                both = {op.left, op.right} == {combiner.left, combiner.right}
                found, side = COMBINERS.get(op.kind, (None, ""))
                if both and side == "both" and found is not None:
                    return Reduction(found, (op,), value=result)
        return None

    def in_memory(
        self, iv: Value, carried: Iterable[Dependence] | None = None
    ) -> tuple[tuple[Reduction, ...], tuple[Dependence, ...]]:
        """The reductions of arrays in a loop, and the dependences that it carries which are not part of one.

        All other accesses of the loop touch other elements, so the iterations may run in any order if each update is
        atomic, or if each has elements of its own that are combined in the end. `carried` are the dependences that the
        loop carries, if they are known.
        """
        of_loop = tuple(self.dependences.carried_by(iv) if carried is None else carried)
        inside = [u for u in self.updates if iv in u.store.ivs]
        group_of = {access: (u.store.buffer, u.kind) for u in inside for access in u.accesses}
        found: list[Reduction] = []
        rest: list[Dependence] = []
        groups: dict[tuple[Buffer, str], list[Dependence]] = {}
        for dependence in of_loop:
            group = group_of.get(dependence.source)
            if group is None or group_of.get(dependence.sink) != group:
                rest.append(dependence)
            else:
                groups.setdefault(group, []).append(dependence)
        for group, members in groups.items():
            updates = [u for u in inside if (u.store.buffer, u.kind) == group]
            if self._alone(iv, updates):
                steps = self._in_order(step for u in updates for step in u.steps)
                found.append(Reduction(group[1], steps, updates=tuple(updates)))
            else:
                rest += members
        return tuple(found), tuple(rest)

    def commuting(self, iv: Value) -> tuple[Reduction, ...]:
        """The updates inside of a loop that come to the same in any order of their own, whatever else is there.

        An access that is no update of these elements in the same way sees what it saw as long as it runs after the
        same updates, and before the same others: its own dependences say so. So, other than with `in_memory`, such
        accesses may be there, and their dependences count.
        """
        groups: dict[tuple[Buffer, str], list[Update]] = {}
        for update in self.updates:
            if iv in update.store.ivs and update.kind not in ROUNDED:
                groups.setdefault((update.store.buffer, update.kind), []).append(update)
        return tuple(
            Reduction(kind, self._in_order(step for u in updates for step in u.steps), updates=tuple(updates))
            for (_, kind), updates in groups.items()
            if len(updates) > 1 and self._are_apart(updates)
        )

    def _alone(self, iv: Value, updates: Sequence[Update]) -> bool:
        """Whether nothing else in a loop touches the elements of its updates, and these do not run into each other."""
        own = {access for u in updates for access in u.accesses}
        depth = updates[0].store.ivs.index(iv) + 1
        for other in self.dependences.compared:
            if other not in own and iv in other.ivs and any(self._meet(other, each, depth) for each in own):
                return False
        return self._are_apart(updates)

    def _are_apart(self, updates: Sequence[Update]) -> bool:
        """Whether no update of an element begins before another one of it has ended, in the order of the text."""
        for k, first in enumerate(updates):
            for second in updates[k + 1 :]:
                if first.store.order < second.load.order or second.store.order < first.load.order:
                    continue
                within = self.dependences.common(first.store, second.store) + 1
                if any(self._meet(a, b, within) for a in first.accesses for b in second.accesses):
                    return False
        return True

    def _meet(self, a: Access, b: Access, depth: int) -> bool:
        """Whether one may depend on the other at a depth, or at a deeper one."""
        if "write" not in (a.kind, b.kind):
            return False
        last = self.dependences.common(a, b) + 1
        return any(
            self.dependences.at(*pair, k) is not None for pair in ((a, b), (b, a)) for k in range(depth, last + 1)
        )

    def _updates(self) -> Iterator[Update]:
        reads = {a.op: a for a in self.dependences.compared if a.kind == "read"}
        writes = {a.op: a for a in self.dependences.compared if a.kind == "write"}
        for block in (each for op in walk(self._function) for each in op.blocks()):
            loads: list[_Load] = []
            for op in block:
                match op:
                    case affine.Load() | memref.Load() | affine.VectorLoad() | vector.Load():
                        loads.append(op)
                    case memref.AtomicRMW(combine=combine) if combine in DECLARED:
                        if not self._chains.users.get(op.result):
                            yield Update(DECLARED[combine], reads[op], writes[op], (op,))
                    case affine.Store() | memref.Store() | affine.VectorStore() | vector.Store():
                        found = self._update(op, loads, reads, writes[op])
                        if found is not None:
                            yield found

    def _update(
        self,
        op: affine.Store | memref.Store | affine.VectorStore | vector.Store,
        loads: Sequence[_Load],
        reads: dict[Op, Access],
        store: Access,
    ) -> Update | None:
        starts = self._chains.may_start(op.value) if loads else ()
        for each in reversed(loads):
            if each.result not in starts:
                continue
            load = reads[each]
            if load.buffer is not store.buffer:
                continue
            chain = self._chains.between(each.result, op.value, load.order, (op, "value"))
            if chain is not None and chain.kind is not None and _same_element(load, store):
                return Update(chain.kind, load, store, self._in_order(chain.steps))
        return None

    def _in_order(self, steps: Iterable[Op]) -> tuple[Op, ...]:
        return tuple(sorted(set(steps), key=self._chains.order.__getitem__))


_Load = affine.Load | memref.Load | affine.VectorLoad | vector.Load
_LOADS = (affine.Load, memref.Load, affine.VectorLoad, vector.Load)
_STORES = (affine.Store, memref.Store, affine.VectorStore, vector.Store)
_SCALAR = (affine.Load, memref.Load, affine.Store, memref.Store)


def _same_element(load: Access, store: Access) -> bool:
    """Whether a load and a store of one block certainly touch the same element, or the same lanes in one order."""
    first, second = load.op, store.op
    assert isinstance(first, _LOADS)
    assert isinstance(second, _STORES)
    if first.memref is second.memref and subscripts(first) == subscripts(second):
        return first.result.type == second.value.type
    if not isinstance(first, _SCALAR) or not isinstance(second, _SCALAR) or load.index is None or store.index is None:
        return False
    load, store = met(load, store)

    def equal() -> bool:
        of_load, of_store = map_from(load.relation), map_from(store.relation)
        return bool(of_load.is_single_valued()) and bool(of_load.is_equal(of_store))

    try:
        with spending(BUDGET):
            return remembered(("same element", load.relation, store.relation), equal)
    except UnknownError:
        return False
