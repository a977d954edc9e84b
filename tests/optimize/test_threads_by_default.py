"""For how many threads optimize() makes loops where nobody says."""

from __future__ import annotations

import os

import pytest

from affdsl.optimize.options import available_threads


@pytest.mark.parametrize(
    ("said", "wanted"), [(None, 4), ("", 4), ("1", 1), ("3", 3), ("64", 4), ("2,1", 2), ("many", 4), ("0", 4)]
)
def test_it_is_as_many_as_there_are_cores_and_as_openmp_would_take(said, wanted, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if said is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert available_threads() == wanted
