"""Which elements of a buffer a statement, a loop or a whole function touches, in one iteration of the loops around."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import cached_property
from typing import Literal

from affdsl.frozen import Frozen
from affdsl.ir.core import Op
from affdsl.ir.dialects import memref
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.types import UnrankedMemRefType
from affdsl.passes.analysis.access import Access, Accesses
from affdsl.passes.analysis.boxes import BUDGET, NO_BOX, Bound, Box, box_of, sides_of
from affdsl.passes.analysis.dependence import AnalysisWarning, described
from affdsl.passes.analysis.dimensions import Dimensions
from affdsl.passes.analysis.polyhedral import Dim, Map, Set, UnknownError, merged, set_of, spending
from affdsl.passes.analysis.relations import iterator, local, map_from, named, relation, remembered
from affdsl.passes.analysis.storage import Buffer

Kind = Literal["read", "write", "access"]


class Region(Frozen):
    """The elements of one buffer that some accesses touch, as a function of the outermost loops around all of them.

    Attributes
    ----------
    kind
        "read", "write", or "access" where it is the union of both.
    ivs
        The induction variables of which it is a function, outermost first. Those of deeper loops take all their values.
    params
        The sizes and other symbols of which it is a function.
    may
        From the induction variables to all elements that may be touched. Before the indices of an element stand the
        induction variables of the loops around the allocation, each iteration of which makes another array. Where all
        subscripts of a buffer hide dimensions, its elements are counted by these: (i, j) is A[i * M + j].
    must
        The elements that are certainly touched.
    unknown
        Why some elements of `may` may not be touched; empty if the region is exact.
    """

    buffer: Buffer
    kind: Kind
    ivs: tuple[Value, ...]
    params: tuple[Value, ...]
    may: Map
    must: Map
    unknown: tuple[str, ...] = ()
    hidden: int = 0
    """How many dimensions there are more than the buffer has."""

    @cached_property
    def box(self) -> Box:
        """The smallest box around the elements that may be touched of one array."""
        if isinstance(self.buffer.type, UnrankedMemRefType):
            return NO_BOX
        return box_of(self.may, self.params, self.ivs, self._name).without(self.buffer.loops)

    @property
    def sides(self) -> tuple[tuple[Bound | None, ...], tuple[Bound | None, ...]]:
        """`lower` and `upper` of the box, which are found sooner than all of it."""
        if isinstance(self.buffer.type, UnrankedMemRefType):
            return NO_BOX.lower, NO_BOX.upper
        lower, upper = sides_of(self.may, self.params, self.ivs, self._name)
        return lower[self.buffer.loops :], upper[self.buffer.loops :]

    @property
    def _name(self) -> str:
        what = {"read": "what is read of", "write": "what is written to", "access": "what is touched of"}[self.kind]
        return f"{what} {self.buffer.name}"

    def __str__(self) -> str:
        return f"{self.kind} {self.buffer.name} {named(self.may, [v.hint for v in self.ivs], (), self.params)}"


def extents(of: Accesses, root: Op) -> dict[Buffer, tuple[int | None, ...]]:
    """The size in each dimension of the box of each buffer's footprint in an operation; None is no constant limit."""
    found: dict[Buffer, tuple[int | None, ...]] = {}
    depth = len(of.domains[root].ivs)
    grouped: dict[Buffer, list[Access]] = {}
    for access in map(of.by_dimensions, of.inside(root)):
        if not isinstance(access.op, memref.Dealloc):
            grouped.setdefault(access.buffer, []).append(access)
    for buffer, group in grouped.items():
        grids = [access.relation.grid for access in group if access.is_exact]
        if depth or None in grids or len(grids) < len(group):
            found[buffer] = region_of(of, group, depth).box.extents
        else:  # of grids, isl need not be asked
            sides = zip(*(grid[buffer.loops :] for grid in grids if grid is not None), strict=True)
            found[buffer] = tuple([max(r[-1] for r in side) - min(r[0] for r in side) + 1 for side in sides])
    return found


