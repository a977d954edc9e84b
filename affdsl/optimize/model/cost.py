"""How many cycles a program ought to take with some sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TypeAlias

import numpy as np

from affdsl.frozen import Frozen, FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref, scf
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import holders, operands_first, walk
from affdsl.ir.types import FloatType
from affdsl.optimize.machine import PAGE, Machine, bits_of, element_of, registers_of
from affdsl.optimize.model.autovectorized import lanes_by_compiler, sums_in_order
from affdsl.optimize.model.chains import LOADS, waiting
from affdsl.optimize.model.compiled import (
    always_loaded,
    always_stored,
    done_each_time,
    has_loops,
    is_branch,
    is_straight,
    known_trips,
    stride_of,
    times_unrolled,
    usual_side,
    variables,
)
from affdsl.optimize.model.moving import Moving
from affdsl.optimize.model.units import SHORT_BITS, Units, at_once, subscripts, units_of
from affdsl.passes.analysis.iterations import Iterations, Lanes, UncountedError, one

Loop: TypeAlias = "affine.For | affine.Parallel | scf.For | scf.Parallel"
SAMPLE = 64
"""So many iterations stand for all of those that differ in bounds inside of them."""
BRANCH = 1.0
"""Operations by which a loop goes on to the next iteration: a comparison with a jump, which are one."""
BESIDE = 2
"""Registers that a loop needs beside those that it carries."""
SELDOM = 0.4
"""How often a branch is not foreseen on which data decides."""
SHUFFLES = {2: 1.0, 3: 3.0, 4: 2.0, 8: 3.0, 16: 4.0}
"""Moves for a register that is loaded or stored, by the stride in elements: compilers shuffle these together."""
FEW = 4
"""Longer strides than this are shuffled only where all elements between are used."""
OVERLAP = 3
"""Times of what is done at the same time are added as powers: two that are alike take 1.26 times as long as one."""
ADDRESSES = 11
"""Registers that compilers have for the addresses of vectors: each element beside another one has its own by gcc."""
RELOADED = 2.0
"""How often in an iteration an address is loaded that has no register (arakawa, gcc 12: 19 times for six of them)."""
WHILE = 100
"""How often a loop runs whose data say so."""


class Cost(FrozenValue):
    """How long something takes, in cycles.

    Attributes
    ----------
    computing
        For its operations, with all that they need in the nearest cache, and what they wait for each other.
    moving
        For what comes to the nearest cache from the next one, to that one from the one after it, and so on.
    """

    computing: float
    moving: tuple[float, ...] = ()

    @property
    def cycles(self) -> float:
        """All of it: computing and moving at the same time, which hinder each other where they take as long."""
        return float(sum(each**OVERLAP for each in (self.computing, *self.moving)) ** (1 / OVERLAP))


class Model(Frozen):
    """A module with the numbers of a call, and a machine.

    Attributes
    ----------
    known
        The numbers of index arguments.
    shapes
        The sizes of the arrays that are arguments.
    """

    module: Module
    known: Mapping[Value, int]
    shapes: Mapping[Value, Sequence[int]]
    machine: Machine

    @cached_property
    def iterations(self) -> Iterations:
        """How often what runs."""
        return Iterations(self.module, self.known, self.shapes)

    @cached_property
    def moving(self) -> Moving:
        """What moves between caches."""
        return Moving(self.iterations)

    @cached_property
    def touched(self) -> float:
        """The bytes that a call touches."""
        return self.moving.touched(self.module.functions[-1].body, {v: v for v in self.shapes})

    def computing(self, op: Op) -> float:
        """The cycles of an operation if all is in the nearest cache. Raises UncountedError as `of` does."""
        if op not in self._computed:
            self._computed[op] = Computing(self.iterations, self.machine).op(op, one())
        return self._computed[op]

    @cached_property
    def _computed(self) -> dict[Op, float]:
        return {}

    def of(self, op: Op, arrays: Mapping[Value, Value] | None = None, *, beside: float = 0.0) -> Cost:
        """The cost of an operation outside of all loops, of a call that is not the first one.

        All that is touched is in the nearest cache that has room for it.

        Parameters
        ----------
        arrays
            Which array each argument of the function around is, where that was called; by default they are themselves.
        beside
            How many bytes are touched between two calls.

        Raises
        ------
        UncountedError
            Where data decides how often something runs.
        """
        near = [level for level in self.machine.levels[:-1] if level.bytes is not None]
        caches = [level.bytes for level in near if level.bytes is not None]
        where = {v: v for v in self.shapes} if arrays is None else arrays
        bytes = self.moving.moved(op, {}, where, caches)
        farther = zip(bytes, near, self.machine.levels[1:], strict=True)
        held = self.touched + beside
        times = (moved / beyond.rate if held > (level.bytes or 0) else 0.0 for moved, level, beyond in farther)
        return Cost(self.computing(op), tuple(times))


@dataclass
class Computing:
    """Cycles of operations whose arrays are in the nearest cache."""

    of: Iterations
    machine: Machine

    def op(self, op: Op, lanes: Lanes) -> float:
        """The cycles of what is inside of an operation, in all lanes together."""
        match op:
            case affine.For() | affine.Parallel() | scf.For() | scf.Parallel():
                return self._loop(op, lanes)
            case affine.If() | scf.If() | scf.IndexSwitch():
                try:
                    return sum(self._block(block, chosen) for block, chosen in self.of.branches(op, lanes))
                except UncountedError:  # data decides: as often each way
                    return sum(self._block(block, lanes) for block in op.blocks()) / 2
            case func.Call() if not self.of.functions[op.callee].external:
                callee, inside = self.of.called(op, lanes)
                return self._block(callee.body, inside)
        times = WHILE if isinstance(op, scf.While) else 1
        return times * sum(self._block(block, lanes) for block in op.blocks())

    def _block(self, block: Block, lanes: Lanes) -> float:
        """The cycles of a block that is inside of no innermost loop."""
        if not lanes.total:
            return 0.0
        units = Units()
        for op in block:
            units.add(units_of(op, self.machine, self.of.maker))
        return units.cycles(self.machine) * lanes.total + sum(self.op(op, lanes) for op in block)

    def _loop(self, op: Loop, lanes: Lanes) -> float:
        inside, entered = self._inside(op, lanes), lanes.total * self.machine.entry
        if not inside.total:
            return 0.0
        if not isinstance(op, affine.For) or has_loops(op.body):
            return entered + self._block(op.body, inside)
        trips, wide = inside.total / lanes.total, lanes_by_compiler(op, self.of, lanes, self.machine)
        units = self._of_iteration(op, inside, trips, 1)
        waits, meets = waiting(op, self.machine, self.of.maker)
        at_once = 1.0 if meets else max(1.0, self.machine.window / max(1.0, units.all * trips))  # runs that overlap
        waits /= at_once
        alone = max(self.machine.turn, units.cycles(self.machine), waits)
        if wide == 1:
            return entered + inside.total * alone
        wide = min(wide, 1 << (known_trips(op) or wide).bit_length() - 1)
        vectors, rest = trips // wide + trips % wide // max(1, wide // 2), trips % max(1, wide // 2)
        in_memory = 0.0 if op.results or variables(walk(op), self.of) else wide * waits
        each = max(self.machine.turn, in_memory, *self._on_vectors(op, inside, trips, wide))
        on_vectors = 2 * entered * (not is_straight(op, wide)) + lanes.total * (vectors * each + rest * alone)
        return min(2 * entered + inside.total * alone, on_vectors)

    def _on_vectors(self, op: affine.For, inside: Lanes, trips: float, wide: int) -> tuple[float, float]:
        """The cycles of so many iterations at once, and those in which they wait for sums that are made in order."""
        units, sums = self._of_iteration(op, inside, trips, wide), len(sums_in_order(op, self.of))
        units.moves += sums * wide
        units.lost = wide * self.machine.lookup * self._looked_up(op, trips)  # branches are masks
        loads, moves = self.machine.spilled_loads, self.machine.spilled_moves
        reloaded = RELOADED * max(0, len(_moving(op)) - ADDRESSES)
        units.add(Units(all=1.0, loads=loads, lines=loads, moves=moves), reloaded)
        return units.cycles(self.machine), wide * self.machine.sum if sums else 0.0

    def _of_iteration(self, loop: affine.For, inside: Lanes, trips: float, wide: int) -> Units:
        """What one of so many iterations takes, or so many at once: these do what either side of a condition does."""
        floats = (v.type for v in loop.carried if isinstance(element_of(v.type), FloatType))
        held = sum(registers_of(type, self.machine) for type in floats)
        spilled = max(0.0, held + BESIDE - self.machine.target.registers)
        units = Units(all=BRANCH + 2 * spilled, loads=spilled, stores=spilled)
        units.lost = self.machine.lookup * self._looked_up(loop, trips)
        done = {*done_each_time(loop, self.of, self.machine.target.registers)}
        self._add(loop, loop.body, 1.0, inside, done, units, wide)
        return units

    def _add(
        self, loop: affine.For, block: Block, share: float, lanes: Lanes, done: set[Op], units: Units, wide: int,
        around: Op | None = None,
    ) -> None:  # fmt: skip
        """Add what a block takes that runs so often in an iteration: it is in the loop, or in another one `around`."""
        for op in block:
            if op not in done:
                continue
            often = share / times_unrolled(around) if around is not None and _stays(op, around) else share
            is_still = isinstance(op, affine.Load) and stride_of(op, loop, self.of) == 0  # one number, in all lanes
            units.add(units_of(op, self.machine, self.of.maker, 1 if is_still else wide), often)
            if isinstance(op, affine.Access):
                units.add(subscripts(op.index, loop.iv), often)
            if wide > 1 and isinstance(op, affine.Load | affine.Store) and not is_still:
                units.add(self._beside(op, loop, wide), often)
            for part, chosen, times in self._parts(op, lanes):
                all = share * (1.0 if wide > 1 and isinstance(op, scf.If) else times)
                self._add(loop, part, all, chosen, done, units, wide, op if times_unrolled(op) else around)
            by_data = isinstance(op, scf.If) and _is_loaded(op.condition, done, self.of)
            if by_data and isinstance(op, scf.If) and is_branch(op, {*always_loaded(loop.body)}):
                units.lost += share * SELDOM * self.machine.miss

    def _beside(self, op: affine.Load | affine.Store, loop: affine.For, wide: int) -> Units:
        """What compilers need for so many elements that are no neighbours, or are stored under conditions."""
        type = at_once(element_of(op.memref.type), wide)
        step, count = (stride_of(op, loop, self.of) or 0) * loop.step, registers_of(type, self.machine)
        stride, is_load = abs(step), isinstance(op, affine.Load)
        used = _used(op, loop, stride) if stride else set()
        if stride > 1 and (stride not in SHUFFLES or (len(used) < stride and (stride > FEW or not is_load))):
            # one lane after the other
            more = wide - count
            return Units(all=more + wide, loads=more * is_load, stores=more * (not is_load), moves=wide)
        filled = min(count, wide * bits_of(type) / self.machine.target.width)  # short lanes of several vectors at once
        of_two = self.machine.short if bits_of(type) < SHORT_BITS else 1.0
        moves = (SHUFFLES.get(stride, 0.0) + (step < 0)) * filled * of_two
        loads = 0.0
        if stride > 1 and is_load:  # what lies between is loaded as well
            loads = count * max(0.0, stride / len(used) - 1)
        masked = 0.0
        if isinstance(op, affine.Store) and op.index and (op.memref, op.index) not in {*always_stored(loop.body)}:
            masked = count * (self.machine.masked_store - 1)
        return Units(all=moves + loads, loads=loads, moves=moves, stores=masked, wide=moves)

    def _looked_up(self, loop: affine.For, trips: float) -> float:
        """How often an iteration is at a page that is not known at once, where all of them are at many pages."""
        places: dict[object, affine.Access] = {}
        for op in walk(loop):
            if isinstance(op, affine.Access) and op.index:
                last = op.index[-1]
                places.setdefault((op.memref, op.index[:-1], last - last.constant), op)
        found = 0.0
        for op in places.values():
            bytes = abs(stride_of(op, loop, self.of) or 0) * loop.step * bits_of(op.memref.type) / 8
            found += min(1.0, bytes / PAGE) if trips * bytes > self.machine.pages * PAGE else 0.0
        return found

    def _parts(self, op: Op, lanes: Lanes) -> list[tuple[Block, Lanes, float]]:
        """The blocks of an operation, in which lanes they run, and how often."""
        if not isinstance(op, affine.If | scf.If | scf.IndexSwitch):
            return [(part, lanes, float(times_unrolled(op) or 1)) for part in op.blocks()]
        if (side := usual_side(op, self.of.maker)) is not None:
            return [(side, lanes, 1.0)]
        try:
            branches = self.of.branches(op, lanes)
            return [(part, chosen, chosen.total / lanes.total) for part, chosen in branches if chosen.total]
        except UncountedError:
            return [(part, lanes, 0.5) for part in op.blocks()]

    def _inside(self, op: Loop, lanes: Lanes) -> Lanes:
        """The iterations of a loop; of those that differ in what runs inside of them some stand for all."""
        ranges = self.of.ranges(op)
        needed = self.of.needed(op.body) | {v for each in ranges for v in each.reads}
        for each in ranges:
            count = each.count(lanes)
            if each.iv not in needed:
                lanes = Lanes(lanes.values, lanes.often * count)
                continue
            taken = np.minimum(count, max(1, SAMPLE // max(1, count.size)))
            lane = np.repeat(np.arange(count.size), taken)
            kth = np.arange(lane.size) - np.repeat(np.cumsum(taken) - taken, taken)
            place = (2 * kth + 1) * count[lane] // (2 * taken[lane])
            lower, step = (np.broadcast_to(part(lanes), count.shape)[lane] for part in (each.lower, each.step))
            values = {v: np.broadcast_to(numbers, count.shape)[lane] for v, numbers in lanes.values.items()}
            often = lanes.often[lane] * (count[lane] / taken[lane])
            lanes = Lanes({**values, each.iv: lower + step * place}, often)
        return lanes


def _is_loaded(value: Value, ops: set[Op], of: Iterations) -> bool:
    """Whether a value depends on what some operations load."""
    found = operands_first(value, lambda v: made.reads() if (made := of.maker(v)) in ops and made is not None else ())
    return any(isinstance(of.maker(v), (memref.Load, *LOADS)) for v in found if of.maker(v) in ops)


def _moving(loop: affine.For) -> set[tuple[Value, tuple[Affine, ...]]]:
    """The elements that the iterations of a loop access, each at another place."""
    accesses = (op for op in walk(loop) if isinstance(op, affine.Load | affine.Store))
    return {(op.memref, op.index) for op in accesses if any(loop.iv in e.values() for e in op.index)}


def _used(op: affine.Load | affine.Store, loop: affine.For, stride: int) -> set[int]:
    """Which elements of so many are loaded, or stored, in an iteration of a loop, with the loops that are unrolled."""
    inside = [each for each in holders(loop) if isinstance(each, affine.For) and each is not loop]
    rows = {each.iv: range(0, times_unrolled(each) * each.step, each.step) for each in inside}
    found = set[int]()
    for each in walk(loop):
        if isinstance(each, op.__class__) and each.memref is op.memref and each.index:
            last = each.index[-1]
            places = product(*([by * n for n in rows[v]] for v, by in last.terms if v in rows))
            found |= {(last.constant + sum(place)) % stride for place in places}
    return found


def _stays(op: Op, loop: Op) -> bool:
    """Whether all iterations of a loop that is unrolled load or store one element, which is in a register."""
    return isinstance(op, affine.Load | affine.Store) and {*loop.binds()}.isdisjoint(
        v for e in op.index for v in e.values()
    )
