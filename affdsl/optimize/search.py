"""Chooses among the candidates of a nest by what the model says of them; the loops as written are always one.

The first candidate is taken if it gains much by the model, which is so of most nests. Where it gains little, the others
are made, too, and one that clearly takes less is taken instead; if all of them are slower than the loops as written,
these stay as they are.
Where sums may be made in another order, those in the order of the text are a candidate, too, and are taken where they
are as fast: with fewer permissions nothing is faster than with more, and nothing rounds in another way for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from math import sqrt

from affdsl.explained import Note
from affdsl.frozen import Frozen
from affdsl.optimize.machine import Machine
from affdsl.optimize.model.schedules import cycles_of, sizes_of_version, sizes_that_run, standing_in
from affdsl.passes.analysis.iterations import UncountedError
from affdsl.schedule.schedule import Schedule

CLEARLY = 0.7
"""The part of the time of the loops as written in which a candidate computes that is not looked at any closer."""
MODEST = 0.4
"""A candidate that takes such a part of the time of the loops as written, or more, is compared with others."""
BETTER = 0.6
"""A candidate of a later recipe is taken where it takes only such a part of the time of the one before."""
GREAT = 0.2
"""A candidate in the order of the text that takes a smaller part is taken, and none with fewer permissions is made."""
ALIKE = 1.1
"""Of candidates of which one takes up to so many times as long as the other, larger sizes decide, too."""
SLOWER = 1.05
"""So many times as long as the loops as written a candidate may take by the model: those that are alike are taken."""
FAR_SLOWER = 1.25
"""So many times as long in the nearest cache counts beside what is as long where all wait for memory."""
FURTHER = 4
"""So many times the usual sizes are asked, too, of what takes longer with these: what caches hold needs no tiles."""
AS_WRITTEN = "the loops as written"


class Candidate(Frozen):
    """What comes of a nest.

    Attributes
    ----------
    name
        The recipe that makes it.
    before
        The schedule in which the nest is as it was written.
    notes
        What was done.
    """

    name: str
    schedule: Schedule
    before: Schedule
    notes: tuple[Note, ...]
    machine: Machine

    @cached_property
    def ratio(self) -> float:
        """How many times as long as the loops as written it takes; 0 where nobody knows."""
        return self._ratio(near=False)

    def _ratio(self, *, near: bool, times: int = 1) -> float:
        new = standing_in(self.schedule, but_not_in=self.before)
        old = standing_in(self.before, but_not_in=self.schedule)
        usual = sizes_that_run(self.before, but_not_in=self.schedule)
        usual = sizes_of_version(self.schedule, self.before, usual)
        sizes = {size: times * number for size, number in usual.items()}
        try:
            written = cycles_of(self.before, old, self.machine, sizes, near=near)
            return cycles_of(self.schedule, new, self.machine, sizes, near=near) / max(1.0, written)
        except UncountedError:
            return 0.0

    @cached_property
    def share(self) -> float:
        """The part of the time of the loops as written that counts; 0 where nobody knows.

        What moves between caches is not asked for where that is computed in far less time: it seldom is more. Where it
        takes longer with the usual sizes, the geometric mean with larger ones counts; and where it takes far longer in
        the nearest cache, the geometric mean with that: to wait for memory as long is no gain.
        """
        if self.near_ratio <= CLEARLY:
            return self.near_ratio
        far = self.ratio if self.ratio <= SLOWER else sqrt(self.ratio * self._ratio(near=False, times=FURTHER))
        return far if self.near_ratio <= FAR_SLOWER else sqrt(self.near_ratio * far)

    @property
    def is_slower(self) -> bool:
        """Whether the model expects the loops as written to be faster."""
        return self.share > SLOWER

    @property
    def is_doubtful(self) -> bool:
        """Whether the model expects it to gain little."""
        return self.share > MODEST

    @property
    def may_be_beaten(self) -> bool:
        """Whether a candidate with fewer permissions, which keeps the order of the text, is made to compare with it."""
        return self.reassociates or self.share > GREAT

    @property
    def reassociates(self) -> bool:
        """Whether a step makes sums in another order."""
        steps = self.schedule.steps[len(self.before.steps) :]
        return any(dict(step.call.options).get("reassociate") is True for step in steps)

    def is_clearly_faster_than(self, other: Candidate) -> bool:
        """Whether the model expects that, wherever the arrays are. What lanes gain hangs on how long sums are."""
        if self.reassociates and not other.reassociates:
            return False
        return 0 < self.share < BETTER * other.share and self.ratio < BETTER * other.ratio

    def is_as_fast_as(self, other: Candidate) -> bool:
        """Whether the model expects it to take no longer, in the geometric mean of usual sizes and larger ones."""
        if not 0 < self.ratio <= ALIKE * other.ratio:
            return False
        if self.ratio <= other.ratio:
            return True
        far = [each.ratio * each._ratio(near=False, times=FURTHER) for each in (self, other)]
        return far[0] <= far[1]

    @cached_property
    def near_ratio(self) -> float:
        """The same as `ratio` where all that is touched is in the nearest cache."""
        return self._ratio(near=True)

    @property
    def gain(self) -> float | None:
        """How many times as fast as the loops as written it is by the model; None where data decides that."""
        return 1 / self.share if self.share else None

    def __str__(self) -> str:
        known = f"{self.ratio:.2g} times as long as {AS_WRITTEN}" if self.ratio else "data decides how long"
        return f"{self.name}: {known}"


def best_that_pays(candidates: Iterable[Candidate]) -> tuple[Candidate | None, list[Candidate]]:
    """The first candidate that is not slower than the loops as written, or else none, and those that are.

    Where it gains little, the ones behind it are made, too: one is taken instead that clearly takes less.
    """
    best: Candidate | None = None
    slower: list[Candidate] = []
    for each in candidates:
        if each.is_slower:
            slower.append(each)
        elif best is None or each.is_clearly_faster_than(best):
            best = each
        if best is not None and not best.is_doubtful:
            break
    return best, slower
