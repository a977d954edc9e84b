"""How much more of an array a part of it needs around, so that what a function computes of the part is right inside."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from affdsl.ir.expr import Affine, Constraint, Term, Value
from affdsl.ir.types import INDEX
from affdsl.passes.analysis.dependence import Dependences, unwarned
from affdsl.passes.analysis.feeding import UnfollowedError
from affdsl.passes.analysis.polyhedral import Dim, Map, Set, UnknownError, map_of, name_of, set_of, spending
from affdsl.passes.analysis.provenance import BUDGET, Origin, Provenance, Stage
from affdsl.passes.analysis.relations import ends, iterator, some_point
from affdsl.passes.analysis.storage import Buffer

Halo = tuple[tuple[int, int], ...]
"""For each dimension how many elements more there are before the part, and after it."""
WIDEST = 16
"""How far from its edges a function may do other things than inside, beyond what its reads need."""


class NoHaloError(UnfollowedError):
    """No number of elements around a part of an array is enough, or it is not known."""


def halo(dependences: Dependences, source: Buffer, output: Buffer) -> Halo:
    """How many elements of source around a part of it are needed, so that the same part of output is right.

    They are as many as reads reach beyond the element that is written, and so many that what the function does near
    the edges of its arrays, where it may leave elements out or take other branches, falls into them: it is what differs
    between the whole array and a part.

    Raises NoHaloError where no such numbers are the same for all sizes.

    >>> from affdsl.mlir.readers import parse
    >>> from affdsl.passes.analysis.dependence import dependences
    >>> module = parse('''
    ... func.func @f(%n: index, %A: memref<?xf32> {affdsl.shape = affine_map<()[n] -> (n)>},
    ...              %B: memref<?xf32> {affdsl.shape = affine_map<()[n] -> (n)>}) {
    ...   affine.for %i = 1 to affine_map<()[s0] -> (s0 - 2)>()[%n] {
    ...     %a = affine.load %A[%i + 2] : memref<?xf32>
    ...     affine.store %a, %B[%i] : memref<?xf32>
    ...   }
    ...   return
    ... }''')
    >>> of = dependences(module.functions[0])
    >>> A, B = (of.accesses.storage.buffer(v) for v in module.functions[0].args[1:])
    >>> halo(of, A, B)
    ((1, 2),)
    """
    dimensions = [dependences.accesses.dimensions(b) for b in (source, output)]
    if source.rank != output.rank:
        raise NoHaloError(f"{source.name} has {_count(source.rank)}, and {output.name} has {output.rank}", None)
    for buffer, of in zip((source, output), dimensions, strict=True):
        if of.are_hidden:
            raise NoHaloError(f"subscripts of {buffer.name} are linearized by hand: write one for each dimension", None)
    with unwarned():
        try:
            found = Provenance(dependences, output)
            origins = tuple(found.origins(source))
            with spending(BUDGET * 4):
                reach = _reach(origins, source, output)
                return _widened(reach, _Parts(dependences, output), found, origins)
        except NoHaloError:
            raise
        except UnfollowedError as error:
            raise NoHaloError(error.reason, error.op) from None
        except UnknownError as error:
            raise NoHaloError(f"it is not known: {error}", None) from None


def _count(rank: int) -> str:
    return f"{rank} dimension{'s' * (rank != 1)}"


def _reach(origins: Sequence[Origin], source: Buffer, output: Buffer) -> Halo:
    """How far reads reach beyond the element that they are for."""
    found = [[0, 0] for _ in range(source.rank)]
    for origin in origins:
        if origin.elements.is_empty():
            continue
        away = origin.elements.deltas()
        for axis, of_axis in enumerate(found):
            low, high = ends(away, axis)
            if low is None or high is None:
                raise _unbounded(origin, axis, output)
            of_axis[:] = max(of_axis[0], -low), max(of_axis[1], high)
    return tuple((low, high) for low, high in found)


def _unbounded(origin: Origin, axis: int, output: Buffer) -> NoHaloError:
    """Why a read has no limit to how far it reaches."""
    read, pairs = origin.read, origin.elements
    for access in (read, origin.stage.write):
        if access.index is None or any("is not affine" in reason for reason in access.unknown):
            return NoHaloError("is of an element that data decides, so it may be any", access.op)
    dims = [iterator(k) for k in range(output.rank)]
    for sign in (1, -1):
        away = pairs.deltas().intersect(set_of([Constraint(iterator(axis) * sign - FAR)], dims))
        point = some_point(pairs.intersect(_differing(pairs, away)).wrap())
        if point is not None:
            params, numbers = point
            to, of = numbers[: output.rank], numbers[output.rank :]
            known = {name_of(v): v.hint for v in (*read.relation.params, *origin.stage.write.relation.params)}
            sizes = ", ".join(f"{known[name]} = {number}" for name, number in params.items() if name in known)
            example = f"{output.name}{[*to]} is made of {read.buffer.name}{[*of]}{f' (for {sizes})' if sizes else ''}"
            return NoHaloError(f"has no limit to how far away it reads: {example}", read.op)
    return NoHaloError("has no limit that is known to how far away it reads", read.op)


FAR = 9
"""How far away an element is that shows that there is no limit."""


def _differing(pairs: Map, away: Set) -> Map:
    """The pairs of a space with such differences."""
    return Map.universe(pairs.get_space()).deltas_map().intersect_range(away).domain().unwrap()


def _widened(reach: Halo, parts: _Parts, found: Provenance, origins: Sequence[Origin]) -> Halo:
    """The reach, or so much more that a part and the whole do the same with each element inside of the part."""
    claims = [(stage.elements, stage) for stage in (*found.stages, *found.last)]
    claims += [(origin.elements, origin.stage) for origin in origins]

    def wrong(margin: Halo) -> Stage | None:
        """What is done in another way so far inside of a part."""
        return next((stage for pairs, stage in claims if not parts.do_the_same(pairs, margin)), None)

    for wider in range(WIDEST + 1):
        margin = tuple([(max(low, wider), max(high, wider)) for low, high in reach])
        stage = wrong(margin)
        if stage is None:
            break
    else:
        assert stage is not None
        raise NoHaloError(
            "depends on where its element lies or on the sizes, also far from the edges of the array", stage.write.op
        )
    for axis, side in product(range(len(reach)), range(2)):
        while margin[axis][side] > reach[axis][side]:
            fewer = [list(of_axis) for of_axis in margin]
            fewer[axis][side] -= 1
            smaller = tuple([(low, high) for low, high in fewer])
            if wrong(smaller) is not None:
                break
            margin = smaller
    return margin


class _Parts:
    """Arrays of all sizes, and those parts of them that lie in a corner: any part is one of a corner of one.

    A kernel that is called with a part does what it does for an array of that size.
    """

    def __init__(self, dependences: Dependences, output: Buffer) -> None:
        sizes = dependences.accesses.dimensions(output).sizes
        if None in sizes:
            raise NoHaloError(f"the size of {output.name} is not known", None)
        self._part = [size for size in sizes if size is not None]
        self._renamed: dict[Value, Value] = {}
        for value in (v for size in self._part for v in size.values()):
            self._renamed.setdefault(value, Value(INDEX, f"whole_{value.hint}"))
        new: dict[Value, Term] = dict(self._renamed)
        self._whole = [size.substitute(new) for size in self._part]
        self._dims = [iterator(k) for k in range(output.rank)]
        self._params = [*self._renamed, *self._renamed.values()]
        self._corners = [(at_end, self._moved(at_end)) for at_end in product((False, True), repeat=output.rank)]

    def do_the_same(self, pairs: Map, margin: Halo) -> bool:
        """Whether elements of an output are made of the same others in a part as in the whole, so far inside of it."""
        whole = pairs
        for value, other in self._renamed.items():
            k = whole.find_dim_by_name(Dim.param, name_of(value))
            whole = whole if k < 0 else whole.set_dim_name(Dim.param, k, name_of(other))
        for at_end, moved in self._corners:
            inside = self._inside(at_end, margin)
            there = moved.apply_range(whole)
            here = pairs.intersect_domain(inside)
            if pairs.dim(Dim.in_) != pairs.dim(Dim.out):
                if not here.domain().is_equal(there.domain().intersect(inside)):
                    return False
            elif not here.is_equal(there.apply_range(moved.reverse()).intersect_domain(inside)):
                return False
        return True

    def _moved(self, at_end: Sequence[bool]) -> Map:
        """From the elements of a part to where they lie in the whole."""
        each = zip(self._dims, self._part, self._whole, at_end, strict=True)
        exprs = [Affine.of(v) + (whole - part if ends_it else 0) for v, part, whole, ends_it in each]
        return map_of(exprs, (), self._dims, self._params)

    def _inside(self, at_end: Sequence[bool], margin: Halo) -> Set:
        """The elements of a part that are not so near to where it was cut."""
        found = []
        for v, part, whole, ends_it, (low, high) in zip(
            self._dims, self._part, self._whole, at_end, margin, strict=True
        ):
            first, behind = (low, 0) if ends_it else (0, high)
            found += [Constraint(v - first), Constraint(part - 1 - behind - v), Constraint(whole - part)]
        return set_of(found, self._dims, self._params)
