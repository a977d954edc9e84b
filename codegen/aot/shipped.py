"""What is shipped: kernels, and all that is asked of the library that they become."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.codegen.targets.target import Target
from affdsl.frozen import Frozen
from affdsl.ir.dialects.func import Module
from affdsl.lang.trace import Program
from affdsl.passes.analysis.bounds import Bounds


class ShippedKernel(Frozen):
    """A kernel as it is called, and its IR for each target.

    Attributes
    ----------
    program
        The kernel: its parameters, results and contract.
    bounds
        What callers must keep to, so that no access leaves its array.
    modules
        By the names of the targets, the IR of which C is made: the kernel's own, or what was made of it.
    about
        What its author says of it.
    """

    program: Program
    bounds: Bounds
    modules: Mapping[str, Module]
    about: str = ""

    @property
    def name(self) -> str:
        """What it is called in Python."""
        return self.program.func.symbol


class Library(Frozen):
    """A library that is asked for: its name and version, what is in it, and for which CPUs, the best one first."""

    name: str
    version: str
    kernels: tuple[ShippedKernel, ...]
    symbols: tuple[str, ...]
    """The name of each kernel in C."""
    targets: tuple[Target, ...]
    checked: bool = False
    """Whether each function has another one beside it, which says whether it may run with some sizes."""
    takes_threads: bool = False
    """Whether each function with loops that threads share is told how many there are."""

    @property
    def is_dispatched(self) -> bool:
        """Whether it is found out at the first call for which target this CPU is."""
        return len(self.targets) > 1
