"""Where copies stand, and sets of elements as functions of the loops around that place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import INDEX
from affdsl.passes.analysis.access import Access, Accesses
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.polyhedral import Dim, Map, Set, merged, name_of
from affdsl.passes.analysis.region import region_of
from affdsl.passes.analysis.relations import at_depth, map_from, same_element
from affdsl.passes.analysis.storage import Buffer


class CopyPoint:
    """The point of a block before one operation, whose copies are functions of the loops around.

    Sets of elements are isl maps from the iterations of these loops to the indices of one array, by the dimensions that
    its subscripts hide, if they do. Where isl needs too long, the methods raise UnknownError.
    """

    def __init__(self, of: Accesses, before: Op, buffer: Buffer) -> None:
        self.accesses = of
        self.buffer = buffer
        self.dimensions = of.dimensions(buffer)
        self.domain: Domain = of.domains[before]
        self.ivs = self.domain.ivs
        self._asked: dict[Value, tuple[Value, int]] = {}
        body = of.function.body
        top = next(op for op in body if before is op or any(before is inner for inner in walk(op)))
        self._before = body[: body.index(top)]
        top_level = {v for op in self._before for v in op.defines()}
        counters = {v for v, op in zip(self.ivs, self.domain.loops, strict=True) if isinstance(op, _AFFINE_LOOPS)}
        self._usable = {*of.function.args, *top_level, *counters}

    @property
    def depth(self) -> int:
        """How many loops stand around."""
        return len(self.ivs)

    def can_read(self, expr: Affine) -> bool:
        """Whether affine maps here may read all values of an expression of an analysis.

        The sizes of buffers that are symbols only in analyses may be read, by `sizes`.
        """
        symbols = {symbol: key for key, symbol in self.accesses.scope.sizes.items()}
        for value in expr.values():
            if value in symbols and symbols[value][0] in self._usable:
                self._asked[value] = symbols[value]
            elif value not in self._usable:
                return False
        return True

    def sizes(self, used: Collection[Value]) -> tuple[Block, dict[Value, Value]]:
        """The memref.dim of those symbols for sizes that are used, and which values they give for them."""
        made: list[Op] = []
        new: dict[Value, Value] = {}
        for symbol, (buffer, axis) in self._asked.items():
            if symbol not in used:
                continue
            number = arith.Constant(Value(INDEX, f"c{axis}"), axis)
            new[symbol] = Value(INDEX, symbol.hint)
            made += [number, memref.Dim(new[symbol], buffer, number.result)]
        return tuple(made), new

    def size(self, axis: int) -> Affine | None:
        """How many elements the array has along a dimension, in the terms of analyses; None if that is not known."""
        return self.dimensions.sizes[axis]

    def nothing(self) -> Map:
        """No element, in any iteration."""
        found = self.all_of(())
        return found.subtract(found)

    def all_of(self, constraints: Iterable[Constraint], index: Sequence[Value] = ()) -> Map:
        """The elements at `index` for which constraints over it, loops and sizes hold; all indices without it."""
        names = tuple(index) or self.index()
        domain = Domain(
            self.ivs, self.domain.loops, self.domain.clauses, (*self.domain.locals, *names), self.domain.unknown
        )
        return map_from(domain.where((tuple(constraints),)).relation(tuple(map(Affine.of, names))))

    def index(self) -> tuple[Value, ...]:
        """Fresh values for the indices of an element."""
        return tuple(Value(INDEX, f"x{k}") for k in range(self.dimensions.rank))

    def inside(self) -> Map:
        """The elements that the array certainly has."""
        return self.possible() if self.is_sized else self.nothing()

    def possible(self) -> Map:
        """The elements that the array may have, as far as its sizes are known."""
        index = self.index()
        sizes = [self.size(axis) for axis in range(len(index))]
        lower = [Constraint(Affine.of(x)) for x in index]
        upper = [Constraint(size - 1 - x) for x, size in zip(index, sizes, strict=True) if size is not None]
        return self.all_of((*lower, *upper), index)

    def up_to(self, certain: Map) -> Map:
        """The elements that exist because some that are certainly touched have no lesser index, along each dimension.

        What is touched is inside of the array, whatever its sizes are.
        """
        index, last = self.index(), Value(INDEX, "last")
        found = self.all_of([Constraint(Affine.of(x)) for x in index], index)
        for axis, x in enumerate(index):
            line = certain.project_out(Dim.out, axis + 1, len(index) - axis - 1).project_out(Dim.out, 0, axis)
            below = self.all_of((Constraint(Affine.of(last) - x),), (last, *index))
            found = found.intersect(line.add_dims(Dim.out, len(index)).intersect(below).project_out(Dim.out, 0, 1))
        return found

    def touched(self, accesses: Sequence[Access]) -> tuple[Map, Map]:
        """The elements that some accesses of the array may touch, and those that they certainly do."""
        if not accesses:
            return self.nothing(), self.nothing()
        region = region_of(self.accesses, accesses, self.depth)
        return self.without_loops(region.may), self.without_loops(region.must)

    def exposed(self, reads: Sequence[Access], writes: Sequence[Access]) -> tuple[Map, Map]:
        """The elements that reads may take from before this place, and those that they certainly do.

        That is those that no write has certainly written before, in the same iteration of the loops around.
        """
        may, must = self.nothing(), self.nothing()
        for read in reads:
            relation = map_from(read.relation)
            if isinstance(read.op, affine.Load) and read.index is not None:
                for write in writes:
                    if write.is_exact and isinstance(write.op, affine.Store):
                        relation = relation.subtract_domain(self._after(write, read))
            found = self._projected(relation, read)
            if read.index is None:
                found = found.intersect(self.inside()) if self.is_sized else self.all_of(())
            may = may.union(found)
            # Of the lanes of a vector some may have been written before, and others not.
            if read.is_exact and (isinstance(read.op, affine.Load) or not writes):
                must = must.union(found)
        return merged(may), merged(must)

    @property
    def is_sized(self) -> bool:
        """Whether all sizes of the array can be said."""
        return None not in self.dimensions.sizes

    def initialised(self) -> Map:
        """The elements of an array made at the top of the function that were certainly written before this place."""
        if self.buffer.loops:
            return self.nothing()
        earlier = {inner for op in self._before for inner in walk(op)}
        writes = [
            a
            for a in self.accesses.all
            if a.buffer is self.buffer and a.kind == "write" and a.is_exact and a.op in earlier
            if not isinstance(
                a.op, memref.Dealloc | affine.DmaStart | affine.DmaWait | memref.DmaStart | memref.DmaWait
            )
        ]
        if not writes:
            return self.nothing()
        written = region_of(self.accesses, writes, 0).must.range()
        return Map.from_domain_and_range(self.all_of(()).domain(), written)

    def as_set(self, found: Map) -> Set:
        """Elements as a set with a parameter for each loop around, free of what always holds here."""
        always = self._with_params(self.all_of(())).params()
        return merged(self._with_params(found).range().gist_params(always))

    def without_loops(self, found: Map) -> Map:
        """Elements without the loops around the allocation, which always are in the iteration of this place."""
        return found.project_out(Dim.out, 0, self.buffer.loops) if self.buffer.loops else found

    def _with_params(self, found: Map) -> Map:
        """A map with parameters instead of the loops around."""
        count = found.dim(Dim.param)
        found = found.move_dims(Dim.param, count, Dim.in_, 0, self.depth)
        for k, iv in enumerate(self.ivs):
            found = found.set_dim_name(Dim.param, count + k, name_of(iv))
        return found

    def _projected(self, relation: Map, access: Access) -> Map:
        return self.without_loops(relation.project_out(Dim.in_, self.depth, len(access.ivs) - self.depth))

    def _after(self, write: Access, read: Access) -> Set:
        """The iterations of a read that come after one of a write to its element, in one iteration of the place."""
        common = 0
        while common < min(len(write.ivs), len(read.ivs)) and write.ivs[common] is read.ivs[common]:
            common += 1
        pairs = same_element(write.relation, read.relation)
        found = None
        for depth in range(self.depth + 1, common + 2):
            if depth == common + 1 and write.order > read.order:
                continue
            part = at_depth(pairs, depth, common).range()
            found = part if found is None else found.union(part)
        return found if found is not None else pairs.range().subtract(pairs.range())


_AFFINE_LOOPS = (affine.For, affine.Parallel)
