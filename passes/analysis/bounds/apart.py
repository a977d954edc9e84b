"""That two parts of one array have no element in common where a call that is given both writes to one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from affdsl.frozen import Frozen
from affdsl.ir.core import Op
from affdsl.ir.dialects import func, memref
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.bounds.claims import Claim, Demand, Verb
from affdsl.passes.analysis.bounds.demands import Demands
from affdsl.passes.analysis.domain import Domain


class _Given(Frozen):
    """An array that an operation is given, what the operation calls it, and whether it writes to it."""

    value: Value
    name: str
    is_written: bool


class ApartDemands(Demands):
    """The demands of a kernel that somebody wrote: its calls, too, keep arrays apart of which one is written.

    Different arrays are apart, whatever they are. Of two parts of one array it is demanded that no element of it is in
    both: such an element, with the iteration, is what a broken demand has as an example.
    """

    def _of(self, op: Op, domain: Domain) -> Iterator[Access]:
        for a, b in combinations(self._given(op), 2):
            if (a.is_written or b.is_written) and self.storage.buffer(a.value) is self.storage.buffer(b.value):
                self._apart(op, a, b, domain)
        yield from super()._of(op, domain)

    def _given(self, op: Op) -> list[_Given]:
        match op:
            case func.Call(callee=symbol, args=args) if symbol in self._functions:
                summary, inner = self._summaries.of(symbol), self._functions[symbol].args
                return [
                    _Given(value, arg.hint, summary.anything or k in summary.writes)
                    for k, (value, arg) in enumerate(zip(args, inner, strict=True))
                    if isinstance(value.type, MemRefType)
                ]
            case memref.Copy(source=source, target=target):
                return [_Given(source, "the source", False), _Given(target, "the target", True)]
        return []

    def _apart(self, op: Op, a: _Given, b: _Given, domain: Domain) -> None:
        """There is no element of both."""
        buffer, names = self.storage.buffer(a.value), (a.name, b.name)
        verb: Verb = "calls" if isinstance(op, func.Call) else "copies"
        first, domain = self._any_element(a.value, domain)
        second, domain = self._any_element(b.value, domain)
        if first is None or second is None:
            reason = f"which elements of {buffer.name} {a.name} and {b.name} are is not known"
            self.demands.append(Demand(op, verb, buffer.root, domain, claims=(_NEVER,), unknown=(reason,), names=names))
            return
        differences = [x - y for x, y in zip(first, second, strict=True)]
        if any(d.is_constant and d.constant != 0 for d in differences):
            return
        same = tuple(Constraint(d, equality=True) for d in differences if not d.is_constant)
        index = first[buffer.loops :]
        for each in (index, second[buffer.loops :]):
            domain = self._inside_of(buffer.root, each, domain)
        demand = Demand(op, verb, buffer.root, domain, index, claims=(_NEVER,), names=names, breaks=same)
        self.demands.append(demand)

    def _inside_of(self, root: Value, index: tuple[Affine, ...], domain: Domain) -> Domain:
        """Where an element is one of its array: that parts lie inside is a demand of its own."""
        for axis, place in enumerate(index):
            size, domain = self.size(root, axis, domain)
            above = () if size is None else (Constraint(size - 1 - place),)
            domain = domain.where(((Constraint(place), *above),))
        return domain

    def _any_element(self, value: Value, domain: Domain) -> tuple[tuple[Affine, ...] | None, Domain]:
        """Some element of an array or a part, as one of its buffer: over new locals."""
        assert isinstance(value.type, MemRefType)
        index: list[Affine] = []
        for axis in range(value.type.rank):
            place, domain = domain.some(f"{value.hint or 'part'}_{axis}")
            size, domain = self.size(value, axis, domain)
            above = () if size is None else (Constraint(size - 1 - place),)
            domain = domain.where(((Constraint(Affine.of(place)), *above),))
            index.append(Affine.of(place))
        _, found, domain = self.storage.element(value, index, domain)
        return found, domain


_NEVER = Claim(Affine.of(-1), 0, "apart")
