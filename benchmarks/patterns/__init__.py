"""Loops as programs have them, by what makes them hard to run on vectors: ours, beside gcc's and clang's reports."""

from benchmarks.patterns.kernels import (
    control_flow,
    crossing,
    index_sets,
    nests,
    numbers,
    packing,
    peeling,
    recurrences,
    reductions,
    statement_order,
    strides,
    symbolic,
)
from benchmarks.patterns.pattern import Category as Category
from benchmarks.patterns.pattern import Pattern as Pattern

CATEGORIES: tuple[Category, ...] = (
    statement_order.patterns,
    reductions.patterns,
    recurrences.patterns,
    control_flow.patterns,
    strides.patterns,
    packing.patterns,
    index_sets.patterns,
    symbolic.patterns,
    peeling.patterns,
    crossing.patterns,
    nests.patterns,
    numbers.patterns,
)
PATTERNS: tuple[Pattern, ...] = tuple(pattern for category in CATEGORIES for pattern in category)
