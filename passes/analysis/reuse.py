"""Which accesses of a loop nest touch an element, or a cache line, again, by which loop, and how much memory each
iteration needs: what tiling, packing and the order of loops are chosen by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal

from affdsl.frozen import Frozen
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Value
from affdsl.ir.spelling import spell
from affdsl.ir.traverse import walk
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.boxes import Size, width_of
from affdsl.passes.analysis.dependence import Dependence, Dependences
from affdsl.passes.analysis.region import Region, footprints
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.analysis.stride import Stride, strides

LINE = 64
"""Bytes of a cache line of most processors."""

SelfReuse = Literal["temporal", "spatial", "none", "unknown"]


class AccessReuse(Frozen):
    """What one access touches again by itself.

    Attributes
    ----------
    strides
        How it moves with each loop around it, outermost first.
    by
        Whether the next iteration of a loop touches the same elements ("temporal"), others at least one of which may
        lie in the same cache line ("spatial"), or no such ("none").
    """

    access: Access
    strides: Mapping[Value, Stride]
    by: Mapping[Value, SelfReuse]


class GroupReuse(Frozen):
    """That one access touches what another one has touched before, always so many iterations later.

    Attributes
    ----------
    dependence
        The dependence that says so; one between two reads is of kind "input".
    distances
        How much larger each induction variable around both is then, outermost first; None for a loop with which
        neither access moves.
    """

    dependence: Dependence
    distances: tuple[int | None, ...]

    @property
    def carried_by(self) -> Value | None:
        """The induction variable of the outermost loop in whose later iteration that is; None if it is in the same."""
        depth = self.dependence.depth
        return self.dependence.source.ivs[depth - 1] if depth <= len(self.distances) else None

    def __str__(self) -> str:
        source, sink = self.dependence.source, self.dependence.sink
        distances = ", ".join("*" if d is None else str(d) for d in self.distances)
        return f"{_spelled(sink)} touches what {_spelled(source)} touched ({distances}) before"


class Footprint(Frozen):
    """What one iteration of a loop touches in all its deeper loops; where `iv` is None, what the whole nest does."""

    iv: Value | None
    regions: tuple[Region, ...]

    @cached_property
    def sizes(self) -> Mapping[Buffer, Size]:
        """The size in bytes of what is touched of each buffer: the most over all iterations."""
        return {region.buffer: region.bytes for region in self.regions}

    @property
    def bytes(self) -> int | None:
        """How many bytes it touches at most: the sum over all buffers; None where one has no constant limit."""
        limits = [size.at_most for size in self.sizes.values()]
        known = [limit for limit in limits if limit is not None]
        return sum(known) if len(known) == len(limits) else None


class Reuse(Frozen):
    """The reuse in one loop nest; it prints as tables."""

    line: int
    loops: tuple[Value, ...]
    accesses: tuple[AccessReuse, ...]
    groups: tuple[GroupReuse, ...]
    footprints: tuple[Footprint, ...]

    def footprint(self, iv: Value | None = None) -> Footprint:
        """What one iteration of a loop touches, or, without one, the whole nest. Raises KeyError for another loop."""
        for found in self.footprints:
            if found.iv is iv:
                return found
        raise KeyError(f"%{iv.hint} is no loop of the nest" if iv is not None else "the nest")

    def __str__(self) -> str:
        names = [iv.hint or "loop" for iv in self.loops]
        parts = [_table([
            [f"reuse, lines of {self.line} bytes", *names],
            *([f"{r.access.kind} {_spelled(r.access)}", *(_shown(r, iv) for iv in self.loops)] for r in self.accesses),
        ])]  # fmt: skip
        if self.groups:
            parts.append("\n".join(map(str, self.groups)))
        buffers = list(dict.fromkeys(b for f in self.footprints for b in f.sizes))
        rows = [["bytes touched in", "the nest", *(f"one {name}" for name in names)]]
        rows += [[b.name, *(str(f.sizes.get(b, Size(0, 0))) for f in self.footprints)] for b in buffers]
        rows.append(["all", *("?" if f.bytes is None else str(f.bytes) for f in self.footprints)])
        return "\n\n".join([*parts, _table(rows)])


def reuse(dependences: Dependences, nest: Op, line: int = LINE) -> Reuse:
    """The reuse in a loop nest; `line` is the size of a cache line in bytes.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''
    ... func.func @f(%A: memref<100xf32>, %B: memref<100x100xf32>, %x: f32) {
    ...   affine.for %i = 1 to 100 { affine.for %j = 0 to 100 {
    ...     %a = affine.load %A[%i] : memref<100xf32>
    ...     %b = affine.load %A[%i - 1] : memref<100xf32>
    ...     affine.store %x, %B[%j, %i] : memref<100x100xf32>
    ...   } }
    ...   return
    ... }''')
    >>> function = module.functions[0]
    >>> print(reuse(Dependences(function), function.body[0]))
    reuse, lines of 64 bytes  i        j
    read A[i]                 spatial  temporal
    read A[i - 1]             spatial  temporal
    write B[j, i]             spatial  stride 100
    <BLANKLINE>
    A[i - 1] touches what A[i] touched (1, *) before
    <BLANKLINE>
    bytes touched in  the nest  one i  one j
    A                 400       8      8
    B                 39600     400    4
    all               40000     408    12
    """
    of = dependences.accesses
    inside = set(walk(nest))
    accesses = tuple(_of_access(a, dependences, line) for a in of.all if a.op in inside)
    found = [Footprint(None, footprints(of, nest))]
    for op in walk(nest):
        for k, iv in enumerate(_ivs(op)):
            found.append(Footprint(iv, footprints(of, op, len(of.domains[op].ivs) + k + 1)))
    loops = tuple(footprint.iv for footprint in found if footprint.iv is not None)
    return Reuse(line, loops, accesses, tuple(_groups(accesses, dependences)), tuple(found))


def _ivs(op: Op) -> tuple[Value, ...]:
    match op:
        case affine.For() | scf.For():
            return (op.iv,)
        case affine.Parallel() | scf.Parallel():
            return op.ivs
    return ()


def _of_access(access: Access, dependences: Dependences, line: int) -> AccessReuse:
    moves = strides(access, dependences.accesses.scope)
    width = width_of(access.buffer.type.element)
    return AccessReuse(access, moves, {iv: _kind(stride, width, line) for iv, stride in moves.items()})


def _kind(stride: Stride, width: int | None, line: int) -> SelfReuse:
    if stride.motion == "invariant":
        return "temporal"
    if stride.vector is None:
        return "none" if stride.motion == "varying" else "unknown"
    if stride.elements is None or width is None:
        return "unknown"
    return "spatial" if abs(stride.elements) * width < line else "none"


def _groups(accesses: Sequence[AccessReuse], dependences: Dependences) -> Iterator[GroupReuse]:
    for first in accesses:
        for second in accesses:
            if first is second or first.access.buffer is not second.access.buffer:
                continue
            for dependence in dependences.between(first.access, second.access):
                distances = _constant(dependence, first, second)
                if distances is not None:
                    yield GroupReuse(dependence, distances)


def _constant(dependence: Dependence, first: AccessReuse, second: AccessReuse) -> tuple[int | None, ...] | None:
    """The distances, where each is one number or of a loop with which neither access moves; None if they are not."""
    if not dependence.is_exact:
        return None
    found: list[int | None] = []
    for k, distance in enumerate(dependence.distances):
        iv = first.access.ivs[k]
        if first.by[iv] == second.by[iv] == "temporal":
            # What such a loop carries, each of the two reuses by itself.
            if k == dependence.depth - 1:
                return None
            found.append(distance.value if k < dependence.depth - 1 else None)
        elif distance.value is None:
            return None
        else:
            found.append(distance.value)
    return tuple(found)


def _shown(row: AccessReuse, iv: Value) -> str:
    reuse = row.by.get(iv)
    if reuse is None:
        return ""
    return str(row.strides[iv]) if reuse == "none" else reuse


def _spelled(access: Access) -> str:
    if access.index is None:
        return f"{access.buffer.name}[?]"
    return f"{access.buffer.name}[{', '.join(map(spell, access.index[access.buffer.loops :]))}]"


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
