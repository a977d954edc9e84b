"""What each nest of a call does, and what it touches: counted from the loops, or while it runs where data decides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.iterations import Iterations, Lanes, UncountedError, one
from affdsl.passes.analysis.needed import needed
from affdsl.passes.analysis.touched import Footprint, Step, touched
from affdsl.passes.analysis.work import Work, reductions_of, work_of
from affdsl.seeing.nests import Nests, blocks_of

Run = Callable[[Mapping[Op, int], int], Sequence[int]]
"""Runs a call of which some operations raise counters, of so many; gives what they count."""

MOST_APART = 2_000_000
"""So many iterations are told apart to find what has to be done; of more, some is taken for different that is not."""


@dataclass
class Counted:
    """What was found of the nests of a call.

    Attributes
    ----------
    work
        What each nest does, by its operation; None where data decides.
    needed
        How much of the work of each nest, and of what is beside, has to be done, whatever computes it.
    footprints
        What each nest touches, and each operation outside of all nests, in the order of the text.
    why
        Why data decides.
    beside
        What is done outside of all nests.
    whole
        What the whole call does, if that was counted by a run.
    """

    work: dict[Op, Work | None] = field(default_factory=dict)
    needed: dict[Op, Work] = field(default_factory=dict)
    footprints: dict[Op, Footprint] = field(default_factory=dict)
    why: dict[Op, str] = field(default_factory=dict)
    beside: Work = field(default_factory=Work)
    whole: Work | None = None


def counted(nests: Nests, known: Mapping[Value, int], shapes: Mapping[Value, Sequence[int]]) -> Counted:
    """What the nests of a call do, where its arguments that are indices are known, and its arrays have these shapes."""
    entry = nests.module.functions[-1]
    found = Counted()
    arrays = {arg: arg for arg in entry.args if isinstance(arg.type, MemRefType)}
    of = Iterations(nests.module, known, shapes)
    _Counting(nests, of, found).block(entry.body, one(), arrays)
    return found


class Visitor(ABC):
    """Visits what is outside of the nests of a call: it runs once, or not at all, or in loops that are looked into.

    Of a call that is given a part of an array, that part counts as one, or `through_parts` the array.
    """

    def __init__(self, of: Iterations, nests: Nests, *, through_parts: bool = False) -> None:
        self._of, self._nests = of, {nest.op for nest in nests.found}
        self._array = of.base if through_parts else of.root

    @abstractmethod
    def nest(self, op: Op, lanes: Lanes | None, arrays: Mapping[Value, Value], path: tuple[Step, ...]) -> None:
        """Do something with a nest that runs in some lanes, or where data decides whether it does."""

    @abstractmethod
    def beside(self, op: Op, lanes: Lanes, arrays: Mapping[Value, Value], path: tuple[Step, ...]) -> None:
        """Do something with what stands outside of all nests, and runs."""

    def block(
        self, block: Block, lanes: Lanes | None, arrays: Mapping[Value, Value], path: tuple[Step, ...] = ()
    ) -> None:
        """A block that runs in some lanes, or where data decides whether it does; `path` leads to it."""
        for op in block:
            if op in self._nests:
                self.nest(op, lanes, arrays, path)
                continue
            if lanes is not None and lanes.total:
                self.beside(op, lanes, arrays, path)
            match op:
                case func.Call() if not self._of.functions[op.callee].external:
                    self._call(op, lanes, arrays, path)
                case affine.If() | scf.If() | scf.IndexSwitch():
                    for part, chosen in self._branches(op, lanes):
                        self.block(part, chosen, arrays, path if chosen is None else (*path, (op, part)))
                case affine.For() | scf.For():
                    inside = self._entered(op, lanes)
                    self.block(op.body, inside, arrays, path if inside is None else (*path, (op, op.body)))
                case _:
                    for part in op.blocks():
                        self.block(part, lanes, arrays, (*path, (op, part)))

    def _call(self, op: func.Call, lanes: Lanes | None, arrays: Mapping[Value, Value], path: tuple[Step, ...]) -> None:
        """The function of a call, which no other call shares: what its arguments are is known from here on."""
        callee = self._of.functions[op.callee]
        roots = dict[Value, Value]()
        for own, given in zip(callee.args, op.args, strict=True):
            if isinstance(own.type, MemRefType):
                roots[own] = self._array(given, arrays)
                continue
            with suppress(UncountedError):  # it is another one in each iteration around, or data gives it
                self._of.known[own] = int(self._of.value(given, one()).ravel()[0])
        try:
            inside = None if lanes is None else self._of.called(op, lanes)[1]
        except UncountedError:
            inside = None
        self.block(callee.body, inside, roots, (*path, (op, callee.body)))

    def _branches(self, op: Op, lanes: Lanes | None) -> Iterable[tuple[Block, Lanes | None]]:
        if lanes is not None:
            with suppress(UncountedError):
                return [*self._of.branches(op, lanes)]
        return [(part, None) for part in op.blocks()]

    def _entered(self, op: affine.For | scf.For, lanes: Lanes | None) -> Lanes | None:
        if lanes is not None:
            with suppress(UncountedError):
                return self._of.entered(self._of.ranges(op), self._of.needed(op.body), lanes)
        return None


class _Counting(Visitor):
    """Counts what is done."""

    def __init__(self, nests: Nests, of: Iterations, found: Counted) -> None:
        super().__init__(of, nests)
        self._found = found
        self._least = Iterations(nests.module, shapes=of.shapes, most=MOST_APART)
        self._least.known = of.known  # which grows

    def beside(self, op: Op, lanes: Lanes, arrays: Mapping[Value, Value], path: tuple[Step, ...]) -> None:
        for kind, count in work_of(op).items():
            self._found.beside[kind] += count * lanes.total
        if not (isinstance(op, func.Call | memref.Allocation) or any(op.blocks())):
            self._found.footprints[op] = touched(self._of, (op,), one(), arrays, path)

    def nest(self, op: Op, lanes: Lanes | None, arrays: Mapping[Value, Value], path: tuple[Step, ...]) -> None:
        found = self._found
        found.work[op] = None
        try:
            if lanes is None:
                raise UncountedError("data decides how often it runs")
            found.work[op] = work = self._of.work((op,), lanes)
            found.needed[op] = needed(self._least, op, lanes, arrays, path) or work
        except UncountedError as why:
            found.why[op] = str(why)
        runs = lanes is None or lanes.total
        found.footprints[op] = touched(self._of, (op,), one(), arrays, path) if runs else {}


def while_running(nests: Nests, run: Run) -> tuple[list[Work], Work]:
    """What each nest of a module does, where each call has its function, counted by a run; and the whole."""
    counters: dict[Op, int] = {}
    number: dict[int, int] = {}
    for k, block in enumerate(blocks_of(nests.module)):
        number[id(block)] = k
        counters.update(dict.fromkeys(block, k))
    numbers = run(counters, len(number))
    functions = {f.symbol: f for f in nests.module.functions}

    def work(op: Op) -> Work:
        total = Work()
        for outer in walk(op):
            for block in outer.blocks():
                runs = numbers[number[id(block)]] if block else 0
                for inner in block:
                    _add(total, work_of(inner), runs)
                if isinstance(outer, affine.Parallel):
                    _add(total, reductions_of(outer), runs)
            if isinstance(outer, func.Call) and not functions[outer.callee].external:
                total += work(functions[outer.callee])
        return total

    return [work(nest.op) for nest in nests.found], work(nests.module.functions[-1])


def _add(total: Work, part: Work, runs: int) -> None:
    for kind, count in part.items():
        total[kind] += count * runs
