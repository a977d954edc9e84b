"""Kernels of PolyBench after `optimize()` beside what gcc, clang and clang with Polly make of them as they are written.

The peers get the loops as written as C with all sizes known and `restrict`, at -O3 for this machine with registers of
full width. Strict: nothing may round in another way, here nor there. Fast: `-ffast-math` there; contraction, sums in
any order and reciprocals here. Ours is compiled for any size, or with `--constant` for the same as theirs. With more
than one thread, Polly runs loops on as many.

All run in turns on the same arrays, which are filled again for each call; a ratio is the median over rounds of the time
of the best peer over ours, above 1 where ours is faster. A peer of which two long calls took half as long again as
those of the best peer calls no more, and is named.
Results are compared with those of the loops as written: a peer that computes something else is left out, and named.
Where the numbers of a kernel say nothing once they are rounded in another way, none is left out for that. The last
columns are what a call computes and moves, counted of the loops as written, beside what this machine does at best.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from shutil import which
from statistics import geometric_mean, median

import numpy as np

import affdsl as af
from affdsl.optimize.forecast import forecast
from affdsl.passes.analysis.iterations import UncountedError
from benchmarks.plain import plain
from benchmarks.polybench.benchmark import Arguments, Benchmark, Sizes

FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-std=c11", "-fPIC", "-shared", "-w")
PEERS = {"strict": ("-ffp-contract=off",), "fast": ("-ffast-math",)}
SECONDS, LEAST, MOST = 1.5, 3, 3001
"""How long the rounds of one kernel take at least, and how many there are."""
TRIED, LONG, BEHIND = 2, 0.1, 1.5
"""After so many calls a peer is out whose quickest one took more seconds, and so many times that of the best peer."""
ILL_CONDITIONED = ("gramschmidt",)
"""Kernels whose columns depend on each other but for rounding errors, which their results are made of."""

Call = Callable[[Arguments], object]
Times = dict[str, list[float]]


@dataclass(frozen=True)
class Result:
    """How a kernel did in one row.

    Attributes
    ----------
    ratio
        How many times longer the best peer takes whose result is right: above 1 is ours.
    ours, theirs
        Seconds of a call.
    wrong, lost
        The peers that compute something else, and those that were soon out.
    rate, share
        Thousand millions of floating-point operations a second, and the share of what this machine does at best.
    optimized_in
        Seconds.
    """

    name: str
    row: str
    ratio: float
    ours: float
    theirs: float
    best: str
    wrong: tuple[str, ...]
    lost: tuple[str, ...]
    rate: str
    share: str
    optimized_in: float

    def __str__(self) -> str:
        said = {"wrong": self.wrong, "soon out": self.lost}
        left_out = "".join(f"; {what}: {', '.join(names)}" for what, names in said.items() if names)
        times = f"{1e3 * self.ours:.3g}", f"{1e3 * self.theirs:.3g} ({self.best}{left_out})"
        cells = self.name, self.row, f"{self.ratio:.2f}", *times, self.rate, self.share, f"{self.optimized_in:.2f}"
        return f"| {' | '.join(cells)} |"


def race(benchmarks: Sequence[Benchmark], size: str, threads: int = 1, *, constant: bool = False) -> None:
    """Print a line for each kernel and row, a row of a table, and the geometric means."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    print(f"peers: {', '.join(compilers(threads))}; {threads} thread{'s' * (threads > 1)}")
    print("| kernel | row | ratio | ours, ms | best peer, ms | GFLOP/s | of the roof | optimized in, s |")
    print("|---|---|---|---|---|---|---|---|")
    ratios: dict[str, list[float]] = {row: [] for row in PEERS}
    for benchmark in benchmarks:
        for found in results(benchmark, size, threads, constant=constant):
            print(found, flush=True)
            ratios[found.row].append(found.ratio)
    for row, each in ratios.items():
        print(f"{row}: geometric mean {geometric_mean(each):.2f}, least {min(each):.2f}, of {len(each)}")


def results(benchmark: Benchmark, size: str, threads: int = 1, *, constant: bool = False) -> Iterator[Result]:
    """Both rows of a kernel. Raises AssertionError where ours computes something else than the loops as written."""
    wanted = benchmark.arrays(benchmark.sizes[size])
    benchmark.kernel(*wanted.values())
    for row in PEERS:
        yield raced(benchmark, size, row, wanted, threads, constant=constant)


def raced(
    benchmark: Benchmark, size: str, row: str, wanted: Arguments, threads: int = 1, *, constant: bool = False
) -> Result:
    """One row of a kernel, beside the peers whose result is right, as `wanted` has it.

    On one thread the time of the processor counts: what else runs on the machine is not in it.
    """
    sizes, allowed = benchmark.sizes[size], row == "fast"
    clock = time.process_time if threads == 1 else time.perf_counter
    kernel = benchmark.kernel.specialize(**sizes) if constant else benchmark.kernel
    start = time.perf_counter()
    made = kernel.optimize(threads=threads, contract=allowed, reassociate=allowed, reciprocal=allowed)
    took = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        calls: dict[str, Call] = {"ours": lambda given: made(*given.values())}
        calls |= dict(peers(benchmark, sizes, PEERS[row], Path(folder), threads))
        seconds: Times = {name: [] for name in calls}
        wrong: list[str] = []
        given = benchmark.arrays(sizes)
        began = time.perf_counter()
        while len(seconds["ours"]) < LEAST or (time.perf_counter() - began < SECONDS and len(seconds["ours"]) < MOST):
            out = [*wrong, *too_slow(seconds, wrong)]
            for name, call in [each for each in calls.items() if each[0] not in out]:
                refill(given, benchmark.arrays(sizes))
                start = clock()
                call(given)
                seconds[name].append(clock() - start)
                if len(seconds[name]) == 1 and not is_right(benchmark, wanted, given, exact=not allowed):
                    wrong.append(name)
            assert "ours" not in wrong, f"{benchmark.name}, {row}: what optimize() made computes something else"
    lost = too_slow(seconds, wrong)
    best = min(
        (name for name in _right_peers(seconds, wrong) if name not in lost), key=lambda name: median(seconds[name])
    )
    ratio = median(theirs / ours for theirs, ours in zip(seconds[best], seconds["ours"], strict=True))
    mine, theirs = (median(seconds[name]) for name in ("ours", best))
    rate, share = _of_the_roof(benchmark.kernel if constant else made, sizes, mine)
    return Result(benchmark.name, row, ratio, mine, theirs, best, tuple(wrong), tuple(lost), rate, share, took)


