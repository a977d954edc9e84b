"""Random kernels through `optimize()`: validated, and called beside the interpreter and their loops as written.

And through random steps of schedules, run by the interpreter alone.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from typing import Any

import numpy as np

import affdsl as af
from affdsl.passes.analysis.dependence import AnalysisWarning
from tests.harness.counts import Counts
from tests.harness.judges import same_but_nan
from tests.harness.limit import limited
from tests.optimize.kernels import Sizes, arguments, random_kernel
from tests.optimize.programs import ENDLESS, SECONDS, distribution
from tests.optimize.ways import Way
from tests.schedule.random_schedules import random_schedule

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


def scheduled(seed: int, counts: Counter[str] | None = None) -> str:
    """What is wrong with some random steps of a schedule of the kernel of a seed; nothing if all is right."""
    kernel, text = random_kernel(seed)
    try:
        with limited(ENDLESS), warnings.catch_warnings():
            warnings.simplefilter("ignore", AnalysisWarning)  # what takes isl too long is taken to be unknown
            s = random_schedule(kernel, seed, steps=5, tries=16, counts=counts, is_read=True)
            made = s.kernel()
            made.c()
            for sizes, _ in islice(_runs(kernel, seed), 2):
                wanted, found = (arguments(kernel, sizes, seed=seed) for _ in range(2))
                kernel.interpret(**wanted)
                if not _holds(made, found):
                    continue
                if not all(same_but_nan(wanted[name], found[name]) for name in wanted):
                    return f"kernel {seed}, {sizes}: not the same to the bit\n{s}\n{text}"
    except Exception as problem:  # noqa: BLE001  whatever is raised is what is looked for
        return f"kernel {seed}: {type(problem).__name__}: {problem}\n{text}"
    return ""


def _holds(made: af.Kernel, given: Mapping[str, Any]) -> bool:
    """Run a kernel by the interpreter; whether what its schedule assumes holds for the sizes."""
    try:
        made.interpret(**given)
    except af.AffdslError as error:
        if "which does not hold" in str(error):
            return False
        raise
    return True


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
        if isinstance(x, np.ndarray) and x.dtype.kind in "fc":
            for part in (x.real, x.imag)[: 1 + (x.dtype.kind == "c")]:
                part[...] = np.nextafter(part, random.choice((-np.inf, np.inf), x.shape).astype(part.dtype))
    run(**moved)
    return _away(wanted, moved)


def _away(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> float:
    """How far results are apart, in units of the last place of the largest one; infinite if whole numbers differ."""
    whole = [(x, found[name]) for name, x in wanted.items() if isinstance(x, np.ndarray) and x.dtype.kind not in "fc"]
    if not all(np.array_equal(x, y) for x, y in whole):
        return float("inf")
    arrays = [(x, found[name]) for name, x in wanted.items() if isinstance(x, np.ndarray) and x.dtype.kind in "fc"]
    if not arrays:
        return float("inf")
    with np.errstate(all="ignore"):
        if not all(np.isfinite(x).all() for pair in arrays for x in pair):
            return 0.0  # what overflows may do so elsewhere
        largest = max(float(np.abs(x).max()) for x, _ in arrays)
        apart = max(float(np.abs(x - y).max()) for x, y in arrays)
    return apart / (float(np.finfo(arrays[0][0].dtype).eps) * max(largest, 1.0))
