"""The loop nests of a schedule as recipes see them: bands of perfectly nested loops, and how accesses move in them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from itertools import pairwise

from affdsl.explained import Note, SourceLoop
from affdsl.frozen import Frozen
from affdsl.ir.core import Lanewise, Op
from affdsl.ir.dialects import affine, arith, memref, vector
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import holders, walk
from affdsl.ir.types import ComplexType, FloatType, IndexType, IntegerType, Type, VectorType
from affdsl.optimize import machine
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError, in_one_line
from affdsl.passes.analysis.access import Access, Accesses, accesses_of
from affdsl.passes.analysis.combining import COMBINERS
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.early_exits import early_loops
from affdsl.passes.analysis.parallelism import of_loop
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.analysis.stride import Motion, Stride, strides, supposed
from affdsl.passes.analysis.trip_count import TripCount, trip_count
from affdsl.passes.analysis.work import functions, work_of
from affdsl.passes.legality.words import in_source
from affdsl.passes.lowering.split_vectors import BYTE, NARROWEST_FLOAT
from affdsl.passes.transforms.vectorize import Tail
from affdsl.passes.transforms.vectorize.varying import Varying
from affdsl.schedule.alone import alone, way_to
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import IllegalTransform, Schedule


class Nest(Frozen):
    """An innermost loop with those around it that hold the next one and nothing else.

    Attributes
    ----------
    band
        These loops, outermost first.
    around
        The loops around the band, outermost first, which hold other things, too.
    names
        What loops are called in the schedule.
    """

    band: tuple[affine.For, ...]
    around: tuple[Op, ...]
    names: Mapping[Value, str]
    function: Func
    module: Module

    @cached_property
    def dependences(self) -> Dependences:
        """Those of the nest alone."""
        return Dependences(alone(way_to(self.function, {self.innermost.iv})), self.module)

    @property
    def innermost(self) -> affine.For:
        """The innermost loop."""
        return self.band[-1]

    @cached_property
    def ends_early(self) -> bool:
        """Whether the innermost loop may end early."""
        return self.innermost in early_loops(self.innermost, self.function)

    def note(self, done: str = "", why: Sequence[str] = ()) -> Note:
        """A note about the band."""
        loops = tuple(SourceLoop(self.name(loop), loop.location) for loop in self.band)
        return Note(loops, done, tuple(why))

    @property
    def place(self) -> str:
        """The band in words, with its place in the source."""
        return self.note().place

    def name(self, loop: affine.For) -> str:
        """What a loop is called."""
        return self.names[loop.iv]

    @cached_property
    def loops(self) -> list[affine.For]:
        """The loops around with affine bounds, and those of the band, outermost first."""
        return [op for op in (*self.around, *self.band) if isinstance(op, affine.For)]

    @cached_property
    def accesses(self) -> tuple[Access, ...]:
        """The accesses of the innermost loop, in the order of the text."""
        return self.dependences.accesses.inside(self.innermost)

    def stride(self, access: Access, loop: affine.For) -> Stride:
        """How an access moves with a loop of the band."""
        return self._strides(access)[loop.iv]

    def is_still(self, access: Access, loop: affine.For) -> bool:
        """Whether an access touches the same elements in all iterations of a loop."""
        return self.stride(access, loop).motion == "invariant"

    def _strides(self, access: Access) -> Mapping[Value, Stride]:
        if access not in self._known:
            found = strides(access, self.dependences.accesses.scope)
            self._known[access] = {iv: supposed(self._by_data(each, access, iv), access) for iv, each in found.items()}
        return self._known[access]

    def _by_data(self, found: Stride, access: Access, iv: Value) -> Stride:
        """How an access moves of which data says the subscripts, if these are the same in all iterations of a loop.

        All but the last may be so, too, and that is the number of the iteration: x[rows[k], j] moves along j.
        """
        op, loop = access.op, next((each for each in self.loops if each.iv is iv), None)
        if found.motion != "unknown" or not loop or not isinstance(op, memref.Load | memref.Store) or not op.indices:
            return found
        varying = Varying(loop, frozenset(loop.carried))
        moving = [v in varying for v in op.indices]
        if any(moving[:-1]) or (moving[-1] and op.indices[-1] is not iv):
            return found
        step = loop.step if moving[-1] else 0
        motion: Motion = "invariant" if not step else "contiguous" if step == 1 else "strided"
        return Stride(motion, (*[0] * (len(moving) - 1), step))

    @cached_property
    def _known(self) -> dict[Access, Mapping[Value, Stride]]:
        return {}

    @cached_property
    def has_vectors(self) -> bool:
        """Whether a step has made vectors of it already."""
        return any(isinstance(v.type, VectorType) for op in walk(self.innermost) for v in op.defines())


def nests(s: Schedule) -> tuple[Nest, ...]:
    """The nests of a schedule as it is now, in the order of the text."""
    return _nests(s.function, s.module, tuple([(row.iv, row.names[0]) for row in s.loops()]))


@lru_cache(maxsize=16)
def _nests(function: Func, module: Module, names: tuple[tuple[Value, str], ...]) -> tuple[Nest, ...]:
    """The nests of a function, with what was found of them, since strategies come back to the same program."""
    return tuple([Nest(band, around, dict(names), function, module) for band, around in _bands_of(function)])


def nests_in(s: Schedule, *roots: str) -> list[Nest]:
    """The nests that some loops hold, in the order of the text; a loop that holds none is one itself."""
    inside = {name for root in roots for name in names_in(s, root)}
    return [nest for nest in nests(s) if nest.name(nest.innermost) in inside]


def nest_called(s: Schedule, name: str) -> Nest | None:
    """The nest whose innermost loop has a name, if there is one: a loop that runs once is gone."""
    return next((nest for nest in nests(s) if nest.name(nest.innermost) == name), None)


def on_vectors(s: Schedule, name: str, lanes: int, tail: Tail, *, reassociate: bool = False) -> Schedule:
    """The schedule given after a loop of it is on vectors. Raises as steps do, and where most of it is lane by lane."""
    before = nest_called(s, name)
    s.vectorize(name, lanes, tail=tail, reassociate=reassociate)
    if is_lane_by_lane(s, name):
        raise ScheduleError(lane_by_lane(before, name))
    return s


def lane_by_lane(nest: Nest | None, name: str) -> str:
    """That a loop would do most of its work one lane after the other, and the first thing that makes it so."""
    said = f"most of {name} would run lane by lane"
    loop = None if nest is None else next((each for each in nest.loops if nest.name(each) == name), None)
    if nest is None or loop is None:
        return said
    for access in nest.accesses:
        if nest.stride(access, loop).motion in APART:
            return f"{said}: {in_source(access)} is not in a row from one iteration to the next"
    return f"{said}: each lane would wait for the one before it" if is_recurrence(nest, loop) else said


APART = ("strided", "varying", "unknown")
"""How accesses move that touch other places of memory with each iteration, and are no vectors."""


@contextmanager
def unfit_where_refused() -> Iterator[None]:
    """Raise UnfitError, with the reason, where a step is refused."""
    try:
        yield
    except (IllegalTransform, ScheduleError) as error:
        raise UnfitError(in_one_line(error)) from None


class Counts(dict[Value, TripCount]):
    """How often a loop runs, and those inside of it, by their counters: each is found when it is asked for."""

    def __init__(self, loop: affine.For, accesses: Accesses) -> None:
        super().__init__()
        self._loop, self._accesses = loop, accesses

    def __missing__(self, iv: Value) -> TripCount:
        loop = next(op for op in holders(self._loop) if isinstance(op, affine.For) and op.iv is iv)
        found = self[iv] = trip_count(loop, iv, self._accesses)
        return found


def counts_inside(s: Schedule, loop: affine.For) -> Counts:
    """How often a loop runs, and those inside of it: all other nests are not looked at."""
    return _counts(alone(way_to(s.function, {loop.iv})), loop, s.module)


@lru_cache(maxsize=4)
def _counts(function: Func, loop: affine.For, module: Module) -> Counts:
    return Counts(loop, accesses_of(function, module))


def _bands_of(op: Op, path: tuple[Op, ...] = ()) -> Iterator[tuple[tuple[affine.For, ...], tuple[Op, ...]]]:
    here = (*path, op) if isinstance(op, affine.For | affine.Parallel) else path
    inner = [each for block in op.blocks() for each in block if each.block_fields]
    found = [nest for each in inner for nest in _bands_of(each, here)]
    if isinstance(op, affine.For) and not found:
        outer = (k for k, (a, b) in enumerate(pairwise(here), 1) if not isinstance(a, affine.For) or a.body != (b,))
        first = max(outer, default=0)
        found.append((tuple(each for each in here[first:] if isinstance(each, affine.For)), here[:first]))
    yield from found


def now_called(s: Schedule, nest: Nest, known: Container[str]) -> str:
    """What the innermost loop of a nest is called after steps for other nests, which may have taken it out of theirs.

    A nest that has another name now is one with the same statements that is not `known` from before.
    """
    name, found = nest.name(nest.innermost), nests(s)
    if any(each.name(each.innermost) == name for each in found):
        return name
    same = (each for each in found if each.name(each.innermost) not in known and has_same_statements(each, nest))
    return next((each.name(each.innermost) for each in same if not each.has_vectors), name)


def again_in(s: Schedule, nest: Nest, before: Schedule) -> Nest | None:
    """The nest of a schedule that one of the schedule before has become, if its statements are still the same.

    Parts of a loop, and its versions, are of the same statements: they are told apart by their order.
    """
    mine, found = ([each for each in nests(of) if has_same_statements(each, nest)] for of in (before, s))
    at = next(k for k, each in enumerate(mine) if each.innermost.iv is nest.innermost.iv)
    return found[at] if len(found) == len(mine) else None


def has_same_statements(nest: Nest, other: Nest) -> bool:
    """Whether two nests are the same statements, by their places in the source."""
    return [op.location for op in nest.innermost.body] == [op.location for op in other.innermost.body]


def updates(nest: Nest) -> tuple[Access, arith.Binary] | None:
    """The only store of the innermost loop, and what it stores: what its element held, combined with something."""
    stores = [a for a in nest.accesses if a.kind == "write"]
    if len(stores) != 1 or not isinstance(stores[0].op, affine.Store):
        return None
    store = stores[0].op
    makers = {v: op for op in nest.innermost.body for v in op.defines()}
    combined = makers.get(store.value)
    if not isinstance(combined, arith.Binary) or combined.kind not in COMBINERS:
        return None
    held = (combined.left, combined.right) if COMBINERS[combined.kind][1] == "both" else (combined.left,)
    for value in held:
        load = makers.get(value)
        if isinstance(load, affine.Load) and (load.memref, load.index) == (store.memref, store.index):
            return stores[0], combined
    return None


def roots_of(s: Schedule) -> list[str]:
    """The outermost loops, by name, in the order of the text."""
    return [row.names[0] for row in s.loops() if row.depth == 0]


def names_in(s: Schedule, root: str) -> list[str]:
    """A loop and those inside of it, by name, in the order of the text; none where the loop is gone: it ran once."""
    rows = list(s.loops())
    at = next((k for k, row in enumerate(rows) if row.names[0] == root), None)
    if at is None:
        return []
    found = [root]
    for row in rows[at + 1 :]:
        if row.depth <= rows[at].depth:
            break
        found.append(row.names[0])
    return found


def loop_called(s: Schedule, name: str) -> affine.For | None:
    """The loop of a name, if there is one with affine bounds: one that runs once is gone."""
    iv = next((row.iv for row in s.loops() if name in row.names), None)
    return next((op for op in holders(s.function) if isinstance(op, affine.For) and op.iv is iv), None)


def require_loop(s: Schedule, name: str) -> affine.For:
    """The loop of a name. Raises UnfitError where it is gone, or its bounds are not affine."""
    found = loop_called(s, name)
    if found is None:
        raise UnfitError(f"data says how often {name} runs")
    return found


def span(loop: affine.For) -> Affine | None:
    """How far a loop goes, from where it begins to where it ends; None where either is the least or largest of several.

    That is how often it runs, if it has steps of 1 and is not empty.
    """
    return loop.upper[0] - loop.lower[0] if len(loop.lower) == len(loop.upper) == 1 else None


def perfect_band(loop: affine.For) -> list[affine.For]:
    """A loop with those inside of it that are all that the one around holds."""
    match loop.body:
        case (affine.For() as inner,):
            return [loop, *perfect_band(inner)]
    return [loop]


def made_inside(function: Func, loops: Container[Value]) -> list[tuple[str, list[Value]]]:
    """The buffers that are made inside of some loops, by name, with the counters of these, outermost first."""
    found: list[tuple[str, list[Value]]] = []
    names = {v: name for name, v in arrays_of(function).items()}

    def search(op: Op, path: list[Value]) -> None:
        here = [*path, op.iv] if isinstance(op, affine.For) and op.iv in loops else path
        if isinstance(op, memref.Allocation) and path:
            found.append((names[op.result], path))
        for block in op.blocks():
            for inner in block:
                search(inner, here)

    search(function, [])
    return found


def used_again(s: Schedule, loops: Container[Value]) -> list[tuple[str, Value]]:
    """The arguments that each iteration of a loop uses anew, by name, with the counter of that loop.

    It is the innermost one that holds all that is done to the array, in several loops, and moves along with it nowhere.
    """
    dependences = Dependences(s.function, s.module)
    of: dict[Buffer, list[Access]] = {}
    for access in dependences.accesses.all:
        if access.buffer.kind == "argument" and access.buffer.rank:
            of.setdefault(access.buffer, []).append(access)
    found: list[tuple[str, Value]] = []
    for buffer, accesses in of.items():
        paths = [dependences.accesses.domains[access.op].ivs for access in accesses]
        common = [ivs[0] for ivs in zip(*paths, strict=False) if len({*ivs}) == 1]
        if not common or common[-1] not in loops or all(access.kind == "read" for access in accesses):
            continue
        next_ones = {ivs[len(common)] if len(ivs) > len(common) else None for ivs in paths}
        scope = dependences.accesses.scope
        still = all(strides(access, scope)[common[-1]].motion == "invariant" for access in accesses)
        if len(next_ones) > 1 and None not in next_ones and still:
            found.append((buffer.name, common[-1]))
    return found


def is_recurrence(nest: Nest, loop: affine.For) -> bool:
    """Whether an iteration of a loop of the nest needs what another one has made, and not as part of a sum."""
    found = of_loop(nest.dependences, loop.iv)
    return found is not None and found.verdict == "sequential"


def lanes_of(nest: Nest, options: Options) -> int:
    """How many of the widest numbers of a nest a register has. Raises UnfitError where that is one."""
    types = [a.buffer.type.element for a in nest.accesses]
    if has_complex_numbers(nest):
        raise UnfitError("its numbers are complex, and lanes of vectors are real: the compiler of C makes its vectors")
    lanes = lanes_for(types, options)
    if lanes < 2:
        raise UnfitError("a register has no two of its numbers")
    return lanes


def lanes_for(types: Iterable[Type], options: Options) -> int:
    """How many of the widest numbers of some types a register has; 0 where vectors have no such numbers, or of none."""
    bits = [bits_in_register(type) if isinstance(type, FloatType | IntegerType) else 0 for type in types]
    return options.target.lanes(max(bits)) if bits and all(bits) else 0


def bits_in_register(type: FloatType | IntegerType) -> int:
    """How many bits of a register a number takes: narrow floats are computed with as floats, truth values are bytes."""
    return max(type.width, NARROWEST_FLOAT if isinstance(type, FloatType) else BYTE)


def has_complex_numbers(nest: Nest) -> bool:
    """Whether a nest reads or writes complex numbers, of which only the compiler of C makes vectors."""
    return any(isinstance(access.buffer.type.element, ComplexType) for access in nest.accesses)


def require_quick_numbers(nest: Nest) -> None:
    """Raise UnfitError where functions of the C library make complex numbers: they, and no sums, take the time."""
    ops = [*walk(nest.innermost)]
    if any(isinstance(op, complex_.ComplexOp) for op in ops) and any(map(is_library_call, ops)):
        raise UnfitError("its functions of the C library take longer than one addition waits for another")


def is_library_call(op: Op) -> bool:
    """Whether a function of the C library computes the result of an operation."""
    return functions(work_of(op)) > 0


def is_lane_by_lane(s: Schedule, name: str, *, gathers: bool = False) -> bool:
    """Whether a loop on vectors makes so many of them lane by lane that it is hardly faster.

    An operation on vectors does as much as one for each lane; numbers of one lane, and what puts them together or takes
    vectors apart, do as much as they cost. Vectors from which others are shuffled do nothing by themselves. Indices
    cost nothing; nor does it to put together what lanes load from tables, where a target `gathers`.
    """
    loop = loop_called(s, name)
    if loop is None:
        return False
    ops = [*walk(loop)]
    taken = {v for op in ops if not isinstance(op, vector.Shuffle) for v in op.reads()}
    shuffled = {v for op in ops if isinstance(op, vector.Shuffle) for v in op.reads()} - taken
    loaded = {op.result for op in ops if isinstance(op, memref.Load)} if gathers else set()
    work = cost = 0
    for op in ops:
        if isinstance(op, vector.FromElements) and loaded.issuperset(op.elements):
            continue
        if gathers and isinstance(op, vector.Extract) and _is_index(op):
            continue
        lanes = max((machine.lanes_of(v.type) for v in (*op.defines(), *op.reads())), default=1)
        if any(v in shuffled for v in op.defines()):
            cost += 1
        elif isinstance(op, vector.FromElements):
            cost += lanes
        elif isinstance(op, vector.Extract):
            cost += 1
        elif isinstance(op, (Lanewise, vector.Shuffle, *_WHOLE)) and lanes > 1:
            weight = WHOLE_NUMBERS if getattr(op, "kind", "") in ("fptosi", "fptoui") else 1
            work, cost = work + weight * lanes, cost + weight
        elif isinstance(op, affine.Load | affine.Store | memref.Load | memref.Store | Lanewise) and not _is_index(op):
            work, cost = work + 1, cost + 1
    return work < LEAST_GAIN * cost


WHOLE_NUMBERS = 4
"""How many operations a float becomes an integer by, which asks whether it fits: one by one, or in all lanes."""
LEAST_GAIN = 1.75
"""How many times faster a loop on vectors should be by the number of its operations."""
_WHOLE = (affine.VectorLoad, affine.VectorStore, vector.Load, vector.Store, vector.MaskedLoad, vector.MaskedStore)


def _is_index(op: Op) -> bool:
    """Whether an operation only computes indices."""
    return bool(op.defines()) and all(isinstance(v.type, IndexType) for v in op.defines())
