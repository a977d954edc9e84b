"""The tile sizes that affine-loop-tile takes for a band: given ones, or by how much its data exceed a cache."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, prod

from affdsl.ir.dialects import affine
from affdsl.ir.types import IndexType, MemRefType
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.analysis.region import extents
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.transforms.tile import Trips

DEFAULT_SIZE = 4


def sizes_of(
    band: Sequence[affine.For], of: Accesses, trips: Trips, cache_size: int, tile_size: int, tile_sizes: Sequence[int]
) -> tuple[int, ...]:
    """A size for each loop of a band.

    One size for all, or a list of sizes, goes before the model: sizes whose product is the number of times that the
    data of the band are larger than the cache, each made a divisor of the trip count where that is a number.
    """
    if tile_size > 0:
        return (tile_size,) * len(band)
    if tile_sizes:
        given = (*tile_sizes, *(DEFAULT_SIZE,) * len(band))
        return tuple(given[: len(band)])
    if cache_size == 0:
        return (1,) * len(band)
    data = _bytes(band[0], of)
    if data is None:
        return _dividing(band, trips, [DEFAULT_SIZE] * len(band))
    excess = -(-data // (cache_size * 1024))
    if excess <= 1:
        return (1,) * len(band)
    each = floor(excess ** (1 / len(band)))
    outer = [each] * (len(band) - 1)
    return _dividing(band, trips, [*outer, max(1, excess // prod(outer))])


def _bytes(root: affine.For, of: Accesses) -> int | None:
    """How many bytes the boxes of all buffers that a loop touches have together."""
    sizes = [_box_bytes(buffer, of.dimensions(buffer).shape, box) for buffer, box in extents(of, root).items()]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _box_bytes(buffer: Buffer, shape: Sequence[int | None], box: Sequence[int | None]) -> int | None:
    type = buffer.type
    if not isinstance(type, MemRefType) or isinstance(type.element, IndexType):
        return None
    width = width_of(type.element)
    limits = [
        min((n for n in (extent, size) if n is not None), default=None) for extent, size in zip(box, shape, strict=True)
    ]
    known = [extent for extent in limits if extent is not None]
    return None if width is None or len(known) < len(limits) else prod(known) * width


def _dividing(band: Sequence[affine.For], count: Trips, sizes: Sequence[int]) -> tuple[int, ...]:
    """Each size, or the largest number below it that divides the trip count of its loop."""
    found = []
    for loop, size in zip(band, sizes, strict=True):
        trips = count(loop).number
        if trips is not None:
            size = min(size, trips // 2) if trips > 1 else size
            while trips % size:
                size -= 1
        found.append(size)
    return tuple(found)
