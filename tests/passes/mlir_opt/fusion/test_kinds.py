"""Fusion programs of every kind: right, and with the same loops as by mlir-opt and no more memory, or cheaper."""

from __future__ import annotations

from functools import cache

import pytest

from affdsl.ir.dialects.func import Module
from affdsl.mlir.readers import parse
from tests.passes.mlir_opt.fusion.compare import TABLE, Comparison, compared, comparisons, measured, table
from tests.passes.mlir_opt.fusion.short import Program, mlir

TWO = """A 10, t 10 local, B 10
for i 0 10
  t[i] = A[i] * A[i]
for j 2 6
  B[j] = t[j] + 1"""


@cache
def found() -> tuple[Comparison, ...]:
    return tuple(comparisons())


def test_the_table_says_what_is_done() -> None:
    assert TABLE.read_text(encoding="utf-8") == table(found())


def test_none_of_many_programs_is_wrong_or_worse_than_by_mlir_opt() -> None:
    assert len(found()) >= 80
    assert [each.program.title for each in found() if not each.is_no_worse] == []


def test_each_difference_has_its_reason_and_only_differences_have() -> None:
    assert [each.program.title for each in found() if each.is_another != bool(each.program.why)] == []


def test_what_runs_and_what_is_kept_is_counted() -> None:
    before = measured(parse(mlir(TWO)))
    assert (before.loops, before.operations, before.elements) == ("()()", 10 * 4 + 4 * 3, 10)


def _with(old: str, new: str) -> Module:
    return parse(mlir(TWO.replace(old, new)))


@pytest.mark.parametrize(
    ("theirs", "ours", "verdict"),
    [
        (("", ""), ("", ""), "the same"),
        (("", ""), ("+ 1", "+ 2"), "OURS IS WRONG"),
        (("+ 1", "+ 2"), ("", ""), "theirs is wrong"),
        (("", ""), ("i 0 10", "i 2 6"), "ours is cheaper"),
        (("i 0 10", "i 2 6"), ("", ""), "THEIRS IS CHEAPER"),
        (("t 10", "t 20"), ("", ""), "the same loops, less memory"),
        (("t 10", "t 20"), ("+ 1", "+ 1 + 0"), "less memory for 8 % more computed"),
    ],
)
def test_a_result_is_judged(theirs: tuple[str, str], ours: tuple[str, str], verdict: str) -> None:
    program = Program("two", mlir(TWO))
    assert compared(program, _with("", ""), _with(*theirs), _with(*ours)).verdict == verdict
