"""Loops of many fields after `optimize()`, beside the best of NumPy, gcc, clang and numba, on one thread.

    python -m benchmarks.fields
    python -m benchmarks.fields --quick filters "sad search"

They were written field by field, as programs of signals, pictures, networks, finance and physics have them, without a
look at what `optimize()` does with them. They are raced as idioms are (`python -m benchmarks.idioms --help`). Where
NumPy has no short form of a loop, its peers are gcc and clang, and what the loops as written compute is right.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.fields import LOOPS
from benchmarks.idioms.__main__ import command


def main(words: Sequence[str] | None = None) -> None:
    """Print a line for each loop and row, the means, and what is behind."""
    command("benchmarks.fields", __doc__, LOOPS, words)


if __name__ == "__main__":
    main()
