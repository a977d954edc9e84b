"""Makes parallel bands of the affine loops whose iterations may run in any order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from affdsl.frozen import Frozen
from affdsl.ir.blocks import yielded
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Term, Value
from affdsl.ir.messages import shown
from affdsl.ir.parts import COMBINING, fits, in_parts, neutral
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import holders, rewrite, walk, with_fields
from affdsl.ir.types import INDEX, ScalarType
from affdsl.passes.analysis.dependence import Dependence, Dependences
from affdsl.passes.analysis.parallelism import Parallelism, of_loop, of_loops
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.analysis.reduction import DECLARED, Reduction
from affdsl.passes.analysis.stride import strides
from affdsl.passes.analysis.summary import Summaries
from affdsl.passes.legality.early import require_to_end
from affdsl.passes.legality.order import Violation, is_barrier, new_order, substituted, text_time
from affdsl.passes.legality.proposals import Proposal, Step
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.chosen_in_parts import chosen_in_parts
from affdsl.passes.transforms.distribute import distribute
from affdsl.passes.transforms.interchange import reordered
from affdsl.passes.transforms.loops.nests import band_of, instead, replaced
from affdsl.passes.transforms.private_copies import in_private_copies, needs_reassociation, updated_of
from affdsl.passes.transforms.scalar_replace.carried import scalar_replace
from affdsl.passes.transforms.scanned_in_parts import scanned_in_parts, scans_of
from affdsl.passes.transforms.skew import skew
from affdsl.passes.transforms.vectorize.loads import loaded_once

MOST_NEAR = 4
"""How many other loops of a nest a refusal looks at."""

USUAL_COPIES = 2
"""How many copies of an array a refusal proposes."""

_DECLARED_AS = {kind: declared for declared, kind in DECLARED.items()}


class _Carried(Frozen):
    """What an iteration does to a value that a loop carries.

    Attributes
    ----------
    kind
        How it combines the value with what it has itself, as affine.parallel calls it; "" if it hands it on as it is.
    combine, other
        The one operation that does so, and its other operand: what the iteration has itself. None where it takes more:
        a difference, a choice, a branch, several operations. What the iteration has is then what these make of the
        number that changes nothing: `0 - x` where they make `s - x` of s.
    """

    kind: str = ""
    combine: arith.Binary | None = None
    other: Value | None = None


def parallelize(
    function: Func, iv: Value, *, module: Module | None = None, reassociate: bool = False, copies: int = 0
) -> Func:
    """Let the iterations of a loop run in any order, also at once.

        affine.for %i = 0 to %n { A[%i] = ... }   ->   affine.parallel (%i) = (0) to (%n) { A[%i] = ... }

    What the loop carries is combined by the band, where affine.parallel has a reduction for it. The least and the
    greatest of integers, for which it has none, and others are combined by parts of the iterations (see `ir/parts.py`);
    and so is what the loop chooses among its iterations, as the place of an extreme (see `chosen_in_parts.py`). Of what
    it combines while something sees it, as a prefix sum, parts are combined first, and then gone through again (see
    `scanned_in_parts.py`). What it does so in memory is carried in values first, as by scalar_replace.

    Refuses if an iteration may depend on another one.

    Parameters
    ----------
    iv
        The induction variable of the loop.
    module
        Where the functions are that it calls; without it a call may do anything.
    reassociate
        Whether sums and products of floats may be rounded in another order.
    copies
        How many parts of the iterations have a copy of an array each, of which data chooses the elements that they
        update, as of a histogram (see `private_copies.py`); with 0 that is refused.

    Raises
    ------
    IllegalTransform
        With what prevents it: dependences with their distances, or a value that one iteration hands to the next.

    References
    ----------
    Wolfe, "High Performance Compilers for Parallel Computing", section 9.1.

    >>> from affdsl.mlir.readers import parse
    >>> (f,) = parse('''func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
    ...     affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xf32> }
    ...     return
    ... }''').functions
    >>> print(parallelize(f, f.body[0].iv).body[0])
    affine.parallel (%i) = (0) to (symbol(%n)) {
      affine.store %x, %A[%i] : memref<?xf32>
    }
    """
    what = f"make {name(iv)} parallel"
    dependences = Dependences(function, module)
    verdict = of_loop(dependences, iv)
    if verdict is None:
        known = ", ".join(name(each.iv) for each in of_loops(dependences)) or "none"
        raise refusal(function, what, f"@{function.symbol} has no such loop; its loops are {known}")
    if copies:
        return _in_copies(function, verdict, module, copies, what, reassociate=reassociate)
    why = obstacle(verdict)
    if why is not None:
        require_to_end(verdict.loop, function, what)
        made = _handed(function, verdict, module, what, reassociate=reassociate) or _as_values_first(
            dependences, verdict, module, what, reassociate=reassociate
        )
        if made is not None:
            return made
        raise _illegal(dependences, verdict, what, why, reassociate=reassociate)
    rounded = [r for r in verdict.reductions if r.needs_reassociation]
    if rounded and not reassociate:
        reason = f"in another order {rounded[0].kind} of {shown(iv)}'s iterations is rounded in another way"
        raise refusal(verdict.loop, what, reason, Proposal(options=(("reassociate", True),)))
    return as_bands(function, {iv: verdict})


def _in_copies(
    function: Func, verdict: Parallelism, module: Module | None, copies: int, what: str, *, reassociate: bool
) -> Func:
    """The function with a loop in parallel of which each part updates a copy of an array."""
    loop = verdict.loop
    updated = updated_of(function, loop, module) if isinstance(loop, affine.For) else None
    if updated is None or not isinstance(loop, affine.For):
        reason = (
            "copies are for a loop that updates elements of one array of a known shape, all in one way, as "
            "h[x[i]] += 1 does, and passes on nothing else from one iteration to another; this loop is no such loop"
        )
        raise refusal(loop, what, reason)
    if needs_reassociation(updated) and not reassociate:
        reason = f"where each part has a copy of {name(updated.array)}, {updated.kind} is rounded in another way"
        raise refusal(loop, what, reason, Proposal(options=(("reassociate", True), ("copies", copies))))
    return in_private_copies(function, loop, updated, copies)


def _handed(
    function: Func, verdict: Parallelism, module: Module | None, what: str, *, reassociate: bool
) -> Func | None:
    """The function with a loop in parallel that hands on what it chooses, or has combined; None if more is in the way.

    Raises IllegalTransform where a sum would be rounded in another way, which is not allowed.
    """
    loop = verdict.loop
    if not isinstance(loop, affine.For) or not loop.results or verdict.prevented_by or verdict.privatized:
        return None
    combined = [each.value for each in verdict.reductions]
    handed = [v for v, end in zip(loop.carried, yielded(loop.body), strict=True) if v is not end and v not in combined]
    if None in combined or len(verdict.reasons) != len(handed):  # a barrier is one reason more
        return None
    made = chosen_in_parts(function, loop, module, reassociate=reassociate)
    scans = None if made is not None else scans_of(function, loop, module)
    if scans is None:
        return made
    if scans.needs_reassociation and not reassociate:
        reason = f"in parts of the iterations of {shown(loop.iv)} its sums and products are rounded in another way"
        raise refusal(loop, what, reason, Proposal(options=(("reassociate", True),)))
    return scanned_in_parts(function, loop, scans)


def _as_values_first(
    dependences: Dependences, verdict: Parallelism, module: Module | None, what: str, *, reassociate: bool
) -> Func | None:
    """The function with a loop in parallel after what it sums up, or chooses, in memory is carried in values.

    None where that does not help: it is tried where nothing is in the way but what is done to elements that stay the
    same in all iterations. Raises IllegalTransform as `_handed` does.
    """
    loop, function, accesses = verdict.loop, dependences.accesses.function, dependences.accesses
    in_memory = [each for each in verdict.reductions if each.value is None]
    in_the_way = [access for each in verdict.prevented_by for access in (each.source, each.sink)]
    stay = all(strides(access, accesses.scope)[verdict.iv].motion == "invariant" for access in in_the_way)
    rounds = any(each.needs_reassociation for each in in_memory) and not reassociate
    if not isinstance(loop, affine.For) or rounds or not stay or not (in_memory or in_the_way):
        return None
    plain = loaded_once(loop, accesses.storage.may_share)  # what is stored and then looked at is in a value already
    again, carried = None, function if plain is loop else replaced(function, loop, plain)
    around = module if module is None else instead(module, function, carried)
    with suppress(IllegalTransform):
        carried = scalar_replace(carried, loop.iv, module=around)
        around = module if module is None else instead(module, function, carried)
        again = of_loop(Dependences(carried, around), loop.iv)
    if again is None or any(each.value is None for each in again.reductions) or again.prevented_by:
        return None
    if obstacle(again) is not None:
        return _handed(carried, again, around, what, reassociate=reassociate)
    with suppress(IllegalTransform):
        return parallelize(carried, loop.iv, module=around, reassociate=reassociate)
    return None


def obstacle(verdict: Parallelism) -> str | None:
    """Why a loop cannot be made parallel, where that is no dependence between iterations; None if it can."""
    loop = verdict.loop
    if isinstance(loop, scf.For):
        if loop.is_unsigned or loop.iv.type != INDEX:
            return "its bounds come from data, and it counts by another type than index, or without a sign"
    elif not isinstance(loop, affine.For):
        return f"it is a counter of {loop.name}, not of affine.for"
    if verdict.verdict not in ("parallel", "parallel with reductions"):
        given = [b.name for b in verdict.privatized if b.kind != "local"]
        if given:
            return (
                f"iterations store to the same elements of {' and '.join(given)}, and the last one's are what the "
                "caller gets: let each store to elements of its own, as of an array with one dimension more"
            )
        said = "; ".join(verdict.why)
        return said if verdict.verdict == "unknown" else f"it is {verdict.verdict}: {said}"
    for each in verdict.reductions:
        if each.value is None:
            unknown = dict.fromkeys(r for update in each.updates for a in update.accesses for r in a.unknown)
            if unknown:
                reason = f"it may be that several iterations update the same elements of {_update(each)}"
                return f"{reason}; what is not known: {'; '.join(unknown)}"
            return f"all iterations update the same elements of {_update(each)}"
    for position, result in enumerate(loop.results):
        if _carried(verdict, position).kind and not isinstance(result.type, ScalarType):
            value = shown(loop.carried[position])
            return f"{value} is a {result.type}, and bands combine numbers: make the loop parallel, then vectorize it"
    return None


def _update(found: Reduction) -> str:
    """What is updated in memory, and how."""
    rounds = ", which rounds" if found.needs_reassociation else ""
    return f"{found.updates[0].store.buffer.name}, by {found.kind}{rounds}"


def _illegal(
    dependences: Dependences, verdict: Parallelism, what: str, why: str, *, reassociate: bool
) -> IllegalTransform:
    """The refusal, with the first dependence in the way and what may be done instead."""
    candidates = _instead(dependences, verdict, reassociate=reassociate)
    in_the_way = verdict.prevented_by or tuple(_of_buffers(dependences, verdict))
    if not in_the_way:
        return refusal(verdict.loop, what, why, candidates=candidates)
    first = min(in_the_way, key=lambda dependence: not dependence.is_exact)
    also = why if verdict.privatized else ""
    return IllegalTransform(verdict.loop, what, also, violation=Violation(first, first.witness), candidates=candidates)


def _of_buffers(dependences: Dependences, verdict: Parallelism) -> Iterator[Dependence]:
    """What a loop carries of the buffers of which each iteration needs its own."""
    if verdict.privatized:
        yield from (d for d in dependences.carried_by(verdict.iv) if d.source.buffer in verdict.privatized)


def _instead(dependences: Dependences, verdict: Parallelism, *, reassociate: bool) -> Iterator[Proposal]:
    """What may help: sums carried as values, own buffers; other loops of the nest; or, of two, those of a wavefront."""
    loop, function = verdict.loop, dependences.accesses.function
    if verdict.prevented_by and isinstance(loop, affine.For):
        updated = updated_of(function, loop, dependences.accesses.module)
        if updated is not None and (reassociate or not needs_reassociation(updated)):
            yield Proposal(options=(("copies", USUAL_COPIES),))
    as_values = list(_as_values(verdict))
    rounds = any(each.needs_reassociation for each in verdict.reductions)
    if verdict.privatized:
        yield Proposal(tuple(Step("privatize", (buffer.root, verdict.iv)) for buffer in verdict.privatized))
    if reassociate or not rounds:
        yield from as_values
    nest = [op for op in holders(function) if isinstance(op, affine.For) and op is not loop and _are_nested(loop, op)]
    depth = {op: len(dependences.accesses.domains[op].ivs) for op in (*nest, loop)}
    nest.sort(key=lambda op: abs(depth[op] - depth[loop]))
    for op in nest[:MOST_NEAR]:
        if _keeps_order(dependences, op, {op.iv: -op.iv}) and _has_no_barrier(dependences, op):
            # Its iterations may run backwards if and only if they may run in any order.
            yield Proposal((Step("parallelize", (op.iv,)),), asks_again=False, is_tried=True)
    if rounds and not reassociate:  # who allows another rounding wants this loop, others rather another one
        yield from as_values
    if not isinstance(loop, affine.For):
        return
    if _falls_apart(dependences, loop):
        yield Proposal((Step("distribute", (verdict.iv,)),))
    for near in nest[:2]:
        outer, inner = (loop, near) if depth[near] > depth[loop] else (near, loop)
        for factor in (1, 2):
            pair = (outer.iv, inner.iv)
            if _keeps_order(dependences, outer, {outer.iv: inner.iv + outer.iv * factor, inner.iv: -outer.iv}):
                # With the wave, no dependence is left within it, so the loops may also be interchanged.
                steps = Step("skew", (*pair, factor)), Step("interchange", pair), Step("parallelize", (outer.iv,))
                if _can_be_interchanged(skew(function, *pair, factor), pair) and _has_no_barrier(dependences, outer):
                    yield Proposal(steps, asks_again=False, is_tried=True)


def _as_values(verdict: Parallelism) -> Iterator[Proposal]:
    """That sums in memory, which would be carried as values, may be rounded in another way; or that they are first."""
    in_memory = [each for each in verdict.reductions if each.value is None]
    if in_memory and isinstance(verdict.loop, affine.For | scf.For):
        options = (("reassociate", True),) * any(each.needs_reassociation for each in in_memory)
        if options and isinstance(verdict.loop, affine.For):
            yield Proposal(options=options)
        yield Proposal((Step("scalar_replace", (verdict.iv,)),), options)


def _falls_apart(dependences: Dependences, loop: affine.For) -> bool:
    """Whether a loop can be distributed to several, all of which may run their iterations in any order."""
    accesses = dependences.accesses
    try:
        apart = distribute(accesses.function, loop.iv, module=accesses.module)
    except IllegalTransform:
        return False
    old = {op.iv for op in holders(accesses.function) if isinstance(op, affine.For)}
    found = Dependences(apart, accesses.module)
    block = next(b for op in walk(apart) for b in op.blocks() if any(getattr(o, "iv", None) is loop.iv for o in b))
    pieces = [op for op in block if isinstance(op, affine.For) and (op.iv is loop.iv or op.iv not in old)]
    verdicts = [of_loop(found, piece.iv) for piece in pieces]
    return all(verdict is not None and verdict.is_parallel for verdict in verdicts)


def _keeps_order(dependences: Dependences, root: Op, new: dict[Value, Term]) -> bool:
    """Whether accesses inside may run where other expressions stand for counters: asked before it is really done."""
    return new_order(dependences, root, substituted(lambda access: text_time(dependences, access), new)) is None


def _has_no_barrier(dependences: Dependences, loop: affine.For) -> bool:
    """Whether a loop carries no values, and holds nothing that may do anything."""
    summaries = Summaries(dependences.accesses.module)
    return not loop.results and not any(is_barrier(op, summaries) for op in walk(loop))


def _can_be_interchanged(function: Func, pair: tuple[Value, Value]) -> bool:
    """Whether two loops are perfectly nested and have bounds in the other order, whatever depends on what."""
    try:
        band = band_of(function, pair, "interchange loops")
        reordered(band, pair[::-1])
    except (IllegalTransform, UnknownError):
        return False
    return True


def _are_nested(a: Op, b: Op) -> bool:
    return any(op is b for op in walk(a)) or any(op is a for op in walk(b))


def _carried(verdict: Parallelism, position: int) -> _Carried:
    """What an iteration does to a value that a loop carries, each of which is a reduction or stays as it is."""
    loop = verdict.loop
    assert isinstance(loop, affine.For | scf.For)
    start, yields = loop.carried[position], yielded(loop.body)
    if yields[position] is start:
        return _Carried()
    found = next(r for r in verdict.reductions if r.value is start)
    kind = _DECLARED_AS[found.kind]
    match found.steps:
        case (arith.Binary() as op,) if op.kind == found.kind and op.result is yields[position]:
            if op in loop.body:
                return _Carried(kind, op, op.right if op.left is start else op.left)
    return _Carried(kind)


def is_plain(verdict: Parallelism) -> bool:
    """Whether affine.parallel says all that a loop combines: one operation each, of a kind that it has for the type."""
    assert isinstance(verdict.loop, affine.For | scf.For)
    of_results = ((_carried(verdict, position), result) for position, result in enumerate(verdict.loop.results))
    return all(not c.kind or (c.combine is not None and fits(c.kind, result)) for c, result in of_results)


def as_bands(function: Func, chosen: dict[Value, Parallelism]) -> Func:
    """The function where each chosen loop is a parallel band."""
    replaced: dict[Value, Value] = {}
    arrays: list[Op] = []
    bands = [op for op in holders(function) if isinstance(op, affine.Parallel | scf.Parallel) or _iv_of(op) in chosen]
    at_once = {_iv_of(op) for band in bands for op in walk(band) if op is not band}

    def rule(op: Op) -> tuple[Op, ...] | None:
        if isinstance(op, scf.For) and op.iv in chosen:
            return tuple(_band_of_data(op, chosen[op.iv], replaced))
        if not isinstance(op, affine.For) or op.iv not in chosen:
            return None
        made = tuple(_band(op, chosen[op.iv], replaced))
        if op.iv in at_once:
            return made
        # LLVM gives what is allocated in a loop around back when the function ends, and not before.
        arrays.extend(each for each in made if isinstance(each, memref.Alloca))
        return tuple(each for each in made if not isinstance(each, memref.Alloca))

    made = renamed(rewrite(function, rule), replaced)
    return with_fields(made, body=(*arrays, *made.body)) if arrays else made


def _iv_of(op: Op) -> Value | None:
    return op.iv if isinstance(op, affine.For | scf.For) else None


class _Combined(Frozen):
    """The values that a loop combines, as its parallel band has them.

    `others` are what an iteration has itself, `combined` the operations that go, `neutral` the numbers from which an
    iteration starts that has no such operation, `totals` what all iterations come to, and `after` what combines that
    with what there was before the loop.
    """

    kinds: tuple[str, ...]
    others: tuple[Value, ...]
    combined: tuple[Op, ...]
    neutral: tuple[Op, ...]
    inits: tuple[Value, ...]
    totals: tuple[Value, ...]
    after: tuple[arith.Binary, ...]


def _combined(op: affine.For | scf.For, verdict: Parallelism, replaced: dict[Value, Value]) -> _Combined:
    """What a band combines; what stands for values of the loop goes into `replaced`."""
    rows: list[tuple[str, Value, Value, Value, arith.Binary]] = []
    combined: list[Op] = []
    constants: list[Op] = []
    for position, (init, start, result) in enumerate(zip(op.inits, op.carried, op.results, strict=True)):
        carried = _carried(verdict, position)
        if not carried.kind:
            replaced[start] = replaced[result] = init
            continue
        total = Value(result.type, location=result.location)
        if carried.combine is not None and carried.other is not None:
            other, after = carried.other, with_fields(carried.combine, left=init, right=total, result=result)
            combined.append(carried.combine)
        else:
            other = yielded(op.body)[position]
            after = arith.Binary(result, COMBINING[carried.kind], init, total, location=result.location)
            constant = neutral(carried.kind, Value(result.type, location=start.location))
            constants.append(constant)
            replaced[start] = constant.result
        rows.append((carried.kind, other, init, total, after))
    kinds, others, inits, totals, afters = zip(*rows, strict=True) if rows else ((),) * 5
    return _Combined(kinds, others, tuple(combined), tuple(constants), inits, totals, afters)


def _band(op: affine.For, verdict: Parallelism, replaced: dict[Value, Value]) -> Iterator[Op]:
    """The parallel band of a loop, and what combines its results with the initial values.

    A band starts from the neutral number of each reduction, so the operation that combined goes behind it.
    """
    of = _combined(op, verdict, replaced)
    body, ends = op.body, op.ends
    if op.results:
        *inner, last = op.body
        body = tuple(o for o in inner if o not in of.combined)
        if of.others:
            body = (*body, with_fields(last, values=of.others))
        else:
            ends = (last.location,)
    written = {name: map for name, map in (op.written or {}).items() if name in ("lower", "upper")}
    band = affine.Parallel(
        (op.iv,), (op.lower,), (op.upper,), (op.step,), body, of.kinds, of.totals,
        location=op.location, attributes=op.attributes, written=written or None, ends=ends,
    )  # fmt: skip
    yield from of.neutral
    if all(map(fits, of.kinds, of.totals)):
        yield band
    else:
        yield from in_parts(band)
    yield from of.after


def _band_of_data(op: scf.For, verdict: Parallelism, replaced: dict[Value, Value]) -> Iterator[Op]:
    """The parallel band of a loop whose bounds come from data, which starts from the initial values."""
    of = _combined(op, verdict, replaced)
    body = op.body
    if op.results:
        body = tuple(o for o in op.body[:-1] if o not in of.combined)
    if of.others:
        body = (*body, scf.Reduce(of.others, tuple(map(_combiner, of.after)), location=op.location))
    yield from of.neutral
    yield scf.Parallel(
        (op.iv,), (op.lower,), (op.upper,), (op.step,), body, of.inits, tuple(each.result for each in of.after),
        location=op.location,
    )  # fmt: skip


def _combiner(op: arith.Binary) -> scf.Combiner:
    left, right, made = (Value(op.result.type) for _ in range(3))
    combine = with_fields(op, result=made, left=left, right=right)
    return scf.Combiner(left, right, (combine, scf.ReduceReturn((made,), location=op.location)), location=op.location)
