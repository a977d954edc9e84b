"""The places of a compiled kernel where an access is checked, and what is said where one fails."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from affdsl.errors import AffdslError, DivisorError, FailedAssertionError, OutOfBoundsError
from affdsl.frozen import FrozenValue
from affdsl.ir.location import Location
from affdsl.ir.reports import shown_float, with_report


@dataclass(frozen=True)
class Access:
    """An element, or all lanes of a vector: checked by its index, then the sizes of the array, as the numbers."""

    where: Location | str
    shown: str
    array: str
    rank: int
    reach: tuple[int, ...] = ()
    """How many elements further along each of the last dimensions, of a vector that is checked as a whole."""
    is_lane: bool = False
    """Whether the first of the numbers is that of a lane."""

    @property
    def numbers(self) -> int:
        """How many there are to say what failed."""
        return 2 * self.rank + self.is_lane

    @property
    def listed(self) -> str:
        """What is checked, as a list of checks has it."""
        return f"{_place(self.where)}: {self.shown}"

    def error(self, numbers: Sequence[int]) -> AffdslError:
        """What a call raises."""
        lane = f" in lane {numbers[0]}" if self.is_lane else ""
        rest = numbers[1:] if self.is_lane else numbers
        start, sizes = tuple(rest[: self.rank]), tuple(rest[self.rank : 2 * self.rank])
        index = start
        for place in product(*map(range, self.reach)):
            first = self.rank - len(place)
            index = (*start[:first], *(i + k for i, k in zip(start[first:], place, strict=True)))
            if any(not 0 <= i < size for i, size in zip(index, sizes, strict=True)):
                lane = f" in lane {', '.join(map(str, place))}" if place else lane
                break
        at = next((k for k, (i, size) in enumerate(zip(index, sizes, strict=True)) if not 0 <= i < size), 0)
        whole = f" of ({', '.join(map(str, index))})" if self.rank > 1 else ""
        return OutOfBoundsError(
            f"{self.where}: {self.shown}: index {index[at]}{whole}{lane} is out of bounds for dimension {at} of "
            f"{self.array}, which has size {sizes[at]}",
            self.array, index, sizes, at,
        )  # fmt: skip


class Misfit(FrozenValue):
    """What moves or renames many elements at once; `words` has a place {0}, {1} ... for each number."""

    where: Location | str
    words: str
    array: str
    numbers: int

    @property
    def listed(self) -> str:
        """What is checked, as a list of checks has it."""
        return f"{_place(self.where)}: {self.words}"

    def error(self, numbers: Sequence[int]) -> AffdslError:
        """What a call raises."""
        return OutOfBoundsError(f"{self.where}: {self.words.format(*numbers)}", self.array)


class Divisor(FrozenValue):
    """A division by what is known only at run time: the number."""

    where: Location | str
    shown: str
    numbers: int = 1

    @property
    def listed(self) -> str:
        """What is checked, as a list of checks has it."""
        return f"{_place(self.where)}: the divisor {self.shown}"

    def error(self, numbers: Sequence[int]) -> AffdslError:
        """What a call raises."""
        return DivisorError(
            f"{self.where}: {self.shown} is the divisor of a floor division or remainder, and must be positive, "
            f"but is {numbers[0]}"
        )


class Assertion(FrozenValue):
    """What the kernel asserts, with what it says where that does not hold: each number, and the text after it."""

    where: Location | str
    message: str
    pieces: tuple[tuple[str, int], ...]
    """The texts, each with the bits of the float before it, 0 for an integer, and -1 where there is no number."""

    @property
    def numbers(self) -> int:
        """How many there are to say what failed."""
        return sum(bits >= 0 for _, bits in self.pieces)

    @property
    def listed(self) -> str:
        """What is checked, as a list of checks has it."""
        return f"{_place(self.where)}: {self.message}"

    def error(self, numbers: Sequence[int]) -> AffdslError:
        """What a call raises."""
        left = iter(numbers)
        report = "".join(("" if bits < 0 else _shown(next(left), bits)) + text for text, bits in self.pieces)
        return FailedAssertionError(f"{self.where}: {with_report(self.message, report)}")


def _shown(number: int, bits: int) -> str:
    """A number that was noted, as it would be printed."""
    return str(number) if bits == 0 else shown_float(struct.unpack("=d", struct.pack("=q", number))[0], bits)


Site = Access | Misfit | Divisor | Assertion


class Sites:
    """All checks of one C file, each with its number, from 1 on."""

    def __init__(self) -> None:
        self._found: list[Site] = []

    def add(self, site: Site) -> int:
        """The number of one more."""
        self._found.append(site)
        return len(self._found)

    @property
    def room(self) -> int:
        """How many numbers a failure takes: that of the site, and its own."""
        return 1 + max((site.numbers for site in self._found), default=0)

    def error(self, failure: Sequence[int]) -> AffdslError:
        """What a call raises whose failure is noted so."""
        site = self._found[failure[0] - 1]
        error = site.error(failure[1 : 1 + site.numbers])
        if isinstance(site.where, Location):
            error.place = site.where.file, site.where.line
        return error

    def listed(self) -> tuple[Site, ...]:
        """The checks in the order of their numbers."""
        return tuple(self._found)


class SharedSites(Sites):
    """The checks of several files that do the same: one that is in two of them has one number."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[Site, int] = {}

    def add(self, site: Site) -> int:
        """The number of a check."""
        if site not in self._numbers:
            self._numbers[site] = super().add(site)
        return self._numbers[site]


def _place(where: Location | str) -> str:
    """A place without the folder of its file, which says nothing to those who get the C."""
    return where if isinstance(where, str) else where.brief
