"""What is tried in the place of a kernel does the same as what a user would write by hand, or as NumPy."""

import numpy as np
import pytest

from affdsl.report.rewrites import NARROW, WIDE, ignoring_nan, of_other_type, selecting, transposed
from affdsl.report.tries import allowed, tries
from tests.report import kernels
from tests.report.kernels import arguments
from tests.report.test_verdicts import said_of


@pytest.mark.parametrize("rewrite", [selecting, ignoring_nan])
def test_extremes_without_nan(rewrite):
    x, y = arguments(kernels.limited)
    wanted, found = y.copy(), y.copy()
    kernels.limited(x - 0.5, wanted)
    made = rewrite(kernels.limited)
    made.interpret(x - 0.5, found)
    assert (wanted == found).all()
    assert rewrite(kernels.plain) is None


def test_other_types():
    x, w, _ = given = arguments(kernels.mixed)
    narrow, convert = of_other_type(kernels.mixed, NARROW)
    converted = convert(given)
    assert [a.dtype for a in converted] == [np.float32] * 3
    narrow.interpret(*converted)
    assert (converted[2] == x * w.astype("f4") + np.float32(0.1)).all()
    wide, convert = of_other_type(kernels.mixed, WIDE)
    converted = convert(given)
    wide.interpret(*converted)
    assert (converted[2] == x.astype("f8") * w + 0.1).all()
    assert "extf" not in narrow.mlir() + wide.mlir()
    assert of_other_type(kernels.plain, NARROW) is None


def test_an_array_by_columns():
    given = arguments(kernels.by_columns)
    made, convert = transposed(kernels.by_columns, "A")
    turned = convert(given)
    assert (turned[0] == given[0].T).all()
    made.interpret(*turned)
    assert (turned[1] == 2 * given[0].T).all()
    assert transposed(kernels.by_columns, "C") is None
    assert transposed(kernels.summed, "y") is None


def test_permissions_are_those_that_steps_took():
    assert allowed(kernels.summed) == {}
    fast = kernels.summed.optimize(threads=1, reassociate=True)
    assert allowed(fast) == {"reassociate": True}
    assert "allow reassociate" not in [each.title for each in tries(fast, said_of(fast))]


def test_what_is_shown_is_what_is_tried():
    """The code of a permission, run, makes the kernel that was timed."""
    said = said_of(kernels.divided)
    [each] = [each for each in tries(kernels.divided, said) if each.title == "allow reciprocal"]
    names = {"divided": kernels.divided}
    exec(each.code, names)
    assert names["fast"].mlir() == each.make().kernel.mlir()
