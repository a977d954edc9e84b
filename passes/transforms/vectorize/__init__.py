"""Runs several iterations of a loop at once, as the lanes of vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Literal

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import holders, walk, with_fields
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.early_exits import early_loops
from affdsl.passes.analysis.trip_count import trip_count
from affdsl.passes.legality.early import require_to_end
from affdsl.passes.legality.order import Time, text_time
from affdsl.passes.legality.proposals import Proposal, Step
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.legality.require import Candidate, interchanged, require_order, skewed
from affdsl.passes.legality.words import name
from affdsl.passes.lowering.carried_variables import without_own_variables
from affdsl.passes.transforms.loops.groups import require_groups, rests_of, splits_of
from affdsl.passes.transforms.loops.nests import instead, loop_of, replaced
from affdsl.passes.transforms.vectorize.branches import without_branches
from affdsl.passes.transforms.vectorize.carried import NOTHING, left_in_lanes, wide_loop
from affdsl.passes.transforms.vectorize.counted import counts
from affdsl.passes.transforms.vectorize.counters import without_counters, without_idle_counters
from affdsl.passes.transforms.vectorize.crossings import crossings, split_at
from affdsl.passes.transforms.vectorize.loads import loaded_once
from affdsl.passes.transforms.vectorize.lowers import by_lower_bounds
from affdsl.passes.transforms.vectorize.nests import require_lanes, vectorize_nest
from affdsl.passes.transforms.vectorize.overlapped import last_vector, loaded_early, overlapped, require_repeatable
from affdsl.passes.transforms.vectorize.searches import VECTORS, in_blocks
from affdsl.passes.transforms.vectorize.short_integers import in_short_integers
from affdsl.passes.transforms.vectorize.statements import Order, numbered, orders, reordered
from affdsl.passes.transforms.vectorize.stores import stored_once
from affdsl.passes.transforms.vectorize.through_conditions import chosen_through_conditions
from affdsl.passes.transforms.vectorize.unconditional import filled, loaded_before_conditions
from affdsl.passes.transforms.vectorize.ways import chain_of, in_a_row, ways
from affdsl.passes.transforms.vectorize.whiles import require_carried

Tail = Literal["scalar", "masked", "folded", "overlapped", "halved", "early", "covered"]
TAILS: tuple[Tail, ...] = ("scalar", "masked", "folded", "overlapped", "halved", "early", "covered")
MASKED = ("masked", "folded")
AGAIN: tuple[Tail, ...] = ("overlapped", "halved", "early", "covered")
"""The tails that run some iterations a second time."""


def vectorize(
    function: Func,
    iv: Value | Sequence[Value],
    width: int | Sequence[int],
    *,
    tail: Tail = "scalar",
    reassociate: bool = False,
    module: Module | None = None,
) -> Func:
    """Run `width` iterations of a loop at once: each statement for all of them.

        for i = 0 to n: B[i] = A[i] * 2   ->   for i = 0 to n - n mod 4 step 4: B[i : i + 4] = A[i : i + 4] * 2
                                               for i = n - n mod 4 to n: B[i] = A[i] * 2

    The loop may be an inner or an outer one, with loops and conditions inside; bounds of these may be data if they are
    the same for all lanes. Neighbours are loaded and stored as vectors, elements at a small stride by vectors and
    shuffles, all others lane after lane; no element is stored to that the loop as written does not store to, and none
    is loaded but those that it loads and what lies between them.
    A condition that differs from lane to lane becomes a mask; an element that both of its branches store to is stored
    once, behind it. Values that the loop carries are combined in all lanes if any order gives the same, or
    `reassociate` allows another, and else go from lane to lane as they did. Statements of the body change places where
    dependences ask for that; those that need what the iteration before has made run for one iteration after the other,
    if anything else is left. An integer that grows by the same in each iteration is computed from the number of it.

    Where an element that one iteration stores is accessed by others, the loop is split at that iteration, if it is one:
    those before it and those behind it are two loops on vectors.

    A loop that ends early, and whose iterations do nothing unless they end it, is looked through in blocks of four
    vectors: the block with an iteration that would leave runs as it was written. What it loads has to be inside of its
    array for all iterations; iterations that are left over run one by one.

    Several perfectly nested loops together are the dimensions of vectors, in the order in which they are given: a box
    of iterations runs at once. Accesses are transfers, along the dimensions of the array that the loops run along:
    also transposed, and with one element for all lanes of a dimension. Loops inside may carry values; those that are
    vectorized may not.

    Parameters
    ----------
    iv
        The induction variable of the loop, which counts the first lane; or those of perfectly nested loops.
    width
        How many lanes the vectors have, at least 2; for several loops, as many numbers.
    tail
        How iterations run that are left over: "scalar", one by one; "masked", as lanes of vectors of which not all
        run; "folded", like that and in the same loop as all others, whose vectors then have masks, too;
        "overlapped", with some before them a second time, where that changes nothing and there are so many iterations,
        and else one by one; or "halved", like that, in a vector of half as many lanes where no more than these are
        left over. Halves of less than 4 lanes are none: "halved" is then "overlapped". "early" is "overlapped" where
        iterations load what they store later: the last vector does so before the first one. "covered" is "overlapped"
        with a mask where there are fewer iterations than lanes. Where the loop begins at
        the larger of two numbers, it is one loop for each of them, of which the right one runs; where it begins at the
        largest of more, is "masked" or carries values, every vector has a mask. Several loops together are always
        folded, and run "scalar" only where nothing is left over.
    reassociate
        Allow sums and products of floats that the loop carries to be made in another order, which may round in another
        way: each lane combines its own iterations, in order, beginning with a number that changes none. In the end
        halves of the lanes are combined while these are more than 4 and an even number; then what the loop started
        with and those that are left, the first one first. Iterations that are left over follow one by one or, if
        "masked", are the last ones of the first lanes. Where something sees what a sum or product is on the way, after
        all of its operations in an iteration, each lane of a vector without a mask is combined with the one before it,
        then with the second and the fourth before it, and so on, and last with what is carried. So a sum of numbers
        that are not negative may become a little smaller on the way, which it never does in order.
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        With the dependence, its distance and two iterations; or if an operation has no form on vectors, or if bounds of
        loops inside differ from lane to lane by data or by steps.

    References
    ----------
    Allen and Kennedy, "Automatic translation of FORTRAN programs to vector form", TOPLAS 1987; Nuzman and Zaks,
    "Outer-loop vectorization: revisited for short SIMD architectures", PACT 2008.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<8xf32>, %B: memref<8xf32>) {
    ...   affine.for %i = 0 to 8 {
    ...     %a = affine.load %A[%i] : memref<8xf32>
    ...     %b = arith.addf %a, %a : f32
    ...     affine.store %b, %B[%i] : memref<8xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(vectorize(f, f.body[0].iv, 4))
    func.func @f(%A: memref<8xf32>, %B: memref<8xf32>) {
      affine.for %i = 0 to 8 step 4 {
        %a = affine.vector_load %A[%i] : memref<8xf32>, vector<4xf32>
        %b = arith.addf %a, %a : vector<4xf32>
        affine.vector_store %b, %B[%i] : memref<8xf32>, vector<4xf32>
      }
      return
    }
    """
    if isinstance(iv, Sequence) or isinstance(width, Sequence):
        return vectorize_nest(function, iv, width, tail=tail, module=module)
    if width < 2 or tail not in TAILS:
        raise ValueError(
            f"a vector has 2 lanes or more, and a tail is one of {', '.join(TAILS)}: got {width}, {tail!r}"
        )
    if tail not in MASKED:
        with suppress(IllegalTransform):
            made = _of_lower_bounds(function, iv, width, tail, module, reassociate=reassociate)
            if made is not None:
                return made
    try:
        return _of_loop(function, iv, width, tail, module, reassociate=reassociate)
    except IllegalTransform as error:
        made = _of_parts(function, iv, width, tail, module, reassociate=reassociate)
        if made is None:
            raise error from None
        return made


def _of_lower_bounds(
    function: Func, iv: Value, width: int, tail: Tail, module: Module | None, *, reassociate: bool
) -> Func | None:
    """A loop that begins at the largest of several numbers on vectors, for each of them; None for all others."""
    loop = loop_of(function, iv, f"vectorize loop {name(iv)} by {width}")
    found = by_lower_bounds(loop)
    if found is None:
        return None
    condition, ivs = found
    made = replaced(function, loop, condition)
    around = module if module is None else instead(module, function, made)
    return _of_each(made, ivs, width, tail, around, reassociate=reassociate)


def _of_each(
    function: Func, ivs: Sequence[Value], width: int, tail: Tail, module: Module | None, *, reassociate: bool
) -> Func | None:
    """Those of some loops on vectors that run often enough; None where none of them does. Raises IllegalTransform."""
    made = function
    for each in ivs:
        around = module if module is None else instead(module, function, made)
        loop = loop_of(made, each, "vectorize a part")
        high = trip_count(loop, each, Dependences(made, around).accesses).high
        if tail in MASKED or high is None or high >= width:
            made = _of_loop(made, each, width, tail, around, reassociate=reassociate)
    return None if made is function else made


def _of_parts(
    function: Func, iv: Value, width: int, tail: Tail, module: Module | None, *, reassociate: bool
) -> Func | None:
    """The iterations before and behind one at which accesses meet, on vectors; None where that does not help."""
    loop = next((op for op in holders(function) if isinstance(op, affine.For) and op.iv is iv), None)
    for at in crossings(loop) if loop is not None else ():
        try:
            split, ivs = split_at(function, iv, at, module)
            around = module if module is None else instead(module, function, split)
            made = _of_each(split, ivs, width, tail, around, reassociate=reassociate)
        except IllegalTransform:
            continue
        if made is not None:
            return made
    return None


def _of_loop(function: Func, iv: Value, width: int, tail: Tail, module: Module | None, *, reassociate: bool) -> Func:
    what = f"vectorize loop {name(iv)} by {width}"
    loop = loop_of(function, iv, what)
    require_lanes(loop, what, width)
    if loop in early_loops(loop, function):
        return _search(function, loop, width, module, what)
    require_to_end(loop, function, what, "all lanes would run until the last of them has left it")
    function, loop, dependences = _prepared(function, loop, width, module, reassociate=reassociate)
    require_carried(loop, what)
    return replaced(function, loop, *_vectorized(loop, width, tail, dependences, what, reassociate=reassociate))


def _search(function: Func, loop: affine.For, width: int, module: Module | None, what: str) -> Func:
    """A loop that ends early, and does nothing else, in blocks that vectors look through."""
    plain = loaded_before_conditions(loop, Dependences(function, module).accesses, module)
    made = function if plain is loop else replaced(function, loop, plain)
    blocks = in_blocks(made, plain, VECTORS * width, what)
    made = replaced(made, plain, *blocks.ops)
    around = module if module is None else instead(module, function, made)
    return _of_loop(made, blocks.asking, width, "scalar", around, reassociate=False)


def is_exact_in_lanes(function: Func, iv: Value, module: Module | None = None) -> bool:
    """Whether a loop carries values that come out the same, to the bit, in whatever order lanes combine them.

    These are sums of integers, minima and maxima, counts, what a search finds, and what is handed on to the next
    iteration as it is; not sums of floats. Raises IllegalTransform where a value goes through what is no number.
    """
    loop = loop_of(function, iv, "vectorize")
    _, loop, dependences = _prepared(function, loop, 2, module, reassociate=False)
    how = ways(loop, dependences, reassociate=False)
    return bool(how) and not chain_of(loop, how, "vectorize")


def keeps_elements(function: Func, iv: Value, module: Module | None = None) -> bool:
    """Whether a loop stores elements one behind the other, and counts them by a number that it carries."""
    loop = loop_of(function, iv, "vectorize")
    _, loop, dependences = _prepared(function, loop, 2, module, reassociate=False)
    how = ways(loop, dependences, reassociate=False)
    return any(each.way == "packed" for each in how) and all(each.way != "row" for each in how)


def _prepared(
    function: Func, loop: affine.For, width: int, module: Module | None, *, reassociate: bool
) -> tuple[Func, affine.For, Dependences]:
    """The function, and the loop in it, without what lanes have no use for: counters, variables, loads done twice."""
    for without in (
        lambda _, each: without_own_variables(each),
        without_idle_counters,
        lambda _, each: in_short_integers(each),
    ):
        plain = without(function, loop)
        if plain is not loop:
            before, function, loop = function, replaced(function, loop, plain), plain
            module = module if module is None else instead(module, before, function)
    dependences = Dependences(function, module)
    before_conditions = loaded_before_conditions(loop, dependences.accesses, module)
    may_alias = dependences.accesses.storage.may_share
    plain = stored_once(loaded_once(chosen_through_conditions(before_conditions, may_alias), may_alias), may_alias)
    how = ways(loop, dependences, reassociate=reassociate)
    if any(each.way == "row" for each in how):
        plain = without_counters(without_branches(plain))
    elif any(each.kind == "addi" for each in how) and counts(
        straight := without_branches(plain, everything=True), width
    ):
        plain = straight
    if plain is not loop:
        before, function, loop = function, replaced(function, loop, plain), plain
        module = module if module is None else instead(module, before, function)
        dependences = Dependences(function, module)
    return function, loop, dependences


def _vectorized(
    loop: affine.For, width: int, tail: Tail, dependences: Dependences, what: str, *, reassociate: bool
) -> Block:
    trips = trip_count(loop, loop.iv, dependences.accesses)
    if len(loop.lower) > 1 and loop.step > 1:
        raise refusal(loop, what, f"{name(loop.iv)} begins at the largest of several numbers, and its step is not 1")
    if tail not in MASKED and trips.high is not None and trips.high < width:
        raise refusal(loop, what, f"it runs at most {trips.high} times", "fewer lanes")
    is_whole = not trips.unknown and trips.divisor % width == 0
    is_aligned = len(loop.lower) > 1
    is_folded = tail == "folded" and not is_whole
    splits = (None,) * len(loop.upper) if is_whole or is_aligned or is_folded else splits_of(loop, width)
    how = ways(loop, dependences, reassociate=reassociate)
    chain = chain_of(loop, how, what)
    if tail in AGAIN:
        require_repeatable(loop, dependences, what, early=tail == "early")
    whole = tuple(high if split is None else split for high, split in zip(loop.upper, splits, strict=True))
    rests = rests_of(loop, splits, trips)
    between = rests[0].inits if rests else loop.results

    may_alias = dependences.accesses.storage.may_share
    some = filled(loop, dependences.accesses)

    def made(order: Order) -> Block:
        wide = partial(wide_loop, how=how, what=what, units=order.units, may_alias=may_alias, filled=some)
        if is_aligned:
            main = _aligned(reordered(loop, order), width)
            return wide(main, width, masked=True, lower=loop.lower, may_idle=not trips.runs)
        main = with_fields(reordered(loop, order), upper=whole, results=between)
        goes_on = tail == "masked" and bool(rests)
        found = [*wide(main, width, masked=is_folded, is_last=not goes_on, reassociate=reassociate)]
        left = left_in_lanes(found, how) if goes_on else NOTHING
        for rest in rests:
            again = reordered(rest, order)
            if tail == "scalar":
                found.append(rest)
            elif tail == "masked":
                inits = tuple(loop.inits[k] if k in left else v for k, v in enumerate(again.inits))
                again = with_fields(again, inits=inits)
                more = wide(again, width, masked=True, going_on=left, is_last=rest is rests[-1])
                left = left_in_lanes(more, how)
                found += more
            else:
                halves = (width, width // 2) if tail == "halved" and width > 3 else (width,)
                ends = []
                for lanes in halves:
                    last = wide(last_vector(again, lanes), lanes)
                    if tail == "early":
                        first, last = loaded_early(loop, last, lanes, what, may_alias)
                        found = [*first, *found]
                    ends.append((lanes, last))
                few = wide(with_fields(again, lower=loop.lower), width, masked=True) if tail == "covered" else (rest,)
                found += overlapped(loop, rest, ends, few)
        return tuple(found)

    groups = (None,) * len(splits) if tail in (*MASKED, "covered") else splits
    return _first_legal(
        loop, width, groups, orders(loop, chain, in_a_row(loop, how), width, dependences), made, dependences, what
    )


def _first_legal(
    loop: affine.For,
    width: int,
    splits: Sequence[Affine | None],
    orders: Iterator[Order],
    made: Callable[[Order], Block],
    dependences: Dependences,
    what: str,
) -> Block:
    """What is made of the statements in the first order that is legal. Raises IllegalTransform, of the first one."""
    first: IllegalTransform | None = None
    for order in orders:
        try:
            found = made(order)
            _require_order(loop, width, splits, order, dependences, what)
        except IllegalTransform as error:
            first = first or error
        else:
            return found
    raise first or refusal(loop, what, "what its iterations hand on is needed to make it")


def _require_order(
    loop: affine.For,
    width: int,
    splits: Sequence[Affine | None],
    order: Order,
    dependences: Dependences,
    what: str,
) -> None:
    """Raise IllegalTransform unless every dependence runs from earlier statements to later ones."""
    around = len(dependences.accesses.domains[loop].ivs)
    places: dict[Op, tuple[Term, ...]] = {}
    body = reordered(loop, order).body
    numbered(body, (), places)
    units = {op: first for first, end in order.units for each in body[first:end] for op in walk(each)}

    def within(access: Access) -> Sequence[Term]:
        if access.op in units:
            return (units[access.op], loop.iv, *text_time(dependences, access, around + 1))
        place = places[access.op]
        inner = around + 1 + sum(isinstance(part, Value) for part in place)
        return (*place, loop.iv, *text_time(dependences, access, inner))

    def alternatives(time: Time) -> Iterator[Candidate]:
        yield Candidate(Proposal((Step("scalar_replace", (loop.iv,)),)), ())
        inside = [op for op in holders(loop) if isinstance(op, affine.For) and op is not loop]
        for inner in islice(inside, 1):
            yield from interchanged(dependences, time, loop.iv, inner.iv)
            yield from skewed(time, loop.iv, inner.iv, (1, 2))

    if len(loop.lower) == 1:
        require_groups(dependences, loop, width, splits, within, what=what, candidates=alternatives)
        return

    def time(access: Access) -> Sequence[Term]:
        return (loop.iv // width, *within(access))

    require_order(dependences, loop, time, what=what, candidates=alternatives(time))


def _aligned(loop: affine.For, width: int) -> affine.For:
    """A loop whose lower bounds are multiples of the width, up to so many iterations earlier."""
    return with_fields(loop, lower=tuple(bound // width * width for bound in loop.lower), written=None)
