"""The operations of a copy between an array and its fast buffer: loops over elements, or a DMA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from types import MappingProxyType

from affdsl.frozen import Frozen, FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import map_blocks
from affdsl.ir.types import INDEX, ElementType, MemRefType
from affdsl.passes.analysis.dimensions import Dimensions
from affdsl.passes.analysis.polyhedral import Set, UnknownError, merged
from affdsl.passes.transforms.loops.nests import counted
from affdsl.passes.transforms.loops.scanning import scan

MOST_NESTS = 8
"""A set that takes more loop nests than this is not copied."""


class Copied(Frozen):
    """An array and its fast buffer.

    Attributes
    ----------
    dimensions
        How the elements of the array are counted.
    offsets
        For each dimension of it the index of the element that lies first in the fast buffer.
    layout, panels
        In which order the dimensions of the array are those of the fast buffer; those in `panels` are cut into pieces
        of so many elements, whose insides are the last dimensions.
    """

    slow: Value
    fast: Value
    dimensions: Dimensions
    offsets: tuple[Affine, ...]
    layout: tuple[int, ...]
    panels: Mapping[int, int] = field(default_factory=dict)
    location: Location | None = None

    def place(self, index: Sequence[Affine], panels: Mapping[int, Value] = MappingProxyType({})) -> tuple[Affine, ...]:
        """Where an element of the array lies in the fast buffer; `panels` are where those start that it lies in."""
        found = arranged([i - offset for i, offset in zip(index, self.offsets, strict=True)], self.layout, self.panels)
        starts = {k: (panel - self.offsets[k]) // self.panels[k] for k, panel in panels.items()}
        outer = tuple(starts.get(k, place) for k, place in zip(self.layout, found, strict=False))
        rests = zip(sorted(self.panels), found[len(outer) :], strict=True)
        return (*outer, *(index[k] - panels[k] if k in panels else place for k, place in rests))

    def element(
        self, index: Sequence[Affine], *, copy_in: bool, panels: Mapping[int, Value] = MappingProxyType({})
    ) -> Block:
        """The copy of one element."""
        value = Value(_element_type(self.slow))
        slow, fast = (self.slow, self.dimensions.written(index)), (self.fast, self.place(index, panels))
        source, target = (slow, fast) if copy_in else (fast, slow)
        load = affine.Load(value, *source, location=self.location)
        return load, affine.Store(value, *target, location=self.location)


def arranged(index: Sequence[Affine], layout: Sequence[int], panels: Mapping[int, int]) -> tuple[Affine, ...]:
    """The position of an element in panels: (i, j) in panels {0: 8} of layout (0, 1) is (i // 8, j, i % 8)."""
    outer = tuple(index[k] // panels[k] if k in panels else index[k] for k in layout)
    return (*outer, *(index[k] % width for k, width in sorted(panels.items())))


def arranged_sizes(sizes: Sequence[Affine], layout: Sequence[int], panels: Mapping[int, int]) -> tuple[Affine, ...]:
    """The sizes of a buffer whose elements are `arranged`."""
    outer = tuple(sizes[k].ceildiv(panels[k]) if k in panels else sizes[k] for k in layout)
    return (*outer, *(Affine.of(width) for _, width in sorted(panels.items())))


class Sides(FrozenValue):
    """A box: in each dimension the indices from the largest of `lower` on, below the smallest of `upper`."""

    lower: tuple[tuple[Affine, ...], ...]
    upper: tuple[tuple[Affine, ...], ...]


def over_box(copied: Copied, sides: Sides, *, copy_in: bool) -> Block:
    """Loops that copy the elements of a box, panel by panel, whole panels by loops of constant length.

    A dimension of one index needs no loop.
    """
    ivs = [Value(INDEX, f"{copied.slow.hint or 'x'}{k}") for k in range(len(sides.lower))]
    panels = {
        k: Value(INDEX, f"{ivs[k].hint}_panel")
        for k, width in copied.panels.items()
        if width > 1 and sides.lower[k] == (copied.offsets[k],)
    }
    body = _in_panels(copied, sides, ivs, panels, copy_in=copy_in)
    for k in reversed(range(len(ivs))):
        iv, step = (panels[k], copied.panels[k]) if k in panels else (ivs[k], 1)
        body = (affine.For(iv, sides.lower[k], sides.upper[k], body, step, location=copied.location),)
    return promoted(body)


def _in_panels(
    copied: Copied, sides: Sides, ivs: Sequence[Value], panels: Mapping[int, Value], *, copy_in: bool
) -> Block:
    """Loops over the elements of a panel in each dimension that has them: of a whole one, and of what is there."""

    def filled(ivs: Sequence[Value], left: Sequence[int]) -> Block:
        if not left:
            return copied.element(list(map(Affine.of, ivs)), copy_in=copy_in, panels=panels)
        k, *others = left
        start, end = Affine.of(panels[k]), panels[k] + copied.panels[k]
        within = tuple([upper for upper in sides.upper[k] if not _is_whole(upper, sides.lower[k], copied.panels[k])])

        def loop(iv: Value, ends: tuple[Affine, ...]) -> affine.For:
            each = [iv if n == k else other for n, other in enumerate(ivs)]
            return affine.For(iv, (start,), ends, filled(each, others), location=copied.location)

        whole = loop(Value(INDEX, ivs[k].hint), (end,))
        if not within:
            return (whole,)
        fits = tuple([Constraint(upper - end) for upper in within])
        return (affine.If(fits, (whole,), (loop(ivs[k], (end, *within)),), location=copied.location),)

    return filled(ivs, sorted(panels))


def _is_whole(upper: Affine, lower: tuple[Affine, ...], width: int) -> bool:
    """Whether a side of a box is a multiple of so many indices long."""
    extent = upper - lower[0]
    return extent.is_constant and extent.constant % width == 0


def over_set(copied: Copied, points: Set, params: Sequence[Value], *, copy_in: bool) -> Block:
    """Loops that copy the elements of a set, as `CopyPoint.as_set` gives it.

    Raises
    ------
    UnknownError
        Where that takes too many nests, or a bound that affine.for does not have.
    """
    made: list[Op] = []
    pieces = merged(points.make_disjoint()).get_basic_sets()
    if len(pieces) > MOST_NESTS:
        raise UnknownError(f"copying what is touched takes {len(pieces)} loop nests")
    for piece in pieces:
        loops = [
            affine.For(Value(INDEX, f"{copied.slow.hint or 'x'}{k}"), (), (), (), location=copied.location)
            for k in range(len(copied.offsets))
        ]
        body = copied.element([Affine.of(loop.iv) for loop in loops], copy_in=copy_in)
        made += promoted(scan(piece.to_set(), loops, params, body))
    return tuple(made)


def promoted(block: Block) -> Block:
    """A block where loops that run exactly once are left out."""
    made: list[Op] = []
    for op in block:
        inner = map_blocks(op, promoted)
        if isinstance(inner, affine.For) and _runs_once(inner):
            made += counted(inner.body, inner.iv, inner.lower[0])
        else:
            made.append(inner)
    return tuple(made)


class BoxTransfer(Frozen):
    """A DMA between a whole fast buffer and a box of the array.

    `stride` is how far the chunks in the array lie apart, and how many elements each has; None if they are one.
    """

    copied: Copied
    elements: int
    stride: tuple[int, int] | None

    def made(self, tag: Value, *, copy_in: bool) -> Block:
        """What starts the DMA and waits for it."""
        place = self.copied.location
        numbers = (self.elements, *(self.stride or ()))
        constants = [arith.Constant(Value(INDEX, f"c{number}"), number, location=place) for number in numbers]
        elements, *stride = (constant.result for constant in constants)
        slow = self.copied.slow, self.copied.dimensions.written(self.copied.offsets)
        fast = self.copied.fast, (Affine(),) * len(self.copied.offsets)
        source, target = (slow, fast) if copy_in else (fast, slow)
        start = affine.DmaStart(*source, *target, tag, (Affine(),), elements, tuple(stride), location=place)
        return (*constants, start, affine.DmaWait(tag, (Affine(),), elements, location=place))


def chunks(sizes: Sequence[int | None], extents: Sequence[int]) -> list[tuple[int, int]] | None:
    """How a box of an array lies in memory: (elements, distance of elements), of these again, and so on.

    None where a size that counts is not known.

    >>> chunks((64, 64), (16, 16)), chunks((64, 64), (1, 16)), chunks((64, 64), (2, 64))
    ([(16, 1), (16, 64)], [(16, 1)], [(128, 1)])
    >>> chunks((9, 8), (3, 1)), chunks((9, 1, 16), (2, 1, 4)), chunks((9, 8, 16), (2, 2, 4))
    ([(1, 1), (3, 8)], [(4, 1), (2, 16)], [(4, 1), (2, 16), (2, 128)])
    """
    found = [(1, 1)]
    distance: int | None = 1
    for size, extent in zip(reversed(sizes), reversed(extents), strict=True):
        if extent > 1:
            if distance is None:
                return None
            count, apart = found[-1]
            if count * apart == distance:
                found[-1] = (count * extent, apart)
            else:
                found.append((extent, distance))
        distance = None if distance is None or size is None else distance * size
    return found


def _runs_once(loop: affine.For) -> bool:
    return len(loop.lower) == 1 == len(loop.upper) and loop.upper[0] - loop.lower[0] == Affine.of(1)


def _element_type(buffer: Value) -> ElementType:
    assert isinstance(buffer.type, MemRefType)
    return buffer.type.element
