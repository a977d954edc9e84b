"""Numbers of threads that are set while a process runs: what they do to kernels, and not to anybody else."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.optimize.options import available_threads
from tests import oracles
from tests.effort import TRIES_ALL

ROOT = Path(__file__).parents[2]
CASES = [("gcc", "compiled", 2), ("gcc", "ctypes", 1)]
CASES += [("clang-22", "compiled", 1), ("clang-22", "ctypes", 2)] * TRIES_ALL
NUMBERS = {
    "one": 1, "unset": None, "with": 3, "within": 2, "left to OpenMP": None, "with again": 3, "after an error": None,
    "set": 4, "refused": 4, "unset again": None,
}  # fmt: skip
"""What is asked for in `counted.calls`; None is left to OpenMP."""


@pytest.mark.parametrize(("compiler", "caller", "usual"), CASES)
def test_a_process_has_as_many_threads_as_it_asks_for(compiler, caller, usual):
    if caller == "compiled":
        oracles.require_headers()
    environment = {**os.environ, "OMP_NUM_THREADS": str(usual), "AFFDSL_CALLER": caller}
    environment["AFFDSL_CC"] = oracles.require(compiler, ["-fopenmp"])
    numba = ["numba"] * (TRIES_ALL and importlib.util.find_spec("numba") is not None)
    done = subprocess.run(
        [sys.executable, "-m", "tests.threads.counted", *numba],
        env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert {name: asked for name, (_, asked) in found["calls"].items()} == {n: k or usual for n, k in NUMBERS.items()}
    assert found["calls"]["one"][0] == 1
    if compiler == "gcc":  # the library of LLVM keeps all threads that it ever had
        assert all(counted == asked for counted, asked in found["calls"].values() if asked > 1)
        assert found["forked"] == 3
    assert found["calls"]["with"][0] == 3
    assert found["elsewhere"] == {"other task": usual, "task": 3, "thread": usual}
    assert len(found["neighbours"]) > 1  # one is NumPy's
    assert all(before == inside for before, inside in found["neighbours"].values())
    assert found["results"] == 1


@pytest.mark.parametrize(
    ("number", "error", "said"),
    [
        (0, af.RangeError, "takes a number of threads, got 0: pass a whole number from 1 on, or None"),
        (-3, af.RangeError, "takes a number of threads, got -3: pass a whole number from 1 on, or None"),
        (2.0, af.ArgumentError, "takes a number of threads, got 2.0: pass a whole number"),
        ("2", af.ArgumentError, "takes a number of threads, got '2': pass a whole number"),
        (True, af.ArgumentError, "takes a number of threads, got True: pass a whole number"),
        (np.bool_(True), af.ArgumentError, "takes a number of threads, got np.True_: pass a whole number"),
        (5000, af.RangeError, "takes at most 4096 threads, got 5000: more than cores only take turns"),
    ],
)
def test_what_is_no_number_of_threads_is_refused_before_anything_changes(number, error, said):
    before = af.get_threads()
    for function in (af.set_threads, af.threads):
        with pytest.raises(error, match="^" + f"{function.__name__} {said}".replace("(", r"\(")):
            function(number)
    assert af.get_threads() == before


def test_integers_of_numpy_are_numbers():
    with af.threads(np.int64(3)):
        assert af.get_threads() == 3


def test_optimize_makes_loops_for_as_many_threads_as_are_set_and_as_there_are_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert available_threads() == 3
    for number, wanted in ((1, 1), (4, 4), (64, 4), (None, 3)):
        with af.threads(number):
            assert available_threads() == wanted
