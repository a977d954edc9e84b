"""Some random semi-affine kernels in each run of the suite; `python -m tests.semi_affine.run` runs more of them."""

import signal
import subprocess
import sys
from collections import deque

import numpy as np
import pytest

from affdsl.ir.interpreter import InterpreterError
from affdsl.passes.analysis.bounds import Bounds
from tests.effort import some
from tests.harness.guarded import Guarded
from tests.semi_affine.check import check, checked
from tests.semi_affine.run import main

SEEDS = range(1, 301)


@pytest.mark.parametrize("seed", some(SEEDS, 2))
def test_calls_are_refused_by_both_or_leave_equal_arrays(seed):
    report = check(range(5 * seed, 5 * seed + 5))
    assert not report.failures
    assert not report.needless


def test_the_command_counts_what_is_accepted_and_what_is_refused(capsys):
    assert main(["--count", "3", "--seed", "1"]) == 0
    said = capsys.readouterr().out
    assert "calls accepted, with equal arrays" in said
    assert "calls refused, rightly" in said
    assert said.endswith("0 needless refusals, 0 failures\n")


def test_a_check_that_forgets_the_numbers_is_noticed(monkeypatch):
    monkeypatch.setattr(Bounds, "refusal_by_numbers", lambda self, sizes: "")
    places = [Guarded() for _ in range(3)]
    with pytest.raises(InterpreterError, match=r"out of bounds|must be positive"):
        deque((checked(seed, places) for seed in range(1, 40)), maxlen=0)


@pytest.mark.parametrize(("side", "where"), [("end", 24), ("start", -1)])
def test_one_byte_outside_ends_the_process(side, where):
    text = (
        "import ctypes, numpy as np\n"
        "from tests.harness.guarded import Guarded\n"
        f"array = Guarded().copy(np.ones(3), side={side!r})\n"
        "assert array.tolist() == [1, 1, 1]\n"
        f"ctypes.memset(array.ctypes.data + {where}, 0, 1)\n"
    )
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == -signal.SIGSEGV


def test_what_is_written_on_the_pages_of_an_array_is_seen():
    place = Guarded()
    array = place.copy(np.ones(3), "start")
    assert place.is_clean()
    array[:] = 2.0
    assert place.is_clean()
    place._inner[30] = 0
    assert not place.is_clean()
