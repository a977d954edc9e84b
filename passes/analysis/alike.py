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
    accesses: Sequence[Access], alike: Sequence[Alike], is_settled: Callable[[Alike, Alike], bool]
) -> Iterator[tuple[Access, Sequence[Access]]]:
    """Each access as a source, with the sinks of which two kinds together do not settle what is asked.

    Both in the order of `accesses`, which `alike` has by kinds.
    """
    if 2 * len(alike) > len(accesses):  # to ask kinds would be more work than it spares
        yield from ((access, accesses) for access in accesses)
        return
    place = {access: k for k, access in enumerate(accesses)}
    sinks: dict[Access, Sequence[Access]] = {}
    for sources in alike:
        some = chain.from_iterable(each for each in alike if not is_settled(sources, each))
        sinks |= dict.fromkeys(sources, sorted(some, key=place.__getitem__))
    yield from ((access, sinks[access]) for access in accesses)
