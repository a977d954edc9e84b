"""Accesses that are alike in what is asked of them: one answer for all pairs of two kinds, instead of one each.

Straight code has many accesses to one element, such as those of a variable that one statement after the other changes,
each under a condition of its own. What their subscripts show holds whatever the conditions are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain

from affdsl.passes.analysis.access import Access

Alike = Sequence[Access]
"""Accesses of one kind, in the order in which they were given."""


def by_subscripts(access: Access) -> Hashable:
    """What accesses have in common of which `relations.subscript_distances` says the same."""
    relation = access.relation
    if access.recovered is not None:
        return access.buffer, access.kind, access.ivs, relation, access.recovered
    return access.buffer, access.kind, access.ivs, relation.dims, relation.locals, relation.index


def grouped(accesses: Iterable[Access], kind: Callable[[Access], Hashable]) -> list[list[Access]]:
    """The accesses of each kind."""
    found: dict[Hashable, list[Access]] = {}
    for access in accesses:
        found.setdefault(kind(access), []).append(access)
    return list(found.values())


def unsettled(
    sources: Sequence[Access],
    kinds: Sequence[Alike],
    sinks: Sequence[Access],
    kinds_of_sinks: Sequence[Alike],
    is_settled: Callable[[Alike, Alike], bool],
) -> Iterator[tuple[Access, Sequence[Access]]]:
    """Each source, with the sinks of which two kinds together do not settle what is asked: both in their order."""
    if 2 * (len(kinds) + len(kinds_of_sinks)) > len(sources) + len(sinks):  # to ask kinds is more than it spares
        yield from ((access, sinks) for access in sources)
        return
    place = {access: k for k, access in enumerate(sinks)}
    found: dict[Access, Sequence[Access]] = {}
    for alike in kinds:
        some = chain.from_iterable(each for each in kinds_of_sinks if not is_settled(alike, each))
        found |= dict.fromkeys(alike, sorted(some, key=place.__getitem__))
    yield from ((access, found[access]) for access in sources)
