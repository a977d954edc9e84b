"""Accesses by the one element that each of them touches, so that the others need not be asked about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from operator import attrgetter

from affdsl.passes.analysis.access import Access


class Nearby:
    """Some accesses, in the order of the text, of which those that may touch what another one does are at hand.

    Outside of loops an access touches one element: copies of it that differ by a constant touch others.

    >>> from affdsl.mlir.readers import parse
    >>> from affdsl.passes.analysis.access import accesses
    >>> found = accesses(parse('''func.func @f(%A: memref<9xf32>, %x: f32, %n: index) {
    ...     affine.store %x, %A[1] : memref<9xf32>
    ...     affine.store %x, %A[2] : memref<9xf32>
    ...     affine.store %x, %A[symbol(%n)] : memref<9xf32>
    ...     affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }
    ...     return
    ... }''').functions[0])
    >>> [[other.order for other in Nearby(found).to(access)] for access in found]
    [[0, 2, 4], [1, 2, 4], [0, 1, 2, 4], [0, 1, 2, 4]]
    """

    def __init__(self, accesses: Iterable[Access]) -> None:
        self._all = list(accesses)
        self._at: dict[Hashable, list[Access]] = defaultdict(list)
        self._kinds: dict[Access, Hashable] = {}
        self._others: dict[Hashable, list[Access]] = {}
        for access in self._all:
            place = _place(access)
            if place is not None:
                self._kinds[access] = place[0]
                self._at[place].append(access)

    def to(self, access: Access) -> list[Access]:
        """The accesses that may touch an element that one touches, in the order of the text."""
        place = _place(access)
        if place is None:
            return self._all
        kind = place[0]
        others = self._others.get(kind)
        if others is None:
            others = self._others[kind] = [a for a in self._all if self._kinds.get(a) != kind]
        same = self._at.get(place, [])
        return sorted((*same, *others), key=attrgetter("order")) if others else same


def _place(access: Access) -> tuple[Hashable, Hashable] | None:
    """What tells the one element of an access from others of its kind, behind the kind; None if there may be more."""
    if access.index is None or access.ivs or access.domain.locals:
        return None
    terms, constants = zip(*((e.terms, e.constant) for e in access.index), strict=True) if access.index else ((), ())
    return (access.buffer, terms), constants
