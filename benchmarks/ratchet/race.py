"""Two sides that take turns, and what comes out of it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Self

from benchmarks.ratchet.states import FOLDER, State

TURN, SECONDS, LEAST, MOST = 0.02, 0.6, 5, 41
"""How long a turn takes, and all of them, and how many turns there are; `FEW` where one call takes `LONG`."""
LONG, FEW = 0.3, 3
FAR = 1e-3
"""How far apart, of the largest number of an array, results may be that are rounded in other ways."""


@dataclass(frozen=True)
class Group:
    """What is made at once, and then timed for several sizes and placements."""

    suite: str
    name: str
    row: str
    compiler: str
    threads: int


@dataclass(frozen=True)
class Cell:
    """One number of the table.

    Attributes
    ----------
    seconds
        Of a call, of the older side and of the newer one.
    ratio, low, high
        How many times longer the older one takes: the median of the turns, and the quartiles. Above 1, we are faster.
    note
        What is wrong, in a few words; empty where nothing is.
    """

    group: Group
    size: str
    placement: str
    seconds: tuple[float, float] = (0.0, 0.0)
    ratio: float = 0.0
    low: float = 0.0
    high: float = 0.0
    note: str = ""

    @property
    def key(self) -> str:
        """What is measured, as text."""
        return json.dumps([asdict(self.group), self.size, self.placement])

    @classmethod
    def of(cls, text: str) -> Self:
        """The cell of a line."""
        fields = json.loads(text)
        return cls(Group(**fields.pop("group")), seconds=tuple(fields.pop("seconds")), **fields)


class Side:
    """A process of one state. Raises EOFError where it does not start."""

    def __init__(self, state: State, compiler: str, threads: int) -> None:
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, state.path)),
            "PYTHONSAFEPATH": "1",
            "AFFDSL_CC": compiler,
            "AFFDSL_CACHE_DIR": str(state.cache / Path(compiler).name),
            "AFFDSL_DECISIONS": "0",  # how long it takes to optimize is measured, too
            "OMP_NUM_THREADS": str(threads),
        }
        self.process = subprocess.Popen(
            [state.python, "-m", "benchmarks.ratchet.worker", str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=FOLDER, env=environment, text=True,
        )  # fmt: skip
        self.answer()

    def ask(self, what: Mapping[str, object]) -> None:
        """Send a question."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, object]:
        """Wait for the answer. Raises EOFError where the process has died."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise EOFError(f"a side ended with {self.process.wait()}")
        found: dict[str, object] = json.loads(line)
        return found


class Pair:
    """Both sides, the older one first, with one compiler and so many threads."""

    def __init__(self, older: State, newer: State, compiler: str, threads: int, rows: tuple[str, str] | None) -> None:
        self.sides = [Side(state, compiler, threads) for state in (older, newer)]
        self.rows = rows

    def both(self, do: str, **what: object) -> list[dict[str, object]]:
        """Ask both at once. Raises ValueError where one cannot do it."""
        for side in self.sides:
            side.ask({"do": do} | what)
        return self._checked([side.answer() for side in self.sides])

    def make(self, group: Group) -> None:
        """Make a kernel on both sides. Raises ValueError where one cannot."""
        rows = self.rows or (group.row, group.row)
        for side, row in zip(self.sides, rows, strict=True):
            side.ask({"do": "make", "suite": group.suite, "name": group.name, "row": row})
        self._checked([side.answer() for side in self.sides])

    def raced(self, group: Group, size: str, placement: str) -> Cell:
        """Time what was made, in turns. Raises ValueError where a side cannot be called."""
        placed = self.both("place", size=size, placement=placement)
        first = max(float(str(each["seconds"])) for each in placed)
        taken: list[tuple[float, float]] = []
        start = perf_counter()
        least = FEW if first > LONG else LEAST
        for turn in count():
            if turn >= MOST or (turn >= least and perf_counter() - start > SECONDS):
                break
            found = [0.0, 0.0]
            for k in (0, 1) if turn % 2 else (1, 0):
                self.sides[k].ask({"do": "time", "seconds": TURN})
                (answer,) = self._checked([self.sides[k].answer()])
                found[k] = float(str(answer["seconds"]))
            taken.append((found[0], found[1]))
        ratios = [old / new for old, new in taken]
        low, _, high = quantiles(ratios, n=4)
        seconds = median(old for old, _ in taken), median(new for _, new in taken)
        note = "" if self._is_alike(placed, group) else "results differ"
        return Cell(group, size, placement, seconds, median(ratios), low, high, note)

    def _is_alike(self, placed: list[dict[str, object]], group: Group) -> bool:
        if placed[0]["digest"] == placed[1]["digest"]:
            return True
        if self.rows is None and group.row in ("written", "strict"):
            return False
        norms = [each["norms"] for each in placed]
        assert isinstance(norms[0], list)
        assert isinstance(norms[1], list)
        return all(abs(a - b) <= FAR * max(a, b) for a, b in zip(*norms, strict=True))

    @staticmethod
    def _checked(answers: list[dict[str, object]]) -> list[dict[str, object]]:
        for which, answer in zip(("older", "newer"), answers, strict=False):
            if "error" in answer:
                raise ValueError(f"{which if len(answers) > 1 else 'one'} side: {answer['error']}")
        return answers

    def close(self) -> None:
        """End both processes."""
        for side in self.sides:
            side.process.kill()
            side.process.communicate()


class Pairs:
    """One pair at a time: that of a compiler and a number of threads."""

    def __init__(self, older: State, newer: State, rows: tuple[str, str] | None) -> None:
        self.older, self.newer, self.rows = older, newer, rows
        self._known: tuple[tuple[str, int], Pair] | None = None

    def of(self, group: Group) -> Pair:
        """The pair for a group."""
        wanted = group.compiler, group.threads
        if self._known is None or self._known[0] != wanted:
            self.close()
            self._known = wanted, Pair(self.older, self.newer, group.compiler, group.threads, self.rows)
        return self._known[1]

    def close(self) -> None:
        """End the pair that runs."""
        if self._known is not None:
            self._known[1].close()
            self._known = None


def cells(pairs: Pairs, group: Group, wanted: list[tuple[str, str]]) -> Iterator[Cell]:
    """The numbers of a group for sizes and placements; a side that fails or dies is named in the note."""
    pair = pairs.of(group)
    try:
        pair.make(group)
    except (ValueError, EOFError) as error:
        pairs.close()
        yield from (Cell(group, size, placement, note=str(error)) for size, placement in wanted)
        return
    for size, placement in wanted:
        try:
            yield pair.raced(group, size, placement)
        except (ValueError, EOFError) as error:
            yield Cell(group, size, placement, note=str(error))
            if isinstance(error, EOFError):
                pairs.close()
                return
