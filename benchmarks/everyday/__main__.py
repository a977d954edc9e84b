"""Loops of everyday numerical Python, by `optimize()` and by numba, on one thread.

    python -m benchmarks.everyday
    python -m benchmarks.everyday "median of nine" histogram --rounds 15 --explain

A ratio is the median over rounds, in which all take turns, of how many times longer numba takes: above 1 is ours. First
with results that are the same to the bit as those of the loops as written, for both; then with all that may round in
another way, and numba with `fastmath=True`. What either needs to compile is not counted. The results are compared.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median
from textwrap import indent
from time import perf_counter, process_time

import numba
import numpy as np

import affdsl as af
from affdsl.explained import AS_WRITTEN
from benchmarks.everyday import LOOPS
from benchmarks.everyday.loop import Loop

ALL = dict.fromkeys(("contract", "reassociate", "reciprocal", "approximate"), True)
WANTED, LEAST = 1.5, 0.95
"""What the geometric mean and each loop should reach where everything is allowed."""
SECONDS, ROUNDS = 2.0, 25
"""How long a row may take, and how many rounds it has at most."""


@dataclass(frozen=True)
class Row:
    """How a loop did.

    Attributes
    ----------
    milliseconds
        Of ours with everything allowed.
    strict, fast
        How many times longer numba takes where nothing may round in another way, and where anything may.
    """

    loop: Loop
    milliseconds: float
    strict: float
    fast: float
    kernel: af.Kernel

    def __str__(self) -> str:
        mark = "-" if min(self.strict, self.fast) < LEAST else " "
        ratios = f"{self.milliseconds:8.2f}{self.strict:8.2f}{self.fast:8.2f}{mark}"
        return f"{self.loop.name:26}{ratios} {in_short(self.kernel)}"


def in_short(kernel: af.Kernel) -> str:
    """What was done to each nest, in a few words."""
    notes = kernel.explain().notes
    return " | ".join(dict.fromkeys(note.done.partition(", as each sum")[0] or AS_WRITTEN for note in notes))[:100]


def measured(loop: Loop, rounds: int = ROUNDS) -> Row:
    """A loop by numba and by us, in turns. Raises AssertionError where the results differ by more than they may."""
    strict = loop.kernel.optimize(threads=1)
    fast = loop.kernel.optimize(threads=1, **ALL)
    theirs = [numba.njit(loop.function), numba.njit(fastmath=True)(loop.function)]
    calls: list[Callable[..., object]] = [*theirs, strict, fast]
    given = tuple(loop.arguments(np.random.default_rng(0), loop.size))
    expected = fresh(given)
    calls[0](*expected)
    for call in calls[1:]:
        found = fresh(given)
        call(*found)
        require_alike(loop, found, expected)
    arguments = fresh(given)
    taken: list[list[float]] = []
    start = perf_counter()
    while len(taken) < rounds and (len(taken) < 3 or perf_counter() - start < SECONDS):
        taken.append([seconds(call, arguments, given) for call in calls])
    ratios = [median(row[k] / row[k + 2] for row in taken) for k in (0, 1)]
    return Row(loop, 1e3 * median(row[3] for row in taken), *ratios, fast)


def fresh(arguments: Sequence[object]) -> tuple[object, ...]:
    """Arguments of their own."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def seconds(call: Callable[..., object], arguments: Sequence[object], given: Sequence[object]) -> float:
    """How long a call takes, in time of the processor, on arguments as they were given."""
    for into, of in zip(arguments, given, strict=True):
        if isinstance(into, np.ndarray) and isinstance(of, np.ndarray):
            into[...] = of
    start = process_time()
    call(*arguments)
    return process_time() - start


def require_alike(loop: Loop, found: Sequence[object], expected: Sequence[object]) -> None:
    """Raise AssertionError where results are further apart than they may be."""
    for a, b in zip(found, expected, strict=True):
        if isinstance(b, np.ndarray):
            far = loop.tolerance * float(np.abs(b).max(initial=0))
            np.testing.assert_allclose(a, b, rtol=0, atol=far, err_msg=loop.name)


def geometric_mean(ratios: Sequence[float]) -> float:
    """The mean of ratios."""
    return exp(sum(map(log, ratios)) / len(ratios))


def rows(loops: Sequence[Loop], rounds: int) -> Iterator[Row]:
    """All rows, and the text of each as soon as it is there."""
    for loop in loops:
        yield measured(loop, rounds)


def main(words: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.everyday", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = {loop.name: loop for loop in LOOPS}
    parser.add_argument("loops", nargs="*", help=f"of {', '.join(names)}; all if none are given")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="at most (default: %(default)s)")
    parser.add_argument("--explain", action="store_true", help="all that optimize() says")
    line = parser.parse_args(words)
    unknown = [name for name in line.loops if name not in names]
    if unknown:
        parser.error(f"there is no loop {unknown[0]!r}; they are {', '.join(names)}")
    os.environ["OMP_NUM_THREADS"] = "1"
    print("milliseconds of ours, everything allowed; times that numba takes longer: strict, everything allowed")
    found: list[Row] = []
    for row in rows([names[name] for name in line.loops or names], line.rounds):
        print(row, flush=True)
        if line.explain:
            print(indent(row.kernel.explain(), "    "))
        found.append(row)
    for what, ratios in (("strict", [r.strict for r in found]), ("everything allowed", [r.fast for r in found])):
        behind = sum(each < LEAST for each in ratios)
        print(f"{what}: geometric mean {geometric_mean(ratios):.2f}, least {min(ratios):.2f}, {behind} below {LEAST}")
    print(f"wanted, with everything allowed: {WANTED} and none below {LEAST}")


if __name__ == "__main__":
    main()
