"""What a fusion costs and saves, in the terms of MLIR's loop fusion: redundant computation against storage.

The cost of a nest is how many operations its loops run, which are not loops themselves. A size that is known only at
run time is taken to be `SIZE`, and a loop whose bounds depend on outer ones to run as often as in the middle of these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from math import prod

from affdsl.frozen import FrozenValue, field
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import walk
from affdsl.passes.analysis.access import Access, Accesses, accesses_of
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.analysis.region import region_of
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.transforms.fuse.producers import FusionCandidate, Pair, is_like
from affdsl.passes.transforms.fuse.slices import LoopSlice, Slice

SIZE = 1000
"""What a size is taken to be that is known only at run time."""


class Evaluation(FrozenValue):
    """The figures of a fusion in the loop of one depth of the consumer.

    Attributes
    ----------
    cost
        Of the fused nest.
    additional_compute
        How much more the fused nest computes than both together did: 0.3 is 30 %.
    source_region, slice_region
        How many bytes hold what the producer stores, and what its slice stores for one iteration of the consumer. They
        are the same where somebody else sees the buffer, so that it cannot become smaller.
    """

    depth: int
    cost: int
    additional_compute: float
    source_region: int
    slice_region: int

    @property
    def storage_reduction(self) -> float:
        """How many times less memory lies between the two."""
        return self.source_region / max(1, self.slice_region)

    def __str__(self) -> str:
        return (
            f"evaluating fusion profitability at depth : {self.depth}\n"
            f" additional compute fraction: {100 * self.additional_compute:.2f}%\n"
            f" storage reduction factor: {self.storage_reduction:.2f}x\n"
            f" fused nest cost: {self.cost}\n"
            f" src write region size: {self.source_region}\n"
            f" slice write region size: {self.slice_region}"
        )


class Costs(FrozenValue):
    """A producer and its consumer before they are fused."""

    pair: Pair
    source: int
    sink: int
    regions: Mapping[Buffer, int]
    sizes: Mapping[Value, int] = field(default_factory=dict)

    @property
    def region(self) -> int:
        """How many bytes hold what the producer stores."""
        return sum(self.regions.values())

    def of(self, candidate: FusionCandidate) -> Evaluation:
        """The figures of a fusion."""
        cost = self._fused(candidate)
        local = {b.root for b in self.regions if b.kind == "local" and not b.escapes and not b.is_returned}
        left = {b.root: number for b, number in self.regions.items()}
        left |= {p.old: p.bytes(_Middle(self.sizes)) for p in candidate.private if p.old in local}
        return Evaluation(candidate.depth, cost, self._additional(cost), self.region, sum(left.values()))

    def additional(self, evaluation: Evaluation, *, is_removed: bool) -> float:
        """How much more is computed after a fusion, by a producer that stays too."""
        return self._additional(evaluation.cost + (0 if is_removed else self.source))

    def _additional(self, cost: int) -> float:
        return cost / max(1, self.source + self.sink) - 1

    def memory(self) -> tuple[int, int]:
        """How many bytes hold what the producer touches, and what the consumer does."""
        return self._touched(self.pair.source.op), self._touched(self.pair.whole)

    @cached_property
    def _accesses(self) -> Accesses:
        """Those of the whole function."""
        pair = self.pair
        return pair.accesses if pair.focus is None else accesses_of(pair.whole_function, pair.window.module)

    def _touched(self, nest: Op) -> int:
        grouped: dict[Buffer, list[Access]] = {}
        for access in self._accesses.inside(nest):
            grouped.setdefault(access.buffer, []).append(access)
        around = len(self._accesses.domains[self.pair.source.op].ivs)
        return sum(_bytes(self._accesses, group, around, _Middle(self.sizes)) for group in grouped.values())

    def _fused(self, candidate: FusionCandidate) -> int:
        skipped: set[Op] = set()
        shrinks = bool(candidate.private) and all(each.is_smaller for each in candidate.private)
        if candidate.slice.is_one_iteration and shrinks:
            # What is stored goes to the loads without memory in between.
            skipped = {a.op for a in self.pair.source.stores if a.buffer in self.pair.buffers}
            skipped |= {second.op for _, second in self.pair.links}
        loop = self.pair.loops[candidate.depth - 1]
        whole = next(op for op in walk(self.pair.whole) if is_like(op, loop))
        count = _Count(skipped, {whole: (self.pair.source.op, candidate.slice)})
        return count.of((self.pair.whole,), _Middle(self.sizes))


def costs_of(pair: Pair, sizes: Mapping[Value, int] | None = None) -> Costs:
    """What a producer and its consumer cost as they are."""
    known = {} if sizes is None else sizes
    source, sink = (cost_of(op, known) for op in (pair.source.op, pair.whole))
    regions: dict[Buffer, int] = {}
    for buffer in [b for b in pair.buffers if b in pair.source.writes] or pair.source.writes:
        stores = [a for a in pair.source.stores if a.buffer is buffer]
        around = len(pair.accesses.domains[pair.source.op].ivs)
        regions[buffer] = _bytes(pair.accesses, stores, around, _Middle(known))
    return Costs(pair, source, sink, regions, known)


def cost_of(nest: Op, sizes: Mapping[Value, int] | None = None) -> int:
    """How many operations a nest runs."""
    return _Count().of((nest,), _Middle(sizes or {}))


def _bytes(accesses: Accesses, group: Sequence[Access], around: int, sizes: _Middle) -> int:
    """How many bytes the box of some accesses to one buffer takes, in one iteration of the loops around."""
    box = region_of(accesses, group, around).box
    extents = []
    for low, high, extent in zip(box.lower, box.upper, box.extents, strict=True):
        known = extent if extent is not None else SIZE
        if extent is None and low is not None and high is not None:
            known = max(0, high.evaluate(sizes) - low.evaluate(sizes))
        extents.append(known)
    return prod(extents) * (width_of(group[0].buffer.type.element) or 1)


class _Middle(dict[Value, int]):
    """Numbers for values: of a size that has none, the usual one."""

    def __missing__(self, value: Value) -> int:
        return SIZE


class _Count(FrozenValue):
    """Counts operations, but for some, and with slices of other nests at the start of some loops."""

    skipped: Collection[Op] = ()
    added: Mapping[Op, tuple[Op, Slice]] = field(default_factory=dict)
    bounds: Mapping[Value, LoopSlice] = field(default_factory=dict)

    def of(self, block: Block, middle: _Middle) -> int:
        """How many operations a block runs, where outer induction variables have these numbers."""
        found = 0
        for op in block:
            if not op.block_fields:
                found += not op.is_terminator and op not in self.skipped
                continue
            trips = self._trips(op, middle)
            if op in self.added:
                source, slice = self.added[op]
                found += trips * _Count(self.skipped, bounds=slice.bounds()).of((source,), middle)
            found += trips * sum(self.of(inner, middle) for inner in op.blocks())
        return found

    def _trips(self, op: Op, middle: _Middle) -> int:
        """How often the blocks of an operation run; its induction variables get the numbers in the middle."""
        trips = 1
        match op:
            case affine.For():
                own = self.bounds.get(op.iv)
                lower, upper = (op.lower, op.upper) if own is None else (own.lower, own.upper)
                trips = _range(op.iv, lower, upper, op.step, middle)
            case affine.Parallel():
                for iv, lower, upper, step in zip(op.ivs, op.lower, op.upper, op.steps, strict=True):
                    trips *= _range(iv, lower, upper, step, middle)
        return trips


def _range(iv: Value, lower: Sequence[Affine], upper: Sequence[Affine], step: int, middle: _Middle) -> int:
    low = max(bound.evaluate(middle) for bound in lower)
    high = min(bound.evaluate(middle) for bound in upper)
    trips = max(0, -((low - high) // step))
    middle[iv] = low + step * (trips // 2)
    return trips
