"""Random programs through the optimizer: `python -m tests.optimize.random --count 3000 --kernels 1000 --seed 1`.

Each batch of programs of `tests.fuzz`, and each kernel of `tests.optimize.kernels`, is optimized for a target, a number
of threads and allowances of its own. What comes out is validated, and run by the interpreter and as C: programs must
leave what their reference says, kernels what their loops leave as they were written, to the bit or within a bound.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Sequence

from affdsl.optimize.unfit import RecipeWarning
from tests.harness.command import Watch, parser, seeds
from tests.optimize.kernel_runs import KernelReport, scheduled, tried
from tests.optimize.programs import Report, checked
from tests.optimize.ways import random_way

BATCH = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Try programs, then kernels; the exit status says whether all was right."""
    made = parser("tests.optimize.random", __doc__, 100)
    made.add_argument("--kernels", type=int, default=40, help="how many")
    made.add_argument("--schedules", type=int, default=0, help="how many kernels get random steps of schedules")
    made.add_argument("--minutes", type=float, default=1e9, help="stop each of the two after so long")
    chosen = made.parse_args(arguments)
    warnings.simplefilter("error", RecipeWarning)  # nothing is wrong then but a recipe
    programs = _programs(seeds(chosen), chosen.minutes)
    kernels = _kernels(range(chosen.seed, chosen.seed + chosen.kernels), chosen.minutes)
    wrong = _schedules(range(chosen.seed, chosen.seed + chosen.schedules), chosen.minutes)
    print(programs, kernels, sep="\n")
    return 1 if programs.failures or kernels.failures or wrong else 0


def _programs(of: range, minutes: float) -> Report:
    watch, total = Watch(), Report()
    for batch in (of[k : k + BATCH] for k in range(0, len(of), BATCH)):
        report = checked(batch, random_way(batch.start))
        total.add(report)
        for failure in report.failures:
            print(f"seed {failure.program.seed}, {failure.pipeline}: {failure.judge}: {failure.said[:400]}", flush=True)
        watch.say(total.programs, "programs", len(total.failures))
        if watch.seconds > 60 * minutes:
            break
    return total


def _kernels(of: range, minutes: float) -> KernelReport:
    watch, total = Watch(), KernelReport()
    for seed in of:
        report = tried(seed, random_way(seed))
        total.add(report)
        for failure in report.failures:
            print(failure, flush=True)
        if total.kernels % BATCH == 0:
            watch.say(total.kernels, "kernels", len(total.failures))
        if watch.seconds > 60 * minutes:
            break
    return total


def _schedules(of: range, minutes: float) -> int:
    """How many kernels of some seeds are wrong after random steps of schedules."""
    watch, wrong, counts = Watch(), 0, Counter[str]()
    for done, seed in enumerate(of, 1):
        if said := scheduled(seed, counts):
            wrong += 1
            print(said, flush=True)
        if done % BATCH == 0 or seed == of[-1]:
            watch.say(done, "kernels with schedules", wrong)
        if watch.seconds > 60 * minutes:
            break
    if counts:
        print(*(f"{verb} {count}" for verb, count in sorted(counts.items())), sep=", ")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
