"""What only the numbers of a call decide: demands with products and quotients of symbols, which then are affine."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from random import Random

from affdsl.ir.dialects import func
from affdsl.ir.expr import Affine, Value
from affdsl.passes.analysis.bounds.claims import Demand, Key, Need
from affdsl.passes.analysis.bounds.demands import Demands
from affdsl.passes.analysis.bounds.obvious import facts_of, is_obvious
from affdsl.passes.analysis.bounds.outside import BrokenClaims, Example
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.polyhedral import UnknownError, spending
from affdsl.passes.analysis.scope import NOT_POSITIVE

SAMPLES = 8
"""How many numbers are put in to see whether numbers decide."""


class ByNumbers:
    """The demands of a function with numbers for its index arguments; `needs` are those of the functions it calls."""

    def __init__(
        self,
        function: func.Func,
        module: func.Module | None,
        needs: Mapping[str, Need],
        sizes: Sequence[Value],
        budget: int,
    ) -> None:
        self._function, self._module, self._needs = function, module, needs
        self._sizes, self._budget = tuple(sizes), budget

    def decidable(self, keys: Collection[Key]) -> frozenset[Key]:
        """Those demands on which nothing but the numbers has an influence, whatever the numbers are.

        An expression becomes affine with all numbers with which its divisors are positive, or with none, so a few are
        put in and looked at. (With other numbers the call is refused for the division, or does not get there.)
        """
        undecided = frozenset(keys)
        for order in range(SAMPLES):
            if undecided:
                numbers = Random(order).sample(range(1000, 100_000), len(self._sizes))
                found = self._demands(dict(zip(self._sizes, numbers, strict=True)))
                undecided &= {demand.key for demand in found if _unknown(demand) or _params(demand)}
        return frozenset(keys) - undecided

    def wrong(self, keys: Collection[Key], numbers: Mapping[Value, int]) -> Iterator[tuple[Demand, Example | None]]:
        """The demands that do not hold with these numbers, each with an example; None where it is not known."""
        for demand in self._demands(numbers):
            if demand.key not in keys:
                continue
            facts = facts_of(demand.domain)
            claims = tuple(c for c in demand.claims if not is_obvious(c.expr, facts))
            if not claims and not demand.unknown:
                continue
            outside = BrokenClaims(demand, claims, self._function, self._sizes, {})
            try:
                with spending(self._budget):
                    failing = [claim for claim in claims if outside.fails(claim)]
                    if failing or demand.unknown:
                        known = not (_unknown(demand) or _params(demand))
                        yield demand, outside.example(failing[0], numbers) if failing and known else None
            except UnknownError:
                yield demand, None

    def _demands(self, numbers: Mapping[Value, int]) -> list[Demand]:
        start = Domain(resolved={value: Affine.of(number) for value, number in numbers.items()})
        return Demands(self._function, self._module, self._needs, start).demands


def _unknown(demand: Demand) -> tuple[str, ...]:
    """Why nothing is known of a demand, but that it stands behind a division that has no value: that is refused."""
    return tuple(reason for reason in (*demand.unknown, *demand.from_data) if not reason.endswith(NOT_POSITIVE))


def _params(demand: Demand) -> set[Value]:
    """The symbols that a demand still has."""
    exprs = [*(c.expr for c in demand.claims), *(c.expr for c in demand.breaks)]
    exprs += [c.expr for clause in demand.domain.clauses for part in clause for c in part]
    return {v for e in exprs for v in e.values()} - {*demand.domain.ivs, *demand.domain.locals}
