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
from benchmarks.patterns.reworded import accesses, computations, dependences

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

REWORDED_CATEGORIES: tuple[Category, ...] = (
    dependences.statement_order,
    computations.reductions,
    dependences.recurrences,
    computations.control_flow,
    accesses.strides,
    accesses.packing,
    accesses.index_sets,
    accesses.symbolic,
    dependences.peeling,
    dependences.crossing,
    computations.nests,
    computations.numbers,
)
REWORDED: tuple[Pattern, ...] = tuple(pattern for category in REWORDED_CATEGORIES for pattern in category)
SUITES = {"patterns": PATTERNS, "reworded": REWORDED}
