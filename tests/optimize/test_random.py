"""Random programs and kernels do the same after the optimizer; `python -m tests.optimize.random` tries many."""

import dataclasses
from collections import Counter

import pytest

import tests.optimize.combined as combined
import tests.optimize.kernel_runs as runs
import tests.optimize.programs as programs
from tests.effort import some
from tests.optimize.random import main
from tests.optimize.ways import TARGETS, Way, random_way


@pytest.mark.parametrize("seed", some(range(5, 200, 2), 1))
def test_programs_do_the_same(seed):
    report = programs.checked(range(seed, seed + 2), random_way(seed))
    assert [(f.program.seed, f.pipeline, f.judge, f.said) for f in report.failures] == []
    assert report.programs == 2


def test_what_is_wrong_as_written_says_nothing_of_the_optimizer():
    report = programs.checked([705], Way("avx2"))  # bands that race with other sizes than its own
    assert [(f.judge, f.said.partition(":")[0]) for f in report.also_before] == [("elsewhere", "mismatch")]
    assert report.failures == []


def test_a_loop_that_is_parallel_has_no_versions_by_size():
    assert programs.checked([703], Way("native")).failures == []


def test_the_validator_survives_what_isl_does_not():
    """Pairs of this program in 22 parts, which isl's `coalesce` does not come back from."""
    report = programs.checked([511001274], Way("sve"))
    assert (report.programs, report.failures) == (1, [])


@pytest.mark.parametrize("seed", some(range(1, 60), 1))
def test_kernels_do_the_same(seed):
    assert runs.tried(seed, random_way(seed)).failures == []


@pytest.mark.parametrize("seed", some(range(2, 60), 1))
def test_kernels_do_the_same_after_random_steps(seed):
    assert runs.scheduled(seed) == ""


@pytest.mark.parametrize(("by", "is_wrong"), [(0, False), (1e-11, True)])
def test_a_recurrence_may_move_as_far_as_rounding_moves_it_and_no_further(monkeypatch, by, is_wrong):
    """This kernel makes numbers of 3e24 of small ones. Where its arguments move by a unit of the last place, these move
    by 1,400 units, which is 3e-13 of them.
    """

    def nearly(kernel, way, report):
        fast = way.of(kernel)

        def call(**given):
            fast(**given)
            given["B"] *= 1 + by

        return call

    monkeypatch.setattr(runs, "_optimized", nearly)
    failures = runs.tried(512000203, random_way(512000203)).failures
    assert any("units of the last place away" in said for said in failures) == bool(failures) == is_wrong


def test_the_command(capsys):
    assert main(["--count", "1", "--kernels", "0", "--seed", "7"]) == 0
    assert "1 programs, 1 changed, " in capsys.readouterr().out


def test_what_is_wrong_is_found(monkeypatch):
    def plus_one(kernel, way, report):
        text = kernel.mlir()
        assert "arith.mulf" in text or "arith.muli" in text
        return kernel.with_module(swapped(kernel.module))

    def swapped(module):
        """The module without the last statement of its function before it returns."""
        (function,) = module.functions
        body = (*function.body[:-2], function.body[-1])
        return dataclasses.replace(module, body=(dataclasses.replace(function, body=body),))

    monkeypatch.setattr(runs, "_optimized", plus_one)
    (said, *_) = runs.tried(6, Way()).failures
    assert "not the same to the bit" in said
    assert "def f(steps" in said
    monkeypatch.setattr(programs, "SECONDS", -1)
    (failure,) = programs.checked([7], Way("avx2")).failures
    assert failure.judge == "optimize"
    assert "TimeoutError: it took" in failure.said


def test_ways_are_of_all_kinds():
    ways = [random_way(seed) for seed in range(100)]
    assert {way.target for way in ways} == {*TARGETS}
    assert {way.threads for way in ways} == {1, 2, 3}
    assert all(not way.allowed for way in ways[::2])
    assert {each for way in ways for each in way.allowed} == {"contract", "reassociate", "reciprocal"}


@pytest.mark.parametrize("seed", some(range(1, 400), 2))
def test_loops_that_combine_do_the_same_as_if_they_were_long(seed):
    assert combined.wrong(seed, Counter()) == ""
