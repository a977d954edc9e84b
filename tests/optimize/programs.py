"""Random affine programs of `tests.fuzz` through the optimizer: validated, and run by judges beside their reference."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.pipeline.language import run_pipeline
from affdsl.passes.validation import validate
from tests.fuzz.check import Failure
from tests.fuzz.generator import generate
from tests.fuzz.judges import JUDGES, Item, by_c
from tests.fuzz.mlir import mlir
from tests.fuzz.program import Program
from tests.fuzz.reference import evaluate
from tests.harness.batch import LEVELS
from tests.harness.counts import Counts
from tests.harness.limit import limited
from tests.optimize.ways import Way

SECONDS = 10
"""So long may it take to optimize a program: time of this process, whatever else runs."""
ENDLESS = 120
JUDGED_BY = ("interpreter", "backwards", "elsewhere", "c")


@dataclass
class Report(Counts):
    """What became of programs: which were changed, which of these proved for all sizes, and what was wrong."""

    programs: int = 0
    changed: int = 0
    proved: int = 0
    also_before: list[Failure] = field(default_factory=list)
    """What is wrong with the programs as they were written, too: it says nothing of the optimizer."""
    seconds: list[float] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.programs} programs, {self.changed} changed, {self.proved} of them proved; "
            f"{len(self.also_before)} wrong as written, {len(self.failures)} failures; {distribution(self.seconds)}"
        )


def checked(seeds: Sequence[int], way: Way) -> Report:
    """Optimize the programs of some seeds in one way, validate what comes out, and run it in all ways there are."""
    report, items = Report(), list[Item]()
    for seed in seeds:
        program = generate(seed)
        report.programs += 1
        try:
            items += _optimized(program, way, report)
        except Exception as problem:  # noqa: BLE001  whatever is raised is what is looked for
            report.failures.append(Failure(program, str(way), "optimize", f"{type(problem).__name__}: {problem}"))
    for judge in JUDGED_BY:
        for item, said in zip(items, JUDGES[judge](items), strict=True):
            if said:
                failures = report.also_before if _is_wrong_as_written(item.program, judge) else report.failures
                failures.append(Failure(item.program, str(way), judge, said))
    return report


def _is_wrong_as_written(program: Program, judge: str) -> bool:
    """Whether a judge finds the same of a program that nobody has touched: bands that race elsewhere, and compilers."""
    item = Item(program, parse(mlir(program)), evaluate(program))
    found = [by_c([item], [level]) for level in LEVELS] if judge == "c" else [JUDGES[judge]([item])]
    return any(said for (said,) in found)


def _optimized(program: Program, way: Way, report: Report) -> list[Item]:
    """The program after the optimizer, if that changed it. Raises TimeoutError, and whatever goes wrong."""
    module = parse(mlir(program))
    before = time.process_time()
    with limited(ENDLESS):
        made = run_pipeline(module, way.pipeline)
    report.seconds.append(time.process_time() - before)
    if report.seconds[-1] > SECONDS:
        raise TimeoutError(f"it took {report.seconds[-1]:.1f} seconds")
    verify(made)
    if print_op(made) == print_op(module):
        return []
    report.changed += 1
    with limited(ENDLESS):
        found = validate(module, made, reassociated=bool(way.allowed))
    report.proved += all(each.answer.verdict == "proved" for each in found.functions)
    if found.failure is not None:
        report.failures.append(Failure(program, str(way), "validate", str(found.failure)))
    return [Item(program, made, evaluate(program))]


def distribution(seconds: Sequence[float]) -> str:
    """How long things took."""
    middle = sorted(seconds)[len(seconds) // 2] if seconds else 0
    return f"{middle:.2f} s in the middle, {max(seconds, default=0):.1f} s at most"
