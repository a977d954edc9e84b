"""Which choices may be worth a try: those that change what recipes have asked for."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from affdsl.optimize.choices import AS_IT_WAS, USUAL, Choices
from affdsl.optimize.options import Options

MOST = 8
"""How many candidates are timed at most."""
VARIATIONS: tuple[Mapping[str, int], ...] = (
    {"product_terms": 256},
    {"product_terms": 256, "product_rows": 256},
    {"product_terms": 512, "product_rows": 64},
    {"product_columns": 4096},
    {"register_rows": 12, "register_vectors": 2},
    {"register_rows": 6, "register_vectors": 4},
    {"register_rows": 4, "register_vectors": 3},
    {"lone_rows": 16},
    {"lone_rows": 20},
    {"block_rows": 32},
    {"block_rows": 128},
    {"block_columns": 32},
    {"strip_vectors": 2},
    {"strip_vectors": 8},
    {"sweep_steps": 8},
    {"sweep_steps": 32},
    {"sweep_rows": 32},
    {"sweep_steps": 8, "sweep_rows": 32},
    {"sweep_planes": 16, "sweep_rows": 32},
    {"sums": 4},
    {"sums": 16},
    {"sum_vectors": 8},
    {"shared_rows": 2},
    {"shared_rows": 8},
    {"outer_vectors": 1},
    {"outer_vectors": 2},
    {"outer_vectors": 8},
    {"searched": 128},
    {"searched": 2048},
    {"band_rows": 16},
    {"band_rows": 64},
    {"jammed_steps": 2},
    {"jammed_steps": 8},
    {"recurrences": 4},
    {"recurrences": 16},
)  # fmt: skip
"""What may be better than the usual numbers."""
OF_RECIPE = {"sweeps": "sweep_steps", "products": "product_terms", "outer": "outer_vectors"}
"""A number that a recipe asks for when all else about a nest is right."""


def to_be_timed(asked: Set[str], options: Options) -> list[Choices]:
    """The choices to time in any case, beside the usual ones.

    The kernel as it was is one of them, the recipes on one thread, and what comes of it without a recipe that was
    taken.
    """
    first = [AS_IT_WAS]
    first += [replace(USUAL, most_threads=1)] if options.threads > 1 else []
    return first + [replace(USUAL, left_out=(name,)) for name, number in OF_RECIPE.items() if number in asked]


def with_other_numbers(asked: Set[str]) -> list[Choices]:
    """The usual choices with other numbers, of those that were asked for."""
    return [varied(row) for row in VARIATIONS if asked >= row.keys()]


def together(times: Mapping[Choices, float]) -> Choices | None:
    """The numbers of the two fastest choices that are faster than the usual one and change different numbers, as one.

    >>> times = {USUAL: 3.0, varied({"sums": 16}): 1.0, varied({"sums": 4}): 2.0, varied({"shared_rows": 8}): 2.5}
    >>> print(together(times))
    sums = 16, shared_rows = 8
    """
    better = [each for each, seconds in times.items() if seconds < times[USUAL] and not each.left_out]
    first, *others = sorted(better, key=lambda each: times[each]) or [USUAL]
    for other in others:
        if first.numbers().keys().isdisjoint(other.numbers()):
            return varied({**first.numbers(), **other.numbers()})
    return None


def varied(numbers: Mapping[str, int]) -> Choices:
    """The usual choices with some other numbers."""
    return Choices(**numbers)  # type: ignore[arg-type]
