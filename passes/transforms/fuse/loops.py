"""Two loops of one block made one, at a shift: an iteration of the second runs with one of the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affdsl.frozen import Frozen
from affdsl.ir.blocks import split_body
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Affine, Constraint, Term, Value
from affdsl.ir.messages import shown
from affdsl.ir.renaming import renamed
from affdsl.ir.spelling import spell
from affdsl.ir.traverse import fresh, rewrite, walk, ways, with_fields
from affdsl.passes.affine.positions import are_valid, positions_of
from affdsl.passes.analysis.access import Access, met
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.polyhedral import UnknownError, spending
from affdsl.passes.analysis.relations import at_depth, distances, same_element
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.legality.early import require_to_end
from affdsl.passes.legality.order import Time, text_time
from affdsl.passes.legality.proposals import Proposal, Step
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.require import Candidate, require_order
from affdsl.passes.legality.words import name
from affdsl.passes.simplify import Context, domain_of
from affdsl.passes.transforms.fuse.between import after_both, require_values
from affdsl.passes.transforms.fuse.parallels import fuse_parallel
from affdsl.passes.transforms.fuse.ranges import FIRST, Part, Range, guards, hull, parts
from affdsl.passes.transforms.loops.nests import counted, loop_of, loop_of_any_kind
from affdsl.passes.transforms.loops.pieces import copied_loop, ended, visible_before


def fuse(
    function: func.Func,
    iv: Value,
    other: Value,
    *,
    shift: Term = 0,
    guarded: bool = False,
    module: func.Module | None = None,
) -> func.Func:
    """Make one loop of two that stand in one block.

        for i = 0 to n: S(i);  for j = 0 to n: T(j)      ->      for i = 0 to n: { S(i); T(i) }

    Iteration x of the second loop runs with iteration x + shift of the first one, after it. Where the two then do not
    run over the same numbers, what only one of them runs has loops of its own, before and after:

        fuse(shift=1)   ->   for i_first = 0 to min(1, n): S(i_first)
                             for i = 1 to n: { S(i); T(i - 1) }
                             for j_last = max(0, n - 1) to n: T(j_last)

        fuse(shift=1, guarded=True)   ->   for i = 0 to n + 1: { if i < n: S(i);  if i >= 1: T(i - 1) }

    Two `affine.parallel` over the same points become one, if each point depends on no other.

    What stands between the loops moves before them, or behind them if it depends on the first one. A loop that is all
    that an affine.if holds takes the condition into its body, if that brings the two into one block.

    Parameters
    ----------
    iv, other
        The induction variables of the loops, in the order of the text. The loop that runs both keeps `iv`.
    shift
        By how much the second loop is late, counted as its induction variable is: a number, or an expression of values
        that may stand in bounds before the loops.
    guarded
        Make one loop, with conditions, instead of several: a nest that stays perfect can be tiled.
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        With a dependence of the second loop on the first one that would not be kept, two iterations, and the least
        shift that keeps all of them, if there is one; or with what stands between the loops and depends on the first
        one, while the second one depends on it; or if the loops have different steps, or no iteration in common.

    References
    ----------
    Kennedy and McKinley, "Maximizing loop parallelism and improving data locality via loop fusion and distribution",
    LCPC 1993; for the shift, Darte and Huard, "Loop shifting for loop compaction", IJPP 28(5), 2000.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %x: f32) {
    ...   affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }
    ...   affine.for %j = 0 to 8 {
    ...     %a = affine.load %A[%j + 1] : memref<9xf32>
    ...     affine.store %a, %B[%j] : memref<9xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(fuse(f, f.body[0].iv, f.body[1].iv, shift=1))
    func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %x: f32) {
      affine.for %i_first = 0 to 1 {
        affine.store %x, %A[%i_first] : memref<9xf32>
      }
      affine.for %i = 1 to 9 {
        affine.store %x, %A[%i] : memref<9xf32>
        %a = affine.load %A[%i] : memref<9xf32>
        affine.store %a, %B[%i - 1] : memref<9xf32>
      }
      return
    }
    """
    by = Affine.of(shift)
    what = f"fuse loops {name(iv)} and {name(other)}" + (f" at shift {spell(by)}" if by != Affine() else "")
    loops = [loop_of_any_kind(function, each, what) for each in (iv, other)]
    if loops[0] is loops[1]:
        raise refusal(loops[0], what, "they are one loop already")
    if any(isinstance(loop, affine.Parallel) for loop in loops):
        return fuse_parallel(function, loops[0], loops[1], by, what, module)
    for loop in loops:
        require_to_end(loop, function, what)
    pair = _pair_of(function, iv, other, by, what)
    dependences = Dependences(pair.function, module)
    after = after_both(dependences, pair.first, pair.between)
    require_values(pair.first, pair.second, after, what)
    require_order(
        dependences,
        (pair.first, *pair.between, pair.second),
        _time(dependences, pair, after, by),
        what=what,
        candidates=_instead(dependences, pair, after, by),
    )
    made, results = _one_loop(pair, what) if guarded else _in_parts(pair, what)
    new: dict[Op, Sequence[Op]] = dict.fromkeys((*pair.between, pair.second), ())
    before = (op for op in pair.between if op not in after)
    new[pair.first] = (*before, *made, *(op for op in pair.between if op in after))
    return renamed(rewrite(pair.function, lambda op: new.get(op)), results)


class _Pair(Frozen):
    """Two loops of one block of a function, what stands between them, and what is known where they stand."""

    function: func.Func
    first: affine.For
    second: affine.For
    between: Block
    context: Context
    shift: Affine

    @property
    def ranges(self) -> tuple[Range, Range]:
        """The numbers of both loops, as the first one counts."""
        first, second = (Range(loop.lower, loop.upper, loop.step) for loop in (self.first, self.second))
        return first, second.moved(self.shift)


_Made = tuple[list[Op], dict[Value, Value]]
"""What stands in the place of the loops, and of their results."""


def _pair_of(function: func.Func, iv: Value, other: Value, by: Affine, what: str) -> _Pair:
    """The loops, if they can be one. Raises IllegalTransform if they cannot, whatever they depend on."""
    for each in (iv, other):
        loop_of(function, each, what)
    if _path(function, iv)[-2] is not _path(function, other)[-2]:
        function = _opened(_opened(function, iv), other)
    first, second = loop_of(function, iv, what), loop_of(function, other, what)
    path = _path(function, iv)
    block = next(b for b in path[-2].blocks() if first in b)
    if second not in block:
        raise refusal(second, what, f"the loop {name(other)} stands in another block than the loop {name(iv)}")
    start, end = block.index(first), block.index(second)
    if end < start:
        raise refusal(second, what, f"the loop {name(other)} runs before the loop {name(iv)}; name it first")
    visible = visible_before(function, first)
    hidden = [shown(v) for v in by.values() if v not in visible]
    if hidden:
        raise refusal(first, what, f"{hidden[0]} is not known before the loops")
    positions = positions_of(function)
    if not are_valid([by], positions):
        raise refusal(first, what, f"{next(positions.misplaced([by]))}, so it cannot be in a bound")
    pair = _Pair(function, first, second, block[start + 1 : end], domain_of(path), by)
    _require_steps(pair, what)
    return pair


def _require_steps(pair: _Pair, what: str) -> None:
    first, second = pair.ranges
    if first.step != second.step:
        raise refusal(pair.second, what, f"one runs in steps of {first.step}, the other of {second.step}")
    if first.step == 1:
        return
    if len(first.lower) > 1 or len(second.lower) > 1:
        raise refusal(pair.first, what, f"one begins at the largest of several numbers, in steps of {first.step}")
    apart = (second.lower[0] - first.lower[0]) % first.step
    if not pair.context.proves(Constraint(apart, equality=True)):
        raise refusal(pair.second, what, f"it is not known that they meet, in steps of {first.step}")


def _path(function: func.Func, iv: Value) -> tuple[Op, ...]:
    """The operations around a loop, from the function on, and the loop."""
    return next(way for way in ways(function) if isinstance(way[-1], affine.For) and way[-1].iv is iv)


def _opened(function: func.Func, iv: Value) -> func.Func:
    """The function where the conditions that hold nothing but a loop are asked in that loop.

    if c: for i: S(i)      ->      for i: if c: S(i)
    """
    *_, parent, loop = _path(function, iv)
    if not isinstance(parent, affine.If) or not isinstance(loop, affine.For):
        return function
    inside, _ = split_body(parent.then)
    if inside != (loop,) or parent.orelse or parent.results or loop.results:
        return function
    opened = with_fields(loop, body=(with_fields(parent, then=split_body(loop.body)[0]),))
    return _opened(rewrite(function, lambda op: opened if op is parent else None), iv)


def _time(dependences: Dependences, pair: _Pair, after: set[Op], by: Affine) -> Time:
    """When the accesses run in the fused loop: what stands between before it or after it."""
    around = len(dependences.accesses.domains[pair.first].ivs)
    first = set(walk(pair.first))
    second = set(walk(pair.second))
    late = {inner for op in after for inner in walk(op)}

    def time(access: Access) -> Sequence[Term]:
        place, *inside = text_time(dependences, access, around)
        if access.op in first or access.op in second:
            counter, *inside = inside
            return (1, counter if access.op in first else counter + by, place, *inside)
        return (2 if access.op in late else 0, place, *inside)

    return time


def _instead(dependences: Dependences, pair: _Pair, after: set[Op], by: Affine) -> Iterator[Candidate]:
    """What may help: a larger shift, or that the second loop runs backwards, or its inner loop in its place.

    Or that one of them is taken apart before, so that what is in the way stays in a loop of its own.
    """
    yield from _least_shift(dependences, pair, after, by)
    first, second = pair.first.iv, pair.second.iv
    yield Candidate(Proposal((Step("reverse", (second,)),)), ())
    yield from (Candidate(Proposal((Step("distribute", (iv,)),)), ()) for iv in (first, second))
    match pair.second.body:
        case (affine.For(iv=inner),):
            swapped = Step("interchange", (second, inner)), Step("fuse", (first, inner))
            yield Candidate(Proposal(swapped, asks_again=False), ())


def _least_shift(dependences: Dependences, pair: _Pair, after: set[Op], by: Affine) -> Iterator[Candidate]:
    """The same at the least shift that runs each iteration of the second loop after all that it depends on."""
    least = _furthest(dependences, pair)
    if least is None or not by.is_constant:
        return
    step = pair.first.step
    least = by.constant - (by.constant - least) // step * step
    if least > by.constant:
        proposal = Proposal(options=(("shift", least),))
        yield Candidate(proposal, (_time(dependences, pair, after, Affine.of(least)),))


def _furthest(dependences: Dependences, pair: _Pair) -> int | None:
    """By how much the number of an iteration of the first loop is above that of one that depends on it, at most."""
    around = len(dependences.accesses.domains[pair.first].ivs)
    far: list[int] = []
    sinks: dict[Buffer, list[Access]] = {}
    for b in dependences.accesses.inside(pair.second):
        sinks.setdefault(b.buffer, []).append(b)
    for a in dependences.accesses.inside(pair.first):
        for b in sinks.get(a.buffer, ()):
            if "write" not in (a.kind, b.kind):
                continue
            source, sink = met(a, b)
            try:
                with spending(dependences.budget):
                    pairs = at_depth(same_element(source.relation, sink.relation), around + 1, around)
                    if pairs.is_empty():
                        continue
                    low, _ = distances(pairs, around + 1)[around]
            except UnknownError:
                return None
            if low is None:
                return None
            far.append(-low)
    return max(far, default=None)


def _in_parts(pair: _Pair, what: str) -> _Made:
    """Loops over the numbers that only one of the two has, and over those of both."""
    found = parts(*pair.ranges, pair.context)
    if not any(len(part.runs) == 2 for part in found):
        raise refusal(pair.second, what, "they have no iteration in common")
    loops = pair.first, pair.second
    values = [loop.inits for loop in loops]
    made: list[Op] = []
    for part in found:
        op = _joined(pair, part.range, values) if len(part.runs) == 2 else _alone(pair, part, values)
        made.append(op)
        results = op.results
        for number in part.runs:
            count = len(loops[number].results)
            values[number], results = results[:count], results[count:]
    return made, {old: new for k, loop in enumerate(loops) for old, new in zip(loop.results, values[k], strict=True)}


def _alone(pair: _Pair, part: Part, values: Sequence[tuple[Value, ...]]) -> affine.For:
    """A copy of one of the loops for some of its iterations."""
    (number,) = part.runs
    range_ = part.range if number == FIRST else part.range.moved(-pair.shift)
    copy = copied_loop((pair.first, pair.second)[number], "_last" if part.is_late else "_first")
    return with_fields(copy, lower=range_.lower, upper=range_.upper, inits=values[number], written=None)


def _joined(pair: _Pair, over: Range, values: Sequence[tuple[Value, ...]]) -> affine.For:
    """The loop that runs both bodies."""
    bodies = [split_body(body) for body in _bodies(pair)]
    return _loop_of_both(pair, over, values, bodies)


def _one_loop(pair: _Pair, what: str) -> _Made:
    """One loop over the numbers of both, with each body under the condition that its loop has that number."""
    ranges, iv = pair.ranges, pair.first.iv
    over = hull(*ranges, iv, pair.context)
    if over is None:
        reason = "which of them begins first, or ends last, is not known"
        raise refusal(pair.second, what, reason, Proposal(options=(("guarded", False),)))
    bodies = []
    for loop, own, body in zip((pair.first, pair.second), ranges, _bodies(pair), strict=True):
        bodies.append(_under(guards(own, over, iv, pair.context), loop, *split_body(body)))
    loops = (pair.first, pair.second)
    made = _loop_of_both(pair, over, [loop.inits for loop in loops], bodies)
    return [made], dict(zip((*loops[0].results, *loops[1].results), made.results, strict=True))


def _under(
    conditions: tuple[Constraint, ...], loop: affine.For, body: Block, values: tuple[Value, ...]
) -> tuple[Block, tuple[Value, ...]]:
    """A body of a loop under conditions, and what it yields: what it was given where they do not hold."""
    if not conditions or not body:
        return body, values
    results = tuple(fresh(v) for v in loop.results)
    otherwise = ended((), loop.carried, loop)
    return (affine.If(conditions, ended(body, values, loop), otherwise, results, location=loop.location),), results


def _bodies(pair: _Pair) -> tuple[Block, Block]:
    """The bodies of both loops, as the first one counts."""
    return pair.first.body, counted(pair.second.body, pair.second.iv, pair.first.iv - pair.shift)


def _loop_of_both(
    pair: _Pair,
    over: Range,
    values: Sequence[tuple[Value, ...]],
    bodies: Sequence[tuple[Block, tuple[Value, ...]]],
) -> affine.For:
    (one, yields), (other, also_yields) = bodies
    results = (*pair.first.results, *pair.second.results)
    return with_fields(
        pair.first, lower=over.lower, upper=over.upper, written=None,
        body=ended((*one, *other), (*yields, *also_yields), pair.first),
        inits=(*values[0], *values[1]), carried=(*pair.first.carried, *pair.second.carried),
        results=tuple(fresh(v) for v in results),
    )  # fmt: skip
