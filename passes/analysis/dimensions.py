"""The dimensions by which the elements of a buffer are counted: its own, or those that its subscripts hide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from affdsl.frozen import Frozen
from affdsl.ir.dialects import memref
from affdsl.ir.expr import Affine
from affdsl.passes.analysis.linearized import Chain, Index, by_dimensions, is_affine, outermost

if TYPE_CHECKING:  # which stand above: they ask for the dimensions of their buffers
    from affdsl.passes.analysis.access import Access
    from affdsl.passes.analysis.domain import Domain
    from affdsl.passes.analysis.scope import Scope
    from affdsl.passes.analysis.storage import Buffer


class Dimensions(Frozen):
    """How the elements of one buffer are counted.

    Attributes
    ----------
    chains
        For each dimension of the buffer the sizes that it hides, the innermost first; () where it hides none.
    sizes
        For each dimension its size; None where that varies, or isl cannot express it.
    """

    chains: tuple[Chain, ...]
    sizes: tuple[Affine | None, ...]

    @property
    def rank(self) -> int:
        """How many there are."""
        return len(self.sizes)

    @property
    def are_hidden(self) -> bool:
        """Whether there are more than the buffer has."""
        return any(self.chains)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The sizes that are numbers; None for others."""
        return tuple([None if s is None or not s.is_constant else s.constant for s in self.sizes])

    def written(self, index: Sequence[Affine]) -> Index:
        """The subscripts of the buffer for an element."""
        left, found = iter(index), []
        for chain in self.chains:
            number = next(left)
            for size in reversed(chain):
                number = number * size + next(left)
            found.append(number)
        return tuple(found)

    def digits(self, index: Sequence[Affine], scope: Scope, domain: Domain) -> Index | None:
        """The element at subscripts of the buffer, as expressions of their values; None where there are no such."""
        if not self.are_hidden:
            return tuple(index)
        exprs, domain = scope.polynomials(index, domain)
        found = by_dimensions(exprs, self.chains, scope, domain)
        if found is None:
            return None
        digits, inside = found
        made_up = {*inside.locals}
        return None if any(v in made_up for e in digits for v in e.values()) else digits


def dimensions_of(buffer: Buffer, accesses: Sequence[Access], scope: Scope) -> Dimensions:
    """The dimensions of a buffer whose accesses in a function are these: hidden ones where all have them."""
    used = [a for a in accesses if a.buffer is buffer and not _is_whole(a)]
    rows = [a.recovered for a in used]
    chains: tuple[Chain, ...] = ((),) * buffer.rank
    if any(row is not None and row.is_needed for row in rows) and None not in rows:
        chains = rows[0].chains if rows[0] is not None else chains
    sizes: list[Affine | None] = []
    for axis, chain in enumerate(chains):
        whole = scope.size_of(buffer.root, axis)
        sizes += (
            _if_affine(None if whole is None else outermost(whole, chain, scope)),
            *map(_if_affine, reversed(chain)),
        )
    return Dimensions(chains, tuple(sizes))


def _is_whole(access: Access) -> bool:
    """Whether an access is to all elements, however they are counted."""
    match access.op:
        case memref.Dealloc(memref=value):
            return value is access.buffer.root
        case memref.Copy(source=source, target=target):
            return (source if access.kind == "read" else target) is access.buffer.root
    return False


def _if_affine(size: Affine | None) -> Affine | None:
    return size if size is not None and is_affine(size) else None
