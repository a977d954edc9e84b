"""Where the time of a call goes: by loop nest, beside what is computed and moved, and what this machine could do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from affdsl.codegen.arguments import check, on_numpy
from affdsl.codegen.c.instruments import Instruments
from affdsl.codegen.c.sites import Sites
from affdsl.codegen.cache import default_cache
from affdsl.codegen.caller import Caller
from affdsl.codegen.jit import check_sizes, has_vectors, jit_source, known_arguments, loaded, signature_of
from affdsl.codegen.native import native_target
from affdsl.codegen.quiet import QUIET, Watch
from affdsl.codegen.roofline import Roofline, most_threads, roofline
from affdsl.errors import ProgramTypeError
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects.func import Module
from affdsl.ir.location import Location
from affdsl.lang.annotations import defaulted
from affdsl.lang.source import problem
from affdsl.lang.trace import Program
from affdsl.passes.analysis.bounds import Bounds
from affdsl.passes.analysis.touched import Touched, joined, summary
from affdsl.passes.analysis.work import Work, flops, flops_by_type, functions, integer_operations
from affdsl.progress import progress, tracked
from affdsl.seeing.copies import Copies, copies
from affdsl.seeing.counting import Counted, counted, while_running
from affdsl.seeing.nests import Nest, nests_of
from affdsl.seeing.table import html, seconds_text, table
from affdsl.shown import ShownAsText

LONG_ENOUGH = 1.0
"""So many seconds all runs take together, unless one takes longer."""
FEWEST, MOST = 3, 25


class Measured(FrozenValue):
    """What was measured and counted of one nest, or of the whole call. All numbers are those of one call.

    Attributes
    ----------
    name
        The loops of the nest, behind the functions whose calls lead to it.
    location
        Where the user wrote it.
    seconds, fastest
        The median of all runs, and the fastest one.
    runs
        How often the nest is run by one call.
    threads
        How many threads share it.
    flops
        Floating-point operations that have to be done: sums, differences, products, quotients, extremes and square
        roots; a product and a sum in one instruction are two. What is the same number each time, as a factor of which
        a loop changes nothing, counts once.
    functions
        How often exp, sin, pow and the like are computed, which count as no floating-point operations.
    integer_operations
        Operations on integers that are no indices.
    work
        All that the nest does as it is written, by kind and type, with the elements that are loaded and stored.
    bytes_read, bytes_written, bytes_touched
        Bytes of memory, each counted once; those of either kind.
    bytes_moved
        Bytes that come from elsewhere, as they are certainly read before they are written, and bytes that go there: so
        much is moved at least, and more where caches are too small. Arrays that are allocated in the nest do not count.
    at_most
        The arrays of which the bytes are upper bounds, as data decides which elements it is.
    is_counted_by_run
        Whether the work was counted while it ran, because data decides how often something in it runs.
    level
        The cache, or the memory, from which it takes longest to move what the nearer ones cannot hold.
    seconds_at_best
        What this machine would take at least for so many operations, and to move so many bytes. Arrays of which it is
        not certain how much is touched are left out.
    bound
        "compute" or "memory": which of both takes longer.
    """

    name: str
    location: Location | None
    seconds: float
    fastest: float
    runs: int
    threads: int
    flops: int
    functions: int
    integer_operations: int
    work: Mapping[tuple[str, str], int]
    bytes_read: int
    bytes_written: int
    bytes_touched: int
    bytes_moved: int
    at_most: tuple[str, ...]
    is_counted_by_run: bool
    level: str
    seconds_at_best: float
    bound: str

    @property
    def flops_per_second(self) -> float:
        """Floating-point operations a second."""
        return self.flops / self.seconds if self.seconds else 0.0

    @property
    def bytes_per_second(self) -> float:
        """Bytes that have to be moved, by the second."""
        return self.bytes_moved / self.seconds if self.seconds else 0.0

    @property
    def intensity(self) -> float:
        """Floating-point operations for each byte that has to be moved."""
        return self.flops / self.bytes_moved if self.bytes_moved else float("inf")

    @property
    def share(self) -> float:
        """Which part of the speed that this machine allows is reached: the height below the roofline, up to 1.

        It is more only where the roof was measured too low, as others were busy: then it is measured again.
        """
        return self.seconds_at_best / self.seconds if self.seconds else 0.0

    def __repr__(self) -> str:
        where = f" at {self.location}" if self.location is not None else ""
        return f"<{self.name}{where}: {seconds_text(self.seconds)}, {100 * self.share:.0f} % of the roof>"


@dataclass(frozen=True, repr=False)
class Profile(ShownAsText):
    """Where the time of a call goes; printed it is a table.

    Attributes
    ----------
    kernel
        Its name.
    sizes
        The sizes of the call.
    repeats
        How many runs were measured.
    nests
        The loop nests in the order of the text, and copies of whole arrays. Loops in kernels that are called outside of
        all loops are nests of their own; what is called inside of a loop is part of it.
    whole
        The whole call, without what Python does before and after it.
    rooflines
        What this machine can do, by the number of threads.
    others
        How many cores other processes used on average meanwhile.
    """

    kernel: str
    sizes: Mapping[str, int]
    repeats: int
    nests: tuple[Measured, ...]
    whole: Measured
    rooflines: Mapping[int, Roofline] = field(repr=False)
    others: float = 0.0

    @property
    def seconds_beside(self) -> float:
        """The time outside of all nests: allocations, and what the clocks take."""
        return max(self.whole.seconds - sum(nest.seconds for nest in self.nests), 0.0)

    def __str__(self) -> str:
        return table(self)

    def _repr_html_(self) -> str:
        return html(self)

    def __repr__(self) -> str:
        return f"<profile of {self.kernel}: {seconds_text(self.whole.seconds)}, {len(self.nests)} nests>"


def profile(
    program: Program,
    bounds: Bounds,
    arguments: tuple[object, ...],
    keywords: Mapping[str, object],
    repeats: int | None = None,
    in_place: bool = False,
    inside: str | None = None,
) -> Profile:
    """A call of a program, measured, as `affdsl.kernel.Kernel.profile` gives it."""
    given: object = repeats
    if given is not None and (not isinstance(given, int) or isinstance(given, bool) or given < 1):
        raise problem(ProgramTypeError, f"repeats is {repeats!r}", "it is how often the call is measured: 1 or more")
    call = Call(program, bounds, arguments, keywords)
    width = native_target().width if has_vectors(program.module) else None
    nests = nests_of(program.module, width=width, inside=inside)
    clocks = Instruments({nest.op: k for k, nest in enumerate(nests.found, 1)})
    runner = _Runner(call, nests.module, clocks, in_place=in_place)
    known = counted(nests, call.known, call.shapes)
    if known.why:
        everywhere = nests_of(program.module, width=width, everywhere=True, inside=inside)

        def run(counters: Mapping[Op, int], count: int) -> Sequence[int]:
            counting = _Runner(
                call, everywhere.module, Instruments(counters=counters), in_place=in_place, is_serial=True
            )
            return counting.run()[2 : 2 + count]

        by_run, known.whole = while_running(everywhere, run)
        for nest, work in zip(nests.found, by_run, strict=True):
            if nest.op in known.why:
                known.work[nest.op] = known.needed[nest.op] = work
    once = runner.run()[0] * 1e-9  # it counts for no time: the others find all in place, in memory and in caches
    times = repeats or min(max(int(LONG_ENOUGH / max(once, 1e-9)), FEWEST), MOST)
    watch = Watch()
    taken = [runner.run() for _ in tracked(range(times), f"measuring {program.func.symbol}")]
    others = watch.others()
    threads = most_threads() if any(nest.is_parallel for nest in nests.found) else 1
    found = _profile(program, call, nests.found, known, taken, {n: roofline(n) for n in {1, threads}}, others)
    is_above = any(nest.share > 1 for nest in (*found.nests, found.whole))
    if is_above or (others <= QUIET and any(roof.is_doubtful for roof in found.rooflines.values())):
        again = {n: roofline(n, again=True) for n in found.rooflines}
        found = _profile(program, call, nests.found, known, taken, again, others)
    return found


class Call:
    """The arguments of a call, and what they say of its sizes."""

    def __init__(
        self, program: Program, bounds: Bounds, arguments: tuple[object, ...], keywords: Mapping[str, object]
    ) -> None:
        self.program, self.bounds = program, bounds
        self.signature = signature_of(program)
        keywords = defaulted(program.parameters, arguments, keywords) or keywords
        lent = on_numpy(program.func.symbol, arguments, keywords)
        if lent is not None:
            arguments, keywords = lent
        self.values = check(self.signature, arguments, keywords)
        arrays = tuple(x.shape for x in self.values if isinstance(x, np.ndarray))
        scalars = tuple(x for x in self.values if not isinstance(x, np.ndarray))
        sizes = check_sizes(program, arrays, scalars, bounds)
        own = program.func.args
        numbers = zip(own, known_arguments(program, sizes, scalars), strict=True)
        self.known = {value: number for value, number in numbers if number is not None}
        given = zip(own[len(program.sizes) :], self.values, strict=True)
        self.shapes = {value: x.shape for value, x in given if isinstance(x, np.ndarray)}

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes and the index arguments by their names."""
        return {value.hint: number for value, number in self.known.items()}

    def copies(self) -> Copies:
        """Copies of the arrays that are written."""
        pairs = zip(self.signature.arguments, self.values, strict=True)
        written = [(x, getattr(argument, "written", False)) for argument, x in pairs if isinstance(x, np.ndarray)]
        return copies([x for x, _ in written], [is_written for _, is_written in written])


