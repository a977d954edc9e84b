"""Random kernels on complex numbers do in C, and after passes, what they do in the interpreter."""

import pytest

from tests.complex_numbers.run import wrong
from tests.effort import some


@pytest.mark.parametrize("seed", [*some([106, 3, *range(10, 60)], 1)])
def test_c_and_passes_leave_what_the_interpreter_leaves(seed: int):
    assert wrong(seed) == ""
