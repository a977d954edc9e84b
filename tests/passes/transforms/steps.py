"""Kernels with steps of schedules above them, and what these must do: the texts of `steps/`."""

from __future__ import annotations

from pathlib import Path

import affdsl as af
from tests.harness import rows

FILES = {path.stem: path for path in sorted(Path(__file__).with_name("steps").glob("*.txt"))}


def kernels(file: str) -> dict[str, af.Kernel]:
    """The kernels of a file of `steps`, by name."""
    return rows.kernels(FILES[file])
