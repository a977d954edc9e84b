"""A share of the table of reductions on vectors; `python -m tests.vectors.reductions` tries all of it."""

from collections import Counter

from tests.effort import TRIES_ALL
from tests.vectors.reduction_rows import ROWS
from tests.vectors.reductions import WIDTHS, check, every


def test_reductions_are_what_numpy_makes_of_the_numbers() -> None:
    asked = list(every(ROWS, WIDTHS))
    report = check(asked if TRIES_ALL else asked[::1979])
    assert report.wrong == []
    assert report.refused == Counter()
