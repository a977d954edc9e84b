"""How the time of everything grows with the size of programs: parsing, printing, each pass, C, and some steps.

    python -m benchmarks.growth [--seconds 0.5] [--program NAME ...] [--task NAME ...]

Each program (see `benchmarks.straight`) is made in sizes that double, and each task done to it, until one takes so many
seconds of processor time. Printed are those times, and as growth the power of the size by which the time has grown from
the last size but one to the last: 1 is linear, 2 quadratic. Those above 1.3 are marked, and counted in the end; times
of a few milliseconds say nothing, and are not. Where there is a largest size, as for loops inside each other, it ends
there. The last rows are steps of schedules that are asked of unrolled loops.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from math import log2
from time import process_time

import affdsl as af
from affdsl.cli.sizes import with_sizes
from affdsl.codegen.c.emit import emit
from affdsl.errors import AffdslError
from affdsl.ir.dialects.func import Module
from affdsl.ir.interpreter.program import Prepared
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.dependence import AnalysisWarning, Dependences
from affdsl.passes.analysis.graph import dependence_graph
from affdsl.passes.analysis.parallelism import of_loops
from affdsl.passes.analysis.relations import forget
from affdsl.passes.pipeline.language import run_pipeline
from affdsl.passes.pipeline.registry import PASSES
from benchmarks.straight import PROGRAMS

SECONDS = 0.5
LEAST = 0.03
"""Shorter times say nothing of growth."""
SHORT = 0.5
"""Shorter times are the least of three."""
MOST_GROWTH = 1.3
MOST_SIZES = 5
Task = Callable[[Module, str], object]


def _pass(name: str, anchor: str) -> Task:
    on_functions = anchor in ("func", "function interface")
    text = f"builtin.module(func.func({name}))" if on_functions else f"builtin.module({name})"
    return lambda module, _: run_pipeline(module, text, verify_each=False)


TASKS: Mapping[str, Task] = {
    "parse": lambda _, text: parse(text),
    "verify": lambda module, _: verify(module),
    "print": lambda module, _: str(module),
    "interpreter": lambda module, _: [Prepared(f, module=module) for f in module.functions],
    "translate --to=c": lambda module, _: emit(with_sizes(module)[0], module.functions[0].symbol),
    "loops": lambda module, _: [of_loops(Dependences(f, module)) for f in module.functions],
    "graph": lambda module, _: [dependence_graph(f, module) for f in module.functions],
    **{row.name: _pass(row.name, row.anchor) for row in PASSES},
}
"""What is measured, by name; what is parsed is not part of it, but for `parse`."""


M, N, K = af.symbols("M N K")


@af.kernel
def product(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]) -> None:
    """A product, of which a block of the result is kept in values."""
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


@af.kernel
def smooth(A: af.f64[N, N]) -> None:
    """A sweep whose inner loop is unrolled."""
    with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
        A[i, j] = (A[i - 1, j] + A[i, j] + A[i, j + 1]) / 3


def _block(n: int) -> af.Schedule:
    return af.Schedule(product).unroll_jam("i", 4).unroll_jam("j", n // 4)


def _rows(n: int) -> af.Schedule:
    return af.Schedule(product).unroll_jam("i", 6).unroll_jam("j", n)


def _wide_rows(n: int) -> af.Schedule:
    return af.Schedule(product).vectorize("j", 8).unroll_jam("i", 6).unroll_jam("j", n)


def _unrolled(n: int) -> af.Schedule:
    return af.Schedule(smooth).unroll("j", n)


STEPS: Mapping[str, tuple[Callable[[int], af.Schedule], Callable[[af.Schedule], object], int]] = {
    "scalar_replace of n sums": (_block, lambda s: s.scalar_replace("k"), 16),
    "scalar_replace of 6 x n sums": (_rows, lambda s: s.scalar_replace("k"), 4),
    "scalar_replace of 6 x n vectors": (_wide_rows, lambda s: s.scalar_replace("k"), 2),
    "parallel after unrolling by n": (_unrolled, lambda s: s.parallel("j"), 8),
    "interchange after unrolling by n": (_unrolled, lambda s: s.interchange("i", "j"), 8),
}
"""A schedule by a size, the step that is measured, which may be refused, and the smallest size."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--program", nargs="*", choices=[*PROGRAMS], default=[*PROGRAMS])
    parser.add_argument("--task", nargs="*", choices=[*TASKS], default=[*TASKS])
    parser.add_argument("--no-steps", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore", AnalysisWarning)
    marked = rows = 0
    print(f"processor seconds at sizes that double, until one takes {given.seconds}")
    for name in given.program:
        program = PROGRAMS[name]
        for task in given.task:
            run = TASKS[task]

            def once(n: int, text: Callable[[int], str] = program.text, run: Task = run) -> float:
                made = text(n)
                module = parse(made)
                return timed(lambda: run(module, made))

            marked += report(name, task, program.start, once, given.seconds, program.most)
            rows += 1
    for step, (make, take, start) in ({} if given.no_steps else STEPS).items():

        def taken(
            n: int, make: Callable[[int], af.Schedule] = make, take: Callable[[af.Schedule], object] = take
        ) -> float:
            schedule = make(n)
            return timed(lambda: take(schedule))

        marked += report("schedule", step, start, taken, given.seconds)
        rows += 1
    print(f"{marked} of {rows} grow by more than the power {MOST_GROWTH}")


def report(
    program: str, task: str, start: int, once: Callable[[int], float], limit: float, most: int | None = None
) -> bool:
    """Print a row; whether its growth is too large."""
    times = list(_until(limit, start, once, most))
    growth = log2(times[-1] / times[-2]) if len(times) > 1 and times[-2] >= LEAST else None
    much = growth is not None and growth > MOST_GROWTH
    shown = " ".join(f"{seconds:.3f}" for seconds in times)
    largest = start * 2 ** (len(times) - 1)
    power = f"{growth:.2f}" if growth is not None else "-"
    print(f"{program:16} {task:36} {power:>5} {'!' if much else ' '} to {largest:6}: {shown}", flush=True)
    return much


def _until(limit: float, size: int, once: Callable[[int], float], most: int | None) -> Iterator[float]:
    for _ in range(MOST_SIZES):
        if most is not None and size > most:
            return
        seconds = once(size)
        if LEAST <= seconds < SHORT:  # so short that a collection of garbage in between would show
            seconds = min(seconds, once(size), once(size))
        yield seconds
        if seconds > limit:
            return
        size *= 2


def timed(do: Callable[[], object]) -> float:
    """Seconds of one run with nothing remembered; a refusal is an answer too."""
    forget()
    start = process_time()
    with suppress(AffdslError):
        do()
    return process_time() - start


if __name__ == "__main__":
    main()
