"""Whether lanes may do what iterations do: neighbours in memory, and nothing behind the end of a loop that is seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.traverse import walk
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.certain import holds
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.trip_count import trip_count
from affdsl.passes.mlir_opt.super_vectors.choice import Makers
from affdsl.passes.transforms.hoist.faults import never_fails
from affdsl.passes.transforms.loops.unrolling import constant_trips

SAME = -1
"""No dimension: all lanes are at one element."""
MOST_TRIED = 1 << 14
"""So many iterations of a loop are looked at one by one."""


def to_be_masked(
    root: affine.For, dims: Mapping[Value, int], sizes: Sequence[int], accesses: Accesses, makers: Makers
) -> frozenset[Op] | None:
    """The accesses that must leave out lanes behind the end of a loop, if loops may run so many iterations as lanes.

    `dims` are the loops, by their induction variables, with the dimension of the vectors that each becomes. Lanes
    behind the end read what means nothing, so nothing may fail for it, and what nobody has stored is not read. Nor may
    they store: that needs no mask where what they would store to lies outside of its array, since such lanes are left
    out. None where lanes are not what iterations are: where they are no neighbours in an array, or loops inside run
    differently often. That iterations do not depend on each other is to be known.
    """
    masked: set[Op] = set()
    constants = {v: op.value for v, op in makers.constants.items()}
    loops = {op.iv: op for op in walk(root) if isinstance(op, affine.For)}
    made = {v for op in walk(root) for v in op.defines()}
    whole = {iv for iv, dim in dims.items() if _is_whole(loops[iv], sizes[dim], accesses)}
    bounds = {iv: _read_by(loop, makers) for iv, loop in loops.items()}
    if not all(of.isdisjoint(dims) for of in bounds.values()):
        return None
    alike = [
        loop
        for iv, loop in loops.items()
        if not any(iv in of for of in bounds.values()) and bounds[iv].isdisjoint(loops)
    ]
    around = _around(root, dims)
    for op in walk(root):
        if isinstance(op, affine.For | affine.Yield | affine.Apply | arith.Constant):
            continue
        ivs = around[op]
        if sorted(dims[iv] for iv in ivs) != list(range(len(sizes))):
            return None
        if not isinstance(op, affine.Load | affine.Store):
            if not (whole >= set(ivs) or never_fails(op, constants)):
                return None
            continue
        exprs = [makers.resolved(e) for e in op.index]
        if any(v in made for e in exprs for v in e.values()):
            return None  # a subscript that is computed otherwise may vary in any way
        axes = {iv: axis for iv in ivs if (axis := _axis(exprs, loops[iv], sizes[dims[iv]])) is not None}
        along = [axis for axis in axes.values() if axis != SAME]
        if len(axes) < len(ivs) or len(set(along)) < len(along):
            return None
        if isinstance(op, affine.Store) and len(along) < len(ivs):
            return None
        if isinstance(op, affine.Load) and accesses.storage.buffer(op.memref).kind == "argument":
            continue  # whatever is in there may be read
        if not all(
            axis == SAME or iv in whole or _leaves(op, loops[iv], axis, alike, accesses) for iv, axis in axes.items()
        ):
            masked.add(op)
    return frozenset(masked)


def _around(root: affine.For, dims: Mapping[Value, int]) -> dict[Op, tuple[Value, ...]]:
    """The vectorized loops around each operation, outermost first."""
    found: dict[Op, tuple[Value, ...]] = {root: ()}
    for op in walk(root):
        here = found[op]
        if isinstance(op, affine.For):
            here = (*here, op.iv) if op.iv in dims else here
            found.update(dict.fromkeys(op.body, here))
    return found


def _is_whole(loop: affine.For, size: int, accesses: Accesses) -> bool:
    """Whether a loop certainly ends with a whole vector."""
    trips = constant_trips(loop)
    return not (trip_count(loop, loop.iv, accesses).divisor if trips is None else trips) % size


def _axis(exprs: Sequence[Affine], loop: affine.For, size: int) -> int | None:
    """The dimension in which iterations of a loop, as lanes of a vector, are neighbours; SAME where all are at the same
    element, and None where they are spread in another way."""
    varying = [axis for axis, expr in enumerate(exprs) if loop.iv in expr.values()]
    if not varying:
        return SAME
    return varying[0] if len(varying) == 1 and _are_neighbours(exprs[varying[0]], loop, size) else None


def _are_neighbours(expr: Affine, loop: affine.For, size: int) -> bool:
    own = Affine(tuple((atom, c) for atom, c in expr.terms if loop.iv in _values(atom)))
    if own == loop.iv * (own.terms[0][1] if own.terms else 0):
        return own.terms[0][1] * loop.step == 1
    trips = constant_trips(loop)
    if trips is None or trips > MOST_TRIED or set(own.values()) != {loop.iv} or len(loop.lower) != 1:
        return False
    if not loop.lower[0].is_constant:
        return False
    at = [own.evaluate({loop.iv: loop.lower[0].constant + k * loop.step}) for k in range(trips)]
    return all(at[k] == at[k - k % size] + k % size for k in range(trips))


def _values(atom: object) -> set[Value]:
    return set(Affine(((atom, 1),)).values())  # type: ignore[arg-type]


def _leaves(
    access: affine.Load | affine.Store,
    loop: affine.For,
    axis: int,
    alike: Sequence[affine.For],
    accesses: Accesses,
) -> bool:
    """Whether an access that runs along a dimension leaves its array there behind the end of a loop.

    `alike` are the loops that run alike in all iterations of the others: there are no conditions, so wherever one of
    their iterations runs, the first and the last ones do, and lie inside.
    """
    scope, domain = accesses.scope, accesses.domains[access]
    sizes = [scope.size_of(access.memref, k) for k in range(len(access.index))]
    size, expr = sizes[axis], access.index[axis]
    if size is None or loop.iv not in domain.ivs or loop.iv in (expr - loop.iv).values():
        return False
    ends = [
        (each.iv, each.lower[0], each.upper[0] - 1)
        for each in alike
        if each.iv in domain.ivs and each.step == len(each.lower) == len(each.upper) == 1
    ]
    for at in ({iv: first for iv, first, _ in ends}, {iv: last for iv, _, last in ends}):
        domain = _inside([e.substitute(at) for e in access.index], sizes, domain, accesses)
    for end in loop.upper:
        behind, where = scope.expr(expr.substitute({loop.iv: end}) - size, domain)
        if not holds(behind, where):
            return False
    return True


def _read_by(loop: affine.For, makers: Makers) -> set[Value]:
    """What the bounds of a loop depend on."""
    return {v for bound in (*loop.lower, *loop.upper) for v in makers.resolved(bound).values()}


def _inside(exprs: Sequence[Affine], sizes: Sequence[Affine | None], domain: Domain, accesses: Accesses) -> Domain:
    """A domain where elements lie inside of their array."""
    for expr, size in zip(exprs, sizes, strict=True):
        made, domain = accesses.scope.expr(expr, domain)
        facts = [Constraint(made)]
        if size is not None:
            limit, domain = accesses.scope.expr(size, domain)
            facts.append(Constraint(limit - 1 - made))
        domain = domain.where((tuple(facts),))
    return domain
