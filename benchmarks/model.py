"""How well the model of `optimize()` knows what takes long: its rank correlation with times that are measured.

python -m benchmarks.model
python -m benchmarks.model polybench patterns --compiler clang --times times.jsonl

python -m benchmarks.model polybench --choices

Each kernel is called as it was written, optimized in the order of the text, and with everything allowed, on one thread.
The time is that inside of C. Times are kept in a file, and not measured again: so a change of the model is seen at
once, and what was cut short goes on. Kernels whose data decide how often loops run are left out. Beside the rank
correlation of kernels, which says whether the model knows them, stands of how many rows of one kernel it knows which is
faster: whether it chooses rightly. Times of a kernel that is optimized in another way than before are to be taken out
of the file.

`--choices` asks instead whether the model knows the order of what `optimize(tune=True)` times of one kernel: it prints
the rank correlation over the choices of each, and the one in the middle.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from shutil import which
from statistics import median, pstdev

import numpy as np

import affdsl as af
from affdsl.codegen.native import native_target
from affdsl.codegen.roofline import roofline
from affdsl.errors import AffdslError
from affdsl.optimize.forecast import costs_of, cycles_of
from affdsl.optimize.machine import measured, usual
from affdsl.optimize.options import Options
from affdsl.optimize.tuning import Search
from affdsl.passes.analysis.iterations import UncountedError
from affdsl.seeing.nests import nests_of
from affdsl.seeing.profile import Call
from benchmarks.ratchet.programs import SUITES, Raced, programs
from benchmarks.ratchet.worker import BEHIND, PERMISSIONS, placed

ROWS = {"written": None, "strict": (), "all": PERMISSIONS}
SIZES = ("as it is", "SMALL", "MEDIUM")
COMPILERS = {"gcc": ("gcc",), "clang": ("clang-22", "clang")}
DIFFER = 1.15
"""Two rows of a kernel are compared where one takes so many times as long as the other."""
WORST = 4
"""So many kernels of each row are shown that the model is wrong about."""


@dataclass(frozen=True)
class Time:
    """What one kernel takes, in seconds."""

    suite: str
    size: str
    row: str
    name: str
    compiler: str
    seconds: float


def main(words: Sequence[str] | None = None) -> None:
    """Measure what is not known yet, and print how well the model knows it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.model", description="How good the model is.")
    parser.add_argument("suite", nargs="*", help=f"only these of {', '.join(SUITES)}")
    parser.add_argument("--compiler", choices=sorted(COMPILERS), default="gcc")
    parser.add_argument("--times", type=Path, default=Path("model-times.jsonl"), help="where times are kept")
    parser.add_argument("--choices", action="store_true", help="the choices that tuning times, kernel by kernel")
    given = parser.parse_args(words)
    command = next(filter(None, map(which, COMPILERS[given.compiler])), None)
    if command is None:
        parser.error(f"there is no {given.compiler}")
    os.environ |= {"AFFDSL_CC": command, "OMP_NUM_THREADS": "1"}
    warnings.simplefilter("ignore")
    if given.choices:
        _choices(given.suite or SUITES)
        return
    known = {_key(each): each for each in _kept(given.times)}
    for suite in given.suite or SUITES:
        found: dict[tuple[str, str], list[tuple[Time, float]]] = defaultdict(list)
        with given.times.open("a", encoding="utf-8", buffering=1) as file:
            for program in programs(suite):
                for time, expected in _of(program, given.compiler, known, file.write):
                    found[time.size, time.row].append((time, expected))
        for (size, row), pairs in sorted(found.items()):
            print(_line(f"{suite}, {size}, {row}", pairs), flush=True)
        for size in sorted({size for size, _ in found}):
            pairs = [pair for (each, _), all in found.items() for pair in all if each == size]
            print(_line(f"{suite}, {size}", pairs), _order(pairs), sep="; ")


