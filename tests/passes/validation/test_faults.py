"""Validation finds what is wrong in the results of transformations, and in nothing else; and the faults are faults."""

from random import Random

import pytest

from affdsl.mlir.readers import parse
from affdsl.passes.validation import validate
from tests.passes.compare import parsed
from tests.passes.faults.__main__ import shown
from tests.passes.faults.count import tally
from tests.passes.faults.planting import FAULTS, planted
from tests.passes.faults.programs import KERNELS
from tests.passes.faults.real import changes


def test_faults_are_found_and_nothing_else():
    found = tally(Random(11), 20)
    assert found.planted == 20
    assert len({fault for fault, _ in found.found}) == len(FAULTS)
    assert len(found.missed) <= 0.05 * found.planted, found.missed
    assert found.wrongly_proved == []
    assert found.false_alarms == []
    assert found.proved > 0
    assert f"found: {len(found.found)} of 20" in shown(found)


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_can_be_planted(fault):
    random = Random(fault)
    made = [planted(parse(text), fault, random) for text in KERNELS.values()]
    assert len([module for module in made if module is not None]) >= 2


def test_changes_without_effect_are_none():
    before = parse(KERNELS["a buffer between"])
    text = str(before)
    assert not changes(before, parse(text))
    assert changes(before, parse(text.replace("arith.mulf", "arith.addf")))
    unused = text.replace("memref.alloc(%n)", "memref.alloc(%n) {alignment = 64 : i64}", 1)
    assert unused != text
    assert not changes(before, parse(unused))


def test_what_comes_from_a_new_buffer_may_be_anything():
    before = """func.func @f(%A: memref<2xf32>, %x: f32) {
      %new = memref.alloc() : memref<1xf32>
      %y = affine.load %new[0] : memref<1xf32>
      affine.store %y, %A[0] : memref<2xf32>
      affine.store %x, %A[1] : memref<2xf32>
      return
    }"""
    other = before.replace("store %y", "store %x")
    lost = before.replace("affine.store %x, %A[1] : memref<2xf32>", "")
    assert not changes(parse(before), parse(other))
    assert changes(parse(other), parse(before))
    assert changes(parse(before), parse(lost))


def test_iterations_may_be_made_to_share_what_is_private():
    before = parsed(KERNELS["rows beside each other"])
    kinds = set()
    for seed in range(12):
        made = planted(before, "wrong private buffer", Random(seed))
        failure = None if made is None else validate(before, made).failure
        kinds.add(None if failure is None else failure.is_race)
    assert {True, False} <= kinds
