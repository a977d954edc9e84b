"""What loops look for, found in the one strip that has it: the place of an extreme of integers, the last one of all."""

from __future__ import annotations

from affdsl.ir.dialects import affine, arith, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import clone_block, like, likes
from affdsl.ir.types import I1, INDEX, IntegerType
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.early_exits import only_reads
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.chosen_in_parts import NEVER
from affdsl.passes.transforms.looked_for import first_found, last_found
from affdsl.passes.transforms.loops.nests import instead, loop_of, replaced
from affdsl.passes.transforms.vectorize.branches import without_branches
from affdsl.passes.transforms.vectorize.choices import Choice, choices, computing, selects_of
from affdsl.passes.transforms.vectorize.loads import loaded_once
from affdsl.passes.transforms.vectorize.unconditional import loaded_before_conditions

_EXTREMES = {"sgt": "maxsi", "slt": "minsi", "ugt": "maxui", "ult": "minui"}
"""What is the same as to choose a number where it compares so with the best one before."""


def locate(function: Func, iv: Value, strip: int, *, module: Module | None = None) -> Func:
    """Find in strips what a loop looks for: what goes with an extreme, or what one iteration with a condition has.

        b, p = for i = 0 to n, b = x[0], p = 0: { c = x[i] > b; yield select(c, x[i], b), select(c, i, p) }
        ->
        b, at = for s = 0 to n step 4096, b = x[0], at = never:
                    m = for i = s to min(n, s + 4096), m = b: yield max(x[i], m)
                    yield m, select(m > b, s, at)
        p = for s = 0 to n step 4096, p = 0:
                yield p unless s == at: for i = s to min(n, s + 4096): if x[i] == b: p = i, and no further

    The extreme itself needs no place beside it in each lane, which for numbers of fewer bits than a place has is most
    of the work. Of numbers that are as good the first one is found, as it was. It is exact: integers alone.

        p = for i = 0 to n, p = -1: if x[i] == 0: p = i   ->   from the end: the first strip with one, and its last

    A loop that only keeps what the last iteration with a condition has, or changes what it carries only while that has
    not been done (`if p < 0 and x[i] == 0: p = i`), ends with the strip in which that is found: see `looked_for`.

    Parameters
    ----------
    iv
        The induction variable of the loop, an affine.for of step 1.
    strip
        How many iterations a strip has.
    module
        What the function stands in.

    Raises
    ------
    IllegalTransform
        If the loop does anything but to choose the least or the greatest of some integers, the first of equal ones,
        and what goes with it, or what one iteration with a condition has.

    References
    ----------
    Finding the place in a second pass over what is still near is folklore; strips keep it near for any length.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%n: index, %x: memref<?xi8>, %b: i8, %p: index) -> index {
    ...   %r:2 = affine.for %i = 0 to %n iter_args(%m = %b, %q = %p) -> (i8, index) {
    ...     %a = affine.load %x[%i] : memref<?xi8>
    ...     %c = arith.cmpi slt, %a, %m : i8
    ...     %s = arith.select %c, %a, %m : i8
    ...     %t = arith.select %c, %i, %q : index
    ...     affine.yield %s, %t : i8, index
    ...   }
    ...   return %r#1 : index
    ... }''').functions[0]
    >>> "arith.minsi" in str(locate(f, f.body[0].iv, 64))
    True
    """
    what = f"look afterwards for the place of the extreme of loop {name(iv)}"
    loop = loop_of(function, iv, what)
    if strip < 2:
        raise ValueError(f"a strip has 2 iterations or more, not {strip}")
    dependences = Dependences(function, module)
    before_conditions = loaded_before_conditions(loop, dependences.accesses, module)
    loaded = loaded_once(before_conditions, dependences.accesses.storage.may_share)
    plain = without_branches(loaded, everything=True)
    *body, last = plain.body
    if plain.step != 1 or not isinstance(last, affine.Yield):
        raise refusal(loop, what, "it has a step, or hands on nothing: scalar_replace keeps what it updates in values")
    if not all(only_reads(op) for op in body) or any(True for op in body for _ in op.blocks()):
        raise refusal(
            loop, what, "it does more than to choose: it stores, or calls, or holds other loops or conditions"
        )
    before = function
    if plain is not loop:
        function = replaced(function, loop, plain)
        module = module if module is None else instead(module, before, function)
    once = first_found(function, plain, strip, what)
    if once is not None:
        return once
    found = choices(plain, dict(zip(plain.carried, last.values, strict=True)))
    if len(found) != 1 or len(found[0].values) != len(plain.carried):
        raise refusal(loop, what, "it carries something that is not chosen together with one extreme")
    (choice,) = found
    if choice.key is None:
        return last_found(function, plain, choice, strip, what)
    if choice.kind != "cmpi" or choice.predicate not in _EXTREMES:
        raise refusal(loop, what, "what it chooses is not the first of the least or greatest of some integers")
    if not isinstance(plain.carried[choice.key].type, IntegerType) or len(choice.values) < 2:
        raise refusal(loop, what, "nothing goes with the extreme, or that is no integer of a width")
    best = _strips(plain, choice, strip)
    search = _search(plain, choice, strip, *best.results)
    never = arith.Constant(best.inits[1], NEVER, location=plain.location)
    return replaced(function, plain, never, best, search)


