"""From which sizes on a loop is large: its arrays do not fit into a cache, or it is longer than a block."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from affdsl.codegen.targets.target import Target
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import ComplexType, FloatType, IntegerType, MemRefType
from affdsl.lang.indices import Condition, Index, symbols
from affdsl.optimize.nests import loop_called, names_in, nests
from affdsl.optimize.unfit import UnfitError
from affdsl.passes.analysis.storage import Buffer
from affdsl.schedule.schedule import Schedule

LARGE = 2 << 20
"""From this size on a second cache answers later than a small one does, and the last cache behind it much later."""
MOST = 2**16
"""Lines are not longer where all arrays of a loop fit into a cache."""

Shaped = tuple[Sequence[Affine], int]
"""The shape of an array, and how many bits an element has."""


def has_large_cache(target: Target) -> bool:
    """Whether the second cache of a machine is large, as far as that is known."""
    return len(target.caches) > 1 and target.caches[1] >= LARGE


def larger_than(s: Schedule, root: str, cache: int) -> Condition | None:
    """That the sizes are so large that the arrays of a loop, with all sizes alike, take more bytes than a cache has.

    None if it is not known how large they are. Raises UnfitError if they always fit.
    """
    arrays = _arrays(s, root)
    if arrays is None:
        return None
    rank = max((len(shape) for shape, _ in arrays), default=0)
    names = sorted({v.hint for shape, _ in arrays for dim in shape for v in dim.values() if len(shape) == rank})
    if not names:
        if _bytes(arrays, 0) <= cache:
            raise UnfitError("its arrays fit into the second cache")
        return None
    if not all(map(str.isidentifier, names)):  # MLIR calls a size what a schedule cannot
        return None
    least = next((n for n in range(1, MOST) if _bytes(arrays, n) > cache), MOST)
    return Condition(tuple(c for size in map(symbols, names) for c in _at_least(size, least).constraints))


def longer_than(s: Schedule, root: str, count: int) -> Condition | None:
    """That sizes, and loops around, are such that a loop runs more often than `count` times.

    None if its bounds are other than sums of them and numbers, or if nothing is asked.
    """
    loop = loop_called(s, root)
    if loop is None or len(loop.lower) != 1 or len(loop.upper) != 1 or loop.step != 1:
        return None
    names = {row.iv: row.names[0] for row in s.loops()}
    total: Index | int = 0
    for value, factor in (trips := loop.upper[0] - loop.lower[0]).terms:
        name = names.get(value, value.hint) if isinstance(value, Value) else ""
        if not name.isidentifier():
            return None
        total = symbols(name) * factor + total
    return _at_least(total, count + 1 - trips.constant) if isinstance(total, Index) else None


def _at_least(size: Index, least: int) -> Condition:
    found = size >= least
    assert isinstance(found, Condition)
    return found


def _arrays(s: Schedule, root: str) -> list[Shaped] | None:
    """The arrays that a loop uses; None if of one of them nothing is known."""
    inside = names_in(s, root)
    accesses = (a for nest in nests(s) if nest.name(nest.innermost) in inside for a in nest.accesses)
    buffers = {a.buffer.root: a.buffer for a in accesses}
    shapes = dict(zip(s.function.args, s.function.shapes, strict=False))
    found: list[Shaped] = []
    for buffer in buffers.values():
        shape, element = shapes.get(buffer.root) or _known(buffer), buffer.type.element
        if shape is None or not isinstance(element, FloatType | IntegerType | ComplexType):
            return None
        found.append((shape, element.width))
    return found


def _known(buffer: Buffer) -> Sequence[Affine] | None:
    """The shape of an array whose type says it."""
    if not isinstance(buffer.type, MemRefType):
        return None
    shape = [Affine.of(size) for size in buffer.type.shape if size is not None]
    return shape if len(shape) == buffer.rank else None


def _bytes(arrays: Sequence[Shaped], n: int) -> float:
    """How many bytes arrays take where all sizes are so large."""
    return sum(prod(dim.evaluate(dict.fromkeys(dim.values(), n)) for dim in shape) * bits / 8 for shape, bits in arrays)
