"""Reductions, scans, histograms and compaction after `optimize()`, beside NumPy, numba, gcc and clang.

    python -m benchmarks.reductions
    python -m benchmarks.reductions --quick --threads 2 "dot product"

Sums of floats may have another order, and no number is NaN: `reassociate`, `contract`, `no_nans`, `no_signed_zeros`
here, `-ffast-math` and `fastmath=True` there. On two threads gcc and clang have pragmas of OpenMP, as one writes them
by hand, and numba has `prange` where it knows the reduction. All run in turns on the same arrays; a time is the
quickest tenth of the rounds, since threads wait for whatever else the machine does. A ratio is the time of the best
peer over ours, above 1 where ours is faster.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import geometric_mean
from time import perf_counter

import affdsl as af
from benchmarks.idioms.idiom import Idiom
from benchmarks.idioms.race import Call, in_turns, is_right, passed_to, refill
from benchmarks.polybench.race import FLAGS, PEERS, compilers
from benchmarks.reductions import LOOPS, ROWS

WANTED, BEHIND = 1.3, 0.9
LONGEST = {1: 100_000, 2: 1 << 20}
"""How long arrays are on so many threads: in a cache, or such that two threads have something to do."""
SECONDS, QUICK_SECONDS = 2.0, 0.5
ENVIRONMENT = {
    "OMP_NUM_THREADS": "2", "GOMP_SPINCOUNT": "20000", "KMP_BLOCKTIME": "1", "OPENBLAS_THREAD_TIMEOUT": "20",
}  # fmt: skip
"""Threads of the libraries of OpenMP, and of NumPy's BLAS, wait awake for about a millisecond: by default longer."""
PAUSE = 0.003
"""Seconds before each call on threads: by then all those sleep that the call before has woken."""


@dataclass(frozen=True)
class Result:
    """How a row did: microseconds of all who are right, the best peer, and how many times longer that takes."""

    idiom: Idiom
    threads: int
    times: dict[str, float]
    wrong: tuple[str, ...]
    best: str
    ratio: float


def measured(idiom: Idiom, threads: int, seconds: float) -> Result:
    """A row by all in turns. Raises AssertionError where ours computes something else."""
    idiom = replace(idiom, sizes={name: min(size, LONGEST[threads]) for name, size in idiom.sizes.items()})
    given, arguments, wanted = (idiom.arguments(idiom.sizes) for _ in range(3))
    idiom.reference(*wanted)
    made = idiom.kernel.optimize(threads=threads, reassociate=True, contract=True, no_nans=True, no_signed_zeros=True)
    with tempfile.TemporaryDirectory() as folder:
        calls: dict[str, Call] = {"ours": partial(made, *arguments), "numpy": partial(idiom.reference, *arguments)}
        calls |= dict(_compiled(idiom, arguments, threads, Path(folder)))
        calls |= dict(_jitted(idiom, arguments, threads))
        wrong = []
        for name, call in calls.items():
            refill(arguments, given)
            call()
            if not is_right(arguments, wanted, idiom.tolerance):
                wrong.append(name)
        assert "ours" not in wrong, f"{idiom.name}: what optimize() made computes something else than NumPy"
        right = {name: call for name, call in calls.items() if name not in wrong}
        pause = PAUSE if threads > 1 else 0.0
        taken = in_turns(right, arguments, given, seconds, clock=perf_counter, pause=pause)
    times = {name: 1e6 * sorted(each)[len(each) // 10] for name, each in taken.items()}
    best = min((name for name in times if name != "ours"), key=lambda name: times[name])
    return Result(idiom, threads, times, tuple(wrong), best, times[best] / times["ours"])


def _compiled(idiom: Idiom, arguments: Sequence[object], threads: int, folder: Path) -> Iterator[tuple[str, Call]]:
    """The C by each compiler that is there, on the arguments."""
    source = folder / "peer.c"
    source.write_text(idiom.text(), encoding="utf-8")
    width = f"-mprefer-vector-width={af.native_target().width}"
    shared = ["-fopenmp"] if threads > 1 else []
    for name, command in compilers(1).items():
        if name == "Polly":
            continue
        library = folder / f"{name}.so"
        subprocess.run(
            [*command, *FLAGS, width, *PEERS["fast"], *shared, str(source), "-o", str(library), "-lm"], check=True
        )
        yield name, passed_to(library, arguments, idiom)


def _jitted(idiom: Idiom, arguments: Sequence[object], threads: int) -> Iterator[tuple[str, Call]]:
    """The loop by numba, where that is there."""
    if importlib.util.find_spec("numba") is None:
        return
    numba = importlib.import_module("numba")
    loop, may_be_shared = LOOPS[idiom.kernel.name]
    yield "numba", partial(numba.njit(fastmath=True)(loop), *arguments)
    if threads > 1 and may_be_shared:
        shared = types.FunctionType(loop.__code__, {**loop.__globals__, "prange": numba.prange})
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        yield "numba, threads", partial(numba.njit(fastmath=True, parallel=True)(shared), *arguments)


def main(words: Sequence[str] | None = None) -> None:
    """Print a line for each row on one thread and on two, the means, and what is behind."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.reductions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="of rows; all if none are given")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--threads", type=int, choices=(1, 2), help="only on so many")
    line = parser.parse_args(words)
    for name in line.names:
        if name not in {row.name for row in ROWS}:
            parser.error(f"there is no row {name!r}; they are {', '.join(row.name for row in ROWS)}")
    if not ENVIRONMENT.items() <= os.environ.items():  # libraries read it when they are loaded, as NumPy's is by now
        module = [sys.executable, "-m", "benchmarks.reductions", *(sys.argv[1:] if words is None else words)]
        os.execve(sys.executable, module, os.environ | ENVIRONMENT)
    print(f"{'microseconds of ours, of the best peer, and its time over ours':48}{'ours':>10}{'peer':>10}{'ratio':>8}")
    found = []
    for threads in (1, 2) if line.threads is None else (line.threads,):
        for row in ROWS:
            if not line.names or row.name in line.names:
                found.append(measured(row, threads, QUICK_SECONDS if line.quick else SECONDS))
                print(_line(found[-1]), flush=True)
    for threads in dict.fromkeys(each.threads for each in found):
        print(_total(threads, [each for each in found if each.threads == threads]))
    print(f"wanted: {WANTED}, and none below {BEHIND}")


def _line(result: Result) -> str:
    others = ", ".join(f"{name} {time:.0f}" for name, time in result.times.items() if name not in ("ours", result.best))
    wrong = f"; wrong: {', '.join(result.wrong)}" if result.wrong else ""
    mark = "-" if result.ratio < BEHIND else " "
    times = f"{result.times['ours']:10.1f}{result.times[result.best]:10.1f}{result.ratio:8.2f}{mark}"
    threads = "1 thread" if result.threads == 1 else f"{result.threads} threads"
    return f"{result.idiom.name:38}{threads:10}{times} {result.best} ({others}{wrong})"


def _total(threads: int, found: Sequence[Result]) -> str:
    behind = sorted((each for each in found if each.ratio < BEHIND), key=lambda each: each.ratio)
    names = "".join(f"\n    {each.ratio:.2f}  {each.idiom.name}" for each in behind)
    mean, least = geometric_mean(each.ratio for each in found), min(each.ratio for each in found)
    head = f"{threads} thread{'s' * (threads > 1)}"
    return f"{head}: geometric mean {mean:.2f}, least {least:.2f}, {len(behind)} of {len(found)} below {BEHIND}{names}"


if __name__ == "__main__":
    main()
