"""Compares random affine programs with what their reference says: `python -m tests.fuzz.run --count 3000 --seed 1`.

Each program is generated with its reference result, read from its text, verified, and judged: by the interpreter, by
the compiled C, and by MLIR, to which our text is given; and the same after each of some passes, and after all of them
in sequence. A program that fails is made small and written to a file. `--show SEED` prints one program.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from tests.fuzz.check import EVERY_PASS, UNTOUCHED, Failure, Report, check_seeds, pipelines, still_fails
from tests.fuzz.generator import generate
from tests.fuzz.judges import JUDGES
from tests.fuzz.minimise import minimise
from tests.fuzz.mlir import mlir
from tests.fuzz.program import For, Program, nodes
from tests.fuzz.reference import python, races
from tests.harness.command import Watch, chosen_from, parser, seeds
from tests.harness.processes import Death, answers

BATCH = 50


def reports(of: range, chosen: Sequence[str], judges: Sequence[str], processes: int) -> Iterator[Report]:
    """The reports of batches, in order."""
    batches = [of[k : k + BATCH] for k in range(0, len(of), BATCH)]
    check_batch = partial(check_seeds, pipelines=chosen, judges=judges)
    found = answers(check_batch, batches, processes) if processes > 1 else map(check_batch, batches)
    for batch, report in zip(batches, found, strict=True):
        if isinstance(report, Death):
            raise RuntimeError(f"one of the programs of the seeds {batch}: {report}")
        yield report


def shown(program: Program) -> str:
    """A program with its sizes, its loops that carry a conflict, its text and its reference."""
    loops = [node.iv for node in nodes(program.body) if isinstance(node, For)]
    conflicts = [iv for iv in loops if races(program, iv)]
    names = [key for key, _ in program.sizes]
    runs = [dict(zip(names, program.given(n), strict=True)) for n in range(len(program.valuations))]
    return "\n".join(
        [
            f"// seed {program.seed}, sizes {runs}, loops that carry a conflict: {', '.join(conflicts) or 'none'}",
            mlir(program),
            *(f"// {line}" for line in python(program).splitlines()),
        ]
    )


def written(failure: Failure, small: Program, folder: Path) -> Path:
    """The file that holds a failure: MLIR, with the facts and the reference as comments."""
    facts = {"pipeline": failure.pipeline or "none", "judge": failure.judge, "says": failure.said[:1500]}
    lines = [f"// {key}: {text}".replace("\n", "\n//     ") for key, text in facts.items()]
    path = folder / f"seed{failure.program.seed}-{failure.judge}-{len(list(folder.iterdir()))}.mlir"
    path.write_text("\n".join([*lines, shown(small)]) + "\n", encoding="utf-8")
    return path


def summary(report: Report, chosen: Sequence[str], watch: Watch) -> str:
    """What was checked, pipeline by pipeline, and what failed."""
    passes = [p for p in chosen if p != UNTOUCHED]
    width = max(map(len, passes), default=0)
    failed = Counter(f.pipeline for f in report.failures)
    lines = [f"{p:{width}}  changed {report.changed[p]} of {report.programs}, {failed[p]} failures" for p in passes]
    lines += [
        f"{n:6} {pipeline or 'no passes'}: {judge}: {what}" for (pipeline, judge, what), n in watch.kinds.most_common()
    ]
    judged = ", ".join(f"{judge} {n}" for judge, n in report.judged.items())
    counts = f"{report.programs} programs, {len(passes)} pipelines, {len(report.failures)} failures"
    return "\n".join([*lines, f"{counts}; judged: {judged}; {watch.seconds:.0f} s"])


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What the command line says."""
    made = parser("tests.fuzz.run", __doc__, 1000, processes=True)
    made.add_argument("--passes", default="", help="a,b{x=1},c, or all: each alone, and in sequence")
    made.add_argument("--pipeline", action="append", default=[], help="a pipeline as mlir-opt takes it")
    made.add_argument("--judges", default=",".join(JUDGES))
    made.add_argument("--output", type=Path, default=Path(tempfile.gettempdir()) / "affdsl-fuzz")
    made.add_argument("--minimise", type=float, default=30, help="seconds for each failure that is made small")
    made.add_argument("--show", type=int, metavar="SEED", help="print the program of a seed, and stop")
    chosen = made.parse_args(arguments)
    # A comma inside braces belongs to an option.
    names = [name for name in re.split(r",(?![^{]*})", chosen.passes) if name]
    chosen.passes = list(EVERY_PASS) if names == ["all"] else names
    chosen.judges = chosen_from(made, "judge", chosen.judges, [*JUDGES])
    return chosen


def main(arguments: Sequence[str] | None = None) -> int:
    """Check as many programs as asked for; the exit status says whether all agreed."""
    chosen = options(arguments)
    if chosen.show is not None:
        print(shown(generate(chosen.show)))
        return 0
    todo = (*pipelines(chosen.passes), *chosen.pipeline)
    total, watch = Report(), Watch(chosen.output)
    for report in reports(seeds(chosen), todo, chosen.judges, chosen.processes):
        total.add(report)
        for failure in report.failures:
            if watch.is_news(failure.kind):
                said = f"{failure.pipeline or 'no passes'}: {failure.judge}: {failure.said[:400]}"
                print(f"seed {failure.program.seed}: {said}", flush=True)
                small = minimise(failure.program, partial(still_fails, failure), chosen.minimise)
                print(f"    {written(failure, small, chosen.output)}", flush=True)
        watch.say(total.programs, "programs", len(total.failures))
    print(summary(total, todo, watch))
    return 1 if watch.kinds else 0


if __name__ == "__main__":
    sys.exit(main())
