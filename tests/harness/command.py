"""The command line that all have, and what is said meanwhile."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Hashable
from pathlib import Path


def parser(module: str, says: str | None, count: int, *, processes: bool = False) -> argparse.ArgumentParser:
    """Options for how many programs, from which seed on, and in how many processes."""
    made = argparse.ArgumentParser(prog=f"python -m {module}", description=says)
    made.add_argument("--count", type=int, default=count, help="how many")
    made.add_argument("--seed", type=int, default=1, help="the first seed")
    if processes:
        made.add_argument("--processes", "--jobs", type=int, default=1, help="so many at once")
    return made


def seeds(chosen: argparse.Namespace) -> range:
    """The seeds that the options name."""
    return range(chosen.seed, chosen.seed + chosen.count)


def chosen_from(made: argparse.ArgumentParser, what: str, text: str, known: list[str]) -> list[str]:
    """The names in a text with commas, each of which must be known."""
    names = [name for name in text.split(",") if name]
    if unknown := [name for name in names if name not in known]:
        made.error(f"there is no {what} {', '.join(unknown)}, only {', '.join(known)}")
    return names


class Watch:
    """How long a run takes, and how many failures of each kind it has."""

    def __init__(self, output: Path | None = None) -> None:
        self._since = time.monotonic()
        self.kinds = Counter[Hashable]()
        if output is not None:
            output.mkdir(parents=True, exist_ok=True)

    @property
    def seconds(self) -> float:
        """So many since the start."""
        return time.monotonic() - self._since

    def is_news(self, kind: Hashable, most: int = 2) -> bool:
        """Count a failure; whether it is one of the first of its kind, which are made small and shown."""
        self.kinds[kind] += 1
        return self.kinds[kind] <= most

    def say(self, count: int, what: str, failures: int) -> None:
        """A line about how far it is."""
        print(f"{self.seconds:.0f} s: {count} {what}, {failures} failures", file=sys.stderr, flush=True)
