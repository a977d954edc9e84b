"""How the element that an access touches moves when a loop goes on to its next iteration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Constraint, Value
from affdsl.ir.layouts import has_rows, strided
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.boxes import answer
from affdsl.passes.analysis.dependence import described
from affdsl.passes.analysis.polyhedral import Dim, Map, sample_of, set_of
from affdsl.passes.analysis.relations import Relation, iterator, local, map_from, relation, remembered
from affdsl.passes.analysis.scope import Scope

Motion = Literal["invariant", "contiguous", "reversed", "strided", "varying", "unknown"]


class Stride(FrozenValue):
    """How an access moves with a loop, the other loops staying where they are.

    Between any two iterations of the loop in which the access runs, it moves by `vector` for each iteration of the loop
    from the first to the second. A vector or a copy moves as a whole. An access that never runs in two iterations does
    not move.

    Attributes
    ----------
    motion
        "invariant": it touches the same elements. "contiguous": those that lie next in memory. "reversed": those that
        lie just before. "strided": others, always equally far away. "varying": it does not move evenly. "unknown".
    vector
        The step in each dimension of the buffer, or in those that its subscripts hide; None if it varies or is not
        known.
    elements
        The step in memory, in elements; None where the vector is, or the layout of the buffer does not say.
    reason
        Why it varies or is unknown; otherwise empty.
    """

    motion: Motion
    vector: tuple[int, ...] | None = None
    elements: int | None = None
    reason: str = ""

    @property
    def is_even(self) -> bool:
        """Whether it moves by the same vector in each iteration."""
        return self.vector is not None

    def __str__(self) -> str:
        if self.vector is None:
            return self.motion
        if self.motion != "strided":
            return self.motion
        return f"stride {self.elements if self.elements is not None else self.vector}"


def strides(access: Access, scope: Scope) -> Mapping[Value, Stride]:
    """How an access moves with each loop around it, outermost first.

    >>> from affdsl.mlir.readers import parse
    >>> from affdsl.passes.analysis.access import Accesses
    >>> module = parse('''
    ... func.func @f(%A: memref<8x16xf32>) {
    ...   affine.for %i = 0 to 8 { affine.for %j = 0 to 8 step 2 {
    ...     affine.for %k = 0 to 4 { %a = affine.load %A[%i, %j + 7 - %k] : memref<8x16xf32> }
    ...   } }
    ...   return
    ... }''')
    >>> of = Accesses(module.functions[0])
    >>> [str(stride) for stride in strides(of.all[0], of.scope).values()]
    ['stride 16', 'stride 2', 'reversed']
    """
    return {iv: stride(access, iv, scope) for iv in access.ivs}


def stride(access: Access, iv: Value, scope: Scope) -> Stride:
    """How an access moves with one of the loops around it.

    Raises ValueError for the induction variable of another loop.
    """
    if iv not in access.ivs:
        raise ValueError(f"%{iv.hint} is no loop around {described(access)}")
    if access.recovered is not None and access.recovered.is_needed:
        access = access.by_dimensions
    if access.index is None:
        return Stride("unknown", reason=access.unknown[-1])
    if access.ivs.index(iv) < access.buffer.loops:
        return Stride("varying", reason=f"each iteration of %{iv.hint} makes another {access.buffer.name}")
    step = _step(access, iv, scope)
    vector = _by_form(access, iv, step)
    if vector is None:
        found = _by_points(access, iv, step)
        if found is None:
            return Stride("unknown", reason=f"isl needs too long for {described(access)}")
        (vector,) = found
    if vector is not None:
        return _classified(access, vector[access.buffer.loops :])
    if access.is_exact and step is not None:
        return Stride("varying", reason=f"{described(access)} does not move evenly with %{iv.hint}")
    return Stride("unknown", reason="; ".join(access.unknown) or f"the step of %{iv.hint} is known only at run time")


def supposed(found: Stride, access: Access) -> Stride:
    """A stride where elements of the last dimension are neighbours, supposed that they are if the layout does not say.

    They are in most arrays: this is for what pays, and nothing that must be right may rely on it.
    """
    type = access.buffer.type
    if found.elements is not None or not found.vector or any(found.vector[:-1]) or not isinstance(type, MemRefType):
        return found
    moved = found.vector[-1]
    return Stride(_NEXT.get(moved, "strided"), found.vector, moved) if has_rows(type) is None else found


def _step(access: Access, iv: Value, scope: Scope) -> int | None:
    """By how much an induction variable grows; None where that is known only at run time."""
    loop: Op = access.domain.loops[access.ivs.index(iv)]
    match loop:
        case affine.For(step=step):
            return step
        case affine.Parallel():
            return loop.steps[loop.ivs.index(iv)]
        case scf.For():
            return _constant(loop.step, access, scope)
        case scf.Parallel():
            return _constant(loop.steps[loop.ivs.index(iv)], access, scope)
    return None


def _constant(value: Value, access: Access, scope: Scope) -> int | None:
    found, _ = scope.value(value, access.domain)
    return found.constant if found.is_constant else None


def _by_form(access: Access, iv: Value, step: int | None) -> tuple[int, ...] | None:
    """The vector, where the form of the index shows it."""
    assert access.index is not None
    free = set(_free(access))
    if any(v in access.domain.locals and v not in free for e in access.index for v in e.values()):
        return None
    moved = [e.substitute({iv: iv + (step or 1)}) - e for e in access.index]
    if all(e.is_constant for e in moved) and (step is not None or not any(e.constant for e in moved)):
        return tuple(e.constant for e in moved)
    return None


def _by_points(access: Access, iv: Value, step: int | None) -> tuple[tuple[int, ...] | None] | None:
    """The vector, or None, as isl finds whether all pairs of iterations are apart by a multiple of it.

    None where isl needs too long.
    """
    assert access.index is not None
    domain = access.domain
    free = _free(access)
    # What is free is touched with each of its values: one after the other they are as good as loops.
    others = tuple(q for q in domain.locals if q not in free)
    new: dict[Value, Value] = {v: iterator(k) for k, v in enumerate((*domain.ivs, *free))}
    new |= {q: local(k) for k, q in enumerate(others)}
    clauses = tuple(
        tuple(tuple(c.substitute(new) for c in constraints) for constraints in clause) for clause in domain.clauses
    )
    # In all other dimensions the loop stays where it is: what is not asked about is quicker to answer.
    moving = [k for k, e in enumerate(access.index) if any(v is iv or v in others for v in e.values())]
    index = tuple(access.index[k].substitute(new) for k in moving)
    single = relation(len(domain.ivs) + len(free), len(others), access.relation.params, clauses, index)
    axis = domain.ivs.index(iv)
    question = ("stride", single, axis, step)
    found = answer(described(access), lambda: remembered(question, lambda: (_even(single, axis, step),)))
    if found is None or found[0] is None:
        return found
    moved = dict(zip(moving, found[0], strict=True))
    return (tuple(moved.get(k, 0) for k in range(len(access.index))),)


def _even(of: Relation, axis: int, step: int | None) -> tuple[int, ...] | None:
    """The vector by which all iterations of one loop are apart, as a multiple of the number of steps between them."""
    touched = map_from(of)
    dims, count = touched.dim(Dim.in_), touched.dim(Dim.out)
    graph = Map.identity(touched.get_space().domain().map_from_set()).flat_range_product(touched).range()
    pairs = Map.from_domain_and_range(graph, graph).order_lt(Dim.in_, axis, Dim.out, axis)
    for k in range(dims):
        if k != axis:
            pairs = pairs.equate(Dim.in_, k, Dim.out, k)
    apart = pairs.deltas()
    apart = apart.project_out(Dim.param, 0, apart.dim(Dim.param))
    if apart.is_empty():
        return (0,) * count
    point = sample_of(apart)
    further, moved = point[axis], [*point[dims : dims + count]]
    if step is None:
        vector = moved
        if any(moved):
            return None
    else:
        vector = [n * step // further for n in moved]
    places = tuple(map(iterator, range(dims + count)))
    evenly = [
        Constraint(places[dims + k] * (step or 1) - places[axis] * n, equality=True) for k, n in enumerate(vector)
    ]
    return tuple(vector) if apart.is_subset(set_of(evenly, places)) else None


def _free(access: Access) -> tuple[Value, ...]:
    """The locals that take all values of a range, each of which is touched: lanes, bytes, positions."""
    domain = access.domain
    chosen = {v for clause in domain.clauses if len(clause) > 1 for part in clause for c in part for v in c.values()}
    varying = {*domain.ivs, *domain.locals}
    found: dict[Value, None] = {}
    for clause in domain.clauses:
        if len(clause) == 1:
            signs: dict[Value, set[bool]] = {}
            for constraint in clause[0]:
                within = [v for v in constraint.values() if v in varying]
                terms = dict(constraint.expr.terms)
                if len(within) == 1 and within[0] in domain.locals and not constraint.equality:
                    signs.setdefault(within[0], set()).add(terms.get(within[0], 0) > 0)
            found |= dict.fromkeys(v for v, ends in signs.items() if len(ends) == 2 and v not in chosen)
    return tuple(found)


_NEXT: Mapping[int, Motion] = {1: "contiguous", -1: "reversed"}


def _classified(access: Access, vector: tuple[int, ...]) -> Stride:
    """A stride by what it means in memory."""
    if not any(vector):
        return Stride("invariant", vector, 0)
    distances = _distances(access)
    steps = [None if distances is None else distances[k] for k, n in enumerate(vector) if n]
    known = [s * n for s, n in zip(steps, filter(None, vector), strict=True) if s is not None]
    if len(known) < len(steps):
        return Stride("strided", vector)
    elements = sum(known)
    return Stride(_NEXT.get(elements, "strided"), vector, elements)


def _distances(access: Access) -> list[int | None] | None:
    """How far the elements of each dimension lie apart in memory; None where that is not known."""
    type = access.buffer.type
    layout = strided(type) if isinstance(type, MemRefType) else None
    if layout is None or access.recovered is None or access.index is not access.recovered.index:
        return None if layout is None else list(layout.strides)
    found: list[int | None] = []
    for step, chain in zip(layout.strides, access.recovered.chains, strict=True):
        inner = [step]
        for size in chain:
            last = inner[-1]
            inner.append(last * size.constant if last is not None and size.is_constant else None)
        found += reversed(inner)
    return found
