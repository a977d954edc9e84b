"""Which reads the value of a write is made of: through operations, loops and conditions, up to memory."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.errors import AffdslError
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.types import IndexType, MemRefType, VectorType
from affdsl.passes.analysis.access import Access, Accesses
from affdsl.passes.analysis.effects import effects


class UnfollowedError(AffdslError):
    """It cannot be said what a value is made of, or it is made of more than elements.

    `op` is the operation of which the reason says what it does, if it is one: "is computed from ...".
    """

    def __init__(self, reason: str, op: Op | None) -> None:
        super().__init__(reason)
        self.reason, self.op = reason, op


class Feed(FrozenValue):
    """A read whose value a write needs.

    Attributes
    ----------
    shared
        In how many of the loops around both, outermost first, it is read in the iteration of the write; in deeper ones
        it may be read in any iteration.
    """

    read: Access
    shared: int


class Feeding:
    """The reads that each write of one function needs, for what it stores, where, and whether.

    Where an element lies may decide where things are read and written, but a number that is computed from its place, or
    from the sizes of arrays, is not followed.
    """

    def __init__(self, accesses: Accesses) -> None:
        self._accesses = accesses
        self._scope = accesses.scope
        self._reads = {a.op: a for a in accesses.all if a.kind == "read"}
        self._around: dict[Op, tuple[Op, ...]] = {}
        self._binders: dict[Value, Op] = {}
        self._note(accesses.function.body, ())
        function = accesses.function
        self._sizes = {v for shape in function.shapes for size in shape or () for v in size.values()}

    def of(self, write: Access) -> tuple[Feed, ...]:
        """What a write needs. Raises UnfollowedError."""
        found: dict[Access, int] = {}
        loops = len(write.ivs)
        todo = list(self._needed(write, loops))
        seen: dict[tuple[Value, bool], int] = {}
        while todo:
            value, shared, is_place = todo.pop()
            if seen.get((value, is_place), loops + 1) <= shared:
                continue
            seen[value, is_place] = shared
            todo += self._behind(value, shared, is_place, write.op, found)
        if isinstance(write.op, memref.Copy | memref.AtomicRMW):
            found[self._reads[write.op]] = loops
        return tuple(Feed(read, self._common(write, read, shared)) for read, shared in found.items())

    def _needed(self, write: Access, loops: int) -> Iterator[tuple[Value, int, bool]]:
        match write.op:
            case affine.Store(value=value, index=index):
                yield value, loops, False
                yield from ((v, loops, True) for e in index for v in e.values())
            case memref.Store(value=value, indices=indices) | memref.AtomicRMW(value=value, indices=indices):
                yield value, loops, False
                yield from ((v, loops, True) for v in indices)
            case memref.Copy():
                pass
            case op:
                raise UnfollowedError("writes in a way that is not followed", op)
        for op in self._around[write.op]:
            yield from self._deciding(op, loops)

    def _deciding(self, op: Op, shared: int) -> Iterator[tuple[Value, int, bool]]:
        """The values that say whether and how often an operation runs its blocks."""
        outside = self._accesses.domains[op]
        match op:
            case scf.If() | scf.IndexSwitch():
                # Where the condition is plain, it is part of the domain: a matter of places.
                is_plain = all(inside.unknown == outside.unknown for inside, _ in self._scope.blocks(op, outside))
                yield from ((v, shared, is_plain) for v in op.reads())
            case scf.While(before=before):
                inner = min(shared, len(outside.ivs))
                yield from ((v, inner, False) for v in before[-1].reads())
            case affine.For() | scf.For() | affine.Parallel() | scf.Parallel():
                started = getattr(op, "inits", ())
                yield from ((v, shared, True) for v in op.reads() if v not in started)
            case _:
                yield from ((v, shared, True) for v in op.reads())

    def _behind(
        self, value: Value, shared: int, is_place: bool, of: Op, found: dict[Access, int]
    ) -> Iterator[tuple[Value, int, bool]]:
        """What a value is made of; reads are noted as found."""
        if isinstance(value.type, MemRefType):
            return
        maker = self._scope.makers.get(value)
        if maker is None:
            yield from self._bound(value, shared, is_place, of)
        elif isinstance(value.type, VectorType):
            raise UnfollowedError("is made of vectors, which are not followed from lane to lane", of)
        elif maker in self._reads:
            read = self._reads[maker]
            found[read] = min(found.get(read, shared), shared)
            yield from ((v, shared, True) for v in maker.reads())
        elif isinstance(maker, memref.Dim) and not is_place:
            raise UnfollowedError(_of_place("the size of an array"), of)
        elif any(True for _ in maker.blocks()):
            inner = min(shared, len(self._accesses.domains[maker].ivs))
            yield from self._deciding(maker, inner)
            yield from ((v, inner, is_place) for v in getattr(maker, "inits", ()))
            yield from ((v, inner, is_place) for block in maker.blocks() for v in _handed_on(block))
        elif effects(maker).unknown:
            raise UnfollowedError("does what is not followed", maker)
        else:
            yield from ((v, shared, is_place) for v in maker.reads())

    def _bound(self, value: Value, shared: int, is_place: bool, of: Op) -> Iterator[tuple[Value, int, bool]]:
        """What is behind an argument of the function or of a block."""
        binder = self._binders.get(value)
        if binder is None:
            if value in self._sizes and not is_place:
                raise UnfollowedError(_of_place(f"the size {value.hint}"), of)
            return
        inner = min(shared, len(self._accesses.domains[binder].ivs))
        if isinstance(binder, scf.While | affine.For | scf.For) and value in _carried(binder):
            yield from self._deciding(binder, inner)
            yield from ((v, inner, is_place) for v in binder.inits)
            yield from ((v, inner, is_place) for block in binder.blocks() for v in _handed_on(block))
        elif isinstance(value.type, IndexType):
            if not is_place:
                raise UnfollowedError(_of_place(f"the number {value.hint or 'of an iteration'}"), of)
        else:
            raise UnfollowedError("hands on values that are not followed", binder)

    def _common(self, write: Access, read: Access, shared: int) -> int:
        """How many of some loops are around the read, too."""
        same = zip(write.ivs[:shared], read.ivs, strict=False)
        return next((k for k, (a, b) in enumerate(same) if a is not b), min(shared, len(read.ivs)))

    def _note(self, block: Block, around: tuple[Op, ...]) -> None:
        for op in block:
            self._around[op] = around
            self._binders.update(dict.fromkeys(op.binds(), op))
            for inner in op.blocks():
                self._note(inner, (*around, op))


def _carried(op: scf.While | affine.For | scf.For) -> tuple[Value, ...]:
    return (*op.before_args, *op.after_args) if isinstance(op, scf.While) else op.carried


def _handed_on(block: Block) -> Iterator[Value]:
    """What the end of a block gives to the operation around it."""
    if block and block[-1].is_terminator:
        yield from block[-1].reads()


def _of_place(what: str) -> str:
    return f"is computed from {what}, which is another one in a part of the array"
