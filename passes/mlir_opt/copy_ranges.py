"""Which operations of a function get fast buffers of their own: as mlir-opt divides blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.memref import GetGlobal
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import IndexType, MemRefType
from affdsl.passes.analysis.access import Access, Accesses
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.analysis.region import region_of
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.data_copy import Placed
from affdsl.passes.transforms.data_copy.plan import planned
from affdsl.passes.transforms.data_copy.request import CopyOptions


class CopyPolicy(FrozenValue):
    """What decides where copies are made: see `affine_data_copy_generate`."""

    options: CopyOptions
    capacity: int
    """In bytes."""
    skip_non_unit_steps: bool = False
    slow_space: int = 0


def copies(of: Accesses, choice: CopyPolicy) -> Iterator[list[Placed]]:
    """The copies of a function, by range."""
    yield from _Ranges(of, choice).of_block(of.function.body, ())


def copies_in(
    loop: affine.For, of: Accesses, choice: CopyPolicy, memrefs: Sequence[Value] | None, *, around: bool
) -> Iterator[list[Placed]]:
    """The copies of some memrefs, or of all, that one loop works on: `around` it, or in each iteration."""
    ranges = _Ranges(of, choice, memrefs)
    if around:
        yield from ranges.of_range((loop,), ())
    else:
        yield from ranges.of_block(loop.body, (loop,))


class _Ranges:
    def __init__(self, of: Accesses, choice: CopyPolicy, only: Sequence[Value] | None = None) -> None:
        self.accesses, self.choice, self.only = of, choice, only
        self.by_op: dict[Op, list[Access]] = {}
        for access in of.all:
            if isinstance(access.op, affine.Access):
                self.by_op.setdefault(access.op, []).append(access)

    def of_block(self, block: Block, around: tuple[affine.For, ...]) -> Iterator[list[Placed]]:
        """Each loop is a range, and so is what stands between loops from the first access on."""
        end = len(block) - 1 if block and block[-1].is_terminator else len(block)
        begin = self._next(block, 0, end)
        at = begin
        while at < end:
            op = block[at]
            if not isinstance(op, affine.For):
                at += 1
                continue
            yield from self.of_range(block[begin:at], around)
            if self._is_too_large(op):
                yield from self.of_block(op.body, (*around, op))
            else:
                yield from self.of_range((op,), around)
            begin = at = self._next(block, at + 1, end)
        yield from self.of_range(block[begin:end], around)

    def _next(self, block: Block, start: int, end: int) -> int:
        found = (k for k in range(start, end) if isinstance(block[k], affine.Load | affine.Store | affine.For))
        return next(found, end)

    def _is_too_large(self, loop: affine.For) -> bool:
        """Whether copies are made inside of a loop instead of around it."""
        if self.choice.skip_non_unit_steps:
            return loop.step != 1
        if self.choice.capacity >= 2**64 - 1:
            return False
        footprint = self._footprint(loop)
        return footprint is not None and footprint > self.choice.capacity

    def _footprint(self, loop: affine.For) -> int | None:
        """How many bytes the boxes around all that a loop touches have; None where one has no constant size."""
        total = 0
        for accesses in self._by_memref((loop,)).values():
            region = region_of(self.accesses, accesses, len(self.accesses.domains[loop].ivs))
            type = region.buffer.type
            width = width_of(type.element)
            if not isinstance(type, MemRefType) or type.layout is not None or isinstance(type.element, IndexType):
                return None
            extents = [
                min((n for n in (extent, size) if n is not None), default=None)
                for extent, size in zip(region.box.extents, self.accesses.dimensions(region.buffer).shape, strict=True)
            ]
            known = [n for n in extents if n is not None]
            if width is None or len(known) < len(extents):
                return None
            total += prod(known) * width
        return total

    def _by_memref(self, roots: Sequence[Op]) -> dict[Value, list[Access]]:
        """The accesses by what they name; a global buffer has one name, however often it was asked for."""
        found: dict[Value, list[Access]] = {}
        names: dict[Buffer, Value] = {}
        for root in roots:
            for op in walk(root):
                if isinstance(op, affine.Access):
                    memref, buffer = op.memref, self.accesses.storage.buffer(op.memref)
                    if isinstance(self.accesses.scope.makers.get(memref), GetGlobal):
                        memref = names.setdefault(buffer, memref)
                    found.setdefault(memref, []).extend(self.by_op.get(op, ()))
        return {memref: accesses for memref, accesses in found.items() if accesses}

    def of_range(self, roots: Block, around: tuple[affine.For, ...]) -> Iterator[list[Placed]]:
        """The copies for some operations that stand next to each other."""
        found = (
            self._placed(memref, accesses, roots, around)
            for memref, accesses in self._by_memref(roots).items()
            if self._is_wanted(memref)
        )
        if made := [placed for placed in found if placed is not None]:
            yield made

    def _is_wanted(self, buffer: Value) -> bool:
        type = buffer.type
        if not isinstance(type, MemRefType) or type.layout is not None or not type.rank:
            return False
        if self.only is not None and buffer not in self.only:
            return False
        return not isinstance(type.space, int) or type.space in (0, self.choice.slow_space)

    def _placed(
        self, buffer: Value, accesses: Sequence[Access], roots: Block, around: tuple[affine.For, ...]
    ) -> Placed | None:
        """The copy of one buffer, before the outermost loop on which it does not depend; None where it is refused."""
        options = self.choice.options
        options = replace(options, name=options.name or (f"{buffer.hint}_fast" if buffer.hint else ""))
        order = _first(accesses, "read"), _first(accesses, "write")
        what = f"copy {name(buffer)}"
        for loop in self._invariant(accesses, len(around), around):
            try:
                return Placed(loop, loop, planned(self.accesses, roots, loop, buffer, options, what), *order)
            except IllegalTransform:
                pass
        try:
            return Placed(roots[0], roots[-1], planned(self.accesses, roots, roots[0], buffer, options, what), *order)
        except IllegalTransform:
            return None

    def _invariant(
        self, accesses: Sequence[Access], depth: int, around: tuple[affine.For, ...]
    ) -> tuple[affine.For, ...]:
        """The loops around of which a box does not depend on the inner ones, outermost first."""
        if not around:
            return ()
        box = region_of(self.accesses, accesses, depth).box
        bounds = [b for b in (*box.lower, *box.upper) if b is not None]
        read = {v for bound in bounds for expr in bound.exprs for v in expr.values()}
        found: list[affine.For] = []
        for loop in reversed(around):
            if loop.iv in read:
                break
            found.append(loop)
        return tuple(reversed(found))


def _first(accesses: Sequence[Access], kind: str) -> int | None:
    return min((a.order for a in accesses if a.kind == kind), default=None)
