"""Random kernels through `optimize()`: validated, and called beside the interpreter and their loops as written."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import affdsl as af
from tests.harness.counts import Counts
from tests.harness.judges import same_but_nan
from tests.harness.limit import limited
from tests.optimize.kernels import Sizes, arguments, random_kernel
from tests.optimize.programs import ENDLESS, SECONDS, distribution
from tests.optimize.ways import Way

SMALL, LARGER = (0, 1, 2, 3, 5, 8), (13, 17, 33, 64, 70)
"""Sizes with which the interpreter runs kernels, and with which C does."""
FEW = 2**10
"""What rounds in another way is at most so many units of the last place away, of the largest element of all."""
SWINGS = 4
"""Or so many times as far as the loops as written move where their arguments do by a unit of the last place,"""
MOST = 2**20
"""but at most so many units, 2e-10 of the largest element of doubles."""


@dataclass
class KernelReport(Counts):
    """What became of kernels, how their results were compared, and what was wrong."""

    kernels: int = 0
    changed: int = 0
    same: int = 0
    close: int = 0
    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.kernels} kernels, {self.changed} changed; {self.same} calls the same to the bit, {self.close} "
            f"within the bound, {len(self.failures)} failures; {distribution(self.seconds)}"
        )


def tried(seed: int, way: Way) -> KernelReport:
    """Optimize the kernel of a seed, validate what comes out, and call it."""
    report = KernelReport(kernels=1)
    kernel, text = random_kernel(seed)
    try:
        fast = _optimized(kernel, way, report)
        if fast is not None:
            report.changed += 1
            report.failures += [
                f"kernel {seed}, {way}: {said}\n{text}" for said in _differences(kernel, fast, seed, way, report)
            ]
    except Exception as problem:  # noqa: BLE001  whatever is raised is what is looked for
        report.failures.append(f"kernel {seed}, {way}: {type(problem).__name__}: {problem}\n{text}")
    return report


def _optimized(kernel: af.Kernel, way: Way, report: KernelReport) -> af.Kernel | None:
    """The kernel, optimized and validated; None where it stays as it was. Raises TimeoutError, and what goes wrong."""
    before = time.process_time()
    with limited(ENDLESS):
        fast = way.of(kernel)
    report.seconds.append(time.process_time() - before)
    if report.seconds[-1] > SECONDS:
        raise TimeoutError(f"it took {report.seconds[-1]:.1f} seconds")
    assert fast.schedule is not None, "optimize() gives a kernel with a schedule"
    if not fast.schedule.steps:
        return None
    with limited(ENDLESS):
        return fast.schedule.kernel(validate=True)


def _differences(kernel: af.Kernel, fast: af.Kernel, seed: int, way: Way, report: KernelReport) -> Iterator[str]:
    """What calls leave that is not what the loops as written leave."""
    for sizes, run in _runs(kernel, seed):
        wanted, found = (arguments(kernel, sizes, seed=seed) for _ in range(2))
        run(**wanted)
        fast(**found)
        names = [name for name, x in wanted.items() if isinstance(x, np.ndarray)]
        if all(same_but_nan(wanted[name], found[name]) for name in names):
            report.same += 1
        elif not way.allowed:
            wrong = [name for name in names if not same_but_nan(wanted[name], found[name])]
            yield f"{sizes}: {', '.join(wrong)} not the same to the bit"
        elif (away := _away(wanted, found)) <= FEW or (
            away <= MOST and away <= SWINGS * _swing(kernel, run, sizes, seed, wanted)
        ):
            report.close += 1
        else:
            yield f"{sizes}: {away:.0f} units of the last place away"


def _runs(kernel: af.Kernel, seed: int) -> Iterator[tuple[Sizes, Any]]:
    """Sizes, and what gives the results for them."""
    random = Random(f"sizes {seed}")
    for sizes, run in ((SMALL, kernel.interpret), (SMALL, kernel.interpret), (LARGER, kernel), (LARGER, kernel)):
        yield {**{name: random.choice(sizes) for name in "NMK"}, "steps": random.choice((0, 1, 2, 5))}, run


def _swing(kernel: af.Kernel, run: Any, sizes: Sizes, seed: int, wanted: Mapping[str, Any]) -> float:
    """How far the results of the loops as written move where arguments do by a unit of the last place, up or down.

    A recurrence may carry one rounding error on until it is thousands of units. Then sums in two orders may be further
    apart than `FEW`, though neither is wrong.
    """
    moved = arguments(kernel, sizes, seed=seed)
    random = np.random.default_rng(seed)
    for x in moved.values():
        if isinstance(x, np.ndarray) and x.dtype.kind == "f":
            x[...] = np.nextafter(x, random.choice((-np.inf, np.inf), x.shape).astype(x.dtype))
    run(**moved)
    return _away(wanted, moved)


def _away(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> float:
    """How far results are apart, in units of the last place of the largest one; infinite if whole numbers differ."""
    whole = [(x, found[name]) for name, x in wanted.items() if isinstance(x, np.ndarray) and x.dtype.kind != "f"]
    if not all(np.array_equal(x, y) for x, y in whole):
        return float("inf")
    arrays = [(x, found[name]) for name, x in wanted.items() if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
    if not arrays:
        return float("inf")
    with np.errstate(all="ignore"):
        if not all(np.isfinite(x).all() for pair in arrays for x in pair):
            return 0.0  # what overflows may do so elsewhere
        largest = max(float(np.abs(x).max()) for x, _ in arrays)
        apart = max(float(np.abs(x - y).max()) for x, y in arrays)
    return apart / (float(np.finfo(arrays[0][0].dtype).eps) * max(largest, 1.0))
