"""Chains of steps go through every verb, every pass and every output, and the work grows as the chain does.

`python -m tests.steps.run` has all shapes and sizes, and times. Here calls of functions are counted, of which there are
as many on any machine; and values have 2**40 uses inside each other, so that a walk along all of them never ends.
"""

from __future__ import annotations

import pytest

from tests.effort import TRIES_ALL
from tests.steps.measured import measured
from tests.steps.shapes import SHAPES
from tests.steps.tasks import TASKS

OTHERS = {
    "verb contract": "products",
    "verb contract reassociate": "products",
    "verb approximate": "functions",
    "verb reciprocal": "functions",
}
"""Chains for verbs that find nothing to do in one of squarings."""
LONG = (
    "optimize stages", "optimize everything stages", "validate optimize", "validate contract",
    "pass affdsl-optimize", "graph of a loop", "report stages",
)  # fmt: skip
"""Half a second each and more: they are in the long run, and do what others do, too."""


@pytest.mark.parametrize("task", [name for name in TASKS if TRIES_ALL or name not in LONG])
def test_values_with_endless_uses_go_through(task):
    shape = SHAPES[OTHERS.get(task, "squarings")]
    assert not measured(TASKS[task], shape, 40).refused


@pytest.mark.parametrize(
    "task",
    [
        "trace", "check", "mlir", "generic mlir", "read", "c 512", "c 128 of vectors", "interpret", "verb vectorize",
        "verb inline", "verb unroll", "pass cse", "pass canonicalize", "pass lower-affine", "optimize",
    ],
)  # fmt: skip
def test_work_grows_with_the_number_of_steps(task):
    few, many = (measured(TASKS[task], SHAPES["squarings"], n) for n in (50, 200))
    assert many.calls < 4.8 * few.calls


@pytest.mark.parametrize(
    ("task", "shape"),
    [
        ("verb reverse", "guards"), ("verb fuse", "guards"), ("verb distribute", "ifs"), ("verb parallel", "guards"),
        ("pass affine-scalrep", "ifs"), ("pass affine-loop-fusion", "ifs"), ("verb pipeline", "guards"),
        ("verb vectorize both", "ifs"), ("fuse pieces", "ifs"), ("picture", "ifs"),
    ],
)  # fmt: skip
def test_accesses_under_conditions_in_a_row_are_not_compared_one_by_one(task, shape):
    few, many = (measured(TASKS[task], SHAPES[shape], n) for n in (15, 60))
    assert many.calls < 4.8 * few.calls
