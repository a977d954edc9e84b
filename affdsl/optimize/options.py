"""For what a kernel is optimized, and what may round in another way."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.targets.target import Target


@dataclass(frozen=True)
class Options:
    """What recipes ask of whoever calls.

    Attributes
    ----------
    target
        The vector registers and the caches.
    threads
        How many threads there are; 1 leaves all loops sequential.
    contract, reassociate, reciprocal
        What may round in another way, as the steps of these names have it.
    """

    target: Target
    threads: int = 1
    contract: bool = False
    reassociate: bool = False
    reciprocal: bool = False
