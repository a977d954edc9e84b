"""What a loop carries, in several iterations at once: reductions in all lanes, other numbers from lane to lane."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Literal

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Lanewise, Op, roles
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.messages import op_name, shown
from affdsl.ir.traverse import substitute, walk, with_fields
from affdsl.ir.types import I1, INDEX, VectorType
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.reduction import Reductions
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.hoist.faults import OPEN_CASTS, OPEN_KINDS, never_fails
from affdsl.passes.transforms.vectorize.branches import HAS_NEUTRAL, neutral_of
from affdsl.passes.transforms.vectorize.choices import (
    Choice,
    at_iteration,
    best_of_lanes,
    choices,
    computed_of,
    lanes_of,
    selects_of,
    set_to,
)
from affdsl.passes.transforms.vectorize.counted import Count, count_of, counted
from affdsl.passes.transforms.vectorize.handed_on import as_vectors
from affdsl.passes.transforms.vectorize.lanes import Lanes
from affdsl.passes.transforms.vectorize.linear_scans import LinearScan, linear_scan, scanned_linearly
from affdsl.passes.transforms.vectorize.narrow import Narrow, add_narrow, narrow_sums
from affdsl.passes.transforms.vectorize.packed import counted_on, packing_of, store_packed
from affdsl.passes.transforms.vectorize.scans import scanned, scans
from affdsl.passes.transforms.vectorize.strides import MayAlias, groups
from affdsl.passes.transforms.vectorize.units import one_by_one
from affdsl.passes.transforms.vectorize.varying import Varying
from affdsl.passes.transforms.vectorize.widen import widen_op

COMBINES = {arith_kind: combine for combine, kinds in vector.KINDS.items() for arith_kind in kinds if arith_kind}

IDEMPOTENT = ("minnumf", "maxnumf")
"""Kinds without a neutral number that may combine a number as often as one likes."""


class Carried(FrozenValue):
    """How a value goes from iteration to iteration.

    `same` is yielded as it is; `all` is combined in any order, as `kind` of arith; `best` is chosen, as `choice` says,
    and `any` so that it does not matter which one of equal numbers; `set` becomes what is the same in all iterations,
    where the condition of `choice` holds in one; `late` is chosen, and computed after the loop of the number of the
    iteration; `packed` counts what is kept (see `packed.py`); `row` goes from lane to lane.
    """

    way: Literal["same", "all", "best", "any", "set", "late", "packed", "row"]
    kind: str = ""
    choice: Choice | None = None


NOTHING: Mapping[int, Value] = {}

NEVER = -(2**63)
"""The number of the iteration of what no iteration has chosen yet."""
FEW = 4
"""So many lanes are combined one after the other; more of them by halves first."""


def _halved(value: Value, combine: Callable[[Value, Value], list[Op]]) -> tuple[list[Op], Value]:
    """Operations that combine the lanes of a vector by halves until few are left, and what these are in.

    The last of the operations that `combine` gives defines the lanes of two halves combined.
    """
    made: list[Op] = []
    while isinstance(value.type, VectorType) and (lanes := value.type.shape[0]) > FEW and lanes % 2 == 0:
        type, half = VectorType((lanes // 2,), value.type.element), lanes // 2
        parts = [vector.ExtractStridedSlice(Value(type), value, (at,), (half,), (1,)) for at in (0, half)]
        made += [*parts, *combine(parts[0].result, parts[1].result)]
        (value,) = made[-1].defines()
    return made, value


def _of_kind(kind: str) -> Callable[[Value, Value], list[Op]]:
    """Two values combined as a kind of arith."""
    return lambda left, right: [arith.Binary(Value(left.type), kind, left, right)]


def _better(choice: Choice) -> Callable[[Value, Value], list[Op]]:
    """The better one of two values."""

    def combine(first: Value, second: Value) -> list[Op]:
        type = VectorType(first.type.shape, I1) if isinstance(first.type, VectorType) else I1
        when = arith.Compare(Value(type), choice.kind, choice.predicate, second, first)
        return [when, arith.Select(Value(first.type), when.result, second, first)]

    return combine


def ways(loop: affine.For, dependences: Dependences, *, reassociate: bool) -> tuple[Carried, ...]:
    """How each value goes that a loop carries."""
    reductions, found = Reductions(dependences), list[Carried]()
    for k in range(len(loop.carried)):
        if reductions.is_invariant(loop, k):
            found.append(Carried("same"))
            continue
        reduction = reductions.carried(loop, k)
        free = reduction is not None and reduction.kind in (*HAS_NEUTRAL, *IDEMPOTENT)
        if reduction is not None and free and (reassociate or not reduction.needs_reassociation):
            found.append(Carried("all", reduction.kind))
        else:
            found.append(Carried("row"))
    for k in range(len(loop.carried)):
        if found[k].way == "row" and packing_of(loop, k) is not None:
            found[k] = Carried("packed")
    for choice in choices(loop, in_a_row(loop, found)):
        exact = reassociate or choice.kind == "cmpi"  # of floats, 0 and -0 are equal and not the same
        way: Literal["any", "best"] = "any" if exact and choice.values == (choice.key,) else "best"
        for k, select in zip(choice.values, selects_of(loop, choice), strict=True):
            is_late = way == "best" and k != choice.key and computed_of(loop, select.if_true) is not None
            how = "set" if set_to(loop, choice) is not None else "late" if is_late else way
            found[k] = Carried(how, choice=choice)
    return tuple(found)


def wide_loop(
    loop: affine.For,
    width: int,
    how: Sequence[Carried],
    what: str,
    *,
    masked: bool = False,
    lower: Sequence[Affine] = (),
    units: Sequence[tuple[int, int]] = (),
    may_alias: MayAlias,
    filled: Set[Value] = frozenset(),
    may_idle: bool = False,
    going_on: Mapping[int, Value] = NOTHING,
    is_last: bool = True,
    reassociate: bool = False,
) -> tuple[Op, ...]:
    """A loop of which each iteration runs `width` of those that it had, with what is done before and after it.

    If `masked`, it may be fewer: those that are left before the upper bounds, and not before others than its own lower
    ones. `units` says which operations run for one iteration after the other, and `may_alias` whether two memrefs may
    have an element in common; `filled` are arrays whose first element may be loaded in each iteration; `may_idle`,
    whether there may be one in which no lane runs; `reassociate`, that what goes from lane to lane may be rounded in
    another order, where all lanes run. What is combined in any order starts, by its number, with lanes that another
    loop has left, where `going_on` has them. It is combined with what the loop starts with only if this `is_last`, and
    else stays in the lanes that the new loop yields.
    """
    differing = {v for v, each in zip(loop.carried, how, strict=True) if each.way not in ("same", "set", "late")}
    differing.update(v for first, end in units for op in loop.body[first:end] for v in op.defines())
    varying = Varying(loop, frozenset(differing), may_idle=may_idle)
    at = Lanes(loop, width, varying, what, frozenset() if may_idle else filled)
    if not masked:
        alone = {op for first, end in units for op in loop.body[first:end]}
        at.groups = groups(loop, varying, width, may_alias, alone)
    before: list[Op] = []
    after: list[Op] = []
    narrow: dict[Op, tuple[Narrow, Value]] = {}
    alike = [k for k, each in enumerate(how) if each.way == "all"]
    counts = {k: count for k in alike if how[k].kind == "addi" and (count := count_of(loop, k, width)) is not None}
    sums = narrow_sums(loop, [k for k in alike if k not in counts], width)
    inits, carried, results = list(loop.inits), list(loop.carried), list(loop.results)
    for k, each in enumerate(how):
        if k in counts:
            continue
        if each.way == "all":
            found = sums.get(k)
            lanes = width if found is None else found.accumulators(width)
            if k in going_on:
                inits[k] = going_on[k]
            else:
                start = _start(at, loop.carried[k], each.kind, lanes)
                before.append(start)
                inits[k] = start.result
            carried[k], results[k] = (Value(inits[k].type, v.hint) for v in (carried[k], results[k]))
            if is_last:
                after += _combined(loop, k, each.kind, results[k])
            if found is None:
                at.define(loop.carried[k], carried[k])
            else:
                narrow[found.addition] = found, carried[k]
        elif each.way == "any":
            assert each.choice is not None
            everywhere = vector.Broadcast(Value(at.vector_type(loop.carried[k])), loop.inits[k])
            before.append(everywhere)
            inits[k] = everywhere.result
            carried[k], results[k] = (Value(everywhere.result.type, v.hint) for v in (carried[k], results[k]))
            after += _best_lane(at, each.choice, results[k], loop.results[k])
            at.define(loop.carried[k], carried[k])
    once = _choices_of(how, "set")
    for choice in once:
        nowhere = arith.Constant(Value(at.vector_of_type(I1)), (False,) * width)
        before.append(nowhere)
        inits.append(nowhere.result)
        carried.append(Value(nowhere.result.type))
        results.append(Value(nowhere.result.type))
        for k in choice.values:
            results[k] = Value(results[k].type, results[k].hint)
        after += _after_set(loop, choice, results[-1])
    chosen = _choices_of(how, "best", "late")
    for choice in chosen:
        kept = [k for k in choice.values if how[k].way == "best"]
        for k in kept:
            first = Value(at.vector_type(loop.carried[k]))
            before.append(vector.Broadcast(first, loop.inits[k]))
            inits[k] = first
            carried[k], results[k] = (Value(first.type, v.hint) for v in (carried[k], results[k]))
            at.define(loop.carried[k], carried[k])
        never = arith.Constant(Value(at.vector_of_type(INDEX)), (NEVER,) * width)
        before.append(never)
        inits.append(never.result)
        carried.append(Value(never.result.type))
        results.append(Value(never.result.type))
        iteration = Value(INDEX)
        ends = [*(loop.results[k] for k in kept), iteration]
        after += best_of_lanes(choice, kept, [*(results[k] for k in kept), results[-1]], ends, FEW)
        for k in choice.values:
            if how[k].way == "late":
                results[k] = Value(results[k].type, results[k].hint)
        after += _after_best(loop, choice, kept, iteration)
    with at.new_block() as inside:
        if masked:
            at.mask = _mask(at)
            if lower:
                at.mask = at.both(at.holds([Constraint(loop.iv - bound) for bound in lower]))
        yielded = _body(at, how, carried, units, narrow, counts, reassociate=reassociate)
        for choice, when in zip((*once, *chosen), carried[len(how) :], strict=True):
            holds = _holds(at, choice)
            is_set = choice in once
            yielded.append(at.binary("ori", when, holds) if is_set else at.select(holds, at.vector(loop.iv), when))
        if carried:
            at.emit(affine.Yield(tuple(yielded), location=loop.body[-1].location))
    made = with_fields(
        loop, body=tuple(inside), step=loop.step * width, inits=tuple(inits), carried=tuple(carried),
        results=tuple(results), written=None,
    )  # fmt: skip
    return (*at.before, *before, *as_vectors(made), *after)


def left_in_lanes(ops: Sequence[Op], how: Sequence[Carried]) -> dict[int, Value]:
    """What the loop that `wide_loop` has made leaves in lanes, by its number, if that was not the last one.

    A count is one number in each of the loops, and goes on by itself.
    """
    wide = next(op for op in ops if isinstance(op, affine.For))
    left = {k: wide.results[k] for k, each in enumerate(how) if each.way == "all"}
    return {k: value for k, value in left.items() if isinstance(value.type, VectorType)}


def _best_lane(at: Lanes, choice: Choice, lanes: Value, result: Value) -> list[Op]:
    """The best of all lanes, whichever of those that are as good."""
    made, last = _halved(lanes, _better(choice))
    assert isinstance(last.type, VectorType)
    few, each = lanes_of([last], last.type.shape[0])
    made += few
    best = each[0][0]
    for (other,) in each[1:]:
        made += _better(choice)(best, other)
        (best,) = made[-1].defines()
    made[-1] = with_fields(made[-1], result=result)
    return [with_fields(op, location=at.loop.location) for op in made]


def _start(at: Lanes, value: Value, kind: str, lanes: int) -> arith.Constant | vector.Broadcast:
    """What a reduction starts with in all lanes: what the loop starts with, if that counts once, counts in the end."""
    if kind in IDEMPOTENT:
        return vector.Broadcast(Value(at.vector_type(value)), at.loop.inits[at.loop.carried.index(value)])
    return arith.Constant(Value(VectorType((lanes,), at.scalar(value))), (neutral_of(kind, value),) * lanes)


def _choices_of(how: Sequence[Carried], *ways: str) -> list[Choice]:
    """What is chosen in some ways, each choice once."""
    return list(dict.fromkeys(each.choice for each in how if each.way in ways and each.choice is not None))


def _after_best(loop: affine.For, choice: Choice, kept: Sequence[int], iteration: Value) -> Iterator[Op]:
    """What a loop leaves of values that are computed of the number of the iteration that was chosen, if one was."""
    late = [k for k in choice.values if k not in kept]
    if not late:
        return
    never = arith.Constant(Value(INDEX), NEVER)
    when = arith.Compare(Value(I1), "cmpi", "ne", iteration, never.result)
    yield from (never, when)
    selects = dict(zip(choice.values, selects_of(loop, choice), strict=True))
    for k in late:
        ops, value = at_iteration(loop, computed_of(loop, selects[k].if_true) or (), selects[k].if_true, iteration)
        yield from ops
        yield arith.Select(loop.results[k], when.result, value, loop.inits[k], location=loop.location)


def _after_set(loop: affine.For, choice: Choice, lanes: Value) -> Iterator[Op]:
    """What a loop leaves of values that it sets where a condition holds: `lanes` says in which one it has held."""
    somewhere = Value(I1)
    yield vector.Reduction(somewhere, "or", lanes, (), location=loop.location)
    for k, value in (set_to(loop, choice) or {}).items():
        if isinstance(value, arith.Constant):
            value = with_fields(value, result=Value(value.result.type))
            yield value
        new = value if isinstance(value, Value) else value.result
        yield arith.Select(loop.results[k], somewhere, new, loop.inits[k], location=loop.location)


def _combined(loop: affine.For, k: int, kind: str, lanes: Value) -> Iterator[Op]:
    """What a loop leaves of what it combines: all lanes, and what it starts with."""
    if isinstance(lanes.type, VectorType) and lanes.type.element == I1 and kind in ("andi", "ori"):
        each = Value(I1)  # as a whole, since masks have instructions for it
        yield vector.Reduction(each, COMBINES[kind], lanes, (), location=loop.location)
        yield arith.Binary(loop.results[k], kind, loop.inits[k], each, location=loop.location)
        return
    halves, last = _halved(lanes, _of_kind(kind))
    once = () if kind in IDEMPOTENT else (loop.inits[k],)
    for op in (*halves, vector.Reduction(loop.results[k], COMBINES[kind], last, once)):
        yield with_fields(op, location=loop.location)


def _holds(at: Lanes, choice: Choice) -> Value:
    """In which lanes, of those that run, the condition of a choice holds."""
    holds = at.vector(selects_of(at.loop, choice)[0].condition)
    return holds if at.mask is None else at.binary("andi", at.mask, holds)


def _mask(at: Lanes) -> Value:
    """Which lanes run of the last iterations."""
    counts = tuple((upper - at.loop.iv).ceildiv(at.loop.step) for upper in at.loop.upper)
    left, mask = Value(INDEX), Value(at.vector_of_type(I1))
    at.emit(affine.Min(left, counts) if len(counts) > 1 else affine.Apply(left, counts[0]))
    at.emit(vector.CreateMask(mask, (left,)))
    return mask


def _body(
    at: Lanes,
    how: Sequence[Carried],
    carried: Sequence[Value],
    units: Sequence[tuple[int, int]],
    narrow: Mapping[Op, tuple[Narrow, Value]],
    counts: Mapping[int, Count],
    *,
    reassociate: bool,
) -> list[Value]:
    """The operations of the body, and what it yields."""
    loop = at.loop
    last = loop.body[-1] if loop.body else None
    yields: tuple[Value, ...] = last.values if isinstance(last, affine.Yield) else ()
    row = in_a_row(loop, how)
    chain = chain_of(loop, how, at.what)
    numbers = {op.result: op.value for op in loop.body if isinstance(op, arith.Constant)}
    for op in chain:
        may_fail = getattr(op, "kind", "") in (*OPEN_KINDS, *OPEN_CASTS, "ipowi") and not never_fails(op, numbers)
        if at.mask is not None and may_fail:
            raise refusal(op, at.what, f"{op_name(op)} may fail where its iteration does not run", 'tail="scalar"')
    makers = {op for op in loop.body if op in chain or not set(row.values()).isdisjoint(op.defines())}
    early = dict[Value, Value]()
    ends = _lane_after_lane(at, chain, row, reassociate=reassociate) if row and not makers else {}
    started = {loop.body[first]: loop.body[first:end] for first, end in units}
    alone = {op for unit in started.values() for op in unit}
    elsewhere = {op for count in counts.values() for op in count.ops}
    elsewhere.update(op for choice in _choices_of(how, "set") for op in selects_of(loop, choice))
    packed = {k: packing_of(loop, k) for k, each in enumerate(how) if each.way == "packed"}
    packings = [each for each in packed.values() if each is not None]
    elsewhere.update(op for packing in packings for op in packing.ops)
    elsewhere.update(_computed_late(loop, how, elsewhere))
    for op in loop.body:
        if op in elsewhere:
            continue
        if any(op is packing.branch for packing in packings):
            store_packed(at, [packing for packing in packings if packing.branch is op])
        elif op in started:
            one_by_one(at, started[op])
        elif op in narrow:
            add_narrow(at, *narrow[op])
        elif any(op in each.for_it for each, _ in narrow.values()):
            pass
        elif op not in chain and op not in alone and not op.is_terminator:
            widen_op(at, op)
        makers.discard(op)
        if makers and at.mask is None and not set(row.values()).isdisjoint(op.defines()):
            early |= _shifted(at, chain, _made_of(op, {v: value for v, value in row.items() if v not in early}))
        if row and not makers and not ends:
            row = {v: value for v, value in row.items() if v not in early}
            ends = early | _lane_after_lane(at, chain, row, reassociate=reassociate)
    found: list[Value] = []
    for k, (each, old, new, value) in enumerate(zip(how, loop.carried, carried[: len(how)], yields, strict=True)):
        if k in counts:
            found.append(counted(at, counts[k], new))
        elif (packing := packed.get(k)) is not None:
            found.append(counted_on(at, packing))
        elif each.way in ("all", "best", "any"):
            made = at.vector(value)
            is_whole = at.mask is None or any(value in op.defines() for op in narrow)
            found.append(made if is_whole or at.mask is None else at.select(at.mask, made, new))
        else:
            found.append(ends.get(old, old))
    return found


def _computed_late(loop: affine.For, how: Sequence[Carried], elsewhere: Set[Op]) -> set[Op]:
    """What is computed after the loop alone."""
    late = set[Op]()
    for choice in _choices_of(how, "late"):
        for k, select in zip(choice.values, selects_of(loop, choice), strict=True):
            if how[k].way == "late":
                late |= {select, *(computed_of(loop, select.if_true) or ())}
    kept = [op for op in loop.body if op not in late and op not in elsewhere and not op.is_terminator]
    needed = {v for op in kept for v in op.mentions()}
    for op in reversed(loop.body):
        if op in late and not needed.isdisjoint(op.defines()):
            late.discard(op)
            needed.update(op.reads())
    return late


def chain_of(loop: affine.For, how: Sequence[Carried], what: str) -> tuple[Op, ...]:
    """The operations by which what a loop carries in a row becomes what it yields, in the order of the text.

    Raises IllegalTransform where others than operations on numbers are among them.
    """
    row = in_a_row(loop, how)
    from_carried, forward = set(row), list[Op]()
    for op in loop.body:
        if not op.is_terminator and any(v in from_carried for inner in walk(op) for v in inner.reads()):
            forward.append(op)
            from_carried.update(op.defines())
    needed, chain = set(row.values()), list[Op]()
    for op in reversed(forward):
        if needed.intersection(op.defines()):
            chain.insert(0, op)
            needed.update(op.reads())
    for op in chain:
        if not isinstance(op, Lanewise):
            names = ", ".join(shown(v) for v in row)
            raise refusal(op, what, f"{names} goes from each iteration to the next through {op_name(op)}")
    return tuple(chain)


def in_a_row(loop: affine.For, how: Sequence[Carried]) -> dict[Value, Value]:
    """What is carried from lane to lane, and what is yielded for it."""
    last = loop.body[-1] if loop.body else None
    yields = last.values if isinstance(last, affine.Yield) else ()
    return {v: value for v, value, each in zip(loop.carried, yields, how, strict=True) if each.way == "row"}


def _lane_after_lane(
    at: Lanes, chain: Sequence[Op], row: Mapping[Value, Value], *, reassociate: bool
) -> dict[Value, Value]:
    """A chain of operations lane after lane, and what the last lane yields for each value that is carried.

    Where all lanes run, scans and what another value was in the iteration before are made in all of them at once.
    """
    ends: dict[Value, Value] = {}
    if at.mask is None:
        chain = _without_what_is_known(at, chain, row)
        for scan in scans(at.loop, chain, row):
            if not scan.pays(at.width, reassociate=reassociate):
                continue
            ends[scan.carried] = scanned(at, scan)
            chain = [op for op in chain if op not in scan.steps]
        for carried in [v for v in row if v not in ends]:
            linear = linear_scan(at.loop, chain, row, carried)
            if linear is not None and linear.pays(at.width, reassociate=reassociate):
                ends[carried] = scanned_linearly(at, linear, partial(_in_a_row, at, linear))
                chain = [op for op in chain if op not in linear.steps]
        ends |= _shifted(at, chain, {v: value for v, value in row.items() if v not in ends})
    row = {v: value for v, value in row.items() if v not in ends}
    lanes: dict[Value, list[Value]] = {v: [] for v in (*row, *(r for op in chain for r in op.defines()))}
    now = {v: v for v in row}
    for k in range(at.width):
        known: dict[Value, Value] = dict(now)
        for op in chain:
            read = {v: known[v] if v in known else at.in_lane(v, k) for v in op.reads()}
            results = {name: Value(getattr(op, name).type) for name in roles(type(op)).results}
            known.update((getattr(op, name), made) for name, made in results.items())
            at.emit(with_fields(substitute(op, read), **results))
        for v, found in lanes.items():
            found.append(known[v])
        new = {v: known[value] if value in known else at.in_lane(value, k) for v, value in row.items()}
        if at.mask is not None:
            runs = at.extract(at.mask, k)
            for v, value in new.items():
                made = Value(value.type)
                at.emit(arith.Select(made, runs, value, now[v]))
                new[v] = made
        now = new
    for v, found in lanes.items():
        at.define_lanes(v, found)
    return ends | now


def _in_a_row(at: Lanes, scan: LinearScan) -> Value:
    """What the last lane yields for a scan lane after lane."""
    return _lane_after_lane(at, scan.steps, {scan.carried: scan.result}, reassociate=False)[scan.carried]


def _without_what_is_known(at: Lanes, chain: Sequence[Op], row: Mapping[Value, Value]) -> list[Op]:
    """Those operations of a chain that wait for what still goes from lane to lane; the others are made in all lanes."""
    waiting, left = set(row), list[Op]()
    for op in chain:
        if waiting.isdisjoint(op.reads()):
            widen_op(at, op)
        else:
            left.append(op)
            waiting.update(op.defines())
    return left


def _made_of(op: Op, row: Mapping[Value, Value]) -> dict[Value, Value]:
    """Those of what goes from lane to lane that become what an operation defines, or what one of these was before."""
    found: dict[Value, Value] = {}
    known = set(op.defines())
    while more := {v: value for v, value in row.items() if value in known and v not in found}:
        found |= more
        known.update(more)
    return found


def _shifted(at: Lanes, chain: Sequence[Op], row: Mapping[Value, Value]) -> dict[Value, Value]:
    """What the last lane yields for values that no chain makes: each lane has that of the lane before, by a shuffle."""
    made = {v for op in chain for v in op.defines()}
    order = (0, *range(at.width, 2 * at.width - 1))
    ends: dict[Value, Value] = {}
    waiting = [v for v, value in row.items() if value not in made and value not in at.exprs]
    while ready := next((v for v in waiting if row[v] not in row or row[v] in ends), None):
        waiting.remove(ready)
        yielded = at.vector(row[ready])
        first, shifted = Value(yielded.type), Value(yielded.type)
        at.emit(vector.Broadcast(first, ready))
        at.emit(vector.Shuffle(shifted, first, yielded, order))
        at.define(ready, shifted)
        ends[ready] = at.extract(yielded, at.width - 1)
    return ends