def region_of(of: Accesses, accesses: Iterable[Access], depth: int) -> Region:
    """The region of some accesses, at least one, of one buffer.

    Raises ValueError where they are of several buffers, or have not the same `depth` loops around them.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''
    ... func.func @f(%A: memref<?xf32>, %n: index, %x: f32) {
    ...   affine.for %i = 0 to %n {
    ...     affine.for %j = 0 to 4 { affine.store %x, %A[%i * 8 + %j] : memref<?xf32> }
    ...   }
    ...   return
    ... }''')
    >>> of = Accesses(module.functions[0])
    >>> region = region_of(of, of.all, 1)
    >>> print(region)
    write A [n] -> { [i] -> [m0] : 0 <= i < n and 8i <= m0 <= 3 + 8i }
    >>> print(region.box, region.box.extents)
    [i * 8, i * 8 + 4) (4,)
    """
    group = tuple(map(of.by_dimensions, accesses))
    _check(group, depth)
    first = group[0]
    dimensions = of.dimensions(first.buffer)
    ivs = first.ivs[:depth]
    kinds: set[Kind] = {"read" if access.kind == "read" else "write" for access in group}
    unknown = dict.fromkeys(reason for access in group for reason in access.unknown)
    params = dict.fromkeys(value for access in group for value in access.relation.params)
    try:
        with spending(BUDGET):
            exact = [a for a in group if a.is_exact]
            may = must = _union(_projected(a, depth) for a in exact) if exact else None
            if len(exact) < len(group):
                whole, sizes = _whole(dimensions, first.buffer.loops)
                params |= dict.fromkeys(sizes)
                for access in group:
                    if not access.is_exact:
                        part = _projected(access, depth).intersect_range(whole)
                        may = part if may is None else may.union(part)
            assert may is not None
            may, must = merged(may), merged(may.subtract(may) if must is None else must)
    except UnknownError as error:
        reason = f"{error}, for the region of {described(first)}"
        warnings.warn(reason, AnalysisWarning, stacklevel=2)
        unknown[reason] = None
        whole, sizes = _whole(dimensions, first.buffer.loops)
        params |= dict.fromkeys(sizes)
        may = _anywhere(depth, first.buffer.loops + dimensions.rank).intersect_range(whole)
        must = may.subtract(may)
    kind = kinds.pop() if len(kinds) == 1 else "access"
    hidden = dimensions.rank - first.buffer.rank
    return Region(first.buffer, kind, ivs, tuple(params), may, must, tuple(unknown), hidden)


def _check(group: tuple[Access, ...], depth: int) -> None:
    first = group[0]
    for access in group:
        if access.buffer is not first.buffer:
            raise ValueError(f"a region is one of one buffer, not of {first.buffer.name} and {access.buffer.name}")
        if len(access.ivs) < depth:
            raise ValueError(f"{described(access)} has {len(access.ivs)} loops around, so there is no region at depth "
                             f"{depth}")  # fmt: skip
        if access.ivs[:depth] != first.ivs[:depth]:
            raise ValueError(f"{described(first)} and {described(access)} do not stand in the same loops down to "
                             f"depth {depth}")  # fmt: skip


def _projected(access: Access, depth: int) -> Map:
    """The relation of an access, in which the deeper loops take all their values."""
    relation = access.relation
    return remembered(
        ("projected", relation, depth),
        lambda: merged(map_from(relation).project_out(Dim.in_, depth, relation.dims - depth)),
    )


def _union(maps: Iterable[Map]) -> Map:
    """All of some maps, at least one, joined two by two: isl copies what it joins."""
    found = list(maps)
    while len(found) > 1:
        pairs = [a.union(b) for a, b in zip(found[::2], found[1::2], strict=False)]
        found = [*pairs, *found[len(pairs) * 2 :]]
    return found[0]


def _anywhere(depth: int, rank: int) -> Map:
    dims = tuple(map(local, range(rank)))
    return map_from(relation(depth, len(dims), (), (), tuple(map(Affine.of, dims))))


def _whole(dimensions: Dimensions, loops: int) -> tuple[Set, tuple[Value, ...]]:
    """All elements that a buffer has, as far as its sizes are known: nothing touches others and goes on."""
    dims = tuple(map(iterator, range(loops + dimensions.rank)))
    within: list[Constraint] = []
    for size, position in zip(dimensions.sizes, dims[loops:], strict=True):
        within.append(Constraint(Affine.of(position)))
        if size is not None and all(isinstance(atom, Value) for atom, _ in size.terms):
            within.append(Constraint(size - 1 - position))
    sizes = tuple(dict.fromkeys(v for c in within for v in c.values() if v not in dims))
    return set_of(within, dims, sizes), sizes
