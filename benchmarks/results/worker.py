"""Measures the programs of one suite, by the benchmark that it has, in a process of its own.

    python -m benchmarks.results.worker polybench --quick < names that are known

The first line that it prints has the names of all programs as JSON; then comes a line for each of them with its rows.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from types import ModuleType

import affdsl as af
from benchmarks.results.rows import Row

QUICK = {"everyday": 9, "pipelines": 30, "matmul": 5}
"""At most so many rounds, or pairs, where a quick run is asked for."""
QUICK_SECONDS = 0.6
"""How long the rounds of a program take then."""
QUICK_PRODUCTS = ("512,512,512", "1000,700,300", "4096,64,512", "96,3000,1200")


@dataclass(frozen=True)
class Suite:
    """How a suite is measured: the names of its programs, and the rows of one of them."""

    names: Iterable[str]
    measured: Callable[[str], Iterator[Row]]


def polybench(*, quick: bool) -> Suite:
    """Kernels beside gcc, clang and Polly."""
    race, suite = (importlib.import_module(f"benchmarks.polybench.{name}") for name in ("race", "suite"))
    size = "MEDIUM" if quick else "LARGE"
    race.SECONDS = QUICK_SECONDS if quick else race.SECONDS

    def measured(name: str) -> Iterator[Row]:
        for found in race.results(suite.named(name), size):
            row = "strict" if found.row == "strict" else "allowed"
            yield Row("polybench", name, row, size, {found.best: found.ratio}, 1e3 * found.ours)

    return Suite([each.name for each in suite.SUITE], measured)


def everyday(*, quick: bool) -> Suite:
    """Loops beside numba."""
    suite, command = importlib.import_module("benchmarks.everyday"), _command("everyday", quick=quick)
    loops = {loop.name: loop for loop in suite.LOOPS}

    def measured(name: str) -> Iterator[Row]:
        found = command.measured(loops[name], QUICK["everyday"] if quick else command.ROUNDS)
        yield Row("everyday", name, "strict", "", {"numba": found.strict})
        yield Row("everyday", name, "allowed", "", {"numba": found.fast}, found.milliseconds)

    return Suite(loops, measured)


def pipelines(*, quick: bool) -> Suite:
    """Image pipelines and layers beside numba, and Halide and torch where they are."""
    command = _command("pipelines", quick=quick)

    def measured(name: str) -> Iterator[Row]:
        for row in command.ROWS:
            race = command.prepared(name, row, 1)
            milliseconds, ratios = command.timed(race, 1, QUICK["pipelines"] if quick else command.ROUNDS)
            yield Row("pipelines", name, row, "", ratios, milliseconds)

    return Suite(command.KERNELS, measured)


def matmul(*, quick: bool) -> Suite:
    """Products of matrices beside NumPy's library."""
    command = importlib.import_module("benchmarks.matmul")
    command.SECONDS = QUICK_SECONDS if quick else command.SECONDS
    sizes = QUICK_PRODUCTS if quick else command.SIZES
    programs = {f"{type} {size.replace(',', ' x ')}": (type, size) for type in command.TYPES for size in sizes}
    repeats = QUICK["matmul"] if quick else 9
    made: dict[tuple[str, str], af.Kernel] = {}

    def measured(name: str) -> Iterator[Row]:
        type, size = programs[name]
        given = command.arrays(type, *map(int, size.split(",")))
        for row, asked in (("strict", "strict"), ("allowed", "contract")):
            if (type, row) not in made:
                made[type, row] = command.product(type, asked, by_hand=False)
            found = command.compare(made[type, row], *given, repeats)
            yield Row("matmul", name, row, size, {"NumPy": found.ratio}, 1e3 * found.seconds)

    return Suite(programs, measured)


def patterns(*, quick: bool) -> Suite:
    """Loops that vectorizers are tried with, beside what gcc and clang say of them: nothing is timed, quick or not."""
    suite, reports = (
        importlib.import_module("benchmarks.patterns"),
        importlib.import_module("benchmarks.patterns.reports"),
    )
    plain = importlib.import_module("benchmarks.plain").plain
    programs = {pattern.name: pattern for pattern in suite.PATTERNS}
    ways = (("strict", reports.STRICT, False), ("allowed", reports.FAST, True))

    def measured(name: str) -> Iterator[Row]:
        source = plain(programs[name].kernel)
        for row, flags, reassociate in ways:
            found = reports.verdict(programs[name], reassociate=reassociate)
            known = (reports.VECTORIZED, reports.IN_PART, reports.IN_ORDER)
            said = {"affdsl": found if found in known else "no"}
            for compiler in reports.compilers():
                said[compiler.name] = "yes" if compiler.vectorizes(source, flags) else "no"
            yield Row("patterns", name, row, vectorized=said)

    return Suite(programs, measured)


def _command(name: str, *, quick: bool) -> ModuleType:
    command = importlib.import_module(f"benchmarks.{name}.__main__")
    command.SECONDS = QUICK_SECONDS if quick else command.SECONDS
    return command


SUITES = {suite.__name__: suite for suite in (polybench, everyday, pipelines, matmul, patterns)}


def main() -> None:
    """Print the rows of what is not known yet."""
    parser = argparse.ArgumentParser("python -m benchmarks.results.worker", description=__doc__)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--quick", action="store_true")
    line = parser.parse_args()
    known = set(sys.stdin.read().splitlines())
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the benchmarks print themselves
    suite = SUITES[line.suite](quick=line.quick)
    print(json.dumps(list(suite.names)), file=out, flush=True)
    for name in suite.names:
        if name in known:
            continue
        try:
            rows = list(suite.measured(name))
        except (AssertionError, af.AffdslError, subprocess.CalledProcessError) as error:
            rows = [Row(line.suite, name, "strict", note=str(error).splitlines()[0])]
        print(json.dumps({"rows": [asdict(row) for row in rows]}), file=out, flush=True)


if __name__ == "__main__":
    main()
