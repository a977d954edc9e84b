"""Two ranges of iterations side by side: which of the two run at which numbers, as loops in a row or as one of both."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.passes.analysis.polyhedral import maximum
from affdsl.passes.simplify import Context
from affdsl.passes.transforms.loops.pieces import largest, smallest

FIRST, SECOND = 0, 1


class Range(FrozenValue):
    """The numbers from the largest of `lower` on, in steps, below the smallest of `upper`."""

    lower: tuple[Affine, ...]
    upper: tuple[Affine, ...]
    step: int

    def moved(self, by: Affine) -> Range:
        """The range so much higher."""
        return Range(tuple(e + by for e in self.lower), tuple(e + by for e in self.upper), self.step)

    def holds(self, iv: Value) -> list[Constraint]:
        """That a number lies between the ends."""
        return [*(Constraint(iv - low) for low in self.lower), *(Constraint(high - 1 - iv) for high in self.upper)]

    def is_empty(self, context: Context) -> bool:
        """Whether there is certainly no number."""
        return context.excludes([Constraint(high - low - 1) for high in self.upper for low in self.lower])


class Part(FrozenValue):
    """Some numbers at which the same of the two run: FIRST, SECOND or both; `is_late` are those after both."""

    runs: tuple[int, ...]
    range: Range
    is_late: bool = False


def parts(first: Range, second: Range, context: Context) -> list[Part]:
    """The numbers of two ranges in their order, but those of which it is known that there are none.

    Of steps larger than 1, each range has one lower bound, and the two lie on the same steps. Each number is in one
    part, also where a range is empty, or the two are apart:

        before   i < lower of the other
        common   in both
        after    i >= lower of the other, and i >= its upper

    What is below the largest of several numbers, or above the smallest, takes a part for each of them.
    """
    common = Range(largest(*first.lower, *second.lower), smallest(*first.upper, *second.upper), first.step)
    found = [
        *(Part((FIRST,), each) for each in _before(first, second)),
        *(Part((SECOND,), each) for each in _before(second, first)),
        Part((FIRST, SECOND), common),
        *(Part((FIRST,), each, is_late=True) for each in _after(first, second)),
        *(Part((SECOND,), each, is_late=True) for each in _after(second, first)),
    ]
    return [part for part in found if not part.range.is_empty(context)]


def hull(first: Range, second: Range, iv: Value, context: Context) -> Range | None:
    """One range that has the numbers of both; None where which of them begins first, or ends last, is not known.

    It may go beyond both by as much as one may go beyond the other.
    """
    pairs = (first, second), (second, first)
    lowers = [_stretched(one.lower, -1, other, iv, context) for one, other in pairs]
    uppers = [_stretched(one.upper, 1, other, iv, context) for one, other in pairs]
    lower = min((each for each in lowers if each is not None), default=None, key=lambda each: each[0])
    upper = min((each for each in uppers if each is not None), default=None, key=lambda each: each[0])
    return None if lower is None or upper is None else Range(lower[1], upper[1], first.step)


def guards(of: Range, within: Range, iv: Value, context: Context) -> tuple[Constraint, ...]:
    """What says of a number of a range that it is in another, smaller one."""
    inside = context.knowing(within.holds(iv))
    return tuple(c for c in of.holds(iv) if not inside.excludes([Constraint(-c.expr - 1)]))


def _before(of: Range, other: Range) -> Iterator[Range]:
    for k, low in enumerate(other.lower):
        yield Range(largest(*of.lower, *other.lower[:k]), smallest(*of.upper, low), of.step)


def _after(of: Range, other: Range) -> Iterator[Range]:
    for k, high in reversed(list(enumerate(other.upper))):
        start = high if of.step == 1 else of.lower[0] + (high - of.lower[0]).ceildiv(of.step) * of.step
        yield Range(largest(*of.lower, *other.lower, start), smallest(*of.upper, *other.upper[:k]), of.step)


def _stretched(
    ends: tuple[Affine, ...], sign: int, other: Range, iv: Value, context: Context
) -> tuple[int, tuple[Affine, ...]] | None:
    """By how much an end must move, down or up, so that it leaves out no number of another range, and where it is then.

    None where no number is enough.
    """
    inside, far = context.knowing(other.holds(iv)), 0
    for end in ends:
        beyond = (end - iv) if sign < 0 else (iv + 1 - end)
        if inside.excludes([Constraint(beyond - 1)]):
            continue
        most = maximum(beyond, inside.relevant([beyond]))
        if most is None:
            return None
        far = max(far, -(-most // other.step) * other.step)
    return far, tuple(end + sign * far for end in ends)
