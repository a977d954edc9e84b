"""Image pipelines and layers of networks by `optimize()`, beside numba, and Halide and torch where they are.

    python -m benchmarks.pipelines
    python -m benchmarks.pipelines --threads 2 --wait

Each has two rows. In the first one, strict, ours rounds as the loops are written, numba as it does by itself, and
Halide by `strict_float`; torch, which sums up in orders of its own, has no place in it. In the second one all may
round in another way. A ratio is the median over rounds, in which all take turns, of how many times longer the best
peer takes: above 1 is ours. With one thread, time of the processor is measured; with more, that of the clock, so that
nothing else may run: all is compiled first, `--wait` waits until the machine is quiet, and the timing of all takes a
minute at most. With more, numba has `parallel=True` and `prange`, Halide parallel schedules, and torch threads of its
own. Results are compared with NumPy's. Halide has blur, unsharp and harris: by its autoschedulers, and by hand.
"""

from __future__ import annotations

import argparse
import math
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time

import numba
import numpy as np

import affdsl as af
from benchmarks.pipelines.kernels import KERNELS, SIZE, Arrays
from benchmarks.pipelines.loops import PEERS

try:
    from benchmarks import halide_stencils
except ImportError:  # the package halide is an extra
    halide_stencils = None
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as Halide waits: others may need the processor; read by torch
try:
    from benchmarks import torch_layers
except ImportError:  # a large package, which nothing else needs
    torch_layers = None

ALL = dict.fromkeys(("contract", "reassociate", "reciprocal", "approximate"), True)
ROWS = ("strict", "allowed")
SECONDS, ROUNDS = 2.0, 2000


@dataclass(frozen=True)
class Race:
    """One row of a pipeline, compiled and found right.

    Attributes
    ----------
    ours
        The kernel that `optimize()` has made.
    calls
        All that run, by their names; ours is `"ours"`.
    given
        The arguments of each.
    """

    name: str
    row: str
    ours: af.Kernel
    calls: dict[str, Callable[..., object]]
    given: Arrays


def prepared(name: str, row: str, threads: int) -> Race:
    """Ours and the peers, after a call of each. Raises AssertionError where a result is none of NumPy's."""
    stage, peer, is_fast = KERNELS[name], PEERS[name], row == "allowed"
    given = stage.arguments(np.random.default_rng(0))
    wanted = peer.wanted(given)
    ours = stage.kernel.optimize(threads=threads, **(ALL if is_fast else {}))
    calls: dict[str, Callable[..., object]] = {
        "ours": ours, "numba": numba.njit(fastmath=is_fast, parallel=threads > 1)(peer.loops)
    }  # fmt: skip
    if halide_stencils is not None and name in halide_stencils.PIPELINES:
        target = halide_stencils.FAST if is_fast else halide_stencils.STRICT
        calls |= dict(halide_stencils.compiled(name, SIZE, threads, target))
    if torch_layers is not None and is_fast:
        calls["torch"] = torch_layers.compiled(name, threads)
    for label, call in calls.items():
        found = [*(a.copy() for a in given[:-1]), np.zeros_like(given[-1])]
        made = call(*found)
        result = made if label == "torch" else found[-1]
        np.testing.assert_allclose(result, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max(), err_msg=label)
    return Race(name, row, ours, calls, given)


def timed(race: Race, threads: int, rounds: int) -> tuple[float, dict[str, float]]:
    """Milliseconds of ours, and how many times longer each peer takes. The order is another one in each round.

    What a call leaves in the caches, and threads that do not sleep yet, are those of the call before it: none may
    always follow the same one.
    """
    clock = process_time if threads == 1 else perf_counter
    taken: list[dict[str, float]] = []
    order, shuffle = list(race.calls), random.Random(0).shuffle
    start = perf_counter()
    while len(taken) < rounds and (len(taken) < len(order) or perf_counter() - start < SECONDS):
        times = {}
        shuffle(order)
        for label in order:
            begin = clock()
            race.calls[label](*race.given)
            times[label] = clock() - begin
        taken.append(times)
    ratios = {label: median(times[label] / times["ours"] for times in taken) for label in race.calls if label != "ours"}
    return 1e3 * median(times["ours"] for times in taken), ratios


def main(words: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.pipelines", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=KERNELS, default=[*KERNELS])
    parser.add_argument("--threads", type=int, default=1, help="for how many (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="at most (default: %(default)s)")
    parser.add_argument("--wait", action="store_true", help="for the return key, once all is compiled")
    parser.add_argument("--explain", action="store_true", help="all that optimize() says")
    line = parser.parse_args(words)
    os.environ["OMP_NUM_THREADS"] = os.environ["HL_NUM_THREADS"] = str(line.threads)
    numba.set_num_threads(line.threads)
    for label, peer in (("Halide", halide_stencils), ("torch", torch_layers)):
        if peer is None:
            print(f"without {label}: pip install {label.lower()}")
    races = [prepared(name, row, line.threads) for name in line.only for row in ROWS]
    if line.wait:
        input("all is compiled and right; the return key starts the timing: ")
    print(f"{line.threads} thread(s): milliseconds of ours, times that the best peer takes longer, and each of them")
    best: dict[str, list[float]] = {row: [] for row in ROWS}
    for race in races:
        time, ratios = timed(race, line.threads, line.rounds)
        best[race.row].append(min(ratios.values()))
        each = ", ".join(f"{label} {ratio:.2f}" for label, ratio in ratios.items())
        print(f"{race.name:14}{race.row:8}{time:9.2f}{min(ratios.values()):8.2f}  {each}", flush=True)
        if line.explain:
            print(race.ours.explain())
    for row, found in best.items():
        mean = math.exp(sum(map(math.log, found)) / len(found))
        print(f"{row}: geometric mean {mean:.2f}, least {min(found):.2f}; wanted: 1.0 for each")


if __name__ == "__main__":
    main()
