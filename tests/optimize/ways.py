"""The ways to optimize: for which target and how many threads, and what may round in another way."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import affdsl as af
from tests.fuzz.check import pipelines

ALLOWANCES = ("contract", "reassociate", "reciprocal")
TARGETS = ("native", "baseline", "sse4.2", "avx2", "avx512", "neon", "sve")


@dataclass(frozen=True)
class Way:
    """How a kernel is optimized; results are the same to the bit unless something is allowed."""

    target: str = "native"
    threads: int = 1
    allowed: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.target}, {self.threads} threads, {' '.join(self.allowed) or 'strict'}"

    def of(self, kernel: af.Kernel, *, validate: bool = False) -> af.Kernel:
        """The kernel, optimized."""
        options = dict.fromkeys(self.allowed, True)
        return kernel.optimize(self.target, threads=self.threads, validate=validate, **options)

    @property
    def pipeline(self) -> str:
        """The pass that does so with each function of a module."""
        options = [f"target={self.target}", f"threads={self.threads}", *self.allowed]
        return pipelines([f"affdsl-optimize{{{' '.join(options)}}}"])[1]


def random_way(seed: int) -> Way:
    """The way of a seed: every second one is strict."""
    random = Random(f"way {seed}")
    allowed = tuple(each for each in ALLOWANCES if random.random() < 0.6) if seed % 2 else ()
    return Way(random.choice(TARGETS), random.choice((1, 1, 2, 3)), allowed)
