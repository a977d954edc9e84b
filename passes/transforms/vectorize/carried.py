"""What a loop carries, in several iterations at once: reductions in all lanes, other numbers from lane to lane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

from affdsl.ir.blocks import yielded
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import I1, INDEX, ScalarType, VectorType
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.hoist.faults import OPEN_CASTS, OPEN_KINDS, never_fails
from affdsl.passes.transforms.vectorize.branches import neutral_of
from affdsl.passes.transforms.vectorize.choices import (
    Choice,
    at_iteration,
    best_of_lanes,
    computed_of,
    lanes_of,
    selects_of,
    set_to,
)
from affdsl.passes.transforms.vectorize.counted import Count, count_of, counted
from affdsl.passes.transforms.vectorize.handed_on import as_vectors
from affdsl.passes.transforms.vectorize.lane_after_lane import lane_after_lane, made_of, shifted
from affdsl.passes.transforms.vectorize.lanes import Lanes
from affdsl.passes.transforms.vectorize.narrow import Narrow, add_narrow, narrow_sums
from affdsl.passes.transforms.vectorize.packed import counted_on, packing_of, store_packed
from affdsl.passes.transforms.vectorize.strides import MayAlias, groups
from affdsl.passes.transforms.vectorize.units import one_by_one
from affdsl.passes.transforms.vectorize.varying import Varying
from affdsl.passes.transforms.vectorize.ways import IDEMPOTENT, Carried, chain_of, choices_of, in_a_row
from affdsl.passes.transforms.vectorize.widen import widen_op

COMBINES = {arith_kind: combine for combine, kinds in vector.KINDS.items() for arith_kind in kinds if arith_kind}

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
    at = _lanes(loop, width, how, what, units, may_alias, masked=masked, filled=filled, may_idle=may_idle)
    made = _Loop(at)
    counts, narrow = _reduced(made, how, going_on, is_last=is_last)
    once, chosen = choices_of(how, "set"), choices_of(how, "best", "late")
    for choice in once:
        _add_set(made, choice)
    for choice in chosen:
        _add_best(made, choice, how)
    with at.new_block() as inside:
        if masked:
            at.mask = _mask(at)
            if lower:
                at.mask = at.both(at.holds([Constraint(loop.iv - bound) for bound in lower]))
        yielded = _body(at, how, made.carried, units, narrow, counts, reassociate=reassociate)
        for choice, when in zip((*once, *chosen), made.carried[len(how) :], strict=True):
            holds = _holds(at, choice)
            is_set = choice in once
            yielded.append(at.binary("ori", when, holds) if is_set else at.select(holds, at.vector(loop.iv), when))
        if made.carried:
            at.emit(affine.Yield(tuple(yielded), location=loop.body[-1].location))
    return (*at.before, *made.before, *as_vectors(made.wide(inside)), *made.after)


def _lanes(
    loop: affine.For,
    width: int,
    how: Sequence[Carried],
    what: str,
    units: Sequence[tuple[int, int]],
    may_alias: MayAlias,
    *,
    masked: bool,
    filled: Set[Value],
    may_idle: bool,
) -> Lanes:
    """The lanes of a loop, with what differs in them."""
    alone = {op for first, end in units for op in loop.body[first:end]}
    differing = {v for v, each in zip(loop.carried, how, strict=True) if each.way not in ("same", "set", "late")}
    differing.update(v for op in alone for v in op.defines())
    varying = Varying(loop, frozenset(differing), may_idle=may_idle)
    at = Lanes(loop, width, varying, what, frozenset() if may_idle else filled)
    if not masked:
        at.groups = groups(loop, varying, width, may_alias, alone)
    return at


class _Loop:
    """What the loop of all lanes starts with, carries and leaves, and what is done before and after it."""

    def __init__(self, at: Lanes) -> None:
        self.at = at
        self.before: list[Op] = []
        self.after: list[Op] = []
        self.inits, self.carried, self.results = list(at.loop.inits), list(at.loop.carried), list(at.loop.results)

    def start(self, k: int, first: Value) -> None:
        """Carry a vector in the place of a number: it starts with this one."""
        self.inits[k] = first
        self.carried[k], self.results[k] = (Value(first.type, v.hint) for v in (self.carried[k], self.results[k]))

    def start_everywhere(self, k: int) -> None:
        """Carry in all lanes what starts with what the loop does."""
        old = self.at.loop.carried[k]
        first = vector.Broadcast(Value(self.at.vector_type(old)), self.at.loop.inits[k])
        self.before.append(first)
        self.start(k, first.result)
        self.at.define(old, self.carried[k])

    def add(self, type: ScalarType, number: float) -> None:
        """Carry one more vector, which starts with a number in all lanes."""
        first = arith.Constant(Value(self.at.vector_of_type(type)), (number,) * self.at.width)
        self.before.append(first)
        self.inits.append(first.result)
        self.carried.append(Value(first.result.type))
        self.results.append(Value(first.result.type))

    def leave_otherwise(self, k: int) -> None:
        """Let what is read of a number behind the loop be what is computed there."""
        self.results[k] = Value(self.results[k].type, self.results[k].hint)

    def wide(self, body: Iterable[Op]) -> affine.For:
        """The loop with a body."""
        loop = self.at.loop
        return with_fields(
            loop, body=tuple(body), step=loop.step * self.at.width, inits=tuple(self.inits),
            carried=tuple(self.carried), results=tuple(self.results), written=None,
        )  # fmt: skip


def _reduced(
    made: _Loop, how: Sequence[Carried], going_on: Mapping[int, Value], *, is_last: bool
) -> tuple[dict[int, Count], dict[Op, tuple[Narrow, Value]]]:
    """Carry what is combined in any order; gives what is counted instead, and the additions of narrow sums."""
    at, loop = made.at, made.at.loop
    alike = [k for k, each in enumerate(how) if each.way == "all"]
    counts = {k: n for k in alike if how[k].kind == "addi" and (n := count_of(loop, k, at.width)) is not None}
    sums = narrow_sums(loop, [k for k in alike if k not in counts], at.width)
    narrow: dict[Op, tuple[Narrow, Value]] = {}
    for k, each in enumerate(how):
        if each.way == "all" and k not in counts:
            found = sums.get(k)
            first = going_on.get(k)
            if first is None:
                lanes = at.width if found is None else found.accumulators(at.width)
                start = _start(at, loop.carried[k], each.kind, lanes)
                made.before.append(start)
                first = start.result
            made.start(k, first)
            if is_last:
                made.after += _combined(loop, k, each.kind, made.results[k])
            if found is None:
                at.define(loop.carried[k], made.carried[k])
            else:
                narrow[found.addition] = found, made.carried[k]
        elif each.way == "any":
            assert each.choice is not None
            made.start_everywhere(k)
            made.after += _best_lane(at, each.choice, made.results[k], loop.results[k])
    return counts, narrow


def _add_set(made: _Loop, choice: Choice) -> None:
    """Carry in which lanes a condition has held that sets numbers."""
    made.add(I1, False)
    for k in choice.values:
        made.leave_otherwise(k)
    made.after += _after_set(made.at.loop, choice, made.results[-1])


def _add_best(made: _Loop, choice: Choice, how: Sequence[Carried]) -> None:
    """Carry what is chosen in each lane, and in which iteration."""
    loop = made.at.loop
    kept = [k for k in choice.values if how[k].way == "best"]
    for k in kept:
        made.start_everywhere(k)
    made.add(INDEX, NEVER)
    iteration = Value(INDEX)
    ends = [*(loop.results[k] for k in kept), iteration]
    made.after += best_of_lanes(choice, kept, [*(made.results[k] for k in kept), made.results[-1]], ends, FEW)
    for k in choice.values:
        if how[k].way == "late":
            made.leave_otherwise(k)
    made.after += _after_best(loop, choice, kept, iteration)


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
    row = in_a_row(loop, how)
    chain = chain_of(loop, how, at.what)
    numbers = {op.result: op.value for op in loop.body if isinstance(op, arith.Constant)}
    for op in chain:
        may_fail = getattr(op, "kind", "") in (*OPEN_KINDS, *OPEN_CASTS, "ipowi") and not never_fails(op, numbers)
        if at.mask is not None and may_fail:
            raise refusal(op, at.what, f"{op_name(op)} may fail where its iteration does not run", 'tail="scalar"')
    makers = {op for op in loop.body if op in chain or not set(row.values()).isdisjoint(op.defines())}
    early = dict[Value, Value]()
    ends = lane_after_lane(at, chain, row, reassociate=reassociate) if row and not makers else {}
    started = {loop.body[first]: loop.body[first:end] for first, end in units}
    alone = {op for unit in started.values() for op in unit}
    elsewhere = {op for count in counts.values() for op in count.ops}
    elsewhere.update(op for choice in choices_of(how, "set") for op in selects_of(loop, choice))
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
            early |= shifted(at, chain, made_of(op, {v: value for v, value in row.items() if v not in early}))
        if row and not makers and not ends:
            row = {v: value for v, value in row.items() if v not in early}
            ends = early | lane_after_lane(at, chain, row, reassociate=reassociate)
    found: list[Value] = []
    rows = zip(how, loop.carried, carried[: len(how)], yielded(loop.body), strict=True)
    for k, (each, old, new, value) in enumerate(rows):
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
    for choice in choices_of(how, "late"):
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
