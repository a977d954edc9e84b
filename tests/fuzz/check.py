"""Checks batches of random programs: as they are, and after passes, by every judge."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.pipeline.language import pass_step, run_pipeline
from affdsl.passes.pipeline.registry import OF_SCRIPTS, OURS, PASSES
from tests.fuzz.generator import generate
from tests.fuzz.judges import JUDGES, Item
from tests.fuzz.mlir import mlir
from tests.fuzz.native import Contents
from tests.fuzz.program import Program
from tests.fuzz.reference import evaluate
from tests.harness.batch import TIME_LIMIT
from tests.harness.counts import Counts
from tests.harness.limit import limited

UNTOUCHED = ""
"""The pipeline that leaves programs as they are."""
OPTIONS = {
    "affine-data-copy-generate": "{fast-mem-space=0}",
    "affine-super-vectorize": "{virtual-vector-size=4 vectorize-reductions=true}",
}
"""With what options passes are tried: LLVM knows no memory but that of number 0, and no size is no vectors."""
EVERY_PASS = tuple(row.name + OPTIONS.get(row.name, "") for row in PASSES if row.name not in (*OURS, *OF_SCRIPTS))
"""All that mlir-opt has; `tests.optimize.programs` is about what it has not."""


@dataclass(frozen=True)
class Failure:
    """What went wrong with a program after a pipeline; `judge` names a judge, or the step before all judges."""

    program: Program
    pipeline: str
    judge: str
    said: str

    @property
    def kind(self) -> tuple[str, str, str]:
        """What failures of one cause mostly have in common."""
        word, _, rest = self.said.partition(": ")
        if word not in ("mismatch", "red zone", "crash"):
            word += re.sub(r"[0-9]+", "#", f" {rest.partition(chr(10))[0]}")[:60]
        return self.pipeline, self.judge, word


@dataclass
class Report(Counts):
    """How many programs were checked, and which each pipeline changed, or failed on."""

    programs: int = 0
    judged: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)


def pipelines(passes: Sequence[str]) -> tuple[str, ...]:
    """The pipelines for some passes, which may have options: none, each alone, all in sequence."""
    steps = [f"func.func({name})" if _is_on_functions(name) else name for name in passes]
    alone = tuple(f"builtin.module({step})" for step in steps)
    together = (f"builtin.module({','.join(steps)})",) if len(steps) > 1 else ()
    return (UNTOUCHED, *alone, *together)


def _is_on_functions(name: str) -> bool:
    return pass_step(name.partition("{")[0]).row.anchor in ("func", "function interface")


def check_seeds(seeds: Sequence[int], pipelines: Sequence[str], judges: Sequence[str]) -> Report:
    """Generate programs and check them."""
    return check([generate(seed) for seed in seeds], pipelines, judges)


def check(programs: Sequence[Program], pipelines: Sequence[str], judges: Sequence[str]) -> Report:
    """Compare what programs do after each pipeline with what their reference says, by each judge.

    What a pipeline did not change is not judged again, and equal results of several pipelines are judged once.
    """
    report = Report(programs=len(programs))
    variants: dict[tuple[int, str], list[str]] = {}
    items: list[Item] = []
    for k, program in enumerate(programs):
        expected = evaluate(program)
        for item, text, pipeline in _transformed(program, expected, pipelines, report):
            if (k, text) not in variants:
                items.append(item)
            variants.setdefault((k, text), []).append(pipeline)
    for judge in judges:
        for item, owners, said in zip(items, variants.values(), JUDGES[judge](items), strict=True):
            report.judged[judge] += 1
            if said:
                report.failures += [Failure(item.program, pipeline, judge, said) for pipeline in owners[:1]]
    return report


def _transformed(
    program: Program, expected: Contents, pipelines: Sequence[str], report: Report
) -> Iterator[tuple[Item, str, str]]:
    """The program after each pipeline: to be judged, as text, and which pipeline; what fails is reported."""
    step, original = "parser", ""
    try:
        module = parse(mlir(program))
        original = print_op(module)
        step = "verifier"
        verify(module)
    except Exception as problem:  # noqa: BLE001  whatever is raised is what was looked for
        report.failures.append(Failure(program, UNTOUCHED, step, f"{type(problem).__name__}: {problem}"))
        return
    for pipeline in pipelines:
        step = "pass"
        try:
            with limited(TIME_LIMIT):
                made = module if pipeline == UNTOUCHED else run_pipeline(module, pipeline)
            text = original if made is module else print_op(made)
            step = "verifier"
            if made is not module:
                verify(made)
        except Exception as problem:  # noqa: BLE001  whatever is raised is what was looked for
            report.failures.append(Failure(program, pipeline, step, f"{type(problem).__name__}: {problem}"))
            continue
        if text != original:
            report.changed[pipeline] += 1
        yield Item(program, made, expected), text, pipeline


def still_fails(failure: Failure, program: Program) -> bool:
    """Whether another program fails in the same way."""
    judges = [failure.judge] if failure.judge in JUDGES else []
    return any(f.kind == failure.kind for f in check([program], [failure.pipeline], judges).failures)
