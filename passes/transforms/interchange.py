"""Runs perfectly nested loops in another order, triangles included, by new bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, scf
from affdsl.ir.expr import Constraint, Term, Value
from affdsl.ir.traverse import fresh, holders, with_fields
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.polyhedral import UnknownError, set_of
from affdsl.passes.legality.order import Time, new_order, text_time
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.require import Candidate, carried_reductions, require_order, reversed_first, skewed
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import band_of, replaced
from affdsl.passes.transforms.loops.scanning import scan


def interchange(
    function: func.Func,
    outer: Value,
    inner: Value,
    *,
    reassociate: bool = False,
    module: func.Module | None = None,
) -> func.Func:
    """Swap two perfectly nested loops, one right inside of the other.

        for i = 0 to n: for j = 0 to i: S      ->      for j = 0 to n - 1: for i = j + 1 to n: S

    Refuses if a dependence has direction (<, >), or may have.

    Parameters
    ----------
    outer, inner
        The induction variables of the loops, which they keep.
    reassociate
        Allow sums and products of floats to be made in another order, which may round in another way.
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        With the dependence, its distance and two iterations; or if the loops are not perfectly nested, carry values
        (iter_args) that are not only combined, or have new bounds that affine.for cannot say.

    References
    ----------
    Wolfe, "High Performance Compilers for Parallel Computing", ch. 9.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @copy(%A: memref<9x9xf32>, %B: memref<9x9xf32>) {
    ...   affine.for %i = 0 to 9 {
    ...     affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
    ...       %a = affine.load %A[%i, %j] : memref<9x9xf32>
    ...       affine.store %a, %B[%j, %i] : memref<9x9xf32>
    ...     }
    ...   }
    ...   return
    ... }''').functions[0]
    >>> i, j = f.body[0].iv, f.body[0].body[0].iv
    >>> print(interchange(f, i, j))
    func.func @copy(%A: memref<9x9xf32>, %B: memref<9x9xf32>) {
      affine.for %j = 0 to 8 {
        affine.for %i = affine_map<(d0) -> (d0 + 1)>(%j) to 9 {
          %a = affine.load %A[%i, %j] : memref<9x9xf32>
          affine.store %a, %B[%j, %i] : memref<9x9xf32>
        }
      }
      return
    }
    """
    what = f"interchange loops {name(outer)} and {name(inner)}"

    loops = [op for op in holders(function) if isinstance(op, scf.For | affine.For) and op.iv in (outer, inner)]
    if len(loops) == 2 and any(isinstance(loop, scf.For) for loop in loops):
        return _with_bounds_of_data(function, loops[0], loops[1], what, module, reassociate)
    band = band_of(function, (outer, inner), what, carrying=True)
    return _permuted(function, band, (band[1].iv, band[0].iv), what, module, reassociate)


def permute(
    function: func.Func, ivs: Sequence[Value], *, reassociate: bool = False, module: func.Module | None = None
) -> func.Func:
    """Bring perfectly nested loops into the order of their induction variables in `ivs`, outermost first.

        for i: for j: for k: S      ->      for k: for i: for j: S

    Refuses and raises as `interchange`.
    """
    what = f"bring loops into the order {', '.join(map(name, ivs))}"

    band = band_of(function, ivs, what, carrying=True)
    return _permuted(function, band, tuple(ivs), what, module, reassociate)


def is_permutable(dependences: Dependences, band: Sequence[affine.For], order: Sequence[Value]) -> bool:
    """Whether a band of perfectly nested loops may run in another order."""
    return new_order(dependences, band[0], _time(dependences, band, order)) is None


def reordered(band: Sequence[affine.For], order: Sequence[Value]) -> tuple[Op, ...]:
    """A band in another order, whether that is legal or not.

    Raises
    ------
    UnknownError
        Where affine.for cannot say its bounds.
    """
    loop_of = {loop.iv: loop for loop in band}
    first = 0
    while first < len(band) and band[first].iv is order[first]:
        first += 1
    last = len(band)
    while last > first and band[last - 1].iv is order[last - 1]:
        last -= 1
    changed = band[first:last]
    if not changed:
        return (band[0],)
    loops = [loop_of[iv] for iv in order[first:last]]
    own = {loop.iv for loop in changed}
    if any(value in own for loop in changed for expr in (*loop.lower, *loop.upper) for value in expr.values()):
        if changed[0].results:
            raise UnknownError("its loops carry values (iter_args), and the bounds of one move with another")
        constraints = [c for loop in changed for c in _within(loop)]
        dims = [loop.iv for loop in loops]
        params = tuple(dict.fromkeys(v for c in constraints for v in c.values() if v not in own))
        inside = scan(set_of(constraints, dims, params), loops, params, changed[-1].body)
    else:
        inside = (_nested(loops, changed),)
    for loop in reversed(band[:first]):
        inside = (with_fields(loop, body=(*inside, *loop.body[1:])),)
    return inside


def _permuted(
    function: func.Func,
    band: Sequence[affine.For],
    order: Sequence[Value],
    what: str,
    module: func.Module | None,
    reassociate: bool,
) -> func.Func:
    if all(loop.iv is iv for loop, iv in zip(band, order, strict=True)):
        return function
    dependences = Dependences(function, module)
    require_order(
        dependences,
        band[0],
        _time(dependences, band, order),
        what=what,
        reductions=carried_reductions(dependences, band, what, reassociate=reassociate),
        combining=order,
        reassociate=reassociate,
        candidates=_candidates(dependences, band, order),
    )
    try:
        new = reordered(band, order)
    except UnknownError as error:
        raise refusal(band[0], what, f"the new bounds cannot be written as those of affine.for: {error}") from error
    return replaced(function, band[0], *new)


def _with_bounds_of_data(
    function: func.Func,
    outer: affine.For | scf.For,
    inner: affine.For | scf.For,
    what: str,
    module: func.Module | None,
    reassociate: bool,
) -> func.Func:
    """Two loops swapped of which at least one has bounds that come from data: each keeps its own."""
    if outer.body != (inner,):
        raise refusal(
            outer, what, f"the loop {name(outer.iv)} does not hold the loop {name(inner.iv)} and nothing else"
        )
    bounds = with_fields(inner, body=()).mentions()
    if outer.iv in bounds:
        raise refusal(inner, what, f"the bounds of the loop {name(inner.iv)} depend on {name(outer.iv)}")
    dependences = Dependences(function, module)
    inside = len(dependences.accesses.domains[outer].ivs) + 2

    def time(access: Access) -> Sequence[Term]:
        return (inner.iv, outer.iv, *text_time(dependences, access, inside))

    both = (outer.iv, inner.iv)
    require_order(dependences, outer, time, what=what, combining=both, reassociate=reassociate)
    return replaced(function, outer, with_fields(inner, body=(with_fields(outer, body=inner.body),)))


def _nested(loops: Sequence[affine.For], old: Sequence[affine.For]) -> affine.For:
    """Loops in each other, with the body of other ones; what those carry in and out, these do."""
    body, made = old[-1].body, old[-1]
    for k, loop in reversed(list(enumerate(loops))):
        results = old[0].results if k == 0 else tuple(fresh(v) for v in old[0].results)
        carried = made.inits if made is not old[-1] else old[-1].carried
        inits = old[0].inits if k == 0 else tuple(fresh(v) for v in old[0].carried)
        made = with_fields(loop, body=body, inits=inits, carried=carried, results=results)
        body = (made, affine.Yield(results, location=loop.location)) if results else (made,)
    return made


def _time(dependences: Dependences, band: Sequence[affine.For], order: Sequence[Value]) -> Time:
    inside = len(dependences.accesses.domains[band[0]].ivs) + len(band)

    def time(access: Access) -> Sequence[Term]:
        return (*order, *text_time(dependences, access, inside))

    return time


def _candidates(dependences: Dependences, band: Sequence[affine.For], order: Sequence[Value]) -> Iterator[Candidate]:
    time = _time(dependences, band, order)
    for outer, inner in pairwise(band):
        yield from skewed(time, outer.iv, inner.iv)
    for loop in reversed(band):
        yield from reversed_first(dependences, time, loop.iv)


def _within(loop: affine.For) -> Iterator[Constraint]:
    """What holds of the induction variable of a loop."""
    yield from (Constraint(loop.iv - lower) for lower in loop.lower)
    yield from (Constraint(upper - loop.iv - 1) for upper in loop.upper)
    if loop.step > 1:
        if len(loop.lower) > 1:
            raise UnknownError(f"{name(loop.iv)} begins at the largest of several numbers, in steps of {loop.step}")
        yield Constraint((loop.iv - loop.lower[0]) % loop.step, equality=True)
