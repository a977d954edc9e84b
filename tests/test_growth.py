"""Steps that must not take long where loops are unrolled into many statements."""

import pytest

from benchmarks.growth import STEPS, timed


@pytest.mark.parametrize("step", ["scalar_replace of 6 x n sums", "scalar_replace of 6 x n vectors"])
def test_accumulators_are_found_in_half_a_second(step: str) -> None:
    make, take, _ = STEPS[step]
    schedule = make(16)
    assert min(timed(lambda: take(schedule)) for _ in range(3)) < 0.5
