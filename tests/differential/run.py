"""Compares the ways to run random programs, for as long as wanted: `python -m tests.differential.run --minutes 5`.

Each program is verified, interpreted (parallel loops in order and shuffled), compiled as C and run (by gcc and clang,
some with sanitizers), and lowered by mlir-opt to LLVM and run where MLIR defines what it does. All must agree to the
bit. A program on which they do not is made small and written to a file.
"""

from __future__ import annotations

import argparse
import pickle
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from affdsl.errors import AffdslError
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from tests.differential.generator import Program, generate
from tests.differential.judges import Verdict, by_c, by_mlir, header_compiles
from tests.differential.minimise import minimise
from tests.differential.outcome import Outcome, difference, interpret
from tests.harness.batch import COMPILERS, C
from tests.harness.command import Watch

BATCH = 40


def compare(programs: Sequence[Program], how: C | None, *, mlir: bool = True) -> Iterator[tuple[Program, str, str]]:
    """The programs on which some judge and the interpreter disagree: which judge (as `judge:`), and what it says."""
    whole: list[Program] = []
    expected: list[list[Outcome]] = []
    for program in programs:
        said = ""
        try:
            verify(program.module)
            outcomes = [interpret(program, call) for call in program.calls]
            said = reordered(program, outcomes)
        except AffdslError as problem:
            said = f"{type(problem).__name__}: {problem}"
        if said:
            yield program, "interpreter", said
        else:
            whole.append(program)
            expected.append(outcomes)
    if how is not None:
        yield from _judged(whole, expected, by_c(whole, expected, how), str(how))
    if mlir:
        pairs = [(p, e) for p, e in zip(whole, expected, strict=True) if not p.wild]
        strict = [p for p, _ in pairs]
        yield from _judged(strict, [e for _, e in pairs], by_mlir(strict), "mlir")


def reordered(program: Program, expected: Sequence[Outcome]) -> str:
    """Where the interpreter gives something else when it shuffles the iterations of parallel loops."""
    if any(isinstance(op, affine.Parallel) for f in program.module.functions for op in walk(f)):
        for call, outcome in zip(program.calls, expected, strict=True):
            if said := difference(outcome, interpret(program, call, "shuffled")):
                return f"shuffled: {said}"
    return ""


def _judged(
    programs: Sequence[Program],
    expected: Sequence[Sequence[Outcome]],
    verdicts: Sequence[Sequence[Verdict]],
    judge: str,
) -> Iterator[tuple[Program, str, str]]:
    for program, outcomes, found in zip(programs, expected, verdicts, strict=True):
        for outcome, verdict in zip(outcomes, found, strict=True):
            if said := verdict if isinstance(verdict, str) else difference(outcome, verdict):
                yield program, judge, said
                break


def kind_of(judge: str, said: str) -> str:
    """What failures of one cause have in common."""
    found = re.search(r"error: .*", said)
    if said.startswith(("array", "result")):
        text = "other numbers"
    else:
        text = found[0] if found else said[:60]
    return f"{judge.split()[0]}: " + re.sub(r"[\u2018'].*?[\u2019']|-?\d+", "#", text)


def shrink(program: Program, judge: str, kind: str) -> Program:
    """A small program that fails in the same way."""
    how = next((c for c in COMPILERS if str(c) == judge), None)

    def fails(smaller: Program) -> bool:
        return any(kind_of(judge, said) == kind for _, _, said in compare([smaller], how, mlir=judge == "mlir"))

    return minimise(program, fails)


def written(program: Program, title: str, folder: Path) -> Path:
    """The file that holds a program: pickled, so that it is the same to the last name, and beside that as text."""
    path = folder / f"seed{program.seed}.pickle"
    path.write_bytes(pickle.dumps(program))
    comment = title.replace("\n", "\n// ")
    path.with_suffix(".mlir").write_text(f"// {comment}\n{program.module}\n")
    return path


def main() -> int:
    """Run until the time is over; the exit status says whether all agreed."""
    options = argparse.ArgumentParser(prog="python -m tests.differential.run", description=__doc__)
    options.add_argument("--minutes", type=float, default=5)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--programs", "--count", type=int, default=sys.maxsize)
    options.add_argument("--no-mlir", action="store_true")
    options.add_argument("--output", type=Path, default=Path(tempfile.gettempdir()) / "affdsl-differential")
    chosen = options.parse_args()
    watch, counts = Watch(chosen.output), Counter[str]()
    seed, last = chosen.seed, chosen.seed + chosen.programs
    while watch.seconds < 60 * chosen.minutes and seed < last:
        programs = [generate(s) for s in range(seed, min(seed + BATCH, last))]
        how = COMPILERS[seed // BATCH % len(COMPILERS)]
        for program, judge, said in compare(programs, how, mlir=not chosen.no_mlir):
            kind = kind_of(judge, said)
            if watch.is_news(kind):
                print(f"seed {program.seed}: {judge}: {said[:400]}", flush=True)
                small = program if judge == "interpreter" else shrink(program, judge, kind)
                print(f"    {written(small, f'{judge}: {said[:200]}', chosen.output)}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            if said := header_compiles(programs[0], Path(folder)):
                watch.is_news(f"emit: {said[:100]}")
                print(f"seed {programs[0].seed}: emit: {said[:1000]}", flush=True)
        seed += len(programs)
        counts.update(programs=len(programs), calls=sum(len(p.calls) for p in programs))
        counts[str(how)] += len(programs)
        counts["mlir"] += sum(not p.wild for p in programs)
        watch.say(counts["programs"], "programs", watch.kinds.total())
    print("\n".join(f"{n:7} {what}" for what, n in (counts + watch.kinds).most_common()))
    return 1 if watch.kinds else 0


if __name__ == "__main__":
    sys.exit(main())
