"""What a program does with other data and sizes than those that it was made for, where nothing is out of bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

import numpy as np

from affdsl.errors import AffdslError
from affdsl.ir.interpreter import run
from affdsl.mlir.readers import parse
from tests.fuzz.mlir import entry_name, mlir
from tests.fuzz.native import DTYPES, Contents
from tests.fuzz.program import Program
from tests.fuzz.reference import EXACT
from tests.harness.batch import TIME_LIMIT
from tests.harness.limit import limited

SMALL = (-1, 0, 1)
"""With these for all symbols many loops do not run, or once."""
RANGE = (-2, 12)
TRIES = 3
"""So many times, each symbol is any number of the range."""


@dataclass(frozen=True, eq=False)
class Probe:
    """A program with its sizes, what its buffers hold before the run, and what afterwards."""

    program: Program
    given: tuple[np.ndarray, ...]
    expected: Contents

    @property
    def arguments(self) -> list[np.ndarray | int]:
        """Fresh arguments of the entry."""
        return [*(array.copy() for array in self.given), *self.program.given(0)]


@lru_cache(maxsize=256)
def probes(program: Program) -> tuple[Probe, ...]:
    """Runs of a program by the interpreter: with its own sizes and other data, then with any sizes.

    Runs that leave the bounds are none, nor those whose floats get so large that the order of additions matters.
    """
    module, random = parse(mlir(program)), Random(program.seed)
    entry = next(f for f in module.functions if f.symbol == entry_name(program))
    tries = [*program.valuations, *(tuple(n for _ in program.symbols) for n in SMALL)]
    tries += [tuple(random.randint(*RANGE) for _ in program.symbols) for _ in range(TRIES)]
    found: list[Probe] = []
    for k, valuation in enumerate(dict.fromkeys(tries)):
        sized = replace(program, valuations=(valuation,))
        numbers = np.random.default_rng(k)
        given = tuple(numbers.integers(-9, 10, b.shape).astype(DTYPES[program.element]) for b in program.arguments)
        after = [array.copy() for array in given]
        try:
            with limited(TIME_LIMIT):
                run(entry, *after, *sized.given(0), module=module)
        except AffdslError:
            continue
        if program.element == "f64" and any(np.abs(array).max() >= EXACT for array in after):
            continue
        contents = {b.name: array.ravel().tolist() for b, array in zip(program.arguments, after, strict=True)}
        found.append(Probe(sized, given, (contents,)))
    return tuple(found)
