"""Our dependences next to mlir-opt's on random programs.

    python -m tests.passes.analysis.against_mlir_opt --count 450

Each program is asked about twice: as it is, and in plain words (`plain`), which mlir-opt reads rightly.
Ours must be inside its own, in existence and in both ends of every distance; and what we say of an access must be what
we say of all that it became in plain words together.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from affdsl.ir.dialects import affine, func
from affdsl.ir.traverse import walk
from affdsl.mlir.writers import print_op
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependence, Dependences
from affdsl.passes.analysis.views import VIEWS
from tests import oracles
from tests.harness.command import Watch, parser, seeds
from tests.passes.analysis.plain import Plain, plain
from tests.passes.analysis.programs import Program, generate

PATIENCE = 5.0
"""Seconds that mlir-opt gets for a program; most take 0.1, some hours."""
_MESSAGE = re.compile(
    r"^<stdin>:\d+:\d+: (?:remark: dependence from \d+ to \d+ at depth \d+ = (.*)|error: dependence check failed)$",
    re.M,
)

Ends: TypeAlias = tuple[int | None, int | None]
Touch: TypeAlias = affine.Load | affine.Store


@dataclass(frozen=True)
class Answer:
    """What mlir-opt says of a pair at a depth: `false`, `true`, or the ends of distances; None is a failure."""

    text: str | None

    @property
    def ends(self) -> tuple[Ends, ...]:
        """The ends of each distance; none are given where all loops are in the same iteration."""
        found = re.findall(r"\[(-inf|-?\d+), (\+inf|-?\d+)\]", self.text or "")
        return tuple((None if "inf" in a else int(a), None if "inf" in b else int(b)) for a, b in found)

    def holds(self, distances: Sequence[Ends]) -> bool:
        """Whether a dependence with these ends of its distances may be what it says."""
        if self.text == "false":
            return False
        return self.text == "true" or all(map(_within, distances, self.ends))


def _within(inner: Ends, outer: Ends) -> bool:
    (low, high), (least, most) = inner, outer
    return (least is None or (low is not None and low >= least)) and (
        most is None or (high is not None and high <= most)
    )


@dataclass(frozen=True)
class Pair:
    """Two accesses of one function to one memref, and what both of us say of a depth."""

    program: Program
    function: func.Func
    source: Touch
    sink: Touch
    depth: int
    theirs: Answer
    ours: Dependence | None

    @property
    def verdict(self) -> str:
        """How ours lies to theirs; `denied` is what must not be."""
        if self.theirs.text is None:
            return "mlir-opt fails"
        if self.ours is None:
            return "both: none" if self.theirs.text == "false" else "ours: none"
        ends = _ends(self.ours)
        if not self.theirs.holds(ends):
            return "denied"
        return "equal" if self.theirs.text == "true" or ends == self.theirs.ends else "ours: less"


def _ends(dependence: Dependence) -> tuple[Ends, ...]:
    return tuple((d.low, d.high) for d in dependence.distances)


def answers_of(module: func.Module) -> list[Answer] | None:
    """What mlir-opt says of a program, in its order; None where it does not come to an end."""
    flags = ["--test-memref-dependence-check", "--mlir-print-op-on-diagnostic=false", "-o", "/dev/null", "-"]
    command = [oracles.require("mlir-opt-22"), *flags]
    try:
        done = subprocess.run(command, input=print_op(module), capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    assert done.returncode == 0, done.stderr
    return [Answer(message[1]) for message in _MESSAGE.finditer(done.stderr)]


Home: TypeAlias = dict[Touch, tuple[func.Func, Dependences, Access]]


def accesses(module: func.Module) -> Home:
    """The affine loads and stores of a program, as we understand them."""
    home: Home = {}
    for function in module.functions:
        if not function.external:
            of = Dependences(function, module)
            home |= {a.op: (function, of, a) for a in of.compared if isinstance(a.op, affine.Load | affine.Store)}
    return home


def pairs(program: Program, module: func.Module, answers: list[Answer]) -> Iterator[Pair]:
    """Every pair of accesses to one buffer in the program or a form of it, for each depth, with both answers.

    Left out is what is not the same question. mlir-opt takes two memrefs for two buffers, and a view for a buffer of
    its own: a subscript outside of a view's shape is to it an element that no other has. It knows no loop but those of
    the affine dialect. Two loads do not depend to it.
    """
    views = {op.result for op in walk(module) if isinstance(op, VIEWS) and hasattr(op, "result")}
    home = accesses(module)
    said = iter(answers)
    for source, (function, of, first) in home.items():
        for sink, (other, _, second) in home.items():
            loops = first.domain.loops[: of.common(first, second)] if function is other else ()
            known = [loop for loop in loops if isinstance(loop, affine.For | affine.Parallel)]
            for depth in range(1, len(known) + 2):
                theirs = next(said)
                if source.memref is sink.memref and source.memref not in views and len(known) == len(loops):
                    reads = isinstance(source, affine.Load) and isinstance(sink, affine.Load)
                    ours = None if reads else of.at(first, second, depth)
                    yield Pair(program, function, source, sink, depth, theirs, ours)
    assert next(said, None) is None, "mlir-opt says more than was expected"


@dataclass
class Report:
    """How our answers lie to mlir-opt's, about programs as they are and in plain words."""

    raw: Counter[str] = field(default_factory=Counter)
    plain: Counter[str] = field(default_factory=Counter)
    denied: list[Pair] = field(default_factory=list)
    """What mlir-opt denies of programs as they are."""
    wrong: list[str] = field(default_factory=list)
    """What it denies of programs in plain words, and where our own two answers differ."""
    endless: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        def shown(counts: Counter[str]) -> str:
            return f"{counts.total()} answers: {', '.join(f'{n} {kind}' for kind, n in sorted(counts.items()))}"

        seeds = ", ".join(map(str, dict.fromkeys(pair.program.seed for pair in self.denied))) or "none"
        return (
            f"as it is: {shown(self.raw)} (seeds {seeds})\nin plain words: {shown(self.plain)}; {len(self.wrong)} "
            f"wrong\nmlir-opt does not come to an end: seeds {', '.join(map(str, self.endless)) or 'none'}"
        )


