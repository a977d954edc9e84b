"""Random kernels that give parts of arrays to others; `python -m tests.parts.run` tries as many as it is asked to."""

from collections import Counter

import pytest

from tests.effort import some
from tests.parts.run import wrong


@pytest.mark.parametrize("first", some(range(0, 200, 12), 1))
def test_they_do_what_strict_arrays_do(first: int):
    seen = Counter[str]()
    for seed in range(first, first + 12):
        assert not wrong(seed, seen, more=seed == first)
    assert min(seen["calls"], seen["refused calls"]) > 0
