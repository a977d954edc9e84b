"""Unrolls a loop and runs its copies together inside the loops that it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.messages import shown
from affdsl.ir.traverse import holders, like, rewrite, walk, with_fields
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.trip_count import trip_count
from affdsl.passes.legality.early import require_to_end
from affdsl.passes.legality.order import Time, text_time
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.require import Candidate, skewed
from affdsl.passes.transforms.loops.groups import require_groups, rests_of, splits_of
from affdsl.passes.transforms.unroll_jam.copies import Copies
from affdsl.passes.transforms.unroll_jam.reductions import kinds_of, started, together

MOST_OPERATIONS = 100_000
"""How many operations are made of one loop at most."""


def unroll_jam(
    function: Func,
    iv: Value,
    factor: int,
    *,
    reassociate: bool = False,
    module: Module | None = None,
) -> Func:
    """Run several iterations of a loop together, statement by statement, inside the loops that it holds.

        for i = 0 to n {          for i = 0 to n - n mod 2 step 2 {
          A(i)                      A(i); A(i + 1)
          for j = 0 to m {   ->     for j = 0 to m { B(i, j); B(i + 1, j) }
            B(i, j)               }
          }                       for i = n - n mod 2 to n { A(i); for j = 0 to m { B(i, j) } }
        }

    Values that the loops inside carry are carried for each copy. A number that the loop itself reduces is reduced in
    each copy, and the numbers of all copies are combined in the end; what it starts with counts once. Loops inside
    whose bounds move with i run together where all copies run, and each copy alone before and after that.

    What is left over by several upper bounds is done in a loop for each of them, of which one runs at most.

    Refuses where a dependence runs against the new order, where a loop with loops inside carries a value that it does
    not reduce, and where the bounds of i, or those of a loop inside that move with it, cannot be split by affine ones.

    Parameters
    ----------
    iv
        The induction variable of the loop.
    factor
        How many iterations run together; the rest runs in a loop of its own.
    reassociate
        Let sums and products of floats that the loop carries be rounded in another order.
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        With the dependence, its distance and two iterations, or with what else is in the way.
    ValueError
        For an iv that no affine.for of the function counts, or a factor below 2.

    References
    ----------
    Allen and Cocke, "A catalogue of optimizing transformations", 1972; Carr and Kennedy, "Improving the ratio of
    memory operations to floating-point operations in loops", TOPLAS 1994.

    >>> from affdsl.mlir.readers import parse
    >>> function = parse('''func.func @f(%A: memref<8x9xf32>, %x: f32) {
    ...     affine.for %i = 0 to 8 { affine.for %j = 0 to 9 { affine.store %x, %A[%i, %j] : memref<8x9xf32> } }
    ...     return
    ... }''').functions[0]
    >>> print(unroll_jam(function, function.body[0].iv, 2))
    func.func @f(%A: memref<8x9xf32>, %x: f32) {
      affine.for %i = 0 to 8 step 2 {
        affine.for %j = 0 to 9 {
          affine.store %x, %A[%i, %j] : memref<8x9xf32>
          %i_1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
          affine.store %x, %A[%i_1, %j] : memref<8x9xf32>
        }
      }
      return
    }
    """
    loops = {op.iv: op for op in holders(function) if isinstance(op, affine.For)}
    if iv not in loops:
        listed = ", ".join(map(shown, loops)) or "none"
        raise ValueError(f"no affine.for of @{function.symbol} counts {shown(iv)}; its loops are {listed}")
    if factor < 2:
        raise ValueError(f"at least 2 iterations are jammed, not {factor}")
    known = Dependences(function, module)
    new = jammed_loop(loops[iv], factor, known, reassociate)
    return rewrite(function, lambda op: new if isinstance(op, affine.For) and op.iv is iv else None)


def jammed_loop(
    loop: affine.For,
    factor: int,
    dependences: Dependences,
    reassociate: bool = False,
    *,
    one_upper: bool = False,
) -> Block:
    """The loop of jammed iterations, and loops over the rest where there may be one.

    With `one_upper`, a loop of whose several upper bounds something may be left over is refused.
    """
    what = f"unroll and jam the loop {shown(loop.iv)} by {factor}"
    require_to_end(loop, dependences.accesses.function, what, "jammed, it would run until all copies have left it")
    trips = trip_count(loop, loop.iv, dependences.accesses)
    if trips.number is not None and trips.number < factor:
        raise refusal(loop, what, f"it runs {trips.number} times, fewer than {factor}", "a factor that is not larger")
    size = sum(1 for _ in walk(loop))
    if size * factor > MOST_OPERATIONS:
        reason = f"its {size} operations would become {size * factor}, and at most {MOST_OPERATIONS} are made"
        raise refusal(loop, what, reason, "a smaller factor")
    if len(loop.lower) > 1:
        raise refusal(loop, what, f"{shown(loop.iv)} has several lower bounds: where its iterations lie is not affine")
    is_whole = not trips.unknown and trips.divisor % factor == 0
    if one_upper and not is_whole and len(loop.upper) > 1:
        raise refusal(loop, what, f"{shown(loop.iv)} has several upper bounds, and something may be left over")
    splits = (None,) * len(loop.upper) if is_whole else splits_of(loop, factor)
    copies = Copies(loop, factor, what)
    kinds = kinds_of(loop, dependences, what, reassociate) if loop.carried and not copies.in_sequence else ()
    new = copies.body()
    if trips.high is None or trips.high >= factor:  # otherwise no group of iterations is ever whole
        _check(loop, factor, splits, dependences, what)
    whole = tuple(high if split is None else split for high, split in zip(loop.upper, splits, strict=True))
    main = with_fields(loop, body=new, step=loop.step * factor, upper=whole)
    rests = rests_of(loop, splits, trips)
    between = rests[0].inits if rests else loop.results
    return (*_with_reductions(main, copies, kinds, between), *rests)


def _with_reductions(
    main: affine.For, copies: Copies, kinds: Sequence[str | None], results: tuple[Value, ...]
) -> Block:
    """The loop of jammed iterations with what it carries: a number for each copy, which are combined in the end."""
    if not kinds:
        return (with_fields(main, results=results),)
    before, inits = started(main, kinds, copies.factor)
    found = [
        tuple(old if k == 0 and kind is None else like(old) for old, kind in zip(results, kinds, strict=True))
        for k in range(copies.factor)
    ]
    given, carried, made = ([v for each in values for v in each] for values in (inits, copies.carried, found))
    loop = with_fields(main, inits=tuple(given), carried=tuple(carried), results=tuple(made))
    return (*before, loop, *together(main, kinds, found, results))


def body_of(loop: affine.For) -> Block:
    """What an iteration does, without the end."""
    return tuple(op for op in loop.body if not op.is_terminator)


def loops_in(block: Block) -> Iterator[affine.For]:
    """All loops in a block, at any depth."""
    return (inner for op in block for inner in holders(op) if isinstance(inner, affine.For))


def _check(
    loop: affine.For,
    factor: int,
    splits: Sequence[Affine | None],
    dependences: Dependences,
    what: str,
) -> None:
    """Raise IllegalTransform unless every dependence runs from earlier statements to later ones."""
    around = len(dependences.accesses.domains[loop].ivs)
    places: dict[Op, tuple[Term, ...]] = {}
    _number(loop.body, (), places)

    def within(access: Access) -> Sequence[Term]:
        place = places[access.op]
        inner = around + 1 + sum(isinstance(part, Value) for part in place)
        return (*place, loop.iv, *text_time(dependences, access, inner))

    def alternatives(time: Time) -> Iterator[Candidate]:
        for inner in islice(loops_in(loop.body), 2):
            if inner.iv not in {v for e in (*loop.lower, *loop.upper) for v in e.values()}:
                yield from skewed(time, loop.iv, inner.iv, (1, 2))

    require_groups(dependences, loop, factor, splits, within, what=what, candidates=alternatives)


def _number(block: Block, before: tuple[Term, ...], places: dict[Op, tuple[Term, ...]]) -> None:
    """Where each operation runs, but for the copy: the loops around that are shared, and places in their bodies.

    Operations between two loops have one place: each copy runs them all before the next copy does.
    """
    place = 0
    in_run = False
    for op in block:
        if isinstance(op, affine.For):
            place += 1
            places[op] = (*before, place)
            _number(op.body, (*before, place, op.iv), places)
            in_run = False
        else:
            place += not in_run
            places.update(dict.fromkeys(walk(op), (*before, place)))
            in_run = True


# Where bounds of a loop j inside move with i, one at each end, the copies of j run in three parts one after the other:
# each copy alone below all starts, all together, and each copy alone beyond the first end. For one group of iterations
# of i, a part is a function of j and grows with j; bounds that do not move leave the same j out of all copies. So it is
# enough that the order is right in which j comes first and then i: a dependence from a smaller j to a larger one goes
# from a part to the same or a later one, and one within a part where copies run alone goes from an iteration of i to
# the same or a later one, as it did.