class _Runner:
    """A copy of a kernel with instruments, and the arguments with which it is called."""

    def __init__(
        self, call: Call, module: Module, instruments: Instruments, *, in_place: bool = False, is_serial: bool = False
    ) -> None:
        cache, sites = default_cache(), Sites()
        compiler = cache.compiler()
        source, flags = jit_source(
            call.program, call.bounds, compiler, sites=sites, module=module, instruments=instruments
        )
        if is_serial:  # counters are not shared by threads
            flags = tuple(flag for flag in flags if flag != "-fopenmp")
        with progress(f"compiling {call.program.func.symbol}"):
            self._library = cache.library(compiler, source, flags)
        self._caller: Caller = loaded(call.program, call.bounds, self._library, sites)
        self._copies = None if in_place else call.copies()
        self._numbers = np.zeros(instruments.room, np.int64)
        arrays = iter(()) if self._copies is None else iter(self._copies.arrays)
        self._values = [
            next(arrays) if isinstance(x, np.ndarray) and self._copies is not None else x for x in call.values
        ]

    def run(self) -> list[int]:
        """Call it once; gives what it noted."""
        if self._copies is not None:
            self._copies.refresh()
        self._caller(*self._values)
        self._library.call("affdsl_numbers", self._numbers)
        return [int(n) for n in self._numbers]