def compare(program: Program, report: Report) -> None:
    """Ask both of us everything about a program."""
    written = plain(program.module)
    for module, counts in ((program.module, report.raw), (written.module, report.plain)):
        answers = answers_of(module)
        if answers is None:
            report.endless.append(program.seed)
            continue
        for pair in pairs(program, module, answers):
            verdict = pair.verdict
            counts[verdict] += 1
            if verdict == "denied" and module is program.module:
                report.denied.append(pair)
            elif verdict == "denied":
                report.wrong.append(f"seed {program.seed}: mlir-opt denies {_described(pair)}")
    report.wrong += [f"seed {program.seed}: {said}" for said in differences(program.module, written)]


def _described(pair: Pair) -> str:
    return f"{pair.source.location} to {pair.sink.location} at depth {pair.depth}: {pair.ours}; it says {pair.theirs}"


def differences(module: func.Module, written: Plain) -> Iterator[str]:
    """Where what we say of two accesses is not what we say of all that they became in plain words."""
    before, after = accesses(module), accesses(written.module)
    for source, (function, of, first) in before.items():
        for sink, (other, _, second) in before.items():
            if function is not other or not (first.is_exact and second.is_exact):
                continue
            for depth in range(1, of.common(first, second) + 2):
                found = [
                    now.at(after[a][2], after[b][2], depth)
                    for a in written.copies[source]
                    for b in written.copies[sink]
                    for now in (after[a][1],)
                ]
                one, several = _hull([of.at(first, second, depth)]), _hull(found)
                if one != several:
                    place = f"{source.location} to {sink.location} at depth {depth}"
                    yield f"{place}: {one}, in plain words {several}"


def _hull(dependences: Sequence[Dependence | None]) -> tuple[Ends, ...] | None:
    """The ends of several dependences taken as one; None if there is none."""
    found = [_ends(d) for d in dependences if d is not None]
    if not found:
        return None
    lows, highs = ([[ends[k] for ends in of] for of in zip(*found, strict=True)] for k in (0, 1))
    return tuple(
        (None if None in low else min(n for n in low if n is not None),
         None if None in high else max(n for n in high if n is not None))
        for low, high in zip(lows, highs, strict=True)
    )  # fmt: skip


def compare_seeds(of: Sequence[int]) -> Report:
    """Compare the programs of some seeds."""
    report, watch = Report(), Watch()
    for k, seed in enumerate(of, 1):
        compare(generate(seed), report)
        if k % 50 == 0:
            watch.say(k, "programs", len(report.wrong))
    return report


def main() -> int:
    """The command line; the exit status says whether anything is wrong."""
    options = parser("tests.passes.analysis.against_mlir_opt", __doc__, 450)
    options.set_defaults(seed=0)
    report = compare_seeds(seeds(options.parse_args()))
    print("\n".join([str(report), *report.wrong[:30]]))
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