def _kept(path: Path) -> Iterator[Time]:
    if path.exists():
        yield from (Time(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines())


def _key(time: Time) -> tuple[str, ...]:
    return time.suite, time.size, time.row, time.name, time.compiler


def _of(
    program: Raced, compiler: str, known: dict[tuple[str, ...], Time], write: Callable[[str], object]
) -> Iterator[tuple[Time, float]]:
    """The times of a kernel, and what the model expects."""
    for row, allowed in ROWS.items():
        try:
            kernel = program.kernel
            if allowed is not None:
                kernel = kernel.optimize(threads=1, **dict.fromkeys(allowed, True))
            for size in (size for size in program.arguments if size in SIZES):
                arguments = program.arguments[size]()
                expected = _expected(kernel, arguments)
                key = program.suite, size, row, program.name, compiler
                if key not in known:
                    known[key] = Time(*key, _measured(kernel, arguments))
                    write(json.dumps(asdict(known[key])) + "\n")
                yield known[key], expected
        except UncountedError:
            continue
        except AffdslError as error:
            print(f"{program.name}, {row}: {str(error).splitlines()[0]}", file=sys.stderr)


def _choices(suites: Sequence[str]) -> None:
    """Print how well the model knows the order of the choices that tuning times."""
    options, ranks = Options(native_target()), list[float]()
    for program in (each for suite in suites for each in programs(suite)):
        search = Search(program.kernel, options, None)
        try:
            search.run()
            outcome = search.outcome()
            machine, made = (
                usual(options.target),
                {each: search.made[each].kernel(program.kernel) for each in outcome.times},
            )
            expected = [cycles_of(made[each], outcome.sizes, machine) for each in made]
        except (UncountedError, AffdslError, TypeError, ValueError) as error:
            print(f"{program.name}: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        if len(expected) > 2:
            ranks.append(correlation([*outcome.times.values()], expected))
            print(
                f"{program.suite}, {program.name}: {len(expected)} choices, rank correlation {ranks[-1]:.3f}",
                flush=True,
            )
    print(f"{len(ranks)} kernels, in the middle {median(ranks):.3f}")


def _expected(kernel: af.Kernel, arguments: Sequence[object]) -> float:
    """How long a call ought to take on one thread, by the model. Raises UncountedError where data decides that."""
    call = Call(kernel.program, kernel.check(), tuple(arguments), {})
    nests, machine = nests_of(kernel.module, width=native_target().width), measured(native_target(), roofline(1))
    found = costs_of(nests, call.known, call.shapes, machine, copied=True)
    return sum(cost.cycles for _, cost in found) / machine.clock


def _measured(kernel: af.Kernel, arguments: Sequence[object]) -> float:
    """The fastest of some calls, without what Python does around them."""
    copies = placed([x.copy() if isinstance(x, np.ndarray) else x for x in arguments], BEHIND)
    return kernel.profile(*copies).whole.fastest


def correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's rank correlation.

    >>> correlation([1, 2, 3, 4], [10, 20, 30, 40]), correlation([1, 2, 3], [3, 2, 1])
    (1.0, -1.0)
    """
    ranks = [np.argsort(np.argsort(each, kind="stable"), kind="stable") for each in (one, other)]
    return round(float(np.corrcoef(*ranks)[0, 1]), 3)


def _order(pairs: Sequence[tuple[Time, float]]) -> str:
    """Of how many rows of one kernel that differ in time the model knows which one is faster."""
    rows = defaultdict[str, list[tuple[float, float]]](list)
    for time, expected in pairs:
        rows[time.name].append((time.seconds, expected))
    apart = [
        (one, other)
        for each in rows.values()
        for one, other in combinations(sorted(each), 2)
        if other[0] > DIFFER * one[0]
    ]
    right = sum(one[1] < other[1] for one, other in apart)
    return f"of {len(apart)} pairs of rows of a kernel that are {DIFFER} times apart the faster one is known of {right}"


def _line(name: str, pairs: Sequence[tuple[Time, float]]) -> str:
    """How well the times of some kernels are known, and of which of them least."""
    ratios = sorted((math.log2(expected / time.seconds), time.name, time.row) for time, expected in pairs)
    rank = correlation([time.seconds for time, _ in pairs], [expected for _, expected in pairs])
    middle, spread = median(ratio for ratio, *_ in ratios), pstdev(ratio for ratio, *_ in ratios)
    worst = [f"{kernel} ({2**ratio:.2f})" for ratio, kernel, _ in (*ratios[: WORST // 2], *ratios[-WORST // 2 :])]
    return (
        f"{name}: {len(pairs)} kernels, rank correlation {rank:.3f}; {2**middle:.2f} of the time is expected in the "
        f"middle, with a deviation of {2**spread:.2f} times; farthest off: {', '.join(worst)}"
    )


if __name__ == "__main__":
    main()
