"""What is to be said of each loop of the source: how it runs, why it is as fast as it is, and which roof is near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affdsl.codegen.errors import ToolchainError
from affdsl.frozen import Frozen
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, walk
from affdsl.ir.types import VectorType
from affdsl.optimize.model.compiled import stride_of
from affdsl.passes.advice.causes import Cause, Looked, causes, in_words, sentence
from affdsl.passes.analysis.iterations import Iterations
from affdsl.passes.analysis.parallelism import Parallelism
from affdsl.report.loops import Origin, SourceLoop, is_parallel, loops_of, own_ops
from affdsl.report.machine_code import of_loop
from affdsl.report.subject import Subject
from affdsl.report.taken import by_steps
from affdsl.report.times import LoopTime, Times
from affdsl.seeing.assembly import Assembly
from affdsl.seeing.loop_names import counters, names_in, plain

IN_THE_WAY = ("recurrence", "sum", "clamp", "wrapped", "gather", "columns", "library", "function", "whole", "extreme")
"""The causes that keep elements from running at once, those first that count most."""


class Verdict(Frozen):
    """What is said of a loop.

    Attributes
    ----------
    tags
        How it runs, in a word or two each: "vectors of 8", "one by one", "on threads", "waits for L3".
    sentences
        The same in whole sentences, with what is in the way.
    roof
        Which roof is near, and how near.
    causes
        What makes it slow, as it was written.
    steps
        The verbs of the steps that were taken on it, or on what it had become.
    gone
        The kinds of causes that these steps have dealt with.
    """

    loop: SourceLoop
    tags: tuple[str, ...]
    sentences: tuple[str, ...]
    roof: str
    causes: tuple[Cause, ...]
    time: LoopTime | None
    steps: tuple[str, ...] = ()
    gone: frozenset[str] = frozenset()


class _Facts(Frozen):
    """What all verdicts of a report rest on."""

    of: Subject
    times: Times
    shown: Assembly | None
    origin: Origin
    parallel: frozenset[str]
    vectors: Mapping[str, int]
    together: Mapping[str, int]
    became: Mapping[str, tuple[Op, ...]]
    names: Mapping[str, tuple[str, ...]]
    steps: Mapping[str, tuple[str, ...]]


def instructions_of(of: Subject) -> tuple[Assembly | None, str]:
    """The instructions of what runs; or none, and why not."""
    try:
        return of.running.asm(), ""
    except ToolchainError as error:
        return None, str(error)


def verdicts(of: Subject, found: Times, sources: Sequence[SourceLoop], shown: Assembly | None) -> tuple[Verdict, ...]:
    """The verdict on each loop of the source, in the order of the text."""
    written = of.kernel.written
    known: Mapping[Value | None, Parallelism] = {each.iv: each for each in written.loops()}
    iterations = Iterations(written.module, *_given(of))
    facts = _facts(of, found, sources, shown)
    return tuple(
        _verdict(loop, causes(_looked(loop, iterations, known.get(loop.iv))), facts, known.get(loop.iv))
        for loop in sources
    )


def _looked(loop: SourceLoop, iterations: Iterations, known: Parallelism | None) -> Looked:
    """A loop as causes are looked for in it, for the sizes of the call."""

    def stride(access: affine.Access) -> int | None:
        return stride_of(access, loop.op, iterations) if isinstance(loop.op, affine.For) else None

    makers, ops = definitions(loop.function), tuple(own_ops(loop.op))
    sums_up = known is not None and known.needs_reassociation and not known.prevented_by
    return Looked(loop.op, loop.name, ops, makers, stride, known, sums_up, loop.is_innermost)


def _given(of: Subject) -> tuple[Mapping[Value, int], Mapping[Value, Sequence[int]]]:
    """The numbers of the call, and the shapes of its arrays, by the arguments of the kernel as it was written."""
    written = of.kernel.written.func.args
    same = dict(zip(of.kernel.func.args, written, strict=True))
    call = of.call
    return {same[v]: n for v, n in call.known.items()}, {same[v]: shape for v, shape in call.shapes.items()}


def _facts(of: Subject, found: Times, sources: Sequence[SourceLoop], shown: Assembly | None) -> _Facts:
    origin, module = Origin(sources), of.running.module
    names = names_in(module)
    became: dict[str, list[Op]] = {}
    called: dict[str, list[str]] = {}
    parallel: set[str] = set()
    taken = by_steps(of, origin)
    for op in loops_of(module):
        for iv in counters(op) or (None,):
            own = origin.of(op, iv)
            if own is None:
                continue
            became.setdefault(own.key, []).append(op)
            called.setdefault(own.key, []).append(names.get(iv, plain(iv)) if iv is not None else "while")
            parallel |= {own.key} if is_parallel(op) else set()
    return _Facts(
        of,
        found,
        shown,
        origin,
        frozenset(parallel),
        taken.vectors,
        taken.together,
        {key: tuple(ops) for key, ops in became.items()},
        {key: tuple(each) for key, each in called.items()},
        {key: tuple(dict.fromkeys(each)) for key, each in taken.steps.items()},
    )


_SOLVED = frozenset(("clamp", "columns", "wrapped"))
"""What is in the way of vectors as it is written, and not any more where steps have made vectors all the same."""


def _gone(loop: SourceLoop, facts: _Facts) -> frozenset[str]:
    main = facts.times.main.get(loop.key)
    is_on_vectors = loop.key in facts.vectors or (main is not None and _has_vectors(main))
    return _SOLVED if facts.of.kernel.is_derived and is_on_vectors else frozenset()


def _verdict(loop: SourceLoop, why: tuple[Cause, ...], facts: _Facts, known: Parallelism | None) -> Verdict:
    time = facts.times.loops.get(loop.key)
    tags: list[str] = []
    said: list[str] = []
    if loop.key in facts.parallel:
        tags.append("on threads")
        said.append("Its iterations run on threads.")
    if loop.key not in facts.became:
        tags.append("part of another loop")
        said.append("No loop is left of it: it is unrolled, or runs as part of the loop that it was joined with.")
    elif loop.key in facts.vectors:
        lanes = facts.vectors[loop.key]
        tags.append(f"vectors of {lanes}")
        said.append(f"{lanes} of its iterations run at once, as the lanes of vectors.")
        _slow_on_vectors(why, tags, said)
    elif loop.is_innermost:
        _innermost(loop, why, facts, tags, said)
    elif loop.key in facts.together:
        tags.append(f"{facts.together[loop.key]} together")
        said.append(f"{facts.together[loop.key]} of its iterations run together, statement by statement.")
    elif loop.key not in facts.parallel:
        _around(known, tags, said)
    longest = max(time.nests, key=lambda nest: nest.seconds, default=None) if time is not None else None
    if longest is not None and longest.waits:
        tags.append(f"waits for {longest.bound}")
    said += _said_by_optimize(loop, facts)
    roof = _roof(loop, time, facts.times)
    steps = facts.steps.get(loop.key, ())
    return Verdict(
        loop, tuple(dict.fromkeys(tags)), tuple(dict.fromkeys(said)), roof, why, time, steps, _gone(loop, facts)
    )


def hot_names(of: Subject, found: Times) -> frozenset[str]:
    """What those loops are called that run most of the time of the loops of the source."""
    names = names_in(of.running.module)
    return frozenset(names[iv] for op in found.main.values() for iv in counters(op) if iv in names)


def _said_by_optimize(loop: SourceLoop, facts: _Facts) -> list[str]:
    """What the notes of `optimize()` say of a loop, or of loops of which it is the innermost."""
    said: list[str] = []
    for note in facts.of.kernel._notes:
        words = note.done or "; ".join(note.why)
        if words and any((each.name, each.location) == (loop.plain, loop.location) for each in note.loops[-1:]):
            said.append(f"optimize() says: {f'for {note.sizes}: ' if note.sizes else ''}{words}.")
    return said


def _has_vectors(op: Op) -> bool:
    return any(isinstance(v.type, VectorType) for each in walk(op) for v in (*each.defines(), *each.reads()))


def _innermost(loop: SourceLoop, why: Sequence[Cause], facts: _Facts, tags: list[str], said: list[str]) -> None:
    """An innermost loop of which no step has made vectors."""
    main = facts.times.main.get(loop.key) or facts.became[loop.key][0]
    if _has_vectors(main):
        tags.append("in order, on vectors")
        said.append("Its iterations run one after the other, each of them on vectors along another loop.")
        why = [each for each in why if each.kind in ("sum", "recurrence", "extreme", "library")]
        _in_the_way(why, tags, said, "Still as it was written")
        return
    found = None if facts.shown is None else of_loop(facts.shown, facts.names.get(loop.key, ()))
    if found is not None and found.lanes > 1 and not found.singles:
        tags.append(f"vectors of {found.lanes}")
        said.append(f"The compiler of C computes {found.lanes} elements at once.")
        if found.gathers:
            tags.append("gathers")
            said.append("It loads their lanes from several places: that takes as long as one after the other.")
            _in_the_way([each for each in why if each.kind in _SCATTERED], tags, said)
        else:
            _in_the_way([each for each in why if each.kind == "columns"], tags, said)
            _slow_on_vectors(why, tags, said)
        return
    if found is not None and found.lanes > 1:
        tags.append(f"vectors of {found.lanes} in part")
        said.append(
            f"The compiler of C computes some of it for {found.lanes} elements at once, and the rest one by one."
        )
    else:
        tags.append("one by one")
        said.append("One element is computed after the other.")
    if not _in_the_way(why, tags, said):
        said.append(
            "Nothing in it forbids vectors: they did not pay by the model, or it is too short for them."
            if facts.of.kernel.is_derived
            else "Nothing in it forbids vectors, but the compiler of C made none of it as it is: optimize() may."
        )
    _slow_on_vectors([each for each in why if each.kind not in IN_THE_WAY], tags, said)


def _in_the_way(why: Sequence[Cause], tags: list[str], said: list[str], before: str = "In the way") -> bool:
    """What keeps elements from running at once; whether there is anything."""
    blocking = sorted((c for c in why if c.kind in IN_THE_WAY), key=lambda c: IN_THE_WAY.index(c.kind))[:3]
    for each in blocking:
        tags.append(_TAGS[each.kind])
        said.append(f"{before}: {each.what}. {sentence(each.why)}")
    return bool(blocking)


def _slow_on_vectors(why: Sequence[Cause], tags: list[str], said: list[str]) -> None:
    """What takes long on vectors, too, and is not in their way."""
    for each in why:
        if each.kind in _ON_VECTORS:
            tags.append(_ON_VECTORS[each.kind])
            said.append(f"It has {each.what}. {sentence(each.why)}")


_ON_VECTORS = {
    "quotient": "divides", "division": "divides", "gather": "a gather", "mixed": "mixed types",
    "function": "a function", "library": "a function",
}  # fmt: skip
_SCATTERED = ("clamp", "wrapped", "gather", "columns")
_TAGS = {
    "recurrence": "waits for itself", "sum": "a sum in order", "clamp": "a clamp", "wrapped": "a jump",
    "gather": "a gather", "columns": "by columns", "library": "a function", "function": "a function",
    "whole": "divides", "extreme": "NaN-aware min or max",
}  # fmt: skip


def _around(known: Parallelism | None, tags: list[str], said: list[str]) -> None:
    """A loop around others that runs its iterations one after the other."""
    tags.append("around others")
    if known is None:
        said.append("It repeats what is inside of it.")
    elif known.is_parallel:
        said.append("It repeats what is inside of it. Its iterations may run in any order: threads could share them.")
    else:
        said.append(f"It repeats what is inside of it, one iteration after the other. {in_words(known)}")


def _roof(loop: SourceLoop, time: LoopTime | None, times: Times) -> str:
    """Which roof is near, and how near."""
    if time is None or not time.nests:
        return f"How long it takes is not known without data: {times.unknown}." if times.unknown else ""
    nest = max(time.nests, key=lambda each: each.seconds)
    if not nest.at_best:
        return ""
    if nest.waits:
        return (
            f"{_percent(nest.share)} of the roof: it moves data nearly as fast as {nest.bound} can, and waits for that."
        )
    roof = "computing" if nest.bound == "computing" else f"moving data to and from {nest.bound}"
    if loop.around:
        return f"With its nest: {_percent(nest.share)} of the roof, which is {roof}."
    return f"{_percent(nest.share)} of the roof, which is {roof}: {_verdict_on(nest.share)}"


def _percent(share: float) -> str:
    """A share with as many digits as say something.

    >>> _percent(0.123), _percent(0.0047)
    ('12%', '0.5%')
    """
    return f"{share:.0%}" if share >= SMALL else f"{share:.1%}"


SMALL = 0.02
"""Shares below are told with one more digit."""


def _verdict_on(share: float) -> str:
    if share >= NEAR:
        return "little is left to gain without doing less."
    return f"this machine can do as many operations, and move as many bytes, {1 / share:.3g} times as fast."


NEAR = 0.6
"""A nest that reaches so much of a roof has little left to gain without doing less."""
