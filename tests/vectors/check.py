"""What is tried with a random program: its loops on vectors, by every way to run them, beside the program as it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress
from random import Random
from typing import Any, TypeAlias

import numpy as np

from affdsl.errors import AffdslError
from affdsl.ir.dialects.func import Func
from affdsl.ir.interpreter import run
from affdsl.ir.verifier import verify
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.contract import contract
from affdsl.passes.transforms.vectorize import AGAIN, TAILS, Tail, vectorize
from tests.harness.batch import UNREACHABLE, C
from tests.harness.counts import Counts
from tests.harness.judges import copied, same_but_nan
from tests.harness.machines import MACHINES, optimized
from tests.harness.reading import by_name
from tests.vectors.generator import Generated, function_of, generate
from tests.vectors.together import Arguments, Left, by_c, by_mlir

SANITIZED = C(
    "gcc", ("-O1", "-march=native", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *UNREACHABLE)
)
_BITS = {"baseline": 128, "sse4.2": 128, "avx2": 256, "avx512": 512, "neon": 128, "sve": 128, "rvv": 128}
_NATIVE = ("-march=native",)
TARGETS: dict[str, tuple[C, int | None]] = {
    **{name: (optimized(MACHINES[name][0], "-O0"), bits) for name, bits in _BITS.items()},
    "native": (C("gcc", ("-O0", *_NATIVE, *UNREACHABLE)), 512),
    "optimized": (C("gcc", ("-O2", *_NATIVE, *UNREACHABLE)), 512),
    "clang": (C("clang-22", ("-O0", *_NATIVE)), None),
    "sanitized": (SANITIZED, None),
}
"""How C is compiled, and how wide the registers are into which vectors are split."""
SHARES = {"optimized": 5, "sanitized": 10}
"""What takes long is tried with one of so many programs."""


Arrays: TypeAlias = list[np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Asked:
    """How a nest is vectorized: by how many lanes, with what tail."""

    width: int
    tail: Tail
    reassociate: bool
    is_contracted: bool

    def __str__(self) -> str:
        words = [f"by {self.width}", self.tail]
        words += ["contracted"] if self.is_contracted else []
        return ", ".join([*words, *(["reassociate"] if self.reassociate else [])])


@dataclass(frozen=True)
class Version:
    """A program on vectors: the function before it and after, and what was asked for each of its nests."""

    program: Generated
    before: Func
    after: Func
    asked: tuple[tuple[str, Asked], ...]

    @property
    def keeps_order(self) -> bool:
        """Whether all of it rounds as the program before does."""
        return not any(each.reassociate for _, each in self.asked)

    def __str__(self) -> str:
        return f"seed {self.program.seed}: " + "; ".join(f"{iv} {each}" for iv, each in self.asked)


Ready: TypeAlias = tuple[Version, list[Arrays]]
"""A version, and what it must leave by run."""


@dataclass
class Report(Counts):
    """How many programs, nests and vectorized nests there were, why others were refused, and what was wrong."""

    programs: int = 0
    nests: int = 0
    vectorized: int = 0
    outer: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[str, str]] = field(default_factory=list)


def version(program: Generated, report: Report, width: int | None = None) -> Version:
    """The program with a loop of each nest on vectors: the inner one, or the next one around it that may be.

    With a `width`, nothing is drawn at random: it is that width, with scalar tails, and each operation stays as it is.
    """
    random = Random(program.seed)
    before = after = function_of(program)
    asked: list[tuple[str, Asked]] = []
    for nest in program.nests:
        report.nests += 1
        each = Asked(random.randint(2, 16), random.choice(TAILS), random.random() < 0.15, random.random() < 0.3)
        if width is not None:
            each = Asked(width, "scalar", reassociate=False, is_contracted=False)
        if each.is_contracted:
            before, after = (_contracted(f, nest[0]) for f in (before, after))
        if width is None and len(nest) > 1 and random.random() < 0.3:
            made = _boxes(after, nest, random, report)
            if made is not None:
                after = made
                asked.append((nest[-1], replace(each, tail="masked", reassociate=False)))
                continue
        first = IllegalTransform(before, "")
        order = nest if random.random() < 0.2 and width is None else (*reversed(nest),)
        tails: tuple[Tail, ...] = (each.tail, "masked") if each.tail in AGAIN else (each.tail,)
        for k, (tail, iv) in enumerate((tail, iv) for tail in tails for iv in order):
            try:
                after = vectorize(after, by_name(after, iv), each.width, tail=tail, reassociate=each.reassociate)
            except IllegalTransform as error:
                first = error if not k else first
                continue
            report.vectorized += 1
            report.outer += iv != nest[-1]
            report.asked.update((f"by {each.width}", tail))
            asked.append((iv, replace(each, tail=tail)))
            break
        else:
            report.reasons[reason(first)] += 1
    verify(after)
    return Version(program, before, after, tuple(asked))


def _boxes(f: Func, nest: Sequence[str], random: Random, report: Report) -> Func | None:
    """The innermost loops of a nest on vectors of as many dimensions, in any order; None where that is refused."""
    loops = list(nest[-random.randint(2, 3) :])
    random.shuffle(loops)
    widths = tuple(random.randint(2, 16 if k == len(loops) - 1 else 4) for k in range(len(loops)))
    try:
        made = vectorize(f, [by_name(f, iv) for iv in loops], widths, tail="masked")
    except IllegalTransform as error:
        report.reasons[f"{len(loops)} dimensions: {reason(error)}"] += 1
        return None
    report.vectorized += 1
    report.asked.update((f"{len(loops)} dimensions", "masked"))
    return made


def reason(error: IllegalTransform) -> str:
    """Why something was refused, without its names and numbers."""
    said = str(error).split(": ", 1)[-1]
    lines = said.splitlines()[1:] or [said]
    return re.sub(r"-?\b\d+\b|i\d+_\d+|\bA\d+\b|%\w+|\[[^]]*\]", "_", lines[0].strip())[:90]


def _contracted(f: Func, iv: str) -> Func:
    try:
        return contract(f, by_name(f, iv))
    except IllegalTransform:
        return f


def check(
    seeds: Sequence[int], targets: Sequence[str] = tuple(TARGETS), *, lowered: bool = True, in_turn: int = 1
) -> Report:
    """Try the programs of some seeds, all of them at once; each target with one of `in_turn` programs.

    LLVM does not say which of two zeros is the larger number: programs that ask are not given to mlir-opt. Nor does
    it judge a program of which it makes something else before there are vectors: its arith-expand takes either zero.
    """
    report = Report()
    ready: list[Ready] = []
    for seed in seeds:
        report.programs += 1
        made: Version | None = None
        try:
            made = version(generate(seed), report)
            ready.append((made, _interpreted(made, report)))
        except (AffdslError, AssertionError, ValueError, TypeError, KeyError, IndexError) as problem:
            report.wrong.append((str(made or f"seed {seed}"), f"{type(problem).__name__}: {problem}"))
    for k, name in enumerate(targets):
        share = ready[k % in_turn :: in_turn * SHARES.get(name, 1)]
        way, bits = TARGETS[name]
        guard = "" if name == "sanitized" else ("end", "start")[k % 2]
        left = _kept(share, partial(by_c, way=way, register_bits=bits, guard=guard))
        _compare(name, share, left, report)
    if lowered:
        certain = [each for each in ready if not re.search("(max|min)numf", each[0].program.text)]
        left = _kept(certain, by_mlir)
        judges = [not _said(*each) or _lowers(each[0][0]) for each in zip(certain, left, strict=True)]
        report.judged["mlir-opt, wrong before"] += judges.count(False)
        _compare("mlir-opt", [*compress(certain, judges)], [*compress(left, judges)], report)
    return report


def _kept(
    share: Sequence[Ready], run_all: Callable[[Sequence[Func], Sequence[Sequence[Arguments]]], list[list[Left]]]
) -> list[list[Left]]:
    return run_all([v.after for v, _ in share], [v.program.runs for v, _ in share]) if share else []


def _interpreted(made: Version, report: Report) -> list[Arrays]:
    """What the program on vectors leaves by the interpreter, which is that of the program before where it may be."""
    left = []
    for arguments in made.program.runs:
        wanted, found = copied(arguments), copied(arguments)
        run(made.before, *wanted)
        run(made.after, *found, uninitialised="poison")
        if made.keeps_order and (said := difference(wanted, found)):
            report.wrong.append((str(made), f"interpreter: {said}"))
        left.append([np.asarray(x) for x in (wanted if made.keeps_order else found)])
    report.judged["interpreter"] += made.keeps_order
    return left


def reference(f: Func, program: Generated) -> list[Arrays]:
    """What a function leaves by the interpreter, by run."""
    found = []
    for arguments in program.runs:
        given = copied(arguments)
        run(f, *given)
        found.append([np.asarray(x) for x in given])
    return found


def difference(wanted: Arguments, found: Arguments) -> str:
    """Where arrays differ; one NaN is as good as another."""
    for k, (a, b) in enumerate(zip(wanted, found, strict=True)):
        if not same_but_nan(a, b):
            is_same = (a == b) & (np.signbit(a) == np.signbit(b)) if np.asarray(a).dtype.kind == "f" else a == b
            at = tuple(np.argwhere(~(is_same | ((a != a) & (b != b))))[0])
            return f"argument {k}{[*map(int, at)]} is {np.asarray(b)[at]} instead of {np.asarray(a)[at]}"[:500]
    return ""


def _compare(name: str, share: Sequence[Ready], left: list[list[Left]], report: Report) -> None:
    for each, found in zip(share, left, strict=True):
        report.judged[name] += 1
        if said := _said(each, found):
            report.wrong.append((str(each[0]), f"{name}: {said}"))


def _said(ready: Ready, found: Sequence[Left]) -> str:
    """What is wrong in the first run that leaves something else."""
    pairs = zip(ready[1], found, strict=True)
    return next((said for a, b in pairs if (said := b if isinstance(b, str) else difference(a, b))), "")


def _lowers(made: Version) -> bool:
    """Whether the program without vectors, lowered by mlir-opt, leaves what it does by the interpreter."""
    (found,) = by_mlir([made.before], [made.program.runs])
    return not _said((made, reference(made.before, made.program)), found)
