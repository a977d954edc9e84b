"""Random kernels with loops of all kinds, run in all ways: `python -m tests.loops.run --count 200 --seed 1`.

Each is interpreted, compiled, cleaned up by passes and interpreted again, so is the text that is handed on, and every
tenth is lowered by mlir-opt: all must leave what Python leaves.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

import affdsl as af
from affdsl.ir.interpreter import run
from tests.harness.command import Watch, parser, seeds
from tests.loops.programs import program
from tests.loops.ways import lowered

SIZES = (0, 1, 4)
FITS = 2**60
"""Python's integers do not wrap: what grows further is not compared."""


def wrong(seed: int, *, through_mlir: bool) -> str:
    """What is wrong with the program of a seed; nothing if all ways agree."""
    kernel, wanted, text = program(seed)
    cleaned = kernel.apply("canonicalize,cse,affine-scalrep")
    ways: dict[str, Callable[..., object]] = {
        "interpreted": kernel.interpret, "compiled": kernel, "cleaned up": cleaned.interpret,
        "handed on": partial(run, af.parse(kernel.mlir()).functions[0]),
    }  # fmt: skip
    if through_mlir:
        ways["lowered"] = lowered(kernel)
    for n in SIZES:
        expected = [2, -1]
        wanted(n, expected)
        if max(map(abs, expected)) > FITS:
            continue
        for way, call in ways.items():
            x = np.array([2, -1])
            try:
                call(n, x)
            except af.AffdslError as error:
                return f"{way}, N = {n}: {error}\n{text}"
            if x.tolist() != expected:
                return f"{way}, N = {n}: {x.tolist()} instead of {expected}\n{text}"
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the seeds; the exit status says whether all was right."""
    chosen = parser("tests.loops.run", __doc__, 100).parse_args(arguments)
    watch, failures = Watch(), 0
    for count, seed in enumerate(seeds(chosen), 1):
        if found := wrong(seed, through_mlir=seed % 10 == 0):
            failures += 1
            print(f"seed {seed}: {found}")
        if count % 20 == 0:
            watch.say(count, "programs", failures)
    watch.say(chosen.count, "programs", failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
