"""How work and time grow with the number of steps: each shape through each task.

    python -m tests.steps.run [--sizes 50 100 200 400] [--shape NAME ...] [--task NAME ...] [--limit SECONDS]

A row is a task and a shape: seconds of processor time by size, and the powers of the size by which the time and the
number of calls of functions have grown from the last size but one to the last. 1 is linear, 2 is quadratic. Rows that
grow faster than n log n are marked: the number of calls says so on a machine that is busy with other things, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import log

from tests.harness.limit import limited
from tests.steps.measured import Measured, measured
from tests.steps.shapes import SHAPES
from tests.steps.tasks import TASKS

MOST_GROWTH = 1.2
"""n log n from 200 to 400 grows by the power 1.17."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.steps.run", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=(10, 50, 100, 200, 400))
    parser.add_argument("--shape", nargs="*", choices=[*SHAPES], default=[*SHAPES])
    parser.add_argument("--task", nargs="*", choices=[*TASKS], default=[*TASKS])
    parser.add_argument("--limit", type=float, default=60, help="seconds after which one measurement ends")
    given = parser.parse_args()
    marked = rows = 0
    for task in given.task:
        for shape in given.shape:
            marked += _report(task, shape, given.sizes, given.limit)
            rows += 1
    print(f"{marked} of {rows} grow faster than n log n, or fail")


def _report(task: str, shape: str, sizes: Sequence[int], limit: float) -> bool:
    """Print a row; whether it grows too fast."""
    found: list[Measured] = []
    failure = ""
    try:
        with limited(limit):
            measured(TASKS[task], SHAPES[shape], 3)  # imports and tables are no part of it
        for n in sizes:
            with limited(limit):
                found.append(measured(TASKS[task], SHAPES[shape], n))
    except Exception as error:  # noqa: BLE001 - a row of the table
        failure = f"{type(error).__name__}: {error}".partition("\n")[0]
    calls, seconds = (_power(sizes, [one[k] for one in found]) for k in (0, 1))
    much = bool(failure) or calls > MOST_GROWTH
    times = " ".join(f"{one.seconds:.3f}" for one in found)
    refused = found[-1].refused if found else ""
    print(
        f"{'!' if much else ' '} {task:30} {shape:12} {calls:5.2f} {seconds:5.2f}  {times} {failure or refused}",
        flush=True,
    )
    return much


def _power(sizes: Sequence[int], counted: Sequence[float]) -> float:
    if len(counted) < 2 or counted[-2] <= 0:
        return 0.0
    return log(counted[-1] / counted[-2]) / log(sizes[len(counted) - 1] / sizes[len(counted) - 2])


if __name__ == "__main__":
    main()
