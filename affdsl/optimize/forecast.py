"""How long a call ought to take with some sizes: a small model of what its loops compute and move, and nothing runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affdsl.codegen.native import native_target
from affdsl.codegen.roofline import Roofline, most_threads, roofline
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.expr import Value
from affdsl.kernel import Kernel
from affdsl.lang.annotations import ArrayType
from affdsl.lang.trace import Program
from affdsl.optimize.machine import Machine, measured
from affdsl.optimize.model.cost import Cost, Model
from affdsl.optimize.model.schedules import lines_begin
from affdsl.optimize.trial import numbers_of, spelled, symbols_of
from affdsl.passes.analysis.iterations import Lanes, UncountedError, one
from affdsl.passes.analysis.touched import joined, summary
from affdsl.passes.analysis.work import flops, functions
from affdsl.seeing.counting import Visitor, counted
from affdsl.seeing.nests import Nest, Nests, nests_of
from affdsl.seeing.profile import computing_at_best


class Expected(FrozenValue):
    """What the model says of one nest of a kernel as it runs.

    Attributes
    ----------
    name
        The nest, with its place in the source.
    computing
        Seconds for its operations: as many instructions as there are vectors and scalars, of which sums wait for those
        before them, or its loads and stores if these take longer.
    moving
        Seconds for what caches are too small to keep from one use to the next.
    level
        From where most of that time is: the name of a cache, or the memory.
    """

    name: str
    computing: float
    moving: float
    level: str

    @property
    def seconds(self) -> float:
        """How long it takes: computing and moving at the same time."""
        return max(self.computing, self.moving)

    def __str__(self) -> str:
        by = "computing" if self.computing >= self.moving else f"what moves to and from {self.level}"
        return f"{self.name}: {spelled(self.seconds)}, by {by}"


class Forecast(FrozenValue):
    """What is known of a call without making it.

    Attributes
    ----------
    sizes
        The sizes and index arguments, by name.
    flops, functions
        The floating-point operations of a call, and how often functions such as exp are computed.
    bytes_moved
        Bytes that have to be moved at least: each element once that is read before it is written, or is written.
    at_best
        Seconds for that at the roofline of this machine.
    bound
        "computing", or the name of the cache, or memory, that holds all arrays.
    nests
        The nests of the kernel as it runs.
    threads
        How many threads there are.
    """

    sizes: Mapping[str, int]
    flops: int
    functions: int
    bytes_moved: int
    at_best: float
    bound: str
    nests: tuple[Expected, ...]
    threads: int

    @property
    def seconds(self) -> float:
        """How long a call ought to take."""
        return sum(nest.seconds for nest in self.nests)

    def lines(self, measured: float | None = None) -> Iterator[str]:
        """What is to be said of it, and of a time that was measured."""
        sizes = ", ".join(f"{name} = {n}" for name, n in self.sizes.items())
        of_functions = f", {_counted(self.functions, 'functions')} such as exp" if self.functions else ""
        work = f"{_counted(self.flops, 'flop')}{of_functions}, and {_counted(self.bytes_moved, 'B')} that must move"
        yield f"with {sizes}: {work}" if sizes else f"a call: {work}"
        by = "computing" if self.bound == "computing" else f"moving to and from {self.bound}"
        threads = f", on {self.threads} threads" if self.threads > 1 else ""
        yield f"    at best on this machine: {spelled(self.at_best)}, by {by}{threads}"
        yield f"    expected: {spelled(self.seconds)}, {self._share(self.seconds)}"
        if measured is not None:
            yield f"    measured: {spelled(measured)}, {self._share(measured)}"
        if len(self.nests) > 1:
            yield from (f"        {nest}" for nest in self.nests if nest.seconds)

    def _share(self, seconds: float) -> str:
        """How far a time is from the roofline."""
        return f"{100 * self.at_best / seconds:.0f} % of the roof" if seconds else "nothing to do"


def expected(kernel: Kernel, sizes: Mapping[str, object], measured: float | None = None) -> list[str]:
    """What is to be said of a call of a kernel with some sizes, and of how many seconds it took.

    Raises ProgramError for sizes that are missing or are none.
    """
    try:
        return [*forecast(kernel, sizes).lines(measured)]
    except UncountedError as why:
        return [f"how much it does is not known without its data: {why}; profile() counts it while it runs"]


def forecast(kernel: Kernel, sizes: Mapping[str, object]) -> Forecast:
    """What a call of a kernel does, and how long it ought to take here.

    Raises ProgramError for sizes that are missing or are none, UncountedError where data decides how often loops run.
    """
    names = numbers_of(kernel.program, sizes, "explain")
    written = nests_of(kernel.written.module)
    found = counted(written, *_arguments(kernel.written.program, names))
    for why in found.why.values():
        raise UncountedError(why)
    nests = nests_of(kernel.module, width=native_target().width)
    threads = most_threads() if any(nest.is_parallel for nest in nests.found) else 1
    work = sum(found.needed.values(), found.beside)
    whole, roof = summary(joined(found.footprints.values())), roofline(threads)
    computing, (moving, level) = computing_at_best(work, roof), roof.moving(whole.fetched, whole.stored)
    machine = measured(native_target(), roofline(1))
    costs = costs_of(nests, *_arguments(kernel.program, names), machine)
    return Forecast(
        sizes=names,
        flops=flops(work),
        functions=functions(work),
        bytes_moved=whole.moved,
        at_best=max(computing, moving),
        bound="computing" if computing > moving else level,
        nests=tuple(_expected(nest, cost, machine, roof) for nest, cost in costs),
        threads=threads,
    )


def _arguments(program: Program, names: Mapping[str, int]) -> tuple[dict[Value, int], dict[Value, Sequence[int]]]:
    """The index arguments of the function with their numbers, and its arrays with their shapes."""
    args, symbols = program.func.args, symbols_of(program, names)
    own = zip(args[len(program.sizes) :], program.parameters, strict=True)
    shapes = {v: [e.evaluate(symbols) for e in p.type.shape] for v, p in own if isinstance(p.type, ArrayType)}
    return {v: names[v.hint] for v in args if v.hint in names}, dict(shapes)


def cycles_of(kernel: Kernel, sizes: Mapping[str, object], machine: Machine) -> float:
    """How many cycles a call of a kernel ought to take on one thread of a machine. Nothing is measured.

    Raises ProgramError for sizes that are missing or are none, UncountedError where data decides how often loops run.
    """
    names = numbers_of(kernel.program, sizes, "explain")
    nests = nests_of(kernel.module, width=machine.target.width)
    return sum(cost.cycles for _, cost in costs_of(nests, *_arguments(kernel.program, names), machine))


def costs_of(
    nests: Nests,
    known: Mapping[Value, int],
    shapes: Mapping[Value, Sequence[int]],
    machine: Machine,
    *,
    copied: bool = False,
) -> list[tuple[Nest, Cost]]:
    """What the model says of the nests that run, as far as sizes decide it.

    Where arrays are `copied` before each call, other bytes come between: of those that are copied half are taken to be
    in the way. Raises UncountedError where data decides how often loops run.
    """
    model = Model(nests.module, {**known, **lines_begin(nests.module)}, shapes, machine)
    costing = _Costing(model, nests, model.touched / 2 if copied else 0.0)
    costing.block(nests.module.functions[-1].body, one(), {v: v for v in shapes})
    return costing.found


class _Costing(Visitor):
    """Asks the model about each nest, where so many bytes are touched between two calls."""

    def __init__(self, model: Model, nests: Nests, between: float) -> None:
        super().__init__(model.iterations, nests, through_parts=True)
        self._model, self._between, self._by_op = model, between, {nest.op: nest for nest in nests.found}
        self.found: list[tuple[Nest, Cost]] = []

    def beside(self, *_: object) -> None:
        """Nothing: what stands outside of all nests is done once."""

    def nest(self, op: Op, lanes: Lanes | None, arrays: Mapping[Value, Value], _: object) -> None:
        if lanes is None or lanes.total:
            self.found.append((self._by_op[op], self._model.of(op, arrays, beside=self._between)))


def _expected(nest: Nest, cost: Cost, machine: Machine, roof: Roofline) -> Expected:
    """How long a nest takes here; threads share the work of one that is parallel."""
    threads = roof.threads if nest.is_parallel else 1
    beyond = [*zip(cost.moving, machine.levels[1:], roof.levels[1:], strict=True)]
    times = [
        (cycles / machine.clock * (1 if threads == 1 else alone.rate * machine.clock / together.bandwidth), alone.name)
        for cycles, alone, together in beyond
    ]
    moving, name = max(times, default=(0.0, ""))
    computing = cost.computing / machine.clock / threads + (machine.wake / machine.clock if threads > 1 else 0.0)
    return Expected(f"{nest.name} ({nest.op.location})", computing, moving, name)


def _counted(count: float, unit: str) -> str:
    """A number in the size of unit in which it is best read.

    >>> _counted(999, "B"), _counted(5_600_000, "flop")
    ('999 B', '5.6 Mflop')
    """
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {prefix}{unit}"
    return f"{count:.0f} {unit}"
