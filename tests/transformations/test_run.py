"""Every primitive on random programs: nothing that is accepted is wrong, and what is forced shows."""

from __future__ import annotations

import os
from functools import cache

import numpy as np
import pytest

from affdsl.ir.dialects import affine, func
from affdsl.ir.traverse import rewrite, with_fields
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from tests.effort import some
from tests.transformations import orders, run
from tests.transformations.check import Report, Row, check
from tests.transformations.mixing import mixed, on_integers, shown
from tests.transformations.primitives import PRIMITIVES, Primitive, Setting, one
from tests.transformations.run import main, tried
from tests.transformations.run import shown as failures_shown
from tests.transformations.subjects import on_i64

SEEDS = some([n for n in range(101, 131) if n not in (103, 117)] + [103, 117], 20)
"""The last ones have the largest programs."""


@cache
def found() -> Report:
    return tried(SEEDS, validations=1)


def total(report: Report) -> Row:
    all_rows = Row()
    for row in report.rows.values():
        all_rows.add(row)
    return all_rows


def test_nothing_that_is_accepted_is_wrong():
    report = found()
    assert not report.failures, failures_shown(report.failures)
    assert report.programs == len(SEEDS)
    accepted = {name for name, row in report.rows.items() if row.accepted}
    # Few random programs have a place for these; the table of cases has them.
    assert accepted >= PRIMITIVES.keys() - {
        "demote",
        "demote first",
        "scalar_replace",
        "unswitch",
        "precompute",
        "privatize",
        "expand",
        "sink",
        "make_perfect",
        "locate",
        "reroll",
        "if_convert",
    }
    assert total(report).validated >= 20


def test_nine_in_ten_of_what_is_refused_show_when_they_are_forced():
    row = total(found())
    assert row.forced >= 25
    assert row.changed >= 0.9 * row.counterexamples
    assert sum(row.unchanged.values()) == row.counterexamples - row.changed
    assert found().unexplained == []


def test_each_counterexample_at_sizes_of_the_program_is_seen():
    row = total(found())
    assert row.confirmed > 0.5 * row.counterexamples
    assert row.confirmed <= row.counterexamples


def _shortened(at: Setting, loops, numbers) -> func.Func:
    """A primitive that does something else than it says: it leaves out the first iteration."""
    (iv,) = at.ivs(loops)

    def rule(op):
        if isinstance(op, affine.For) and op.iv is iv and len(op.lower) == 1:
            return with_fields(op, lower=(op.lower[0] + op.step,), written=None)
        return None

    return rewrite(at.function, rule)


def test_a_primitive_that_is_wrong_is_found_and_the_program_made_small(monkeypatch, capsys):
    monkeypatch.setitem(PRIMITIVES, "shift", Primitive(one((1,)), _shortened))
    assert main(["--count", "3", "--seed", "4", "--primitives", "shift", "--validations", "1"]) == 1
    said = capsys.readouterr().out
    assert "shift: another result" in said
    small = said.split("made small:")[1].split("\n\n")[0]
    assert small.count("affine.for") <= 2
    assert 1 <= small.count("affine.store") + small.count("memref.store") + small.count("iter_args") <= 2


def test_a_primitive_that_crashes_is_a_failure(monkeypatch):
    def crash(at, loops, numbers):
        raise RuntimeError("no")

    monkeypatch.setitem(PRIMITIVES, "shift", Primitive(one((1,)), crash))
    (failure,) = check(4, ("shift",)).failures
    assert failure.kind == "raised RuntimeError in crash"
    assert "seed 4: shift of loops" in str(failure)


@pytest.mark.parametrize("seed", some(range(1, 13), 4))
def test_programs_with_other_arithmetic_have_the_same_loops_and_accesses(seed: int):
    plain, other = on_i64(seed), on_i64(seed).mixed
    ours, theirs = (plain.trace(0).instances, other.trace(0).instances)
    assert [(i.role, i.ivs, i.elements) for i in ours] == [(i.role, i.ivs, i.elements) for i in theirs]
    remembering = on_i64(seed).remembering
    stores = [[(i.ivs, i.elements) for i in s.trace(0).instances if i.role == "write"] for s in (plain, remembering)]
    assert stores[0] == stores[1]
    verify(remembering.module)


def test_all_that_ever_happened_to_an_element_shows():
    """Of two stores to one element, the first one shows only if that is remembered."""
    text = """func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
      %one = arith.constant 1.0 : f32
      affine.for %i = 0 to 2 {
        %a = affine.load %B[%i] : memref<9xf32>
        affine.store %one, %A[0] : memref<9xf32>
      }
      return
    }"""
    plain = parse(on_integers(text)).functions[0]
    for function, loads in ((mixed(plain), 1), (mixed(plain, remembers=True), 2)):
        assert str(function).count("affine.load") == loads
        assert str(function).count("affine.store") == 1
    assert shown(plain).result_types == ()


def test_lost_and_doubled_executions_are_noticed():
    (function,) = parse("""func.func @f(%A: memref<9xi64>, %x: i64) {
      affine.for %i = 0 to 5 { affine.store %x, %A[%i] : memref<9xi64> }
      return
    }""").functions

    def given():
        return [np.zeros(9, np.int64), 1]

    def shorter(made: func.Func, module) -> func.Func:
        return _shortened(Setting(made, func.Module((made,))), (0,), ())

    assert orders.first_reversed(function, lambda made, module: made, given) is None
    with pytest.raises(orders.LostError):
        orders.first_reversed(function, shorter, given)


def test_a_program_on_which_isl_divided_by_zero():
    """It ended the process: this is skewed, and the validator asks which of its writes come last."""
    report = check(2606, ["skew"])
    assert not report.failures
    assert report.row("skew").validated == 1


def test_a_process_that_dies_is_a_failure_of_its_program(monkeypatch):
    def deadly(seed: int, names: object, validations: object) -> Report:
        if seed == 12:
            os._exit(3)
        return Report(programs=1)

    monkeypatch.setattr(run, "_one", deadly)
    report = tried(range(10, 15), processes=2)
    assert report.programs == 5
    (failure,) = report.failures
    assert str(failure).startswith("seed 12: ")
    assert "the process ended with status 3" in failures_shown(report.failures)
