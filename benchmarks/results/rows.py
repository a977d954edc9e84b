"""Numbers of all suites, as they are kept: rows, and the machine that they are of."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import geometric_mean, median
from typing import Self

ROWS = ("strict", "allowed")
"""Nothing may round in another way, here nor there; or everything may that `optimize()` can be allowed."""
BEHIND = 0.95
"""What is below is slower than a peer; what is between this and 1 takes as long, as far as such a machine can tell."""


@dataclass(frozen=True)
class Row:
    """One program of a suite, measured in one way.

    Attributes
    ----------
    ratios
        How many times longer each peer takes, above 1 is ours: the median over rounds in which all took turns.
    milliseconds
        Of a call of ours; 0 where that is not known.
    vectorized
        Who brings the loops onto vectors, where that is asked instead of times: `yes`, or what else is said of it.
    spread
        Where it was measured several times, how many times as much the largest ratio is as the least one.
    note
        Why there are no numbers, where there are none.
    """

    suite: str
    name: str
    row: str
    size: str = ""
    ratios: Mapping[str, float] = field(default_factory=dict)
    milliseconds: float = 0.0
    vectorized: Mapping[str, str] = field(default_factory=dict)
    spread: float = 0.0
    note: str = ""

    @property
    def ratio(self) -> float:
        """How many times longer the best peer takes; 0 where none was measured."""
        return min(self.ratios.values(), default=0.0)

    @property
    def best(self) -> str:
        """The best peer."""
        return min(self.ratios, key=lambda name: self.ratios[name], default="")

    def line(self) -> str:
        """The row as one line of JSON, which `of` reads."""
        found = asdict(self) | {"ratios": {name: short(each) for name, each in self.ratios.items()}}
        found |= {"milliseconds": short(self.milliseconds), "spread": short(self.spread)}
        return json.dumps({name: value for name, value in found.items() if value})

    @classmethod
    def of(cls, line: str) -> Self:
        """The row of a line."""
        return cls(**json.loads(line))


@dataclass(frozen=True)
class Results:
    """Rows, and what they were measured on, when, and by which command."""

    machine: Mapping[str, str]
    rows: Sequence[Row]

    def of(self, suite: str, row: str) -> list[Row]:
        """The rows of a suite that have a number."""
        return [each for each in self.rows if each.suite == suite and each.row == row and each.ratios]

    def mean(self, suite: str, row: str) -> float:
        """The geometric mean of the ratios of a suite to its best peers."""
        return geometric_mean(each.ratio for each in self.of(suite, row))

    def save(self, path: Path) -> None:
        """Write a file that `load` reads: a line for each row, so that changes can be seen."""
        lines = ",\n".join(each.line() for each in self.rows)
        path.write_text(f'{{"machine": {json.dumps(self.machine, indent=1)},\n"rows": [\n{lines}\n]}}\n', "utf-8")

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file that `save` wrote."""
        found = json.loads(path.read_text("utf-8"))
        return cls(found["machine"], [Row(**each) for each in found["rows"]])


def combined(passes: Sequence[Sequence[Row]]) -> list[Row]:
    """What was measured in several passes as one: of each ratio, and of each time, the median."""
    found: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for rows in passes:
        for row in rows:
            found[row.suite, row.name, row.row].append(row)
    return [_middle(rows) for rows in found.values()]


def _middle(rows: Sequence[Row]) -> Row:
    timed = [row for row in rows if row.ratios]
    if len(timed) < 2:
        return next(iter(timed), rows[0])
    ratios = {name: median(row.ratios[name] for row in timed if name in row.ratios) for name in timed[0].ratios}
    if any(row.ratios.keys() != ratios.keys() for row in timed):  # of the best peer alone, which is not always the same
        middle = median(row.ratio for row in timed)
        ratios = {min(timed, key=lambda row: abs(row.ratio - middle)).best: middle}
    every = [row.ratio for row in timed]
    times = median(row.milliseconds for row in timed)
    return replace(timed[0], ratios=ratios, milliseconds=times, spread=max(every) / min(every))


def short(number: float) -> float:
    """A number with what can be said of it on such a machine: four digits.

    >>> short(12.34567)
    12.35
    """
    return float(f"{number:.4g}")


def names(rows: Iterable[Row]) -> list[str]:
    """The programs, each once, in their order."""
    return list(dict.fromkeys(each.name for each in rows))
