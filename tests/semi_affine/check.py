"""Calls random kernels compiled and interpreted, with their arrays between pages that nobody can touch."""

from __future__ import annotations

import resource
import warnings
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

import affdsl as af
import affdsl.codegen.jit
from affdsl.codegen.errors import RangeError, SizeError
from affdsl.codegen.toolchain import Compiler, jit_flags
from affdsl.ir.interpreter import InterpreterError, run
from affdsl.passes.analysis.dependence import AnalysisWarning
from tests.harness.counts import Counts
from tests.harness.guarded import SIDES, Guarded, Side
from tests.harness.limit import limited
from tests.harness.processes import Death, answers, doing
from tests.semi_affine.kernels import Call, build, calls

SECONDS = 2.0
"""How long the interpreter may take for one call: huge bounds of loops that touch nothing take longer."""
MEMORY = 4 << 30
CHUNK = 50
SHOWN = 20
ACCEPTED = "calls accepted, with equal arrays"
LEVELS = ("-O0", "-O1", "-O2", "-O0")


def truth(kernel: af.Kernel, call: Call) -> tuple[str, list[np.ndarray]]:
    """What a call does that nobody guards: "fine", "wrong" or "endless", and the arrays after it."""
    arrays = call.arrays()
    program = kernel.program
    own = [call.n if v.hint == "N" else call.m for v in program.sizes]
    try:
        with limited(SECONDS):
            run(kernel.func, *own, *arrays, call.p, call.q, module=program.module)
    except (TimeoutError, MemoryError):
        return "endless", arrays
    except (InterpreterError, ZeroDivisionError):
        return "wrong", arrays
    return "fine", arrays


def verdict(kernel: af.Kernel, call: Call, places: list[Guarded] | None, side: Side = "end") -> tuple[str, str]:
    """What the interpreter (without places) or the compiled kernel says: "accepted", "refused"; and words, or why not.

    An accepted call must leave in the arrays what the unguarded interpreter leaves there.
    """
    arrays = call.arrays()
    if places is not None:
        arrays = [place.copy(array, side) for place, array in zip(places, arrays, strict=True)]
    try:
        (kernel.interpret if places is None else kernel)(*arrays, call.p, call.q)
    except (SizeError, RangeError) as error:
        if not all(np.array_equal(a, b) for a, b in zip(arrays, call.arrays(), strict=True)):
            return "refused", "an array was changed by a call that was refused"
        return "refused", str(error)
    expected = truth(kernel, call)[1]
    if not all(np.array_equal(a, b) for a, b in zip(arrays, expected, strict=True)):
        return "accepted", "the arrays differ"
    if places is not None and not all(place.is_clean() for place in places):
        return "accepted", "something was written beside an array"
    return "accepted", ""


@dataclass
class Report(Counts):
    """What was counted, and what went wrong, by seed."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)
    needless: list[tuple[int, str]] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{number:7} {what}" for what, number in sorted(self.counts.items())]
        lines += [f"needless: seed {seed}: {text}" for seed, text in self.needless[:SHOWN]]
        lines += [f"FAILURE: seed {seed}: {text}" for seed, text in self.failures[:SHOWN]]
        return "\n".join([*lines, f"{len(self.needless)} needless refusals, {len(self.failures)} failures"])


def check(seeds: range, processes: int = 1) -> Report:
    """The kernels of some seeds, in processes of their own."""
    total = Report()
    for seed, found in zip(seeds, answers(_alone, seeds, processes, CHUNK), strict=True):
        total.add(Report(failures=[(seed, str(found))]) if isinstance(found, Death) else found)
    return total


def _alone(seed: int) -> Report:
    """The kernel of a seed, for a process that does nothing else."""
    warnings.simplefilter("ignore", AnalysisWarning)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def flags(compiler: Compiler) -> tuple[str, ...]:
        level = LEVELS[seed % len(LEVELS)]
        return tuple(level if flag == "-O3" else flag for flag in jit_flags(compiler) if flag != "-fopenmp")

    affdsl.codegen.jit.jit_flags = flags
    return checked(seed, [Guarded() for _ in range(3)])


def checked(seed: int, places: list[Guarded]) -> Report:
    """What there is to tell of the kernel of a seed."""
    doing("building")
    report = Report()
    try:
        kernel = build(seed)
    except af.ProgramError:
        report.counts["not built"] += 1
        return report
    kinds = {f.verdict for f in kernel.check().findings}
    report.counts.update(["kernels", *(f"kernels with findings {kind}" for kind in kinds)])
    for number, call in enumerate(calls(seed)):
        doing(str(call))
        kind, text = _called(kernel, call, SIDES[(number + 1) % 2], places)
        if kind == "failure":
            report.failures.append((seed, text))
            continue
        report.counts[kind] += 1
        if kind == ACCEPTED and sum(array.size for array in call.arrays()) == 0:
            report.counts["    of these with empty arrays"] += 1
        if text:
            report.needless.append((seed, text))
    return report


def _called(kernel: af.Kernel, call: Call, side: Side, places: list[Guarded]) -> tuple[str, str]:
    """What a call is counted as, and words: what is wrong with a failure, or with a refusal that was not needed."""
    really, _ = truth(kernel, call)
    if really == "endless":
        shapes = tuple(array.shape for array in call.arrays())
        try:
            affdsl.codegen.jit.check_sizes(kernel.program, shapes, (np.int64(call.p), np.int64(call.q)), kernel.check())
        except SizeError:
            return "calls refused, of those too long to run", ""
        return "calls too long to run", ""
    if really == "wrong" and kernel.check().unknown:
        return "calls that check() says are unknown, and that are wrong: not run", ""
    interpreted, first = verdict(kernel, call, None)
    if interpreted == "accepted" and really == "wrong":
        return "failure", f"{call}: accepted, and wrong"
    compiled, second = verdict(kernel, call, places, side)
    if compiled != interpreted or (compiled == "accepted" and (first or second)) or first != second:
        return "failure", f"{call}: interpreted {interpreted} {first}, compiled {compiled} {second}"
    if compiled == "accepted":
        return ACCEPTED, ""
    if really == "wrong":
        return "calls refused, rightly", ""
    if any(words in second for words in ("must lie between", "64 bits", "cannot be checked for")):
        return "calls refused because of 64 bits, that would be fine", ""
    return "calls refused, that would be fine", f"{call}: {second}"
