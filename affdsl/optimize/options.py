"""For what a kernel is optimized, and what may round in another way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from affdsl.codegen.c.vector_helpers import TARGETS
from affdsl.codegen.native import native_target
from affdsl.codegen.targets.baseline import BASELINE
from affdsl.codegen.targets.target import Target
from affdsl.codegen.threads import cores, of_environment, wanted
from affdsl.frozen import FrozenValue
from affdsl.optimize.choices import Choices


class Options(FrozenValue):
    """What recipes ask of whoever calls.

    Attributes
    ----------
    target
        The vector registers and the caches.
    threads
        How many threads there are; 1 leaves all loops sequential.
    contract, reassociate, reciprocal, approximate
        What may round in another way, as the steps of these names have it.
    no_nans, no_signed_zeros
        What minima and maxima need not care for, as the step `extremes` has it.
    choices
        The numbers that recipes choose.
    shortest_sum
        How long sums are at least that are made in another order, beside what recipes ask for.
    """

    target: Target
    threads: int = 1
    contract: bool = False
    reassociate: bool = False
    reciprocal: bool = False
    approximate: bool = False
    no_nans: bool = False
    no_signed_zeros: bool = False
    choices: Choices = field(default_factory=Choices)
    shortest_sum: int = 0

    @property
    def tail(self) -> Literal["masked", "scalar"]:
        """How the iterations run that whole vectors leave over."""
        return "masked" if self.target.has_masks else "scalar"


def targets() -> Mapping[str, Target]:
    """The targets that there are, by their names; "native" is this machine."""
    return {"native": native_target(), **{target.name: target for target in (*TARGETS, BASELINE)}}


def available_threads() -> int:
    """How many threads this process may use at once: as many as it has cores, and no more than loops run on."""
    limit = wanted() or of_environment()
    return min(cores(), limit) if limit else cores()
