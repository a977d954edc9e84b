"""How many random programs each pass transforms, next to mlir-opt's: `python -m tests.fuzz.counts --count 500`.

A tool that never transforms is right on all programs: this says whether ours is right and transforms no fewer. Both
sides read the same text; what they make of it is run, between red zones, and must do what the program's reference says.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.fuzz.features import MIXES, Features
from tests.fuzz.trials import ROWS, Row, Trial, trials
from tests.harness.command import Watch, parser, seeds

BATCH = 50
HEAD = ("pass", "ours", "wrong", "theirs", "wrong", "ours did", "theirs did", "", "only theirs", "theirs more", "luck")


@dataclass
class Tally:
    """What both sides did by one pass. Counted as transformed is only what is right."""

    row: Row
    all: list[Trial] = field(default_factory=list)
    ours: list[Trial] = field(default_factory=list)
    theirs: list[Trial] = field(default_factory=list)
    ours_wrong: list[Trial] = field(default_factory=list)
    theirs_wrong: list[Trial] = field(default_factory=list)
    fewer: list[Trial] = field(default_factory=list)

    def add(self, trial: Trial) -> None:
        """Count a trial."""
        self.all.append(trial)
        if not trial.ours.is_right:
            self.ours_wrong.append(trial)
        elif trial.ours.amount:
            self.ours.append(trial)
        if not trial.theirs.is_right:
            self.theirs_wrong.append(trial)
        elif trial.theirs.amount:
            self.theirs.append(trial)
        if trial.is_less:
            self.fewer.append(trial)

    @property
    def amounts(self) -> tuple[int, int]:
        """How much each side did rightly, in all programs together but those where mlir-opt had luck."""
        trials = [t for t in self.all if not t.luck]
        ours = sum(t.ours.amount for t in trials if t.ours.is_right)
        theirs = sum(t.theirs.amount for t in trials if t.theirs.is_right)
        return ours, theirs

    @property
    def only_theirs(self) -> list[Trial]:
        """Where mlir-opt rightly transforms and we do not."""
        return [t for t in self.fewer if not t.ours.amount]

    @property
    def is_not_fewer(self) -> bool:
        """Whether ours is always right, transforms no fewer programs, and does no less to them."""
        ours, theirs = self.amounts
        return not self.ours_wrong and len(self.ours) >= len(self.theirs) and ours >= theirs

    @property
    def cells(self) -> tuple[str, ...]:
        numbers = (len(self.ours), len(self.ours_wrong), len(self.theirs), len(self.theirs_wrong), *self.amounts)
        less = (len(self.only_theirs), len(self.fewer), sum(bool(t.luck) for t in self.fewer))
        return (self.row.title, *map(str, numbers), self.row.unit, *map(str, less))


def tallies(of: range, rows: Sequence[Row], mixes: Sequence[Features] = MIXES, minutes: float = 1e9) -> list[Tally]:
    """Try passes on the programs of some seeds, of as many as the time allows, and count."""
    found = {row: Tally(row) for row in rows}
    watch = Watch()
    for start in range(0, len(of), BATCH):
        if watch.seconds > 60 * minutes:
            break
        for trial in trials(of[start : start + BATCH], rows, mixes):
            found[trial.row].add(trial)
            if not trial.ours.is_right:
                print(f"{trial.row.title}: seed {trial.seed}: {trial.ours.said[:200]}", file=sys.stderr, flush=True)
        print(f"{min(start + BATCH, len(of))} of {len(of)} programs", file=sys.stderr, flush=True)
    return list(found.values())


def table(found: Sequence[Tally]) -> str:
    """The counts: programs rightly transformed and wrong on each side, how much was done to them, and where less."""
    lines = [HEAD, *(tally.cells for tally in found)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = [k in (0, 7) for k in range(len(HEAD))]
    return "\n".join(
        "  ".join(c.ljust(w) if t else c.rjust(w) for c, w, t in zip(line, widths, texts, strict=True))
        for line in lines
    )


def details(tally: Tally) -> str:
    """The seeds to look at: wrong ones with what is wrong, and those of which mlir-opt rightly makes more.

    By luck is what touches elements in an order that no dependence allows, though it leaves the same contents.
    """
    lines = [f"    ours is wrong: seed {t.seed}: {t.ours.said.splitlines()[0][:200]}" for t in tally.ours_wrong]
    shown = ", ".join(
        f"{t.seed} ({t.ours.amount} of {t.theirs.amount}{', by luck' * bool(t.luck)})" for t in tally.fewer
    )
    lines += [f"    theirs more: {shown}"] if shown else []
    wrong = ", ".join(str(t.seed) for t in tally.theirs_wrong)
    lines += [f"    theirs wrong: {wrong}"] if wrong else []
    return "\n".join([tally.row.title, *lines]) if lines else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Count as many programs as asked for; the exit status says whether ours is right and not fewer, by every pass."""
    options = parser("tests.fuzz.counts", __doc__, 500)
    options.add_argument("--only", default="", help="passes whose name has this in it")
    chosen = options.parse_args(arguments)
    rows = [row for row in ROWS if row.is_known and chosen.only in row.step]
    found = tallies(seeds(chosen), rows)
    print("\n".join([table(found), *filter(None, map(details, found))]))
    return 0 if all(tally.is_not_fewer for tally in found) else 1


if __name__ == "__main__":
    sys.exit(main())
