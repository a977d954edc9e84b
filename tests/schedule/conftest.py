"""Gives a kernel whose loops have names in common."""

import pytest

from tests.schedule.kernels import KERNELS


@pytest.fixture
def twice(monkeypatch, tmp_path):
    """A kernel with lines that are known, in a file of its own."""
    monkeypatch.chdir(tmp_path)
    found: dict[str, object] = {}
    exec(compile(KERNELS, str(tmp_path / "kernels.py"), "exec"), found)
    return found["twice"]
