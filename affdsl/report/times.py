"""How long each loop of the source takes: measured nest by nest where arguments are given, and else by the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from affdsl.codegen.jit import has_vectors
from affdsl.codegen.native import native_target
from affdsl.codegen.roofline import Roofline, most_threads, roofline
from affdsl.frozen import Frozen
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.optimize.forecast import forecast
from affdsl.optimize.machine import measured
from affdsl.optimize.model.cost import Computing, Model
from affdsl.optimize.model.schedules import lines_begin
from affdsl.passes.analysis.iterations import Lanes, UncountedError, one
from affdsl.passes.analysis.touched import summary
from affdsl.passes.analysis.work import Work, flops
from affdsl.report.loops import Origin, SourceLoop, own_ops
from affdsl.report.subject import Subject
from affdsl.seeing.counting import Counted, counted
from affdsl.seeing.loop_names import Loop, counters
from affdsl.seeing.nests import Nest, nests_of
from affdsl.seeing.profile import Profile, computing_at_best, profile


class NestTime(Frozen):
    """How long a nest takes, and what this machine would take at best.

    Attributes
    ----------
    at_best
        Seconds at the roofline; 0 where it is not known how much is done.
    bound
        Which roof that is: "computing", or the cache or memory from which its data comes.
    intensity, flops_per_second
        Where it lies below the roofline.
    """

    name: str
    seconds: float
    at_best: float
    bound: str
    threads: int = 1
    intensity: float = 0.0
    flops_per_second: float = 0.0
    where: str = ""

    @property
    def share(self) -> float:
        """Which part of the speed that is possible is reached."""
        return min(1.0, self.at_best / self.seconds) if self.seconds else 0.0

    @property
    def waits(self) -> bool:
        """Whether it mostly waits for data that comes from farther away than the nearest cache."""
        return self.bound not in ("computing", "L1") and self.share >= WAITING


WAITING = 0.5
"""Such a part of the speed of a cache, or of memory, is reached where that is what a nest waits for."""


class LoopTime(Frozen):
    """How long a loop of the source takes, with what is inside of it, and in which nests.

    Attributes
    ----------
    is_split
        Whether it is a part of a nest whose time is measured or known as a whole, and the model says which part.
    """

    seconds: float
    share: float
    nests: tuple[NestTime, ...]
    is_split: bool = False


@dataclass(eq=False)
class Times:
    """All times of a report.

    Attributes
    ----------
    whole
        Seconds of the whole call.
    unknown
        Why it is not known how long a loop takes; empty where it is.
    main
        Of each loop of the source, the loop that runs most of its time.
    """

    whole: float = 0.0
    is_measured: bool = False
    nests: list[NestTime] = field(default_factory=list)
    loops: dict[str, LoopTime] = field(default_factory=dict)
    main: dict[str, Op] = field(default_factory=dict)
    rooflines: Mapping[int, Roofline] = field(default_factory=dict)
    profile: Profile | None = None
    unknown: str = ""


def times(of: Subject, sources: Sequence[SourceLoop]) -> Times:
    """How long a call takes, loop by loop. With arguments it runs, several times."""
    found = Times(is_measured=of.is_measured)
    nests = of.nests.found
    if of.is_measured:
        found.profile = profile(of.running.program, of.running.guarding, tuple(of.call.values), {})
        found.whole, found.rooflines = found.profile.whole.seconds, found.profile.rooflines
        found.nests = [
            NestTime(
                each.name,
                each.seconds,
                each.seconds_at_best,
                "computing" if each.bound == "compute" else each.level,
                each.threads,
                each.intensity,
                each.flops_per_second,
                str(each.location or ""),
            )
            for each in found.profile.nests
        ]
    else:
        threads = {most_threads() if nest.is_parallel else 1 for nest in nests} or {1}
        found.rooflines = {n: roofline(n) for n in threads | {1}}
        found.nests = _expected(of, found)
        found.whole = sum(each.seconds for each in found.nests)
    _divide(of, found, sources, _inside(of, found))
    return found


def _inside(of: Subject, found: Times) -> dict[Value, float]:
    """Seconds of the loops right inside of the nest that takes longest, by their counters, where that is sequential.

    They are measured in one more run; nothing where there is one loop, or where clocks would take most of the time.
    """
    if found.profile is None or not found.nests:
        return {}
    nest, whole = max(zip(of.nests.found, found.nests, strict=True), key=lambda pair: pair[1].seconds)
    loops = [each for each in own_ops(nest.op) if isinstance(each, Loop)]
    if not isinstance(nest.op, affine.For | scf.For) or len(loops) < 2 or nest.callees:
        return {}
    module, inside = of.running.module, nest.names[nest.op.iv]
    given = tuple(of.call.values)
    looked = profile(of.running.program, of.running.guarding, given, {}, FEW, inside=inside)
    width = native_target().width if has_vectors(module) else None
    pairs = zip(nests_of(module, width=width, inside=inside).found, looked.nests, strict=True)
    inner = {iv: each for own, each in pairs for iv in counters(own.op)}
    if sum(each.runs for each in inner.values()) * CLOCK > MOST_OF_CLOCKS * whole.seconds:
        return {}
    scale = whole.seconds / sum(each.seconds for each in inner.values())
    return {iv: each.seconds * min(scale, 1.0) for iv, each in inner.items()}


FEW = 5
"""How often a call is measured to divide the time of a nest."""
CLOCK, MOST_OF_CLOCKS = 5e-8, 0.1
"""Seconds that a clock takes, about, each time it starts and stops; and which part of the time clocks may take."""


def _expected(of: Subject, found: Times) -> list[NestTime]:
    """What the model says of each nest; none that runs takes no time."""
    nests = of.nests
    try:
        expected = {each.name: each for each in forecast(of.running, of.sizes).nests}
    except UncountedError as why:
        found.unknown = f"data decides how much it does: {why}"
        return [NestTime(nest.name, 0.0, 0.0, "") for nest in nests.found]
    work = counted(nests, of.call.known, of.call.shapes)
    made = []
    for nest in nests.found:
        says = expected.get(f"{nest.name} ({nest.op.location})")
        threads = most_threads() if nest.is_parallel else 1
        made.append(_at_best(nest, work, found.rooflines[threads], says.seconds if says is not None else 0.0))
    return made


def _at_best(nest: Nest, work: Counted, roof: Roofline, seconds: float) -> NestTime:
    """A nest below the roofline."""
    of, needed = summary(work.footprints.get(nest.op, {})), work.needed.get(nest.op) or Work()
    computing, (moving, level) = computing_at_best(needed, roof), roof.moving(of.fetched, of.stored)
    all = flops(needed)
    return NestTime(
        nest.name,
        seconds,
        max(computing, moving),
        "computing" if computing > moving else level,
        roof.threads,
        all / of.moved if of.moved else 0.0,
        all / seconds if seconds else 0.0,
        str(nest.op.location or ""),
    )


@dataclass
class _Recording(Computing):
    """Notes the cycles of each operation that it is asked for."""

    found: dict[Op, float] = field(default_factory=dict)

    def op(self, op: Op, lanes: Lanes) -> float:
        """The cycles of an operation, noted."""
        cycles = super().op(op, lanes)
        self.found[op] = self.found.get(op, 0.0) + cycles
        return cycles


def _divide(of: Subject, found: Times, sources: Sequence[SourceLoop], inside: Mapping[Value, float]) -> None:
    """Give each loop of the source its part of the nests: by the model, where several loops share a nest.

    What is measured `inside` of a nest is taken as it is.
    """
    origin, module = Origin(sources), of.nests.module
    machine = measured(native_target(), roofline(1))
    model = Model(module, {**of.call.known, **lines_begin(module)}, of.call.shapes, machine)
    seconds, nests_of = dict.fromkeys((loop.key for loop in sources), 0.0), dict[str, list[NestTime]]()
    split: set[str] = set()
    best = dict[str, float]()
    for nest, time in zip(of.nests.found, found.nests, strict=True):
        recording = _Recording(model.iterations, machine)
        with suppress(UncountedError):
            recording.op(nest.op, one())
        cycles = recording.found
        whole = cycles.get(nest.op, 0.0)
        known = _as_measured(nest.op, cycles, whole / time.seconds if time.seconds else 0.0, inside)
        for op, own in _roots(nest.op, origin):
            part = cycles.get(op, 0.0) / whole if whole else float(op is nest.op)
            seconds[own.key] += time.seconds * part
            if time.seconds * part and time not in nests_of.get(own.key, ()):
                nests_of.setdefault(own.key, []).append(time)
            split |= {own.key} if part < ALL_OF_IT and op not in known else set()
        for op, own in _all(nest.op, origin):
            cost = (cycles.get(op, 0.0) / whole if whole else 1.0) * (time.seconds or 1e-12)
            if own.key not in best or cost > best[own.key]:
                best[own.key], found.main[own.key] = cost, op
    for loop in sources:
        if loop.key in found.main:
            share = seconds[loop.key] / found.whole if found.whole else 0.0
            of_loop = tuple(nests_of.get(loop.key, ()))
            found.loops[loop.key] = LoopTime(seconds[loop.key], min(share, 1.0), of_loop, loop.key in split)


ALL_OF_IT = 0.97
"""A loop with such a part of the cycles of its nest has its time."""


def _as_measured(nest: Op, cycles: dict[Op, float], rate: float, inside: Mapping[Value, float]) -> set[Op]:
    """Scale the cycles of the loops that were measured, with those of what is in them; gives these loops."""
    found: set[Op] = set()
    for op in own_ops(nest):
        seconds = next((inside[iv] for iv in counters(op) if iv in inside), None)
        if seconds is not None and cycles.get(op):
            scale = seconds * rate / cycles[op]
            cycles.update({each: cycles[each] * scale for each in walk(op) if each in cycles})
            found.add(op)
    return found


def _roots(op: Op, origin: Origin) -> list[tuple[Op, SourceLoop]]:
    """The loops that stand for loops of the source, without those inside of another one of the same loop."""
    found: list[tuple[Op, SourceLoop]] = []

    def visit(op: Op, seen: frozenset[str]) -> None:
        own = [each for each in origin.all(op) if each.key not in seen]
        found.extend((op, each) for each in own)
        for block in op.blocks():
            for inner in block:
                visit(inner, seen | {each.key for each in own})

    visit(op, frozenset())
    return found


def _all(op: Op, origin: Origin) -> list[tuple[Op, SourceLoop]]:
    """All loops, each with those of the source that it runs; the innermost of several for one loop counts as well."""
    found = [(op, each) for each in origin.all(op)]
    for block in op.blocks():
        for inner in block:
            found += _all(inner, origin)
    return found
