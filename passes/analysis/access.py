"""What each operation of a function reads and writes: from the iterations in which it runs to elements of buffers.

A call touches what the function that it calls touches, with the arguments in place: the loops of that function are
existentially quantified.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from operator import attrgetter
from types import MappingProxyType

from affdsl.frozen import Frozen, replace
from affdsl.ir.core import UNTOUCHED, Block, Op
from affdsl.ir.debugging import printed
from affdsl.ir.dialects import affine, func, memref, vector
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import subscripts, walk
from affdsl.ir.types import MemRefType, Type, VectorType
from affdsl.passes.analysis.callee import MOST_TOUCHES, Callee, Touch
from affdsl.passes.analysis.dimensions import Dimensions, dimensions_of
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.effects import effects
from affdsl.passes.analysis.linearized import Chain, Recovered, is_affine, recovered
from affdsl.passes.analysis.polyhedral import Map
from affdsl.passes.analysis.relations import Relation, map_from, named
from affdsl.passes.analysis.scope import Scope
from affdsl.passes.analysis.storage import Buffer, Storage, is_injective
from affdsl.passes.analysis.summary import Summaries, is_buffer
from affdsl.passes.analysis.views import Index, digits, linear


class Access(Frozen):
    """One operation that reads, or writes, elements of one buffer.

    Attributes
    ----------
    op
        The operation. It has an access of its own for each buffer, and for reading and writing.
    kind
        "read" or "write".
    buffer
        Whose elements.
    domain
        The iterations in which it runs; with `index`, what is known of the values there.
    index
        The elements, over the induction variables, symbols and locals of the domain; before them the induction
        variables of the loops around the allocation. None is any element.
    order
        Operations that come first in the text have the lower number; an operation reads before it writes.
    is_own
        Of a buffer that is made in loops: whether it is the array of the same iterations, and not any of them.
    """

    op: Op
    kind: str
    buffer: Buffer
    domain: Domain
    index: Index | None
    order: int
    is_own: bool = True
    recovered: Recovered | None = None
    """The same by the dimensions that its subscripts hide, where they do: what `met` compares."""

    @property
    def ivs(self) -> tuple[Value, ...]:
        """The induction variables around, outermost first."""
        return self.domain.ivs

    @property
    def location(self) -> Location | None:
        """Where the operation was written."""
        return self.op.location

    @property
    def is_exact(self) -> bool:
        """Whether it certainly touches each element of its relation, and runs in each iteration of its domain."""
        return self.index is not None and self.domain.is_exact

    @property
    def unknown(self) -> tuple[str, ...]:
        """Why it may touch less than its relation says; empty if it is exact."""
        lost = () if self.index is not None else (f"which elements of {self.buffer.name} it touches is not known",)
        return (*self.domain.unknown, *lost)

    @cached_property
    def by_dimensions(self) -> Access:
        """This access by the dimensions that its subscripts hide."""
        assert self.recovered is not None
        return replace(self, domain=self.recovered.domain, index=self.recovered.index)

    def element(self, point: Sequence[int], numbers: Mapping[Value, int]) -> tuple[int, ...]:
        """The subscripts of an element of its relation, where symbols are these numbers; that of an access that `met`
        gives is known by the dimensions that subscripts hide."""
        point = point[self.buffer.loops :]
        if self.recovered is None or self.index is not self.recovered.index:
            return tuple(point)
        left, found = iter(point), []
        for chain in self.recovered.chains:
            number = next(left)
            for size in reversed(chain):
                number = number * size.evaluate(numbers) + next(left)
            found.append(number)
        return tuple(found)

    @cached_property
    def relation(self) -> Relation:
        """From iterations to elements, by position."""
        if self.index is not None:
            return self.domain.relation(self.index)
        domain = self.domain
        index = [Affine.of(iv) for iv in domain.ivs[: self.buffer.loops]] if self.is_own else []
        for _ in range(self.buffer.loops + self.buffer.rank - len(index)):
            anywhere, domain = domain.some("anywhere")
            index.append(Affine.of(anywhere))
        return domain.relation(index)

    def map(self) -> Map:
        """The relation as an isl map, whose dimensions have the names of the loops.

        Raises UnknownError where isl needs too long.
        """
        return named(map_from(self.relation), [iv.hint for iv in self.ivs], (), self.relation.params)

    def __str__(self) -> str:
        return str(self.map())


def met(source: Access, sink: Access) -> tuple[Access, Access]:
    """Two accesses as they are to be compared: by dimensions that their subscripts hide, where that says more.

    Where their relations are asked whether they touch a common element, it is of these.
    """
    one, other = source.recovered, sink.recovered
    if one is None or other is None or source.buffer is not sink.buffer or not (one.is_needed or other.is_needed):
        return source, sink
    assert one.chains == other.chains, "all accesses to one buffer are recovered with the same sizes"
    return source.by_dimensions, sink.by_dimensions


def on_one_grid(some: Sequence[Access]) -> tuple[Access, ...]:
    """Some accesses to one buffer as they are to be compared with each other: as `met` has each pair of them."""
    if all(a.recovered is not None for a in some) and any(a.recovered and a.recovered.is_needed for a in some):
        return tuple([a.by_dimensions for a in some])
    return tuple(some)


def accesses(function: func.Func, module: func.Module | None = None) -> tuple[Access, ...]:
    """Every access of a function, in the order of the text.

    `module` is what the function stands in: it shows what calls do, and which arguments are one buffer.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''
    ... func.func @f(%A: memref<?xf32>, %n: index) {
    ...   affine.for %i = 0 to %n step 2 { %a = affine.load %A[%i + 1] : memref<?xf32> }
    ...   return
    ... }''')
    >>> for access in accesses(module.functions[0]):
    ...     print(access.kind, access.buffer.name, access)
    read A [n] -> { [i] -> [m0 = 1 + i] : (i) mod 2 = 0 and 0 <= i < n }
    """
    return Accesses(function, module).all


@lru_cache(maxsize=16)
def accesses_of(function: func.Func, module: func.Module | None) -> Accesses:
    """The accesses of a function, as they were found for whoever asked before: one step asks many things of it."""
    return Accesses(function, module)


class Accesses:
    """The accesses of one function, with its values and buffers.

    With `start` it runs there: in loops of another function that calls it, or with numbers for its arguments. `hidden`
    are sizes by which subscripts of a memref are divided, rather than by others, where that is right.
    """

    def __init__(
        self,
        function: func.Func,
        module: func.Module | None = None,
        callees: dict[str, Callee | None] | None = None,
        start: Domain | None = None,
        hidden: Mapping[Value, tuple[Chain, ...]] = MappingProxyType({}),
    ) -> None:
        self.function = function
        self.module = module
        self._callees: dict[str, Callee | None] = {} if callees is None else callees
        """What the functions do that are called, as far as somebody asked."""
        self.scope = Scope(function)
        if start is not None:
            self.scope.start = start
        self._summaries = Summaries(module)
        self.storage = Storage(function, self.scope, self._summaries, module)
        self.domains: dict[Op, Domain] = {}
        self.order: dict[Op, int] = {}
        self._linearized: dict[Access, tuple[Index, Domain]] = {}
        found: tuple[Access, ...] = tuple(self._in_block(function.body, self.scope.start, []))
        if self._linearized:
            shown = recovered(found, self._linearized, self.scope, hidden)
            found = tuple([replace(a, recovered=shown[a]) if a in shown else a for a in found])
        self.all: tuple[Access, ...] = found
        """Each of them, in the order of the text."""

        self._dimensions: dict[Buffer, Dimensions] = {}
        self._by_dimensions: dict[Access, Access] = {}

    def dimensions(self, buffer: Buffer) -> Dimensions:
        """How the elements of a buffer are counted here: by the dimensions that its subscripts hide, where all do."""
        if buffer not in self._dimensions:
            self._dimensions[buffer] = dimensions_of(buffer, self.all, self.scope)
        return self._dimensions[buffer]

    def by_dimensions(self, access: Access) -> Access:
        """An access as those to its buffer are counted."""
        if access in self._by_dimensions:
            return self._by_dimensions[access]
        dimensions = self.dimensions(access.buffer)
        if not dimensions.are_hidden or (access.recovered is not None and access.index is access.recovered.index):
            return access
        found = access.by_dimensions if access.recovered is not None else self._every(access, dimensions)
        self._by_dimensions[access] = self._by_dimensions[found] = found
        return found

    def _every(self, access: Access, dimensions: Dimensions) -> Access:
        """An access to a whole buffer."""
        index, domain = self._positions(dimensions.sizes, self.domains[access.op])
        return replace(access, domain=domain, index=(*map(Affine.of, domain.ivs[: access.buffer.loops]), *index))

    @cached_property
    def _by_op(self) -> dict[Op, list[Access]]:
        found: dict[Op, list[Access]] = {}
        for access in self.all:
            found.setdefault(access.op, []).append(access)
        return found

    def inside(self, root: Op) -> tuple[Access, ...]:
        """The accesses of an operation and of what its blocks hold, in the order of the text."""
        return tuple([access for op in walk(root) for access in self._by_op.get(op, ())])

    def _in_block(self, block: Block, domain: Domain, found: list[Access]) -> list[Access]:
        """What was found, and behind that the accesses of a block."""
        for op in block:
            self.domains[op] = domain
            self.order[op] = len(self.order)
            found += sorted(self._of(op, domain), key=_kind)  # "read" < "write"
            if op.block_fields:
                for inside, inner in self.scope.blocks(op, domain):
                    self._in_block(inner, inside, found)
        return found

    def _of(self, op: Op, domain: Domain) -> Iterator[Access]:
        """What an operation itself does, without its blocks."""
        if op.memory is UNTOUCHED:  # as it is of most
            return
        match op:
            case affine.Load() | memref.Load():
                yield self._element(op, "read", op.memref, subscripts(op), domain)
            case affine.Store() | memref.Store():
                yield self._element(op, "write", op.memref, subscripts(op), domain)
            case memref.AtomicRMW():
                yield self._element(op, "read", op.memref, subscripts(op), domain)
                yield self._element(op, "write", op.memref, subscripts(op), domain)
            case affine.VectorLoad() | vector.Load():
                yield self._lanes(op, "read", op.memref, subscripts(op), op.result.type, domain)
            case affine.VectorStore() | vector.Store():
                yield self._lanes(op, "write", op.memref, subscripts(op), op.value.type, domain)
            case vector.MaskedLoad() | vector.ExpandLoad():
                masked = domain.lacking("which lanes its mask leaves out is not known")
                yield self._lanes(op, "read", op.memref, subscripts(op), op.result.type, masked)
            case vector.MaskedStore() | vector.CompressStore():
                masked = domain.lacking("which lanes its mask leaves out is not known")
                yield self._lanes(op, "write", op.memref, subscripts(op), op.value.type, masked)
            case vector.TransferRead():
                yield self._transfer(op, "read", op.result.type, domain)
            case vector.TransferWrite():
                yield self._transfer(op, "write", op.value.type, domain)
            case memref.Copy():
                yield self._whole(op, "read", op.source, domain)
                yield self._whole(op, "write", op.target, domain)
            case memref.Dealloc():
                yield self._whole(op, "write", op.memref, domain)
            case affine.DmaStart():
                yield from self._dma(op, op.source_index, op.target_index, op.tag_index, domain)
            case memref.DmaStart():
                source, target, tag = map(_exprs, (op.source_indices, op.target_indices, op.tag_indices))
                yield from self._dma(op, source, target, tag, domain)
            case affine.DmaWait() | memref.DmaWait():
                yield from self._wait(op, domain)
            case affine.Prefetch() | memref.Prefetch():
                return
            case func.Call():
                yield from self._call(op, domain)
            case _:
                yield from self._by_effects(op, domain)

    def _element(self, op: Op, kind: str, value: Value, index: Sequence[Affine], domain: Domain) -> Access:
        exprs, domain = written = self.scope.polynomials(index, domain)
        is_linearized = not all(map(is_affine, exprs))
        if is_linearized:
            exprs, domain = self.scope.exprs(exprs, domain)
        buffer, found, domain = self.storage.element(value, exprs, domain)
        access = Access(op, kind, buffer, domain, found, self.order[op])
        if is_linearized and self._is_same(value, buffer):
            self._linearized[access] = written
        return access

    def _is_same(self, value: Value, buffer: Buffer) -> bool:
        """Whether a memref has the elements of its buffer under the same subscripts."""
        while isinstance(maker := self.scope.makers.get(value), memref.Cast):
            value = maker.source
        return value is buffer.root and isinstance(buffer.type, MemRefType) and is_injective(buffer.type)

    def _lanes(self, op: Op, kind: str, value: Value, index: Sequence[Affine], type: Type, domain: Domain) -> Access:
        """As many elements along the last dimensions as a vector has."""
        assert isinstance(type, VectorType)
        if isinstance(value.type, MemRefType) and isinstance(value.type.element, VectorType):
            return self._element(op, kind, value, index, domain)
        if any(type.scalable):
            return self._anywhere(op, kind, self.storage.buffer(value), domain)
        exprs, domain = self.scope.polynomials(index, domain)
        moved = list(exprs)
        for axis, size in zip(range(len(exprs) - type.rank, len(exprs)), type.shape, strict=True):
            lane, domain = _below(size, domain)
            moved[axis] += lane
        return self._element(op, kind, value, moved, domain)

    def _transfer(
        self, op: vector.TransferRead | vector.TransferWrite, kind: str, type: Type, domain: Domain
    ) -> Access:
        """The lanes of a transfer that lie inside of the buffer."""
        assert isinstance(type, VectorType)
        source = op.memref.type
        if not isinstance(source, MemRefType) or isinstance(source.element, VectorType) or any(type.scalable):
            return self._anywhere(op, kind, self.storage.buffer(op.memref), domain)
        if op.mask:
            domain = domain.lacking("which lanes its mask leaves out is not known")
        exprs, domain = self.scope.exprs(subscripts(op), domain)
        moved = list(exprs)
        axes = [next(iter(e.values()), None) for e in op.map.results]
        names = op.map.apply(range(op.map.dims)) if not op.map.symbols else ()
        for lane_of, size, name, is_inside in zip(axes, type.shape, names, op.in_bounds, strict=True):
            if lane_of is None:
                continue
            axis = name.constant
            lane, domain = _below(size, domain)
            moved[axis] += lane
            if not is_inside:
                extent = self.scope.size_of(op.memref, axis)
                within = [Constraint(moved[axis])]
                if extent is None:
                    domain = domain.lacking("the size of the buffer varies")
                else:
                    extent, domain = self.scope.expr(extent, domain)
                    within.append(Constraint(extent - 1 - moved[axis]))
                domain = domain.where((tuple(within),))
        return self._element(op, kind, op.memref, moved, domain)

    def _whole(self, op: Op, kind: str, value: Value, domain: Domain) -> Access:
        """Every element of a memref."""
        type = value.type
        if not isinstance(type, MemRefType):
            return self._anywhere(op, kind, self.storage.buffer(value), domain)
        index, domain = self._positions([self.scope.size_of(value, axis) for axis in range(type.rank)], domain)
        return self._element(op, kind, value, index, domain)

    def _positions(self, sizes: Sequence[Affine | None], domain: Domain) -> tuple[Index, Domain]:
        """All positions in an array of these sizes."""
        index = []
        for axis, size in enumerate(sizes):
            position, domain = domain.some(f"d{axis}")
            within = [Constraint(Affine.of(position))]
            if size is None:
                domain = domain.lacking("the size of the buffer varies")
            else:
                size, domain = self.scope.expr(size, domain)
                within.append(Constraint(size - 1 - position))
            domain = domain.where((tuple(within),))
            index.append(Affine.of(position))
        return tuple(index), domain

    def _anywhere(self, op: Op, kind: str, buffer: Buffer, domain: Domain, *, is_own: bool = True) -> Access:
        """Any element of a buffer, or none."""
        return Access(op, kind, buffer, domain, None, self.order[op], is_own)

    def _dma(
        self,
        op: affine.DmaStart | memref.DmaStart,
        source_index: Sequence[Affine],
        target_index: Sequence[Affine],
        tag_index: Sequence[Affine],
        domain: Domain,
    ) -> Iterator[Access]:
        """A copy: when it happens is not known before its wait, which is said to touch the same buffers."""
        yield self._run(op, "read", op.source, source_index, domain)
        yield self._run(op, "write", op.target, target_index, domain)
        yield self._element(op, "write", op.tag, tag_index, domain)

    def _run(
        self, op: affine.DmaStart | memref.DmaStart, kind: str, value: Value, index: Sequence[Affine], domain: Domain
    ) -> Access:
        """As many elements in row-major order as a copy has."""
        count, _ = self.scope.value(op.elements, domain)
        type = value.type
        if op.stride or not count.is_constant or not isinstance(type, MemRefType) or type.layout is not None:
            return self._anywhere(op, kind, self.storage.buffer(value), domain)
        exprs, domain = self.scope.exprs(index, domain)
        start = linear(exprs, type.shape)
        if start is None:
            return self._anywhere(op, kind, self.storage.buffer(value), domain)
        lane, domain = _below(count.constant, domain)
        found = digits(start + lane, type.shape)
        if found is None:
            return self._anywhere(op, kind, self.storage.buffer(value), domain)
        return self._element(op, kind, value, found, domain)

    def _wait(self, op: affine.DmaWait | memref.DmaWait, domain: Domain) -> Iterator[Access]:
        """The end of every copy that may have the tag."""
        index = op.tag_index if isinstance(op, affine.DmaWait) else _exprs(op.tag_indices)
        yield self._element(op, "read", op.tag, index, domain)
        yield self._element(op, "write", op.tag, index, domain)
        tag = self.storage.buffer(op.tag)
        touched: dict[tuple[str, Buffer], None] = {}
        for start in self.scope.starts:
            if self.storage.may_alias(tag, self.storage.buffer(start.tag)):
                touched["read", self.storage.buffer(start.source)] = None
                touched["write", self.storage.buffer(start.target)] = None
        for kind, buffer in touched:
            # A tag that each iteration makes is that of copies of this iteration alone.
            yield self._anywhere(op, kind, buffer, domain, is_own=tag.kind == "local" and tag.loops >= buffer.loops)

    def _call(self, op: func.Call, domain: Domain) -> Iterator[Access]:
        callee = self._callee(op.callee)
        if callee is None:
            yield from self._call_of_anything(op, domain)
            return
        for touch in callee.touches:
            value = op.args[touch.of] if isinstance(touch.of, int) else None
            buffer = self.storage.buffer(value) if value is not None else self.storage.named(str(touch.of))
            found: Index | None = None
            if touch.index is not None:
                found, inside = callee.placed(touch, op, self.scope, domain)
                if value is not None:
                    _, found, inside = self.storage.element(value, found, inside)
            if found is None:
                yield self._anywhere(op, touch.kind, buffer, domain)
            else:
                yield Access(op, touch.kind, buffer, inside, found, self.order[op])

    def _callee(self, symbol: str) -> Callee | None:
        """What a function does that is called; None where that is not known, or is too much."""
        if symbol not in self._callees:
            function = next((f for f in self.module.functions if f.symbol == symbol), None) if self.module else None
            known = function is not None and not self._summaries.of(symbol).anything
            self._callees[symbol] = self._found_in(function) if function is not None and known else None
        return self._callees[symbol]

    def _found_in(self, function: func.Func) -> Callee | None:
        accesses = Accesses(function, self.module, self._callees)
        found: dict[object, Touch] = {}
        for access in accesses.all:
            buffer = access.buffer
            if buffer.kind == "local":
                continue
            place = buffer.name if buffer.kind == "global" else function.args.index(buffer.root)
            what = None if access.index is None else access.relation
            touch = Touch(access.kind, place, access.domain, access.index)
            found.setdefault((access.kind, buffer, what, access.unknown), touch)
        return Callee(function, accesses.scope, tuple(found.values())) if len(found) <= MOST_TOUCHES else None

    def _call_of_anything(self, op: func.Call, domain: Domain) -> Iterator[Access]:
        """A call of which it is not known what it touches: whatever it can reach."""
        summary = self._summaries.of(op.callee)
        for buffer in self.storage.buffers:
            passed = [k for k, v in enumerate(op.args) if is_buffer(v) and self.storage.buffer(v) is buffer]
            for kind in ("read", "write"):
                if summary.touches(kind, passed, buffer.name, escapes=buffer.escapes):
                    yield self._anywhere(op, kind, buffer, domain, is_own=bool(passed))

    def _by_effects(self, op: Op, domain: Domain) -> Iterator[Access]:
        found = effects(op)
        for value in found.reads:
            yield self._anywhere(op, "read", self.storage.buffer(value), domain)
        for value in (*found.writes, *found.frees):
            yield self._anywhere(op, "write", self.storage.buffer(value), domain)
        if found.unknown and not op.is_terminator and printed(op) is None:
            for buffer in self.storage.buffers:
                if buffer.escapes:
                    yield self._anywhere(op, "read", buffer, domain, is_own=False)
                    yield self._anywhere(op, "write", buffer, domain, is_own=False)


_kind = attrgetter("kind")


def _exprs(values: Sequence[Value]) -> tuple[Affine, ...]:
    return tuple(map(Affine.of, values))


def _below(size: int, domain: Domain) -> tuple[Affine, Domain]:
    """A local from 0 to size - 1."""
    if size == 1:
        return Affine(), domain
    lane, domain = domain.some("lane")
    return Affine.of(lane), domain.where(((Constraint(Affine.of(lane)), Constraint(size - 1 - lane)),))
