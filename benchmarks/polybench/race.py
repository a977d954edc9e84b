"""Kernels of PolyBench after `optimize()` beside what gcc and clang make of them as they are written.

The peers get the loops as written as C with all sizes known and `restrict`, at -O3 for this machine with registers of
full width. Strict: nothing may round in another way, here nor there. Fast: `-ffast-math` there; contraction, sums in
any order and reciprocals here. Ours is compiled for any size. All run on one thread, in turns; a ratio is the median
over rounds of the time of the better peer over ours, above 1 where ours is faster. Results are compared, too.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from shutil import which
from statistics import geometric_mean, median

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Benchmark, Sizes

FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-std=c11", "-fPIC", "-shared", "-w")
PEERS = {"strict": ("-ffp-contract=off",), "fast": ("-ffast-math",)}
COMPILERS = ("gcc", "clang-22", "clang")
SECONDS, LEAST, MOST = 1.5, 3, 21
"""How long the rounds of one kernel take at least, and how many there are."""

Call = Callable[[Arguments], object]


def race(benchmarks: Sequence[Benchmark], size: str) -> None:
    """Print a line for each kernel and row, and the geometric means."""
    os.environ["OMP_NUM_THREADS"] = "1"
    print(f"{'kernel':15} {'row':7} {'ratio':>6} {'ours':>10} {'peer':>10}  best peer, seconds to optimize")
    ratios: dict[str, list[float]] = {row: [] for row in PEERS}
    for benchmark in benchmarks:
        for row in PEERS:
            ratios[row].append(_raced(benchmark, size, row))
    for row, found in ratios.items():
        print(f"{row}: geometric mean {geometric_mean(found):.2f}, least {min(found):.2f}, of {len(found)}")


def _raced(benchmark: Benchmark, size: str, row: str) -> float:
    sizes, allowed = benchmark.sizes[size], row == "fast"
    start = time.perf_counter()
    made = benchmark.kernel.optimize(threads=1, contract=allowed, reassociate=allowed, reciprocal=allowed)
    took = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        calls: dict[str, Call] = {"ours": lambda given: made(*given.values())}
        calls |= dict(peers(benchmark, sizes, PEERS[row], Path(folder)))
        seconds: dict[str, list[float]] = {name: [] for name in calls}
        wanted = benchmark.arrays(sizes)
        benchmark.kernel(*wanted.values())
        began = time.perf_counter()
        while len(seconds["ours"]) < LEAST or (time.perf_counter() - began < SECONDS and len(seconds["ours"]) < MOST):
            for name, call in calls.items():
                given = benchmark.arrays(sizes)
                start = time.perf_counter()
                call(given)
                seconds[name].append(time.perf_counter() - start)
                if len(seconds[name]) == 1:
                    _compare(benchmark, name, wanted, given, exact=not allowed)
    best = min((name for name in calls if name != "ours"), key=lambda name: median(seconds[name]))
    ratio = median(theirs / ours for theirs, ours in zip(seconds[best], seconds["ours"], strict=True))
    mine, theirs = (1e3 * median(seconds[name]) for name in ("ours", best))
    print(f"{benchmark.name:15} {row:7} {ratio:6.2f} {mine:7.2f} ms {theirs:7.2f} ms  {best}, {took:.2f} s", flush=True)
    return ratio


def _compare(benchmark: Benchmark, name: str, wanted: Arguments, given: Arguments, *, exact: bool) -> None:
    for array in benchmark.live_out:
        a, b = wanted[array], given[array]
        assert isinstance(a, np.ndarray)
        assert isinstance(b, np.ndarray)
        if exact and a.tobytes() != b.tobytes():
            print(f"    {benchmark.name}: {array} by {name} is not the same to the bit")
        elif not exact and not np.allclose(a, b, rtol=1e-6, atol=1e-6 * np.abs(a[np.isfinite(a)]).max(initial=0.0)):
            print(f"    {benchmark.name}: {array} by {name} is far off")


def peers(benchmark: Benchmark, sizes: Sizes, flags: Sequence[str], folder: Path) -> Iterator[tuple[str, Call]]:
    """The kernel as written by each compiler that is there."""
    source = folder / "peer.c"
    source.write_text(text_for(benchmark.kernel, sizes), encoding="utf-8")
    width = (f"-mprefer-vector-width={af.native_target().width}",)
    for compiler in filter(which, COMPILERS):
        library = folder / f"{compiler}.so"
        subprocess.run(
            [compiler, *FLAGS, *width, *flags, str(source), "-o", str(library), "-lm"], check=True, cwd=folder
        )
        function = ctypes.CDLL(str(library)).peer
        yield compiler, partial(_called, function, benchmark.kernel, sizes)


def _called(function: Callable[..., object], kernel: af.Kernel, sizes: Sizes, given: Arguments) -> None:
    types = {p.name: p.type for p in kernel.program.parameters}
    function(*(_passed(value, types[name]) for name, value in given.items() if name not in sizes))


def text_for(kernel: af.Kernel, sizes: Sizes) -> str:
    """C of a kernel as written, and a function `peer` that calls it with sizes that the compiler knows."""
    text = str(kernel.c())
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
