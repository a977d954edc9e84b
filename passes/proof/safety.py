"""What no values show: races of parallel iterations, and accesses out of bounds or after the end of a buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.location import Location
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependence, unwarned
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.polyhedral import Dim, Set, set_of, spending
from affdsl.passes.analysis.relations import elements_of, iterator, map_from, some_point
from affdsl.passes.proof.dataflow import BUDGET, Dataflow


class Race(FrozenValue):
    """That two iterations of a parallel band touch one element, and one of them writes it; `is_certain` or maybe."""

    what: str
    is_certain: bool


def races(of: Dataflow) -> Iterator[Race]:
    """The races of a function: first those that are certain of each band."""
    with unwarned():
        for op in of.accesses.domains:
            if isinstance(op, affine.Parallel | scf.Parallel):
                found = [d for iv in op.ivs for d in of.dependences.carried_by(iv) if not _is_atomic(d)]
                for each in sorted(found, key=lambda d: not d.is_exact):
                    yield Race(_described(each), each.is_exact)


def _is_atomic(of: Dependence) -> bool:
    """Whether iterations may update an element at once, since each does so in one go."""
    one, other = of.source.op, of.sink.op
    return isinstance(one, memref.AtomicRMW) and isinstance(other, memref.AtomicRMW) and one.combine == other.combine


class OutOfBounds(FrozenValue):
    """An access that may leave its buffer, with numbers for the symbols with which it does if it does."""

    what: str
    sizes: tuple[dict[str, int], ...] = ()


def outside(before: Dataflow, after: Dataflow) -> Iterator[OutOfBounds]:
    """The accesses after that are not certainly within their buffers.

    Those before count as such: the elements that they touch are there, and nothing is asked of sizes for which they
    are not.
    """
    touched: dict[str, list[Access]] = {}
    for access in before.by_dimensions:
        if access.is_exact and access.buffer.kind != "local":
            touched.setdefault(before.key(access.buffer), []).append(access)
    for access in _once_each(after):
        there = () if access.buffer.kind == "local" else touched.get(after.key(access.buffer), ())
        for wrong in (_beyond(after, access), _beyond_view(after, access)):
            is_known = wrong is not None
            if wrong is None and there and access.index is not None:
                with spending(BUDGET):
                    wrong = after.symbols.renamed(elements_of(access.relation))
            if wrong is not None:
                with spending(BUDGET):
                    for other in there:
                        wrong = wrong.subtract(before.symbols.renamed(elements_of(other.relation)))
            there = ()
            if wrong is None or not (is_known or wrong.is_empty()):
                yield OutOfBounds(f"which elements {access.buffer.name} has, or which are touched, is not known")
                continue
            if not wrong.is_empty():
                wrong = _meaningful(before, wrong)
            if not wrong.is_empty():
                with spending(BUDGET):
                    point = some_point(wrong)
                yield OutOfBounds(
                    f"{access.buffer.name} is accessed out of bounds", () if point is None else (point[0],)
                )
    for op, negative in _negative_sizes(after):
        wrong = None if negative is None else _meaningful(before, negative)
        if wrong is None or not wrong.is_empty():
            with spending(BUDGET):
                point = None if wrong is None else some_point(wrong)
            name = op.result.hint or "a buffer"
            yield OutOfBounds(f"{name} may have a negative size", () if point is None else (point[0],))


def used_after_end(of: Dataflow) -> str | None:
    """What may touch a buffer that was given back before, in words; None if nothing does."""
    with unwarned():
        for end in of.accesses.all:
            if not isinstance(end.op, memref.Dealloc):
                continue
            for access in of.accesses.all:
                if next(of.dependences.between(end, access), None) is not None:
                    return f"{_place(access)} of {end.buffer.name} may come after its memref.dealloc"
    return None


def _negative_sizes(of: Dataflow) -> Iterator[tuple[memref.Allocation, Set | None]]:
    """The allocations of unknown sizes, each with the sizes below 0 that it is given; None if they are not known."""
    for op, domain in of.accesses.domains.items():
        if not isinstance(op, memref.Allocation):
            continue
        for size in op.sizes:
            expr, inside = of.scope.expr(Affine.of(size), domain)
            relation = inside.relation((expr,))
            of.symbols.add(relation.params)
            with spending(BUDGET):
                below = set_of((Constraint(-iterator(0) - 1),), [iterator(0)])
                asked = of.symbols.renamed(map_from(relation)).range().intersect(below)
            is_known = asked.is_empty() or inside.unknown == domain.unknown
            yield op, asked if is_known else None


def _once_each(of: Dataflow) -> Iterator[Access]:
    """The accesses of a function that may leave their buffers, of equal ones the first."""
    seen: set[object] = set()
    for access in of.by_dimensions:
        key = access.buffer, access.relation, _view_of(access)
        if key not in seen and not isinstance(access.op, memref.Dealloc | memref.Copy):
            seen.add(key)
            yield access


def _view_of(access: Access) -> Value | None:
    """The memref by which an element is accessed, where it is a part of its buffer."""
    match access.op:
        case (
            affine.Load(memref=view) | affine.Store(memref=view) | memref.Load(memref=view) | memref.Store(memref=view)
        ):
            return None if view is access.buffer.root else view
    return None


def _meaningful(before: Dataflow, points: Set) -> Set:
    """The points for whose symbols the accesses before are within their buffers."""
    for access in _once_each(before):
        for wrong in (_beyond(before, access), _beyond_view(before, access)) if access.is_exact else ():
            with spending(BUDGET):
                if wrong is not None and not wrong.is_empty():
                    points = points.intersect_params(wrong.params().complement())
    for _, negative in _negative_sizes(before):
        with spending(BUDGET):
            if negative is not None and not negative.is_empty():
                points = points.intersect_params(negative.params().complement())
    return points


def _beyond(of: Dataflow, access: Access) -> Set | None:
    """The elements that an access touches beyond the sizes of its buffer; None if those are not known."""
    if access.index is None:
        return None
    sizes = _sizes(of, access.buffer.root)
    if of.accesses.dimensions(access.buffer).are_hidden:
        sizes = _all_known(of.accesses.dimensions(access.buffer).sizes)
    return _outside(of, sizes, access.index[access.buffer.loops :], access.domain)


def _beyond_view(of: Dataflow, access: Access) -> Set | None:
    """The same of the part of the buffer by which it is accessed, whose elements are counted in another way."""
    view = _view_of(access)
    match access.op:
        case affine.Load(index=index) | affine.Store(index=index) if view is not None:
            return _outside(of, _sizes(of, view), index, access.domain)
        case memref.Load(indices=indices) | memref.Store(indices=indices) if view is not None:
            return _outside(of, _sizes(of, view), tuple(map(Affine.of, indices)), access.domain)
    return of.elements(None).complement()


def _outside(of: Dataflow, sizes: Sequence[Affine] | None, index: Sequence[Affine], domain: Domain) -> Set | None:
    """The elements at index that lie beyond sizes; None if those are not known."""
    if sizes is None:
        return None
    exprs, inside = of.scope.exprs((*index, *sizes), domain)
    if inside.unknown != domain.unknown:
        return None
    rank = len(sizes)
    relation = inside.relation(exprs)
    of.symbols.add(relation.params)
    points = [iterator(k) for k in range(2 * rank)]
    within = [
        c
        for p, size in zip(points, points[rank:], strict=False)
        for c in (Constraint(Affine.of(p)), Constraint(size - p - 1))
    ]
    with spending(BUDGET):
        reached = of.symbols.renamed(map_from(relation)).range()
        return reached.subtract(set_of(within, points)).project_out(Dim.set, rank, rank)


def _sizes(of: Dataflow, value: Value) -> tuple[Affine, ...] | None:
    """The sizes of a memref; None if they are not known."""
    if not isinstance(value.type, MemRefType):
        return None
    match of.scope.makers.get(value):
        case memref.Alloc(sizes=given) | memref.Alloca(sizes=given):
            rest = iter(given)
            return tuple(Affine.of(next(rest) if n is None else n) for n in value.type.shape)
    return _all_known([of.scope.size_of(value, axis) for axis in range(value.type.rank)])


def _all_known(sizes: Sequence[Affine | None]) -> tuple[Affine, ...] | None:
    known = tuple([size for size in sizes if size is not None])
    return known if len(known) == len(sizes) else None


def _described(of: Dependence) -> str:
    one, other = (_place(a) for a in (of.source, of.sink))
    loop = of.loop.hint if of.loop is not None else ""
    text = f"iterations of the parallel band of {'%' + loop if loop else 'a loop'} touch one element of "
    text += f"{of.sink.buffer.name} ({one}, {other})"
    witness = of.witness()
    if witness is None:
        return text
    sizes = "".join(f"{name} = {n}, " for name, n in witness.params.items())
    first, second = (
        ", ".join(f"{iv.hint or 'i'} = {n}" for iv, n in zip(a.ivs, point, strict=True))
        for a, point in ((of.source, witness.source), (of.sink, witness.sink))
    )
    element = ", ".join(map(str, witness.element))
    return f"{text}: {sizes}({first}) and ({second}) both touch {of.sink.buffer.name}[{element}]"


def _place(access: Access) -> str:
    where: Location | None = access.location
    return f"a {access.kind}" + (f" at {where}" if where is not None else "")
