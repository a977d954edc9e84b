"""What it costs to check every access: the time with checks over the time without, for each example.

    python -m benchmarks.boundscheck

Each kernel is called in short bursts, with checks and without in turn, and the medians are compared: the machine may
be busy, the ratio holds.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import timeit
from collections.abc import Iterable, Mapping
from statistics import geometric_mean, median

import numpy as np

import affdsl as af
import examples
from affdsl.codegen.caller import Caller
from affdsl.codegen.jit import compile_program
from examples.case import Case

BURSTS, SECONDS = 11, 0.01
"""So many bursts, and how long one lasts at least."""
SIZES = {
    "conv2d": {"B": 2, "C": 3, "F": 4, "H": 48, "W": 48, "KH": 3, "KW": 3},
    "prefix_sum": {"N": 100_000},
    "jacobi2d": {"M": 200, "N": 200, "steps": 4},
    "gauss_seidel": {"M": 200, "N": 200, "steps": 4},
}
"""The sizes of an example, where they are not all 96."""


def arguments(kernel: af.Kernel, sizes: Mapping[str, int], random: np.random.Generator) -> list[object]:
    """Arrays of these sizes, with numbers that are good for any of the kernels, and scalars."""
    found: list[object] = []
    for parameter in kernel.program.parameters:
        type = parameter.type
        shape = getattr(type, "shape", None)
        if shape is None:
            found.append(sizes.get(parameter.name, 2))
            continue
        extents = [expr.evaluate({v: sizes[v.hint] for v in expr.values()}) for expr in shape]
        dtype = type.dtype.numpy  # type: ignore[union-attr]
        found.append((random.random(extents) * 100 + 1).astype(dtype))
    return found


def sparse(random: np.random.Generator) -> list[object]:
    """The arguments of `spmv`: 2,000 rows of 20 numbers each."""
    rows, per = 2000, 20
    return [
        np.arange(0, rows * per + 1, per, dtype=np.int32),
        random.integers(0, rows, rows * per).astype(np.int32),
        random.random(rows * per),
        random.random(rows),
        np.zeros(rows),
    ]


def compiled(kernel: af.Kernel, *, checked: bool) -> Caller:
    """The kernel, compiled with checks or without."""
    os.environ["AFFDSL_BOUNDSCHECK"] = "1" if checked else "0"
    return compile_program(kernel.program, kernel.check())


def ratio(kernel: af.Kernel, given: list[object]) -> tuple[float, float]:
    """The seconds of a call without checks, and how often as long it is with them."""
    plain, checked = compiled(kernel, checked=False), compiled(kernel, checked=True)
    plain(*given)
    checked(*given)
    once = max(min(timeit.repeat(lambda: plain(*given), number=1, repeat=3)), 1e-7)
    count = max(1, int(SECONDS / once))
    times = [
        (timeit.timeit(lambda: plain(*given), number=count), timeit.timeit(lambda: checked(*given), number=count))
        for _ in range(BURSTS)
    ]
    return median(a for a, _ in times) / count, median(b for _, b in times) / median(a for a, _ in times)


def main() -> None:
    """Measure and print."""
    os.environ["OMP_NUM_THREADS"] = "1"  # how well threads share a machine is not the question
    random = np.random.default_rng(0)
    found: list[float] = []
    for name in sorted(m.name for m in pkgutil.iter_modules(examples.__path__) if m.name not in ("case", "demo")):
        cases: Iterable[Case] = importlib.import_module(f"examples.{name}").cases()
        for kernel in {id(case.kernel): case.kernel for case in cases}.values():
            symbols = {v.hint for v in kernel.func.args} | {"steps"}
            sizes = {**dict.fromkeys(symbols, 96), **SIZES.get(name.removesuffix("_wavefront"), {})}
            given = sparse(random) if name == "spmv" else arguments(kernel, sizes, random)
            seconds, times = ratio(kernel, given)
            found.append(times)
            label = name if kernel.name == name else f"{name}, {kernel.name}"
            print(
                f"{label:28} {seconds * 1e6:9.1f} us without checks, {times:5.2f} times as long with them", flush=True
            )
    print(f"{'geometric mean':28} {geometric_mean(found):32.2f}")


if __name__ == "__main__":
    main()
