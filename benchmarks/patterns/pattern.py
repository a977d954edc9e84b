"""A loop as programs have it, with the steps of a schedule after which it runs on vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import affdsl as af

WIDTH = 8
N, M = af.symbols("N M")

Steps = Callable[[af.Schedule], object]


@dataclass(frozen=True, eq=False)
class Pattern:
    """A kernel with a loop, and how it is brought onto vectors.

    Attributes
    ----------
    ready
        The steps before `vectorize`; without, `optimize()` finds all steps.
    loops
        Which loops run on vectors then.
    refused
        Why they do not: part of the message of the step that is refused. Empty where none is.
    width
        How many lanes their vectors have.
    """

    category: str
    kernel: af.Kernel
    ready: Steps | None
    loops: tuple[str, ...]
    refused: str
    width: int

    @property
    def name(self) -> str:
        """What the loop does, in words."""
        return self.kernel.name.replace("_", " ")

    def vectorized(self, *, reassociate: bool = False) -> af.Kernel:
        """The kernel on vectors. Raises IllegalTransform where that is refused."""
        if self.ready is None:
            return self.kernel.optimize(threads=1, reassociate=reassociate)
        s = af.Schedule(self.kernel)
        self.ready(s)
        for loop in self.loops:
            s.vectorize(loop, self.width, reassociate=reassociate)
        return s.kernel()


class Category(list[Pattern]):
    """Patterns of one kind, each of which a decorator adds."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def add(
        self, ready: Steps = lambda _: None, *, loops: tuple[str, ...] = ("i",), refused: str = "", width: int = WIDTH
    ) -> Callable[[Callable[..., object]], af.Kernel]:
        """Make a kernel of a function, and a pattern of it."""

        def added(function: Callable[..., object]) -> af.Kernel:
            made = af.kernel(function)
            self.append(Pattern(self.name, made, ready, loops, refused, width))
            return made

        return added

    def optimized(self, function: Callable[..., object]) -> af.Kernel:
        """Make a kernel of a function, and a pattern of it that is left to `optimize()`."""
        made = af.kernel(function)
        self.append(Pattern(self.name, made, None, (), "", WIDTH))
        return made
