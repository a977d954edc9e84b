"""Whole commands of affdsl and mlir-opt on one text, in turns: the machine may be busy, ratios of neighbours hold."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import log
from pathlib import Path
from statistics import median
from time import perf_counter

MLIR_OPT = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")
OURS = (sys.executable, "-m", "affdsl", "opt")


@dataclass(frozen=True)
class Place:
    """A file for the text, and the environment in which commands run."""

    file: Path
    environment: dict[str, str]


@contextmanager
def place() -> Iterator[Place]:
    """A place of its own for each benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        # An installed affdsl is compiled once; so is this one, by the run that warms up.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment |= {"PYTHONPATH": str(Path(__file__).parent.parent), "PYTHONPYCACHEPREFIX": folder}
        yield Place(Path(folder) / "chain.mlir", environment)


def timed(command: Sequence[str], flags: Sequence[str], at: Place) -> tuple[float, bytes]:
    """Seconds for a command on the text, and what it says on the standard error output."""
    start = perf_counter()
    done = subprocess.run([*command, *flags, str(at.file)], check=True, stderr=subprocess.PIPE, env=at.environment)
    return perf_counter() - start, done.stderr


def printed(command: Sequence[str], flags: Sequence[str], at: Place) -> str:
    """What a command prints for the text."""
    done = subprocess.run([*command, *flags, str(at.file)], check=True, stdout=subprocess.PIPE, env=at.environment)
    return done.stdout.decode()


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """How many times longer ours take: the median of the rounds; empty where theirs were not measured."""
    return f"{median(a / b for a, b in zip(ours, theirs, strict=True)):.2f}" if theirs else ""


def exponents(seconds: Sequence[float], lengths: Sequence[int]) -> list[str]:
    """By which power of the length each of some times has grown since the one before: 2 is quadratic."""
    pairs = zip(seconds, seconds[1:], lengths, lengths[1:], strict=False)
    return ["-", *(f"{log(new / old) / log(longer / shorter):.1f}" for old, new, shorter, longer in pairs)]
