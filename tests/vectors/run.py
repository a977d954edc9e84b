"""Random loops on vectors by every way to run them: `python -m tests.vectors.run --count 5000 --seed 1 --processes 2`.

Each program is run as it is by the interpreter. Its loops are then vectorized by random widths, with tails of both
kinds, some of them contracted; by the interpreter, in C for each instruction set of this machine with arrays between
pages that nobody may touch, and as our text lowered by mlir-opt they must leave the same to the bit.
"""

from __future__ import annotations

from functools import partial

from tests.harness.command import Watch, chosen_from, parser, seeds
from tests.harness.processes import Death, answers
from tests.vectors.check import TARGETS, Report, check, version
from tests.vectors.generator import generate

BATCH = 50


def main() -> None:
    """Try programs, and print what was wrong."""
    made = parser("tests.vectors.run", __doc__, 5000, processes=True)
    made.add_argument("--targets", default=",".join(TARGETS), help="names with commas, of: " + ", ".join(TARGETS))
    made.add_argument("--in-turn", type=int, default=1, help="compile one of so many programs for each target")
    made.add_argument("--minutes", type=float, default=1e9, help="begin nothing more after so many")
    made.add_argument("--no-mlir", action="store_true", help="without mlir-opt")
    made.add_argument("--show", type=int, help="print the program of a seed, and what becomes of it")
    given = made.parse_args()
    if given.show is not None:
        shown = version(generate(given.show), Report())
        print(shown, shown.before, shown.after, sep="\n")
        return
    targets = chosen_from(made, "target", given.targets, list(TARGETS))
    watch, total = Watch(), Report()
    of = seeds(given)
    batches = [of[k : k + BATCH] for k in range(0, len(of), BATCH)]
    ask = partial(check, targets=targets, lowered=not given.no_mlir, in_turn=given.in_turn)
    for batch, report in zip(batches, answers(ask, batches, given.processes), strict=False):
        if isinstance(report, Death):
            raise RuntimeError(f"one of the programs of the seeds {batch}: {report}")
        total.add(report)
        for made_of, said in report.wrong:
            if watch.is_news(said.partition(":")[0], 5):
                print(f"{made_of}\n    {said}", flush=True)
        watch.say(total.programs, "programs", len(total.wrong))
        if watch.seconds > 60 * given.minutes:
            break
    print(
        f"{total.programs} programs, {total.nests} nests: {total.vectorized} vectorized, {total.outer} at an outer loop"
    )
    print("by way:", ", ".join(f"{name} {count}" for name, count in sorted(total.judged.items())))
    print("asked:", ", ".join(f"{name} {count}" for name, count in sorted(total.asked.items())))
    for why, count in total.reasons.most_common():
        print(f"{count:6} refused: {why}")
    print(f"{len(total.wrong)} wrong")
    raise SystemExit(bool(total.wrong))


if __name__ == "__main__":
    main()
