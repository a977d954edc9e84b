"""Validation finds faults of each class that are planted into kernels."""

from random import Random

import pytest

from affdsl.mlir.readers import parse
from affdsl.passes.validation import validate
from tests.passes.compare import parsed
from tests.passes.faults.planting import FAULTS, planted
from tests.passes.faults.programs import KERNELS


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_planted_and_found(fault):
    random = Random(fault)
    kernels = [parse(text) for text in KERNELS.values()]
    made = [(before, after) for before in kernels if (after := planted(before, fault, random)) is not None]
    assert len(made) >= 2
    assert any(validate(before, after).failure is not None for before, after in made)


def test_iterations_may_be_made_to_share_what_is_private():
    before = parsed(KERNELS["rows beside each other"])
    kinds = set()
    for seed in range(12):
        made = planted(before, "wrong private buffer", Random(seed))
        failure = None if made is None else validate(before, made).failure
        kinds.add(None if failure is None else failure.is_race)
    assert {True, False} <= kinds
