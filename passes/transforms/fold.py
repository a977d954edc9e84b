"""Lets elements of a buffer share memory that are never needed at the same time: a few rows instead of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from affdsl.frozen import Frozen
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, memref, scf
from affdsl.ir.expr import Constraint, Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import rewrite, walk, with_fields
from affdsl.ir.types import INDEX, MemRefType
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences, unwarned
from affdsl.passes.analysis.flow import Flow
from affdsl.passes.analysis.polyhedral import Dim, Set, UnknownError, map_of, merged, name_of, set_of, spending
from affdsl.passes.analysis.relations import BUDGET, ends, some_point
from affdsl.passes.legality.proposals import Proposal, Step
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.legality.words import access_name, iteration_name, name

MOST_SIZES = 64
"""So many sizes are tried for a proposal, the smallest first; then the one that is certainly enough."""


def fold(function: func.Func, buffer: Value, dim: int, size: int, *, module: func.Module | None = None) -> func.Func:
    """Let the elements of a buffer that lie `size` apart along a dimension be one element.

        t = alloc [n]; .. t[i] = S(i); T(t[i], t[i - 1]) ..   ->   t = alloc [2]; .. t[i mod 2] = S(i); ..

    That is right where what is read is still there: where nothing else is stored to the one element between the write
    that a read sees, and that read.

    Parameters
    ----------
    buffer
        The memref that memref.alloc or memref.alloca gives. It becomes one of another type.
    dim
        The dimension, from 0.
    size
        How many elements are left along it, at least 1.
    module
        What the function stands in: it shows what calls do.

    Raises
    ------
    IllegalTransform
        If an element is needed when another one takes its place: with both, and the least size that is legal. If the
        buffer is no local one, is used otherwise than by affine loads and stores, is read where nothing was stored, or
        is used by iterations that may run at the same time.

    References
    ----------
    Lefebvre, Feautrier, "Automatic storage management for parallel programs", Parallel Computing 24 (1998).

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
    ...   %t = memref.alloc() : memref<9xf32>
    ...   affine.for %i = 0 to 9 {
    ...     %a = affine.load %A[%i] : memref<9xf32>
    ...     affine.store %a, %t[%i] : memref<9xf32>
    ...     %b = affine.load %t[%i] : memref<9xf32>
    ...     affine.store %b, %B[%i] : memref<9xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(fold(f, f.body[0].result, 0, 2).body[1])
    affine.for %i = 0 to 9 {
      %a = affine.load %A[%i] : memref<9xf32>
      affine.store %a, %t[%i mod 2] : memref<2xf32>
      %b = affine.load %t[%i mod 2] : memref<2xf32>
      affine.store %b, %B[%i] : memref<9xf32>
    }
    """
    what = f"fold dimension {dim} of {name(buffer)} to {size}"
    if dim < 0 or size < 1:
        raise ValueError(f"a dimension is at least 0, and a size 1: got {dim} and {size}")
    made = own_allocation(function, buffer, dim, what)
    type = buffer.type
    assert isinstance(type, MemRefType)
    whole = type.shape[dim]
    if whole is not None and whole <= size:
        raise refusal(made, what, f"{name(buffer)} has no more than {whole} elements there already")
    with unwarned():  # what the analysis does not know is refused
        _require_kept(function, made, dim, size, what, module)
    new = Value(replace(type, shape=(*type.shape[:dim], size, *type.shape[dim + 1 :])), buffer.hint, buffer.location)
    at = sum(each is None for each in type.shape[:dim])
    sizes = made.sizes if type.shape[dim] is not None else (*made.sizes[:at], *made.sizes[at + 1 :])

    def rule(op: Op) -> Op | None:
        if op is made:
            return with_fields(made, result=new, sizes=sizes)
        if isinstance(op, affine.Access) and op.memref is buffer:
            index = tuple(e % size if k == dim else e for k, e in enumerate(op.index))
            return with_fields(op, memref=new, index=index, written=None)
        return with_fields(op, memref=new) if isinstance(op, memref.Dealloc) and op.memref is buffer else None

    return rewrite(function, rule)


def own_allocation(function: func.Func, buffer: Value, dim: int, what: str) -> memref.Allocation:
    """What makes a buffer. Raises IllegalTransform where elements cannot lie elsewhere along a dimension."""
    made = next((op for op in walk(function) if isinstance(op, memref.Allocation) and op.result is buffer), None)
    if made is None:
        raise refusal(function, what, f"@{function.symbol} does not make {name(buffer)}: its elements are not its own")
    type = buffer.type
    if not isinstance(type, MemRefType) or type.layout is not None:
        raise refusal(made, what, f"{name(buffer)} has a layout of its own")
    if dim >= type.rank:
        raise refusal(made, what, f"{name(buffer)} has {type.rank} dimensions, counted from 0")
    for op in walk(function):
        if op is made or buffer not in op.mentions() or isinstance(op, memref.Dealloc):
            continue
        is_vector = isinstance(op, affine.VectorLoad | affine.VectorStore)
        if not isinstance(op, affine.Access) or (is_vector and dim == type.rank - 1):
            raise refusal(op, what, f"{op_name(op)} uses {name(buffer)} otherwise than by affine loads and stores")
    return made


class _Clash(Frozen):
    """A read of an element, and a write that stores others between that read and the write that it sees.

    Attributes
    ----------
    points
        The iteration of the read, its element, and the other element, one after the other.
    dims
        What stands for these.
    elements
        How many dimensions elements have, with those of the loops around the buffer.
    axis
        Which of these is folded.
    """

    read: Access
    write: Access
    points: Set
    dims: tuple[Value, ...]
    elements: int
    axis: int

    def distances(self) -> Set:
        """How far the other elements lie away that differ along the one dimension alone."""
        first, second = self.dims[-2 * self.elements : -self.elements], self.dims[-self.elements :]
        same = [Constraint(a - b, equality=True) for k, (a, b) in enumerate(zip(first, second, strict=True))
                if k != self.axis]  # fmt: skip
        return merged(self.points.apply(map_of([second[self.axis] - first[self.axis]], same, self.dims)))

    def at(self, distance: int) -> tuple[dict[str, int], tuple[int, ...]] | None:
        """Sizes and a point at which the other element lies so far away."""
        first, second = self.dims[-2 * self.elements : -self.elements], self.dims[-self.elements :]
        pairs = enumerate(zip(first, second, strict=True))
        far = [Constraint(b - a - (distance if k == self.axis else 0), equality=True) for k, (a, b) in pairs]
        return some_point(self.points.intersect(set_of(far, self.dims)))


def least_size(function: func.Func, buffer: Value, dim: int, *, module: func.Module | None = None) -> int | None:
    """The least size to which `fold` may fold a dimension of a buffer; None where none is less than what it has.

    Raises
    ------
    IllegalTransform
        As `fold` does where no size is legal.

    >>> from affdsl.mlir.readers import parse
    >>> rows = parse('''func.func @rows(%x: f64, %B: memref<8xf64>) {
    ...   %t = memref.alloc() : memref<9xf64>
    ...   affine.store %x, %t[0] : memref<9xf64>
    ...   affine.for %i = 0 to 8 {
    ...     affine.store %x, %t[%i + 1] : memref<9xf64>
    ...     %old = affine.load %t[%i] : memref<9xf64>
    ...     affine.store %old, %B[%i] : memref<8xf64>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> least_size(rows, rows.body[0].result, 0)
    2
    """
    what = f"fold dimension {dim} of {name(buffer)}"
    made = own_allocation(function, buffer, dim, what)
    with unwarned(), _known(made, what):
        clashes = _distances(function, made, dim, what, module)
        with spending(BUDGET):
            return _least([d for _, d in clashes], made, dim)


def _require_kept(
    function: func.Func, made: memref.Allocation, dim: int, size: int, what: str, module: func.Module | None
) -> None:
    """Raise IllegalTransform unless each read still finds what was stored for it."""
    with _known(made, what):
        clashes = _distances(function, made, dim, what, module)
        with spending(BUDGET):
            wrong = next(((each, d) for each, d in clashes if not _fits(d, size)), None)
            if wrong is not None:
                raise _refused(*wrong, made, size, what, _least([d for _, d in clashes], made, dim))


@contextmanager
def _known(made: memref.Allocation, what: str) -> Iterator[None]:
    """Refuse what is to be done where something is not known that it takes."""
    try:
        yield
    except UnknownError as error:
        raise refusal(made, what, f"what is needed at the same time is not known: {error}") from error


def _distances(
    function: func.Func, made: memref.Allocation, dim: int, what: str, module: func.Module | None
) -> list[tuple[_Clash, Set]]:
    """The clashes of a buffer, and how far apart their elements lie. Raises IllegalTransform where no size is legal."""
    dependences = Dependences(function, module)
    buffer = dependences.accesses.storage.buffer(made.result)
    if buffer.is_returned or buffer.escapes:
        raise refusal(made, what, f"others than @{function.symbol} get hold of {name(made.result)}")
    accesses = [a for a in dependences.compared if a.buffer is buffer and not isinstance(a.op, memref.Dealloc)]
    for access in accesses:
        parallel = (each for each in access.domain.loops[buffer.loops :] if not isinstance(each, affine.For | scf.For))
        if (loop := next(parallel, None)) is not None:
            raise refusal(loop, what, f"iterations that may run at the same time use {name(made.result)}")
    return [(each, each.distances()) for each in _clashes(Flow(dependences), accesses, dim, what)]


def _clashes(flow: Flow, accesses: list[Access], dim: int, what: str) -> Iterator[_Clash]:
    writes = [a for a in accesses if a.kind == "write"]
    for read in (a for a in accesses if a.kind == "read"):
        nobody = flow.live_in(read)
        if nobody is None or not nobody.is_empty():
            raise refusal(read.op, what, f"{access_name(read)} may read what nobody stored")
        type = read.buffer.type
        assert isinstance(type, MemRefType)
        elements = read.buffer.loops + type.rank
        dims = tuple(Value(INDEX, f"x{k}") for k in range(len(read.ivs) + 2 * elements))
        for last in flow.writers(read):
            for write in writes:
                points = flow.stored_meanwhile(last, write).wrap().flatten()
                if points.dim(Dim.set) != len(dims):
                    raise UnknownError("elements are counted in another way than the buffer's type says")
                if not points.is_empty():
                    yield _Clash(read, write, points, dims, elements, read.buffer.loops + dim)


def _fits(distances: Set, size: int) -> bool:
    """Whether no distance is a multiple of a size, but for none at all."""
    return distances.intersect(_multiples(size)).is_empty()


def _multiples(size: int) -> Set:
    far = Value(INDEX, "x")
    divides = Constraint(far - far // size * size, equality=True)
    return set_of([divides, Constraint(far - 1)], [far]).union(set_of([divides, Constraint(-far - 1)], [far]))


def _least(distances: list[Set], made: memref.Allocation, dim: int) -> int | None:
    """The least size that is legal, of those that are tried; None if none is, or none is smaller than the buffer."""
    most = [end for each in distances for end in ends(each, 0)]
    enough = max((abs(end) for end in most if end is not None), default=0) + 1 if None not in most else None
    tried = [*range(1, MOST_SIZES + 1), *([enough] if enough is not None and enough > MOST_SIZES else [])]
    found = next((size for size in tried if all(_fits(each, size) for each in distances)), None)
    assert isinstance(made.result.type, MemRefType)
    whole = made.result.type.shape[dim]
    return None if found is None or (whole is not None and found >= whole) else found


def _refused(
    clash: _Clash, distances: Set, made: memref.Allocation, size: int, what: str, least: int | None
) -> IllegalTransform:
    """The error with two elements that would be one."""
    low, high = ends(distances.intersect(_multiples(size)), 0)
    near = [each for each in (low, high) if each is not None]
    found = clash.at(min(near, key=abs)) if near else None
    reason = f"{access_name(clash.write)} takes the place of an element that {access_name(clash.read)} still needs"
    if found is not None:
        sizes, point = found
        names = {name_of(v): v.hint for v in (*clash.read.relation.params, *clash.write.relation.params)}
        given = ", ".join(f"{names.get(each, each)} = {number}" for each, number in sizes.items())
        iteration, ours, other = (
            point[: len(clash.read.ivs)], point[-2 * clash.elements : -clash.elements], point[-clash.elements :]
        )  # fmt: skip
        loops = clash.read.buffer.loops
        first, second = (f"{name(made.result)}[{', '.join(map(str, each[loops:]))}]" for each in (ours, other))
        reason += (
            f",\ne.g. {iteration_name(clash.read.ivs, iteration)} reads {first}, and {second} is stored before"
            + (f" (for {given})" if given else "")
        )
    candidates = () if least is None else (
        Proposal((Step("fold", (made.result, clash.axis - clash.read.buffer.loops, least)),), asks_again=False),
    )  # fmt: skip
    return refusal(made, what, reason, candidates=candidates)
