"""How much of what a loop nest computes has to be computed: what is the same number each time counts once.

    for i: for j: for k: C[i, j] += alpha * A[i, k] * B[k, j]

alpha * A[i, k] is the same for each j, so that n * n products are enough for it, and what an optimizer or a C compiler
made of the nest may well do no more. So an operation counts for as many iterations as its operands can differ in: those
of the loops whose counters they depend on, by subscripts of arrays that are not written meanwhile. Operations that do
the same with the same operands count once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, math, memref, scf, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import ways
from affdsl.passes.analysis.effects import is_pure, may_do_anything
from affdsl.passes.analysis.iterations import Iterations, Lanes, UncountedError, work_inside
from affdsl.passes.analysis.nodes import ivs_of
from affdsl.passes.analysis.touched import Step, accesses_of, iterations_of
from affdsl.passes.analysis.work import Work, reductions_of, work_of

SAME = (
    arith.Binary, arith.Negate, arith.Compare, arith.Cast, arith.Select, math.Unary, math.Binary, math.Fma, vector.Fma,
    vector.Broadcast,
)  # fmt: skip
"""Operations that are the same where their kinds, types and operands are."""
LOADS = (affine.Load, affine.VectorLoad, memref.Load, vector.Load)


class _Known(FrozenValue):
    """Of a value: its number, which those have that are the same, and the counters on which it depends."""

    number: int
    depends: frozenset[Value]


class _Place(FrozenValue):
    """Where a block is: what leads to it, the counters of the loops around, with the iterations at each, outermost
    first, and the lanes in which it runs."""

    path: tuple[Step, ...]
    around: tuple[tuple[frozenset[Value], int], ...]
    lanes: Lanes

    @property
    def counters(self) -> frozenset[Value]:
        """All of them."""
        return frozenset[Value]().union(*(ivs for ivs, _ in self.around))


def needed(
    of: Iterations, nest: Op, lanes: Lanes, arrays: Mapping[Value, Value], path: tuple[Step, ...] = ()
) -> Work | None:
    """The work of a nest that has to be done, or None where only what it does is known.

    `path` leads to the nest from where it runs once, and `lanes` are those in which it runs.
    """
    counting = _Needed(of, nest, arrays, path)
    try:
        counting.block((nest,), _Place(path, ((counting.outer, lanes.total),), lanes))
    except UncountedError:
        return None
    return sum((Work({kind: n * runs for kind, n in work.items()}) for runs, work in counting.found.values()), Work())


@dataclass
class _Needed:
    """Visits a nest."""

    of: Iterations
    nest: Op
    arrays: Mapping[Value, Value]
    way: tuple[Step, ...]

    def __post_init__(self) -> None:
        self.outer = frozenset[Value]().union(*(ivs_of(op) for op, _ in self.way))
        self.found: dict[Hashable, tuple[int, Work]] = {}
        self.known: dict[Value, _Known] = {}
        self.numbers: dict[Hashable, int] = {}
        self.written: dict[Value, list[tuple[Op, ...]]] = {}
        self.differing: dict[tuple[tuple[int, ...], frozenset[Value]], int | None] = {}
        for way in ways(self.nest):
            for op in (op for block in way[-1].blocks() for op in block):
                for array in _written(op):
                    self.written.setdefault(self.of.base(array, self.arrays), []).append(way)

    def block(self, block: Block, at: _Place) -> None:
        """What is in a block."""
        if not at.lanes.total:
            return
        for op in block:
            self.op(op, at)

    def op(self, op: Op, at: _Place) -> None:
        """An operation, with what is inside of it. Raises UncountedError where data decides how often that runs."""
        known = self.result(op, at)
        for value in op.defines():
            self.known[value] = known
        if work := work_of(op):
            self.count(known.number, self.runs(known.depends, at), work)
        match op:
            case affine.For() | affine.Parallel() | scf.For() | scf.Parallel():
                ranges = self.of.ranges(op)
                inside = self.of.entered(ranges, self.of.needed(op.body), at.lanes)
                around = (*at.around, (frozenset(each.iv for each in ranges), inside.total))
                within = _Place((*at.path, (op, op.body)), around, inside)
                for value in op.binds():
                    self.known[value] = self.numbered(value, within.counters)
                for each in ranges:
                    self.known[each.iv] = self.numbered(each.iv, frozenset((each.iv,)))
                if isinstance(op, affine.Parallel) and (work := reductions_of(op)):
                    self.count(op, inside.total, work)
                self.block(op.body, within)
            case affine.If() | scf.If() | scf.IndexSwitch():
                if any(work_inside(part) for part in op.blocks()):
                    for part, chosen in self.of.branches(op, at.lanes):
                        self.block(part, _Place((*at.path, (op, part)), at.around, chosen))
            case _ if may_do_anything(op) or isinstance(op, func.Call) or any(map(work_inside, op.blocks())):
                raise UncountedError("it is counted otherwise")

    def result(self, op: Op, at: _Place) -> _Known:
        """What is known of the results of an operation."""
        if isinstance(op, arith.Constant):
            return self.numbered((op.value, str(op.result.type)), frozenset())
        if isinstance(op, LOADS):
            return self.loaded(op, at)
        if any(op.blocks()) or not is_pure(op):
            return self.numbered(op, at.counters)
        operands = [self.of_value(value) for value in op.reads()]
        depends = frozenset[Value]().union(*(each.depends for each in operands))
        if not isinstance(op, SAME):
            return self.numbered(op, depends)
        kinds = (getattr(op, "kind", ""), getattr(op, "predicate", ""), str(op.result.type))
        return self.numbered((type(op), *kinds, *(each.number for each in operands)), depends)

    def loaded(self, op: Op, at: _Place) -> _Known:
        """A load: the same number where its subscripts are, unless the array is written in a loop that is around."""
        (_, array, index, width, _, _) = next(accesses_of(op))
        root = self.of.base(array, self.arrays)
        index = tuple(self.of.resolved(expr) for expr in index)
        depends = self.depends(index)
        if root not in self.written:
            return self.numbered(("load", root, array, index, width), depends)
        around = [each for each, _ in at.path[len(self.way) :]]
        shared = max(_in_common(around, way) for way in self.written[root])
        return self.numbered(op, depends.union(*(ivs_of(each) for each in around[:shared])))

    def depends(self, index: Iterable[Affine]) -> frozenset[Value]:
        """The counters of which expressions are made."""
        roots = self.of.roots(v for expr in index for v in expr.values())
        return frozenset[Value]().union(*(self.of_value(v).depends for v in roots))

    def of_value(self, value: Value) -> _Known:
        """What is known of a value; one that is made before the nest is the same always."""
        return self.known.get(value) or self.numbered(value, frozenset())

    def numbered(self, key: Hashable, depends: frozenset[Value]) -> _Known:
        """A value with the number of its key: small, since a key that held those of its operands would double with each
        x * x."""
        return _Known(self.numbers.setdefault(key, len(self.numbers)), depends)

    def runs(self, depends: frozenset[Value], at: _Place) -> int:
        """In how many iterations operands differ that depend on these counters."""
        depends |= self.outer  # what is between nests may write the arrays that they read
        least, inside = at.lanes.total, frozenset[Value]()
        for ivs, total in at.around:
            inside |= ivs
            if depends <= inside:
                least = min(least, total)
                break
        if depends < inside:
            key = (tuple(id(block) for _, block in at.path), depends)
            if key not in self.differing:
                self.differing[key] = self.different(depends, at)
            least = min(least, self.differing[key] or least)
        return least

    def different(self, depends: frozenset[Value], at: _Place) -> int | None:
        """How many combinations of the numbers of counters there are; None where that would take too long to count."""
        try:
            lanes = iterations_of(self.of, at.path, depends)
        except UncountedError:
            return None
        numbers = [np.broadcast_to(lanes.values[iv], lanes.often.shape) for iv in depends if iv in lanes.values]
        return len(np.unique(np.stack(numbers), axis=1).T) if numbers else int(lanes.often.size > 0)

    def count(self, key: Hashable, runs: int, work: Work) -> None:
        """So much work, unless the same is done elsewhere."""
        before, _ = self.found.get(key, (0, work))
        self.found[key] = max(before, runs), work


def _in_common(some: Sequence[Op], others: Sequence[Op]) -> int:
    """How many operations both begin with."""
    return next(
        (k for k, (a, b) in enumerate(zip(some, others, strict=False)) if a is not b), min(len(some), len(others))
    )


def _written(op: Op) -> Iterator[Value]:
    """The arrays of which an operation writes something."""
    if isinstance(op, memref.Copy | affine.DmaStart | memref.DmaStart):
        yield op.target
    else:
        yield from (array for kind, array, *_ in accesses_of(op) if kind == "write")
