"""Random numbers for the recipes: `python -m tests.optimize.choices --count 200 --seed 1`.

Each is a kernel of PolyBench, a target, threads, allowances, and choices that tuning makes, or any small numbers. What
comes of it leaves what the loops as written leave, to the bit or within a bound.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from random import Random

import affdsl as af
from affdsl.optimize.optimizer import chosen
from affdsl.optimize.options import NUMBERS, RECIPES, USUAL, VARIATIONS, Choices, Options, targets, varied
from benchmarks.polybench.suite import SUITE
from tests.harness.command import Watch, parser, seeds
from tests.optimize.check import wrong
from tests.optimize.ways import Way, random_way

BATCH = 10


@dataclass(frozen=True)
class ChosenWay(Way):
    """A way with numbers for recipes."""

    choices: Choices = USUAL

    def __str__(self) -> str:
        return f"{super().__str__()}, {self.choices}"

    def of(self, kernel: af.Kernel, *, validate: bool = False) -> af.Kernel:
        """The kernel, optimized."""
        allowed = dict.fromkeys(self.allowed, True)
        options = Options(targets()[self.target], self.threads, choices=self.choices, **allowed)
        return chosen(af.Schedule(kernel), options)[0].kernel(validate=validate)


def random_choices(seed: int) -> Choices:
    """Choices that tuning makes, or, every second time, any: all numbers small, and some recipes left out."""
    random = Random(f"choices {seed}")
    if seed % 2:
        return varied(random.choice(VARIATIONS))
    left_out = tuple(name for name in RECIPES if random.random() < 0.15)
    return Choices(left_out, **{name: random.choice((1, 2, 3, 5, 8, 13)) for name in NUMBERS if name != "most_threads"})


def main(arguments: Sequence[str] | None = None) -> int:
    """Try kernels; the exit status says whether all was right."""
    made = parser("tests.optimize.choices", __doc__, 100)
    made.add_argument("--minutes", type=float, default=1e9, help="stop after so long")
    given = made.parse_args(arguments)
    watch, count, failures = Watch(), 0, 0
    for seed in seeds(given):
        way, kernel = random_way(seed // 2), SUITE[Random(f"kernel {seed}").randrange(len(SUITE))]
        values = {each.name: getattr(way, each.name) for each in fields(Way)}
        for said in wrong([kernel], [ChosenWay(**values, choices=random_choices(seed))], seed):
            failures += 1
            print(f"seed {seed}: {said}", flush=True)
        count += 1
        if count % BATCH == 0:
            watch.say(count, "kernels", failures)
        if watch.seconds > 60 * given.minutes:
            break
    print(f"{count} kernels with choices of their own: {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