def _strips(loop: affine.For, choice: Choice, strip: int) -> affine.For:
    """The loop over strips that makes the extreme, and also says in which strip it is."""
    at, key = loop.location, choice.key
    assert key is not None
    select = selects_of(loop, choice)[choice.values.index(key)]
    own, begin = like(loop.carried[key]), Value(INDEX, f"{loop.iv.hint}_strip", loop.iv.location)
    best, where = like(own), Value(INDEX, "at", at)
    extreme = arith.Binary(like(own), _EXTREMES[choice.predicate], select.if_true, own, location=select.location)
    body = (*computing(loop, (select.if_true,)), extreme, affine.Yield((extreme.result,), location=at))
    inner = _copy(
        affine.For(
            loop.iv, (Affine.of(begin),), (*loop.upper, begin + strip), body, 1, (best,), (own,), (like(own),),
            location=at,
        )
    )  # fmt: skip
    better = arith.Compare(Value(I1), "cmpi", choice.predicate, inner.results[0], best, location=select.location)
    moved = arith.Select(Value(INDEX, "at", at), better.result, begin, where, location=select.location)
    return affine.For(
        begin, loop.lower, loop.upper,
        (inner, better, moved, affine.Yield((inner.results[0], moved.result), location=at)),
        strip, (loop.inits[key], Value(INDEX, "never", at)), (best, where), (loop.results[key], Value(INDEX, "at", at)),
        location=at,
    )  # fmt: skip


def _search(loop: affine.For, choice: Choice, strip: int, best: Value, at: Value) -> affine.For:
    """The loop over strips that looks through one of them for the first that is as good as the best."""
    place, key = loop.location, choice.key
    assert key is not None
    others = [k for k in choice.values if k != key]
    selects = dict(zip(choice.values, selects_of(loop, choice), strict=True))
    seen = selects[key].if_true
    needed = computing(loop, (seen, *(selects[k].if_true for k in others)))
    begin = Value(INDEX, f"{loop.iv.hint}_strip", loop.iv.location)

    goes_on, found = Value(I1, "goes_on", place), [like(loop.carried[k]) for k in others]
    same = arith.Compare(Value(I1), "cmpi", "eq", seen, best, location=place)
    stop = arith.Constant(Value(I1), False, location=place)
    leaves = (stop, scf.Yield((stop.result, *(selects[k].if_true for k in others)), location=place))
    stays = (scf.Yield((goes_on, *found), location=place),)
    asks = scf.If(same.result, leaves, stays, likes((goes_on, *found)), location=place)
    inside = (asks, scf.Yield(asks.results, location=place))
    guard = scf.If(goes_on, inside, stays, likes((goes_on, *found)), location=place)
    start, kept = arith.Constant(Value(I1), True, location=place), [like(v) for v in found]
    inner = _copy(
        affine.For(
            loop.iv, (Affine.of(begin),), (*loop.upper, begin + strip),
            (*needed, same, guard, affine.Yield(guard.results, location=place)),
            1, (start.result, *kept), (goes_on, *found), likes((goes_on, *found)),
            location=place,
        )
    )  # fmt: skip
    here = arith.Compare(Value(I1), "cmpi", "eq", begin, at, location=place)
    looks = (start, inner, scf.Yield(inner.results[1:], location=place))
    looked = scf.If(here.result, looks, (scf.Yield(tuple(kept), location=place),), likes(kept), location=place)
    return affine.For(
        begin, loop.lower, loop.upper, (here, looked, affine.Yield(looked.results, location=place)), strip,
        tuple(loop.inits[k] for k in others), tuple(kept), tuple(loop.results[k] for k in others), location=place,
    )  # fmt: skip


def _copy(loop: affine.For) -> affine.For:
    """A loop with values of its own: what it was made of stands in another one, too."""
    (made,) = clone_block((loop,), {})
    assert isinstance(made, affine.For)
    return made
