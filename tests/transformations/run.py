"""Tries every primitive on random programs: `python -m tests.transformations.run --count 5000 --seed 1`.

What is accepted must leave the same results to the last bit, and the validator must agree; what is refused by a
counterexample is made all the same, and mostly gives other results. Prints a row for each primitive, then the failures.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from contextlib import closing
from functools import partial

from affdsl.passes.analysis.dependence import AnalysisWarning
from tests.harness.command import Watch, chosen_from, parser, seeds
from tests.harness.processes import Death, answers
from tests.transformations.check import NUMBERS, Failure, Report, Row, check
from tests.transformations.primitives import PRIMITIVES
from tests.transformations.reducing import reduced
from tests.transformations.subjects import subject

SHOWN = 3
"""So many failures of one kind are made small and shown; further ones are counted."""
CHUNK = 25
"""So many programs one process tries, where there are several: what is kept of all of them takes much memory."""
SHOWN_LINES = 30
"""So many forced steps are shown that changed nothing and should have, and so many that the validator cannot judge."""
HEADINGS = {
    "asked": "asked", "accepted": "accepted", "validated": "validated", "unchecked": "unchecked",
    "counterexamples": "refused by counterexample", "others": "refused for other reasons", "confirmed": "confirmed",
    "forced": "forced", "changed": "changed", "failures": "failures",
}  # fmt: skip


def table(report: Report) -> str:
    """A row for each primitive, and one for all."""
    total = Row()
    for row in report.rows.values():
        total.add(row)
    rows = [*((name, report.rows[name]) for name in PRIMITIVES if name in report.rows), ("all", total)]
    width = max(len(name) for name, _ in rows)
    lines = [" ".join([" " * width, *HEADINGS.values()])]
    lines += [
        " ".join([name.ljust(width), *(str(getattr(row, n)).rjust(len(HEADINGS[n])) for n in NUMBERS)])
        for name, row in rows
    ]
    for why, n in total.unchanged.most_common():
        lines.append(f"{n:6} {'not forced' if why.startswith('cannot be made') else 'forced and unchanged'}, {why}")
    return "\n".join(lines)


def tried(
    of: Sequence[int], names: Sequence[str] = (), *, validations: int | None = None, minutes: float = 1e9,
    progress: int = 0, processes: int = 1,
) -> Report:  # fmt: skip
    """What is found in the programs of some seeds, of as many as the time allows.

    progress
        After so many programs a line goes to stderr, and what fails or is not known at once; 0 for none.
    processes
        So many programs are tried at once. A process that dies is a failure of its program.
    """
    total, watch = Report(), Watch()
    one = partial(_one, names=tuple(names), validations=validations)
    reports = answers(one, of, processes, CHUNK) if processes > 1 else (one(seed) for seed in of)
    with closing(reports):
        for seed, found in zip(of, reports, strict=False):
            report = _dead(seed, found) if isinstance(found, Death) else found
            total.add(report)
            for line in (*report.failures, *report.unchecked) if progress else ():
                print(line, file=sys.stderr, flush=True)
            if progress and total.programs % progress == 0:
                watch.say(total.programs, "programs", len(total.failures))
            if watch.seconds > 60 * minutes:
                break
    return total


def _one(seed: int, names: Sequence[str], validations: int | None) -> Report:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnalysisWarning)  # what is not known is refused, and that is counted
        return check(seed, names, validations)


def _dead(seed: int, death: Death) -> Report:
    return Report(1, failures=[Failure(seed, "", ((), ()), str(death), "in some step", str(subject(seed).module))])


def shown(failures: Sequence[Failure]) -> str:
    """The first failures of each kind, made small, and how many there are of each."""
    watch = Watch()
    parts: list[str] = []
    for failure in failures:
        if watch.is_news((failure.primitive, failure.kind), SHOWN):
            small = f"\nthe same, made small:\n{reduced(failure)}" if failure.primitive else ""
            parts.append(f"{failure}{small}")
    parts += [f"{n:6} {primitive}: {kind}" for (primitive, kind), n in watch.kinds.most_common()]
    return "\n\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try as many programs as asked for; the exit status says whether there was no failure."""
    options = parser("tests.transformations.run", __doc__, 100, processes=True)
    options.add_argument("--minutes", type=float, default=1e9, help="stop after so long")
    options.add_argument("--primitives", default="", help="only these, with commas between them")
    options.add_argument("--validations", type=int, help="accepted steps of each program to validate; default all")
    chosen = options.parse_args(arguments)
    names = chosen_from(options, "primitive", chosen.primitives, [*PRIMITIVES])
    watch = Watch()
    report = tried(
        seeds(chosen), names, validations=chosen.validations, minutes=chosen.minutes, progress=20,
        processes=chosen.processes,
    )  # fmt: skip
    print(table(report))
    for line in (*report.unexplained[:SHOWN_LINES], *report.unchecked[:SHOWN_LINES]):
        print(line)
    print(f"{report.programs} programs from seed {chosen.seed} on, {watch.seconds:.0f} s")
    if report.failures:
        print(shown(report.failures))
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
