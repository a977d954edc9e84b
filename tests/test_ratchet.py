"""The race of two states of the project: what it measures, keeps and prints."""

import numpy as np
import pytest

from benchmarks.ratchet import __main__ as ratchet
from benchmarks.ratchet import race, states
from benchmarks.ratchet.race import Cell, Group
from benchmarks.ratchet.worker import LINE, PAGE, placed
from tests.oracles import require

GROUP = Group("polybench", "atax", "strict", "/usr/bin/gcc", 1)


def cell(ratio, size="SMALL", note=""):
    return Cell(GROUP, size, "numpy", (2e-3, 2e-3 / ratio), ratio, 0.9 * ratio, 1.1 * ratio, note)


def test_the_summary_has_means_what_fell_and_what_is_wrong():
    found = [cell(4.0), cell(1.0), cell(0.5), cell(2.0, "LARGE"), cell(1.0, "LARGE", "results differ")]
    lines = [" ".join(line.split()) for line in ratchet.summary(found).splitlines()]
    assert "polybench SMALL strict gcc numpy 1.260 0.50 4.00 3" in lines
    assert "polybench LARGE strict gcc numpy 1.414 1.00 2.00 2" in lines
    assert lines[lines.index("1 fell by more than 10%:") + 1].endswith("2 4 ms 0.50 (0.45 to 0.55)")
    assert lines[-2] == "1 are wrong, or could not be raced:"
    assert lines[-1].endswith("results differ")


def test_what_strays_is_the_one_in_the_middle_of_three(monkeypatch):
    others = iter([cell(1.0), cell(0.95)])
    monkeypatch.setattr(ratchet, "cells", lambda *_: [next(others)])
    assert ratchet.settled(cell(0.5), (None, None), None).ratio == 0.95


def test_a_cell_is_read_as_it_was_kept():
    assert Cell.of(ratchet.kept(cell(1.5))) == cell(1.5)


def test_a_kernel_races_against_itself_as_it_is_written_once(tmp_path, monkeypatch, capsys):
    require("gcc")
    for module in (ratchet, race, states):
        monkeypatch.setattr(module, "FOLDER", tmp_path / "ratchet")
    monkeypatch.setattr(race, "SECONDS", 0.0)
    monkeypatch.setattr(ratchet, "AGAIN", 0)
    words = "--against written --suites patterns --rows strict --compilers gcc --placements lines --only".split()
    assert ratchet.main([*words, "newton steps"]) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr(race, "Side", None)  # nothing is raced again
    assert ratchet.main([*words, "newton steps"]) == 0
    assert capsys.readouterr().out == first
    (row,) = (line for line in first.splitlines() if " ms " in line and "newton steps" in line)
    assert "strict  gcc      lines" in row


def test_a_commit_that_there_is_not_is_named(capsys):
    assert ratchet.main(["--against", "no-such-branch"]) == 2
    assert capsys.readouterr().err == "--against no-such-branch: the repository has no commit 'no-such-branch'\n"


def test_a_kernel_that_there_is_not_is_named(capsys):
    assert ratchet.main("--against written --suites pipelines --only blurr".split()) == 2
    assert capsys.readouterr().err == "--only: pipelines have no kernel blurr\n"


def test_a_side_that_cannot_make_a_kernel_is_named():
    class Failing:
        def make(self, group):
            raise ValueError("newer side: a reason")

    class Pairs:
        of = staticmethod(lambda group: Failing())
        close = staticmethod(lambda: None)

    (found,) = race.cells(Pairs(), GROUP, [("SMALL", "numpy")])
    assert found.note == "newer side: a reason"
    assert not found.ratio


@pytest.mark.parametrize("behind", [0, 16])
def test_arrays_lie_where_they_are_wanted(behind):
    small, scalar, large = placed([np.arange(3.0), 2, np.ones((300, 300), bool)], behind)
    assert small.tolist() == [0.0, 1.0, 2.0]
    assert scalar == 2
    assert large.all()
    assert small.ctypes.data % LINE == behind
    assert placed([np.zeros(1 << 17)], behind)[0].ctypes.data % PAGE == behind
