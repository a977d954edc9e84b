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
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import repeat
from pathlib import Path

from tests.fuzz.check import EVERY_PASS, UNTOUCHED, Failure, Report, check_seeds, pipelines, still_fails
from tests.fuzz.generator import generate
from tests.fuzz.judges import JUDGES
from tests.fuzz.minimise import minimise
from tests.fuzz.mlir import mlir
from tests.fuzz.program import For, Program, nodes
from tests.fuzz.reference import python, races

BATCH = 50
SIMILAR = 2
"""So many failures of one kind are made small; further ones are counted."""


def reports(seeds: range, chosen: Sequence[str], judges: Sequence[str], jobs: int) -> Iterator[Report]:
    """The reports of batches, in order."""
    batches = [seeds[k : k + BATCH] for k in range(0, len(seeds), BATCH)]
    if jobs == 1:
        yield from (check_seeds(batch, chosen, judges) for batch in batches)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(check_seeds, batches, repeat(chosen), repeat(judges))


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


def summary(report: Report, chosen: Sequence[str], kinds: Counter[tuple[str, str, str]], seconds: float) -> str:
    """What was checked, pipeline by pipeline, and what failed."""
    passes = [p for p in chosen if p != UNTOUCHED]
    width = max(map(len, passes), default=0)
    failed = Counter(f.pipeline for f in report.failures)
    lines = [f"{p:{width}}  changed {report.changed[p]} of {report.programs}, {failed[p]} failures" for p in passes]
    lines += [f"{n:6} {pipeline or 'no passes'}: {judge}: {what}" for (pipeline, judge, what), n in kinds.most_common()]
    judged = ", ".join(f"{judge} {n}" for judge, n in report.judged.items())
    counts = f"{report.programs} programs, {len(passes)} pipelines, {len(report.failures)} failures"
    return "\n".join([*lines, f"{counts}; judged: {judged}; {seconds:.0f} s"])


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--passes", default="", help="a,b{x=1},c, or all: each alone, and in sequence")
    parser.add_argument("--pipeline", action="append", default=[], help="a pipeline as mlir-opt takes it")
    parser.add_argument("--judges", default=",".join(JUDGES))
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--output", type=Path, default=Path(tempfile.gettempdir()) / "affdsl-fuzz")
    parser.add_argument("--minimise", type=float, default=30, help="seconds for each failure that is made small")
    parser.add_argument("--show", type=int, metavar="SEED", help="print the program of a seed, and stop")
    chosen = parser.parse_args(arguments)
    # A comma inside braces belongs to an option.
    names = [name for name in re.split(r",(?![^{]*})", chosen.passes) if name]
    chosen.passes = list(EVERY_PASS) if names == ["all"] else names
    chosen.judges = [judge for judge in chosen.judges.split(",") if judge]
    if unknown := set(chosen.judges) - set(JUDGES):
        parser.error(f"there is no judge {', '.join(unknown)}, only {', '.join(JUDGES)}")
    return chosen


def main(arguments: Sequence[str] | None = None) -> int:
    """Check as many programs as asked for; the exit status says whether all agreed."""
    chosen = options(arguments)
    if chosen.show is not None:
        print(shown(generate(chosen.show)))
        return 0
    chosen.output.mkdir(parents=True, exist_ok=True)
    todo = (*pipelines(chosen.passes), *chosen.pipeline)
    seeds = range(chosen.seed, chosen.seed + chosen.count)
    total, kinds, start = Report(), Counter[tuple[str, str, str]](), time.monotonic()
    for report in reports(seeds, todo, chosen.judges, chosen.jobs):
        total.add(report)
        for failure in report.failures:
            kinds[failure.kind] += 1
            if kinds[failure.kind] > SIMILAR:
                continue
            said = f"{failure.pipeline or 'no passes'}: {failure.judge}: {failure.said[:400]}"
            print(f"seed {failure.program.seed}: {said}", flush=True)
            small = minimise(failure.program, partial(still_fails, failure), chosen.minimise)
            print(f"    {written(failure, small, chosen.output)}", flush=True)
        elapsed = time.monotonic() - start
        print(
            f"{elapsed:.0f} s: {total.programs} programs, {len(total.failures)} failures", file=sys.stderr, flush=True
        )
    print(summary(total, todo, kinds, time.monotonic() - start))
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
