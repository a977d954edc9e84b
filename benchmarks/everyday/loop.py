"""A loop of everyday numerical Python: as a kernel, and as the function that numba compiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import affdsl as af

Arguments = Callable[[np.random.Generator, int], Sequence[object]]
"""Arrays and numbers, by their size."""


@dataclass(frozen=True, eq=False)
class Loop:
    """A kernel, and the same loops as a function of plain Python.

    Attributes
    ----------
    arguments
        What both are called with.
    size
        One that takes some milliseconds.
    tolerance
        How far apart the results may be, relative to the largest of an array; 0 where they are the same to the bit.
    """

    kernel: af.Kernel
    function: Callable[..., object]
    arguments: Arguments
    size: int
    tolerance: float

    @property
    def name(self) -> str:
        """What the loop does, in words."""
        return self.kernel.name.replace("_", " ")


class Group(list[Loop]):
    """Loops of one kind, each of which a decorator adds."""

    def beside(
        self, kernel: af.Kernel, arguments: Arguments, size: int, *, tolerance: float = 0.0
    ) -> Callable[[Callable[..., object]], Callable[..., object]]:
        """Say that the function below has the loops of a kernel."""

        def added(function: Callable[..., object]) -> Callable[..., object]:
            self.append(Loop(kernel, function, arguments, size, tolerance))
            return function

        return added