def _profile(
    program: Program, call: Call, nests: Sequence[Nest], known: Counted, taken: Sequence[Sequence[int]],
    rooflines: Mapping[int, Roofline], others: float,
) -> Profile:  # fmt: skip
    whole, threads = joined(known.footprints.values()), max(rooflines)

    def measured(
        name: str,
        where: Location | None,
        clock: int,
        count: int,
        work: Work,
        needed: Work,
        of: Touched,
        *,
        by_run: bool,
    ) -> Measured:
        nanoseconds = [numbers[2 * clock] for numbers in taken]
        seconds, fastest, runs = median(nanoseconds) * 1e-9, min(nanoseconds) * 1e-9, taken[-1][2 * clock + 1]
        return _measured(name, where, seconds, fastest, runs, work, needed, of, rooflines[count], by_run=by_run)

    rows = []
    total, least = Work(known.beside), Work(known.beside)
    for clock, nest in enumerate(nests, 1):
        work = known.work[nest.op] or Work()
        needed = known.needed.get(nest.op, work)
        total, least = total + work, least + needed
        count = threads if nest.is_parallel else 1
        of = summary(known.footprints[nest.op])
        rows.append(measured(nest.name, nest.op.location, clock, count, work, needed, of, by_run=nest.op in known.why))
    name, location = program.func.symbol, program.func.location
    work = known.whole or total
    entire = measured(name, location, 0, threads, work, least, summary(whole), by_run=bool(known.why))
    return Profile(name, call.sizes, len(taken), tuple(rows), entire, rooflines, others)


def _measured(
    name: str,
    location: Location | None,
    seconds: float,
    fastest: float,
    runs: int,
    work: Work,
    needed: Work,
    of: Touched,
    roof: Roofline,
    *,
    by_run: bool,
) -> Measured:
    computing, (moving, level) = computing_at_best(needed, roof), roof.moving(of.fetched, of.stored)
    return Measured(
        name=name,
        location=location,
        seconds=seconds,
        fastest=fastest,
        runs=runs,
        threads=roof.threads,
        flops=flops(needed),
        functions=functions(work),
        integer_operations=integer_operations(work),
        work=dict(work),
        bytes_read=of.read,
        bytes_written=of.written,
        bytes_touched=of.together,
        bytes_moved=of.moved,
        at_most=of.at_most,
        is_counted_by_run=by_run,
        level=level,
        seconds_at_best=max(computing, moving),
        bound="compute" if computing > moving else "memory",
    )


def computing_at_best(work: Work, roof: Roofline) -> float:
    """The seconds that so many floating-point operations take at least."""
    return sum(count / roof.flops.get(type, roof.flops["f32"]) for type, count in flops_by_type(work).items())
