"""What the copy of one buffer before and after some operations takes, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.traverse import substitute, walk, with_fields
from affdsl.ir.types import I32, INDEX, MemRefType
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.analysis.relations import map_from
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.data_copy.candidates import CopyCandidates, CopyInOut
from affdsl.passes.transforms.data_copy.nests import BoxTransfer, Copied, arranged_sizes, chunks
from affdsl.passes.transforms.data_copy.private import outermost
from affdsl.passes.transforms.data_copy.request import CopyOptions, CopyRequest


class CopyPlan(Frozen):
    """The copy of one buffer.

    Attributes
    ----------
    allocation, copy_in
        What stands before the operations.
    tags
        The tag for the way back, of a DMA.
    copy_out, end
        What stands behind them: `end` frees what `allocation` and `copy_in` made.
    redirected
        The accesses that become accesses to the fast buffer.
    elements
        How many elements the fast buffer has; None if that is known only at run time.
    once
        Before which operation `allocation` can stand: a loop around the copies where these are private.
    """

    allocation: Block
    copy_in: Block
    tags: Block
    copy_out: Block
    end: Block
    redirected: Mapping[Op, Op]
    elements: int | None
    once: Op


def planned(of: Accesses, roots: Sequence[Op], before: Op, buffer: Value, options: CopyOptions, what: str) -> CopyPlan:
    """The copy of what some operations of one block, or a loop around them, touch of a buffer.

    Parameters
    ----------
    roots
        The operations whose accesses go to the fast buffer.
    before
        The copies stand before this operation and behind the last one: the first of `roots`, or a loop around all.

    Raises
    ------
    IllegalTransform
        Where a copy would change what the program does, may touch what the program does not, or cannot be said.
    """
    try:
        request = CopyRequest(of, roots, before, buffer, options, what)
        return _Operations(request).plan(CopyCandidates(request).found())
    except UnknownError as error:
        raise refusal(before, what, f"what is touched of {name(buffer)} cannot be said: {error}") from error


class _Operations:
    """Builds the operations of a copy."""

    def __init__(self, request: CopyRequest) -> None:
        self.request, self.place, self.options = request, request.place, request.options
        self.value, self.before, self.refuse = request.value, request.before, request.refuse

    def plan(self, found: CopyInOut) -> CopyPlan:
        """All operations."""
        bring, back = found.bring, found.back
        at, old = self.before.location, self.value.type
        assert isinstance(old, MemRefType)
        sizes = arranged_sizes(found.extents, self.request.layout, self.options.panels)
        self.once = self._once(sizes)
        shape = tuple(size.constant if size.is_constant else None for size in sizes)
        hint = self.options.name or (f"{self.value.hint}_fast" if self.value.hint else "")
        fast = Value(MemRefType(shape, old.element, None, self.options.space), hint, self.value.location)
        computed: list[Op] = []
        operands = tuple(self._operand(size, computed) for size in sizes if not size.is_constant)
        copied = Copied(
            self.value, fast, self.place.dimensions, found.offsets, self.request.layout, self.options.panels, at
        )
        redirected = {a.op: self._redirected(a.op, copied) for a in self.request.redirected}
        allocation: Block = (*computed, memref.Alloc(fast, operands, location=at))
        end: Block = (memref.Dealloc(fast, location=at),)
        tags: Block = ()
        if self.options.dma:
            transfer = self._transfer(copied, [size.constant for size in sizes])
            tag_in, tag_out = (self._tag() for _ in range(2))
            copy_in = transfer.made(tag_in.result, copy_in=True) if bring else ()
            if bring is not None:
                allocation = (*allocation, tag_in)
                end = (memref.Dealloc(tag_in.result, location=at), *end)
            copy_out: Block = ()
            if back is not None:
                tags = (tag_out,)
                copy_out = (
                    *transfer.made(tag_out.result, copy_in=False), memref.Dealloc(tag_out.result, location=at)
                )  # fmt: skip
        else:
            copy_in = bring.make(copied, True) if bring is not None else ()
            copy_out = back.make(copied, False) if back is not None else ()
        parts = (*allocation, *copy_in, *copy_out, *redirected.values())
        dims, new = self.place.sizes({v for part in parts for op in walk(part) for v in op.reads()})
        return CopyPlan(
            (*dims, *_with_sizes(allocation, new)), _with_sizes(copy_in, new), tags, _with_sizes(copy_out, new), end,
            {old_op: substitute(op, new) for old_op, op in redirected.items()},
            prod(n for n in shape if n is not None) if None not in shape else None,
            self.once,
        )  # fmt: skip

    def _once(self, sizes: Sequence[Affine]) -> Op:
        """Before which operation a buffer of some sizes can be allocated."""
        if not self.options.private:
            return self.before
        arrays = {symbol: array for (array, _), symbol in self.place.accesses.scope.sizes.items()}
        needed = {arrays.get(v, v) for size in sizes for v in size.values()}
        return outermost(self.place.accesses.function, self.before, needed)

    def _operand(self, size: Affine, computed: list[Op]) -> Value:
        """A size as a value: what computes it is added."""
        sizes, domain = set(self.place.accesses.scope.sizes.values()), self.place.accesses.domains[self.once]
        known = tuple(Constraint(Affine.of(v)) for v in size.values() if v in sizes)
        negative = map_from(domain.where(((*known, Constraint(-1 - size)),)).relation(()))
        value = Value(INDEX, "size")
        if not negative.is_empty():
            computed.append(affine.Max(value, (Affine(), size), location=self.before.location))
            return value
        if size.value is not None:
            return size.value
        computed.append(affine.Apply(value, size, location=self.before.location))
        return value

    def _redirected(self, op: Op, copied: Copied) -> Op:
        assert isinstance(op, affine.Access)
        of = self.place.accesses
        index = copied.dimensions.digits(op.index, of.scope, of.domains[op])
        if index is None:
            raise self.refuse(f"the subscripts of {name(self.value)} may go on in the next row, so that row and column "
                              "are no affine expressions", at=op)  # fmt: skip
        for value in {v for e in index for v in e.values()} & set(of.scope.sizes.values()):
            if not self.place.can_read(Affine.of(value)):
                raise self.refuse(f"a size by which {name(self.value)} is divided into rows is not known there", at=op)
        return with_fields(op, memref=copied.fast, index=copied.place(index), written=None)

    def _tag(self) -> memref.Alloc:
        type = MemRefType((1,), I32, None, self.options.tag_space)
        hint = f"{self.value.hint}_tag" if self.value.hint else "tag"
        return memref.Alloc(Value(type, hint), location=self.before.location)

    def _transfer(self, copied: Copied, extents: Sequence[int]) -> BoxTransfer:
        type = copied.slow.type
        assert isinstance(type, MemRefType)
        if type.layout is not None:
            raise self.refuse(f"a DMA copies neighbours, but {name(self.value)} has the layout {type.layout}")
        parts = chunks(self.place.dimensions.shape, extents)
        if parts is None:
            raise self.refuse(
                f"how far the rows of {name(self.value)} lie apart is known only at run time", "dma=False"
            )
        if len(parts) > 2:
            raise self.refuse("a DMA has one stride, but the box needs several", "dma=False")
        if len(parts) == 1:
            return BoxTransfer(copied, prod(extents), None)
        if not isinstance(type.space, int) or type.space >= self.options.space:
            spaces = f"{name(self.value)} lies in the space {type.space}, the fast buffer in {self.options.space}"
            reason = f"the end of a DMA that has a stride is that in the memory space of the lower number, but {spaces}"
            raise self.refuse(reason, f"space={type.space + 1}" if isinstance(type.space, int) else "dma=False")
        (count, _), (_, distance) = parts
        return BoxTransfer(copied, prod(extents), (distance, count))


def _with_sizes(block: Block, new: Mapping[Value, Value]) -> Block:
    return tuple(substitute(op, new) for op in block)
