"""Which elements a copy brings to the fast buffer and takes back, by which loops, and how large that buffer is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from affdsl.frozen import Frozen
from affdsl.ir.core import Block
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.boxes import Bound
from affdsl.passes.analysis.polyhedral import Dim, Map, params_of, spending
from affdsl.passes.analysis.region import region_of
from affdsl.passes.analysis.relations import map_from
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.legality.words import name
from affdsl.passes.simplify import Context, simplify
from affdsl.passes.transforms.data_copy.nests import Copied, Sides, over_box, over_set
from affdsl.passes.transforms.data_copy.request import CopyRequest

BUDGET = 2_000_000
"""How many operations isl may spend on the sets of one copy: up to some seconds."""
Make = Callable[[Copied, bool], Block]


class CopyCandidate(Frozen):
    """A candidate for a copy: the elements, and what makes the operations."""

    elements: Map
    make: Make


Find = Callable[[], CopyCandidate | None]


class CopyInOut(Frozen):
    """What brings elements and what takes them back, where there are any; where the fast buffer begins in the array,
    and how many elements it has in each dimension."""

    bring: CopyCandidate | None
    back: CopyCandidate | None
    offsets: tuple[Affine, ...]
    extents: tuple[Affine, ...]


class CopyCandidates:
    """Looks for legal candidates.

    Raises IllegalTransform where there is none, and UnknownError where isl needs too long.
    """

    def __init__(self, request: CopyRequest) -> None:
        self.request, self.place, self.value = request, request.place, request.value
        self.refuse = request.refuse
        self.rank = request.rank
        may, self.certain = self.place.touched(request.redirected)
        self.touched = may.intersect(self.place.possible())  # a program that touches others does not go on
        self.written, self.rewritten = self.place.touched(request.writes)
        self.initialised = self.place.initialised()
        if self.touched.is_empty():
            raise self.refuse(f"nothing of {name(self.value)} is ever touched")
        self.sides = self._sides()

    def found(self) -> CopyInOut:
        """The first legal candidates, dense boxes first."""
        with spending(BUDGET):
            bring, back = self._candidates()
            everything = self.touched
            for way in (bring, back):
                if way is not None:
                    everything = everything.union(way.elements.intersect(self.place.possible()))
            return CopyInOut(bring, back, *self._box(everything))

    def _candidates(self) -> tuple[CopyCandidate | None, CopyCandidate | None]:
        """How elements are brought, and how they are taken back; None where there are none."""
        boxes: list[Find] = [lambda: self._loops(self.sides), self._clamped]
        if self.request.options.dma:
            boxes = [self._full_box, self._whole_array]
        exposed, surely = self.place.exposed(self.request.reads, self.request.writes)
        written, rewritten, beside = self.written, self.rewritten, self.request.beside
        readable, writable = self._readable(surely), rewritten if self.request.is_shared() else None
        needs = not exposed.is_empty()
        back = self._first(boxes, rewritten) if self.request.writes else None
        if not needs and back is not None:
            return None, back
        if not self.request.options.dma and not needs and not written.is_empty() and written.is_subset(rewritten):
            return None, self._pieces(written)
        bring = self._first(boxes, readable)
        if bring is not None:
            allowed = bring.elements.subtract(beside).union(rewritten) if writable is None else writable
            # A DMA takes back all that was brought.
            backs = [lambda: bring] if self.request.options.dma else [lambda: bring, *boxes]
            back = self._first(backs, allowed) if self.request.writes else None
            if back is not None or not self.request.writes:
                return bring, back
        if self.request.options.dma:
            what = "a box of constant size holds more than what the program certainly touches"
            raise self.refuse(f"a DMA copies boxes, but {what} of {name(self.value)}, or there is none", "dma=False")
        if exposed.is_subset(surely) and written.is_subset(rewritten):
            found = None if exposed.is_empty() else self._pieces(exposed)
            return found, self._pieces(written) if self.request.writes else None
        raise self.refuse(self._why_not(exposed.is_subset(surely)))

    def _why_not(self, reads_are_known: bool) -> str:
        unknown = self._unknown()
        lost = f" ({unknown})" if unknown else ""
        which = "written" if reads_are_known else "read"
        others = (
            "another iteration may use the others" if self.request.is_shared() else "the others may hold no value yet"
        )
        return f"which elements of {name(self.value)} are {which} is not known exactly{lost}, and {others}"

    def _unknown(self) -> str:
        return "; ".join(dict.fromkeys(reason for a in self.request.redirected for reason in a.unknown))

    def _readable(self, surely: Map) -> Map:
        """The elements that may be brought: those that the program reads, and others that certainly have a value.

        A DMA also brings, and takes back, elements without a value: it copies memory and looks at none of it.
        """
        if self.request.is_shared():
            return surely
        if not self.request.has_values() and not self.request.options.dma:
            return surely.union(self.initialised.intersect(self.place.inside()))
        assert isinstance(self.request.array.type, MemRefType)
        existing = self.place.inside().union(self.certain)
        if self.place.dimensions.are_hidden or None not in self.request.array.type.shape:
            return existing  # the last of rows may end before an index that others have
        return existing.union(self.place.up_to(self.certain))

    def _first(self, found: Sequence[Find], allowed: Map) -> CopyCandidate | None:
        made = (find() for find in found)
        return next((way for way in made if way is not None and way.elements.is_subset(allowed)), None)

    def _sides(self) -> Sides:
        """A box around all that may be touched, by bounds that affine.for can say."""
        depth, lower, upper = self.place.depth, [], []
        lowest, highest = region_of(self.request.accesses, self.request.redirected, depth).sides
        for axis in range(self.rank):
            low, high = lowest[axis], highest[axis]
            lower.append(self._side(low, axis, 1) or (Affine(),))
            upper.append(self._side(high, axis, -1) or (self._size(axis),))
        return Sides(tuple(lower), tuple(upper))

    def _side(self, bound: Bound | None, axis: int, sign: int) -> tuple[Affine, ...]:
        """The bounds on one side that hold together; none if there are none."""
        if bound is None:
            return ()
        known = Context().knowing(c for clause in self.place.domain.clauses if len(clause) == 1 for c in clause[0])
        exprs = tuple(dict.fromkeys(simplify(e, known) for e in bound.exprs if self.place.can_read(e)))
        if len(bound.exprs) == 1 or bound.choice == ("max" if sign > 0 else "min"):
            return self._needed(exprs, sign)
        # One of them counts, in each iteration another one: all that holds everywhere is taken.
        return tuple(e for e in exprs if self._reaches(self.touched, axis, e, sign))[:1]

    def _needed(self, exprs: Sequence[Affine], sign: int) -> tuple[Affine, ...]:
        """Bounds on one side that hold together, but those that another one always implies."""
        needed = [*exprs]
        for e in exprs:
            if any(f is not e and self._never(Constraint(sign * (e - f) - 1)) for f in needed):
                needed.remove(e)
        return tuple(needed)

    def _never(self, constraint: Constraint) -> bool:
        """Whether something never holds where the copy stands."""
        return bool(map_from(self.place.domain.where(((constraint,),)).relation(())).is_empty())

    def _reaches(self, elements: Map, axis: int, bound: Affine, sign: int) -> bool:
        """Whether a bound holds for all elements: a lower one (sign 1), or one behind the last."""
        index = self.place.index()
        beyond = bound - 1 - index[axis] if sign > 0 else index[axis] - bound
        return bool(elements.intersect(self.place.all_of((Constraint(beyond),), index)).is_empty())

    def _size(self, axis: int) -> Affine:
        size = self.place.size(axis)
        if size is None or not self.place.can_read(size):
            unknown = self._unknown()
            why = f"which elements are touched is not known exactly ({unknown}), and " if unknown else ""
            raise self.refuse(
                f"{why}the size of {name(self.value)} along dimension {axis} is not known before the loop"
            )
        return size

    def _clamped(self) -> CopyCandidate | None:
        """The box, as far as it lies inside of the array; None where the size of that is not known here."""
        lower, upper = [], []
        whole = self._elements(self.sides)
        for axis, (low, high) in enumerate(zip(self.sides.lower, self.sides.upper, strict=True)):
            size = self.place.size(axis)
            if size is None or not self.place.can_read(size):
                return None
            lower.append(low if self._reaches(whole, axis, Affine(), 1) else (*low, Affine()))
            upper.append(high if self._reaches(whole, axis, size, -1) else (*high, size))
        return self._loops(Sides(tuple(lower), tuple(upper)))

    def _elements(self, sides: Sides) -> Map:
        index = self.place.index()
        low = [Constraint(x - e) for x, exprs in zip(index, sides.lower, strict=True) for e in exprs]
        high = [Constraint(e - 1 - x) for x, exprs in zip(index, sides.upper, strict=True) for e in exprs]
        return self.place.all_of((*low, *high), index)

    def _loops(self, sides: Sides) -> CopyCandidate:
        return CopyCandidate(self._elements(sides), lambda copied, copy_in: over_box(copied, sides, copy_in=copy_in))

    def _full_box(self) -> CopyCandidate | None:
        """The box of constant size that a DMA copies; None where the size varies."""
        try:
            offsets, extents = self._box(self.touched)
        except IllegalTransform:
            return None
        numbers = [e.constant for e in extents if e.is_constant]
        if len(numbers) < len(extents):
            return None
        upper = tuple((offset + number,) for offset, number in zip(offsets, numbers, strict=True))
        return self._dma(Sides(tuple((offset,) for offset in offsets), upper))

    def _whole_array(self) -> CopyCandidate | None:
        """All elements of an array whose type says how many there are."""
        sizes = [size for size in self.place.dimensions.shape if size is not None]
        if len(sizes) < self.rank:
            return None
        return self._dma(Sides(((Affine(),),) * self.rank, tuple((Affine.of(size),) for size in sizes)))

    def _dma(self, sides: Sides) -> CopyCandidate:
        return CopyCandidate(self._elements(sides), lambda _copied, _in: ())

    def _pieces(self, elements: Map) -> CopyCandidate:
        """Loops over some elements and no others."""
        params = self._params()
        points = self.place.as_set(elements)
        for k, value in enumerate(params_of(points, params)):
            if value is None and points.involves_dims(Dim.param, k, 1):
                raise self.refuse(f"what is touched of {name(self.value)} depends on what no affine map can read there")
        return CopyCandidate(elements, lambda copied, copy_in: over_set(copied, points, params, copy_in=copy_in))

    def _params(self) -> tuple[Value, ...]:
        symbols = {v for a in self.request.redirected for v in a.relation.params}
        symbols |= {v for k in range(self.rank) for v in (self.place.size(k) or Affine()).values()}
        symbols |= set(self.place.domain.relation(()).params)
        known = [v for v in (*symbols, *self.place.ivs) if self.place.can_read(Affine.of(v))]
        return tuple(known)

    def _box(self, elements: Map) -> tuple[tuple[Affine, ...], tuple[Affine, ...]]:
        """Where the fast buffer begins in the array, and its sizes."""
        found = [self._extent(elements, axis) for axis in range(self.rank)]
        return tuple(offset for offset, _ in found), tuple(size for _, size in found)

    def _extent(self, elements: Map, axis: int) -> tuple[Affine, Affine]:
        line = elements.project_out(Dim.out, axis + 1, self.rank - axis - 1).project_out(Dim.out, 0, axis)
        numbers: list[tuple[int, Affine]] = []
        for offset in (*self.sides.lower[axis], Affine()):
            start = map_from(self.place.domain.relation((offset,)))
            start = start.align_params(line.get_space())
            distances = line.align_params(start.get_space()).sum(start.neg()).range()
            low, high = distances.dim_min_val(0), distances.dim_max_val(0)
            if low.is_int() and low.to_python() >= 0 and high.is_int():
                numbers.append((high.to_python() + 1, offset))
        if numbers:
            size, offset = min(numbers, key=lambda pair: pair[0])
            return offset, Affine.of(size)
        if self.request.options.only_static:
            raise self.refuse(f"how much of {name(self.value)} is touched along dimension {axis} has no constant limit")
        return self._symbolic_extent(elements, axis)

    def _symbolic_extent(self, elements: Map, axis: int) -> tuple[Affine, Affine]:
        for offset in (*self.sides.lower[axis], Affine()):
            if not self._reaches(elements, axis, offset, 1):
                continue
            for upper in (*self.sides.upper[axis], self._size(axis)):
                if self._reaches(elements, axis, upper, -1):
                    return offset, upper - offset
        raise self.refuse(f"how much of {name(self.value)} is touched along dimension {axis} has no limit")
