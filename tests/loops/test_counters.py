"""Loops whose last step would pass 2**63 - 1 are refused where they are defined, in every spelling; no others are."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.call_range import call_range
from affdsl.ir.counters import LARGEST, too_large
from affdsl.ir.expr import Affine
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.transforms.strip_mine import strip_mine

N = af.symbols("N")
HALF = 2**62


def counting(*bounds, parallel=False):
    def count(x: af.i64[1]):
        with af.parallel(bounds) if parallel else af.for_(*bounds) as i:
            x[0] += 1 + 0 * af.i64(i)

    return af.kernel(count)


def times(kernel, run):
    x = np.zeros(1, "i8")
    (kernel.interpret if run == "interpreted" else kernel)(x)
    return x[0]


PASSING = [
    (0, LARGEST, HALF), (LARGEST - 5, LARGEST, 2), (1, 10, LARGEST), (LARGEST - 1, LARGEST, 2),
    (-(2**63), LARGEST, HALF),
]  # fmt: skip
ENDING = [
    (LARGEST - 4, LARGEST, 2), (LARGEST - 4, LARGEST, 1), (0, 10, LARGEST), (0, HALF, HALF), (0, HALF + 1, HALF - 1),
    (-(2**63), -(2**63) + 4, 1), (-HALF, HALF - 1, HALF), (5, -(2**63), 1000),
]  # fmt: skip


@pytest.mark.parametrize("bounds", PASSING)
def test_a_loop_whose_last_step_does_not_fit_is_refused_where_it_is_written(bounds):
    wrong = r"test_counters.py:\d+: (the counter of )?a loop from(.*\n)+.*smaller steps"
    for parallel in (False, True):
        with pytest.raises(af.ProgramIndexError, match=wrong):
            counting(*bounds, parallel=parallel)


@pytest.mark.parametrize("bounds", ENDING)
def test_a_loop_that_ends_below_runs_as_often_in_c(bounds):
    kernel = counting(*bounds)
    assert times(kernel, "interpreted") == times(kernel, "compiled") == len(range(*bounds))


@pytest.mark.parametrize("bounds", [(LARGEST, 0, -HALF), (HALF, -(2**63), -HALF), (HALF, -HALF - 1, -HALF)])
def test_a_loop_that_runs_down_too_far_is_refused(bounds):
    """From 2**62 down to -2**63 it ran 3 times in the interpreter, and not once in C."""
    with pytest.raises(af.ProgramIndexError, match="from 0 up where a loop runs down"):
        counting(*bounds)


def test_what_is_refused_is_what_passes_the_end():
    near = [-(2**63), -HALF, -2, 0, 3, HALF, LARGEST - 3, LARGEST]
    for low in near:
        for high in near:
            for step in (1, 2, 5, HALF, LARGEST):
                last = range(low, high, step)
                fits = not last or (last[-1] + step <= LARGEST and high - low <= LARGEST)
                assert (too_large([Affine.of(low)], [Affine.of(high)], step) == "") == fits, (low, high, step)


TEXT = "func.func @f(%n: index, %A: memref<?xf64>, %x: f64) {{\n{}\nreturn }}"
LOOPS = {
    "for": "affine.for %i = 0 to 9223372036854775807 step 4611686018427387904 {}",
    "largest of several": "affine.for %i = max affine_map<()[s] -> (s, 1)>()[%n] to 10 step 9223372036854775807 {}",
    "size": "affine.for %i = 1 to %n step 9223372036854775807 {}",
    "parallel": "affine.parallel (%i, %j) = (0, 1) to (5, 10) step (1, 9223372036854775807) {}",
    "scf": "%c = arith.constant 1 : index %d = arith.constant 10 : index "
    "%s = arith.constant 9223372036854775807 : index scf.for %i = %c to %d step %s {}",
}


@pytest.mark.parametrize("loop", LOOPS)
def test_text_with_such_a_loop_is_refused_in_its_line(loop):
    with pytest.raises(af.VerificationError, match=r"<mlir>:2:.*9223372036854775807 goes past|<mlir>:2.*goes past 2"):
        verify(parse(TEXT.format(LOOPS[loop])))


def test_a_step_of_a_schedule_makes_no_such_loop():
    function = parse(TEXT.format("affine.for %i = 0 to 9223372036854775806 { }")).functions[0]
    with pytest.raises(af.VerificationError, match="goes past"):
        verify(strip_mine(function, function.body[0].iv, 1024))
    kernel = counting(0, LARGEST - 1)
    with pytest.raises(af.IllegalTransform, match="goes past"):
        af.Schedule(kernel).strip_mine("i", 1024)


def test_large_constants_do_not_let_sizes_be_too_large():
    """Where a constant alone was too large, sizes could be 2**20, whatever they were multiplied with."""

    def limit(bound) -> int:
        loops = f"affine.for %i = 0 to {HALF} {{ }} affine.for %j = 0 to affine_map<()[n] -> (n * {bound})>()[%n] {{ }}"
        return call_range(parse(TEXT.format(loops)).functions[0], {}).limit

    assert limit(1) == 2**20
    assert limit(2**50) == 2**11