def refill(given: Arguments, new: Arguments) -> None:
    """Give arrays other elements, where they are: how vectors lie in lines of the cache is the same for all calls."""
    for name, value in new.items():
        array = given[name]
        if isinstance(array, np.ndarray):
            np.copyto(array, value)


def too_slow(seconds: Times, wrong: Sequence[str]) -> list[str]:
    """The peers that call no more, since they are right, but too slow to be the best."""
    quickest = {name: min(seconds[name]) for name in _right_peers(seconds, wrong) if len(seconds[name]) >= TRIED}
    best = min(quickest.values(), default=inf)
    return [name for name, time in quickest.items() if time > max(LONG, BEHIND * best)]


def _right_peers(seconds: Times, wrong: Sequence[str]) -> list[str]:
    return [name for name in seconds if name not in ("ours", *wrong)]


def _of_the_roof(made: af.Kernel, sizes: Sizes, seconds: float) -> tuple[str, str]:
    """How many floating-point operations a second a call did, and its share of what this machine does at best."""
    try:
        found = forecast(made, sizes)
    except UncountedError:
        return "", ""
    return f"{1e-9 * found.flops / seconds:.3g}", f"{found.at_best / seconds:.0%}"


def is_right(benchmark: Benchmark, wanted: Arguments, given: Arguments, *, exact: bool) -> bool:
    """Whether results are the same: to the bit, or but for rounding errors."""
    for array in benchmark.live_out:
        a, b = wanted[array], given[array]
        assert isinstance(a, np.ndarray)
        assert isinstance(b, np.ndarray)
        if exact and a.tobytes() != b.tobytes():
            return False
        largest = np.abs(a[np.isfinite(a)]).max(initial=0.0)
        if not exact and benchmark.name not in ILL_CONDITIONED and not np.allclose(a, b, 1e-6, 1e-6 * largest):
            return False
    return True


def compilers(threads: int) -> dict[str, tuple[str, ...]]:
    """The peers that are there, and how each is called."""
    clang = next(filter(which, ("clang-22", "clang")), None)
    found = {"gcc": ("gcc",)} if which("gcc") else {}
    if clang is None:
        return found
    found["clang"] = (clang,)
    polly = (clang, "-mllvm", "-polly")
    if threads > 1:
        polly = (*polly, "-mllvm", "-polly-parallel", "-mllvm", f"-polly-num-threads={threads}", "-lgomp")
    asked = subprocess.run([*polly, "-O3", "-xc", "-S", "-o", "-", "-"], input="", capture_output=True, text=True)
    return found | ({"Polly": polly} if asked.returncode == 0 else {})


def peers(
    benchmark: Benchmark, sizes: Sizes, flags: Sequence[str], folder: Path, threads: int
) -> Iterator[tuple[str, Call]]:
    """The kernel as written by each compiler that is there."""
    source = folder / "peer.c"
    source.write_text(text_for(benchmark.kernel, sizes), encoding="utf-8")
    width = (f"-mprefer-vector-width={af.native_target().width}",)
    for name, command in compilers(threads).items():
        library = folder / f"{name}.so"
        subprocess.run(
            [*command, *FLAGS, *width, *flags, str(source), "-o", str(library), "-lm"], check=True, cwd=folder
        )
        function = ctypes.CDLL(str(library)).peer
        yield name, partial(_called, function, benchmark.kernel, sizes)


def _called(function: Callable[..., object], kernel: af.Kernel, sizes: Sizes, given: Arguments) -> None:
    types = {p.name: p.type for p in kernel.program.parameters}
    function(*(_passed(value, types[name]) for name, value in given.items() if name not in sizes))


def text_for(kernel: af.Kernel, sizes: Sizes) -> str:
    """C of a kernel as written, and a function `peer` that calls it with sizes that the compiler knows."""
    text = plain(kernel)
    found = re.search(rf"^(int32_t|void) {kernel.name}\(([^)]*)\)", text, re.MULTILINE)
    assert found is not None, f"there is no function {kernel.name} in its C"
    text = text.replace(found[0], f"static inline __attribute__((always_inline)) {found[0]}")
    parameters = [each.strip() for each in found[2].replace("\n", " ").split(",")]
    names = [re.split(r"[ *]", each)[-1] for each in parameters]
    kept = ", ".join(each for each, name in zip(parameters, names, strict=True) if name not in sizes)
    given = ", ".join(str(sizes.get(name, name)) for name in names)
    return f"{text}\nvoid peer({kept});\nvoid peer({kept})\n{{\n    (void){kernel.name}({given});\n}}\n"


def _passed(value: object, type: object) -> object:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_float(float(str(value))) if type is af.f32 else ctypes.c_double(float(str(value)))
