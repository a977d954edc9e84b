"""C of several functions in one file, each of which callers see, for one instruction set."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from affdsl.codegen.c.emit import functions_of, in_registers
from affdsl.codegen.c.names import Scope
from affdsl.codegen.c.operations import STRICT_C
from affdsl.codegen.c.plan import Plan, plans
from affdsl.codegen.c.prototype import Prototype
from affdsl.codegen.c.sites import Sites
from affdsl.codegen.c.unit import Unit
from affdsl.frozen import FrozenValue
from affdsl.ir.dialects.func import Module


class Entry(FrozenValue):
    """A function that callers see: the one called `symbol` in its module, under the C name `name`.

    The first `sizes` arguments are sizes, so not negative; if `checked`, each access is checked before it is made.
    """

    module: Module
    symbol: str
    name: str
    sizes: int
    checked: bool = False
    results: tuple[str, ...] = ()
    """What its results are called; nothing where nobody says."""


class Written(FrozenValue):
    """A function as it was written: what callers must know of it, and how they call it."""

    plan: Plan
    prototype: Prototype

    def renamed(self, name: str, *, has_parallel: bool) -> Written:
        """The function as callers know it, which may run on several threads."""
        return Written(replace(self.plan, has_parallel=has_parallel), self.prototype.renamed(name))


class LibraryFile:
    """The functions of one file, planned at first; then it can be asked for its text."""

    def __init__(self, entries: Sequence[Entry], register_bits: int, taken: Collection[str] = ()) -> None:
        """Plan the entries, whose names differ, with vectors of at most so many bits; nothing gets a name of `taken`.

        Raises
        ------
        UnsupportedError
            For what C cannot express.
        """
        self._names = Scope()
        for name in (*(entry.name for entry in entries), *taken):
            self._names.reserve(name)
        self._planned = [self._plans(entry, register_bits) for entry in entries]

    def _plans(self, entry: Entry, bits: int) -> tuple[str, dict[str, Plan]]:
        module = in_registers(entry.module, bits)
        return entry.symbol, plans(
            module,
            entry.symbol,
            sizes=entry.sizes,
            checked=entry.checked,
            names=self._names,
            name=entry.name,
            results=entry.results,
        )

    def with_status(self) -> frozenset[int]:
        """The positions of the entries that say whether they ran, as where there may not be enough memory."""
        return frozenset(k for k, (symbol, found) in enumerate(self._planned) if found[symbol].has_status)

    def with_parallel(self) -> frozenset[int]:
        """The positions of the entries with loops that threads may share."""
        return frozenset(k for k, (symbol, found) in enumerate(self._planned) if found[symbol].has_parallel)

    def write(
        self, sites: Sites, with_status: Collection[int], with_threads: Collection[int] = ()
    ) -> tuple[str, list[Written]]:
        """The text but for what it includes of the library itself, and each entry in it.

        Entries at the positions `with_status` say whether they ran, also those that always do; those `with_threads` are
        told how many threads run their loops. `sites` gets the checks.
        """
        unit = Unit(takes_threads=bool(with_threads))
        bodies: list[str] = []
        written: list[Written] = []
        for position, (symbol, found) in enumerate(self._planned):
            if position in with_status:
                found[symbol] = replace(found[symbol], has_status=True)
            if position in with_threads:
                for name, plan in found.items():
                    found[name] = replace(plan, takes_threads=plan.has_parallel or name == symbol)
            unit.sites = sites if found[symbol].notes else None
            texts, prototypes = functions_of(found, unit, {symbol}, STRICT_C, self._names)
            bodies += texts
            written.append(Written(found[symbol], prototypes[symbol]))
        return unit.file("\n".join(bodies)), written
